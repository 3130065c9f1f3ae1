// Lower bounds: what results depend on, each element once, and never more than what moves.
#include <vector>

#include "graph/passes/overlap.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::none;
using ta::slice;
using ta::test::ramp;

namespace {

constexpr std::int64_t kFloat = 4;

ta::Array floats(const ta::Shape& shape) {
  std::size_t n = 1;
  for (const std::int64_t extent : shape.vector()) n *= static_cast<std::size_t>(extent);
  return ta::asarray(ramp(n), shape);
}

/// In elements of float32. Never more than what the plan moves.
std::int64_t least(const ta::Array& y) {
  const ta::Counters c = ta::plan(y).counters();
  CHECK(c.bytes_lower_bound <= c.bytes_read + c.bytes_written);
  CHECK(c.bytes_lower_bound % kFloat == 0);
  return c.bytes_lower_bound / kFloat;
}

}  // namespace

TEST_CASE("lower bound: of an array that is read in part, that part counts", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({1000}), m = floats({30, 40});
  CHECK(least(x * 2.0f) == 1000 + 1000);
  CHECK(least(x(slice(10, 30)) * 2.0f) == 20 + 20);
  CHECK(least(x(slice(none, none, 4)) * 2.0f) == 250 + 250);
  CHECK(least(x(slice(none, none, -4)) * 2.0f) == 250 + 250);
  CHECK(least(x(17) + 1.0f) == 1 + 1);
  CHECK(least(m(slice(3, 5), slice(0, 40, 2)) + 1.0f) == 2 * 20 + 2 * 20);
  CHECK(least(ta::sum(m, 1)(slice(4, 7)) + 1.0f) == 3 * 40 + 3);
  CHECK(least(ta::sum(m(slice(), 5))) == 30 + 1);
}

TEST_CASE("lower bound: elements that several slices read count once", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({1000}), m = floats({30, 40});
  CHECK(least(x(slice(2, none)) - x(slice(none, -2))) == 1000 + 998);
  CHECK(least(x(slice(0, none, 2)) + x(slice(1, none, 2))) == 1000 + 500);
  CHECK(least(x(slice(0, 10)) + x(slice(500, 510))) == 20 + 10);
  CHECK(least(x(slice(0, 600, 6)) + x(slice(0, 900, 9))) == 100 + 100 - 34 + 100);
  const ta::Array in = m(slice(1, -1), slice(1, -1)), up = m(slice(none, -2), slice(1, -1)),
                  down = m(slice(2, none), slice(1, -1)), left = m(slice(1, -1), slice(none, -2)),
                  right = m(slice(1, -1), slice(2, none));
  CHECK(least(in + up + down + left + right) == 30 * 40 - 4 + 28 * 38);  // all but the corners
}

TEST_CASE("lower bound: what an update leaves behind or writes over is not needed", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({1000}), v = floats({10});
  ta::Array copied = x;
  copied.set({slice(100, 110)}, v);
  CHECK(least(copied) == 990 + 10 + 1000);
  CHECK(least(copied(slice(50, 105)) + 1.0f) == 50 + 5 + 55);
  ta::Array own = ta::asarray(ramp(1000));
  own.set({slice(100, 110)}, v);
  CHECK(least(own) == 10 + 10);  // the rest is there
  own.set({slice(105, 125)}, 0.0f);
  CHECK(least(own) == 5 + 25);
}

TEST_CASE("lower bound: a scan depends on what comes before, a product on a row and a column", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({1000}), a = floats({16, 8}), b = floats({8, 12});
  CHECK(least(ta::cumulative_sum(x)(99)) == 100 + 1);
  CHECK(least(ta::cumulative_sum(x)) == 1000 + 1000);
  CHECK(least(ta::matmul(a, b)) == 16 * 8 + 8 * 12 + 16 * 12);
  CHECK(least(ta::matmul(a, b)(3)) == 8 + 8 * 12 + 12);
  CHECK(least(ta::matmul(a, b)(3, 5)) == 8 + 8 + 1);
}

TEST_CASE("lower bound: broadcast operands count once, reshaped ones as the elements they hold", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array row = floats({40}), m = floats({30, 40});
  CHECK(least(m + row) == 1200 + 40 + 1200);
  CHECK(least((m + row)(7)) == 40 + 40 + 40);
  CHECK(least(ta::reshape(m, {1200})(slice(100, 150)) + 1.0f) == 50 + 50);
  CHECK(least(ta::reshape(m * row, {10, 120})(2) + 1.0f) == 120 + 40 + 120);
  std::vector<float> one(30, 1.0f);
  const ta::Array spread = ta::borrow(one.data(), {30, 40}, {1, 0});
  CHECK(least(spread + 1.0f) == 30 + 1200);
}

