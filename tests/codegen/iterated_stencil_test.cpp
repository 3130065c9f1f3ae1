// Steps: chains of updates and maps of shifted views, several in one kernel.
#include <numeric>

#include "codegen/ir/iterated_stencil.h"
#include "graph/fusion/fusion.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// A step: x with its inner points replaced by twice themselves less their four neighbours.
GraphEdge heat(Maker& m, GraphEdge x, GraphEdge two) {
  const Dims inner{m.shape(x)[0] - 2, m.shape(x)[1] - 2};
  GraphEdge v = m.map(Op::Multiply, {slice(m, x, {1, 1}, inner), two});
  for (const auto& start : {Dims{0, 1}, Dims{2, 1}, Dims{1, 0}, Dims{1, 2}})
    v = m.map(Op::Minimum, {m.map(Op::Subtract, {v, slice(m, x, start, inner)}), slice(m, x, {1, 1}, inner)});
  return m.update(x, v, {1, 1});
}

Maker heat_steps(std::int64_t rows, std::int64_t columns, int steps, Dtype d = float32) {
  Maker m;
  GraphEdge x = m.leaf({rows, columns}, d);
  const GraphEdge two = m.scalar(2, d);
  for (int i = 0; i < steps; ++i) x = heat(m, x, two);
  m.g.roots = {x};
  return m;
}

/// The border is not written but left off: the arrays shrink.
Maker shrinking(std::int64_t rows, std::int64_t columns, int steps, Dtype d = float32) {
  Maker m;
  GraphEdge x = m.leaf({rows, columns}, d);
  for (int i = 0; i < steps; ++i) {
    const Dims inner{m.shape(x)[0] - 2, m.shape(x)[1] - 2};
    GraphEdge y = slice(m, x, {0, 0}, inner);
    for (int k = 1; k < 9; ++k)
      y = m.map(k % 2 ? Op::Maximum : Op::Minimum, {m.map(Op::Negative, {y}), slice(m, x, {k / 3, k % 3}, inner)});
    x = y;
  }
  m.g.roots = {x};
  return m;
}

/// Along one axis, reaching further to one side, with an operand of each point.
Maker line(std::int64_t n, int steps, Dtype d = float32) {
  Maker m;
  GraphEdge x = m.leaf({n}, d);
  const GraphEdge k = m.leaf({n - 3}, d);
  for (int i = 0; i < steps; ++i) {
    GraphEdge y = m.map(Op::Minimum, {slice(m, x, {0}, {n - 3}), m.map(Op::Negative, {slice(m, x, {3}, {n - 3})})});
    x = m.update(x, m.map(Op::Maximum, {y, k}), {1});
  }
  m.g.roots = {x};
  return m;
}

/// Planes of a cube, each by itself; every step adds a coordinate and multiplies by a row.
Maker planes(std::int64_t count, std::int64_t rows, std::int64_t columns, int steps) {
  Maker m;
  GraphEdge x = m.leaf({count, rows, columns}, float32);
  const GraphEdge row = m.leaf({1, 1, columns - 2}, float32);
  const Dims inner{count, rows - 2, columns - 2};
  for (int i = 0; i < steps; ++i) {
    GraphEdge y = m.map(Op::Minimum, {slice(m, x, {0, 0, 1}, inner), slice(m, x, {0, 2, 1}, inner)});
    y = m.map(Op::Maximum, {m.map(Op::Negative, {y}), m.broadcast(row, inner)});
    y = m.map(Op::Minimum, {y, m.map(Op::Cast, {m.iota(inner, 1)}, float32)});
    x = m.update(x, y, {0, 1, 1});
  }
  m.g.roots = {x};
  return m;
}

/// Fluxes between points first, then points: what is between is read at two shifts too.
Maker fluxes(std::int64_t rows, std::int64_t columns, int steps) {
  Maker m;
  GraphEdge x = m.leaf({rows, columns}, float32);
  const Dims across{rows, columns - 1}, inner{rows, columns - 2};
  for (int i = 0; i < steps; ++i) {
    const GraphEdge f =
        m.map(Op::Minimum, {m.map(Op::Negative, {slice(m, x, {0, 1}, across)}), slice(m, x, {0, 0}, across)});
    const GraphEdge d =
        m.map(Op::Maximum, {m.map(Op::Negative, {slice(m, f, {0, 1}, inner)}), slice(m, f, {0, 0}, inner)});
    x = m.update(x, m.map(Op::Minimum, {slice(m, x, {0, 1}, inner), d}), {0, 1});
  }
  m.g.roots = {x};
  return m;
}

}  // namespace

TEST_CASE("steps: a chain of updates of inner points is one kernel with the interpreter's bits", "[steps]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{4, 5}, {9, 17}, {40, 70}, {97, 131}, {5, 300}, {300, 5}}) {
    graphs.push_back(heat_steps(rows, columns, 3));
    graphs.push_back(heat_steps(rows, columns, 10));
  }
  check_bits(graphs, Schedule::IteratedStencil);
}

