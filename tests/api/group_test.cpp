// Counting and grouping: against counts one by one, and sums of groups against sums of their elements taken out.
#include <tarry/group.h>
#include <tarry/tarry.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::test::Ints;

namespace {

Ints int64s(const ta::Array& x) { return x.to_vector<std::int64_t>(); }

std::vector<double> some_numbers(std::int64_t n) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) x = normal(random) * 1e3;
  return v;
}

Ints some_ids(std::int64_t n, std::int64_t groups) {
  std::mt19937 random(6);
  Ints v(static_cast<std::size_t>(n));
  for (auto& x : v) x = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(groups));
  return v;
}

/// The places of the elements of a group, in order.
Ints members(const Ints& ids, std::int64_t group) {
  Ints places;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == group) places.push_back(static_cast<std::int64_t>(i));
  return places;
}

}  // namespace

TEST_CASE("group: bincount counts, adds up weights, and has minlength bins at least", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({1, 4, 1, 0});
    CHECK(int64s(ta::bincount(x)) == Ints{1, 2, 0, 0, 1});
    CHECK(int64s(ta::bincount(x, {.minlength = 7})) == Ints{1, 2, 0, 0, 1, 0, 0});
    CHECK(ta::bincount(x, {.weights = ta::array({0.5, 1.0, 2.0, 4.0})}).to_vector<double>() ==
          std::vector<double>{4, 2.5, 0, 0, 1});
    CHECK(int64s(ta::bincount(ta::zeros({0}, ta::int64))).empty());
    CHECK(int64s(ta::bincount(ta::zeros({0}, ta::uint8), {.minlength = 2})) == Ints{0, 0});
  });
}

TEST_CASE("group: what is counted is computed once, for its range and for its bins", "[group]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::astype(ta::abs(ta::array({0.5, 2.5, -1.5, 2.0})), ta::int64);
  CHECK_FALSE(x.is_evaluated());
  CHECK(int64s(ta::bincount(x)) == Ints{1, 1, 2});
  CHECK(x.is_evaluated());
}

TEST_CASE("group: bincount of many elements in few and in many bins is exact", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    for (const std::int64_t bins : {3, 5000, 100'000}) {
      const Ints ids = some_ids(200'000, bins);
      Ints expected(static_cast<std::size_t>(*std::max_element(ids.begin(), ids.end()) + 1));
      for (const auto id : ids) ++expected[static_cast<std::size_t>(id)];
      CHECK((int64s(ta::bincount(ta::asarray(ids))) == expected));
    }
  });
}

TEST_CASE("group: digitize counts the edges below, ascending or descending", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({0.0, 0.5, 1.0, 3.0}), edges = ta::array({0.0, 1.0, 2.0});
    CHECK(int64s(ta::digitize(x, edges)) == Ints{1, 1, 2, 3});
    CHECK(int64s(ta::digitize(x, edges, {.right = true})) == Ints{0, 1, 1, 3});
    CHECK(int64s(ta::digitize(x, ta::flip(edges))) == Ints{2, 2, 1, 0});
    CHECK(int64s(ta::digitize(x, ta::flip(edges), {.right = true})) == Ints{3, 2, 2, 0});
  });
}

