// Scans through the public API: the bits of docs/reference/numerics.md in every layout, along every axis, with any
// number of threads, fused or not, compiled or interpreted, on every device.
#include <tarry/scan.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/scan_definition.h"

using namespace tarry;
using test::first_difference;
using test::on_every_device;
using test::Setting;

namespace {

template <class T>
std::vector<T> numbers(std::int64_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = static_cast<T>(std::normal_distribution<double>(0.3, 2.0)(random));
  return v;
}

template <class T>
T plus(T a, T b) {
  return a + b;
}
template <class T>
T times(T a, T b) {
  return a * b;
}

template <class T>
void check_same(const std::vector<T>& found, const std::vector<T>& expected) {
  REQUIRE(found.size() == expected.size());
  const auto at = first_difference<T>(found, expected);
  INFO("element " << at.value_or(0) << ": " << static_cast<double>(found[at.value_or(0)]) << " is not "
                  << static_cast<double>(expected[at.value_or(0)]));
  CHECK(!at);
}

constexpr std::int64_t kLengths[] = {2,   3,   4,   5,   31,   32,   33,   100,  127,  128,
                                     129, 255, 256, 257, 1000, 4096, 4097, 8192, 8193, 70000};

Setting unfused() { return {"TARRY_DISABLE", "fusion"}; }

}  // namespace

TEST_CASE("scan: a long sum has the bits of its definition", "[scan]") {
  on_every_device([](Device) {
    for (const std::int64_t n : kLengths) {
      INFO("n " << n);
      const std::vector<float> x = numbers<float>(n);
      check_same(cumulative_sum(asarray(x)).to_vector<float>(), test::scanned(x, plus<float>));
      const std::vector<double> y = numbers<double>(n);
      check_same(cumulative_sum(asarray(y)).to_vector<double>(), test::scanned(y, plus<double>));
    }
  });
}

TEST_CASE("scan: products have the bits of their definition", "[scan]") {
  on_every_device([](Device) {
    for (const std::int64_t n : {7, 128, 1000, 9000}) {
      std::vector<float> x = numbers<float>(n);
      for (float& v : x) v = 1 + v / 1000;
      check_same(cumulative_prod(asarray(x)).to_vector<float>(), test::scanned(x, times<float>));
    }
  });
}

TEST_CASE("scan: running extremes are exact along every axis, for every dtype and length", "[scan]") {
  const auto run = [](auto sample, std::int64_t n) {
    using T = decltype(sample);
    const std::vector<T> x = numbers<T>(n);
    std::vector<T> least = x, most = x;
    for (std::size_t i = 1; i < x.size(); ++i) {
      least[i] = std::min(least[i - 1], x[i]);
      most[i] = std::max(most[i - 1], x[i]);
    }
    INFO("n " << n);
    check_same(cumulative_min(asarray(x)).template to_vector<T>(), least);
    check_same(cumulative_max(asarray(x)).template to_vector<T>(), most);
    const Array columns = broadcast_to(expand_dims(asarray(x), 1), {n, 70});
    check_same(cumulative_max(columns * T(1), {.axis = 0})(slice(), 69).template to_vector<T>(), most);
    const Array rows = broadcast_to(asarray(x), {3, n});
    check_same(cumulative_min(rows * T(1), {.axis = -1})(2).template to_vector<T>(), least);
  };
  const auto all = [&] {
    for (const std::int64_t n : {2, 3, 31, 33, 128, 129, 1000, 9000}) {
      run(1.0F, n);
      run(1.0, n);
      run(std::int64_t{1}, n);
      run(std::uint64_t{1}, n);
      run(std::int32_t{1}, n);
      run(std::uint32_t{1}, n);
      run(std::int8_t{1}, n);
    }
  };
  on_every_device([&](Device) { all(); });
  const Setting interpreted("TARRY_DISABLE", "compile");
  const Scope placed(cpu);
  run(1.0F, 9000);
  run(std::int64_t{1}, 300);
}