TEST_CASE("steps: maps without a border, of one, two and three dimensions", "[steps]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{21, 33}, {60, 140}, {130, 35}}) {
    graphs.push_back(shrinking(rows, columns, 3));
    graphs.push_back(shrinking(rows, columns, 8));
    graphs.push_back(fluxes(rows, columns, 4));
  }
  for (const std::int64_t n : {8, 64, 1030}) graphs.push_back(line(n, 5));
  for (const auto& [count, rows, columns] : {std::tuple{3, 9, 12}, {2, 100, 40}})
    graphs.push_back(planes(count, rows, columns, 4));
  check_bits(graphs, Schedule::IteratedStencil);
}

TEST_CASE("steps: elements of every width", "[steps]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::UInt8, Dtype::Float16, Dtype::Int32, Dtype::Int64, Dtype::Float64}) {
    graphs.push_back(heat_steps(50, 90, 4, d));
    if (d != Dtype::UInt8) graphs.push_back(shrinking(40, 71, 3, d));
    if (d != Dtype::UInt8) graphs.push_back(line(300, 3, d));
  }
  check_bits(graphs, Schedule::IteratedStencil);
}

TEST_CASE("steps: in C rows pass from stage to stage with the interpreter's bits", "[steps]") {
  check_c_bits({heat_steps(140, 70, 3), shrinking(21, 1100, 3), fluxes(150, 35, 3), line(1300, 3), planes(2, 9, 12, 3),
                heat_steps(9, 17, 3, float16)},
               Schedule::IteratedStencil);
}

TEST_CASE("steps: in C neighbouring stages that are alike are a loop with the interpreter's bits", "[steps]") {
  check_c_bits({heat_steps(33, 600, 7), heat_steps(150, 17, 10), heat_steps(40, 70, 5, Dtype::Float64),
                shrinking(60, 140, 8), line(600, 6), planes(2, 30, 40, 6)},
               Schedule::IteratedStencil);
}

TEST_CASE("steps: alike stages are a loop, whatever their number; other scalars make other stages", "[steps]") {
  const auto loops = [](const Maker& m) {
    std::vector<int> counts;
    for (const codegen::IteratedRun& run : codegen::find_runs(lowered(m).ir)) counts.push_back(run.count);
    return counts;
  };
  CHECK(loops(heat_steps(64, 64, 10)) == std::vector<int>{10, 1});  // and the store
  CHECK(loops(planes(2, 30, 30, 4)) == std::vector<int>{4, 1});
  Maker m;
  GraphEdge x = m.leaf({64, 64}, float32);
  for (int i = 0; i < 3; ++i) x = heat(m, x, m.scalar(2, float32));
  m.g.roots = {x};
  CHECK(loops(m) == std::vector<int>{1, 1, 1, 1});
  check_bits({m}, Schedule::IteratedStencil);
}

TEST_CASE("steps: a kernel has as many as pay, and tiles that fit the array", "[steps]") {
  const auto kernels = [](const Maker& m, const char* name = "sm_90") {
    std::vector<std::size_t> sizes;
    for (const graph::Group& g : graph::fuse(m.g, target(name)).groups)
      sizes.push_back(g.iterated_stencil() ? g.nodes.size() : 0);
    return sizes;
  };
  const std::size_t step = 10;  // nodes
  CHECK(kernels(heat_steps(8192, 8192, 10)) == std::vector<std::size_t>{10 * step});
  CHECK(kernels(heat_steps(8192, 8192, 10), "x86-64-v4") == std::vector<std::size_t>{10 * step});
  CHECK(kernels(heat_steps(8192, 8192, 2)) == std::vector<std::size_t>{0});  // two share a kernel without
  const std::vector<std::size_t> many = kernels(heat_steps(8192, 8192, 40));
  CHECK((many.size() > 2 && many.size() < 10));
  CHECK(std::accumulate(many.begin(), many.end(), std::size_t{0}) == 40 * step);
  // Large arrays have large tiles, small ones many.
  const KernelIr large = lowered(heat_steps(8192, 8192, 10)).ir, small = lowered(heat_steps(256, 256, 10)).ir;
  const auto lane = [](const KernelIr& ir) {
    const auto& layout = ir.as<codegen::IteratedStencilLayout>();
    return std::pair(layout.columns, layout.rows);
  };
  CHECK((lane(large) == std::pair(4, 12) && lane(small) == std::pair(2, 4)));
  CHECK(lane(lowered(heat_steps(8192, 4096, 10)).ir).second == 12);
  const auto text = [](const Maker& m) { return codegen::render_cuda(lowered(m).ir, target()).kernel; };
  CHECK(text(heat_steps(8192, 8192, 10)) == text(heat_steps(4096, 16384, 10)));
}

