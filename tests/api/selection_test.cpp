// Selections: x(mask) whose number of elements nobody asks for. The same program with the number asked for at each step
// is the reference: it must have the same bits.
#include <tarry/index.h>
#include <tarry/loop.h>
#include <tarry/replay.h>

#include <cmath>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/visit.h"

namespace ta = tarry;
using ta::slice;
using ta::test::in_every_way;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return x.to_vector<std::int64_t>(); }

/// x, whose shape somebody has asked for.
const ta::Array& settled(const ta::Array& x) {
  (void)x.shape();
  return x;
}

std::string message(const ta::Array& x) {
  try {
    (void)x.to_vector<std::int64_t>();
  } catch (const ta::InvalidShape& e) {
    return e.what();
  }
  return "nothing";
}

bool same_values(const ta::Array& a, const ta::Array& b) {
  return a.dtype() == b.dtype() && ta::test::visit(a.dtype(), [&]<class T>(T) {
           return ta::test::same_bits(a.to_vector<T>(), b.to_vector<T>());
         });
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Numbers of both signs, with NaN, zeros of both signs and infinity among them.
ta::Array floats(std::int64_t n) {
  ta::Array x = ta::astype((ta::arange(n) * 7919) % 101 - 50, ta::float32) / 8.0F;
  x.set({slice(3, ta::none, 50)}, std::nanf(""));
  x.set({slice(4, ta::none, 50)}, -0.0F);
  x.set({slice(5, ta::none, 50)}, INFINITY);
  return x;
}

}  // namespace

TEST_CASE("selection: what goes back through its mask is one kernel, and nothing waits", "[mask]") {
  const ta::Scope placed(ta::cpu);
  ta::Array x = ints({4, 300}) + 0;
  const ta::Array mask = x % 3 == 0;
  Ints expected = values(x);
  for (std::int64_t& v : expected)
    if (v % 3 == 0) v = 2 * v + 1;
  x.set({mask}, 2 * x(mask) + 1);
  CHECK(!mask.is_evaluated());
  CHECK(ta::evaluate(x).counters().kernels == 1);
  CHECK(!mask.is_evaluated());
  CHECK(values(x) == expected);
}

TEST_CASE("selection: masks that are recorded alike are one", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array borrowed = ints({300}) - 150;
  ta::evaluate(borrowed);
  ta::Array x = borrowed;
  x.set(x < 0, -x(x < 0));
  CHECK(ta::evaluate(x).counters().kernels == 1);
  CHECK(values(x)[0] == 150);
  ta::Array y = borrowed;
  y.set(y < 1, -y(y < 0) + ta::zeros({150}, {ta::int64}));  // another mask, of one element more
  CHECK(contains(message(y), "1 true elements more"));
}

TEST_CASE("selection: operations, reductions and updates have the bits of the elements alone", "[mask]") {
  in_every_way([] {
    for (const std::int64_t n : {7, 40, 1000}) {
      const ta::Array x = floats(n), w = floats(n) * 0.25F, i = ta::arange(n) % 17 - 8, mask = i > -3;
      const auto formulas = [&](const auto& at) {
        const ta::Array a = at(x(mask)), b = at(w(mask)), k = at(i(mask));
        const ta::Array f = at(ta::where(at(a > 0), at(ta::exp(at(a * 2.0F - b))), at(ta::maximum(a, b))));
        const ta::Array cast = at(ta::astype(k, ta::int16));
        return std::vector<ta::Array>{f,
                                      at(ta::pow(a, 2)),
                                      at(-a),
                                      at(ta::floor(b)),
                                      at(ta::isnan(a)),
                                      ta::sum(f),
                                      ta::mean(b),
                                      ta::var(b),
                                      ta::max(f),
                                      ta::min(a),
                                      ta::sum(k),
                                      ta::prod(cast),
                                      ta::max(k),
                                      ta::min(cast),
                                      ta::any(at(f > 100)),
                                      ta::all(at(k > -3)),
                                      ta::count_nonzero(k),
                                      ta::sum(at(k == 2)),
                                      ta::argmax(b),
                                      ta::max(at(k > 5)),
                                      ta::with_set(x, {mask}, f),
                                      ta::with_add(w, {mask}, at(f * 2.0F)),
                                      ta::with_maximum(i, {mask}, at(k * k))};
      };
      const std::vector<ta::Array> lazy = formulas([](const ta::Array& a) { return a; }),
                                   eager = formulas([](const ta::Array& a) { return settled(a); });
      for (std::size_t k = 0; k < lazy.size(); ++k) {
        INFO(n << " elements, formula " << k);
        CHECK(lazy[k].shape() == eager[k].shape());
        CHECK(same_values(lazy[k], eager[k]));
      }
    }
  });
}