TEST_CASE("group: digitize does not wait, and bools are counted", "[group]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array edges = ta::array({3, 2, 1}) * 2, bins = ta::digitize(ta::array({1, 4, 9}), edges);
  CHECK(!edges.is_evaluated());
  CHECK(bins.to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 1, 0});
  CHECK(ta::bincount(ta::array({true, false, true})).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("group: the extremes of bools are all and any", "[group]") {
  ta::test::in_every_way([] {
    const ta::Array x = ta::array({true, false, true, true}), ids = ta::array({0, 0, 2, 2});
    CHECK(ta::segment_min(x, ids).to_vector<bool>() == std::vector<bool>{false, true, true});
    CHECK(ta::segment_max(x, ids).to_vector<bool>() == std::vector<bool>{true, false, true});
    const ta::Groups groups = ta::group_by({ids}).aggregate({{x, ta::Aggregate::Min}, {x, ta::Aggregate::Max}});
    CHECK(groups.values[0].to_vector<bool>() == std::vector<bool>{false, true});
    CHECK(groups.values[1].to_vector<bool>() == std::vector<bool>{true, true});
  });
}

TEST_CASE("group: a histogram of equal bins is that of its edges", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::asarray(some_numbers(20'000));
    for (const std::int64_t bins : {1, 7, 1000}) {
      const ta::Histogram equal = ta::histogram(x, bins), edges = ta::histogram(x, equal.edges);
      CHECK(int64s(equal.counts) == int64s(edges.counts));
      CHECK(ta::sum(equal.counts).item<std::int64_t>() == 20'000);
      CHECK(equal.edges.shape() == ta::Shape{bins + 1});
    }
  });
}

TEST_CASE("group: the last bin has its right edge; what is outside, or NaN, is in none", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({-1.0, 0.0, 1.0, 2.0, 2.5, ta::nan, ta::inf});
    CHECK(int64s(ta::histogram(x, 2, {.range = std::pair(0.0, 2.0)}).counts) == Ints{1, 2});
    CHECK(int64s(ta::histogram(x, ta::array({0.0, 0.0, 2.0})).counts) == Ints{0, 3});
    CHECK(int64s(ta::histogram(ta::array({5, 5}), 3).counts) == Ints{0, 2, 0});
    CHECK(int64s(ta::histogram(ta::zeros({0}), 2).counts) == Ints{0, 0});
    CHECK_THROWS_AS(ta::histogram(ta::array({1.0, 1.0 + 1e-15}), 100), ta::InvalidValue);  // edges would be equal
    const ta::Histogram wide = ta::histogram(ta::array({-1.7e308, 1.7e308}), 2);
    CHECK(int64s(wide.counts) == int64s(ta::histogram(ta::array({-1.7e308, 1.7e308}), wide.edges).counts));
  });
}

TEST_CASE("group: histograms add up weights and become densities", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({0.0, 1.0, 1.5, 9.0}), weights = ta::array({1.0, 2.0, 4.0, 8.0});
    const std::pair range(0.0, 2.0);
    CHECK(ta::histogram(x, 2, {.range = range, .weights = weights}).counts.to_vector<double>() ==
          std::vector<double>{1, 6});
    CHECK(ta::histogram(x, 4, {.range = range, .density = true}).counts.to_vector<double>() ==
          std::vector<double>{2.0 / 3, 0, 2.0 / 3, 2.0 / 3});
  });
}

TEST_CASE("group: histogramdd counts rows in boxes", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({{0.5, 0.5}, {1.5, 0.5}, {0.5, 2.0}, {7.0, 0.5}});
    const ta::HistogramDd h = ta::histogramdd(x, {ta::array({0.0, 1.0, 2.0}), ta::array({0.0, 1.0, 2.0})});
    CHECK(int64s(h.counts) == Ints{1, 1, 1, 0});
    CHECK(h.counts.shape() == ta::Shape{2, 2});
  });
}

TEST_CASE("group: a segment has the bits of the reduction of its elements taken out", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    for (const std::int64_t groups : {1, 3, 40, 3000}) {
      const Ints ids = some_ids(5000, groups);
      for (const ta::Dtype dtype : {ta::float32, ta::float64, ta::float16, ta::int16, ta::uint8}) {
        const ta::Array x = ta::astype(ta::asarray(some_numbers(5000)), dtype), of = ta::asarray(ids);
        const ta::SegmentOptions options{.groups = groups};
        const auto doubles = [](const ta::Array& a) { return ta::astype(a, ta::float64).to_vector<double>(); };
        const auto sums = doubles(ta::segment_sum(x, of, options)), means = doubles(ta::segment_mean(x, of, options));
        const auto least = doubles(ta::segment_min(x, of, options)), most = doubles(ta::segment_max(x, of, options));
        const auto vars = doubles(ta::segment_var(x, of, options));
        for (std::int64_t g = 0; g < std::min<std::int64_t>(groups, 5); ++g) {
          const Ints places = members(ids, g);
          if (places.empty()) continue;
          const ta::Array taken = ta::take(x, ta::asarray(places));
          const auto at = static_cast<std::size_t>(g);
          const auto same = [&](double a, const ta::Array& b) { return ta::test::same_bits(a, doubles(b)[0]); };
          INFO(ta::name(dtype) << " " << groups << " groups, " << g);
          CHECK((same(sums[at], ta::sum(taken)) && same(means[at], ta::mean(taken))));
          CHECK((same(least[at], ta::min(taken)) && same(most[at], ta::max(taken))));
          CHECK(same(vars[at], ta::var(taken)));
        }
      }
    }
  });
}

