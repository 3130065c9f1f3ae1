// Stencils: kernels that load shifted views of one buffer. Graphs are lowered for a GPU, their CUDA C runs on the host,
// and what it stores has the bits of the interpreter on the same graph lowered for a CPU.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "codegen/interpreter.h"
#include "codegen/kernel_source.h"
#include "codegen/lower.h"
#include "runtime/nvrtc.h"
#include "tests/cuda_emulation.h"
#include "tests/graph_maker.h"

using namespace tarry;
using namespace tarry::test;
using codegen::KernelIr;
using codegen::KernelSource;
using codegen::Lowered;
using codegen::Schedule;

namespace {

const graph::Target& target(const char* name = "sm_90") { return *graph::find_target(name); }

/// The one kernel of a graph.
Lowered lowered(const Maker& m, const char* target_name = "sm_90") {
  graph::verify(m.g);
  const graph::Fusion f = graph::fuse(m.g, target(target_name));
  REQUIRE(f.groups.size() == 1);
  std::vector<GraphEdge> outputs = m.g.roots;
  Lowered l = codegen::lower(m.g, f, 0, outputs, target(target_name));
  codegen::verify(l.ir);
  return l;
}

/// Memory of a kernel, leaves as the graph has them, outputs poisoned; with room on both sides, poisoned too.
struct Buffers {
  Buffers(const Maker& m, const Lowered& l) {
    for (const codegen::BufferRef& b : l.buffers) {
      Memory bytes = b.is_leaf ? m.leaves[b.leaf] : Memory(static_cast<std::size_t>(m.g.bytes(b.value.node)), 0x5b);
      bytes.insert(bytes.begin(), kRoom, 0x77);
      bytes.insert(bytes.end(), kRoom, 0x77);
      memory.push_back(std::move(bytes));
    }
    for (Memory& bytes : memory) at.push_back(bytes.data() + kRoom);
    for (const codegen::ScalarRef& s : l.scalars) {
      std::uint64_t word = s.constant;
      if (s.source != kNoId) std::memcpy(&word, m.g.scalars[s.source].constant.bytes, 8);
      scalars.push_back(word);
    }
  }
  static constexpr std::size_t kRoom = 512;
  std::vector<Memory> memory;
  std::vector<void*> at;
  std::vector<std::uint64_t> scalars;
};

std::vector<std::vector<double>> stored(const Maker& m, const Lowered& l, const Buffers& b) {
  std::vector<std::vector<double>> all;
  for (const GraphEdge& root : m.g.roots)
    for (std::size_t i = 0; i < l.buffers.size(); ++i)
      if (!l.buffers[i].is_leaf && l.buffers[i].value == root)
        all.push_back(values_in(m.g.nodes[root.node].dtype, Memory(b.memory[i].begin() + Buffers::kRoom, b.memory[i].end() - Buffers::kRoom)));
  return all;
}

/// Runs every graph on the emulation and compares; all of them in one unit.
void check_bits(const std::vector<Maker>& graphs) {
  std::vector<Lowered> kernels;
  std::vector<KernelSource> sources;
  for (const Maker& m : graphs) {
    kernels.push_back(lowered(m));
    INFO(to_string(m.g) << codegen::to_string(kernels.back().ir));
    REQUIRE(kernels.back().ir.schedule == Schedule::Stencil);
    sources.push_back(codegen::render_cuda(kernels.back().ir, target()));
  }
  std::map<std::string, const KernelSource*> distinct;
  for (const KernelSource& s : sources) distinct.emplace(s.entry, &s);
  std::vector<const KernelSource*> unit;
  for (const auto& [entry, source] : distinct) unit.push_back(source);
  const EmulatedKernels emulated(unit);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const Lowered& l = kernels[i];
    INFO(to_string(graphs[i].g) << codegen::to_string(l.ir) << sources[i].text);
    Buffers b(graphs[i], l), before = b;
    const codegen::Geometry g = codegen::geometry_cuda(l.ir, target(), l.args);
    emulated.run(sources[i], g.grid(), codegen::pack_parameters(l.ir, sources[i], l.args, g, {b.at, b.scalars}));
    const Lowered on_cpu = lowered(graphs[i], "x86-64-v3");
    REQUIRE(on_cpu.ir.schedule == Schedule::Pointwise);
    Buffers expected(graphs[i], on_cpu);
    codegen::interpret(on_cpu.ir, on_cpu.args, expected.at, expected.scalars);
    const auto values = stored(graphs[i], on_cpu, expected);
    CHECK(values.size() == graphs[i].g.roots.size());
    CHECK(stored(graphs[i], l, b) == values);
    const auto reference = values_of(graphs[i]);
    for (std::size_t r = 0; r < values.size(); ++r)  // the reference has numbers without end
      if (graphs[i].g.nodes[graphs[i].g.roots[r].node].dtype != Dtype::UInt8) CHECK(values[r] == reference[graphs[i].g.roots[r].node]);
    for (std::size_t buffer = 0; buffer < b.memory.size(); ++buffer) {
      const Memory &now = b.memory[buffer], &then = before.memory[buffer];
      CHECK(std::equal(now.begin(), now.begin() + Buffers::kRoom, then.begin()));
      CHECK(std::equal(now.end() - Buffers::kRoom, now.end(), then.end() - Buffers::kRoom));
    }
    // The interpreter runs the stencil's own IR to the same end.
    Buffers same(graphs[i], l);
    codegen::interpret(l.ir, l.args, same.at, same.scalars);
    CHECK(stored(graphs[i], l, same) == values);
  }
}

