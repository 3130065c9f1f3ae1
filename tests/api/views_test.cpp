// Views: what they index, what their passes keep, and what evaluates. Expected values come from loops written here.
#include <algorithm>
#include <numeric>
#include <random>

#include "graph/passes/passes.h"
#include "tests/api/graph_values.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
namespace tg = tarry::graph;
using ta::ellipsis;
using ta::newaxis;
using ta::none;
using ta::slice;
using ta::test::counting;
using ta::test::ints;
using ta::test::Ints;

namespace {

/// The recorded meaning, after checking that every pass keeps it.
Ints meaning(const ta::Array& x) {
  const tg::Snapshot s = ta::test::snapshot_of({&x});
  const Ints recorded = ta::test::GraphValues(s.graph, s).of(s.graph.roots[0]);
  for (const std::string off : {"", "simplify", "cse", "fold"}) {
    INFO("without pass " << off << "\n" << to_string(s.graph));
    const tg::Graph g = tg::run_passes(s.graph, [&](std::string_view pass) { return pass == off; });
    INFO(to_string(g));
    const Ints optimised = ta::test::GraphValues(g, s).of(g.roots[0]);
    REQUIRE(optimised == recorded);
  }
  return recorded;
}

struct Row {
  const char* name;
  ta::Array result;
  ta::Shape shape;
  Ints expected;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(row.result.shape() == row.shape);
    CHECK(meaning(row.result) == row.expected);
  }
}

}  // namespace

TEST_CASE("index: integers drop axes, slices keep them, as in NumPy", "[views][index]") {
  const ta::Array x = ints({3, 4});
  check({{"x(0)", x(0), {4}, {0, 1, 2, 3}},
         {"x(-1)", x(-1), {4}, {8, 9, 10, 11}},
         {"x(1, 2)", x(1, 2), {}, {6}},
         {"x(:, -2)", x(slice(), -2), {3}, {2, 6, 10}},
         {"x(1:)", x(slice(1, none)), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11}},
         {"x(:1)", x(slice(1)), {1, 4}, {0, 1, 2, 3}},
         {"x(1:-1, 1:-1)", x(slice(1, -1), slice(1, -1)), {1, 2}, {5, 6}},
         {"x(:, ::2)", x(slice(), slice(none, none, 2)), {3, 2}, {0, 2, 4, 6, 8, 10}},
         {"x(::-1, ::-3)", x(slice(none, none, -1), slice(none, none, -3)), {3, 2}, {11, 8, 7, 4, 3, 0}},
         {"x(..., 1)", x(ellipsis, 1), {3}, {1, 5, 9}},
         {"x(..., 0, 1)", x(ellipsis, 0, 1), {}, {1}},
         {"x(newaxis)", x(newaxis), {1, 3, 4}, counting(12)},
         {"x(:, newaxis, 2:)", x(slice(), newaxis, slice(2, none)), {3, 1, 2}, {2, 3, 6, 7, 10, 11}},
         {"x(..., newaxis)", x(ellipsis, newaxis), {3, 4, 1}, counting(12)},
         {"nothing left of an empty slice", x(slice(2, 2)), {0, 4}, {}},
         {"views of views", x(slice(1, none))(slice(none, none, -1), 1), {2}, {9, 5}}});
}

