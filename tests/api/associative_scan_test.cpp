// Running combinations with an operation of the user's: the order of scans for any elementwise one, in one kernel.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <tarry/function.h>
#include <tarry/plan.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/scan_definition.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

using States = std::span<const ta::Array>;

template <class T>
std::vector<T> numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) {
    const double drawn = std::normal_distribution<double>(0.2, 0.7)(random);
    x = static_cast<T>(std::is_floating_point_v<T> ? drawn : std::floor(drawn * 1e6));
  }
  return v;
}

template <class T>
void check_same(const std::vector<T>& found, const std::vector<T>& expected) {
  REQUIRE(found.size() == expected.size());
  const auto at = first_difference<T>(found, expected);
  INFO("element " << at.value_or(0));
  CHECK(!at);
}

template <class T>
struct Pair {
  T a, b;
};
template <class T>
Pair<T> then(const Pair<T>& s, const Pair<T>& t) {
  return {s.a * t.a, t.a * s.b + t.b};
}
std::vector<ta::Array> then_recorded(States s, States t) { return {s[0] * t[0], t[0] * s[1] + t[1]}; }

constexpr std::int64_t kLengths[] = {1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 257, 1000, 4097};

template <class T>
std::vector<Pair<T>> pairs(std::int64_t n, unsigned seed) {
  const std::vector<T> a = numbers<T>(n, seed), b = numbers<T>(n, seed + 100);
  std::vector<Pair<T>> all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back({a[i], b[i]});
  return all;
}
template <class T>
ta::Array part(const std::vector<Pair<T>>& all, T Pair<T>::* which) {
  std::vector<T> v;
  for (const Pair<T>& p : all) v.push_back(p.*which);
  return ta::asarray(v);
}

template <class T>
void check_recurrence(std::int64_t n, bool reverse) {
  INFO("n " << n << " reverse " << reverse);
  const std::vector<Pair<T>> x = pairs<T>(n, 3);
  std::vector<Pair<T>> turned = x;
  if (reverse) std::ranges::reverse(turned);
  std::vector<Pair<T>> expected = scanned(turned, then<T>, BlockNode::OfRows);
  if (reverse) std::ranges::reverse(expected);
  const std::vector<ta::Array> got = ta::associative_scan(
      then_recorded, std::vector{part(x, &Pair<T>::a), part(x, &Pair<T>::b)}, {.reverse = reverse});
  check_same(got[0].to_vector<T>(), part(expected, &Pair<T>::a).template to_vector<T>());
  check_same(got[1].to_vector<T>(), part(expected, &Pair<T>::b).template to_vector<T>());
}

}  // namespace

TEST_CASE("associative_scan: a linear recurrence has the bits of the order of scans, in both directions",
          "[associative_scan]") {
  in_every_way([] {
    for (const std::int64_t n : kLengths) {
      check_recurrence<float>(n, false);
      check_recurrence<double>(n, true);
    }
  });
}

