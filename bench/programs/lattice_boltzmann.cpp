// Lattice Boltzmann flow on nine directions with relaxation to equilibrium, around cells that reflect. Periodic.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr int kX[] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constexpr int kY[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr int kOpposite[] = {0, 3, 4, 1, 2, 7, 8, 5, 6};

Arrays step(const Array& f, const Array& solid) {
  const Array x = ta::reshape(ta::astype(ta::asarray(kX, {9}), f.dtype()), {9, 1, 1});
  const Array y = ta::reshape(ta::astype(ta::asarray(kY, {9}), f.dtype()), {9, 1, 1});
  const Array rest = ta::array({4.0 / 9}), straight = ta::full({4}, 1.0 / 9), oblique = ta::full({4}, 1.0 / 36);
  const Array weight = ta::reshape(ta::astype(ta::concat({rest, straight, oblique}), f.dtype()), {9, 1, 1});

  Arrays moved, reflected;
  for (int i = 0; i < 9; ++i) moved.push_back(ta::roll(f(i), {kY[i], kX[i]}, {0, 1}));
  for (const int i : kOpposite) reflected.push_back(moved[static_cast<std::size_t>(i)]);
  const Array in = ta::stack(moved);

  const Array density = ta::sum(in, 0);
  const Array u = ta::sum(in * x, 0) / density, v = ta::sum(in * y, 0) / density;
  const Array along = 3 * (x * u + y * v);
  const Array equilibrium = weight * density * (1 + along + 0.5 * along * along - 1.5 * (u * u + v * v));
  return {ta::where(solid, ta::stack(reflected), in + (equilibrium - in) / 0.8)};
}

}  // namespace

Program lattice_boltzmann(const Setting& setting) {
  const std::int64_t n = setting.extent(19, 512, 2048);
  return {.inputs = {{{9, n, n}, 0.10, 0.12}, {{n, n}, 0, 1.05, ta::bool_}}, .state = 1, .step = [](const Arrays& x) {
            return step(x[0], x[1]);
          }};
}

}  // namespace bench
