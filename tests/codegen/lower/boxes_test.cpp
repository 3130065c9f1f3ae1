// Boxes that part a whole: which axes are one, which are slots of a point, and where guards are left.
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

constexpr const char* kCpu = "x86-64-v3";

/// Arrays side by side along a new last axis.
Maker stacked(const Dims& shape, std::int64_t count, Dtype d = float32) {
  Maker m;
  Dims whole = shape, one = shape;
  whole.push_back(count);
  one.push_back(1);
  GraphEdge x = m.broadcast(m.scalar(0, d), whole);
  for (std::int64_t i = 0; i < count; ++i) {
    Dims start = Dims::filled(whole.size(), 0);
    start[whole.size() - 1] = i;
    x = m.update(x, m.keep(m.map(Op::Negative, {m.leaf(shape, d)}), shape.size()), start);
  }
  m.g.roots = {x};
  return m;
}

/// Boxes along an axis, one behind the other.
Maker joined(const std::vector<Dims>& parts, int axis, Dtype d = float32) {
  Maker m;
  Dims whole = parts.front();
  whole[axis] = 0;
  for (const Dims& p : parts) whole[axis] += p[axis];
  GraphEdge x = m.broadcast(m.scalar(0, d), whole);
  Dims start = Dims::filled(whole.size(), 0);
  for (const Dims& p : parts) {
    x = m.update(x, m.leaf(p, d), start);
    start[axis] += p[axis];
  }
  m.g.roots = {x};
  return m;
}

Maker padded(const Dims& shape, std::int64_t border, Dtype d = float32) {
  Maker m;
  Dims whole = shape, start = Dims::filled(shape.size(), 0);
  for (int axis = 0; axis < 2; ++axis) {
    whole[axis] += 2 * border;
    start[axis] = border;
  }
  m.g.roots = {m.update(m.broadcast(m.scalar(0, d), whole), m.leaf(shape, d), start)};
  return m;
}

std::int64_t count(const KernelIr& ir, codegen::InstrKind kind) {
  return std::ranges::count_if(ir.instrs, [&](const codegen::Instr& in) { return in.kind == kind; });
}

}  // namespace

TEST_CASE("boxes: elements of a short last axis are slots of a point, without guards", "[boxes]") {
  for (const char* name : {kCpu, "sm_90"}) {
    const Lowered l = lowered(stacked({50, 40}, 3), name);
    INFO(codegen::to_string(l.ir));
    CHECK(l.ir.rank == 1);
    CHECK(l.ir.guards.empty());
    CHECK(count(l.ir, codegen::InstrKind::Store) == 3);
    CHECK(count(l.ir, codegen::InstrKind::Load) == 3);
    CHECK(l.bytes_written == 50 * 40 * 3 * 4);
  }
}

TEST_CASE("boxes: slots share what does not move along their axes", "[boxes]") {
  constexpr std::int64_t kLong = 200;  // statements that each slot alone would have as well
  Maker m;
  GraphEdge x = m.broadcast(m.leaf({50, 1}), {50, 4});
  for (std::int64_t i = 0; i < kLong; ++i) x = m.map(i % 2 == 0 ? Op::Sin : Op::Negative, {x});
  m.g.roots = {m.map(Op::Multiply, {x, m.leaf({50, 4})})};
  const Lowered l = lowered(m, kCpu);
  INFO(codegen::to_string(l.ir));
  CHECK(l.ir.rank == 1);
  CHECK(count(l.ir, codegen::InstrKind::Store) == 4);
  CHECK(count(l.ir, codegen::InstrKind::Compute) == kLong + 4);
  check_c_bits({m}, Schedule::Pointwise);
}

TEST_CASE("boxes: slots that share a long formula are longer than others may be", "[boxes]") {
  constexpr std::int64_t kLong = 540;  // statements that each box alone would have as well
  Maker m;
  GraphEdge x = m.leaf({50});
  for (std::int64_t i = 0; i < kLong; ++i) x = m.map(i % 2 == 0 ? Op::Square : Op::Negative, {x});
  GraphEdge all = m.broadcast(m.scalar(0, float64), {50, 4});
  const Op ops[] = {Op::Negative, Op::Square, Op::Abs, Op::Floor};
  for (std::int64_t i = 0; i < 4; ++i) all = m.update(all, m.keep(m.map(ops[i], {x}), 1), Dims{0, i});
  m.g.roots = {all};
  const Lowered l = lowered(m, kCpu);
  INFO(codegen::to_string(l.ir));
  CHECK(l.ir.rank == 1);
  CHECK(count(l.ir, codegen::InstrKind::Store) == 4);
  CHECK(count(l.ir, codegen::InstrKind::Compute) == kLong + 4);
  check_c_bits({m}, Schedule::Pointwise);
}

