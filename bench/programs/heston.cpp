// A call under stochastic volatility (Heston, Rev. Financ. Stud. 6, 1993) by Monte-Carlo: 32 Euler steps a path,
// variance cut off at zero; the price and its standard error.
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(ta::random::Generator& random, std::int64_t paths) {
  const double rate = 0.03, reversion = 1.5, level = 0.04, volatility = 0.3, correlation = -0.7;
  const int steps = 32;
  const double dt = 1.0 / steps;
  Array price = ta::full({paths}, 0.0F), variance = ta::full({paths}, 0.04F);  // the price's logarithm
  for (int i = 0; i < steps; ++i) {
    const Array a = ta::random::normal(random, {paths}), b = ta::random::normal(random, {paths});
    const Array positive = ta::maximum(variance, 0), root = ta::sqrt(positive * dt);
    price = price + (rate - 0.5 * positive) * dt + root * a;
    variance = variance + reversion * (level - positive) * dt +
               volatility * root * (correlation * a + std::sqrt(1 - correlation * correlation) * b);
  }
  const Array payoff = std::exp(-rate) * ta::maximum(100 * ta::exp(price) - 100, 0);
  return {ta::mean(payoff), ta::std(payoff) / std::sqrt(static_cast<double>(paths))};
}

}  // namespace

Program heston(const Setting& setting) {
  const std::int64_t paths = setting.extent(257, 1 << 17, 1 << 22);
  return {.step = [random = ta::random::Generator(2), paths](const Arrays&) mutable { return step(random, paths); }};
}

}  // namespace bench
