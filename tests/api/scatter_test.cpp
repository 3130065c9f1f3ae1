// Writing at computed places: set, add, multiply, minimum and maximum with arrays, put and put_along_axis against loops
// over elements, where indices repeat too; and what is said of an index out of range.
#include <tarry/index.h>

#include <map>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::Bounds;
using ta::none;
using ta::Put;
using ta::slice;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return x.to_vector<std::int64_t>(); }

void everywhere(const std::function<void()>& body) { ta::test::in_every_way(body, {"compile", "fusion", "reuse"}); }

/// The message of what reading throws.
std::string message(const ta::Array& x) {
  try {
    (void)ta::sum(ta::astype(x, ta::float64)).item<double>();
  } catch (const ta::InvalidArgument& e) {
    return e.what();
  }
  return "nothing";
}

/// The same bits; the widest float keeps those of all others.
bool alike(const ta::Array& a, const ta::Array& b) {
  const auto x = ta::astype(a, ta::float64).to_vector<double>(), y = ta::astype(b, ta::float64).to_vector<double>();
  return x.size() == y.size() && !ta::test::first_difference(std::span<const double>(x), std::span<const double>(y));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// As an update does it, one value after the other.
template <class T>
T joined(Put how, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (how) {
    case Put::Add: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case Put::Multiply: return static_cast<T>(std::uint64_t{static_cast<U>(a)} * static_cast<U>(b));
    case Put::Minimum: return std::min(a, b);
    case Put::Maximum: return std::max(a, b);
    case Put::Set: break;
  }
  return b;
}

constexpr Put kWays[] = {Put::Set, Put::Add, Put::Multiply, Put::Minimum, Put::Maximum};

/// `count` numbers below n, many of them equal.
Ints places(std::int64_t count, std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Ints at(static_cast<std::size_t>(count));
  for (std::int64_t& i : at) i = static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  return at;
}

}  // namespace

TEST_CASE("scatter: set takes the last value of an index that repeats", "[scatter]") {
  everywhere([] {
    ta::Array x = ints({5});
    const ta::Array old = x;
    x.set(ta::array({1, 3, 1, -1, 1}), ta::array({10, 20, 30, 40, 50}));
    CHECK(values(x) == Ints{0, 50, 2, 20, 40});
    CHECK(values(old) == Ints{0, 1, 2, 3, 4});
    x.set({ta::array({4, 4})}, 7);
    CHECK(values(x) == Ints{0, 50, 2, 20, 7});
  });
}

TEST_CASE("scatter: add, multiply, minimum and maximum join every value", "[scatter]") {
  everywhere([] {
    const ta::Array i = ta::array({2, 0, 2, 2}), v = ta::array({5, -7, 1, 3});
    const ta::Array x = ints({3}, 1);
    CHECK(values(ta::with_add(x, i, v)) == Ints{-6, 2, 12});
    CHECK(values(ta::with_multiply(x, i, v)) == Ints{-7, 2, 45});
    CHECK(values(ta::with_minimum(x, i, v)) == Ints{-7, 2, 1});
    CHECK(values(ta::with_maximum(x, i, v)) == Ints{1, 2, 5});
    CHECK(values(ta::with_add(ta::zeros({4}, ta::int64), ta::array({3, 3, 1}), 1)) == Ints{0, 1, 0, 2});
  });
}

TEST_CASE("scatter: arrays stand in the place of axes as in x(...)", "[scatter]") {
  everywhere([] {
    const ta::Array i = ta::array({2, 0}), j = ta::array({1, 3});
    ta::Array x = ta::zeros({3, 4}, ta::int64);
    x.set({i, j}, ta::array({5, 6}));
    CHECK(values(x) == Ints{0, 0, 0, 6, 0, 0, 0, 0, 0, 5, 0, 0});
    x.add({slice(), j}, ints({3, 2}, 10));
    CHECK(values(x) == Ints{0, 10, 0, 17, 0, 12, 0, 13, 0, 19, 0, 15});
    x.set({i}, ints({4}, 1));
    CHECK(values(x) == Ints{1, 2, 3, 4, 0, 12, 0, 13, 1, 2, 3, 4});
    x.add({i, slice(none, none, -2)}, ints({2, 2}, 100));
    CHECK(values(x) == Ints{1, 105, 3, 106, 0, 12, 0, 13, 1, 103, 3, 104});
    ta::Array deep = ta::zeros({2, 3, 2}, ta::int64);
    deep.set({1, ta::array({0, 2, 0})}, ints({3, 2}, 1));
    CHECK(values(deep(1)) == Ints{5, 6, 0, 0, 3, 4});
    deep.add({ta::array({0, 1}), slice(), ta::array({1, 0})}, 10);
    CHECK(values(deep) == Ints{0, 10, 0, 10, 0, 10, 15, 6, 10, 0, 13, 4});
  });
}

