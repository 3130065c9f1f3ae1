// Contractions and nested reductions: what is fused into one kernel, and that its bits are those of one kernel per
// node, in the interpreter, in C and in CUDA C on an emulated GPU.
#include <algorithm>
#include <map>
#include <span>

#include "codegen/lower/lower.h"
#include "graph/fusion/fusion.h"
#include "graph/passes/passes.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/helpers/sweep.h"
#include "tests/kernels/plan_kernels.h"

using namespace tarry;
using codegen::InstrKind;
using codegen::KernelSource;
using codegen::Lowered;
using codegen::Region;
using codegen::Schedule;
using graph::Dims;
using graph::Fusion;
using graph::GraphEdge;
using graph::Op;
using test::check_readers;
using test::Maker;
using test::numbers;
using test::plan_kernels;

namespace {

const graph::Target& target(const char* name) { return test::planned_for(name); }

Schedule only_schedule(const std::vector<Lowered>& kernels) {
  REQUIRE(kernels.size() == 1);
  return kernels[0].ir.schedule();
}

/// sum((a - b)^2) along the last axis.
GraphEdge distances(Maker& m, GraphEdge a, GraphEdge b) {
  const GraphEdge d = m.map(Op::Subtract, {a, b});
  return m.reduce(Op::Sum, m.map(Op::Multiply, {d, d}), m.shape(d).size() - 1);
}

/// exp(-d / 2) of the distances between rows of a (rows, n) and b (columns, n).
GraphEdge rbf(Maker& m, std::int64_t rows, std::int64_t columns, std::int64_t n, Dtype d = float32) {
  const GraphEdge a = m.keep(numbers(m, {rows, n}, d), 1), b = m.keep(numbers(m, {columns, n}, d), 0);
  return m.map(Op::Exp, {m.map(Op::Multiply, {distances(m, a, b), m.scalar(-0.5, d)}, d)});
}

}  // namespace

TEST_CASE("contraction: distances between two sets of points are one tiled kernel", "[contraction]") {
  struct Case {
    std::int64_t rows, columns, n;
  };
  for (const auto& [rows, columns, n] :
       {Case{64, 128, 16}, {100, 250, 16}, {130, 260, 5}, {63, 127, 32}, {65, 300, 3}}) {
    Maker m;
    m.g.roots = {rbf(m, rows, columns, n)};
    CHECK(only_schedule(check_readers(m)) == Schedule::Contract);
  }
}

TEST_CASE("contraction: a sum of a short reduction is one kernel, and so is its tree", "[contraction]") {
  struct Case {
    std::int64_t rows, columns, n;
  };
  for (const auto& [rows, columns, n] :
       {Case{64, 128, 16}, {40, 2500, 4}, {100, 1000, 7}, {50, 140, 32}, {70, 1153, 16}}) {
    Maker m;
    m.g.roots = {m.reduce(Op::Sum, rbf(m, rows, columns, n), 1)};
    CHECK(only_schedule(check_readers(m)) == Schedule::ContractReduce);
  }
}

TEST_CASE("contraction: wider elements take smaller tiles", "[contraction]") {
  for (const bool again : {false, true}) {
    Maker m;
    const GraphEdge e = rbf(m, 50, 140, 6, float64);
    m.g.roots = {again ? m.reduce(Op::Sum, e, 1) : e};
    CHECK(only_schedule(check_readers(m)) == (again ? Schedule::ContractReduce : Schedule::Contract));
  }
}

TEST_CASE("contraction: maxima and products of integers and halves", "[contraction]") {
  for (const Dtype d : {int32, int64, float16}) {
    for (const Op op : {Op::Max, Op::Min, Op::Prod}) {
      Maker m;
      GraphEdge a = m.keep(numbers(m, {60, 9}, d), 1), b = m.keep(numbers(m, {120, 9}, d), 0);
      GraphEdge x = m.map(Op::Subtract, {a, b});
      if (d == float16) x = m.map(Op::Cast, {x}, float32);
      m.g.roots = {m.reduce(op, x, 2)};
      CHECK(only_schedule(check_readers(m)) == Schedule::Contract);
    }
  }
}

TEST_CASE("contraction: several reductions, batches, and operands of both dimensions after them", "[contraction]") {
  Maker m;
  const GraphEdge a = m.keep(numbers(m, {3, 40, 8}), 2), b = m.keep(numbers(m, {3, 250, 8}), 1);
  const GraphEdge d = m.map(Op::Subtract, {a, b});
  const GraphEdge sum = m.reduce(Op::Sum, m.map(Op::Multiply, {d, d}), 3), most = m.reduce(Op::Max, d, 3);
  const GraphEdge c = numbers(m, {3, 40, 250}), row = m.keep(numbers(m, {40}), 1);
  m.g.roots = {m.map(Op::Add, {m.map(Op::Multiply, {sum, c}), row}), m.map(Op::Subtract, {most, c})};
  CHECK(only_schedule(check_readers(m)) == Schedule::Contract);
}