TEST_CASE("lower bound: a gather needs as many elements as indices lie in memory", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({3, 66});
  const ta::Array few = ta::asarray(std::vector<std::int32_t>(66, 1)), all = ta::zeros({3, 66}, ta::int32);
  const ta::Array stored = ta::asarray(std::vector<std::int32_t>(198, 2), {3, 66});
  CHECK(least(ta::take_along_axis(x, stored, 0)) == 198 + 198 + 198);
  CHECK(least(ta::take_along_axis(x, ta::broadcast_to(few, {3, 66}), 0)) == 66 + 66 + 198);
  CHECK(least(ta::take_along_axis(x, ta::broadcast_to(few, {3, 66}) + 1, 1)) == 66 + 198 + 198);
  CHECK(least(ta::take_along_axis(x, all, 0)) == 66 + 198);
  const ta::Array row = floats({1, 66});  // one place along the axis: only a check reads what indices are
  CHECK(least(ta::take_along_axis(row, stored, 0, ta::Bounds::Wrap)) == 66 + 198);
  CHECK(least(ta::take_along_axis(row, stored, 0)) == 66 + 198 + 198);
}

TEST_CASE("lower bound: of operations, the elements that results depend on count", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({1000}), m = floats({30, 40}), a = floats({16, 8}), b = floats({8, 12});
  const auto operations = [](const ta::Array& y) { return ta::plan(y).counters().operations_lower_bound; };
  CHECK(operations((x + 1.0f) * 2.0f) == 2000);
  CHECK(operations(((x + 1.0f) * 2.0f)(slice(10, 20))) == 20);
  CHECK(operations(ta::sum(m, 1)(slice(2, 4))) == 80);
  CHECK(operations(ta::matmul(a, b)(slice(0, 4))) == 4 * 12 * 8 * 2);
  CHECK(operations(x(slice(2, 4))) == 0);
}

TEST_CASE("lower bound: nothing is needed for nothing", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = floats({1000}), m = floats({30, 40});
  CHECK(least(x(slice(5, 5)) + 1.0f) == 0);
  CHECK(least(ta::sum(x(slice(5, 5)))) == 1);
  CHECK(least(ta::sum(m(slice(3, 3)), 0)) == 40);
}

TEST_CASE("lower bound: the Report has the plan's, and more can only move", "[runtime][report]") {
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = floats({1000}) + 0.0f;
    ta::evaluate(x);
    const ta::Array y = x(slice(10, 40)) * x(slice(20, 50));
    const std::int64_t predicted = ta::plan(y).counters().bytes_lower_bound;
    const ta::Counters c = ta::evaluate(y).counters();
    CHECK(predicted == (40 + 30) * kFloat);
    CHECK(c.bytes_lower_bound == predicted);
    CHECK(c.bytes_read + c.bytes_written >= predicted);
  });
}

TEST_CASE("intersection: of two progressions, the numbers of both", "[graph]") {
  using ta::graph::Progression;
  for (std::int64_t start = -7; start < 8; ++start)
    for (std::int64_t step = 1; step < 8; ++step)
      for (std::int64_t other = 1; other < 8; ++other) {
        const Progression a{start, step, 5}, b{-3, other, 9}, both = intersection(a, b);
        std::vector<std::int64_t> expected, found;
        for (std::int64_t i = 0; i < a.count; ++i)
          if (const std::int64_t n = a.start + i * a.step;
              n >= b.start && (n - b.start) % other == 0 && (n - b.start) / other < b.count)
            expected.push_back(n);
        for (std::int64_t i = 0; i < both.count; ++i) found.push_back(both.start + i * both.step);
        REQUIRE(found == expected);
      }
}

TEST_CASE("lower bound: an update of a reshaped array that dies moves what it changes", "[runtime][plan]") {
  const ta::Scope placed(ta::cpu);
  ta::Array x = floats({7, 8});
  ta::evaluate(x);
  ta::Array y = ta::reshape(x, {4, 14});
  x = ta::Array();
  y = ta::with_add(y, {slice(), slice(9, none, 3)}, 1);
  const ta::Counters c = ta::evaluate(y).counters();
  CHECK(c.bytes_read + c.bytes_written == 2 * 8 * kFloat);
  CHECK(c.bytes_lower_bound <= c.bytes_read + c.bytes_written);
}