TEST_CASE("scan: running extremes keep the dtype, pass NaN on and tell zeros apart", "[scan]") {
  on_every_device([](Device) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const Array x = asarray(std::vector<float>{0.0f, -0.0f, -inf, inf, nan, 1});
    check_same(cumulative_min(x).to_vector<float>(), {0.0f, -0.0f, -inf, -inf, nan, nan});
    check_same(cumulative_max(flip(x)(slice(2, none))).to_vector<float>(), {inf, inf, inf, inf});
    check_same(cumulative_max(asarray(std::vector<float>{-inf, -0.0f, 0.0f})).to_vector<float>(), {-inf, -0.0f, 0.0f});
    const std::vector<std::int64_t> least = {INT64_MIN, INT64_MIN};
    CHECK(cumulative_max(asarray(least)).to_vector<std::int64_t>() == least);
    CHECK(cumulative_max(array({1, 3, 2}) > 2).to_vector<bool>() == std::vector<bool>{false, true, true});
    CHECK(cumulative_min(ones({2, 3}, float16), {.axis = 0}).dtype() == float16);
    CHECK(cumulative_max(zeros({0, 4}), {.axis = 0}).shape() == Shape{0, 4});
    const Counters c = plan(cumulative_max(zeros({50, 40}, int32) + 1, {.axis = 0})).counters();
    CHECK(c.bytes_written == 50 * 40 * 4);
  });
}

TEST_CASE("scan: in reverse, element k is what comes from k on", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(1000);
    std::vector<float> turned(x.rbegin(), x.rend()), expected = test::scanned(turned, plus<float>);
    std::ranges::reverse(expected);
    check_same(cumulative_sum(asarray(x), {.reverse = true}).to_vector<float>(), expected);
    const Array table = array({{1, 2, 3}, {4, 5, 6}});
    CHECK(cumulative_sum(table, {.axis = 0, .reverse = true}).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{5, 7, 9, 4, 5, 6});
    CHECK(cumulative_prod(table, {.axis = 1, .include_initial = true, .reverse = true}).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{6, 6, 3, 1, 120, 30, 6, 1});
    CHECK(cumulative_min(array({3, 1, 2}), {.reverse = true}).to_vector<int>() == std::vector<int>{1, 1, 2});
    CHECK(cumulative_sum(zeros({0}), {.include_initial = true, .reverse = true}).to_vector<float>() ==
          std::vector<float>{0});
  });
}

TEST_CASE("scan: a million elements in chunks have the same bits for any number of threads", "[scan]") {
  const std::vector<float> x = numbers<float>(1'000'003);
  const std::vector<float> expected = test::scanned(x, plus<float>);
  for (const char* threads : {"1", "2", "5"}) {
    const Setting count("TARRY_NUM_THREADS", threads);
    check_same(cumulative_sum(asarray(x)).to_vector<float>(), expected);
  }
}

TEST_CASE("scan: the beginning of a scan is the scan of the beginning", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(20000);
    const std::vector<float> whole = cumulative_sum(asarray(x)).to_vector<float>();
    for (const std::size_t n : {5u, 129u, 4097u, 12345u}) {
      const auto end = static_cast<std::ptrdiff_t>(n);
      check_same(cumulative_sum(asarray(std::vector<float>(x.begin(), x.begin() + end))).to_vector<float>(),
                 std::vector<float>(whole.begin(), whole.begin() + end));
    }
  });
}

TEST_CASE("scan: every axis and layout gives the bits of its rows", "[scan]") {
  on_every_device([](Device) {
    const std::int64_t shape[] = {3, 150, 20};
    const std::vector<float> x = numbers<float>(3 * 150 * 20);
    const Array a = reshape(asarray(x), {3, 150, 20});
    const auto strides = std::array<std::int64_t, 3>{150 * 20, 20, 1};
    for (int axis = 0; axis < 3; ++axis) {
      INFO("axis " << axis);
      std::vector<float> expected(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto s = static_cast<std::size_t>(strides[static_cast<std::size_t>(axis)]),
                   n = static_cast<std::size_t>(shape[axis]);
        if (i / s % n != 0) continue;
        std::vector<float> row;
        for (std::size_t k = 0; k < n; ++k) row.push_back(x[i + k * s]);
        row = test::scanned(row, plus<float>);
        for (std::size_t k = 0; k < n; ++k) expected[i + k * s] = row[k];
      }
      check_same(cumulative_sum(a, {.axis = axis}).to_vector<float>(), expected);
      check_same(cumulative_sum(a, {.axis = axis - 3}).to_vector<float>(), expected);
      const Array turned = permute_dims(a, {2, 1, 0});
      check_same(permute_dims(cumulative_sum(turned, {.axis = 2 - axis}), {2, 1, 0}).to_vector<float>(), expected);
    }
  });
}

TEST_CASE("scan: views and broadcast operands are read in place", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(6000);
    std::vector<float> backwards(x.rbegin(), x.rend());
    check_same(cumulative_sum(flip(asarray(x), 0)).to_vector<float>(), test::scanned(backwards, plus<float>));
    std::vector<float> constant(5000, 0.1f);
    check_same(cumulative_sum(full({5000}, 0.1f)).to_vector<float>(), test::scanned(constant, plus<float>));
    const Array rows = broadcast_to(asarray(numbers<float>(300)), {4, 300});
    const std::vector<float> row = test::scanned(numbers<float>(300), plus<float>);
    std::vector<float> expected;
    for (int i = 0; i < 4; ++i) expected.insert(expected.end(), row.begin(), row.end());
    check_same(cumulative_sum(rows, {.axis = 1}).to_vector<float>(), expected);
  });
}