TEST_CASE("contraction: operands that are contiguous along the rows, or nowhere", "[contraction]") {
  Maker m;
  const auto map = [](std::initializer_list<graph::AxisMap> dims) {
    graph::IndexMap made;
    for (const graph::AxisMap& d : dims) made.push_back(d);
    return made;
  };
  const GraphEdge a = m.keep(m.view(numbers(m, {12, 64}), map({{1, 0, 1}, {0, 63, -1}}), {64, 12}), 1);
  const GraphEdge b = m.keep(m.view(numbers(m, {260, 12}), map({{0, 259, -2}, {1, 0, 1}}), {130, 12}), 0);
  const GraphEdge e = distances(m, a, b);
  m.g.roots = {e, m.reduce(Op::Sum, m.map(Op::Sqrt, {e}), 1)};
  check_readers(m);
}

TEST_CASE("contraction: the nearest point, the spread of distances, and the distances themselves", "[contraction]") {
  Maker m;
  const GraphEdge a = m.keep(numbers(m, {70, 6}), 1), b = m.keep(numbers(m, {1100, 6}), 0);
  const GraphEdge e = distances(m, a, b), weighted = m.map(Op::Multiply, {e, numbers(m, {1100})});
  m.g.reduces.push_back({1, 1});
  const GraphEdge spread = m.add(Op::Moments, float32, {70}, {e}, static_cast<std::uint32_t>(m.g.reduces.size() - 1));
  SECTION("by index and by mean") {
    m.g.roots = {m.reduce(Op::ArgMin, e, 1), m.reduce(Op::Max, weighted, 1), spread, {spread.node, 1}};
    CHECK(only_schedule(check_readers(m)) == Schedule::ContractReduce);
  }
  SECTION("stored as well") {
    m.g.roots = {e, m.reduce(Op::Sum, weighted, 1)};
    check_readers(m);
  }
}

TEST_CASE("contraction: a short reduction is a loop in kernels of every kind", "[contraction]") {
  Maker m;
  SECTION("once per row: the norm of a row beside its distances") {
    const GraphEdge x = numbers(m, {5, 7}), y = numbers(m, {5, 200});
    const GraphEdge norm = m.keep(m.reduce(Op::Sum, m.map(Op::Multiply, {x, x}), 1), 1);
    m.g.roots = {m.reduce(Op::Sum, m.map(Op::Multiply, {y, norm}), 1)};
  }
  SECTION("row sums of a matrix in the sum of all") {
    m.g.roots = {m.reduce(Op::Sum, m.reduce(Op::Sum, numbers(m, {3000, 4}), 1), 0)};
    CHECK(only_schedule(plan_kernels(m, target("sm_90"))) == Schedule::ReduceInner);
  }
  SECTION("columns") {
    const GraphEdge x = numbers(m, {300, 40, 3});
    m.g.roots = {m.reduce(Op::Sum, m.map(Op::Sqrt, {m.reduce(Op::Max, x, 2)}), 0)};
  }
  SECTION("at points: an outer sum over a longer axis of products of short sums") {
    const GraphEdge x = numbers(m, {6, 5}), y = numbers(m, {400, 5});
    const GraphEdge dots = m.reduce(Op::Sum, m.map(Op::Multiply, {m.keep(x, 1), m.keep(y, 0)}), 2);
    m.g.roots = {m.reduce(Op::Max, dots, 1)};
    const std::vector<Lowered> kernels = plan_kernels(m, target("sm_90"));
    CHECK(only_schedule(kernels) == Schedule::ReduceInner);  // six rows would leave most of a tile empty
    CHECK(kernels[0].ir.loops.size() == 1);
  }
  check_readers(m);
}