TEST_CASE("put and put_along_axis write where take and take_along_axis read", "[scatter]") {
  everywhere([] {
    const ta::Array x = ints({2, 3});
    CHECK(values(ta::put(x, ta::array({5, 0, -2}), ta::array({7, 8, 9}))) == Ints{8, 1, 2, 3, 9, 7});
    CHECK(values(ta::put(x, ta::array({1, 1}), 10, {.how = Put::Add})) == Ints{0, 21, 2, 3, 4, 5});
    CHECK(values(ta::put(x, ta::array({-7, 8}), 9, {.bounds = Bounds::Clip})) == Ints{9, 1, 2, 3, 4, 9});
    CHECK(values(ta::put(x, ta::array({-7, 8}), 9, {.bounds = Bounds::Wrap})) == Ints{0, 1, 9, 3, 4, 9});
    CHECK(values(ta::put_along_axis(x, ta::array({{2, 0}, {-1, 1}}), ints({2, 2}, 10))) == Ints{11, 1, 10, 3, 13, 12});
    CHECK(values(ta::put_along_axis(x, ta::array({{1, 0, 1}}), 5, 0)) == Ints{0, 5, 2, 5, 4, 5});
    const ta::Array best = ta::expand_dims(ta::argmax(x, 1), 1);
    CHECK(values(ta::put_along_axis(x, best, 0)) == Ints{0, 1, 0, 3, 4, 0});
  });
}

TEST_CASE("scatter: nothing, 0-d arrays and one element", "[scatter]") {
  everywhere([] {
    ta::Array x = ints({3});
    x.set(ta::zeros({0}, ta::int64), 5);
    CHECK(values(x) == Ints{0, 1, 2});
    x.set(ta::Array(1), 5);
    CHECK(values(x) == Ints{0, 5, 2});
    x.add(ta::Array(-1), 5);
    CHECK(values(x) == Ints{0, 5, 7});
    ta::Array empty = ta::zeros({0, 3}, ta::int64);
    empty.set(ta::zeros({0}, ta::int64), 5);
    CHECK(empty.size() == 0);
    CHECK(values(ta::put(ta::Array(std::int64_t{3}), ta::array({0, 0}), 1, {.how = Put::Add})) == Ints{5});
  });
}

TEST_CASE("scatter: values and indices may be computed, and x may be a view", "[scatter]") {
  everywhere([] {
    const ta::Array x = ints({4, 3}), i = ta::array({3, 1, 1, 0});
    CHECK(values(ta::with_add(ta::matrix_transpose(x), {ta::array({1, 1})}, 100)(1)) == Ints{201, 204, 207, 210});
    // Rows 1, 2, 2 and 1 of the double of rows 1 to 3.
    CHECK(values(ta::with_set(x(slice(1, none)) * 2, {(i + 1) % 3}, ints({4, 3}) * 10)) ==
          Ints{6, 8, 10, 90, 100, 110, 60, 70, 80});
    ta::Array sums = ta::zeros({4}, ta::int64);
    for (int round = 0; round < 3; ++round) sums.add(i, sums(i) + 1);
    CHECK(values(sums) == Ints{7, 26, 0, 7});
  });
}

