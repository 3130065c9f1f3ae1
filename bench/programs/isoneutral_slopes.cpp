// Slopes of surfaces of equal density in an ocean, one for each corner of a cell's face: the four corners are two short
// trailing axes. Steep slopes are tapered; their fluxes add up to diffusivities.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr ta::Slice kAll{}, kLower = ta::slice(0, -1), kUpper = ta::slice(1, ta::none);

struct Slopes {
  Array tapered, diffusivity;
};

/// Slopes of faces along `axis`, from the derivatives of density by temperature and salinity.
Slopes slopes(const Array& t, const Array& s, const Array& by_t, const Array& by_s, int axis) {
  const auto before = [&](const Array& x) { return axis == 0 ? x(kLower) : x(kAll, kLower); };
  const auto after = [&](const Array& x) { return axis == 0 ? x(kUpper) : x(kAll, kUpper); };
  const Array dt = after(t) - before(t), ds = after(s) - before(s);
  const Array dt_z = t(kAll, kAll, kUpper) - t(kAll, kAll, kLower),
              ds_z = s(kAll, kAll, kUpper) - s(kAll, kAll, kLower);

  const ta::Shape faces = dt.shape();
  const std::int64_t levels = faces[2];
  Array tapered = ta::zeros({faces[0], faces[1], levels, 2, 2});
  Array diffusivity = ta::zeros({faces[0], faces[1], levels - 2});
  const ta::Slice inner = ta::slice(1, -1);
  for (int side = 0; side < 2; ++side) {       // the cell before the face, or after
    for (int level = 0; level < 2; ++level) {  // the gradient below the cell, or above
      const auto of = [&](const Array& x) { return side == 0 ? before(x) : after(x); };
      const ta::Slice z = ta::slice(level, levels - 2 + level);
      const Array a = of(by_t)(kAll, kAll, inner), b = of(by_s)(kAll, kAll, inner);
      const Array across = a * dt(kAll, kAll, inner) + b * ds(kAll, kAll, inner);
      const Array down = a * of(dt_z)(kAll, kAll, z) + b * of(ds_z)(kAll, kAll, z);
      const Array slope = -across / (ta::minimum(down, 0) - 1e-3);
      const Array taper = 0.5 * (1 + ta::tanh((4 - ta::abs(slope)) / 0.8));
      tapered.set({kAll, kAll, inner, side, level}, taper * slope);
      diffusivity += 0.25 * ta::maximum(0.01, taper);
    }
  }
  return {tapered, diffusivity};
}

Arrays step(const Array& t, const Array& s) {
  const Array by_t = -0.2 - 0.01 * t + 0.0002 * t * t, by_s = 0.78 - 0.003 * t + 0.001 * s;
  const Slopes x = slopes(t, s, by_t, by_s, 0), y = slopes(t, s, by_t, by_s, 1);
  return {x.tapered, x.diffusivity, y.tapered, y.diffusivity};
}

}  // namespace

Program isoneutral_slopes(const Setting& setting) {
  const std::int64_t n = setting.extent(6, 96, 360), levels = setting.extent(7, 40, 40);
  return {.inputs = {{{n, n, levels}, 0, 20}, {{n, n, levels}, 30, 36}},
          .step = [](const Arrays& x) { return step(x[0], x[1]); }};
}

}  // namespace bench