TEST_CASE("slice: ends are cut and counted as Python does, for every start, stop and step", "[views][index]") {
  constexpr std::int64_t n = 5;
  const ta::Array x = ints({n});
  const std::optional<std::int64_t> ends[] = {{}, -7, -6, -5, -4, -1, 0, 1, 3, 4, 5, 6, 9};
  const auto bound = [](std::optional<std::int64_t> e) { return e ? ta::Bound(*e) : ta::Bound(none); };
  for (const auto& start : ends)
    for (const auto& stop : ends)
      for (const std::int64_t step : {-7, -5, -2, -1, 1, 2, 3, 5, 8}) {
        // By definition: the positions start, start + step, ... that lie before stop and inside.
        std::int64_t first = start.value_or(step > 0 ? 0 : n - 1), last = stop.value_or(step > 0 ? n : -1 - n);
        if (start && first < 0) first = std::max<std::int64_t>(first + n, step > 0 ? 0 : -1);
        if (start && first >= n) first = step > 0 ? n : n - 1;
        if (last < 0) last += n;
        Ints expected;
        for (std::int64_t i = first; step > 0 ? i < last : i > last; i += step) {
          if (i < 0 || i >= n) break;
          expected.push_back(i);
        }
        INFO("start " << start.value_or(99) << " stop " << stop.value_or(99) << " step " << step);
        const ta::Array part = x(slice(bound(start), bound(stop), step));
        REQUIRE(part.shape() == ta::Shape(expected.size()));
        REQUIRE(meaning(part) == expected);
      }
  CHECK(x(slice(none, none, INT64_MIN)).shape() == ta::Shape(1));
  CHECK(x(slice(INT64_MIN, INT64_MAX)).shape() == ta::Shape(n));
  CHECK(x(slice(UINT64_MAX)).shape() == ta::Shape(n));
}

TEST_CASE("index: what is wrong names the op, the axis, the shape and the user's line", "[views][index][errors]") {
  const ta::Array x = ints({3, 4});
  const auto fails = [](const auto& call, int line, const std::string& message, const std::string& op = "index") {
    try {
      (void)call();
      FAIL("nothing was thrown");
    } catch (const ta::InvalidArgument& e) {
      CHECK(e.op() == op);
      CHECK_THAT(e.what(), Catch::Contains(message));
      CHECK(e.where().line == static_cast<std::uint32_t>(line));
      CHECK_THAT(e.where().file, Catch::Contains("views_test"));
    }
  };
  fails([&] { return x(3); }, __LINE__, "index 3 is out of range for axis 0 of extent 3 in int64 (3, 4)");
  fails([&] { return x(slice(), -5); }, __LINE__, "index -5 is out of range for axis 1 of extent 4 in int64 (3, 4)");
  fails([&] { return x(0, 0, 0); }, __LINE__, "3 indices are too many for int64 (3, 4)");
  fails([&] { return x(ellipsis, ellipsis); }, __LINE__, "an ellipsis may stand once");
  fails([&] { return x(slice(none, none, 0)); }, __LINE__, "the slice of axis 0 of int64 (3, 4) has step 0");
  fails([&] { return ta::Array()(0); }, __LINE__, "undefined");
  fails([&] { return ta::concat({x, x(0)}); }, __LINE__, "int64 (3, 4) and int64 (4,) do not go together", "concat");
  fails([&] { return ta::concat({x(0, 0)}); }, __LINE__, "int64 () is 0-d: there is no axis", "concat");
  fails([&] { return ta::concat({}); }, __LINE__, "there is no array to join", "concat");
  fails([&] { return ta::stack({x, x(0)}); }, __LINE__, "do not go together", "stack");
  fails([&] { return ta::stack({x}, 3); }, __LINE__, "axis 3", "stack");
  fails([&] { return ta::reshape(x, {5, -1}); }, __LINE__, "no extent for the -1 in (5, -1)", "reshape");
  fails([&] { return ta::reshape(x, {-1, -1}); }, __LINE__,
        "int64 (3, 4) does not reshape to (-1, -1): it has more than one -1", "reshape");
  fails([&] { return ta::reshape(x, {5, 2}); }, __LINE__, "int64 (3, 4) has 12 elements, (5, 2) has 10", "reshape");
  fails([&] { return ta::roll(x, {1, 2}, 0); }, __LINE__, "2 shifts for 1 axes", "roll");
  fails([&] { return ta::moveaxis(x, {0, 1}, 0); }, __LINE__, "2 axes to move to 1 places", "moveaxis");
  fails([&] { return ta::repeat(x, -1, 0); }, __LINE__, "-1 repetitions of axis 0 of int64 (3, 4)", "repeat");
  fails([&] { return ta::tile(x, {2, -1}); }, __LINE__, "-1 repetitions", "tile");
  fails([&] { return ta::unstack(x, 2); }, __LINE__, "axis 2 is out of range", "unstack");
  const auto rows = [&] {
    for (const ta::Array& row : x(0, 0)) (void)row;
    return 0;
  };
  fails(rows, __LINE__ - 3, "int64 () is 0-d: there are no rows");
}

