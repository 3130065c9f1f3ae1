// topk beside the sort that defines it: ties, NaN, both directions, every axis, rows short and long.
#include <tarry/tarry.h>

#include <limits>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::test::Ints;

namespace {

/// Elements of which many are equal, with zeros of both signs, infinities and NaNs where the dtype has them.
ta::Array tied(std::int64_t n, ta::Dtype dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {0.0, -0.0, kInfinity, -kInfinity, kNan};
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::int64_t>(random());
    v.push_back(ta::is_floating(dtype) && bits % 16 == 0 ? special[bits / 16 % 5]
                                                         : static_cast<double>(bits / 16 % 100));
  }
  return ta::astype(ta::asarray(v), dtype);
}

std::vector<double> doubles(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

void check(const ta::Array& x, std::int64_t k, int axis, bool largest) {
  INFO(ta::name(x.dtype()) << ' ' << x.shape().str() << ", " << k << " along " << axis << (largest ? ", largest" : ""));
  const ta::TopK best = ta::topk(x, k, {.axis = axis, .largest = largest});
  const ta::Array order = ta::argsort(x, {.axis = axis, .descending = largest});
  ta::evaluate(order);  // whole: nobody may select
  const ta::Array places = ta::take(order, ta::arange(k), axis);
  ta::evaluate(best.values, best.indices, places);
  CHECK((best.indices.to_vector<std::int64_t>() == places.to_vector<std::int64_t>()));
  CHECK((ta::test::same_bits(doubles(best.values), doubles(ta::take_along_axis(x, places, axis)))));
}

}  // namespace

TEST_CASE("topk: places are those of a stable sort in every dtype", "[sort][topk]") {
  ta::test::on_every_device([](ta::Device) {
    for (const ta::Dtype dtype :
         {ta::bool_, ta::int8, ta::uint16, ta::int32, ta::int64, ta::float16, ta::float32, ta::float64})
      for (const bool largest : {false, true}) check(tied(3000, dtype), 40, 0, largest);
  });
}

TEST_CASE("topk: of rows of any length and number, along every axis", "[sort][topk]") {
  ta::test::on_every_device([](ta::Device) {
    for (const std::int64_t n : {1, 2, 15, 16, 17, 40, 100, 1000})
      for (const std::int64_t k : {std::int64_t{1}, n / 16, n / 16 + 1, n}) {
        if (k < 1 || k > n) continue;
        check(ta::reshape(tied(6 * n, ta::float32), {6, n}), k, 1, true);
        check(ta::reshape(tied(6 * n, ta::float32), {n, 6}), k, 0, false);
      }
  });
}

TEST_CASE("topk: of rows so long that a sample is worth its while", "[sort][topk]") {
  ta::test::on_every_device([](ta::Device) {
    constexpr std::int64_t n = (1 << 20) + 5;
    for (const ta::Dtype dtype : {ta::uint8, ta::float16, ta::float32, ta::float64})
      for (const std::int64_t k : {1, 10, 1000, 20'000}) check(tied(n, dtype), k, 0, k != 10);
    const ta::Array rising = ta::reshape(ta::astype(ta::arange(3 * n), ta::float64), {3, n});
    for (const bool largest : {false, true}) check(rising, 1000, 1, largest);
    for (const bool largest : {false, true}) check(ta::sin(rising), 100, 1, largest);
    check(ta::reshape(tied(2500 * 300, ta::float32), {2500, 300}), 100, 0, true);
    check(ta::reshape(tied(70 * 10'000, ta::float32), {70, 10'000}), 200, 1, true);
  });
}

TEST_CASE("topk: a long row is shared out among threads", "[sort][topk]") {
  for (const char* threads : {"1", "2", "7"}) {
    const ta::test::Setting count("TARRY_NUM_THREADS", threads);
    const ta::Scope placed(ta::cpu);
    for (const std::int64_t k : {1, 10, 1000, 15'000}) {
      check(tied(300'000, ta::float32), k, 0, true);
      check(ta::astype(ta::arange(300'000), ta::float64), k, 0, true);  // each is better than those before
    }
  }
}

TEST_CASE("topk: selected where few places are read, sorted where others are", "[sort][topk]") {
  const ta::Array x = tied(5000, ta::float32);
  const auto plan = [&](const ta::Array& y) { return ta::plan_for("x86-64-v3", y).str(); };
  CHECK_THAT(plan(ta::topk(x, 10).values), Catch::Contains("the first 10"));
  CHECK_THAT(plan(ta::argsort(x)(ta::slice(3, 31, 3))), Catch::Contains("the first 31"));
  CHECK_THAT(plan(ta::argsort(x)(ta::slice(4000, 5000))), !Catch::Contains("the first"));
  CHECK_THAT(plan(ta::sum(ta::argsort(x))), !Catch::Contains("the first"));
  CHECK_THAT(ta::plan_for("sm_90", ta::topk(x, 10).values).str(), Catch::Contains("the first 10"));
}
