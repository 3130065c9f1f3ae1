// Turbulent mixing of an ocean's columns, implicit in the vertical: diffusivities by the Richardson number (Pacanowski
// and Philander, J. Phys. Oceanogr. 11, 1981), then a tridiagonal system in each column.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr ta::Slice kLower = ta::slice(0, -1), kUpper = ta::slice(1, ta::none);

/// The solution of (1 + exchange with the level above and below) x = rhs, exchange(..., k) between k and k + 1.
Array solve(const Array& exchange, const Array& rhs) {
  const std::int64_t levels = rhs.shape()[2];
  Array upper = ta::zeros_like(rhs), x = rhs;
  for (std::int64_t k = 0; k < levels; ++k) {
    const Array down = k + 1 < levels ? exchange(ta::ellipsis, k) : ta::zeros_like(rhs(ta::ellipsis, 0));
    Array diagonal = 1 + down, value = rhs(ta::ellipsis, k);
    if (k > 0) {
      const Array up = exchange(ta::ellipsis, k - 1);
      diagonal = diagonal + up - up * upper(ta::ellipsis, k - 1);
      value = value + up * x(ta::ellipsis, k - 1);
    }
    upper.set({ta::ellipsis, k}, down / diagonal);
    x.set({ta::ellipsis, k}, value / diagonal);
  }
  for (std::int64_t k = levels - 2; k >= 0; --k)
    x.add({ta::ellipsis, k}, upper(ta::ellipsis, k) * x(ta::ellipsis, k + 1));
  return x;
}

Arrays step(const Array& temperature, const Array& u, const Array& v) {
  const auto difference = [](const Array& x) { return x(ta::ellipsis, kUpper) - x(ta::ellipsis, kLower); };
  const Array buoyancy = 0.002 * difference(temperature);
  const Array shear = ta::square(difference(u)) + ta::square(difference(v));
  const Array richardson = ta::maximum(buoyancy / (shear + 1e-4), 0);
  const Array viscosity = 0.01 / ta::square(1 + 5 * richardson) + 1e-4;
  const Array diffusivity = viscosity / (1 + 5 * richardson) + 1e-5;
  const double dt = 100;
  return {solve(dt * diffusivity, temperature), solve(dt * viscosity, u), solve(dt * viscosity, v)};
}

}  // namespace

Program vertical_mixing(const Setting& setting) {
  const std::int64_t n = setting.extent(5, 128, 512), levels = setting.extent(6, 40, 40);
  return {.inputs = {{{n, n, levels}, 5, 20}, {{n, n, levels}, -1, 1}, {{n, n, levels}, -1, 1}},
          .state = 3,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2]); }};
}

}  // namespace bench
