// Pieces of an array that lie side by side: one formula of loads that are chosen between.
#include "tests/kernels/lowered.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// Rolled by `shift` along an axis: its end, then what comes before.
GraphEdge rolled(Maker& m, GraphEdge x, std::int64_t shift, int axis) {
  const Dims whole = m.shape(x);
  const std::int64_t extent = whole[axis];
  shift = (shift % extent + extent) % extent;
  if (shift == 0) return x;
  Dims end = whole, rest = whole, none = Dims::filled(whole.size(), 0), cut = none, behind = none;
  end[axis] = shift;
  rest[axis] = extent - shift;
  cut[axis] = extent - shift;
  behind[axis] = shift;
  const GraphEdge wraps = slice(m, x, cut, end), stays = slice(m, x, none, rest);
  const GraphEdge base = m.broadcast(m.scalar(0, m.dtype(x)), whole);
  return m.update(m.update(base, wraps, none), stays, behind);
}

std::int64_t computes(const KernelIr& ir, Op op) {
  return std::ranges::count_if(ir.instrs,
                               [&](const codegen::Instr& in) { return in.kind == InstrKind::Compute && in.op == op; });
}

/// The map that a graph becomes, as it is interpreted and as C.
Lowered checked(const Maker& m, const Dims& space) {
  Lowered l = check_kernel(m, one_group(m.g, space), m.g.roots);
  std::vector<Memory> memory;
  for (const codegen::BufferRef& b : l.buffers)
    memory.push_back(b.is_leaf ? m.leaves[b.leaf] : Memory(static_cast<std::size_t>(m.g.bytes(b.value.node)), 0x5b));
  CpuKernels(l.ir).require_as_interpreted(l.args, memory, Buffers(m, l).scalars);
  return l;
}

std::string c_text(const Lowered& l) { return codegen::render_c(l.ir, named_target("x86-64-v4")).kernel; }

}  // namespace

TEST_CASE("choices: what is rolled is computed from a rolled array, once", "[choices]") {
  Maker m;
  const GraphEdge x = m.leaf({40}), y = m.leaf({40});
  const GraphEdge f = m.map(Op::Abs, {m.map(Op::Subtract, {x, y})});
  m.g.roots = {rolled(m, f, 3, 0)};
  const Lowered l = checked(m, {40});
  INFO(codegen::to_string(l.ir));
  CHECK(computes(l.ir, Op::Abs) == 1);
  CHECK(computes(l.ir, Op::Subtract) == 1);
  CHECK(computes(l.ir, Op::Where) == 2);
  CHECK(loads_of_memory(l.ir) == 4);
  CHECK(l.ir.guards.size() == 2);
}

TEST_CASE("choices: rolling what is rolled has as many pieces as rolling it once", "[choices]") {
  for (const std::int64_t again : {1, 5, 37, 39}) {
    INFO("by 3, then by " << again);
    Maker m;
    m.g.roots = {rolled(m, m.map(Op::Negative, {rolled(m, m.leaf({40}), 3, 0)}), again, 0)};
    const Lowered l = checked(m, {40});
    INFO(codegen::to_string(l.ir));
    const bool is_whole = (3 + again) % 40 == 0;
    CHECK(loads_of_memory(l.ir) == (is_whole ? 1 : 2));
    CHECK(l.ir.guards.size() == (is_whole ? 0 : 2));
    CHECK(computes(l.ir, Op::Where) == (is_whole ? 0 : 1));
  }
}

TEST_CASE("choices: pieces of two axes are cut along one after the other", "[choices]") {
  Maker m;
  GraphEdge x = m.map(Op::Abs, {rolled(m, rolled(m, m.leaf({20, 30}), 2, 0), -3, 1)});
  for (const auto& [shift, axis] : {std::pair(1, 0), std::pair(-1, 1), std::pair(4, 0)}) x = rolled(m, x, shift, axis);
  m.g.roots = {x};
  const Lowered l = checked(m, {20, 30});
  INFO(codegen::to_string(l.ir));
  CHECK(loads_of_memory(l.ir) == 4);
  CHECK(computes(l.ir, Op::Where) == 3);
  CHECK(computes(l.ir, Op::Abs) == 1);
  for (const codegen::Instr& in : l.ir.instrs)
    if (in.kind == InstrKind::Inside) CHECK(l.ir.guards[in.index].terms.size() == 1);
}