TEST_CASE("boxes: elements of a short first axis are slots of a point where each is a box of its own", "[boxes]") {
  for (const char* name : {kCpu, "sm_90"}) {
    const Lowered l = lowered(joined({{1, 50, 40}, {1, 50, 40}, {1, 50, 40}}, 0), name);
    INFO(codegen::to_string(l.ir));
    CHECK(l.args.extents == Dims{50 * 40});
    CHECK(l.ir.guards.empty());
    CHECK(count(l.ir, codegen::InstrKind::Store) == 3);
    CHECK(count(l.ir, codegen::InstrKind::Load) == 3);
    CHECK(l.bytes_written == 50 * 40 * 3 * 4);
    CHECK(lowered(joined({{4, 50, 40}, {4, 50, 40}}, 0), name).args.extents == Dims{8 * 50 * 40});
  }
}

TEST_CASE("boxes: slots along a first axis share what does not move along it", "[boxes]") {
  Maker m;
  GraphEdge x = m.leaf({50, 40});
  for (int i = 0; i < 6; ++i) x = m.map(Op::Sin, {x});
  m.g.roots = {m.map(Op::Multiply, {m.broadcast(x, {9, 50, 40}), m.leaf({9, 50, 40})})};
  const Lowered l = lowered(m, "sm_90");
  INFO(codegen::to_string(l.ir));
  CHECK(l.args.extents == Dims{50 * 40});
  CHECK(count(l.ir, codegen::InstrKind::Compute) == 6 + 9);
  Maker cheap;
  cheap.g.roots = {
      cheap.map(Op::Multiply, {cheap.broadcast(cheap.leaf({50, 40}), {9, 50, 40}), cheap.leaf({9, 50, 40})})};
  CHECK(lowered(cheap, "sm_90").args.extents == Dims{9, 50 * 40});
  check_c_bits({m, cheap}, Schedule::Pointwise);
}

TEST_CASE("boxes: a box of whole rows is an interval of one axis", "[boxes]") {
  const Lowered rows = lowered(joined({{2, 30, 3}, {9, 30, 3}, {2, 30, 3}}, 0), kCpu);
  CHECK(rows.ir.rank == 1);
  for (const codegen::Guard& g : rows.ir.guards) CHECK(g.terms.size() == 1);
  const Lowered columns = lowered(joined({{9, 2, 3}, {9, 30, 3}, {9, 2, 3}}, 1), kCpu);
  CHECK(columns.ir.rank == 2);
  CHECK(columns.args.extents == Dims{9, 34 * 3});
  CHECK(lowered(padded({20, 30, 3}, 2), kCpu).args.extents == Dims{24, 34 * 3});
}

TEST_CASE("boxes: the largest part says which guards usually hold", "[boxes]") {
  const KernelIr ir = lowered(joined({{2, 30}, {90, 30}, {2, 30}}, 0), kCpu).ir;
  CHECK(std::ranges::count_if(ir.guards, [](const codegen::Guard& g) { return g.usual; }) == 1);
}

TEST_CASE("boxes: in C each part of a join is a loop of its own, and text grows with the parts", "[boxes]") {
  const auto text = [](std::int64_t parts) {
    std::vector<Dims> all;
    for (std::int64_t i = 0; i < parts; ++i) all.push_back({3 + i, 30});
    return codegen::render(lowered(joined(all, 0), kCpu).ir, target(kCpu)).text.size();
  };
  const std::size_t four = text(4), eight = text(8), twelve = text(12);
  CHECK(twelve - eight < (eight - four) * 5 / 4);  // numbers of two digits
}

TEST_CASE("boxes: parts, borders, slots and stacks have the interpreter's bits in C", "[boxes]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {float32, float64, uint8, int64}) {
    graphs.push_back(stacked({33, 7}, 3, d));
    graphs.push_back(stacked({70}, 4, d));
    graphs.push_back(joined({{2, 30, 3}, {9, 30, 3}, {2, 30, 3}}, 0, d));
    graphs.push_back(joined({{1, 70, 5}, {1, 70, 5}, {1, 70, 5}}, 0, d));
    graphs.push_back(joined({{9, 2, 3}, {9, 30, 3}, {9, 2, 3}, {9, 1, 3}}, 1, d));
    graphs.push_back(joined({{40, 40, 1}, {40, 40, 2}}, 2, d));
    graphs.push_back(padded({20, 30, 3}, 2, d));
    graphs.push_back(padded({7, 300}, 1, d));
  }
  check_c_bits(graphs, Schedule::Pointwise);
}
