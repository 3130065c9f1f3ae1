// Few elements of a sorted row, which a CPU finds without the sort, beside the sort that defines them.
#include <tarry/dynamic.h>
#include <tarry/tarry.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "runtime/device/cpu/ranks.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

namespace ta = tarry;

namespace {

/// `kinds` numbers, each many times, or all apart where it is 0; with zeros of both signs and infinities, and NaNs of
/// several payloads where there are to be.
ta::Array numbers(std::int64_t n, ta::Dtype dtype, std::int64_t kinds, bool nans) {
  std::mt19937_64 random(static_cast<unsigned>(n + kinds));
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = random();
    const double x = kinds != 0 ? static_cast<double>(bits % static_cast<std::uint64_t>(kinds))
                                : std::ldexp(static_cast<double>(bits >> 12), static_cast<int>(bits % 40) - 60);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {0.0, -0.0, kInfinity, -kInfinity};
    v.push_back(!ta::is_floating(dtype) ? x + (kinds == 0 ? static_cast<double>(bits % 100) : 0)
                : bits % 64 == 0        ? special[bits / 64 % 4]
                : nans && bits % 64 < 9 ? std::bit_cast<double>(0x7ff8000000000000U + (bits >> 40 << 29))
                                        : (bits % 2 == 0 ? x : -x));
  }
  return ta::astype(ta::asarray(v), dtype);
}

/// NaNs too have the same bits.
bool are_same(const ta::Array& a, const ta::Array& b) {
  const ta::HostBytes x = ta::host_bytes(a), y = ta::host_bytes(b);
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

ta::Array sorted_whole(const ta::Array& x, int axis, bool falls) {
  const ta::Array sorted = ta::sort(x, {.axis = axis, .descending = falls});
  ta::evaluate(sorted);
  return sorted;
}

/// Elements `from` to `to` of a sort of the last axis have the bits of the whole sort's.
void check(const ta::Array& x, std::int64_t from, std::int64_t to, bool falls) {
  INFO(ta::name(x.dtype()) << ' ' << x.shape().str() << ", " << from << " to " << to << (falls ? ", descending" : ""));
  const ta::Slice few = ta::slice(from, to);
  const ta::Array sorted = ta::sort(x, {.axis = -1, .descending = falls});
  const ta::Array found = x.ndim() == 1 ? sorted(few) : sorted(ta::ellipsis, few);
  const ta::Array whole = sorted_whole(x, -1, falls);
  CHECK(are_same(found, x.ndim() == 1 ? whole(few) : whole(ta::ellipsis, few)));
}

}  // namespace

TEST_CASE("ranks: elements at few ranks are those of a whole sort, in every dtype, with ties and NaNs", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    constexpr std::int64_t n = 10'000;
    for (const ta::Dtype dtype : {ta::uint8, ta::int16, ta::int32, ta::uint32, ta::int64, ta::uint64, ta::float16,
                                  ta::bfloat16, ta::float32, ta::float64})
      for (const std::int64_t kinds : {0, 1, 5, 3000})
        for (const bool falls : {false, true})
          for (const auto& [from, to] :
               {std::pair<std::int64_t, std::int64_t>(0, 1), {0, 100}, {4999, 5001}, {9700, 9701}, {n - 20, n}})
            check(numbers(n, dtype, kinds, falls || kinds == 5), from, to, falls);
  });
}

TEST_CASE("ranks: of rows so long that a GPU looks at a sample, and of many", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    constexpr std::int64_t n = (1 << 20) - 7;
    for (const ta::Dtype dtype : {ta::uint8, ta::int32, ta::float32, ta::float64})
      for (const std::int64_t kinds : {0, 5}) {
        const ta::Array x = numbers(n, dtype, kinds, kinds == 5);
        check(x, n / 2 - 1, n / 2 + 1, false);
        check(x, n - 300, n, true);
        const ta::Array sorted = ta::sort(x), whole = sorted_whole(x, -1, false);
        const auto some = [](const ta::Array& a) {
          return ta::concat({a(ta::slice(n / 10, n / 10 + 2)), a(ta::slice(n / 2, n / 2 + 1)),
                             a(ta::slice(n / 5 * 4, n / 5 * 4 + 2)), a(ta::slice(n - 1, n))});
        };
        CHECK(are_same(some(sorted), some(whole)));
      }
    const ta::Array rows = ta::reshape(numbers(300 * 7000, ta::float32, 0, true), {300, 7000});
    check(rows, 3499, 3501, false);
    check(rows, 6999, 7000, true);
    check(rows, 0, 250, false);
  });
}

TEST_CASE("ranks: several at once, in rows and in rows that threads share", "[sort]") {
  for (const char* threads : {"1", "2", "5"}) {
    const ta::test::Setting count("TARRY_NUM_THREADS", threads);
    const ta::Scope placed(ta::cpu);
    const ta::Array x = numbers(300'000, ta::float64, 0, true),
                    rows = ta::reshape(numbers(15 * 5000, ta::float32, 400, false), {15, 5000});
    const ta::Array sorted = ta::sort(x), whole = sorted_whole(x, -1, false);
    const ta::Array few = ta::concat({sorted(ta::slice(7, 9)), sorted(ta::slice(200'000, 200'011, 5)),
                                      sorted(ta::slice(200'003, 200'004)), sorted(ta::slice(299'999, 300'000))});
    CHECK(are_same(few, ta::concat({whole(ta::slice(7, 9)), whole(ta::slice(200'000, 200'011, 5)),
                                    whole(ta::slice(200'003, 200'004)), whole(ta::slice(299'999, 300'000))})));
    check(rows, 2499, 2501, false);
    check(rows, 4990, 5000, true);
  }
}

TEST_CASE("ranks: a sample that misleads costs a sort, not the result", "[sort]") {
  const ta::Scope placed(ta::cpu);
  constexpr std::int64_t n = 20'000;
  std::vector<double> v(n, 1.0);
  for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = static_cast<double>(i % 977);
  for (std::int64_t k = 0; k < tarry::runtime::sample_size(n); ++k)
    v[static_cast<std::size_t>(tarry::runtime::sample_place(k, n))] = 1e6 + static_cast<double>(k);
  check(ta::asarray(v), 9'999, 10'001, false);
}

TEST_CASE("ranks: the places of a sample are one in each part of a row", "[sort]") {
  for (const std::int64_t n : {4096, 5001, 70'000, 1 << 20}) {
    const std::int64_t size = tarry::runtime::sample_size(n);
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t place = tarry::runtime::sample_place(k, n);
      REQUIRE(place >= n * k / size);
      REQUIRE(place < n * (k + 1) / size);
    }
  }
}

TEST_CASE("ranks: plans of medians and quantiles say which are read", "[sort]") {
  const ta::Array x = numbers(5000, ta::float32, 0, false);
  const auto plan = [&](const ta::Array& y) { return ta::plan_for("x86-64-v3", y).str(); };
  CHECK_THAT(plan(ta::median(x)), Catch::Contains(", ranks 2499 to 4999"));
  CHECK_THAT(plan(ta::quantile(x, std::vector<double>{0.1, 0.5})), Catch::Contains(", ranks 499 to 4999"));
  CHECK_THAT(plan(ta::sum(ta::sort(x))), !Catch::Contains(", ranks"));
}
