// A mixture of normal distributions with a variance per axis, fitted by expectation and maximisation: one round.
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(const Array& weight, const Array& mean, const Array& variance, const Array& points) {
  const ta::Slice all{};
  const Array d = points(all, ta::newaxis) - mean;  // (points, parts, axes)
  const Array exponent = ta::sum(d * d / variance + ta::log(variance) + std::log(2 * ta::pi), -1);
  const Array joint = ta::log(weight) - 0.5 * exponent;
  const Array likelihood = ta::logsumexp(joint, 1, {.keepdims = true});
  const Array share = ta::exp(joint - likelihood);
  const Array count = ta::sum(share, 0);
  const Array mean_after = ta::matmul(ta::matrix_transpose(share), points) / count(all, ta::newaxis);
  const Array square = ta::matmul(ta::matrix_transpose(share), points * points) / count(all, ta::newaxis);
  return {count / static_cast<double>(points.shape()[0]), mean_after, square - mean_after * mean_after + 1e-6,
          ta::mean(likelihood)};
}

}  // namespace

Program gaussian_mixture(const Setting& setting) {
  const std::int64_t n = setting.extent(90, 1 << 15, 1 << 20), parts = setting.extent(3, 8, 16);
  const std::int64_t axes = setting.extent(2, 4, 8);
  return {.inputs = {{{parts}, 0.1, 0.2}, {{parts, axes}, -1, 1}, {{parts, axes}, 0.5, 1}, {{n, axes}, -2, 2}},
          .state = 3,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3]); }};
}

}  // namespace bench