TEST_CASE("steps: a state that somebody else reads is stored, and the chain goes on from it", "[steps]") {
  Maker m;
  GraphEdge x = m.leaf({512, 512}, float32), kept;
  const GraphEdge two = m.scalar(2, float32);
  for (int i = 0; i < 9; ++i) {
    x = heat(m, x, two);
    if (i == 3) kept = x;
  }
  m.g.roots = {kept, x};
  const graph::Fusion f = graph::fuse(m.g, target());
  REQUIRE(f.groups.size() == 2);
  CHECK((f.groups[0].iterated_stencil() && f.groups[0].nodes.back() == kept.node));
  CHECK((f.groups[1].iterated_stencil() && f.groups[1].base == kept && f.groups[1].nodes.back() == x.node));
  REQUIRE(f.unfused.size() == 1);
  CHECK(graph::to_string(f.unfused[0].reason) == "steps");
  // Values on the way to a state cannot be read from outside: the step is left to others.
  Maker inner = heat_steps(512, 512, 4);
  inner.g.roots.push_back({inner.g.nodes[inner.g.roots[0].node].inputs[1].node, 0});
  for (const graph::Group& g : graph::fuse(inner.g, target()).groups)
    CHECK((!g.iterated_stencil() || g.nodes.back() != inner.g.roots[0].node));
}

TEST_CASE("steps: a result is never in the memory that its tiles read", "[steps]") {
  // The emulated thread blocks run one after the other: a later one would see what an earlier one has stored.
  Maker m = heat_steps(300, 300, 5);
  m.g.leaves[0].donated = true;
  const Lowered l = lowered(m);
  CHECK(l.ir.schedule() == Schedule::IteratedStencil);
  CHECK(l.bytes_read == 300 * 300 * 4);
  CHECK(l.bytes_written == 300 * 300 * 4);
}

TEST_CASE("steps: TARRY_DISABLE=steps gives the same bits in more launches", "[steps]") {
  const auto heat_of = [](std::int64_t& launches) {
    Array u = asarray(ramp(90 * 1100), {90, 1100}) * 0.37f;
    evaluate(u);  // memory of our own, which dies with the first step
    const Slice low = slice(-2), mid = slice(1, -1), high = slice(2, none);
    for (int step = 0; step < 7; ++step) {
      const Array c = u(mid, mid);
      u.set({mid, mid}, c + 0.1f * (u(low, mid) + u(high, mid) + u(mid, low) + u(mid, high) - 4.0f * c));
    }
    launches = evaluate(u).counters().launches;
    return u.to_vector<float>();
  };
  std::int64_t chained = 0, apart = 0, unfused = 0;
  const std::vector<float> together = heat_of(chained);
  CHECK(chained == 1);
  {
    const Setting off("TARRY_DISABLE", "steps");
    CHECK(same_bits(heat_of(apart), together));
    CHECK(apart > 1);
  }
  const Setting off("TARRY_DISABLE", "fusion");
  CHECK(same_bits(heat_of(unfused), together));
  CHECK(unfused > apart);
}

TEST_CASE("steps: kernels compile without spills", "[steps][sweep]") {
  TARRY_REQUIRE_NVRTC();
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{8192, 8192}, {256, 256}, {1023, 1021}})
    graphs.push_back(heat_steps(rows, columns, 10));
  for (const Dtype d : {Dtype::Float16, Dtype::Float64, Dtype::Int64}) graphs.push_back(heat_steps(8192, 8192, 4, d));
  graphs.push_back(shrinking(4096, 4096, 6));
  graphs.push_back(fluxes(4096, 4096, 4));
  graphs.push_back(line(1 << 20, 8));
  graphs.push_back(planes(16, 1024, 1024, 4));
  check_compiles(graphs);
}

TEST_CASE("steps: the verifier refuses what is none", "[steps]") {
  const KernelIr good = lowered(heat_steps(1024, 1024, 4)).ir;
  const auto refused = [&](const auto& change) { check_refused(good, change); };
  std::size_t neighbour = 0;
  while (good.instrs[neighbour].kind != codegen::InstrKind::Neighbour) ++neighbour;
  refused([&](KernelIr& ir) { ir.layout = codegen::PointwiseLayout{}; });
  refused([&](KernelIr& ir) { ir.instrs[neighbour].row = ir.instrs[neighbour].column = 0; });
  refused([&](KernelIr& ir) { ir.instrs[neighbour].row = 100; });
  refused([&](KernelIr& ir) { ir.instrs[neighbour].stage = 0; });
  refused([&](KernelIr& ir) { ir.instrs.back().stage = 1; });
  refused([&](KernelIr& ir) { ir.layout = codegen::IteratedStencilLayout{4, 1, 4}; });  // less than the halo
  refused([&](KernelIr& ir) { ir.as<codegen::IteratedStencilLayout>().rows = 0; });
  refused([&](KernelIr& ir) {
    ir.accesses[ir.guards[0].terms[0].access].strides = {codegen::StrideClass::One, codegen::StrideClass::One};
  });
}

TEST_CASE("steps: golden text", "[steps]") {
  check_golden("render_cuda_iterated_stencil", heat_steps(8192, 8192, 10));
  check_golden("render_c_iterated_stencil", heat_steps(8192, 8192, 3), "x86-64-v3");
}
