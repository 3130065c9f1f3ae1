// Updates: what set, add and their free forms write, that other handles keep their values, and what does not fit.
#include <numeric>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
using ta::ellipsis;
using ta::newaxis;
using ta::none;
using ta::slice;
using ta::test::counting;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return x.to_vector<std::int64_t>(); }

/// Runs `body` compiled and interpreted, on every device.
void everywhere(const std::function<void()>& body) {
  ta::test::on_every_device([&](ta::Device) { body(); });
  const ta::test::Setting interpreted("TARRY_DISABLE", "compile");
  INFO("interpreted");
  const ta::Scope placed(ta::cpu);
  body();
}

}  // namespace

TEST_CASE("set: writes what NumPy writes, and other handles keep the old values", "[update]") {
  everywhere([] {
    const ta::Array old = ints({3, 4});
    struct Row {
      const char* name;
      std::function<void(ta::Array&)> change;
      Ints expected;
    };
    const Row rows[] = {
        {"a row", [](auto& x) { x.set({0}, 9); }, {9, 9, 9, 9, 4, 5, 6, 7, 8, 9, 10, 11}},
        {"a number", [](auto& x) { x.set({1, -1}, 70); }, {0, 1, 2, 3, 4, 5, 6, 70, 8, 9, 10, 11}},
        {"a column", [](auto& x) { x.set({slice(), 1}, ints({3}, 20)); }, {0, 20, 2, 3, 4, 21, 6, 7, 8, 22, 10, 11}},
        {"the inside", [](auto& x) { x.set({slice(1, -1), slice(1, -1)}, 0); }, {0, 1, 2, 3, 4, 0, 0, 7, 8, 9, 10, 11}},
        {"every second",
         [](auto& x) { x.set({slice(none, none, 2), slice(1, none, 2)}, -1); },
         {0, -1, 2, -1, 4, 5, 6, 7, 8, -1, 10, -1}},
        {"backwards",
         [](auto& x) { x.set({1, slice(none, none, -1)}, ints({4}, 40)); },
         {0, 1, 2, 3, 43, 42, 41, 40, 8, 9, 10, 11}},
        {"backwards by two",
         [](auto& x) { x.set({slice(none, none, -2), slice(3, 0, -2)}, ints({2, 2}, 40)); },
         {0, 43, 2, 42, 4, 5, 6, 7, 8, 41, 10, 40}},
        {"a broadcast row",
         [](auto& x) { x.set({slice(0, 2)}, ints({4}, 50)); },
         {50, 51, 52, 53, 50, 51, 52, 53, 8, 9, 10, 11}},
        {"a broadcast column",
         [](auto& x) { x.set({ellipsis}, ints({3, 1}, 5)); },
         {5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7}},
        {"through a new axis",
         [](auto& x) { x.set({0, newaxis, slice(0, 2)}, ints({1, 2}, 30)); },
         {30, 31, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {"everything", [](auto& x) { x.set({}, ints({3, 4}, 100)); }, counting(12, 100)},
        {"nothing", [](auto& x) { x.set({slice(2, 2)}, 5); }, counting(12)},
        {"where a mask is true", [](auto& x) { x.set(x > 6, 0); }, {0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0}},
        {"where a row of a mask is true",
         [](auto& x) { x.set(ta::array({true, false, false, true}), ints({3, 1}, 60)); },
         {60, 1, 2, 60, 61, 5, 6, 61, 62, 9, 10, 62}},
        {"from itself", [](auto& x) { x.set({slice(1, none)}, x(slice(0, 2))); }, {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7}},
        {"from itself, reversed",
         [](auto& x) { x.set({slice(), slice(none, none, -1)}, x); },
         {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}},
        {"add to a row", [](auto& x) { x.add({-1}, 100); }, {0, 1, 2, 3, 4, 5, 6, 7, 108, 109, 110, 111}},
        {"add every second",
         [](auto& x) { x.add({slice(), slice(none, none, 2)}, ints({2}, 10)); },
         {10, 1, 13, 3, 14, 5, 17, 7, 18, 9, 21, 11}},
        {"one after the other",
         [](auto& x) {
           x.set({0}, 0);
           x.add({slice(0, 2), 0}, 5);
           x.set({slice(none, none, 2), 3}, x(1, 1));
         },
         {5, 0, 0, 5, 9, 5, 6, 7, 8, 9, 10, 5}},
    };
    for (const Row& row : rows) {
      INFO(row.name);
      ta::Array x = old, same = old;
      row.change(x);
      CHECK(values(x) == row.expected);
      CHECK(values(same) == counting(12));
      ta::Array alone = ints({3, 4});  // nobody else holds the old value
      ta::evaluate(alone);
      row.change(alone);
      CHECK(values(alone) == row.expected);
      ta::Array computed = ints({3, 4}) * 1 + 0;  // the old value is not computed before
      row.change(computed);
      CHECK(values(computed) == row.expected);
      ta::Array ahead = ints({3, 4}) + 1;  // both the old and the new value are results
      const ta::Array before = ahead;
      row.change(ahead);
      ta::evaluate(before, ahead);
      CHECK(values(before) == counting(12, 1));
    }
  });
}

TEST_CASE("set: borrowed memory, views, fills and iotas are never written", "[update]") {
  everywhere([] {
    const Ints mine = counting(12);
    ta::Array borrowed = ta::borrow(mine.data(), {3, 4});
    borrowed.set({slice(none, none, 2), slice(none, none, 3)}, -1);
    CHECK(values(borrowed) == Ints{-1, 1, 2, -1, 4, 5, 6, 7, -1, 9, 10, -1});
    CHECK(mine == counting(12));
    ta::Array strided = ta::borrow(mine.data(), {4, 3}, {1, 4});
    strided.set({slice(none, none, 2), 0}, -1);
    CHECK(values(strided) == Ints{-1, 4, 8, 1, 5, 9, -1, 6, 10, 3, 7, 11});
    ta::Array turned = ta::permute_dims(ints({3, 4}), {1, 0});
    turned.set({slice(none, none, 3)}, 0);
    CHECK(values(turned) == Ints{0, 0, 0, 1, 5, 9, 2, 6, 10, 0, 0, 0});
    ta::Array fill = ta::zeros({5}, ta::int64);
    fill.set({slice(none, none, 2)}, 7);
    CHECK(values(fill) == Ints{7, 0, 7, 0, 7});
    ta::Array iota = ta::arange(5);
    iota.set({slice(1, none, 3)}, iota(slice(0, 2)) + 50);
    CHECK(values(iota) == Ints{0, 50, 2, 3, 51});
    ta::Array shaped = ta::reshape(ints({12}), {3, 4});
    shaped.set({slice(none, none, 2), slice(none, none, 2)}, 0);
    CHECK(values(shaped) == Ints{0, 1, 0, 3, 4, 5, 6, 7, 0, 9, 0, 11});
    ta::Array number = ints({1})(0);
    number.set({}, 5);
    CHECK(values(number) == Ints{5});
  });
}

TEST_CASE("set: elements of borrowed memory that lie apart are copied before a part is written", "[update]") {
  everywhere([] {
    const Ints mine = counting(20);
    const ta::Array apart = ta::borrow(mine.data(), {3, 1, 1}, {8, 5, 2});
    CHECK(values(ta::with_add(apart, {slice(none, -120, -2)}, 1)) == Ints{1, 8, 17});
    CHECK(values(ta::with_set(ta::reshape(apart, {1, 3}), {0, slice(none, none, 2)}, 70)) == Ints{70, 8, 70});
  });
}

TEST_CASE("set: an update may cover whatever reads a reduction", "[update]") {
  for (const char* disabled : {"", "simplify", "simplify,compile"}) {
    INFO(disabled);
    const ta::test::Setting setting("TARRY_DISABLE", disabled);
    const ta::Scope scope(ta::cpu);
    for (const std::int64_t n : {1, 5, 40}) {
      const ta::Array x = ints({n}), total = ta::sum(x, {}, {.keepdims = true});
      const ta::Array covered = ta::with_set(total, {slice(none, 2)}, 1), twice = x * 2, next = covered + twice;
      ta::evaluate(covered, twice, next);
      CHECK(values(covered) == Ints{1});
      CHECK(values(twice)[static_cast<std::size_t>(n - 1)] == 2 * n - 2);
      CHECK(values(next)[static_cast<std::size_t>(n - 1)] == 2 * n - 1);
      const ta::Array table = ints({n, 3}), columns = ta::with_set(ta::flip(ta::sum(table, 0)), {slice()}, 4),
                      beside = table + 7;
      ta::evaluate(columns, beside);  // one kernel for the sums and what is beside them, and nobody reads the sums
      CHECK(values(columns) == Ints{4, 4, 4});
      CHECK(values(beside)[2] == 9);
    }
  }
}

TEST_CASE("set: every dtype is written with its own width", "[update]") {
  everywhere([] {
    for (const ta::Dtype dtype : {ta::bool_, ta::int8, ta::int16, ta::int32, ta::int64, ta::uint8, ta::uint16,
                                  ta::uint32, ta::uint64, ta::float16, ta::bfloat16, ta::float32, ta::float64}) {
      INFO(name(dtype));
      ta::Array x = ta::zeros({7}, dtype);
      x.set({slice(1, none, 3)}, 1);
      x.set({slice(5, 6)}, 1);
      CHECK(values(ta::astype(x, ta::int64)) == Ints{0, 1, 0, 0, 1, 1, 0});
    }
  });
}

TEST_CASE("set: a value that does not fit throws at the call and leaves the handle alone", "[update][errors]") {
  ta::Array x = ints({3, 4});
  const auto fails = [&](const auto& call, int line, const std::string& op, const std::string& message) {
    try {
      call();
      FAIL("nothing was thrown");
    } catch (const ta::InvalidArgument& e) {
      CHECK(e.op() == op);
      CHECK_THAT(e.what(), Catch::Contains(message));
      CHECK(e.where().line == static_cast<std::uint32_t>(line));
      CHECK_THAT(e.where().file, Catch::Contains("update_test"));
    }
    CHECK(values(x) == counting(12));
  };
  fails([&] { x.set({3}, 1); }, __LINE__, "set", "index 3 is out of range for axis 0 of extent 3");
  fails([&] { x.set({0}, 0.5); }, __LINE__, "set", "the number 0.5 does not fit int64");
  fails([&] { x.set({0}, ta::ones({4})); }, __LINE__, "set",
        "int64 (4,) does not hold every element of a float32 (4,); convert the value with astype");
  fails([&] { x.set({0}, ints({3})); }, __LINE__, "set", "a value of int64 (3,) does not broadcast to int64 (4,)");
  fails([&] { x.set({0, 0}, ints({1})); }, __LINE__, "set", "a value of int64 (1,) does not broadcast to int64 ()");
  fails([&] { x.set({0}, ta::ones({4}, ta::uint64)); }, __LINE__, "set",
        "does not hold every element of a uint64 (4,)");
  fails([&] { x.set({0}, ta::Array()); }, __LINE__, "set", "undefined");
  fails([&] { x.set(ta::zeros({4}), 1); }, __LINE__, "set", "indices are integers, not float32 (4,)");
  fails([&] { x.set(ta::ones({5}, ta::bool_), 1); }, __LINE__, "set",
        "a mask of bool (5,) does not broadcast to int64 (3, 4)");
  fails([&] { x.add({slice(none, none, 0)}, 1); }, __LINE__, "add", "step 0");
  fails([&] { x.add({0}, 1.5); }, __LINE__, "add", "the number 1.5 does not fit int64");
  fails([&] { (void)ta::with_set(x, {0, 0, 0}, 1); }, __LINE__, "with_set", "3 indices are too many");
  fails([&] { (void)ta::with_add(x, {0}, ints({2, 4})); }, __LINE__, "with_add", "does not broadcast");
  ta::Array narrow = ta::zeros({2}, ta::int8);
  CHECK_THROWS_WITH(narrow.set({0}, 300), Catch::Contains("does not fit int8"));
  ta::Array flags = ta::zeros({2}, ta::bool_);
  CHECK_THROWS_WITH(flags.add({0}, true), Catch::Contains("logical_or"));
  ta::Array wide = ta::zeros({2}, ta::float64);
  wide.set({slice(0, 1)}, ta::ones({1}, ta::float32));
  CHECK(wide.to_vector<double>() == std::vector<double>{1, 0});
}

TEST_CASE("with_set and with_add: give a new array and rebind nothing", "[update]") {
  const ta::Array x = ints({4});
  CHECK(values(ta::with_set(x, {slice(0, 2)}, 9)) == Ints{9, 9, 2, 3});
  CHECK(values(ta::with_set(x, x < 1, 9)) == Ints{9, 1, 2, 3});
  CHECK(values(ta::with_add(x, {-1}, x(1))) == Ints{0, 1, 2, 4});
  CHECK(values(x) == counting(4));
}

TEST_CASE("updates: a dense update beside one that writes its box into memory is computed, not scattered", "[update]") {
  for (const char* disabled : {"", "compile", "reuse"}) {
    const ta::test::Setting setting("TARRY_DISABLE", disabled);
    const ta::Array x = ints({57, 1}), y = ints({28, 1}, 100) + 1, z = ints({28, 3}, 200);
    const ta::Array odd = ta::with_set(x, {slice(2, none, 2)}, y), all = ta::with_add(y, {slice(none, none, -1)}, 1);
    const ta::Array wide = ta::with_set(ints({56, 3}), {slice(none, none, 2)}, 1),
                    part = ta::with_set(z, {slice(), slice(1, 2)}, 1);
    ta::evaluate(odd, all, wide, part);
    Ints expected_odd = counting(57), expected_all = counting(28, 102), expected_part = counting(84, 200);
    for (std::size_t i = 0; i < 28; ++i) expected_odd[2 + 2 * i] = 101 + static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < 28; ++i) expected_part[3 * i + 1] = 1;
    CHECK(values(odd) == expected_odd);
    CHECK(values(all) == expected_all);
    CHECK(values(part) == expected_part);
    CHECK(values(wide)[3] == 3);
    CHECK(values(wide)[6] == 1);
  }
}

TEST_CASE("updates: an update of all of a reduction over no elements is its value, whatever passes ran", "[update]") {
  for (const char* disabled : {"", "simplify", "fusion", "simplify,compile"}) {
    const ta::test::Setting setting("TARRY_DISABLE", disabled);
    const ta::Array count = ta::count_nonzero(ta::zeros({0, 1, 0}), ta::Axes{0, 1, 2}, {.keepdims = true});
    CHECK(values(ta::with_add(count, {slice(none, 1)}, 3)) == Ints{3});
    const ta::Array rows = ta::sum(ta::zeros({2, 0}, ta::int64), ta::Axes{1});
    CHECK(values(ta::with_set(rows, {slice()}, rows + ints({2}))) == Ints{0, 1});
  }
}

TEST_CASE("simplify: the absolute value of a negated unsigned integer is that of the negated one", "[simplify]") {
  const ta::Array x = ta::asarray(std::vector<std::uint16_t>{0, 4, 65532});
  CHECK(ta::abs(-x).to_vector<std::uint16_t>() == std::vector<std::uint16_t>{0, 65532, 4});
  const ta::Array y = ta::asarray(std::vector<std::int16_t>{0, 4, -32768});
  CHECK(ta::abs(-y).to_vector<std::int16_t>() == std::vector<std::int16_t>{0, 4, -32768});
}

TEST_CASE("updates: random programs of two handles agree with loops, fused or not, in place or not", "[update]") {
  std::mt19937 random(5);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  constexpr std::int64_t kRows = 7, kColumns = 6;
  const auto at = [](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * kColumns + j); };
  const char* const settings[] = {"", "reuse", "fusion", "compile", "simplify", "compile,reuse,fusion"};
  for (int trial = 0; trial < 120; ++trial) {
    const ta::test::Setting disabled("TARRY_DISABLE", trial % 2 == 0 ? "compile" : settings[trial / 2 % 6]);
    INFO("trial " << trial);
    ta::Array x[2] = {ints({kRows, kColumns}), ints({kRows, kColumns}, 100)};
    Ints expected[2] = {counting(kRows * kColumns), counting(kRows * kColumns, 100)};
    for (int step = 0; step < 8; ++step) {
      const auto a = static_cast<std::size_t>(draw(0, 1)), b = static_cast<std::size_t>(draw(0, 1));
      ta::Array& target = x[a];
      Ints& result = expected[a];
      const Ints source = expected[b], before = result;
      const std::int64_t r0 = draw(0, 3), c0 = draw(0, 3), rs = draw(1, 2), cs = draw(1, 3), shift = draw(0, 2);
      switch (draw(0, 5)) {
        case 0: {  // a box from a shifted part of either array
          target.set({slice(r0, r0 + 3), slice(c0, c0 + 2)},
                     x[b](slice(shift, shift + 3), slice(shift, shift + 2)) + 1);
          for (std::int64_t i = 0; i < 3; ++i)
            for (std::int64_t j = 0; j < 2; ++j) result[at(r0 + i, c0 + j)] = source[at(shift + i, shift + j)] + 1;
          break;
        }
        case 1: {  // a strided box of one number
          target.set({slice(r0, none, rs), slice(c0, none, cs)}, draw(-9, 9) * 0 + 5);
          for (std::int64_t i = r0; i < kRows; i += rs)
            for (std::int64_t j = c0; j < kColumns; j += cs) result[at(i, j)] = 5;
          break;
        }
        case 2: {  // a strided box of itself, the other way round
          target.set({slice(none, none, 3)}, x[b](slice(none, none, -3)));
          for (std::int64_t i = 0; i < 3; ++i)
            for (std::int64_t j = 0; j < kColumns; ++j) result[at(3 * i, j)] = source[at(6 - 3 * i, j)];
          break;
        }
        case 3: {
          target.add({ellipsis, c0}, x[b](r0, c0));
          for (std::int64_t i = 0; i < kRows; ++i) result[at(i, c0)] += source[at(r0, c0)];
          break;
        }
        case 4: {
          target = target * 2 - x[b];
          for (std::size_t i = 0; i < result.size(); ++i) result[i] = 2 * before[i] - source[i];
          break;
        }
        default: ta::evaluate(target); break;
      }
    }
    if (draw(0, 1)) ta::evaluate(x[0], x[1]);
    REQUIRE(values(x[0]) == expected[0]);
    REQUIRE(values(x[1]) == expected[1]);
  }
}

