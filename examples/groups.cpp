// Order and groups: an image's histogram made even, a portfolio's value at risk, log returns per share. Every result is
// checked against loops.
#include <tarry/tarry.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

namespace ta = tarry;

namespace {

bool all_well = true;
void check(const char* what, bool holds) {
  std::cout << what << (holds ? ": as by loops\n" : ": WRONG\n");
  all_well = all_well && holds;
}

/// Grey values spread so that each is as frequent as any other: the share of pixels up to a value is its new value.
ta::Array equalised(const ta::Array& image) {
  const ta::Array counts = ta::bincount(ta::reshape(image, {-1}), {.minlength = 256});
  const ta::Array share = ta::cumulative_sum(counts) * 255 / image.size();
  return ta::take(ta::astype(ta::round(share), ta::uint8), image);
}

void equalise() {
  ta::random::Generator random(1);
  const ta::Array image = ta::astype(ta::clip(ta::random::normal(random, {480, 640}) * 12 + 90, 0, 255), ta::uint8);
  const std::vector<std::uint8_t> before = image.to_vector<std::uint8_t>();
  const std::vector<std::uint8_t> after = equalised(image).to_vector<std::uint8_t>();
  std::vector<double> up_to(256);
  for (const std::uint8_t grey : before) ++up_to[grey];
  for (std::size_t grey = 1; grey < 256; ++grey) up_to[grey] += up_to[grey - 1];
  bool same = true;
  for (std::size_t i = 0; i < before.size(); ++i)
    same = same && after[i] == std::nearbyint(up_to[before[i]] * 255 / static_cast<double>(before.size()));
  check("equalised image", same);
}

/// The loss that a portfolio exceeds on one day in a hundred, and the mean of the losses beyond it.
void value_at_risk() {
  constexpr std::int64_t kDays = 10'000, kShares = 20;
  ta::random::Generator random(2);
  const ta::Array returns = ta::random::normal(random, {kDays, kShares}, {.dtype = ta::float64}) * 0.02;
  const ta::Array losses = -ta::sum(returns / kShares, 1);
  const double at_risk = ta::quantile(losses, 0.99).item<double>();
  const double beyond =
      (ta::sum(ta::where(losses > at_risk, losses, 0.0)) / ta::count_nonzero(losses > at_risk)).item<double>();
  std::vector<double> sorted = losses.to_vector<double>();
  std::sort(sorted.begin(), sorted.end());
  const double h = 0.99 * (kDays - 1);
  const auto low = static_cast<std::size_t>(h);
  const double expected = sorted[low] + (sorted[low + 1] - sorted[low]) * (h - std::floor(h));
  check("value at risk", std::abs(at_risk - expected) < 1e-12 && beyond > at_risk);
}

/// Log returns of each share from one list of trades of all of them, in order of time; their spread per share.
void returns_per_share() {
  constexpr std::int64_t kTrades = 5'000, kShares = 7;
  ta::random::Generator random(3);
  const ta::Array share = ta::random::integers(random, {kTrades}, 0, kShares);
  const ta::Array price = ta::exp(ta::random::normal(random, {kTrades}, {.dtype = ta::float64}) * 0.1);
  const ta::Array order = ta::argsort(share);  // stable: a share's trades stay in order of time
  const ta::Array of = ta::take(share, order), log_price = ta::log(ta::take(price, order));
  const ta::Slice later = ta::slice(1, ta::none), earlier = ta::slice(ta::none, -1);
  const ta::Array change = log_price(later) - log_price(earlier);
  // Between two shares there is no change: such rows belong to a group of their own.
  const ta::Array group = ta::where(of(later) == of(earlier), of(later), kShares);
  const std::vector<double> means = ta::segment_mean(change, group, {.groups = kShares + 1}).to_vector<double>();

  const auto shares = share.to_vector<std::int64_t>();
  const auto prices = price.to_vector<double>();
  bool same = true;
  for (std::int64_t s = 0; s < kShares; ++s) {
    std::vector<double> own;
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (shares[i] == s) own.push_back(prices[i]);
    const double mean = std::log(own.back() / own.front()) / static_cast<double>(own.size() - 1);
    same = same && std::abs(means[static_cast<std::size_t>(s)] - mean) < 1e-12;
  }
  check("mean log returns", same);
}

}  // namespace

int main() {
  equalise();
  value_at_risk();
  returns_per_share();
  return all_well ? 0 : 1;
}