TEST_CASE("choices: a map of pieces is one loop in C, without a test", "[choices]") {
  const auto text = [](std::int64_t shift) {
    Maker m;
    const GraphEdge x = m.leaf({20, 30});
    const GraphEdge d = m.map(Op::Abs, {m.map(Op::Subtract, {x, rolled(m, x, shift, 1)})});
    m.g.roots = {m.map(Op::Add, {rolled(m, d, 1, 0), rolled(m, d, -1, 0)})};
    return c_text(checked(m, {20, 30}));
  };
  const std::string loops = "tarry_i64 i = at;", c = text(2);
  INFO(c);
  CHECK(c.find(loops) != std::string::npos);
  CHECK(c.find(loops) == c.rfind(loops));
  CHECK(c == text(7));
}

TEST_CASE("choices: pieces of a part of the space keep their guards", "[choices]") {
  Maker m;
  const GraphEdge x = m.leaf({12}), around = m.leaf({20});
  m.g.roots = {m.update(around, m.map(Op::Negative, {rolled(m, x, 5, 0)}), {4})};
  const Lowered l = checked(m, {20});
  INFO(codegen::to_string(l.ir));
  CHECK(computes(l.ir, Op::Negative) == 1);
  for (const codegen::Instr& in : l.ir.instrs) CHECK(!in.whole);
  for (const codegen::Instr& in : l.ir.instrs)
    if (in.kind == InstrKind::Load && l.ir.accesses[in.index].buffer != kNone)
      CHECK((in.guard == kNone) == (l.args.accesses[in.index].offset == 0));
}

TEST_CASE("choices: formulas that differ are chosen between where they differ", "[choices]") {
  Maker m;
  const GraphEdge x = m.leaf({20}), y = m.leaf({20});
  const auto part = [&](GraphEdge of, std::int64_t from, std::int64_t count) {
    return m.map(Op::Abs, {m.map(Op::Add, {slice(m, of, {from}, {count}), m.scalar(2)})});
  };
  SECTION("arrays") {  // one choice instead of two formulas
    m.g.roots = {m.update(m.update(m.broadcast(m.scalar(0), {20}), part(x, 0, 8), {0}), part(y, 8, 12), {8})};
    const Lowered l = checked(m, {20});
    CHECK(computes(l.ir, Op::Abs) == 1);
    CHECK(computes(l.ir, Op::Where) == 1);
  }
  SECTION("dtypes that are cast") {
    const GraphEdge z = m.leaf({20}, int32);
    const auto cast = [&](GraphEdge of, std::int64_t from, std::int64_t count) {
      return m.map(Op::Cast, {slice(m, of, {from}, {count})}, float64);
    };
    const GraphEdge w = m.leaf({20}, int8);
    m.g.roots = {m.update(m.update(m.broadcast(m.scalar(0), {20}), cast(z, 0, 8), {0}), cast(w, 8, 12), {8})};
    const Lowered l = checked(m, {20});
    CHECK(computes(l.ir, Op::Cast) == 2);
    CHECK(computes(l.ir, Op::Where) == 1);
  }
  SECTION("operations") {
    m.g.roots = {m.update(m.update(m.broadcast(m.scalar(0), {20}), part(x, 0, 8), {0}),
                          m.map(Op::Negative, {slice(m, y, {8}, {12})}), {8})};
    const Lowered l = checked(m, {20});
    CHECK(computes(l.ir, Op::Abs) == 1);
    CHECK(computes(l.ir, Op::Negative) == 1);
    CHECK(computes(l.ir, Op::Where) == 1);
  }
}

TEST_CASE("choices: steps over a rolled array and its turned ends are pieces too", "[choices]") {
  Maker m;
  const GraphEdge r = rolled(m, m.map(Op::Abs, {m.leaf({21})}), 4, 0);
  m.g.roots = {m.map(Op::Negative, {m.view(r, IndexMap{{0, 20, -2}}, {11})})};
  const Lowered l = checked(m, {11});
  INFO(codegen::to_string(l.ir));
  CHECK(computes(l.ir, Op::Abs) == 1);
  CHECK(loads_of_memory(l.ir) == 2);
}