TEST_CASE("scatter: integers of every width wrap, whatever the order", "[scatter]") {
  everywhere([] {
    const auto check_places = [](auto zero, std::int64_t n) {
      using T = decltype(zero);
      const std::int64_t count = 3000;
      const Ints at = places(count, n, 3);
      std::vector<T> value(at.size()), from(static_cast<std::size_t>(n));
      std::mt19937 random(4);
      for (T& v : value) v = static_cast<T>(random());
      for (T& v : from) v = static_cast<T>(random());
      for (const Put how : kWays) {
        std::vector<T> expected = from;
        for (std::size_t p = 0; p < at.size(); ++p) {
          T& to = expected[static_cast<std::size_t>(at[p])];
          to = joined(how, to, value[p]);
        }
        INFO("way " << static_cast<int>(how) << ", " << sizeof(T) << " bytes, " << n << " places");
        const ta::Array result = ta::put(ta::asarray(from), ta::asarray(at), ta::asarray(value), {.how = how});
        CHECK(result.template to_vector<T>() == expected);
      }
    };
    const auto check = [&](auto zero) {
      for (const std::int64_t n : {1, 70, 300, 2000}) check_places(zero, n);  // many values to a place, and few
    };
    check(std::int8_t{});
    check(std::uint8_t{});
    check(std::int16_t{});
    check(std::uint16_t{});
    check(std::int32_t{});
    check(std::uint32_t{});
    check(std::int64_t{});
    check(std::uint64_t{});
  });
}

TEST_CASE("scatter: floats add by the tree of sum in the order of the indices", "[scatter]") {
  everywhere([] {
    const std::int64_t n = 9, count = 2500, row = 3;
    Ints at = places(count, n - 2, 5);  // two places get nothing
    for (std::size_t p = 0; p < 700; ++p) at[p] = 2;
    std::map<std::int64_t, Ints> groups;
    for (std::size_t p = 0; p < at.size(); ++p) groups[at[p]].push_back(static_cast<std::int64_t>(p));
    for (const ta::Dtype dtype : {ta::float32, ta::float64, ta::float16, ta::bfloat16}) {
      const ta::Array v = ta::astype(ta::sin(ta::reshape(ta::arange(count * row), {count, row}) * 0.37), dtype);
      const ta::Array x = ta::astype(-0.0 * ta::ones({n, row}), dtype);
      ta::Array sums = x, products = x + ta::astype(ta::Array(1), dtype);
      sums.add(ta::asarray(at), v);
      products.multiply(ta::asarray(at), v);
      const ta::Dtype wide = ta::itemsize(dtype) == 2 ? ta::float32 : dtype;
      for (std::int64_t g = 0; g < n; ++g) {
        ta::Array expected = x(g), product = x(g) + ta::astype(ta::Array(1), dtype);
        if (!groups[g].empty()) {
          const ta::Array taken = ta::astype(ta::take(v, ta::asarray(groups[g]), 0), wide);
          expected = ta::astype(ta::astype(expected, wide) + ta::sum(taken, 0), dtype);
          product = ta::astype(ta::astype(product, wide) * ta::prod(taken, 0), dtype);
        }
        INFO(ta::name(dtype) << " group " << g);
        CHECK(alike(sums(g), expected));
        CHECK(alike(products(g), product));
      }
    }
  });
}

TEST_CASE("scatter: sums onto recorded zeros need no counts of what goes where", "[scatter]") {
  const ta::Array at = ta::array({2, 0, 2, 1}), v = ta::array({1.5F, -0.0F, 2.0F, -3.0F});
  const auto counts = [&](const ta::Array& x) {
    return ta::plan(ta::with_add(x, at, v)).str().find("bincount") != std::string::npos;
  };
  ta::Array memory = ta::zeros({4}) * 1.0F;
  ta::evaluate(memory);
  CHECK_FALSE(counts(ta::zeros({4})));
  CHECK(counts(memory));
  CHECK(counts(-ta::zeros({4})));
  CHECK(counts(ta::full({4}, -0.0F)));
  everywhere([&] {
    CHECK(alike(ta::with_add(ta::zeros({4}), at, v), ta::array({0.0F, -3.0F, 3.5F, 0.0F})));
    CHECK(alike(ta::with_add(ta::full({4}, -0.0F), at, v), ta::array({-0.0F, -3.0F, 3.5F, -0.0F})));
  });
}

