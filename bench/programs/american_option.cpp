// American puts on binomial trees (Cox, Ross, Rubinstein, J. Financ. Econ. 7, 1979): many strikes at once, back from
// the leaves of 200 steps, one node fewer at each.
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(const Array& strike, int steps) {
  const double spot = 100, rate = 0.05, volatility = 0.3, dt = 1.0 / steps;
  const double up = std::exp(volatility * std::sqrt(dt)), discount = std::exp(-rate * dt);
  const double chance = (1 / discount - 1 / up) / (up - 1 / up);
  const Array nodes = ta::arange(steps + 1, strike.dtype());
  const auto exercise = [&](int level) {  // prices are spot * up^(2 j - level) for j of 0..level
    const Array j = nodes(ta::slice(level + 1));
    return ta::maximum(strike(ta::slice(), ta::newaxis) - spot * ta::exp((2 * j - level) * std::log(up)), 0);
  };
  Array value = exercise(steps);
  for (int level = steps - 1; level >= 0; --level) {
    const Array held =
        chance * value(ta::slice(), ta::slice(1, ta::none)) + (1 - chance) * value(ta::slice(), ta::slice(0, -1));
    value = ta::maximum(discount * held, exercise(level));
  }
  return {value(ta::slice(), 0)};
}

}  // namespace

Program american_option(const Setting& setting) {
  const std::int64_t options = setting.extent(5, 1024, 65536);
  const int steps = setting.size == Size::Small ? 12 : 200;
  return {.inputs = {{{options}, 80, 120}}, .step = [steps](const Arrays& x) { return step(x[0], steps); }};
}

}  // namespace bench
