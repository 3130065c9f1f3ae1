// Crossed kernels: as C, as CUDA C on the host and in the interpreter they store the bits of two kernels of one axis
// each.
#include <cmath>
#include <random>

#include "graph/fusion/fusion.h"
#include "graph/fusion/trace.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// A leaf of numbers whose sums depend on the order of additions, with zeros of both signs and equal ones among them.
GraphEdge numbers(Maker& m, const Dims& shape, Dtype d = float32) {
  const GraphEdge e = m.leaf(shape, d);
  std::mt19937 random(static_cast<unsigned>(m.leaves.size()));
  Memory& memory = m.leaves.back();
  for (std::size_t i = 0; i < memory.size() / itemsize(d); ++i) {
    const double x = std::normal_distribution<double>(0.0, 0.7)(random);
    put(d, &memory[i * itemsize(d)], !is_floating(d) ? std::floor(x * 50) : i % 11 == 5 ? -0.0 : i % 7 == 3 ? 2.0 : x);
  }
  return e;
}

GraphEdge moments(Maker& m, GraphEdge x, int axis) {
  m.g.reduces.push_back({axis, 1});
  Dims to = m.shape(x);
  to.erase(axis);
  return m.add(Op::Moments, m.dtype(x), to, {x}, static_cast<std::uint32_t>(m.g.reduces.size() - 1));
}

/// `op` of one matrix along both of its last axes.
Maker both(const Dims& shape, Op op, Dtype d = float32) {
  Maker m;
  const GraphEdge x = numbers(m, shape, d);
  for (const int from_last : {1, 2}) {
    const int axis = shape.size() - from_last;
    const GraphEdge r = op == Op::Moments ? moments(m, x, axis) : m.reduce(op, x, axis);
    m.g.roots.push_back(r);
    if (op == Op::Moments) m.g.roots.push_back({r.node, 1});
  }
  return m;
}

/// Several reductions each way of products, and what is done with them; a matrix, a row and a column are read again
/// there.
Maker several(const Dims& shape, Dtype d = float32) {
  Maker m;
  const int last = shape.size() - 1;
  Dims row = Dims::filled(shape.size(), 1), column = shape;
  row[last] = shape[last];
  column[last] = 1;
  const GraphEdge x = numbers(m, shape, d), w = numbers(m, row, d), v = numbers(m, column, d);
  const GraphEdge y = m.map(Op::Multiply, {m.map(Op::Add, {x, w}), v});
  Dims rows = shape, columns = shape;
  rows.erase(last);
  columns.erase(last - 1);
  const GraphEdge sums = m.reduce(Op::Sum, y, last), most = m.reduce(Op::Max, x, last),
                  totals = m.reduce(Op::Sum, y, last - 1);
  const GraphEdge place = m.reduce(Op::ArgMin, y, last - 1);
  m.g.roots = {m.map(Op::Subtract, {most, m.map(Op::Multiply, {sums, m.scalar(0.25, d)})}), totals, place};
  if (shape.size() == 2 && d == float32)
    m.g.roots.push_back(m.map(Op::Multiply, {m.reduce(Op::Min, x, 0), m.reshape(w, {shape[1]})}));
  return m;
}

/// Values of the roots after the kernels of a graph have run, each along one axis.
std::vector<Memory> apart(const Maker& m) {
  graph::Limits limits;
  limits.row_column = 0;
  const graph::Target& cpu = target("x86-64-v3");
  const graph::Fusion f = graph::fuse(m.g, cpu, limits);
  std::map<std::pair<NodeId, std::uint32_t>, Memory> values;
  std::vector<Memory> found(m.g.roots.size());
  for (std::uint32_t group = 0; group < f.groups.size(); ++group) {
    std::vector<GraphEdge> outputs;
    for (const GraphEdge& r : m.g.roots)
      if (f.group_of[r.node] == group) outputs.push_back(r);
    const Lowered l = codegen::lower(m.g, f, group, outputs, cpu);
    REQUIRE(l.ir.schedule() != Schedule::ReduceRowColumn);
    Buffers b(m, l);
    for (std::size_t i = 0; i < l.buffers.size(); ++i)
      if (const auto it = values.find({l.buffers[i].value.node, l.buffers[i].value.output});
          !l.buffers[i].is_leaf && it != values.end())
        std::copy(it->second.begin(), it->second.end(), b.memory[i].begin() + Buffers::kRoom);
    codegen::interpret(l.ir, l.args, b.at, b.scalars);
    for (std::size_t i = 0; i < l.buffers.size(); ++i)
      if (!l.buffers[i].is_leaf)
        values[{l.buffers[i].value.node, l.buffers[i].value.output}] =
            Memory(b.memory[i].begin() + Buffers::kRoom, b.memory[i].end() - Buffers::kRoom);
  }
  for (std::size_t r = 0; r < m.g.roots.size(); ++r) found[r] = values.at({m.g.roots[r].node, m.g.roots[r].output});
  return found;
}

