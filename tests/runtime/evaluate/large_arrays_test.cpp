// Arrays of tens of megabytes on the emulated GPU, whole plans with the grids that they have there: what only shows
// where a reduction has many chunks or a scan many tiles. The CPU gives the bits to compare with.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tarry/tarry.h>

#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"
#include "tests/kernels/emulated_plan.h"

using namespace tarry;

namespace {

/// 0 to 250 in turn, cast, in the host's memory.
Array filled(const Shape& shape, Dtype dtype) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  const Array x = reshape(astype(remainder(arange(count), 251), dtype), shape);
  evaluate(x);
  return x;
}

/// Chunks of the kernel that has most.
std::int64_t check(const std::string& name, const Array& y) {
  INFO(name);
  const graph::Snapshot snapshot = test::snapshot_of({&y});
  const std::vector<bool> all(snapshot.leaves.size(), true);
  const runtime::CompiledPlan plan =
      make_plan(snapshot, *graph::find_target("sm_90"), all, all, runtime::plan_switches(), nullptr);
  test::EmulatedPlan emulated(snapshot, plan);
  emulated.run();
  std::int64_t chunks = 0;
  for (const runtime::Step& step : plan.steps)
    if (const auto* kernel = std::get_if<runtime::KernelStep>(&step))
      chunks = std::max(chunks, kernel->geometry.chunks);
  evaluate(y);
  const graph::Snapshot done = test::snapshot_of({&y});
  const graph::Buffer& expected = *done.leaves.at(0)->buffer;
  REQUIRE_FALSE(plan.roots.at(0).aliases_leaf);
  const std::vector<unsigned char>& actual = emulated.root(0);
  CHECK(std::memcmp(expected.data, actual.data(), actual.size()) == 0);
  return chunks;
}

constexpr std::int64_t kBytes = 48 << 20;

}  // namespace

TEST_CASE("large arrays: sums and variances of few columns in hundreds of chunks", "[render_cuda]") {
  const Scope placed(cpu);
  for (const std::int64_t columns : {3, 5, 7}) {
    const Array x = filled({kBytes / 4 / columns, columns}, float32);
    CHECK(check(fmt::format("sums of {} columns", columns), sum(x, 0)) > 500);
    CHECK(check(fmt::format("variances of {} columns", columns), var(x, 0)) > 500);
  }
}

TEST_CASE("large arrays: reductions, scans and other orders of axes of every kind", "[.][slow]") {
  const Scope placed(cpu);
  for (const Dtype dtype : {uint8, float16, float32, int64, float64}) {
    const std::int64_t count = kBytes / static_cast<std::int64_t>(itemsize(dtype));
    const std::string of(name(dtype));
    for (const std::int64_t columns : {2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 30, 33, 64, 100, 128, 1000}) {
      const Array x = filled({count / columns, columns}, dtype);
      const std::string with = fmt::format("{}, {} columns: ", of, columns);
      check(with + "sum over 0", sum(x, 0));
      check(with + "max over 0", max(x, 0));
      check(with + "argmin over 0", argmin(x, 0));
      check(with + "sum over 1", sum(x, 1));
      check(with + "transposed", matrix_transpose(x) + ones({}, dtype));
      if (dtype != float32 && dtype != float64) continue;
      check(with + "var over 0", var(x, 0));
      check(with + "softmax over 1", softmax(x, 1));
      check(with + "cumulative sum over 0", cumulative_sum(x, {.axis = 0}));
      check(with + "sum of squares and of products over 0", sum(x * x, 0) + sum(x * 0.5F, 0));
    }
    const Array x = filled({count}, dtype), cube = filled({count / 3000, 1000, 3}, dtype);
    check(of + " sum", sum(x));
    check(of + " argmax", argmax(x));
    check(of + " cumulative sum", cumulative_sum(x, {.axis = 0}));
    check(of + " sum of a view", sum(x(slice(1, none, 2))));
    for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{0, 1}, Axes{0, 2}, Axes{1, 2}})
      check(of + " cube", sum(cube, axes));
    for (const Axes& axes : {Axes{0, 2, 1}, Axes{1, 0, 2}, Axes{1, 2, 0}, Axes{2, 0, 1}, Axes{2, 1, 0}})
      check(of + " cube permuted", permute_dims(cube, axes) + ones({}, dtype));
  }
}

namespace {

/// True if the kernels of a plan for a GPU report an index out of range.
bool faults(const Array& result) {
  const graph::Snapshot s = test::snapshot_of({&result});
  const auto plan = runtime::make_plan(s, *graph::find_target("sm_90"), std::vector<bool>(s.leaves.size(), true),
                                       std::vector<bool>(s.leaves.size(), false), runtime::plan_switches(), nullptr);
  test::EmulatedPlan emulated(s, plan);
  emulated.run();
  return emulated.faulted();
}

}  // namespace

TEST_CASE("rows: those beyond the last report no index", "[render_cuda]") {
  const Scope placed(cpu);
  for (const std::int64_t n : {7, 40, 200, 1000, 5000})
    for (const bool some : {true, false}) {
      INFO(n << " elements, " << (some ? "some" : "none") << " of them selected");
      const Array x = arange(n) % 17 - 8, mask = some ? x > -5 : x > 100;
      evaluate(x, mask);
      CHECK(faults(max(x(mask))) == !some);
    }
  for (const std::int64_t rows : {1, 3, 33})
    for (const std::int64_t n : {7, 40, 200, 1000, 5000})
      for (const int axis : {0, 1}) {
        INFO(rows << " rows of " << n << ", along axis " << axis);
        const Array x = reshape(astype(arange(rows * n) * 7 % 31, float32), {rows, n});
        const Array table = arange(axis == 0 ? rows : n);
        evaluate(x, table);
        CHECK(!faults(table(argmax(x, axis)) + 1));
        CHECK(faults(table(argmax(x, axis) + table.size())));
      }
}