TEST_CASE("iteration: rows are lazy parts along the first axis", "[views][index]") {
  const ta::Array x = ints({3, 2});
  std::int64_t i = 0;
  for (const ta::Array row : x) {
    CHECK_FALSE(row.is_evaluated());
    CHECK(meaning(row) == Ints{2 * i, 2 * i + 1});
    ++i;
  }
  CHECK(i == 3);
  for (const ta::Array row : ints({0, 2})) FAIL("an empty array has no rows, not " << row.repr());
  const std::vector<ta::Array> columns = ta::unstack(x, -1);
  REQUIRE(columns.size() == 2);
  CHECK(meaning(columns[1]) == Ints{1, 3, 5});
}

TEST_CASE("reshape: keeps the row-major sequence over every kind of source", "[views][reshape]") {
  const ta::Array x = ints({4, 6});
  const Ints all = counting(24);
  const auto pick = [](std::initializer_list<std::int64_t> v) { return Ints(v); };
  Ints transposed;
  for (std::int64_t j = 0; j < 6; ++j)
    for (std::int64_t i = 0; i < 4; ++i) transposed.push_back(6 * i + j);
  Ints doubled;
  for (const std::int64_t v : all) doubled.push_back(2 * v + v % 6);
  check({{"split", ta::reshape(x, {2, 2, 3, 2}), {2, 2, 3, 2}, all},
         {"merge", ta::reshape(x, -1), {24}, all},
         {"across", ta::reshape(x, {3, -1}), {3, 8}, all},
         {"extents of 1", ta::reshape(x, {1, 4, 1, 6}), {1, 4, 1, 6}, all},
         {"of a transpose", ta::reshape(ta::permute_dims(x, {1, 0}), {24}), {24}, transposed},
         {"of a transpose, split", ta::reshape(ta::permute_dims(x, {1, 0}), {3, 2, 2, 2}), {3, 2, 2, 2}, transposed},
         {"of rows", ta::reshape(x(slice(1, 3)), -1), {12}, counting(12, 6)},
         {"of rows, split", ta::reshape(x(slice(1, 3)), {4, 3}), {4, 3}, counting(12, 6)},
         {"of columns", ta::reshape(x(slice(), slice(0, 2)), -1), {8}, pick({0, 1, 6, 7, 12, 13, 18, 19})},
         {"of a row", ta::reshape(x(2), {2, 3}), {2, 3}, counting(6, 12)},
         {"of every second",
          ta::reshape(x(slice(), slice(none, none, 2)), {6, 2}),
          {6, 2},
          pick({0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22})},
         {"of a broadcast", ta::reshape(ta::broadcast_to(x(0, slice(2)), {3, 2}), -1), {6}, pick({0, 1, 0, 1, 0, 1})},
         {"of new axes",
          ta::reshape(ta::broadcast_to(x(0, newaxis, slice(2)), {2, 2, 2}), {4, 2}),
          {4, 2},
          pick({0, 1, 0, 1, 0, 1, 0, 1})},
         {"of a number", ta::reshape(ta::full({2, 3}, 7), {3, 2}), {3, 2}, Ints(6, 7)},
         {"of an iota", ta::reshape(ta::arange(24), {4, 6}), {4, 6}, all},
         {"of a strided iota",
          ta::reshape(ta::arange(5, 53, 2), {2, 3, 4})(1),
          {3, 4},
          [] {
            Ints v;
            for (std::int64_t i = 12; i < 24; ++i) v.push_back(5 + 2 * i);
            return v;
          }()},
         {"of an iota along one of two axes",
          ta::reshape(ta::arange(4)(slice(), newaxis) + ta::zeros({4, 6}, ta::int64), {3, 8}),
          {3, 8},
          [] {
            Ints v;
            for (std::int64_t i = 0; i < 24; ++i) v.push_back(i / 6);
            return v;
          }()},
         {"of arithmetic", ta::reshape(x * 2 + ta::arange(6), {2, 12}), {2, 12}, doubled},
         {"twice", ta::reshape(ta::reshape(x * 1, {8, 3}) * 1, {4, 6}), {4, 6}, all},
         {"of a sum", ta::reshape(ta::sum(x, 1), {2, 2}), {2, 2}, pick({15, 51, 87, 123})},
         {"of nothing", ta::reshape(x(slice(0, 0)), {3, 0}), {3, 0}, {}},
         {"of one element", ta::reshape(x(1, 1), {1, 1}), {1, 1}, pick({7})},
         {"repeat", ta::repeat(x(0, slice(3)), 2), {6}, pick({0, 0, 1, 1, 2, 2})},
         {"repeat along an axis", ta::repeat(x(slice(2), slice(2)), 2, 0), {4, 2}, pick({0, 1, 0, 1, 6, 7, 6, 7})},
         {"tile",
          ta::tile(x(slice(2), slice(2)), {2, 2}),
          {4, 4},
          pick({0, 1, 0, 1, 6, 7, 6, 7, 0, 1, 0, 1, 6, 7, 6, 7})},
         {"tile with a new axis", ta::tile(x(0, slice(2)), {2, 1}), {2, 2}, pick({0, 1, 0, 1})}});
}