TEST_CASE("contraction: short loops of neighbouring points are loaded ahead, as vectors where they run through memory",
          "[contraction][sweep]") {
  struct Case {
    Dtype dtype;
    std::int64_t values, columns;
    int axis;
  };
  std::vector<Case> cases;
  for (const Dtype d : {float32, float16, float64})
    for (const std::int64_t values : {2, 3, 4})
      for (const std::int64_t columns : {136, 133})
        for (const int axis : {0, 1}) cases.push_back({d, values, columns, axis});
  std::vector<Lowered> kernels;
  for (const auto& [d, values, columns, axis] : test::part_of_sweep(std::move(cases), 5)) {
    Maker m;
    const GraphEdge x = numbers(m, {axis == 0 ? 300 : 2, columns, values}, d);
    const GraphEdge wide = d == float16 ? m.map(Op::Cast, {x}, float32) : x;
    m.g.roots = {m.reduce(Op::Sum, m.reduce(Op::Sum, wide, 2), axis)};
    std::vector<Lowered> gpu = check_readers(m);
    REQUIRE(gpu.size() == 1);
    const codegen::KernelIr& ir = gpu[0].ir;
    INFO(to_string(ir));
    CHECK(ir.schedule() == (axis == 0 ? Schedule::ReduceOuter : Schedule::ReduceInner));
    CHECK(ir.short_loops == std::vector<int>{static_cast<int>(values)});
    CHECK(ir.accesses[0].aligned == ((axis == 0 ? columns : columns * values) % 4 == 0));
    kernels.push_back(std::move(gpu[0]));
  }
  TARRY_REQUIRE_NVRTC();
  std::map<std::string, KernelSource> sources;
  for (const Lowered& l : kernels) {
    KernelSource source = codegen::render_cuda(l.ir, target("sm_90"));
    sources.emplace(source.entry, std::move(source));
  }
  std::vector<const KernelSource*> unit;
  for (const auto& [entry, source] : sources) unit.push_back(&source);
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    for (const runtime::KernelResources& r :
         runtime::nvrtc_compile(codegen::join_unit(unit, target(arch)), target(arch), graph::Mode::Strict).resources) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers");
      CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
      CHECK(r.stack_bytes == 0);
    }
  }
}

TEST_CASE("contraction: tiles compile for every architecture without spills", "[contraction]") {
  TARRY_REQUIRE_NVRTC();
  std::vector<Lowered> kernels;
  const auto add = [&](const Maker& m) {
    for (Lowered& l : plan_kernels(m, target("sm_90")))
      if (l.ir.is_contraction()) kernels.push_back(std::move(l));
  };
  for (const Dtype d : {float32, float64}) {
    for (const bool again : {false, true}) {
      Maker m;
      const GraphEdge e = rbf(m, 8192, 8192, 16, d);
      m.g.roots = {again ? m.reduce(Op::Sum, e, 1) : e};
      add(m);
    }
  }
  Maker m;
  const GraphEdge e = distances(m, m.keep(numbers(m, {70, 6}), 1), m.keep(numbers(m, {1100, 6}), 0));
  m.g.reduces.push_back({1, 1});
  const GraphEdge spread = m.add(Op::Moments, float32, {70}, {e}, static_cast<std::uint32_t>(m.g.reduces.size() - 1));
  m.g.roots = {m.reduce(Op::ArgMin, e, 1), spread, {spread.node, 1}};
  add(m);
  REQUIRE(kernels.size() == 5);
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    std::vector<KernelSource> sources;
    for (const Lowered& l : kernels) sources.push_back(codegen::render_cuda(l.ir, target(arch)));
    std::vector<const KernelSource*> unit;
    for (const KernelSource& source : sources) unit.push_back(&source);
    const auto image =
        runtime::nvrtc_compile(codegen::join_unit(unit, target(arch)), target(arch), graph::Mode::Strict);
    CHECK(image.resources.size() == kernels.size());
    for (const runtime::KernelResources& r : image.resources) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers, " << r.shared_bytes << " bytes shared");
      CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
      CHECK(r.shared_bytes <= 48 * 1024);
    }
  }
}

TEST_CASE("contraction: a long reduction is stored before another takes it", "[contraction]") {
  Maker m;
  m.g.roots = {m.reduce(Op::Sum, m.reduce(Op::Sum, numbers(m, {40, 33}), 1), 0)};
  const Fusion f = graph::fuse(m.g, target("sm_90"));
  REQUIRE(f.unfused.size() == 1);
  CHECK(f.unfused[0].reason == graph::Reason::ReductionChain);
}

TEST_CASE("contraction: the kernels print what they are", "[contraction]") {
  Maker m;
  m.g.roots = {m.reduce(Op::Sum, rbf(m, 64, 128, 16), 1)};
  const std::vector<Lowered> kernels = plan_kernels(m, target("sm_90"));
  REQUIRE(kernels.size() == 1);
  CHECK(to_string(kernels[0].ir) == R"(kernel contract_reduce strict rank 1 vector 4 index 32 loop_class 16
  buffer b0: f32
  buffer b1: f32
  buffer b2: f32
  scalar s0: i64
  scalar s1: f32
  access a0: load b0[*|0~1] aligned
  access a1: load b1[0|*~1] aligned
  access a2: store b2[1|]
  loop l0 < s0
  loop0 %0: f32 = load a0
  loop0 %1: f32 = load a1
  loop0 %2: f32 = subtract %0, %1
  loop0 %3: f32 = multiply %2, %2
  point %4: f32 = fold f0
  row   %5: f32 = scalar s1
  point %6: f32 = multiply %4, %5
  point %7: f32 = exp %6
  outer %8: f32 = result r0.0
  outer store a2, %8
  fold f0: f32 = sum %3 in l0
  reduce r0: f32 = sum %7
)");
}