TEST_CASE("group: segments of 32 elements and of one more are folds of tree R, among many short ones", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    for (const std::int64_t longest : {31, 32, 33, 300}) {
      Ints ids = some_ids(2000, 1000);
      for (std::int64_t& id : ids) id = id == 7 ? 8 : id;
      for (std::int64_t k = 0; k < longest; ++k) ids.insert(ids.begin() + k * 5, 7);
      const ta::Array x = ta::asarray(some_numbers(std::ssize(ids))), taken = ta::take(x, ta::asarray(members(ids, 7)));
      const ta::SegmentOptions options{.groups = 1001};
      const auto sums = ta::segment_sum(x, ta::asarray(ids), options).to_vector<double>();
      INFO(longest << " elements");
      CHECK(ta::test::same_bits(sums[7], ta::sum(taken).item<double>()));
      CHECK(ta::test::same_bits(sums[1000], 0.0));  // of nothing
    }
  });
}

TEST_CASE("group: whole numbers and extremes of many elements are those of one after the other", "[group]") {
  const std::int64_t n = 300'000;
  for (const std::int64_t groups : {3, 500, 100'000}) {
    const Ints ids = some_ids(n, groups);
    Ints values(ids.size()), sums(static_cast<std::size_t>(groups)), most(sums.size(), INT64_MIN);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      values[i] = static_cast<std::int64_t>(i * 7919 % 1013) - 500;
      sums[static_cast<std::size_t>(ids[i])] += values[i];
      most[static_cast<std::size_t>(ids[i])] = std::max(most[static_cast<std::size_t>(ids[i])], values[i]);
    }
    ta::test::on_every_device([&](ta::Device) {
      INFO(groups << " groups");
      const ta::Array x = ta::asarray(values), of = ta::asarray(ids);
      CHECK(int64s(ta::segment_sum(x, of, {.groups = groups})) == sums);
      CHECK(int64s(ta::segment_max(x, of, {.groups = groups})) == most);
      const ta::Array extreme = ta::segment_max(ta::astype(x, ta::float64), of, {.groups = groups});
      if (groups < 100'000) CHECK(int64s(ta::astype(extreme, ta::int64)) == most);  // of none: -infinity
    });
  }
}

TEST_CASE("group: rows of several columns, sorted ids, ids from the end, and groups of nothing", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({{1, 2}, {3, 4}, {5, 6}});
    CHECK(int64s(ta::segment_sum(x, ta::array({1, 0, 1}))) == Ints{3, 4, 6, 8});
    CHECK(int64s(ta::segment_sum(x, ta::array({0, 0, 2}), {.sorted = true})) == Ints{4, 6, 0, 0, 5, 6});
    CHECK(int64s(ta::segment_sum(x, ta::array({-1, 0, -1}), {.groups = 2})) == Ints{3, 4, 6, 8});
    const ta::Array few = ta::array({7, 8});
    CHECK(ta::segment_min(few, ta::array({2, 2}), {.groups = 3}).to_vector<std::int32_t>() ==
          std::vector<std::int32_t>{INT32_MAX, INT32_MAX, 7});
    CHECK(ta::segment_max(ta::astype(few, ta::uint8), ta::array({2, 2}), {.groups = 3}).to_vector<std::uint8_t>() ==
          std::vector<std::uint8_t>{0, 0, 8});
    const auto means = ta::segment_mean(few, ta::array({2, 2}), {.groups = 3}).to_vector<double>();
    CHECK((std::isnan(means[0]) && means[2] == 7.5));
    CHECK(int64s(ta::segment_count(ta::array({2, 2}), {.groups = 4})) == Ints{0, 0, 2, 0});
    CHECK(int64s(ta::segment_sum(ta::zeros({0, 2}, ta::int64), ta::zeros({0}, ta::int64), {.groups = 1})) ==
          Ints{0, 0});
    CHECK(ta::segment_sum(ta::zeros({0}), ta::zeros({0}, ta::int64)).shape() == ta::Shape{0});
  });
}