void require_roots(const Maker& m, const Lowered& l, const Buffers& b, const std::vector<Memory>& expected) {
  for (std::size_t r = 0; r < m.g.roots.size(); ++r) {
    for (std::size_t i = 0; i < l.buffers.size(); ++i) {
      if (l.buffers[i].is_leaf || !(l.buffers[i].value == m.g.roots[r])) continue;
      const Memory found(b.memory[i].begin() + Buffers::kRoom, b.memory[i].end() - Buffers::kRoom);
      INFO("root " << r << " from element " << test::first_difference(l.ir.buffers[i], found, expected[r]).value_or(0));
      REQUIRE(test::same_elements(l.ir.buffers[i], found, expected[r]));
    }
  }
}

/// The interpreter on either target's kernel, C at every level on several threads, CUDA C on the host.
void check_everywhere(const std::vector<Maker>& graphs) {
  std::vector<Lowered> kernels;
  std::map<std::string, KernelSource> sources;  // by text
  std::vector<std::string> texts;
  for (const Maker& m : graphs) {
    kernels.push_back(lowered(m));
    INFO(to_string(m.g) << codegen::to_string(kernels.back().ir));
    REQUIRE(kernels.back().ir.schedule() == Schedule::ReduceRowColumn);
    KernelSource s = codegen::render_cuda(kernels.back().ir, target());
    CHECK(s.text.find('$') == std::string::npos);
    texts.push_back(s.text);
    sources.emplace(s.text, std::move(s));
  }
  std::vector<const KernelSource*> unit;
  for (const auto& [text, source] : sources) unit.push_back(&source);
  const EmulatedKernels emulated(unit);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const Maker& m = graphs[i];
    const Lowered& l = kernels[i];
    INFO(to_string(m.g) << codegen::to_string(l.ir));
    const std::vector<Memory> expected = apart(m);
    for (const char* name : {"sm_90", "x86-64-v3"}) {
      const Lowered here = lowered(m, name);
      INFO("interpreted, for " << name);
      Buffers b(m, here);
      codegen::interpret(here.ir, here.args, b.at, b.scalars);
      require_roots(m, here, b, expected);
    }
    Buffers b(m, l), before = b;
    const codegen::Geometry g = codegen::geometry_cuda(l.ir, target(), l.args);
    Memory scratch(g.scratch_bytes, 0xa5);
    std::vector<std::uint32_t> tickets(g.ticket_count);
    const KernelSource& source = sources.at(texts[i]);
    emulated.run(source, g.grid(),
                 codegen::pack_parameters(l.ir, source, l.args, g, {b.at, b.scalars, scratch.data(), tickets.data()}));
    INFO("on the GPU, " << g.outer_tiles << " x " << g.chunks << " thread blocks");
    require_roots(m, l, b, expected);
    CHECK(tickets == std::vector<std::uint32_t>(g.ticket_count));
    for (std::size_t buffer = 0; buffer < b.memory.size(); ++buffer) {
      CHECK(std::equal(b.memory[buffer].begin(), b.memory[buffer].begin() + Buffers::kRoom,
                       before.memory[buffer].begin()));
      CHECK(std::equal(b.memory[buffer].end() - Buffers::kRoom, b.memory[buffer].end(),
                       before.memory[buffer].end() - Buffers::kRoom));
    }
  }
  check_c_bits(graphs, Schedule::ReduceRowColumn);
}

}  // namespace

TEST_CASE("row and column kernels: tiles of every length", "[row_column]") {
  std::vector<Maker> graphs;
  for (const Dims& shape :
       {Dims{128, 128}, Dims{129, 131}, Dims{128, 1031}, Dims{300, 160}, Dims{131, 257}, Dims{520, 128}})
    graphs.push_back(both(shape, Op::Sum));
  graphs.push_back(both({129, 2113}, Op::Sum));
  graphs.push_back(both({1300, 130}, Op::Sum));
  check_everywhere(graphs);
}

TEST_CASE("row and column kernels: every reduction in every dtype", "[row_column][sweep]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {float32, float64, int64}) {
    for (const Op op : {Op::Sum, Op::Prod, Op::Min, Op::Max, Op::ArgMin, Op::ArgMax})
      graphs.push_back(both({150, 268}, op, d));
    if (is_floating(d)) graphs.push_back(both({150, 268}, Op::Moments, d));
  }
  for (const Op op : {Op::Min, Op::ArgMax}) graphs.push_back(both({128, 259}, op, int32));
  check_everywhere(part_of_sweep(std::move(graphs), 6));
}