TEST_CASE("scan: maps before and after are part of its kernel, with the same bits", "[scan]") {
  on_every_device([](Device) {
    for (const std::int64_t n : {100, 3000, 20000}) {
      const std::vector<float> x = numbers<float>(n, 1), y = numbers<float>(n, 2);
      const auto program = [&] {
        const Array a = asarray(x), b = asarray(y);
        const Array product = a * b;
        return cumulative_sum(product) * 2.0f + b - product;
      };
      Array fused = program();
      CHECK(plan(fused).counters().kernels == 1);
      std::vector<float> products, expected;
      for (std::size_t i = 0; i < x.size(); ++i) products.push_back(x[i] * y[i]);
      expected = test::scanned(products, plus<float>);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float twice = expected[i] * 2.0f, sum = twice + y[i];
        expected[i] = sum - products[i];
      }
      check_same(fused.to_vector<float>(), expected);
      const Setting off = unfused();
      Array single = program();
      CHECK(plan(single).counters().kernels > 1);
      check_same(single.to_vector<float>(), expected);
    }
  });
}

TEST_CASE("scan: two scans along one axis share a kernel, a scan of a scan does not", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(10000, 1), y = numbers<float>(10000, 2);
    Array both = cumulative_sum(asarray(x)) + cumulative_sum(asarray(y));
    CHECK(plan(both).counters().kernels == 1);
    const std::vector<float> a = test::scanned(x, plus<float>), b = test::scanned(y, plus<float>);
    std::vector<float> expected;
    for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + b[i]);
    check_same(both.to_vector<float>(), expected);
    Array again = cumulative_sum(cumulative_sum(asarray(x)));
    CHECK(plan(again).counters().launches == 2);
    check_same(again.to_vector<float>(), test::scanned(a, plus<float>));
    const Array z = asarray(y);
    Array sandwich = cumulative_sum(cumulative_sum(asarray(x)) * z) + z;
    std::vector<float> middle;
    for (std::size_t i = 0; i < a.size(); ++i) middle.push_back(a[i] * y[i]);
    middle = test::scanned(middle, plus<float>);
    for (std::size_t i = 0; i < a.size(); ++i) middle[i] += y[i];
    check_same(sandwich.to_vector<float>(), middle);
  });
}

TEST_CASE("scan: short sums before a scan are no loop of its kernel", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(5000 * 4);
    std::vector<float> sums;
    for (std::size_t i = 0; i < x.size(); i += 4) sums.push_back(((x[i] + x[i + 1]) + x[i + 2]) + x[i + 3]);
    const Array rows = sum(reshape(asarray(x), {5000, 4}), 1);
    check_same(cumulative_sum(rows).to_vector<float>(), test::scanned(sums, plus<float>));
  });
}

TEST_CASE("scan: integers wrap, in the dtype of sum", "[scan]") {
  on_every_device([](Device) {
    const Array small = asarray(std::vector<std::int8_t>{100, 100, 100});
    const Array wide = cumulative_sum(small);
    CHECK(wide.dtype() == int64);
    CHECK(wide.to_vector<std::int64_t>() == std::vector<std::int64_t>{100, 200, 300});
    CHECK(cumulative_sum(small, {.dtype = int8}).to_vector<std::int8_t>() == std::vector<std::int8_t>{100, -56, 44});
    CHECK(cumulative_sum(asarray(std::vector<std::uint16_t>{1, 2, 3})).dtype() == uint64);
    CHECK(cumulative_prod(asarray(std::vector<std::int32_t>{1, 2, 3, 4, 5})).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{1, 2, 6, 24, 120});
    const Array flags = asarray(std::vector<float>{1, 0, 2, 0, 3}) > 0.5f;
    CHECK(cumulative_sum(flags).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 2, 2, 3});
    CHECK(cumulative_sum(asarray(std::vector<std::int64_t>{1, 2}), {.dtype = float32}).dtype() == float32);
  });
}

TEST_CASE("scan: 16-bit floats accumulate in float32 and round once", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(3000);
    for (const Dtype dtype : {float16, bfloat16}) {
      const Array halves = astype(asarray(x), dtype);
      const std::vector<float> wide = test::scanned(astype(halves, float32).to_vector<float>(), plus<float>);
      const Array found = cumulative_sum(halves);
      CHECK(found.dtype() == dtype);
      check_same(astype(found, float32).to_vector<float>(),
                 astype(astype(asarray(wide), dtype), float32).to_vector<float>());
    }
  });
}

