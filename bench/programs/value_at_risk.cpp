// Value at risk of a portfolio: correlated scenarios, losses, the 99 % quantile by bisection of their distribution, and
// the mean loss beyond it.
#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(ta::random::Generator& random, std::int64_t scenarios, const Array& mixing, const Array& weight) {
  const std::int64_t assets = weight.shape()[0];
  const Array returns = 0.02 * ta::matmul(ta::random::normal(random, {scenarios, assets}), mixing);
  const Array loss = -ta::matmul(ta::exp(returns) - 1, weight);
  Array low = ta::min(loss), high = ta::max(loss);
  for (int i = 0; i < 20; ++i) {
    const Array middle = 0.5 * (low + high), above = ta::mean(ta::astype(loss > middle, loss.dtype()));
    low = ta::where(above > 0.01, middle, low);
    high = ta::where(above > 0.01, high, middle);
  }
  const Array beyond = loss > high;
  return {high, ta::sum(ta::where(beyond, loss, 0)) / ta::count_nonzero(beyond)};
}

}  // namespace

Program value_at_risk(const Setting& setting) {
  const std::int64_t scenarios = setting.extent(503, 1 << 17, 1 << 21), assets = setting.extent(4, 32, 64);
  return {.inputs = {{{assets, assets}, -0.3, 0.4}, {{assets}, 0, 1}},
          .step = [random = ta::random::Generator(4), scenarios](const Arrays& x) mutable {
            return step(random, scenarios, x[0], x[1]);
          }};
}

}  // namespace bench
