// Order: sorts of every dtype, direction, axis and length against std::stable_sort, on every device.
#include <tarry/sort.h>
#include <tarry/tarry.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints int64s(const ta::Array& x) { return x.to_vector<std::int64_t>(); }
std::vector<float> floats(const ta::Array& x) { return x.to_vector<float>(); }

/// True if a comes before b in rising or falling order, NaNs last.
template <class T>
bool comes_before(T a, T b, bool falls) {
  if (a != a || b != b) return a == a;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return falls ? std::signbit(a) < std::signbit(b) : std::signbit(a) > std::signbit(b);
  return falls ? b < a : a < b;
}

/// Floats of which groups differ in their last bits alone.
std::vector<double> near_keys(std::int64_t n) {
  std::mt19937_64 random(static_cast<unsigned>(n));
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) {
    const std::uint64_t bits = random();
    x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(std::ldexp(1.0, static_cast<int>(bits % 900))) +
                              bits / 900 % 7);
  }
  return v;
}

enum class Nans { None, Some };

/// Numbers with ties, zeros of both signs and infinities.
template <class T>
std::vector<T> keys(std::int64_t n, Nans nans, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) {
    const std::uint64_t bits = random();
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T kSpecial[] = {T{0},
                                -T{0},
                                std::numeric_limits<T>::infinity(),
                                -std::numeric_limits<T>::infinity(),
                                std::numeric_limits<T>::denorm_min(),
                                std::numeric_limits<T>::quiet_NaN()};
      const std::uint64_t specials = nans == Nans::Some ? 6 : 5;
      x = bits % 4 == 0 ? kSpecial[bits / 4 % specials]
                        : static_cast<T>(static_cast<std::int64_t>(bits) >> (bits % 60));
    } else {
      x = bits % 2 == 0 ? static_cast<T>(bits >> 1) : static_cast<T>(bits >> 1 & 3);
    }
  }
  return v;
}

template <class T>
void check_rows(const std::vector<T>& x, std::int64_t rows, std::int64_t n, bool falls) {
  std::vector<T> sorted;
  Ints places;
  for (std::int64_t r = 0; r < rows; ++r) {
    Ints order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const T* const row = x.data() + r * n;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return comes_before(row[a], row[b], falls); });
    for (const std::int64_t place : order) sorted.push_back(row[place]);
    places.insert(places.end(), order.begin(), order.end());
  }
  const ta::Array given = ta::asarray(x, {rows, n});
  INFO(ta::name(given.dtype()) << " " << rows << " rows of " << n << (falls ? ", descending" : ""));
  CHECK((int64s(ta::argsort(given, {.descending = falls})) == places));
  const std::vector<T> result = ta::sort(given, {.descending = falls}).template to_vector<T>();
  CHECK(std::memcmp(result.data(), sorted.data(), sorted.size() * sizeof(T)) == 0);
}

template <class T>
void check_all_rows() {
  for (const auto& [rows, n] : {std::pair(1, 2),
                                {7, 3},
                                {5, 48},
                                {3, 49},
                                {2, 300},
                                {1, 5000},
                                {3, 2049},
                                {1, 70'000},
                                {8, 2},
                                {40, 3},
                                {17, 48},
                                {39, 17},
                                {35, 300},
                                {16, 2048},
                                {17, 2049}})
    for (const Nans nans : {Nans::None, Nans::Some})
      for (const bool falls : {false, true})
        check_rows(keys<T>(rows * n, nans, static_cast<unsigned>(n)), rows, n, falls);
}

}  // namespace

TEST_CASE("sort: rows of every length and dtype are in the order of a stable sort, in both directions", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    check_all_rows<std::int8_t>();
    check_all_rows<std::uint8_t>();
    check_all_rows<std::int16_t>();
    check_all_rows<std::uint16_t>();
    check_all_rows<std::int32_t>();
    check_all_rows<std::uint32_t>();
    check_all_rows<std::int64_t>();
    check_all_rows<std::uint64_t>();
    check_all_rows<float>();
    check_all_rows<double>();
  });
}

