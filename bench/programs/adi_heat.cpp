// Heat in plates, implicit along one axis and then along the other (Peaceman and Rachford, J. SIAM 3, 1955):
// tridiagonal systems along rows and along columns. Cold around.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr double kNumber = 0.8;  // dt / (2 dx^2)

/// (1 + 2 r) x[k] - r (x[k-1] + x[k+1]) = rhs[k] along axis 1 or 2.
Array solve(const Array& rhs, int axis) {
  const auto at = [&](const Array& x, std::int64_t k) {
    return axis == 2 ? x(ta::ellipsis, k) : x(ta::ellipsis, k, ta::slice());
  };
  const auto set = [&](Array& x, std::int64_t k, const Array& v) {
    axis == 2 ? x.set({ta::ellipsis, k}, v) : x.set({ta::ellipsis, k, ta::slice()}, v);
  };
  const std::int64_t n = rhs.shape()[1];
  std::vector<double> upper;
  Array x = rhs;
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = 1 / (1 + 2 * kNumber - (k > 0 ? kNumber * upper.back() : 0));
    upper.push_back(kNumber * pivot);
    set(x, k, (k > 0 ? at(rhs, k) + kNumber * at(x, k - 1) : at(rhs, k)) * pivot);
  }
  for (std::int64_t k = n - 2; k >= 0; --k) set(x, k, at(x, k) + upper[static_cast<std::size_t>(k)] * at(x, k + 1));
  return x;
}

/// r times the second difference along an axis of plates, zero outside.
Array explicit_half(const Array& x, int axis) {
  const ta::Slice all{}, lower = ta::slice(0, -1), upper = ta::slice(1, ta::none);
  Array y = (1 - 2 * kNumber) * x;
  if (axis == 2) {
    y.add({all, all, lower}, kNumber * x(all, all, upper));
    y.add({all, all, upper}, kNumber * x(all, all, lower));
  } else {
    y.add({all, lower}, kNumber * x(all, upper));
    y.add({all, upper}, kNumber * x(all, lower));
  }
  return y;
}

Arrays step(const Array& heat) {
  const Array half = solve(explicit_half(heat, 1), 2);
  return {solve(explicit_half(half, 2), 1)};
}

}  // namespace

Program adi_heat(const Setting& setting) {
  const std::int64_t plates = setting.extent(3, 64, 256), n = setting.extent(7, 96, 128);
  return {.inputs = {{{plates, n, n}, 0, 1}}, .state = 1, .step = [](const Arrays& x) { return step(x[0]); }};
}

}  // namespace bench