/// x[start : start + extents].
GraphEdge slice(Maker& m, GraphEdge x, const Dims& start, const Dims& extents) {
  IndexMap map;
  for (int d = 0; d < start.size(); ++d) map.push_back({d, start[d], 1});
  return m.view(x, map, extents);
}

/// The sum of the (2 radius + 1)^2 neighbours of every inner point, as an expression of slices.
Maker box_filter(std::int64_t rows, std::int64_t columns, int radius, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf({rows, columns}, d);
  const Dims inner{rows - 2 * radius, columns - 2 * radius};
  GraphEdge sum = slice(m, x, {0, 0}, inner);
  for (int r = 0; r <= 2 * radius; ++r)
    for (int c = 0; c <= 2 * radius; ++c)
      if (r + c > 0) sum = m.map(Op::Add, {sum, slice(m, x, {r, c}, inner)});
  m.g.roots = {m.map(Op::Multiply, {sum, m.scalar(2, d)})};
  return m;
}

/// x with its inner points replaced by twice themselves less their four neighbours.
Maker heat_step(std::int64_t rows, std::int64_t columns, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf({rows, columns}, d);
  const Dims inner{rows - 2, columns - 2};
  GraphEdge v = m.map(Op::Multiply, {slice(m, x, {1, 1}, inner), m.scalar(2, d)});
  for (const auto& start : {Dims{0, 1}, Dims{2, 1}, Dims{1, 0}, Dims{1, 2}}) v = m.map(Op::Subtract, {v, slice(m, x, start, inner)});
  m.g.roots = {m.update(x, v, {1, 1})};
  return m;
}

Maker line(std::int64_t n, int reach, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf({n}, d);
  GraphEdge sum = slice(m, x, {0}, {n - reach});
  for (int i = 1; i <= reach; ++i) sum = m.map(Op::Subtract, {slice(m, x, {i}, {n - reach}), sum});
  m.g.roots = {sum};
  return m;
}

/// Seven points of a cube, a weight for each plane, and where it lies.
Maker cube(std::int64_t planes, std::int64_t rows, std::int64_t columns, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf({planes, rows, columns}, d), weight = m.leaf({planes - 2, 1, 1}, d);
  const Dims inner{planes - 2, rows - 2, columns - 2};
  GraphEdge sum = slice(m, x, {1, 1, 1}, inner);
  for (const auto& start : {Dims{0, 1, 1}, Dims{2, 1, 1}, Dims{1, 0, 1}, Dims{1, 2, 1}, Dims{1, 1, 0}, Dims{1, 1, 2}})
    sum = m.map(Op::Add, {sum, slice(m, x, start, inner)});
  sum = m.map(Op::Multiply, {sum, m.broadcast(weight, inner)});
  m.g.roots = {m.map(Op::Add, {sum, m.map(Op::Cast, {m.iota(inner, 2)}, d)})};
  return m;
}

}  // namespace

TEST_CASE("stencil: shifted views of one array have the interpreter's bits", "[stencil]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{9, 14}, {6, 7}, {33, 66}, {5, 1003}, {3, 4}, {700, 18}, {601, 17}})
    graphs.push_back(box_filter(rows, columns, 1));
  graphs.push_back(box_filter(20, 40, 2));
  graphs.push_back(box_filter(600, 24, 2));
  graphs.push_back(box_filter(530, 10, 4));
  for (const std::int64_t n : {5, 6, 1030, 4099}) {
    graphs.push_back(line(n, 1));
    graphs.push_back(line(n, 3));
  }
  for (const auto& [planes, rows, columns] : {std::tuple{4, 5, 6}, {3, 600, 10}, {5, 9, 130}}) graphs.push_back(cube(planes, rows, columns));
  check_bits(graphs);
}

TEST_CASE("stencil: an update of the inner points keeps the border", "[stencil]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{3, 4}, {8, 16}, {9, 17}, {40, 70}, {600, 12}, {517, 21}, {1030, 64}})
    graphs.push_back(heat_step(rows, columns));
  check_bits(graphs);
}

TEST_CASE("stencil: elements of every width", "[stencil]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::UInt8, Dtype::Float16, Dtype::Int32, Dtype::Int64, Dtype::Float64}) {
    graphs.push_back(box_filter(7, 18, 1, d));
    graphs.push_back(heat_step(520, 24, d));
    graphs.push_back(line(300, 2, d));
    graphs.push_back(cube(3, 5, 12, d));
  }
  check_bits(graphs);
}

