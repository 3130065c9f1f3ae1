// Trading signals: how many deviations each price lies off the mean of its last 20 days, from running sums; positions
// where that is much, and what they earn.
#include "bench/programs/program.h"

namespace bench {
namespace {

/// Sums of `window` neighbours along the last axis.
Array rolling_sum(const Array& x, std::int64_t window) {
  const ta::Slice all{};
  const Array total = ta::cumulative_sum(x, {.axis = 1, .include_initial = true});
  return total(all, ta::slice(window, ta::none)) - total(all, ta::slice(0, -window));
}

Arrays step(const Array& returns) {
  const std::int64_t window = 20;
  const ta::Slice all{}, recent = ta::slice(window - 1, ta::none);
  const Array price = ta::exp(0.01 * ta::cumulative_sum(returns, {.axis = 1}));
  const Array mean = rolling_sum(price, window) / window;
  const Array variance = ta::maximum(rolling_sum(price * price, window) / window - mean * mean, 1e-10);
  const Array score = (price(all, recent) - mean) / ta::sqrt(variance);
  const Array position = ta::where(score > 1.5, -1.0, ta::where(score < -1.5, 1.0, 0.0));
  const Array earned = position(all, ta::slice(0, -1)) * 0.01 * returns(all, ta::slice(window, ta::none));
  return {score, ta::sum(earned, 1), ta::mean(earned, 1) / (ta::std(earned, 1) + 1e-9)};
}

}  // namespace

Program rolling_zscore(const Setting& setting) {
  const std::int64_t stocks = setting.extent(5, 512, 4096), days = setting.extent(40, 2000, 4000);
  return {.inputs = {{{stocks, days}, -1, 1}}, .step = [](const Arrays& x) { return step(x[0]); }};
}

}  // namespace bench
