// A bank of Kalman filters: each tracks a point in the plane, its position and velocity, from measured positions.
#include "bench/programs/program.h"

namespace bench {
namespace {

/// State (n, 4), covariance (n, 4, 4), measured position (n, 2).
Arrays step(const Array& state, const Array& covariance, const Array& measured) {
  const double dt = 0.1, noise = 0.5;
  Array motion = ta::eye(4);
  motion.set({0, 2}, dt);
  motion.set({1, 3}, dt);
  const Array x = ta::matmul(state, ta::matrix_transpose(motion));
  const Array p = ta::matmul(ta::matmul(motion, covariance), ta::matrix_transpose(motion)) + 0.01 * ta::eye(4);

  // Only the position is measured: the matrices of the measurement are parts of p.
  const ta::Slice all{}, position = ta::slice(0, 2);
  const Array s = p(all, position, position) + noise * ta::eye(2);
  const Array determinant = s(all, 0, 0) * s(all, 1, 1) - s(all, 0, 1) * s(all, 1, 0);
  const Array adjugate =
      ta::stack({ta::stack({s(all, 1, 1), -s(all, 0, 1)}, 1), ta::stack({-s(all, 1, 0), s(all, 0, 0)}, 1)}, 1);
  const Array inverse = adjugate / determinant(all, ta::newaxis, ta::newaxis);
  const Array gain = ta::matmul(p(all, all, position), inverse);
  const Array surprise = measured - x(all, position);
  const Array state_after = x + ta::squeeze(ta::matmul(gain, surprise(all, all, ta::newaxis)), 2);
  const Array covariance_after = p - ta::matmul(gain, p(all, position));
  const Array distance = ta::sum(ta::squeeze(ta::matmul(inverse, surprise(all, all, ta::newaxis)), 2) * surprise, 1);
  return {state_after, covariance_after, -0.5 * ta::mean(distance + ta::log(determinant))};
}

}  // namespace

Program kalman_bank(const Setting& setting) {
  const std::int64_t n = setting.extent(11, 1 << 16, 1 << 20);
  return {.inputs = {{{n, 4}, -1, 1}, {{n, 4, 4}, 1, 1}, {{n, 2}, -1, 1}}, .state = 2, .step = [](const Arrays& x) {
            return step(x[0], x[1], x[2]);
          }};
}

}  // namespace bench
