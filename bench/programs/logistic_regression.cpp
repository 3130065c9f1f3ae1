// Logistic regression by gradient descent with momentum: eight iterations, and the loss.
#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(const Array& weights, const Array& velocity, const Array& samples, const Array& labels) {
  const double rate = 0.5, momentum = 0.9, decay = 1e-4;
  const double n = static_cast<double>(labels.size());
  const Array truth = ta::astype(labels, weights.dtype());
  Array w = weights, v = velocity;
  for (int i = 0; i < 8; ++i) {
    const Array error = ta::sigmoid(ta::matmul(samples, w)) - truth;
    v = momentum * v - rate * (ta::matmul(error, samples) / n + decay * w);
    w = w + v;
  }
  const Array margin = ta::matmul(samples, w);
  return {w, v, ta::mean(ta::logaddexp(0, margin) - truth * margin)};
}

}  // namespace

Program logistic_regression(const Setting& setting) {
  const std::int64_t n = setting.extent(60, 1 << 16, 1 << 21), features = setting.extent(5, 32, 64);
  return {.inputs = {{{features}, -0.1, 0.1}, {{features}, 0, 0}, {{n, features}, -1, 1}, {{n}, 0, 2, ta::bool_}},
          .state = 2,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3]); }};
}

}  // namespace bench