TEST_CASE("sort: rows of floats that differ in their last bits alone", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    for (const std::int64_t n : {40, 300, 2000})
      for (const bool falls : {false, true}) check_rows(near_keys(9 * n), 9, n, falls);
    std::vector<double> close(9 * 500);  // and of which every pair does
    for (std::size_t i = 0; i < close.size(); ++i)
      close[i] = i % 100 == 0 ? -1e300 : std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) + (i * 7919) % 512);
    check_rows(close, 9, 500, false);
  });
}

TEST_CASE("sort: long rows whatever keys they are drawn from, or hide from a sample", "[sort]") {
  const std::int64_t n = 100'000;
  const auto row = [&](const auto& key) {
    std::vector<double> v(static_cast<std::size_t>(n));
    std::mt19937_64 random(11);
    for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = key(i, random());
    return v;
  };
  const auto apart = [](std::uint64_t last_bits) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) + last_bits);
  };
  const std::pair<const char*, std::vector<double>> rows[] = {
      {"uniform", row([](std::int64_t, std::uint64_t r) { return static_cast<double>(r >> 11) * 0x1p-53; })},
      {"one value", row([](std::int64_t, std::uint64_t) { return 2.0; })},
      {"one of another value", row([&](std::int64_t i, std::uint64_t) { return i == n / 3 ? 1.0 : 2.0; })},
      {"few values", row([](std::int64_t, std::uint64_t r) { return static_cast<double>(r % 5); })},
      {"of every size",
       row([](std::int64_t, std::uint64_t r) { return std::ldexp(1.0, static_cast<int>(r % 2000) - 1000); })},
      {"rising", row([](std::int64_t i, std::uint64_t) { return static_cast<double>(i); })},
      {"falling", row([](std::int64_t i, std::uint64_t) { return -static_cast<double>(i); })},
      {"last bits", row([&](std::int64_t, std::uint64_t r) { return apart(r % 3 == 0 ? r % 100'000 : 7); })},
      {"far apart but for last bits", row([&](std::int64_t, std::uint64_t r) {
         return r % 1000 == 0 ? std::ldexp(1.0, static_cast<int>(r / 1000 % 600)) : apart(r / 7 % 4096);
       })},
      {"periods",
       row([](std::int64_t i, std::uint64_t r) { return i % 16 == 0 ? 1.0 : static_cast<double>(r % 1'000'000); })},
  };
  ta::test::on_every_device([&](ta::Device) {
    for (const auto& [name, x] : rows) {
      INFO(name);
      check_rows(x, 1, n, false);
      check_rows(std::vector<float>(x.begin(), x.end()), 1, n, true);
      std::vector<std::int64_t> bits(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) bits[i] = std::bit_cast<std::int64_t>(x[i]);
      check_rows(bits, 1, n, true);
    }
  });
}

TEST_CASE("sort: -0 comes before +0, NaNs come last in both directions and keep their bits and their order", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const float first = std::bit_cast<float>(0xffc00001U), second = std::bit_cast<float>(0x7fc00002U);
    const ta::Array x = ta::array({first, 0.0F, -0.0F, second, -1.0F, std::numeric_limits<float>::infinity()});
    const auto up = floats(ta::sort(x)), down = floats(ta::sort(x, {.descending = true}));
    CHECK((up[0] == -1 && std::signbit(up[1]) && !std::signbit(up[2]) && std::isinf(up[3])));
    CHECK((std::isinf(down[0]) && !std::signbit(down[1]) && std::signbit(down[2]) && down[3] == -1));
    for (const auto& v : {up, down}) {
      CHECK(std::bit_cast<std::uint32_t>(v[4]) == 0xffc00001U);
      CHECK(std::bit_cast<std::uint32_t>(v[5]) == 0x7fc00002U);
    }
  });
}

TEST_CASE("sort: any axis, the elements of a view or of a computed array, and what is empty or alone", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({{3, 9, 2}, {1, 7, 8}});
    CHECK(ta::sort(x, {.axis = 0}).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 7, 2, 3, 9, 8});
    CHECK(int64s(ta::argsort(ta::matrix_transpose(x))) == Ints{1, 0, 1, 0, 0, 1});
    CHECK((ta::sort(x * -1) + 1).to_vector<std::int32_t>() == std::vector<std::int32_t>{-8, -2, -1, -7, -6, 0});
    CHECK(int64s(ta::sort(ints({12})(ta::slice(ta::none, ta::none, -3)))) == Ints{2, 5, 8, 11});
    CHECK(ta::sort(ta::zeros({0, 3})).shape() == ta::Shape{0, 3});
    CHECK(int64s(ta::argsort(ta::zeros({2, 1}))) == Ints{0, 0});
    CHECK(int64s(ta::argsort(ta::ones({5}) > 0)) == Ints{0, 1, 2, 3, 4});
  });
}