TEST_CASE("updates: a short last axis that is written element by element, whatever its length", "[update]") {
  ta::test::in_every_way([] {
    for (const std::int64_t k : {3, 8, 9, 20, 64, 65}) {
      const ta::Array a = ta::astype(ta::arange(70), ta::float32), b = a * 0.5F;
      ta::Array written = ta::zeros({70, k}, ta::float32), added = ta::ones({70, k}, ta::float32);
      std::vector<ta::Array> columns;
      std::vector<float> expected;
      for (std::int64_t i = 0; i < k; ++i) {
        columns.push_back((i % 2 == 0 ? a * b : a - b) + i);
        written.set({ta::slice(), i}, columns.back());
        if (i % 3 == 0) added.add({ta::slice(), i}, columns.back());
      }
      for (int row = 0; row < 70; ++row) {
        const float x = static_cast<float>(row), y = x * 0.5F;
        for (std::int64_t i = 0; i < k; ++i) expected.push_back((i % 2 == 0 ? x * y : x - y) + static_cast<float>(i));
      }
      INFO(k << " elements");
      CHECK(written.to_vector<float>() == expected);
      CHECK(ta::stack(columns, 1).to_vector<float>() == expected);
      for (std::size_t at = 0; at < expected.size(); ++at)
        expected[at] = static_cast<std::int64_t>(at) % k % 3 == 0 ? 1 + expected[at] : 1;
      CHECK(added.to_vector<float>() == expected);
    }
  });
}
