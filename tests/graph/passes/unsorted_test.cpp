// Groups folded without a sort: what is planned, and the bits of a sort.
#include "graph/passes/unsorted.h"

#include <limits>
#include <string>
#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
using ta::test::Ints;

namespace {

/// Numbers below n in an order without a pattern, and floats whose sums depend on their order.
ta::Array scattered(std::int64_t count, std::int64_t n) {
  Ints v;
  for (std::int64_t i = 0; i < count; ++i)
    v.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15 >> 20) % n);
  return ta::asarray(v);
}
ta::Array uneven(std::int64_t count) { return ta::astype(scattered(count, 1'000'003), ta::float32) * 0.37F - 1e5F; }

bool sorts(const ta::Array& x) {
  const auto on = [&](const char* target) {
    return ta::plan_for(target, x).str().find("argsort") != std::string::npos;
  };
  const bool cpu = on("x86-64-v3"), gpu = on("sm_90");
  CHECK(cpu == gpu);
  return cpu;
}

std::vector<double> values(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

}  // namespace

TEST_CASE("unsorted: sums, means and variances of groups need no argsort", "[passes][unsorted]") {
  const ta::Array x = uneven(5000), ids = scattered(5000, 70), pairs = ta::reshape(x, {2500, 2});
  const ta::Array half = scattered(2500, 70);
  CHECK_FALSE(sorts(ta::segment_sum(x, ids, {.groups = 70})));
  CHECK_FALSE(sorts(ta::segment_mean(x, ids, {.groups = 70'000})));
  CHECK_FALSE(sorts(ta::segment_var(pairs, half, {.groups = 70})));
  CHECK_FALSE(sorts(ta::segment_max(x, ids, {.groups = 70})));
  CHECK_FALSE(sorts(ta::with_add(ta::zeros({70}), ids, x)));
  CHECK_FALSE(sorts(ta::bincount(ids, {.weights = x})));
  CHECK_FALSE(sorts(ta::histogram(x, 10, {.range = std::pair{0.0, 1e5}, .weights = x}).counts));
}

TEST_CASE("unsorted: numbers of groups are stored in the fewest bytes that hold them", "[passes][unsorted]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = uneven(5000), ids = scattered(5000, 70);
  ta::evaluate(x, ids);
  for (const auto& [groups, stored] : {std::pair(254, "_u8_map"), {255, "_u16_map"}, {70'000, "_u32_map"}}) {
    const ta::SegmentOptions options{.groups = groups};
    INFO(groups << " groups");
    for (const ta::Array& y : {ta::segment_sum(x, ids, options), ta::segment_count(ids, options)})
      CHECK(ta::plan_for("x86-64-v3", y).str().find(stored) != std::string::npos);
  }
  CHECK(ta::plan_for("sm_90", ta::with_add(ta::zeros({200}), ids, x)).str().find("_u8_map") != std::string::npos);
}

TEST_CASE("unsorted: many columns share a sort, and signed keys of others may be negative", "[passes][unsorted]") {
  const ta::Array x = uneven(5000), ids = scattered(1000, 70), order = ta::argsort(ids);
  CHECK(sorts(ta::segment_sum(ta::reshape(x, {1000, 5}), ids, {.groups = 70})));
  const ta::SegmentOptions sorted{.groups = 70, .sorted = true};
  CHECK(sorts(ta::segment_sum(ta::take(uneven(1000), order), ta::take(ids, order), sorted)));
}

TEST_CASE("unsorted: many groups that are said to ascend are folded by their numbers on a CPU", "[passes][unsorted]") {
  const ta::Array x = uneven(5000), ids = ta::sort(scattered(5000, 900));
  ta::evaluate(x, ids);
  const auto searches = [](const char* target, const ta::Array& y) {
    return ta::plan_for(target, y).str().find("searchsorted") != std::string::npos;
  };
  const ta::SegmentOptions many{.groups = 900, .sorted = true}, few{.groups = 9, .sorted = true};
  CHECK_FALSE(searches("x86-64-v3", ta::segment_sum(x, ids, many)));
  CHECK_FALSE(searches("x86-64-v3", ta::segment_max(ta::reshape(x, {5000, 1}), ids, many)));
  CHECK(searches("sm_90", ta::segment_sum(x, ids, many)));
  CHECK(searches("x86-64-v3", ta::segment_sum(x, ids, few)));
  CHECK(searches("x86-64-v3", ta::segment_mean(x, ids, many)));  // for how many there are
  const ta::Scope placed(ta::cpu);
  CHECK((values(ta::segment_sum(x, ids, many)) == values(ta::segment_sum(x, ids, {.groups = 900}))));
}

TEST_CASE("unsorted: sums by number have the bits of sums of what a sort puts in order", "[passes][unsorted]") {
  const ta::Scope placed(ta::cpu);
  for (const std::int64_t count : {1, 40, 5000, 200'000}) {
    for (const std::int64_t groups : {1, 7, 300, 5000, 100'000}) {
      const ta::Array x = uneven(count), ids = scattered(count, groups), order = ta::argsort(ids);
      const ta::Array in_order = ta::take(ids, order), together = ta::take(x, order);
      ta::evaluate(in_order, together);
      const ta::SegmentOptions any{.groups = groups}, sorted{.groups = groups, .sorted = true};
      INFO(count << " elements of " << groups << " groups");
      CHECK((values(ta::segment_sum(x, ids, any)) == values(ta::segment_sum(together, in_order, sorted))));
      CHECK((values(ta::segment_min(x, ids, any)) == values(ta::segment_min(together, in_order, sorted))));
      const ta::Array sums = ta::segment_sum(together, in_order, sorted);
      CHECK((values(ta::with_add(ta::zeros({groups}), ids, x)) == values(sums + 0.0F)));
      CHECK((ta::segment_count(ids, any).to_vector<std::int64_t>() ==
             ta::segment_count(in_order, any).to_vector<std::int64_t>()));
    }
  }
}

TEST_CASE("unsorted: means and variances of several columns have the bits of each column's", "[passes][unsorted]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::reshape(uneven(90'000), {30'000, 3}), ids = scattered(30'000, 400);
  const ta::SegmentOptions groups{.groups = 400};
  const ta::Array means = ta::segment_mean(x, ids, groups), spread = ta::segment_var(x, ids, groups);
  ta::evaluate(means, spread);
  for (const std::int64_t c : {0, 1, 2}) {
    const ta::Array column = ta::take(x, ta::array({c}), 1);
    CHECK((values(ta::take(means, ta::array({c}), 1)) == values(ta::segment_mean(column, ids, groups))));
    CHECK((values(ta::take(spread, ta::array({c}), 1)) == values(ta::segment_var(column, ids, groups))));
  }
}

TEST_CASE("unsorted: weights of what is in no bin are left out", "[passes][unsorted]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::array({-5.0, 0.25, 0.75, 9.0, 0.5, std::numeric_limits<double>::quiet_NaN()});
  const ta::Array weights = ta::array({1.0, 2.0, 4.0, 8.0, 16.0, 32.0});
  const ta::Histogram h = ta::histogram(x, 2, {.range = std::pair{0.0, 1.0}, .weights = weights});
  CHECK(h.counts.to_vector<double>() == std::vector<double>{2, 20});
}