TEST_CASE("sort: float16 and bfloat16 are ordered as the floats that they are", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::asarray(keys<float>(4000, Nans::Some, 7));
    for (const ta::Dtype dtype : {ta::float16, ta::bfloat16}) {
      const ta::Array narrow = ta::astype(x, dtype);
      CHECK((int64s(ta::argsort(narrow)) == int64s(ta::argsort(ta::astype(narrow, ta::float32)))));
      CHECK(ta::test::same_bits(floats(ta::astype(ta::sort(narrow), ta::float32)),
                                floats(ta::sort(ta::astype(narrow, ta::float32)))));
    }
  });
}

TEST_CASE("sort: one long row has the same bits whatever the number of threads", "[sort]") {
  const std::vector<double> x = keys<double>(300'000, Nans::Some, 3);
  const std::vector<std::uint32_t> y = keys<std::uint32_t>(300'000, Nans::None, 4);
  const Ints expected = int64s(ta::argsort(ta::asarray(x))), of_words = int64s(ta::argsort(ta::asarray(y)));
  for (const char* threads : {"1", "3", "8"}) {
    const ta::test::Setting setting("TARRY_NUM_THREADS", threads);
    const ta::Scope placed(ta::cpu);
    CHECK((int64s(ta::argsort(ta::asarray(x))) == expected));  // too long to print
    CHECK((int64s(ta::argsort(ta::asarray(y))) == of_words));
  }
}

TEST_CASE("sort: partition and topk give what a sort gives", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({{5.0F, 1.0F, 5.0F, 2.0F}, {0.0F, -1.0F, 9.0F, 3.0F}});
    CHECK(floats(ta::partition(x, 1)) == floats(ta::sort(x)));
    const ta::TopK best = ta::topk(x, 2);
    CHECK(floats(best.values) == std::vector<float>{5, 5, 9, 3});
    CHECK(int64s(best.indices) == Ints{0, 2, 2, 3});
    CHECK(int64s(ta::topk(x, 1, {.axis = 0, .largest = false}).indices) == Ints{1, 1, 0, 0});
    CHECK(ta::topk(x, 0).values.shape() == ta::Shape{2, 0});
  });
}

TEST_CASE("searchsorted: both sides, ties, zeros of both signs, NaNs, any shape, a sorter", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array row = ta::array({-1.0, 0.0, 0.0, 2.0, ta::nan}),
                    v = ta::array({{-0.0, 2.0, 5.0}, {-9.0, ta::nan, 1.0}});
    CHECK(int64s(ta::searchsorted(row, v)) == Ints{1, 3, 4, 0, 4, 3});
    CHECK(int64s(ta::searchsorted(row, v, {.side = ta::Side::Right})) == Ints{3, 4, 4, 0, 5, 3});
    CHECK(ta::searchsorted(row, v).shape() == ta::Shape{2, 3});
    CHECK(int64s(ta::searchsorted(ta::zeros({0}), ta::zeros({2}))) == Ints{0, 0});
    CHECK(ta::searchsorted(row, ta::zeros({0, 2})).shape() == ta::Shape{0, 2});
    const ta::Array mixed = ta::array({30, 10, 20});
    CHECK(int64s(ta::searchsorted(mixed, ta::array({20, 25}), {.sorter = ta::argsort(mixed)})) == Ints{1, 2});
    CHECK(int64s(ta::searchsorted(ta::array({1, 3}), ta::array({2.5}))) == Ints{1});
  });
}