TEST_CASE("stencil: elements are loaded once, in the widest runs that alignment allows", "[stencil]") {
  const auto text = [](const Maker& m) { return codegen::render_cuda(lowered(m).ir, target()).kernel; };
  // Rows of 1022 floats begin at 8-byte boundaries; those of 1021 at none.
  CHECK(lowered(box_filter(1024, 1024, 1)).ir.vector == 2);
  CHECK(lowered(box_filter(1024, 1023, 1)).ir.vector == 1);
  CHECK(lowered(heat_step(1024, 1024)).ir.vector == 4);
  CHECK(lowered(heat_step(1024, 1024)).ir.tile_rows == 8);
  CHECK(lowered(heat_step(512, 1024)).ir.tile_rows == 1);
  CHECK(lowered(line(1000, 3)).ir.vector == 4);
  // Extents, strides and offsets are arguments; shifts are not.
  CHECK(text(heat_step(1024, 2048)) == text(heat_step(8192, 4096)));
  CHECK(text(line(1000, 2)) != text(line(1000, 3)));
}

TEST_CASE("stencil: other kernels stay pointwise", "[stencil]") {
  const auto schedule = [](const Maker& m) { return lowered(m).ir.schedule; };
  Maker far;
  const GraphEdge x = far.leaf({1000}, float32);
  far.g.roots = {far.map(Op::Add, {slice(far, x, {0}, {900}), slice(far, x, {100}, {900})})};
  CHECK(schedule(far) == Schedule::Pointwise);
  Maker two;
  const GraphEdge a = two.leaf({1000}, float32), b = two.leaf({1000}, float32);
  two.g.roots = {two.map(Op::Add, {slice(two, a, {0}, {900}), slice(two, b, {1}, {900})})};
  CHECK(schedule(two) == Schedule::Pointwise);
  Maker strided;
  const GraphEdge y = strided.leaf({1000}, float32);
  const auto every_other = [&](std::int64_t start) {
    IndexMap map;
    map.push_back({0, start, 2});
    return strided.view(y, map, {499});
  };
  strided.g.roots = {strided.map(Op::Add, {every_other(0), every_other(1)})};
  CHECK(schedule(strided) == Schedule::Pointwise);
  CHECK(lowered(heat_step(100, 100), "x86-64-v4").ir.schedule == Schedule::Pointwise);
}

TEST_CASE("stencil: kernels compile without spills", "[stencil]") {
  TARRY_REQUIRE_NVRTC();
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    std::map<std::string, KernelSource> sources;
    for (const Maker& m : {box_filter(1024, 1024, 1), box_filter(1023, 1023, 2), heat_step(1024, 1024), heat_step(1023, 1021), heat_step(1024, 1024, float16),
                           line(1000, 3), cube(10, 1000, 1000), cube(10, 1000, 1000, float64)}) {
      KernelSource s = codegen::render_cuda(lowered(m, arch).ir, target(arch));
      sources.emplace(s.entry, std::move(s));
    }
    std::vector<const KernelSource*> unit;
    for (const auto& [entry, source] : sources) unit.push_back(&source);
    for (const runtime::KernelResources& r :
         runtime::nvrtc_compile(codegen::join_unit(unit, target(arch)), target(arch), graph::Mode::Strict).resources) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers");
      CHECK(r.stack_bytes == 0);
      CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
      CHECK(r.registers <= 128);
    }
  }
}

TEST_CASE("stencil: golden text", "[stencil]") {
  const KernelSource source = codegen::render_cuda(lowered(heat_step(1024, 1024)).ir, target());
  std::string text = source.kernel;
  for (std::size_t at; (at = text.find(source.entry)) != std::string::npos;) text.replace(at, source.entry.size(), "ENTRY");
  const std::string path = std::string(TARRY_SOURCE_DIR) + "/tests/golden/render_cuda_stencil.cu";
  if (const char* update = std::getenv("TARRY_UPDATE_GOLDEN"); update && *update == '1') std::ofstream(path) << text;
  std::ifstream in(path);
  std::ostringstream expected;
  expected << in.rdbuf();
  INFO("set TARRY_UPDATE_GOLDEN=1 to write " << path);
  CHECK(text == expected.str());
}

TEST_CASE("stencil: the verifier refuses windows that are none", "[stencil]") {
  const KernelIr good = lowered(heat_step(1024, 1024)).ir;
  const auto refused = [&](auto change) {
    KernelIr ir = good;
    change(ir);
    CHECK_THROWS_AS(codegen::verify(ir), InternalError);
  };
  std::uint32_t shifted = 0;
  while (good.accesses[shifted].row == 0) ++shifted;
  refused([&](KernelIr& ir) { ir.accesses[shifted].window = shifted; });
  refused([&](KernelIr& ir) { ir.accesses[shifted].window = codegen::kNone; });
  refused([&](KernelIr& ir) { ir.accesses[shifted].strides.back() = codegen::StrideClass::Zero; });
  refused([&](KernelIr& ir) { ir.accesses[ir.guards[0].terms[0].access].strides = {codegen::StrideClass::One, codegen::StrideClass::One}; });
  refused([&](KernelIr& ir) { ir.schedule = Schedule::Pointwise; });
  refused([&](KernelIr& ir) { ir.tile_rows = 16; });
}
