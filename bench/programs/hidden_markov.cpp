// Likelihood of many sequences under a hidden Markov model with normal emissions: the scaled forward algorithm.
#include "bench/programs/program.h"

namespace bench {
namespace {

/// Observations (time, sequences), transitions (states, states), means and deviations (states).
Arrays step(const Array& observed, const Array& rates, const Array& mean, const Array& deviation) {
  const Array transition = rates / ta::sum(rates, 1, {.keepdims = true});
  const ta::Slice all{};
  Array forward, likelihood = ta::zeros({observed.shape()[1]});
  for (const Array& now : observed) {
    const Array z = (now(all, ta::newaxis) - mean) / deviation;
    const Array density = ta::exp(-0.5 * z * z) / deviation;
    forward = density * (forward.is_defined() ? ta::matmul(forward, transition) : ta::ones_like(density));
    const Array scale = ta::sum(forward, 1);
    forward = forward / scale(all, ta::newaxis);
    likelihood = likelihood + ta::log(scale);
  }
  return {likelihood, forward};
}

}  // namespace

Program hidden_markov(const Setting& setting) {
  const std::int64_t times = setting.extent(5, 50, 100), sequences = setting.extent(7, 8192, 131072);
  const std::int64_t states = setting.extent(3, 8, 8);
  return {.inputs = {{{times, sequences}, -2, 2}, {{states, states}, 0.1, 1}, {{states}, -2, 2}, {{states}, 0.5, 1.5}},
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3]); }};
}

}  // namespace bench
