// A call on the average of 64 dates by Monte-Carlo, with antithetic paths and the geometric average, whose price is
// known, as control (Kemna and Vorst, J. Bank. Finance 14, 1990).
#include <array>
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(ta::random::Generator& random, std::int64_t paths) {
  const double spot = 100, strike = 100, rate = 0.03, volatility = 0.2;
  const int dates = 64;
  const double dt = 1.0 / dates, drift = (rate - 0.5 * volatility * volatility) * dt;
  const Array shocks = volatility * std::sqrt(dt) * ta::random::normal(random, {dates, paths});
  const auto payoffs = [&](const Array& moves) {
    const Array logarithm = ta::cumulative_sum(drift + moves, {.axis = 0});
    const Array average = spot * ta::mean(ta::exp(logarithm), 0), geometric = spot * ta::exp(ta::mean(logarithm, 0));
    return std::array{ta::maximum(average - strike, 0), ta::maximum(geometric - strike, 0)};
  };
  const auto up = payoffs(shocks), down = payoffs(-shocks);
  const Array price = std::exp(-rate) * 0.5 * (up[0] + down[0]), control = std::exp(-rate) * 0.5 * (up[1] + down[1]);
  const Array deviation = control - ta::mean(control);
  const Array slope = ta::mean(deviation * price) / ta::mean(deviation * deviation);
  const Array controlled = price - slope * deviation;
  return {ta::mean(price), ta::mean(control), ta::std(controlled) / std::sqrt(static_cast<double>(paths))};
}

}  // namespace

Program asian_option(const Setting& setting) {
  const std::int64_t paths = setting.extent(129, 1 << 14, 1 << 19);
  return {.step = [random = ta::random::Generator(3), paths](const Arrays&) mutable { return step(random, paths); }};
}

}  // namespace bench