TEST_CASE("associative_scan: long axes in chunks have the same bits for any number of threads", "[associative_scan]") {
  for (const char* threads : {"1", "2", "5"}) {
    const Setting count("TARRY_NUM_THREADS", threads);
    check_recurrence<float>(100'000, false);
    check_recurrence<double>(300'003, true);
  }
}

TEST_CASE("associative_scan: along any axis each row is a scan of its own", "[associative_scan]") {
  in_every_way([] {
    for (const ta::Shape& shape : {ta::Shape{3, 1000}, {700, 5}, {4, 130, 3}, {40, 31}, {2, 3, 64}}) {
      const std::int64_t count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
      const ta::Array a = ta::reshape(ta::asarray(numbers<double>(count, 1)), shape),
                      b = ta::reshape(ta::asarray(numbers<double>(count, 2)), shape);
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        const std::vector<ta::Array> got = ta::associative_scan(then_recorded, std::vector{a, b}, {.axis = axis});
        const std::int64_t n = shape[static_cast<std::size_t>(axis)];
        const auto rows = [&](const ta::Array& x) {
          return ta::reshape(ta::moveaxis(x, axis, -1), {count / n, n}).to_vector<double>();
        };
        const std::vector<double> ra = rows(a), rb = rows(b), ga = rows(got[0]), gb = rows(got[1]);
        for (std::size_t row = 0; row < ra.size(); row += static_cast<std::size_t>(n)) {
          std::vector<Pair<double>> x;
          for (std::size_t k = row; k < row + static_cast<std::size_t>(n); ++k) x.push_back({ra[k], rb[k]});
          const std::vector<Pair<double>> expected = scanned(x, then<double>, BlockNode::OfRows);
          for (std::size_t k = 0; k < expected.size(); ++k) {
            REQUIRE(same_bits<double>(ga[row + k], expected[k].a));
            REQUIRE(same_bits<double>(gb[row + k], expected[k].b));
          }
        }
      }
    }
  });
}

TEST_CASE("associative_scan: products of 2 x 2 matrices of integers are those of a serial loop", "[associative_scan]") {
  in_every_way([] {
    const auto product = [](States s, States t) {
      return std::vector{s[0] * t[0] + s[1] * t[2], s[0] * t[1] + s[1] * t[3], s[2] * t[0] + s[3] * t[2],
                         s[2] * t[1] + s[3] * t[3]};
    };
    for (const std::int64_t n : {2, 33, 500, 5000}) {
      std::vector<std::vector<std::int32_t>> x;
      std::vector<ta::Array> states;
      for (unsigned i = 0; i < 4; ++i) {
        x.push_back(numbers<std::int32_t>(n, i));
        for (std::int32_t& m : x.back())
          m = i % 3 == 0 ? m | 1 : m & ~1;  // odd determinants: no product runs out of bits
        states.push_back(ta::asarray(x.back()));
      }
      const std::vector<ta::Array> got = ta::associative_scan(product, states);
      std::array<std::uint32_t, 4> now{};
      std::vector<std::vector<std::int32_t>> expected(4);
      for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
        std::array<std::uint32_t, 4> m{};
        for (std::size_t i = 0; i < 4; ++i) m[i] = static_cast<std::uint32_t>(x[i][k]);
        const std::array<std::uint32_t, 4> a = now;
        now = k == 0 ? m
                     : std::array{a[0] * m[0] + a[1] * m[2], a[0] * m[1] + a[1] * m[3], a[2] * m[0] + a[3] * m[2],
                                  a[2] * m[1] + a[3] * m[3]};
        for (std::size_t i = 0; i < 4; ++i) expected[i].push_back(static_cast<std::int32_t>(now[i]));
      }
      for (std::size_t i = 0; i < 4; ++i) check_same(got[i].to_vector<std::int32_t>(), expected[i]);
    }
  });
}