TEST_CASE("concat, stack, roll and moveaxis put every element where NumPy does", "[views][join]") {
  const ta::Array x = ints({2, 3}), y = ints({2, 3}, 10);
  check({{"rows", ta::concat({x, y}), {4, 3}, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}},
         {"columns", ta::concat({x, y}, 1), {2, 6}, {0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15}},
         {"columns, counted from the last", ta::concat({x, y}, -1), {2, 6}, {0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15}},
         {"flat", ta::concat({x, y(0)}, none), {9}, {0, 1, 2, 3, 4, 5, 10, 11, 12}},
         {"one", ta::concat({x}), {2, 3}, counting(6)},
         {"empty parts", ta::concat({x(slice(0, 0)), x, y(slice(1, 1))}), {2, 3}, counting(6)},
         {"nothing", ta::concat({x(slice(0, 0)), x(slice(0, 0))}), {0, 3}, {}},
         {"nothing, twice as wide", ta::concat({x(slice(0, 0)), x(slice(0, 0))}, 1), {0, 6}, {}},
         {"stack nothing", ta::stack({x(0, slice(0, 0)), x(0, slice(0, 0)), x(0, slice(0, 0))}), {3, 0}, {}},
         {"stack", ta::stack({x, y}), {2, 2, 3}, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}},
         {"stack last", ta::stack({x(0), y(0)}, -1), {3, 2}, {0, 10, 1, 11, 2, 12}},
         {"stack numbers", ta::stack({x(0, 1), y(0, 1)}), {2}, {1, 11}},
         {"roll", ta::roll(x, 1, 1), {2, 3}, {2, 0, 1, 5, 3, 4}},
         {"roll back", ta::roll(x, -4, 1), {2, 3}, {1, 2, 0, 4, 5, 3}},
         {"roll flat", ta::roll(x, 2), {2, 3}, {4, 5, 0, 1, 2, 3}},
         {"roll both", ta::roll(x, {1, 1}, {0, 1}), {2, 3}, {5, 3, 4, 2, 0, 1}},
         {"roll by nothing", ta::roll(x, 3, 1), {2, 3}, counting(6)},
         {"a part of a concat", ta::concat({x, y})(slice(2, none), 1), {2}, {11, 14}},
         {"across the parts", ta::concat({x, y})(slice(1, 3), 1), {2}, {4, 11}},
         {"moveaxis", ta::moveaxis(ints({2, 3, 2}), 0, -1), {3, 2, 2}, {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}}});
  CHECK(ta::concat({x, ta::zeros({1, 3}, ta::int32)}).dtype() == ta::int64);
  CHECK(ta::concat({ta::zeros(2, ta::bool_), ta::zeros(2, ta::bool_)}).dtype() == ta::bool_);
}