/// Where elements of v stand, one after the other, by std::upper_bound or lower_bound; NaNs are last.
template <class T>
Ints places_of(const std::vector<T>& row, const std::vector<T>& v, ta::Side side) {
  const auto before = [](T a, T b) { return a < b || (a == a && b != b); };
  Ints places;
  for (const T x : v) {
    const auto at = side == ta::Side::Left ? std::lower_bound(row.begin(), row.end(), x, before)
                                           : std::upper_bound(row.begin(), row.end(), x, before);
    places.push_back(at - row.begin());
  }
  return places;
}

TEST_CASE("searchsorted: many elements, in any order and rising, among rows of every length", "[sort]") {
  std::mt19937_64 random(3);
  const auto check = [&]<class T>(T, std::int64_t length, T spread) {
    std::vector<T> row(static_cast<std::size_t>(length)), v(333);
    const auto draw = [&] { return static_cast<T>(static_cast<std::int64_t>(random() % 4001) - 2000) * spread; };
    std::ranges::generate(row, draw);
    std::ranges::generate(v, draw);
    std::ranges::sort(row);
    std::sort(v.begin() + 100, v.begin() + 250);
    if constexpr (std::is_floating_point_v<T>) {
      v[7] = v[300] = v[251] = std::numeric_limits<T>::quiet_NaN();
      if (length > 3) row.back() = v[7];
    }
    for (const ta::Side side : {ta::Side::Left, ta::Side::Right})
      CHECK(int64s(ta::searchsorted(ta::asarray(row), ta::asarray(v), {.side = side})) == places_of(row, v, side));
  };
  ta::test::on_every_device([&](ta::Device) {
    for (const std::int64_t length : {1, 2, 3, 7, 64, 1000, 5000}) {
      INFO("among " << length);
      check(float{}, length, 0.25F);
      check(double{}, length, 1e300);
      check(std::int64_t{}, length, std::int64_t{1} << 50);
      check(std::int32_t{}, length, 1 << 20);
      check(std::uint8_t{}, length, std::uint8_t{1});
    }
  });
}

namespace {

/// Numbers of T near those that other dtypes have, ascending.
template <class T>
std::vector<T> numbers_of() {
  std::vector<T> all;
  const auto add = [&](long double x) {
    if (x >= static_cast<long double>(std::numeric_limits<T>::lowest()) &&
        x <= static_cast<long double>(std::numeric_limits<T>::max()))
      all.push_back(static_cast<T>(x));
  };
  for (const int bits : {0, 1, 8, 11, 24, 31, 53, 63, 64})
    for (const int sign : {-1, 1})
      for (const long double step : {-1.0L, -0.5L, 0.0L, 0.5L, 1.0L}) add(sign * std::ldexp(1.0L, bits) + step);
  if constexpr (std::is_floating_point_v<T>)
    for (const T x : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity()}) all.push_back(x);
  all.push_back(std::numeric_limits<T>::lowest());
  all.push_back(std::numeric_limits<T>::max());
  std::ranges::sort(all);
  return all;
}