TEST_CASE("associative_scan: elements keep their order, whichever of two the combination takes", "[associative_scan]") {
  in_every_way([] {
    for (const ta::Shape& shape : {ta::Shape{128}, {129}, {1000}, {70'000}, {3, 700}, {700, 3}, {5, 4097}})
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        for (const bool reverse : {false, true}) {
          const std::int64_t count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
          const ta::Array x = ta::reshape(ta::arange(count), shape);
          const std::int64_t n = shape[static_cast<std::size_t>(axis)];
          const ta::CombineOptions options{.axis = axis, .reverse = reverse};
          const auto later =
              ta::associative_scan([](States, States t) { return std::vector{t[0] + 0}; }, std::vector{x}, options);
          const auto earlier =
              ta::associative_scan([](States s, States) { return std::vector{s[0] + 0}; }, std::vector{x}, options);
          const ta::Array first = ta::take(x, ta::full({n}, reverse ? n - 1 : 0, ta::int64), axis);
          INFO("extent " << n << " of " << count << ", reverse " << reverse);
          CHECK(ta::array_equal(later[0], x).item<bool>());
          CHECK(ta::array_equal(earlier[0], first).item<bool>());
        }
  });
}

TEST_CASE("associative_scan: states of several dtypes, and functions by text", "[associative_scan]") {
  in_every_way([] {
    const ta::function f("largest", "(double v, int64_t i, double w, int64_t j) -> (double x, int64_t k)",
                         "x = w > v ? w : v; k = w > v ? j : i;");
    const std::vector<double> x = numbers<double>(3000, 9);
    const std::vector<ta::Array> got =
        ta::associative_scan([&](States s, States t) { return f.all(s[0], s[1], t[0], t[1]); },
                             std::vector{ta::asarray(x), ta::arange(3000)});
    std::vector<double> most;
    std::vector<std::int64_t> places;
    std::size_t at = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k] > x[at]) at = k;
      most.push_back(x[at]);
      places.push_back(static_cast<std::int64_t>(at));
    }
    check_same(got[0].to_vector<double>(), most);
    check_same(got[1].to_vector<std::int64_t>(), places);
    const auto any = ta::associative_scan([](States s, States t) { return std::vector{ta::logical_or(s[0], t[0])}; },
                                          std::vector{ta::array({1, 3, 9, 2, 12}) > 8});
    CHECK(any[0].to_vector<bool>() == std::vector<bool>{false, false, true, true, true});
    const auto narrow = ta::associative_scan([](States s, States t) { return std::vector{s[0] + t[0]}; },
                                             std::vector{ta::full({300}, 7, ta::uint8)});
    CHECK(narrow[0](299).item<std::uint8_t>() == static_cast<std::uint8_t>(2100));
  });
}

TEST_CASE("associative_scan: numbers of the body are arguments, and relaxed bodies are kernels too",
          "[associative_scan]") {
  in_every_way([] {
    const std::vector<double> x = numbers<double>(1000, 5);
    for (const double by : {0.5, 0.75}) {
      const auto got = ta::associative_scan([&](States s, States t) { return std::vector{s[0] * by + t[0]}; },
                                            std::vector{ta::asarray(x)});
      check_same(got[0].to_vector<double>(),
                 scanned(x, [&](double a, double b) { return a * by + b; }, BlockNode::OfRows));
    }
  });
  const ta::Scope relaxed(ta::relaxed);
  const auto got = ta::associative_scan(then_recorded, std::vector{ta::full({100}, 0.5), ta::ones({100}, ta::float64)});
  CHECK(std::fabs(got[1](99).item<double>() - 2) < 1e-12);
}