TEST_CASE("row and column kernels: rounds of dear points share one copy of the code", "[row_column]") {
  const auto divided = [](const Dims& shape, Op op) {
    Maker m;
    const GraphEdge x = numbers(m, shape, float64);
    const GraphEdge y = m.map(Op::Divide, {x, m.map(Op::Add, {m.map(Op::Square, {x}), m.scalar(1.0, float64)})});
    m.g.roots = {m.reduce(op, y, 0), m.reduce(op, y, 1)};
    return m;
  };
  const auto copies = [](const Maker& m) {
    const std::string text = codegen::render_cuda(lowered(m).ir, target()).text;
    return text.find("_tile<true>") == std::string::npos ? 1 : 2;
  };
  CHECK(copies(divided({150, 140}, Op::Sum)) == 1);
  CHECK(copies(both({150, 140}, Op::Sum, float64)) == 2);
  check_everywhere({divided({128, 128}, Op::Sum), divided({150, 140}, Op::Sum), divided({129, 259}, Op::ArgMax),
                    divided({260, 131}, Op::Min)});
}

TEST_CASE("row and column kernels: several reductions each way, of points and before results", "[row_column]") {
  check_everywhere({several({140, 144}), several({140, 131}), several({3, 130, 136}), several({260, 132}, float64)});
}

TEST_CASE("row and column kernels: a matrix whose columns lie side by side is turned, batches are outer dimensions",
          "[row_column]") {
  Maker turned;
  const GraphEdge x = turned.transposed_leaf(140, 150, 3);
  turned.g.roots = {turned.reduce(Op::Sum, x, 0), turned.reduce(Op::Max, x, 1)};
  Maker between;  // the axis between the two is the batch
  const GraphEdge y = numbers(between, {130, 3, 132});
  between.g.roots = {between.reduce(Op::Sum, y, 0), between.reduce(Op::Sum, y, 2)};
  check_everywhere({turned, between, both({2, 129, 140}, Op::Sum), both({2, 3, 128, 132}, Op::ArgMin)});
}

TEST_CASE("row and column kernels: points that are stored, and those that an update covers in part", "[row_column]") {
  Maker covered;
  const GraphEdge x = numbers(covered, {150, 140}), y = numbers(covered, {40, 70});
  const GraphEdge z = covered.update(x, y, {30, 20});
  covered.g.roots = {covered.reduce(Op::Sum, z, 0), covered.reduce(Op::Sum, z, 1)};
  std::vector<Maker> graphs{covered};
  for (const std::int64_t columns : {132, 131}) {
    Maker stored;
    const GraphEdge a = numbers(stored, {130, columns}), b = stored.map(Op::Multiply, {a, a});
    stored.g.roots = {b, stored.reduce(Op::Sum, b, 0), stored.reduce(Op::Max, b, 1)};
    graphs.push_back(stored);
  }
  check_everywhere(graphs);
}

TEST_CASE("row and column kernels: a row that one would store for the other is computed by both", "[row_column]") {
  const auto shifted = [](std::int64_t n) {
    Maker m;
    const GraphEdge x = numbers(m, {n, n}), zero = m.scalar(0, float32);
    IndexMap first = graph::identity_map(2);
    first[0] = {-1, 0, 0};
    const GraphEdge row = m.view(x, first, {1, n});
    const GraphEdge shift =
        m.map(Op::Where, {m.map(Op::Equal, {m.map(Op::Subtract, {row, row}), zero}, bool_), row, zero});
    const GraphEdge squares{moments(m, m.map(Op::Subtract, {x, shift}), 0).node, 1};
    m.g.roots = {m.reduce(Op::Sum, x, 1), m.map(Op::Divide, {squares, m.scalar(150, float32)})};
    return m;
  };
  check_everywhere({shifted(150)});
  CHECK(lowered(shifted(1000)).ir.schedule() == Schedule::ReduceRowColumn);
}

TEST_CASE("row and column kernels: for every architecture they compile without spills", "[row_column][sweep]") {
  TARRY_REQUIRE_NVRTC();
  std::vector<Maker> graphs = {both({256, 256}, Op::Sum),       both({256, 256}, Op::Moments),
                               both({256, 256}, Op::ArgMax),    both({256, 256}, Op::Sum, float64),
                               both({2, 3, 128, 131}, Op::Max), several({140, 144}),
                               several({3, 130, 131})};
  for (const char* arch : part_of_sweep(std::vector{"sm_75", "sm_90"}, 2)) {
    for (const runtime::KernelResources& r : compiled(graphs, arch)) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers, " << r.shared_bytes << " bytes shared, "
                << r.stack_bytes << " stack");
      CHECK(r.stack_bytes <= 32);  // what the slow path of a division saves
      CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
      CHECK(r.shared_bytes <= 48 * 1024);
    }
  }
}