TEST_CASE("selection: integers, extremes and counts of it wait for nothing", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ints({5, 70}) % 23, mask = x % 2 == 1;
  const std::vector<ta::Array> results{ta::sum(x(mask)), ta::max(x(mask) * 3), ta::count_nonzero(x(mask) > 4),
                                       ta::any(x(mask) > 20), ta::min(ta::astype(x(mask), ta::float64))};
  CHECK(!mask.is_evaluated());
  const ta::Report report = ta::evaluate(results);
  CHECK(!mask.is_evaluated());
  CHECK(report.counters().bytes_written < 4096);  // no elements are stored
  CHECK(values(results[0])[0] == values(ta::sum(ta::where(mask, x, 0)))[0]);
  CHECK(values(results[1]) == Ints{63});
}

TEST_CASE("selection: rows by a mask of leading axes, and axes of a reduction", "[mask]") {
  in_every_way([] {
    const ta::Array x = (ints({6, 5, 4}) * 37) % 101, rows = ta::arange(6) % 3 != 1, pairs = ints({6, 5}) % 4 != 2;
    const auto formulas = [&](const auto& at) {
      const ta::Array r = at(x(rows)), p = at(x(pairs)),
                      scaled = at(r * ta::arange(4) + ta::array({{1}, {2}, {3}, {4}, {5}}));
      return std::vector<ta::Array>{scaled,
                                    at(p + ta::Array(7)),
                                    ta::sum(p, 0),
                                    ta::sum(p, -1),
                                    ta::sum(r, {0, 2}),
                                    ta::max(p, 0),
                                    ta::max(r, {0}, {.keepdims = true}),
                                    ta::min(p, {0, 1}, {.keepdims = true}),
                                    ta::any(at(p > 99), 0),
                                    ta::all(at(r >= 0), {0, 1}),
                                    ta::count_nonzero(p, 0),
                                    ta::with_set(x, {rows}, scaled),
                                    ta::with_set(x, {pairs}, at(p * 2)),
                                    ta::with_set(x, pairs, at(p * 2)),
                                    ta::with_multiply(x, rows, r)};
    };
    const std::vector<ta::Array> lazy = formulas([](const ta::Array& a) { return a; }),
                                 eager = formulas([](const ta::Array& a) { return settled(a); });
    for (std::size_t k = 0; k < lazy.size(); ++k) {
      INFO("formula " << k);
      CHECK(lazy[k].shape() == eager[k].shape());
      CHECK(same_values(lazy[k], eager[k]));
    }
  });
}

TEST_CASE("selection: an update means the same whether somebody has asked for the shape", "[mask]") {
  in_every_way([] {
    // As many elements as columns: by x.set(mask, v) such a value has one for each column.
    const ta::Array x = ints({3, 4}), mask = x % 3 == 1;
    CHECK(values(ta::with_set(x, mask, x(mask) * 10)) == values(ta::with_set(x, mask, settled(x(mask) * 10))));
    CHECK(values(ta::with_set(x, {mask}, x(mask) * 10)) == Ints{0, 10, 2, 3, 40, 5, 6, 70, 8, 9, 100, 11});
    CHECK(values(ta::with_set(x, {mask}, settled(x(mask) * 10))) == Ints{0, 10, 2, 3, 40, 5, 6, 70, 8, 9, 100, 11});
    const ta::Array square = ints({3, 3}), one = ta::array({false, true, false});
    CHECK(values(ta::with_set(square, one, square(one) + 90)) ==
          values(ta::with_set(square, one, settled(square(one) + 90))));
  });
}

TEST_CASE("selection: of nothing there is no extreme, which whoever reads it hears", "[mask]") {
  in_every_way([] {
    const ta::Array x = ints({3, 2}), none = x > 9;
    const std::string nothing = message(ta::max(x(none)));
    INFO(nothing);
    CHECK(contains(nothing, "[max] the mask has no true element: nothing has no max (place int64 (), evaluated at"));
    CHECK(contains(nothing, "selection_test.cpp:"));
    CHECK(contains(message(ta::min(x(ta::array({false, false, false})), 0)), "[min] the mask has no true element"));
    CHECK(values(ta::sum(x(none))) == Ints{0});
    CHECK(values(ta::count_nonzero(x(none))) == Ints{0});
    CHECK(!bool(ta::any(x(none) > 0)));
    CHECK(bool(ta::all(x(none) > 0)));
    CHECK_THROWS_AS(ta::max(settled(x(none))), ta::InvalidShape);
  });
}

TEST_CASE("selection: an array says what it is without waiting", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ints({6, 2}), mask = ta::arange(6) % 2 == 0, part = x(mask) + 1;
  CHECK(contains(part.repr(), "Array(int64, (?, 2), cpu, lazy: selection at selection_test.cpp:"));
  CHECK(part.ndim() == 2);
  CHECK(part.dtype() == ta::int64);
  CHECK(part.device() == ta::cpu);
  CHECK(!part.is_evaluated());
  CHECK(!mask.is_evaluated());
  CHECK(part.shape() == ta::Shape{3, 2});
  CHECK(mask.is_evaluated());
  CHECK(contains(part.repr(), "Array(int64, (3, 2), cpu, lazy: add at"));
  ta::evaluate(part);
  CHECK(part.is_evaluated());
  CHECK(contains(part.repr(), "evaluated"));
}