TEST_CASE("group: an id out of range is an error of who reads the result", "[group]") {
  const ta::Array sums = ta::segment_sum(ta::array({1, 2}), ta::array({0, 3}), {.groups = 2});
  ta::evaluate(sums);
  CHECK_THROWS_AS(sums.to_vector<std::int64_t>(), ta::InvalidArgument);
}

TEST_CASE("group: rows are grouped by several keys, in order of the keys", "[group]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array desk = ta::array({2, 1, 2, 1, 2}), rate = ta::array({0.5, 1.0, ta::nan, 1.0, ta::nan});
    const ta::Array amount = ta::array({1, 2, 4, 8, 16});
    const ta::GroupBy by = ta::group_by({desk, rate});
    CHECK(by.size() == 3);
    using A = ta::Aggregate;
    const ta::Groups g =
        by.aggregate({{amount}, {amount, A::Count}, {amount, A::First}, {amount, A::Mean}, {amount, A::Max}});
    CHECK(g.keys[0].to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2, 2});
    const auto rates = g.keys[1].to_vector<double>();
    CHECK((rates[0] == 1.0 && rates[1] == 0.5 && std::isnan(rates[2])));
    CHECK(int64s(g.values[0]) == Ints{10, 1, 20});
    CHECK(int64s(g.values[1]) == Ints{2, 1, 2});
    CHECK(g.values[2].to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 1, 4});
    CHECK(g.values[3].to_vector<double>() == std::vector<double>{5, 1, 10});
    CHECK(g.values[4].to_vector<std::int32_t>() == std::vector<std::int32_t>{8, 1, 16});
  });
}

TEST_CASE("group: no rows are no groups, bools are keys, a column may have several dimensions", "[group]") {
  const ta::Groups none =
      ta::group_by({ta::zeros({0})}).aggregate({{ta::zeros({0})}, {ta::zeros({0}), ta::Aggregate::First}});
  CHECK((none.keys[0].shape() == ta::Shape{0} && none.values[0].shape() == ta::Shape{0}));
  const ta::Array flags = ta::array({1, 0, 1}) > 0;
  const ta::Groups g = ta::group_by({flags}).aggregate({{ta::array({{1, 2}, {3, 4}, {5, 6}})}});
  CHECK(g.keys[0].to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(int64s(g.values[0]) == Ints{3, 4, 6, 8});
}

TEST_CASE("group: long keys of int64 are grouped alike, whether near each other or far apart", "[group]") {
  constexpr std::int64_t kRows = (std::int64_t{1} << 16) + 5, kLeast = std::numeric_limits<std::int64_t>::min();
  const Ints ids = some_ids(kRows, 300);
  for (const auto& [first, step] : {std::pair<std::int64_t, std::int64_t>(0, 1),
                                    {-150, 1},
                                    {kLeast, 1},
                                    {kLeast, std::int64_t{1} << 55},
                                    {-7, std::int64_t{1} << 24}}) {
    Ints keys, of_groups, counts(300), firsts(300, -1);
    for (std::int64_t i = 0; i < kRows; ++i) {
      const std::int64_t id = ids[static_cast<std::size_t>(i)];
      keys.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                               static_cast<std::uint64_t>(id) * static_cast<std::uint64_t>(step)));
      ++counts[static_cast<std::size_t>(id)];
      if (std::int64_t& f = firsts[static_cast<std::size_t>(id)]; f < 0) f = i;
    }
    for (const std::int64_t f : firsts) of_groups.push_back(keys[static_cast<std::size_t>(f)]);
    const ta::Array key = ta::asarray(keys), rows = ta::arange(kRows);
    const ta::Groups groups =
        ta::group_by({key}).aggregate({{rows, ta::Aggregate::Count}, {rows, ta::Aggregate::First}});
    INFO("from " << first << " in steps of " << step);
    CHECK(int64s(groups.keys[0]) == of_groups);
    CHECK(int64s(groups.values[0]) == counts);
    CHECK(int64s(groups.values[1]) == firsts);
    CHECK(int64s(ta::unique_values(key)) == of_groups);
  }
}