TEST_CASE("scatter: floats take minima and maxima with NaN and zeros of both signs", "[scatter]") {
  everywhere([] {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const ta::Array i = ta::array({0, 1, 1, 2, 2, 3}), v = ta::array({nan, 0.0F, -0.0F, -0.0F, 0.0F, -5.0F});
    for (const ta::Dtype dtype : {ta::float32, ta::float64, ta::float16, ta::bfloat16}) {
      const ta::Array x = ta::zeros({4}, dtype), value = ta::astype(v, dtype);
      CHECK(alike(ta::with_minimum(x, i, value), ta::astype(ta::array({nan, -0.0F, -0.0F, -5.0F}), dtype)));
      CHECK(alike(ta::with_maximum(-x, i, value), ta::astype(ta::array({nan, 0.0F, 0.0F, -0.0F}), dtype)));
      const ta::Array often = ta::tile(i, {101}), values = ta::tile(value, {101});
      CHECK(alike(ta::with_minimum(x, often, values), ta::astype(ta::array({nan, -0.0F, -0.0F, -5.0F}), dtype)));
      CHECK(alike(ta::with_maximum(-x, often, values), ta::astype(ta::array({nan, 0.0F, 0.0F, -0.0F}), dtype)));
    }
  });
}

TEST_CASE("scatter: an index out of range is an error of who reads, and nothing is written out of bounds",
          "[scatter]") {
  everywhere([] {
    ta::Array x = ints({4, 3});
    const ta::Array good = x + 1;
    x.set(ta::array({1, -5, 4}), 9);
    CHECK_NOTHROW(ta::evaluate(x, good));
    CHECK(values(good)[0] == 1);
    const std::string said = message(x);
    INFO(said);
    CHECK(contains(said, "[set] index -5 at (1,) of the indices is out of range for axis 0 of extent 4"));
    CHECK(contains(said, "scatter_test.cpp:"));
    CHECK(contains(message(ta::with_add(good, {slice(), ta::array({3})}, 1)), "[add] index 3 at (0,) of the indices"));
    CHECK(contains(message(ta::put(good, ta::array({12}), 1)), "[put] index 12"));
    CHECK(contains(message(ta::put_along_axis(good, ta::array({{-4}}), 1)), "[put_along_axis] index -4 at (0, 0)"));
    CHECK(contains(message(ta::with_multiply(ta::ones({3}), ta::array({7}), 2)), "[multiply] index 7"));
  });
}

TEST_CASE("scatter: a base that nothing else holds is written in place", "[scatter]") {
  const ta::Scope placed(ta::cpu);
  ta::Array x = ints({1000});
  ta::evaluate(x);
  const void* const before = x.host<std::int64_t>().data();
  x.set(ta::array({3, 5}), -1);
  const ta::Report report = ta::evaluate(x);
  CHECK(report.counters().copies == 0);
  CHECK(x.host<std::int64_t>().data() == before);
  const ta::Array kept = x;
  x.add(ta::array({3, 3}), 1);
  CHECK(ta::evaluate(x).counters().copies == 1);
  CHECK(values(kept)[3] == -1);
  CHECK(values(x)[3] == 1);
}

TEST_CASE("scatter: values and indices that are the base itself are read before it is written", "[scatter]") {
  everywhere([] {
    ta::Array x = ints({4});
    ta::evaluate(x);
    x.set(ta::array({1, 2, 3, 0}), x);
    CHECK(values(x) == Ints{3, 0, 1, 2});
    x.add(x, x(slice(none, none, -1)) * 10);  // 20 at 3, 10 at 0, 0 at 1, 30 at 2
    CHECK(values(x) == Ints{13, 0, 31, 22});
  });
}

TEST_CASE("scatter: many places, rows and repetitions are loops over elements", "[scatter]") {
  everywhere([] {
    const std::int64_t n = 5000, count = 60000, row = 2;
    const Ints at = places(count, n, 11);
    const ta::Array v = ints({count, row}, 7) * 3;
    for (const Put how : kWays) {
      Ints expected(static_cast<std::size_t>(n * row), 1);
      for (std::size_t p = 0; p < at.size(); ++p) {
        for (std::size_t c = 0; c < 2; ++c) {
          std::int64_t& to = expected[static_cast<std::size_t>(at[p]) * 2 + c];
          to = joined(how, to, (7 + static_cast<std::int64_t>(2 * p + c)) * 3);
        }
      }
      ta::Array x = ta::ones({n, row}, ta::int64);
      if (how == Put::Set) x.set(ta::asarray(at), v);
      if (how == Put::Add) x.add(ta::asarray(at), v);
      if (how == Put::Multiply) x.multiply(ta::asarray(at), v);
      if (how == Put::Minimum) x.minimum(ta::asarray(at), v);
      if (how == Put::Maximum) x.maximum(ta::asarray(at), v);
      CHECK(values(x) == expected);
    }
  });
}
