// Masks: nonzero and its kin, x(mask), compress, and updates of the elements where a mask is true.
#include <tarry/index.h>

#include <cmath>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
using ta::slice;
using ta::test::in_every_way;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return x.to_vector<std::int64_t>(); }

std::string message(const ta::Array& x) {
  try {
    (void)values(x);
  } catch (const ta::InvalidArgument& e) {
    return e.what();
  }
  return "nothing";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("nonzero: the coordinates of the true elements in row-major order", "[mask]") {
  in_every_way([] {
    const ta::Array x = ta::array({{3, 0, 0}, {0, 4, 0}, {5, 6, 0}});
    const std::vector<ta::Array> at = ta::nonzero(x);
    REQUIRE(at.size() == 2);
    CHECK(values(at[0]) == Ints{0, 1, 2, 2});
    CHECK(values(at[1]) == Ints{0, 1, 0, 1});
    CHECK(values(ta::where(x > 4)[1]) == Ints{0, 1});
    CHECK(values(ta::argwhere(x)) == Ints{0, 0, 1, 1, 2, 0, 2, 1});
    CHECK(values(ta::flatnonzero(x)) == Ints{0, 4, 6, 7});
    CHECK(ta::argwhere(ta::Array(3)).shape() == ta::Shape{1, 0});
  });
}

TEST_CASE("nonzero: all true, none, nothing, and NaN", "[mask]") {
  in_every_way([] {
    CHECK(values(ta::flatnonzero(ta::ones({5}))) == Ints{0, 1, 2, 3, 4});
    CHECK(ta::flatnonzero(ta::zeros({5})).shape() == ta::Shape{0});
    CHECK(ta::nonzero(ta::zeros({0, 3}))[1].shape() == ta::Shape{0});
    CHECK(ta::nonzero(ta::zeros({2, 3}))[1].shape() == ta::Shape{0});
    CHECK(ta::argwhere(ta::zeros({2, 3})).shape() == ta::Shape{0, 2});
    CHECK(values(ta::flatnonzero(ta::array({0.0, std::nan(""), -0.0}))) == Ints{1});
  });
}

TEST_CASE("mask: x(mask) has the true elements, of the whole or of leading axes", "[mask]") {
  in_every_way([] {
    const ta::Array x = ints({3, 4}), rows = ta::array({true, false, true});
    CHECK(values(x(x % 3 == 0)) == Ints{0, 3, 6, 9});
    CHECK(values(x(rows)) == Ints{0, 1, 2, 3, 8, 9, 10, 11});
    CHECK(values(x(rows, 1)) == Ints{1, 9});
    CHECK(values(x(slice(), ta::array({false, true, false, true}))) == Ints{1, 3, 5, 7, 9, 11});
    CHECK(values(x(rows, ta::array({3, 0}))) == Ints{3, 8});
    CHECK(x(x < 0).shape() == ta::Shape{0});
    CHECK(x(x >= 0).shape() == ta::Shape{12});
    CHECK(ints({2, 3, 2})(ints({2, 3}) > 3).shape() == ta::Shape{2, 2});
    CHECK(values(ta::sum((x * 2)(x > 9) + 1)) == Ints{44});
  });
}

TEST_CASE("mask: beside slices and arrays it is the coordinates of its true elements", "[mask]") {
  in_every_way([] {
    const ta::Array x = ta::reshape(ta::arange(2 * 3 * 4 * 5), {2, 3, 4, 5});
    const ta::Array mask = ta::array({{1, 0, 0, 1}, {0, 0, 0, 0}, {0, 1, 1, 0}}) > 0, none = mask & false;
    const ta::Array four = ta::array({0, 1, 1, 0}), last = ta::array({4, 0, -1, 2}), odd = ta::array({0, 1}) > 0;
    const std::vector<ta::Array> at = ta::nonzero(mask);
    const auto all = slice();
    CHECK(values(x(1, mask)) == values(x(1, at[0], at[1])));
    CHECK(values(x(all, mask)) == values(x(all, at[0], at[1])));
    CHECK(values(x(all, mask, 3)) == values(x(all, at[0], at[1], 3)));
    CHECK(values(x(four, mask, last)) == values(x(four, at[0], at[1], last)));
    CHECK(values(x(odd, mask, slice(0, 5, 2))) == values(x(1, at[0], at[1], slice(0, 5, 2))));
    CHECK(x(all, none, last(slice(0, 0))).shape() == ta::Shape{2, 0});
    CHECK(values(ta::with_add(x, {all, mask, 3}, 7)) == values(ta::with_add(x, {all, at[0], at[1], 3}, 7)));
    CHECK(values(ta::with_add(x, {four, mask, last}, 7)) == values(ta::with_add(x, {four, at[0], at[1], last}, 7)));
    ta::Array a = x + 0, b = x + 0;
    a.set({1, mask}, -1);
    b.set({1, at[0], at[1]}, -1);
    a.set({slice(0, 1), mask, slice(1, 3)}, -2);
    b.set({slice(0, 1), at[0], at[1], slice(1, 3)}, -2);
    CHECK(values(a) == values(b));
  });
}

TEST_CASE("mask: the numbers of true elements are read as they are", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::reshape(ta::arange(600), {20, 30}), mask = x > 100;
  const std::string plan = ta::plan(x(mask) + 1).str();
  INFO(plan);
  CHECK(plan.find("floor_divide") == std::string::npos);
}

TEST_CASE("mask: many elements keep their order, whatever the tiles", "[mask]") {
  in_every_way([] {
    for (const std::int64_t n : {1, 31, 4095, 4096, 4097, 70001}) {
      const ta::Array x = ta::arange(n), mask = (x * 7919) % 13 < 5;
      Ints expected;
      for (std::int64_t k = 0; k < n; ++k)
        if (k * 7919 % 13 < 5) expected.push_back(k);
      INFO(n);
      CHECK(values(x(mask)) == expected);
    }
  });
}

TEST_CASE("compress: parts along an axis", "[mask]") {
  in_every_way([] {
    const ta::Array x = ints({2, 3});
    CHECK(values(ta::compress(ta::array({false, true, true}), x, 1)) == Ints{1, 2, 4, 5});
    CHECK(values(ta::compress(ta::array({0, 1}), x, 0)) == Ints{3, 4, 5});
    CHECK(values(ta::compress(ta::array({1, 0, 0, 0, 2}), x)) == Ints{0, 4});
    CHECK(values(ta::compress(ta::array({true}), x, -1)) == Ints{0, 3});
  });
}

TEST_CASE("mask: set takes a row of the value for each true element", "[mask]") {
  in_every_way([] {
    ta::Array x = ints({2, 3});
    x.set(x % 2 == 1, ta::array({10, 20, 30}));  // a value that broadcasts to x keeps its places
    CHECK(values(x) == Ints{0, 20, 2, 10, 4, 30});
    ta::Array y = ints({7});
    y.set(y % 2 == 1, ta::array({10, 20, 30}));
    CHECK(values(y) == Ints{0, 10, 2, 20, 4, 30, 6});
    y.add(y > 9, ta::array({1, 2, 3}));
    CHECK(values(y) == Ints{0, 11, 2, 22, 4, 33, 6});
    ta::Array rows = ints({3, 2});
    rows.set(ta::array({true, false, true}), ints({2, 2}, 10));
    CHECK(values(rows) == Ints{10, 11, 2, 3, 12, 13});
    rows.set({ta::array({false, true, true}), 1}, ta::array({-1, -2}));
    CHECK(values(rows) == Ints{10, 11, 2, -1, 12, -2});
  });
}

TEST_CASE("mask: a value of another number of rows is an error of who reads", "[mask]") {
  in_every_way([] {
    const ta::Array x = ints({7});
    const std::string fewer = message(ta::with_set(x, x > 4, ta::array({1, 2, 3})));
    INFO(fewer);
    CHECK(contains(fewer, "[set] the mask has 1 true elements fewer than the value has rows"));
    CHECK(contains(fewer, "mask_test.cpp:"));
    CHECK(contains(message(ta::with_set(x, x > 1, ta::array({1, 2, 3}))), "2 true elements more"));
    CHECK(contains(message(ta::with_set(x, x > 100, ta::array({1, 2, 3}))), "3 true elements fewer"));
    CHECK(values(ta::with_set(x, x > 3, ta::array({1, 2, 3}))) == Ints{0, 1, 2, 3, 1, 2, 3});
  });
}

TEST_CASE("mask: an update by a mask and numbers waits for nothing", "[mask]") {
  const ta::Scope placed(ta::cpu);
  ta::Array x = ints({7}) + 1;
  x.set(x > 3, ta::array({1, 2, 3, 4}));
  x.multiply(x > 2, 10);
  CHECK(!x.is_evaluated());
  CHECK(values(x) == Ints{1, 2, 30, 1, 2, 30, 40});
}

TEST_CASE("mask: random masks, all true and none among them, are loops over elements", "[mask]") {
  in_every_way([] {
    std::mt19937 random(9);
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 16; ++round) {
      const std::int64_t a = 1 + below(60), b = 1 + below(9), share = round % 4 == 0 ? 0 : round % 4 == 1 ? 10 : 5;
      std::vector<std::uint8_t> chosen(static_cast<std::size_t>(a));
      for (std::size_t p = 0; p < chosen.size(); ++p) chosen[p] = below(10) < share ? 1 : 0;
      const ta::Array x = ints({a, b}), mask = ta::asarray(chosen) != 0;
      Ints taken, written = values(x);
      for (std::int64_t p = 0; p < a; ++p) {
        if (chosen[static_cast<std::size_t>(p)] == 0) continue;
        for (std::int64_t q = 0; q < b; ++q) {
          written[static_cast<std::size_t>(p * b + q)] = -1 - static_cast<std::int64_t>(taken.size());
          taken.push_back(p * b + q);
        }
      }
      const std::int64_t rows = static_cast<std::int64_t>(taken.size()) / b;
      INFO("round " << round << ": " << rows << " of " << a << " rows");
      CHECK(values(x(mask)) == taken);
      CHECK(values(ta::compress(mask, x + 1, 0) - 1) == taken);
      CHECK(ta::nonzero(mask)[0].shape() == ta::Shape{rows});
      ta::Array y = x;
      if (a != b) {  // else the mask is one of columns
        y.set(mask, -1 - ints({rows, b}));
        CHECK(values(y) == written);
      }
      y = x;
      y.set({mask, slice()}, -1 - ints({rows, b}));
      CHECK(values(y) == written);
    }
  });
}