TEST_CASE("scan: special values", "[scan]") {
  on_every_device([](Device) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    check_same(cumulative_sum(asarray(std::vector<float>{-0.0f, -0.0f, 0.0f, 1, inf, -inf, 1})).to_vector<float>(),
               {-0.0f, -0.0f, 0.0f, 1, inf, nan, nan});
    std::vector<float> zeros(9000, -0.0f);
    check_same(cumulative_sum(asarray(zeros)).to_vector<float>(), zeros);
    std::vector<float> x(9000, 1.0f);
    x[5000] = nan;
    const std::vector<float> sums = cumulative_sum(asarray(x)).to_vector<float>();
    CHECK(sums[4999] == 5000.0f);
    CHECK(std::isnan(sums[5000]));
    CHECK(std::isnan(sums[8999]));
  });
}

TEST_CASE("scan: an initial value makes the axis one longer", "[scan]") {
  on_every_device([](Device) {
    const Array x = asarray(std::vector<float>{1, 2, 3});
    CHECK(cumulative_sum(x, {.include_initial = true}).to_vector<float>() == std::vector<float>{0, 1, 3, 6});
    CHECK(cumulative_prod(x, {.include_initial = true}).to_vector<float>() == std::vector<float>{1, 1, 2, 6});
    const Array table = reshape(asarray(std::vector<float>{1, 2, 3, 4, 5, 6}), {2, 3});
    const Array columns = cumulative_sum(table, {.axis = 0, .include_initial = true});
    CHECK(columns.shape() == Shape{3, 3});
    CHECK(columns.to_vector<float>() == std::vector<float>{0, 0, 0, 1, 2, 3, 5, 7, 9});
    const std::vector<float> y = numbers<float>(10000);
    std::vector<float> expected = test::scanned(y, plus<float>);
    expected.insert(expected.begin(), 0.0f);
    check_same(cumulative_sum(asarray(y), {.include_initial = true}).to_vector<float>(), expected);
  });
}

TEST_CASE("scan: empty arrays and axes of one element", "[scan]") {
  on_every_device([](Device) {
    const Array nothing = zeros({0});
    CHECK(cumulative_sum(nothing).shape() == Shape{0});
    CHECK(cumulative_sum(nothing, {.include_initial = true}).to_vector<float>() == std::vector<float>{0});
    CHECK(cumulative_prod(zeros({0, 4}), {.axis = 0, .include_initial = true}).to_vector<float>() ==
          std::vector<float>(4, 1.0f));
    CHECK(cumulative_sum(zeros({3, 0}), {.axis = 0}).shape() == Shape{3, 0});
    CHECK(cumulative_sum(full({1}, 7.0f)).to_vector<float>() == std::vector<float>{7});
    CHECK(cumulative_sum(reshape(asarray(std::vector<float>{1, 2, 3}), {1, 3}), {.axis = 0}).to_vector<float>() ==
          std::vector<float>{1, 2, 3});
  });
}

TEST_CASE("scan: without a compiler the interpreter has the same bits", "[scan]") {
  const std::vector<float> x = numbers<float>(9000, 1), y = numbers<float>(9000, 2);
  const auto program = [&] {
    return cumulative_sum(asarray(x) * asarray(y)) + cumulative_prod(asarray(y) * 0.01f + 1.0f);
  };
  const std::vector<float> compiled = program().to_vector<float>();
  const Setting none("TARRY_DISABLE", "compile");
  check_same(program().to_vector<float>(), compiled);
}

TEST_CASE("scan: an operand that dies gives its memory to the result", "[scan]") {
  on_every_device([](Device) {
    const std::vector<float> x = numbers<float>(50000);
    Array a = asarray(x);
    evaluate(a);
    a = a * 1.0f;
    evaluate(a);
    a = cumulative_sum(a);
    check_same(a.to_vector<float>(), test::scanned(x, plus<float>));
  });
}

TEST_CASE("scan: every run has the same bits", "[scan]") {
  on_every_device([](Device device) {
    const std::vector<float> x = numbers<float>(1'500'001);
    const Array a = asarray(x);
    const std::vector<float> first = cumulative_sum(a).to_vector<float>();
    check_same(first, test::scanned(x, plus<float>));
    const Array expected = asarray(first);
    const int runs = device == cpu ? 5 : 1000;
    for (int i = 0; i < runs; ++i) REQUIRE(array_equal(cumulative_sum(a), expected).item<bool>());
  });
}
