// The table of schedules: names, dumps of layouts, and choosers that serve a kernel or leave it alone.
#include "codegen/lower/choice.h"

#include <set>

#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

using codegen::Choice;
using codegen::Layout;

struct Row {
  Schedule schedule;
  std::optional<Layout> (*choose)(Choice&);
};

constexpr Row kRows[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, ...) {Schedule::schedule, codegen::choose},
#include "codegen/ir/schedules.def"
};

enum class Store : std::uint8_t { Results, Points };

std::string first_line(const Layout& layout) {
  KernelIr ir;
  ir.layout = layout;
  const std::string text = to_string(ir);
  return text.substr(0, text.find('\n'));
}

/// x[0:n] + x[100:100 + n]: loads of one buffer that are no window.
Maker far_apart() {
  Maker m;
  const GraphEdge x = m.leaf({1100}, float32);
  m.g.roots = {m.map(Op::Add, {slice(m, x, {0}, {1000}), slice(m, x, {100}, {1000})})};
  return m;
}

}  // namespace

TEST_CASE("schedules: each has a name, a word in the names of entries, and a layout", "[codegen][schedules]") {
  std::set<std::string> names, words;
  for (const Row& row : kRows) {
    names.insert(codegen::name_of(row.schedule));
    words.insert(codegen::entry_word(row.schedule));
    CHECK(codegen::schedule_of(codegen::empty_layout(row.schedule)) == row.schedule);
  }
  CHECK(names.size() == std::size(kRows));
  CHECK(words.size() == std::size(kRows));
}

TEST_CASE("schedules: a dump names what the layout has", "[codegen][schedules]") {
  CHECK(first_line(codegen::ScanTilesLayout{4, 2}) == "kernel scan_tiles strict rank 0 vector 4 index 32 units 2");
  CHECK(first_line(codegen::ScanSerialLayout{32}) == "kernel scan_serial strict rank 0 vector 1 index 32 lines 32");
  CHECK(first_line(codegen::ReduceInnerLayout{4, 8, true}) ==
        "kernel reduce_inner strict rank 0 vector 4 index 32 warps_per_row 8 striped");
  CHECK(first_line(codegen::ReduceOuterLayout{2, 16}) ==
        "kernel reduce_outer strict rank 0 vector 2 index 32 columns 16");
  CHECK(first_line(codegen::IteratedStencilLayout{4, 12, 8}) ==
        "kernel iterated_stencil strict rank 0 columns 4 index 32 warps 8 rows 12");
  CHECK(first_line(codegen::RowInnerLayout{}) == "kernel row_inner strict rank 0 vector 1 index 32");
}

TEST_CASE("schedules: a chooser that does not serve a kernel leaves it as it was", "[codegen][schedules]") {
  const graph::Group map;
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    for (const Maker& m : {permute({9, 1000}, {1, 0}), permute({40, 50, 9}, {1, 0, 2}), far_apart()}) {
      const Lowered before = lowered(m, target);
      for (const Row& row : kRows) {
        Lowered after = before;
        Choice choice(after, map, *graph::find_target(target), {});
        if (row.choose(choice)) continue;
        CHECK(to_string(after.ir) == to_string(before.ir));
        CHECK(after.args.extents == before.args.extents);
      }
    }
  }
}

TEST_CASE("schedules: a reduction goes along what lies side by side, stored or shared", "[codegen][schedules]") {
  // max(x[k, i], t[j]), reduced over k; all points are stored, too, or not.
  const auto schedule = [](std::int64_t columns, Store stores, const char* target) {
    Maker m;
    const GraphEdge x = m.leaf({300, 40, 1}, float64), t = m.leaf({columns}, float64);
    const GraphEdge points = m.map(Op::Maximum, {x, t});
    m.g.roots = {m.reduce(Op::Sum, points, 0)};
    if (stores == Store::Points) m.g.roots.push_back(points);
    return lowered(m, target).ir.schedule();
  };
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    INFO(target);
    CHECK(schedule(32, Store::Results, target) == Schedule::ReduceOuter);
    CHECK(schedule(9, Store::Results, target) != Schedule::ReduceOuter);
    CHECK(schedule(9, Store::Points, target) == Schedule::ReduceOuter);
    CHECK(schedule(3, Store::Points, target) != Schedule::ReduceOuter);
  }
}