TEST_CASE("concat: hundreds of parts stay right and linear", "[views][join]") {
  for (const std::size_t count : {23, 24, 25, 577, 1000}) {
    std::vector<ta::Array> parts;
    for (std::size_t i = 0; i < count; ++i) parts.push_back(ints({2}, static_cast<std::int64_t>(2 * i)));
    const ta::Array whole = ta::concat(parts);
    const tg::Snapshot s = ta::test::snapshot_of({&whole});
    CHECK(ta::test::GraphValues(s.graph, s).of(s.graph.roots[0]) == counting(static_cast<std::int64_t>(2 * count)));
    CHECK(s.graph.nodes.size() < 4 * count + 4);
  }
}

TEST_CASE("passes: random chains of views, reshapes, updates and arithmetic keep every element", "[views][passes]") {
  std::mt19937 random(11);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto any_slice = [&](std::int64_t extent) {
    const std::int64_t step = draw(0, 3) == 0 ? -1 : draw(1, 2);
    const std::int64_t a = draw(0, extent / 2), b = draw(extent / 2, extent);
    return step < 0 ? slice(none, none, step) : slice(a, b, step);
  };
  const auto factors = [&](std::int64_t n) {
    std::vector<std::int64_t> shape;
    while (n > 1 && shape.size() < 4) {
      std::int64_t f = draw(1, std::min<std::int64_t>(n, 6));
      while (n % f != 0) --f;
      shape.push_back(f);
      n /= f;
    }
    shape.push_back(n);
    std::shuffle(shape.begin(), shape.end(), random);
    return shape;
  };
  for (int trial = 0; trial < 600; ++trial) {
    INFO("trial " << trial);
    const std::vector<std::int64_t> first = factors(draw(1, 5) * 12);
    std::vector<ta::Array> made{ints(first), ta::reshape(ta::arange(24), factors(24))};
    for (int step = 0; step < 9; ++step) {
      const ta::Array x = made[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(made.size()) - 1))];
      const auto rank = static_cast<std::int64_t>(x.ndim());
      const auto axis = static_cast<int>(rank > 0 ? draw(0, rank - 1) : 0);
      if (x.size() > 400) continue;
      switch (draw(0, 9)) {
        case 0:
        case 1:
          made.push_back(ta::reshape(x, factors(x.size() == 0 ? 1 : x.size()).size() > 0 && x.size() > 0
                                            ? ta::Shape(factors(x.size()))
                                            : x.shape()));
          break;
        case 2:
          if (rank > 0) made.push_back(ta::flip(x, axis));
          break;
        case 3:
          if (rank > 1) made.push_back(ta::moveaxis(x, axis, 0));
          break;
        case 4:
          if (rank > 0)
            made.push_back(
                ta::moveaxis(ta::moveaxis(x, axis, 0)(any_slice(x.shape()[static_cast<std::size_t>(axis)])), 0, axis));
          break;
        case 5:
          made.push_back(x * 3 + (rank > 0 ? ta::arange(x.shape()[static_cast<std::size_t>(rank - 1)]) : x));
          break;
        case 6: {
          if (rank == 0) break;
          const ta::Slice part = any_slice(x.shape()[0]);
          made.push_back(draw(0, 1) ? ta::with_set(x, {part}, -x(part)) : ta::with_add(x, {part}, 1000));
          break;
        }
        case 7:
          if (rank > 0 && x.size() > 0) made.push_back(ta::roll(x, draw(-3, 3), axis));
          break;
        case 8:
          if (rank > 0) made.push_back(ta::concat({x, x * 5}, axis));
          break;
        default:
          if (rank > 0) made.push_back(ta::broadcast_to(ta::expand_dims(ta::sum(x, axis), axis), x.shape()));
          break;
      }
    }
    meaning(made.back());
    const tg::Snapshot s = ta::test::snapshot_of({&made.back(), &made[made.size() / 2]});
    const tg::Graph g = tg::run_passes(s.graph, [](std::string_view pass) { return pass.starts_with("unroll"); });
    const ta::test::GraphValues before(s.graph, s), after(g, s);
    for (std::size_t r = 0; r < 2; ++r) {
      INFO(to_string(s.graph) << to_string(g));
      REQUIRE(before.of(s.graph.roots[r]) == after.of(g.roots[r]));
    }
  }
}