template <class A, class B>
void check_search() {
  const std::vector<A> row = numbers_of<A>();
  std::vector<B> values = numbers_of<B>();
  if constexpr (std::is_floating_point_v<B>) values.push_back(std::numeric_limits<B>::quiet_NaN());
  Ints left, right, inside;
  for (const B v : values) {
    const auto wide = static_cast<long double>(v);  // has every number of both
    const auto below = std::ranges::count_if(row, [&](A x) { return static_cast<long double>(x) < wide; });
    const auto up_to = std::ranges::count_if(row, [&](A x) { return static_cast<long double>(x) <= wide; });
    const auto end = static_cast<std::int64_t>(row.size());
    left.push_back(v != v ? end : below);
    right.push_back(v != v ? end : up_to);
    inside.push_back(up_to > below ? 1 : 0);
  }
  INFO(ta::name(ta::dtype_of<B>) << " among " << ta::name(ta::dtype_of<A>));
  const ta::Array sorted = ta::asarray(row), x = ta::asarray(values);
  CHECK(int64s(ta::searchsorted(sorted, x)) == left);
  CHECK(int64s(ta::searchsorted(sorted, x, {.side = ta::Side::Right})) == right);
  CHECK(int64s(ta::digitize(x, sorted)) == right);
  CHECK(int64s(ta::digitize(x, sorted, {.right = true})) == left);
  CHECK(int64s(ta::astype(ta::isin(x, sorted), ta::int64)) == inside);
}

template <class A>
void check_search_of() {
  check_search<A, std::int8_t>();
  check_search<A, std::int16_t>();
  check_search<A, std::int32_t>();
  check_search<A, std::int64_t>();
  check_search<A, std::uint8_t>();
  check_search<A, std::uint32_t>();
  check_search<A, std::uint64_t>();
  check_search<A, float>();
  check_search<A, double>();
}

}  // namespace

TEST_CASE("searchsorted: numbers of different dtypes are compared as they are", "[sort]") {
  ta::test::in_every_way([] {
    check_search_of<std::int8_t>();
    check_search_of<std::int32_t>();
    check_search_of<std::int64_t>();
    check_search_of<std::uint8_t>();
    check_search_of<std::uint64_t>();
    check_search_of<float>();
    check_search_of<double>();
  });
}

TEST_CASE("isin: equal elements are found, NaN in nothing, -0 as +0", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({1.0, -0.0, ta::nan, 7.0}), test = ta::array({{7.0, 0.0}, {ta::nan, 3.0}});
    CHECK(ta::isin(x, test).to_vector<bool>() == std::vector<bool>{false, true, false, true});
    CHECK(ta::isin(x, ta::zeros({0})).to_vector<bool>() == std::vector<bool>(4, false));
  });
}

TEST_CASE("unique: values, first places, inverse and counts", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::UniqueAll u = ta::unique_all(ta::array({{5, 2, 5}, {9, 2, 2}}));
    CHECK(u.values.to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 5, 9});
    CHECK(int64s(u.indices) == Ints{1, 0, 3});
    CHECK(int64s(u.inverse_indices) == Ints{1, 0, 1, 2, 0, 0});
    CHECK(u.inverse_indices.shape() == ta::Shape{2, 3});
    CHECK(int64s(u.counts) == Ints{3, 2, 1});
    CHECK(ta::unique_values(ta::zeros({0})).shape() == ta::Shape{0});
    CHECK(int64s(ta::unique_counts(ta::zeros({7})).counts) == Ints{7});
  });
}

TEST_CASE("unique: each NaN is distinct, zeros of both signs are one value, that of the first", "[sort]") {
  const ta::UniqueAll u = ta::unique_all(ta::array({ta::nan, 0.0, -0.0, ta::nan, -3.0}));
  const auto values = u.values.to_vector<double>();
  CHECK((values.size() == 4 && values[0] == -3 && values[1] == 0 && !std::signbit(values[1])));
  CHECK(int64s(u.indices) == Ints{4, 1, 0, 3});
  CHECK(int64s(u.counts) == Ints{1, 2, 1, 1});
  CHECK(int64s(u.inverse_indices) == Ints{2, 1, 1, 3, 0});
}