TEST_CASE("associative_scan: what is before and behind it is computed in its one kernel", "[associative_scan]") {
  const ta::Scope placed(ta::cpu);
  const auto kernels = [](const ta::Shape& shape, int axis) {
    const ta::Array a = ta::zeros(shape) + 0.5, b = ta::ones(shape) * 3;
    ta::evaluate(a, b);
    const auto got = ta::associative_scan(then_recorded, std::vector{ta::cos(a), b * 2}, {.axis = axis});
    return ta::plan(got[1] * 3 - b).counters().kernels;
  };
  CHECK(kernels({100'000}, 0) == 1);
  CHECK(kernels({300, 1000}, 0) == 1);
  CHECK(kernels({300, 1000}, 1) == 1);
  const ta::Array x = ta::ones({1000}, ta::float64);
  const auto sum = ta::associative_scan([](States s, States t) { return std::vector{s[0] + t[0]}; }, std::vector{x});
  CHECK(ta::sum(sum[0] * 2.0).item<double>() == 1001000);
  CHECK((sum[0] + ta::flip(sum[0]))(3).item<double>() == 1001);
}

TEST_CASE("associative_scan: results take over the memory of states that end there", "[associative_scan]") {
  on_every_device([](ta::Device) {
    for (const std::int64_t n : {100, 5000}) {
      const std::vector<Pair<double>> x = pairs<double>(n, 11);
      ta::Array a = part(x, &Pair<double>::a) * 1.0, b = part(x, &Pair<double>::b) * 1.0;
      ta::evaluate(a, b);
      const std::vector<ta::Array> got = ta::associative_scan(then_recorded, std::vector{a, b});
      ta::Array behind = got[1] - b + a, first = got[0];
      a = b = ta::Array();
      ta::evaluate(behind, first);
      const std::vector<Pair<double>> expected = scanned(x, then<double>, BlockNode::OfRows);
      std::vector<double> differences;
      for (std::size_t k = 0; k < x.size(); ++k) differences.push_back(expected[k].b - x[k].b + x[k].a);
      check_same(behind.to_vector<double>(), differences);
      check_same(first.to_vector<double>(), part(expected, &Pair<double>::a).to_vector<double>());
    }
  });
}

TEST_CASE("associative_scan: another scan of another length is the same kernel", "[associative_scan]") {
  const ta::Scope placed(ta::cpu);
  const auto compiles = [](std::int64_t n, double by) {
    const ta::Array x = ta::ones({n}, ta::float64);
    const auto got =
        ta::associative_scan([&](States s, States t) { return std::vector{s[0] * by + t[0] * 1.25}; }, std::vector{x});
    const ta::Counters counters = ta::evaluate(got[0]).counters();
    CHECK(counters.launches == 1);
    return counters.compiles + counters.disk_hits;
  };
  CHECK(compiles(5000, 0.5) == 1);
  CHECK(compiles(6000, 0.25) == 0);
}

TEST_CASE("associative_scan: no level, one level and no lane", "[associative_scan]") {
  const auto shape_of = [](const ta::Shape& shape, int axis) {
    const ta::Array x = ta::ones(shape, ta::float64);
    const auto got = ta::associative_scan(then_recorded, std::vector{x, x}, {.axis = axis});
    CHECK(got[1].to_vector<double>().size() == static_cast<std::size_t>(x.size()));
    return got[1].shape();
  };
  CHECK(shape_of({0}, 0) == ta::Shape{0});
  CHECK(shape_of({0, 3}, 0) == ta::Shape{0, 3});
  CHECK(shape_of({3, 0}, 0) == ta::Shape{3, 0});
  CHECK(shape_of({1, 4}, 0) == ta::Shape{1, 4});
}

TEST_CASE("associative_scan: combinations that are not elementwise keep the order of pairs", "[associative_scan]") {
  in_every_way([] {
    const ta::Array x = ta::reshape(ta::arange(4 * 9) % 5 - 2, {9, 2, 2});
    const auto got =
        ta::associative_scan([](States s, States t) { return std::vector{ta::matmul(s[0], t[0])}; }, std::vector{x});
    ta::Array now = x(0);
    for (std::int64_t k = 0; k < 9; ++k) {
      if (k > 0) now = ta::matmul(now, x(k));
      CHECK(ta::array_equal(got[0](k), now).item<bool>());
    }
    const ta::Array offset = ta::array({1, 2, 3});
    const auto shifted = ta::associative_scan([&](States s, States t) { return std::vector{s[0] + t[0] + offset}; },
                                              std::vector{ta::ones({4, 3}, ta::int64)});
    CHECK(shifted[0](3).to_vector<std::int64_t>() == std::vector<std::int64_t>{7, 10, 13});
  });
}

TEST_CASE("associative_scan: reading a value of its body is an error", "[associative_scan]") {
  const ta::Array x = ta::ones({40});
  int calls = 0;
  const ta::Combine reads = [&](States s, States t) {
    if (++calls > 1) (void)s[0](0).item<float>();
    return std::vector{s[0] + t[0]};
  };
  CHECK_THROWS_AS(ta::associative_scan(reads, std::vector{ta::ones({40, 2})}), ta::InvalidArgument);
}
