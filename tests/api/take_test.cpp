// Reading at computed places: take, take_along_axis and x(indices) against loops over elements, in every layout, fused
// or not, compiled or interpreted, on every device; and what is said of an index out of range.
#include <tarry/index.h>

#include <numeric>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::Bounds;
using ta::newaxis;
using ta::none;
using ta::slice;
using ta::test::ints;
using ta::test::Ints;
using ta::test::Setting;

namespace {

Ints values(const ta::Array& x) { return x.to_vector<std::int64_t>(); }

void fused(const std::function<void()>& body) {
  ta::test::on_every_device([&](ta::Device) { body(); });
  const Setting interpreted("TARRY_DISABLE", "compile");
  INFO("interpreted");
  const ta::Scope placed(ta::cpu);
  body();
}

void everywhere(const std::function<void()>& body) {
  fused(body);
  const Setting unfused("TARRY_DISABLE", "fusion");
  INFO("unfused");
  ta::test::on_every_device([&](ta::Device) { body(); });
}

/// The message of what reading throws.
std::string message(const ta::Array& x) {
  try {
    (void)ta::sum(ta::astype(x, ta::float64)).item<double>();
  } catch (const ta::InvalidArgument& e) {
    return e.what();
  }
  return "nothing";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("take: elements along an axis, negative ones from its end", "[take]") {
  everywhere([] {
    const ta::Array x = ints({3, 4});
    CHECK(values(ta::take(x, ta::array({2, 0, -1}), 0)) == Ints{8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
    CHECK(values(ta::take(x, ta::array({3, -4}), 1)) == Ints{3, 0, 7, 4, 11, 8});
    CHECK(values(ta::take(x, ta::array({11, 0, -2}))) == Ints{11, 0, 10});
    CHECK(ta::take(x, ta::array({{0, 1}, {2, 0}, {1, 1}}), 1).shape() == ta::Shape{3, 3, 2});
    CHECK(values(ta::take(x, ta::Array(1), 0)) == Ints{4, 5, 6, 7});
    CHECK(values(ta::take(x, ta::array({{2}, {1}}), 0)) == Ints{8, 9, 10, 11, 4, 5, 6, 7});
  });
}

TEST_CASE("take: views of x and of indices, and what is computed, are read at the place", "[take]") {
  everywhere([] {
    const ta::Array x = ints({4, 5}), i = ta::array({3, 1, 1, 0});
    CHECK(values(ta::take(ta::matrix_transpose(x), i, 1)(0)) == Ints{15, 5, 5, 0});
    CHECK(values(ta::take(x(slice(none, none, -1)), i, 0)(slice(), 2)) == Ints{2, 12, 12, 17});
    CHECK(values(ta::take(x * 2 + 1, i, 0)(slice(), 1)) == Ints{33, 13, 13, 3});
    CHECK(values(ta::take(x, (i + 1) % 4, 0)(slice(), 0)) == Ints{0, 10, 10, 5});
    CHECK(values(ta::take(ta::arange(10) * 10, i(slice(none, none, 2)))) == Ints{30, 10});
    CHECK(values(ta::take(ta::full({5}, 7), i)) == Ints{7, 7, 7, 7});
  });
}

TEST_CASE("take_along_axis: an index for each element", "[take]") {
  everywhere([] {
    const ta::Array x = ints({2, 3});
    CHECK(values(ta::take_along_axis(x, ta::array({{2, 0}, {-1, 1}}))) == Ints{2, 0, 5, 4});
    CHECK(values(ta::take_along_axis(x, ta::array({{1, 0, 1}}), 0)) == Ints{3, 1, 5});
    CHECK(values(ta::take_along_axis(x, ta::array({{0}}))) == Ints{0, 3});
    const ta::Array best = ta::expand_dims(ta::argmax(x * (3 - x), 1), 1);
    CHECK(values(ta::take_along_axis(x, best)) == Ints{1, 3});
  });
}

TEST_CASE("index: arrays in the place of axes are NumPy's", "[take]") {
  everywhere([] {
    const ta::Array x = ints({3, 4, 5}), i = ta::array({2, 0}), j = ta::array({1, 3});
    CHECK(values(x(i, j, 4)) == Ints{49, 19});
    CHECK(values(x(i, j)(slice(), 0)) == Ints{45, 15});
    CHECK(values(x(0, slice(), i)) == Ints{2, 7, 12, 17, 0, 5, 10, 15});
    CHECK(values(x(1, i, slice(none, none, 4))) == Ints{30, 34, 20, 24});
    CHECK(values(x(i(slice(), newaxis), j, 0)) == Ints{45, 55, 5, 15});
    CHECK(x(slice(), i, j).shape() == ta::Shape{3, 2});
    CHECK(x(i, slice(), j).shape() == ta::Shape{2, 4});
    CHECK(x(newaxis, i, newaxis, j).shape() == ta::Shape{2, 1, 1, 5});
    CHECK(values(x(i, slice(), j)(0)) == Ints{41, 46, 51, 56});
    CHECK(values(x(slice(1, 3), i, -1)) == Ints{34, 24, 54, 44});
  });
}

TEST_CASE("take: bounds wrap or clip", "[take]") {
  everywhere([] {
    const ta::Array x = ints({4}), far = ta::array({-9, -1, 0, 3, 4, 1000});
    CHECK(values(ta::take(x, far, 0, Bounds::Wrap)) == Ints{3, 3, 0, 3, 0, 0});
    CHECK(values(ta::take(x, far, 0, Bounds::Clip)) == Ints{0, 0, 0, 3, 3, 3});
    const ta::Array huge = ta::asarray(std::vector<std::uint64_t>{~std::uint64_t{0}, 2});
    CHECK(values(ta::take(x, huge, 0, Bounds::Wrap)) == Ints{3, 2});
    CHECK(values(ta::take(x, huge, 0, Bounds::Clip)) == Ints{3, 2});
    CHECK(contains(message(ta::take(x, huge)), "out of range"));
    CHECK(values(ta::take(ta::arange(300), ta::asarray(std::vector<std::int8_t>{-128, 127}), 0, Bounds::Clip)) ==
          Ints{0, 127});
  });
}

TEST_CASE("take: an index out of range is an error of who reads", "[take]") {
  everywhere([] {
    const ta::Array x = ints({4, 3}), i = ta::array({{1, -5}, {4, 0}});
    const ta::Array bad = ta::take(x, i, 0), good = x + 1;
    CHECK_NOTHROW(ta::evaluate(bad, good));
    CHECK(values(good)[0] == 1);
    const std::string said = message(bad);
    INFO(said);
    CHECK(contains(said, "[take] index -5 at (0, 1) of the indices is out of range for axis 0 of extent 4"));
    CHECK(contains(said, "take_test.cpp:"));
    CHECK(message(bad) == said);
    CHECK(message(bad * 2 + good(0, 0)) == said);
    CHECK(contains(message(x(slice(), ta::array({0, 3}))), "[index] index 3 at (1,) of the indices"));
    CHECK(contains(message(ta::take_along_axis(x, ta::array({{7, 0, 0}}), 0)), "[take_along_axis] index 7"));
    CHECK(contains(message(ta::take(x, ta::Array(std::int64_t{1} << 60), 0)), "index 1152921504606846976 is out"));
  });
}

TEST_CASE("take: a kernel looks at no index that its results do not need", "[take]") {
  fused([] {
    const ta::Array x = ints({4}), i = ta::array({1, 9, 2});
    CHECK(values(ta::take(x, i)(0)) == Ints{1});
    ta::Array into = ints({5});
    into.set({slice(1, 3)}, ta::take(x, i)(slice(none, none, 2)) + 10);
    CHECK(values(into) == Ints{0, 11, 12, 3, 4});
  });
}

TEST_CASE("take: within reductions, scans and updates", "[take]") {
  everywhere([] {
    const std::int64_t n = 3000, m = 500;
    const ta::Array x = ta::arange(m) * 3, i = (ta::arange(n) * 7919) % m;
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += k * 7919 % m * 3;
    CHECK(ta::sum(ta::take(x, i)).item<std::int64_t>() == sum);
    CHECK(values(ta::cumulative_sum(ta::take(x, i)))[n - 1] == sum);
    const ta::Array rows = ints({m, 8}), some = ta::reshape(i, {-1, 6});
    CHECK(values(ta::sum(ta::take(rows, some, 0), 1))[0] == 8 * (0 + 419 + 338 + 257 + 176 + 95));
    ta::Array y = ta::zeros({n}, ta::int64);
    y.set({slice(10, n - 10)}, ta::take(x, i(slice(0, n - 20))));
    CHECK(ta::sum(y).item<std::int64_t>() == sum - ta::sum(ta::take(x, i(slice(n - 20, n)))).item<std::int64_t>());
  });
}

TEST_CASE("take: random gathers are loops over elements", "[take]") {
  everywhere([] {
    std::mt19937 random(5);
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 12; ++round) {
      const std::int64_t a = 1 + below(5), b = 1 + below(40), c = 1 + below(5), n = 1 + below(300);
      std::vector<std::int64_t> at(static_cast<std::size_t>(n));
      for (std::int64_t& k : at) k = below(2 * b) - b;
      const ta::Array x = ints({a, b, c}), y = ta::take(round % 2 ? x - 5 : x, ta::asarray(at), 1) * 2;
      Ints expected;
      for (std::int64_t p = 0; p < a; ++p)
        for (const std::int64_t k : at)
          for (std::int64_t q = 0; q < c; ++q)
            expected.push_back(2 * ((p * b + (k < 0 ? k + b : k)) * c + q - (round % 2 ? 5 : 0)));
      CHECK(values(y) == expected);
    }
  });
}

TEST_CASE("take: beside an update whose box is a run of rows indices are checked all the same", "[take]") {
  everywhere([] {
    const ta::Array x = ints({180, 2, 1});
    ta::Array set = x;
    set.set({slice(179, none)}, 1);
    const ta::Array taken = ta::take_along_axis(x * 2, x % 2, 1), outside = ta::take_along_axis(x, x, 1);
    ta::evaluate(set, taken);
    CHECK(values(set)[357] == values(x)[357]);
    CHECK(values(set)[358] == 1);
    CHECK(values(taken)[357] == 2 * values(x)[356 + values(x)[357] % 2]);
    ta::Array again = x;
    again.set({slice(179, none)}, 2);
    ta::evaluate(again, outside);
    CHECK_THROWS_AS(values(outside), ta::Error);
  });
}

TEST_CASE("take: an index that is computed is checked though it reads one element alone", "[take]") {
  everywhere([] {
    for (const std::int64_t n : {2, 64, 300}) {
      const ta::Array x = ints({1}) + 5, i = ta::astype(ta::arange(n) > 0, ta::int64) + ta::arange(n) * 0;
      CHECK(contains(message(ta::take(x, i, 0)),
                     "index 1 at (1,) of the indices is out of range for axis 0 of extent 1"));
      CHECK(values(ta::take(x, -i, 0)) == Ints(static_cast<std::size_t>(n), values(x)[0]));
    }
  });
}

TEST_CASE("take: rows of an array that is read beside them, and that is computed again at neither place", "[take]") {
  everywhere([] {
    for (const std::int64_t n : {2, 3, 64}) {
      const ta::Array a = ta::reshape(ta::arange(n * n), {n, n});
      ta::evaluate(a);
      const auto of = [&](const ta::Array& d, const ta::Array& first) {
        return std::vector{ta::max(ta::take(d, first, 0) * d) + d, d - ta::sum(ta::take(d, first, 0) * d, 0)};
      };
      const ta::Array first = ta::zeros({n}, ta::int64), kept = ta::roll(a, 1, 1);
      ta::evaluate(kept, first);
      const std::vector<ta::Array> expected = of(kept, first), got = of(ta::roll(a, 1, 1), first);
      for (std::size_t i = 0; i < 2; ++i) {
        ta::evaluate(expected[i]);
        CHECK(values(got[i]) == values(expected[i]));
      }
      const std::vector<ta::Array> both = of(ta::roll(a, 1, 1), first);
      ta::evaluate(both);
      CHECK(values(both[1]) == values(expected[1]));
    }
  });
}

TEST_CASE("take: a row that a reduction chooses is read beside values of the row that the reduction took", "[take]") {
  everywhere([] {
    const ta::Array x = ta::astype(ints({2, 1}), ta::float64), y = 1 % (ints({2, 1}) + 2);
    const ta::Array taken = ta::take(y, ta::argmax(x, 0), -1, Bounds::Wrap), rest = ta::remainder(x, y + 3);
    ta::evaluate(taken, rest);
    CHECK(values(taken) == values(y));
    CHECK(values(ta::astype(rest, ta::int64)) == values(ta::remainder(ints({2, 1}), y + 3)));
  });
}

TEST_CASE("take: an element that a reduction chooses is a result, and points of its row are divided by it", "[take]") {
  everywhere([] {
    const auto of = [](const ta::Array& x, const ta::Array& y) {
      const ta::Array best = ta::argmax(x, {}, {.keepdims = true}),
                      taken = ta::take(ta::maximum(y, 1.0), best * best % 5);
      return std::vector{taken, ta::floor_divide(taken, ta::astype(x, ta::float64) + 1.0), best,
                         ta::astype(x, ta::int64)};
    };
    const ta::Array x = ta::array({0, 3, 1, 2, 0}), y = ta::astype(ints({5}), ta::float64) * 10.0;
    const std::vector<ta::Array> got = of(x, y);
    ta::evaluate(got);
    CHECK(values(ta::astype(got[0], ta::int64)) == Ints{10});
    CHECK(values(ta::astype(got[1], ta::int64)) == Ints{10, 2, 5, 3, 10});
  });
}