TEST_CASE("quantile: every method, at ends and between elements", "[sort]") {
  using M = ta::QuantileMethod;
  const ta::Array x = ta::array({40.0, 10.0, 30.0, 20.0});
  const auto at = [&](double q, M method) { return ta::quantile(x, q, {.method = method}).item<double>(); };
  // As numpy.quantile gives them.
  CHECK(at(0.4, M::Linear) == 22.0);
  CHECK(at(0.4, M::Lower) == 20.0);
  CHECK(at(0.4, M::Higher) == 30.0);
  CHECK(at(0.4, M::Midpoint) == 25.0);
  CHECK(at(0.4, M::Nearest) == 20.0);
  CHECK(at(0.5, M::Nearest) == 30.0);  // the even place of two
  CHECK(at(0.4, M::InvertedCdf) == 20.0);
  CHECK(at(0.4, M::Hazen) == Approx(21.0));
  CHECK(at(0.4, M::Weibull) == Approx(20.0));
  CHECK(at(0.4, M::MedianUnbiased) == Approx(20.666666666666668));
  CHECK(at(0.4, M::NormalUnbiased) == Approx(20.75));
  for (const M method : {M::Linear, M::Lower, M::Higher, M::Midpoint, M::Nearest, M::InvertedCdf, M::Hazen, M::Weibull})
    CHECK((at(0, method) == 10.0 && at(1, method) == 40.0));
}

TEST_CASE("quantile: axes, several at once, kept dimensions, integers and NaN", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = ta::array({{1, 3, 2, 5}, {8, 6, 7, 5}});
    CHECK(ta::median(x, {.axis = 1}).to_vector<double>() == std::vector<double>{2.5, 6.5});
    CHECK(ta::median(x).item<double>() == 5.0);
    CHECK(ta::quantile(x, {0.0, 0.5}, {.axis = 0}).shape() == ta::Shape{2, 4});
    CHECK(ta::percentile(x, 25, {.axis = 1, .keepdims = true}).shape() == ta::Shape{2, 1});
    CHECK(ta::quantile(x, 0.5, {.keepdims = true}).shape() == ta::Shape{1, 1});
    const auto v = floats(ta::median(ta::array({{1.0F, std::nanf(""), 2.0F}, {3.0F, 1.0F, 2.0F}}), {.axis = 1}));
    CHECK((std::isnan(v[0]) && v[1] == 2.0F));
    CHECK(ta::quantile(ta::array({1.0F, std::numeric_limits<float>::infinity()}), 1.0).item<float>() ==
          std::numeric_limits<float>::infinity());
  });
}

TEST_CASE("sort: calls read arithmetic on arrays of another shape that is reshaped again", "[sort][reshape]") {
  const auto body = [] {
    for (const ta::Shape& rows : {ta::Shape{2, 2}, ta::Shape{3, 5}, ta::Shape{40, 30}}) {
      const std::int64_t n = rows[0] * rows[1];
      const ta::Array x = ta::remainder(ints({n}) * 37, 101), w = ta::reshape(x * 3, rows);
      ta::evaluate(x, w);
      for (const ta::Shape& between : {ta::Shape{n}, ta::Shape{n, 1}, ta::Shape{1, n}, ta::Shape{rows[1], rows[0]}}) {
        INFO(rows << " by " << between);
        const auto numbers = [&] {
          return ta::reshape(ta::reshape(w, between) - ta::reshape(ta::cumulative_sum(x), between), rows);
        };
        ta::Array evaluated = numbers();
        ta::evaluate(evaluated);
        const ta::Array turned = ta::permute_dims(w, {1, 0});
        CHECK(int64s(ta::argsort(numbers())) == int64s(ta::argsort(evaluated)));
        CHECK(int64s(ta::sort(numbers(), {.axis = 0})) == int64s(ta::sort(evaluated, {.axis = 0})));
        CHECK(int64s(ta::matmul(numbers(), turned)) == int64s(ta::matmul(evaluated, turned)));
      }
    }
  };
  ta::test::in_every_way(body, {"compile", "fusion", "cse"});
}