TEST_CASE("reshape: becomes a view where memory runs on, and sinks below arithmetic", "[views][reshape][passes]") {
  struct TextRow {
    const char* name;
    ta::Array result;
    const char* expected;
  };
  const ta::Array x = ints({4, 6}), y = ints({4, 6});
  const TextRow rows[] = {
      {"a root is what it reshapes", ta::reshape(x * 2, -1),
       "%0 = input i64 (4, 6) leaf 0\n"
       "%1 = scalar i64 ()\n"
       "%2 = multiply i64 (4, 6) %0, %1\n"
       "roots %2\n"},
      {"rows of memory are a view of the sequence", ta::sum(ta::reshape(x(slice(1, 3)), -1), 0),
       "%0 = input i64 (4, 6) leaf 0\n"
       "%1 = reshape i64 (24,) %0\n"
       "%2 = view i64 (12,) %1 [6+1*i0]\n"
       "%3 = sum i64 () %2 axis 0\n"
       "roots %3\n"},
      {"columns are copied", ta::sum(ta::reshape(x(slice(), slice(0, 2)), -1), 0),
       "%0 = input i64 (4, 6) leaf 0\n"
       "%1 = view i64 (4, 2) %0 [0+1*i0, 0+1*i1]\n"
       "%2 = reshape i64 (8,) %1\n"
       "%3 = sum i64 () %2 axis 0\n"
       "roots %3\n"},
      {"a chain of arithmetic takes the shape it is read under",
       ta::sum(ta::reshape(ta::reshape(x * y, {8, 3}) * y(0, 0), -1), 0),
       "%0 = input i64 (4, 6) leaf 0\n"
       "%1 = input i64 (4, 6) leaf 1\n"
       "%2 = reshape i64 (24,) %0\n"
       "%3 = reshape i64 (24,) %1\n"
       "%4 = multiply i64 (24,) %2, %3\n"
       "%5 = view i64 (24,) %1 [0, 0]\n"
       "%6 = multiply i64 (24,) %4, %5\n"
       "%7 = sum i64 () %6 axis 0\n"
       "roots %7\n"},
      {"a broadcast is reshaped where it moves",
       ta::sum(ta::reshape(x * ta::sum(x, 1)(slice(), newaxis), {2, 2, 6}), 1),
       "%0 = input i64 (4, 6) leaf 0\n"
       "%1 = sum i64 (4,) %0 axis 1\n"
       "%2 = reshape i64 (2, 2, 6) %0\n"
       "%3 = reshape i64 (2, 2) %1\n"
       "%4 = view i64 (2, 2, 6) %3 [0+1*i0, 0+1*i1]\n"
       "%5 = multiply i64 (2, 2, 6) %2, %4\n"
       "%6 = sum i64 (2, 6) %5 axis 1\n"
       "roots %6\n"},
  };
  for (const TextRow& row : rows) {
    const tg::Snapshot s = ta::test::snapshot_of({&row.result});
    INFO(row.name);
    CHECK(to_string(tg::run_passes(s.graph, [](std::string_view pass) { return pass.starts_with("unroll"); })) ==
          row.expected);
  }
}
