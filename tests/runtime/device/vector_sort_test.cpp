// Words in order by vectors: networks for few of them, splits for many.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "runtime/device/cpu/vector_sort.h"
#include "tests/helpers/test.h"

using namespace tarry::runtime;

namespace {

template <class Word>
using WordAt = std::function<Word(std::int64_t)>;

template <class Word>
std::vector<Word> words(std::int64_t n, const WordAt<Word>& at) {
  std::vector<Word> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(at(i));
  return all;
}

/// True if sort_words() does what std::sort does, and leaves its neighbours alone.
template <class Word>
bool sorts(const std::vector<Word>& x) {
  constexpr Word kNeighbour = 77;
  std::vector<Word> all{kNeighbour}, expected = x;
  all.insert(all.end(), x.begin(), x.end());
  all.push_back(kNeighbour);
  sort_words(all.data() + 1, static_cast<std::int64_t>(x.size()));
  std::sort(expected.begin(), expected.end());
  return all.front() == kNeighbour && all.back() == kNeighbour &&
         std::equal(expected.begin(), expected.end(), all.begin() + 1);
}

std::mt19937_64& chance() {
  static std::mt19937_64 generator(1);
  return generator;
}

}  // namespace

TEMPLATE_TEST_CASE("vector sort: words are in order, however few", "[sort]", std::int32_t, std::int64_t) {
  if (!has_vector_sort()) TARRY_SKIP("the processor has no AVX-512");
  for (std::int64_t n = 0; n <= 600; ++n) {
    CAPTURE(n);
    CHECK(sorts(words<TestType>(n, [](auto) { return static_cast<TestType>(chance()()); })));
    CHECK(sorts(words<TestType>(n, [](auto) { return static_cast<TestType>(chance()() % 3); })));
  }
}

TEMPLATE_TEST_CASE("vector sort: any threshold of a row is in order, so any row is", "[sort]", std::int32_t,
                   std::int64_t) {
  if (!has_vector_sort()) TARRY_SKIP("the processor has no AVX-512");
  for (const std::int64_t n : {16, 32, 64, 128, 256})
    for (std::int64_t ones = 0; ones <= n; ++ones) {
      auto row = words<TestType>(n, [&](auto i) { return i < ones; });
      std::shuffle(row.begin(), row.end(), chance());
      CAPTURE(n, ones);
      CHECK(sorts(row));
    }
}

TEMPLATE_TEST_CASE("vector sort: the least and the greatest words are words as others are", "[sort]", std::int32_t,
                   std::int64_t) {
  if (!has_vector_sort()) TARRY_SKIP("the processor has no AVX-512");
  static constexpr TestType kLeast = std::numeric_limits<TestType>::min(),
                            kGreatest = std::numeric_limits<TestType>::max();
  for (const std::int64_t n : {40, 257, 5000, 100000}) {
    CAPTURE(n);
    CHECK(sorts(words<TestType>(n, [](auto) { return kGreatest; })));
    CHECK(sorts(words<TestType>(n, [](auto) { return chance()() % 2 != 0 ? kLeast : kGreatest; })));
    CHECK(sorts(words<TestType>(n, [n](auto i) { return i == n / 3 ? kGreatest - 1 : kGreatest; })));
    CHECK(sorts(words<TestType>(n, [n](auto i) { return i == n / 3 ? kLeast + 1 : kLeast; })));
  }
}

TEMPLATE_TEST_CASE("vector sort: rows that are hard to split are in order", "[sort]", std::int32_t, std::int64_t) {
  if (!has_vector_sort()) TARRY_SKIP("the processor has no AVX-512");
  for (const std::int64_t n : {300, 5000, 70001, 300000}) {
    CAPTURE(n);
    const auto holds = [n](const WordAt<TestType>& at) { return sorts(words<TestType>(n, at)); };
    CHECK(holds([](auto i) { return static_cast<TestType>(i); }));
    CHECK(holds([=](auto i) { return static_cast<TestType>(n - i); }));
    CHECK(holds([=](auto i) { return static_cast<TestType>((n - i) / 7); }));
    CHECK(holds([=](auto i) { return static_cast<TestType>(i + 1 == n ? 0 : i); }));
    CHECK(holds([=](auto i) { return static_cast<TestType>(std::min(i, n - i)); }));
    CHECK(holds([](auto i) { return static_cast<TestType>(i % 1000); }));
    CHECK(holds([](auto) { return chance()() % 50 != 0 ? TestType{5} : static_cast<TestType>(chance()()); }));
    CHECK(holds([](auto) { return static_cast<TestType>(1 << chance()() % 31); }));
  }
}

TEMPLATE_TEST_CASE("vector sort: a split puts the words below a bound in front", "[sort]", std::int32_t, std::int64_t) {
  if (!has_vector_sort()) TARRY_SKIP("the processor has no AVX-512");
  for (std::int64_t n = 0; n <= 700; ++n)
    for (const TestType bound : {0, 1, 500, 999, 1000}) {
      auto row = words<TestType>(n, [](auto) { return static_cast<TestType>(chance()() % 1000); });
      auto expected = row;
      const std::int64_t below = split_words(row.data(), n, bound);
      CAPTURE(n, bound);
      CHECK(std::all_of(row.begin(), row.begin() + below, [=](auto w) { return w < bound; }));
      CHECK(std::none_of(row.begin() + below, row.end(), [=](auto w) { return w < bound; }));
      std::sort(row.begin(), row.end());
      std::sort(expected.begin(), expected.end());
      CHECK(row == expected);
    }
}

TEMPLATE_TEST_CASE("vector sort: a row is ascending until a word is out of place", "[sort]", std::int32_t,
                   std::int64_t) {
  if (!has_vector_sort()) TARRY_SKIP("the processor has no AVX-512");
  for (std::int64_t n = 0; n <= 70; ++n) {
    auto row = words<TestType>(n, [](auto i) { return static_cast<TestType>(i / 2); });
    CAPTURE(n);
    CHECK(are_ascending(row.data(), n));
    for (std::size_t at = 2; at < row.size(); ++at) {
      const TestType before = std::exchange(row[at], TestType{-1});
      CHECK_FALSE(are_ascending(row.data(), n));
      row[at] = before;
    }
  }
}
