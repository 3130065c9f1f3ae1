// Derivatives of fourth order from a compact scheme (Lele, J. Comput. Phys. 103, 1992): each row, and each column, is
// the solution of a tridiagonal system with 1/4 beside the diagonal and 2 next to it at the ends.
#include "bench/programs/program.h"

namespace bench {
namespace {

/// Along the last axis of a matrix, for points 1 / n apart.
Array derivative(const Array& f) {
  const ta::Slice all{};
  const std::int64_t n = f.shape()[1];
  const double scale = static_cast<double>(n);
  std::vector<double> upper;
  Arrays forward;
  for (std::int64_t k = 0; k < n; ++k) {
    const bool first = k == 0, last = k == n - 1;
    const Array rhs = first  ? scale * (-2.5 * f(all, 0) + 2 * f(all, 1) + 0.5 * f(all, 2))
                      : last ? scale * (2.5 * f(all, k) - 2 * f(all, k - 1) - 0.5 * f(all, k - 2))
                             : 0.75 * scale * (f(all, k + 1) - f(all, k - 1));
    const double below = first ? 0 : last ? 2 : 0.25, above = first ? 2 : last ? 0 : 0.25;
    const double pivot = 1 / (1 - (first ? 0 : below * upper.back()));
    upper.push_back(above * pivot);
    forward.push_back(first ? rhs : (rhs - below * forward.back()) * pivot);
  }
  for (std::size_t k = forward.size() - 1; k-- > 0;) forward[k] = forward[k] - upper[k] * forward[k + 1];
  return ta::stack(forward, 1);
}

Arrays step(const Array& u, const Array& v) {
  const auto along_columns = [](const Array& x) { return ta::matrix_transpose(derivative(ta::matrix_transpose(x))); };
  return {derivative(u) + along_columns(v), derivative(v) - along_columns(u)};  // divergence and rotation
}

}  // namespace

Program compact_difference(const Setting& setting) {
  const std::int64_t n = setting.extent(9, 160, 256);
  return {.inputs = {{{n, n}, -1, 1}, {{n, n}, -1, 1}}, .step = [](const Arrays& x) { return step(x[0], x[1]); }};
}

}  // namespace bench