TEST_CASE("selection: the elements are computed once, for all handles", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ints({5000}), part = ta::exp(ta::astype(x(x % 2 == 0), ta::float32)), same = part;
  ta::evaluate(part);
  CHECK(same.is_evaluated());
  CHECK(ta::evaluate(same).counters().kernels == 0);
  CHECK(same.host<float>().data() == part.host<float>().data());
}

TEST_CASE("selection: what x is later does not change it", "[mask]") {
  const ta::Scope placed(ta::cpu);
  std::vector<std::int64_t> memory{1, 2, 3, 4, 5, 6};
  ta::Array x = ta::borrow(memory.data(), {6});
  const ta::Array part = x(x > 2) * 10;
  x.touch();
  memory.assign(6, 0);
  CHECK(values(part) == Ints{30, 40, 50, 60});
  ta::Array y = ints({6});
  const ta::Array before = y(y > 2);
  y.set({slice()}, 0);
  CHECK(values(before) == Ints{3, 4, 5});
}

TEST_CASE("selection: arrays of its length, other masks and other axes meet its elements", "[mask]") {
  in_every_way([] {
    const ta::Array x = ints({10}), mask = x % 2 == 0;
    CHECK(values(x(mask) + ta::array({10, 20, 30, 40, 50})) == Ints{10, 22, 34, 46, 58});
    CHECK(values(x(mask) + x(x % 2 == 1)) == Ints{1, 5, 9, 13, 17});
    CHECK((x(mask) + ints({2, 1})).shape() == ta::Shape{2, 5});
    CHECK(values(x(mask)(x(mask) > 3)) == Ints{4, 6, 8});
    CHECK(values(x(mask)(slice(1, 3))) == Ints{2, 4});
    CHECK(values(ta::cumulative_sum(x(mask))) == Ints{0, 2, 6, 12, 20});
    try {
      (void)(x(mask) + ints({3}));
      FAIL("arrays of 5 and of 3 elements were added");
    } catch (const ta::InvalidShape& e) {
      CHECK(contains(e.what(), "int64 (5,) and int64 (3,)"));
    }
  });
}

TEST_CASE("selection: += keeps what is selected", "[mask]") {
  const ta::Scope placed(ta::cpu);
  ta::Array x = ints({9}) + 0;
  const ta::Array mask = x > 5;
  ta::Array part = x(mask);
  part += x(mask);
  part *= 2;
  CHECK(!mask.is_evaluated());
  x.set(mask, part);
  CHECK(!mask.is_evaluated());
  CHECK(values(x) == Ints{0, 1, 2, 3, 4, 5, 24, 28, 32});
  CHECK_THROWS_AS(part += 0.5, ta::InvalidDtype);
}

TEST_CASE("selection: functions that are replayed and bodies of loops may have them", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const auto halve = ta::replay([](const ta::Array& x) {
    ta::Array y = x;
    y.set(x > 3, x(x > 3) / 2.0F);
    return std::pair(y, ta::max(y(y < 3)));
  });
  const auto [y, most] = halve(ta::astype(ints({8}), ta::float32));
  CHECK(y.to_vector<float>() == std::vector<float>{0, 1, 2, 3, 2, 2.5, 3, 3.5});
  CHECK(most.item<float>() == 2.5F);
  const auto [last, all] =
      ta::scan(ta::zeros({5}, {ta::int64}), ints({3, 5}), [](const ta::Array& c, const ta::Array& x) {
        ta::Array next = c + x;
        next.set(next % 2 == 1, next(next % 2 == 1) + 1);
        return std::pair(next, next);
      });
  CHECK(values(last) == Ints{16, 20, 22, 26, 28});
}

TEST_CASE("selection: long chains end, and die, with little stack", "[mask]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ints({9}), mask = x > 5;
  ta::Array part = x(mask);
  for (int i = 0; i < 5000; ++i) part = part + 1;
  CHECK(values(part) == Ints{5006, 5007, 5008});
}

TEST_CASE("selection: an operation keeps the mode that it was recorded in", "[mask]") {
  const ta::Array x = ints({9}), mask = x > 5;
  ta::Array part;
  {
    const ta::Scope relaxed(ta::relaxed);
    part = x(mask) * 2 + 1;
  }
  const ta::Array strict = x(mask) * 2 + 1;
  (void)part.shape();
  (void)strict.shape();
  const auto mode = [](const ta::Array& a) { return ta::detail::defined_edge(a, "mode", {}).node()->mode; };
  CHECK(mode(part) == ta::graph::Mode::Relaxed);
  CHECK(mode(strict) == ta::graph::Mode::Strict);
}
