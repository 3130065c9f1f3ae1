// lower(): groups become kernels. Graphs are made by hand, kernels run in the interpreter, and values are compared with
// loops over nodes.
#include "codegen/lower.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "codegen/interpreter.h"
#include "graph/passes.h"
#include "tests/graph_maker.h"

using namespace tarry;
using codegen::InstrKind;
using codegen::kNone;
using codegen::Lowered;
using codegen::Region;
using codegen::Schedule;
using codegen::StrideClass;
using graph::AxisMap;
using graph::Dims;
using graph::Fusion;
using graph::Graph;
using graph::GraphEdge;
using graph::GraphNode;
using graph::IndexMap;
using graph::kNoId;
using graph::NodeId;
using graph::Op;
using graph::OpClass;
using test::each;
using test::Maker;
using test::Memory;
using test::values_in;
using test::values_of;

namespace {

// --- Kernels -------------------------------------------------------------------------------------------------------

const graph::Target& target(const char* name = "x86-64-v3") { return *graph::find_target(name); }

/// One group of all Map, Update and Reduce nodes.
Fusion one_group(const Graph& g, const Dims& space, int axis = -1) {
  Fusion f;
  f.group_of.assign(g.nodes.size(), kNoId);
  f.cone_of.assign(g.nodes.size() * graph::Node::kMaxInputs, kNoId);
  graph::Group group;
  group.space = space;
  group.axis = axis;
  group.reduces = axis >= 0;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const OpClass c = graph::info(g.nodes[id].op).op_class;
    if (c != OpClass::Map && c != OpClass::Update && c != OpClass::Reduce) continue;
    group.nodes.push_back(id);
    f.group_of[id] = 0;
  }
  f.groups.push_back(std::move(group));
  return f;
}

struct EdgeLess {
  bool operator()(const GraphEdge& a, const GraphEdge& b) const {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};

/// Runs kernels in the interpreter; memory is exactly as large as the values, so that a wrong access is caught by
/// address sanitizers, and filled with a pattern that no test computes.
class Runner {
 public:
  Runner(const Maker& m) : m_(m), g_(m.g) {}

  void run(const Lowered& l) {
    if (l.scatter) memory_[l.scatter->update] = copy(l.scatter->base);
    std::vector<void*> buffers;
    for (const codegen::BufferRef& b : l.buffers) {
      if (b.is_leaf) {
        buffers.push_back(const_cast<unsigned char*>(m_.leaves[b.leaf].data()));
        continue;
      }
      const auto [it, fresh] = memory_.try_emplace(b.value);
      if (fresh) it->second.assign(static_cast<std::size_t>(g_.bytes(b.value.node)), 0x5b);
      buffers.push_back(it->second.data());
    }
    std::vector<std::uint64_t> scalars;
    for (const codegen::ScalarRef& s : l.scalars) {
      std::uint64_t word = s.constant;
      if (s.source != kNoId) std::memcpy(&word, g_.scalars[s.source].constant.bytes, 8);
      scalars.push_back(word);
    }
    codegen::interpret(l.ir, l.args, buffers, scalars, &traffic);
  }

  [[nodiscard]] std::vector<double> value(GraphEdge e) const {
    return values_in(g_.nodes[e.node].dtype, memory_.at(e));
  }

  codegen::Traffic traffic;

 private:
  [[nodiscard]] Memory copy(GraphEdge base) const {
    const GraphNode& n = g_.nodes[base.node];
    if (n.op != Op::Input) return memory_.at(base);
    REQUIRE(g_.leaves[n.payload].contiguous);
    return m_.leaves[n.payload];
  }

  const Maker& m_;
  const Graph& g_;
  std::map<GraphEdge, Memory, EdgeLess> memory_;
};

/// The one kernel of a hand-made group, run and compared.
Lowered check_kernel(const Maker& m, const Fusion& f, const std::vector<GraphEdge>& outputs,
                     const char* target_name = "x86-64-v3") {
  graph::verify(m.g);
  const Lowered l = codegen::lower(m.g, f, 0, outputs, target(target_name));
  INFO(to_string(m.g) + to_string(l.ir));
  const auto expected = values_of(m);
  Runner runner(m);
  runner.run(l);
  for (const GraphEdge& e : outputs) CHECK(runner.value(e) == expected[e.node]);
  CHECK(runner.traffic.bytes_written == l.bytes_written);
  return l;
}

/// Every kernel of a schedule, last group first to know what is stored, then run in order and compared.
std::vector<Lowered> check_plan(const Maker& m, const Fusion& f, const graph::Target& t) {
  const Graph& g = m.g;
  std::vector<std::vector<GraphEdge>> wanted(f.groups.size());
  for (const GraphEdge& r : g.roots) wanted[f.group_of[r.node]].push_back(r);
  std::vector<Lowered> kernels;
  std::string text = to_string(g);
  for (auto group = static_cast<std::uint32_t>(f.groups.size()); group-- > 0;) {
    auto& out = wanted[group];
    std::sort(out.begin(), out.end(), EdgeLess{});
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.empty()) continue;
    INFO(text << "group " << group);
    kernels.push_back(codegen::lower(g, f, group, out, t));
    text += to_string(kernels.back().ir);
    for (const GraphEdge& e : kernels.back().loads) {
      REQUIRE(f.group_of[e.node] < group);
      wanted[f.group_of[e.node]].push_back(e);
    }
  }
  INFO(text);
  const auto expected = values_of(m);
  Runner runner(m);
  std::int64_t written = 0;
  for (auto k = kernels.rbegin(); k != kernels.rend(); ++k) {
    runner.run(*k);
    written += k->bytes_written;
  }
  for (const auto& outputs : wanted)
    for (const GraphEdge& e : outputs) REQUIRE(runner.value(e) == expected[e.node]);
  CHECK(runner.traffic.bytes_written == written);
  return kernels;
}

int count(const codegen::KernelIr& ir, InstrKind kind) {
  return static_cast<int>(
      std::count_if(ir.instrs.begin(), ir.instrs.end(), [&](const auto& in) { return in.kind == kind; }));
}

int loads_of_memory(const codegen::KernelIr& ir) {
  return static_cast<int>(std::count_if(ir.instrs.begin(), ir.instrs.end(), [&](const codegen::Instr& in) {
    return in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone;
  }));
}

}  // namespace

TEST_CASE("lower: an update is a map whose value is loaded inside its box only", "[codegen][lower]") {
  Maker m;
  const GraphEdge base = m.leaf({9}), value = m.leaf({4});
  const GraphEdge u = m.update(base, value, {3});
  const Lowered l = check_kernel(m, one_group(m.g, {9}), {u});
  CHECK(to_string(l.ir) == R"(kernel pointwise strict rank 1 vector 1 index 32
  buffer b0: f64
  buffer b1: f64
  buffer b2: f64
  scalar s0: i64
  access a0: load b0[1]
  access a1: load iota[1]
  access a2: load b1[1]
  access a3: store b2[1]
  guard g0: a1 < s0
  point %0: f64 = load a0
  point %1: f64 = load a2 if g0
  point %2: bool = inside g0
  point %3: f64 = where %2, %1, %0
  point store a3, %3
)");
  CHECK(l.args.accesses[1].offset == -3);
  CHECK(l.args.accesses[2].offset == -3);
  CHECK(l.scalars[0].constant == 4);
  CHECK(l.bytes_read == (9 + 4) * 8);
  CHECK(l.bytes_written == 9 * 8);
}

TEST_CASE("lower: where a box lies is not in the text", "[codegen][lower]") {
  const auto text = [](const Dims& start, const Dims& extents) {
    Maker m;
    const GraphEdge u = m.update(m.leaf({20, 30}), m.leaf(extents), start);
    return to_string(check_kernel(m, one_group(m.g, {20, 30}), {u}).ir);
  };
  CHECK(text({1, 2}, {3, 4}) == text({16, 7}, {4, 22}));
  CHECK(text({1, 0}, {3, 30}) != text({1, 2}, {3, 4}));  // a whole axis needs no term
}

TEST_CASE("lower: an axis that the box covers has no term, a covered space no guard", "[codegen][lower]") {
  Maker m;
  const GraphEdge base = m.leaf({5, 6});
  SECTION("rows") {
    const Lowered l = check_kernel(m, one_group(m.g, {5, 6}), {m.update(base, m.leaf({2, 6}), {1, 0})});
    REQUIRE(l.ir.guards.size() == 1);
    CHECK(l.ir.guards[0].terms.size() == 1);
    CHECK(l.bytes_read == (30 + 12) * 8);
  }
  SECTION("everything") {
    const Lowered l = check_kernel(m, one_group(m.g, {5, 6}), {m.update(base, m.leaf({5, 6}), {0, 0})});
    CHECK(l.ir.guards.empty());
    CHECK(l.buffers.size() == 2);  // the base is not read
  }
  SECTION("nothing") {
    const Lowered l = check_kernel(m, one_group(m.g, {5, 6}), {m.update(base, m.leaf({0, 6}), {0, 0})});
    CHECK(l.ir.guards.empty());
    CHECK(l.buffers.size() == 2);
  }
}

TEST_CASE("lower: a single element is decided", "[codegen][lower]") {
  for (const std::int64_t at : {0, 1, 2, 3}) {
    Maker m;
    const GraphEdge base = m.leaf({4}), value = m.leaf({2}), u = m.update(base, value, {1});
    IndexMap map;
    map.push_back({-1, at, 0});
    const GraphEdge y = m.map(Op::Negative, {m.view(u, map, {})});
    Fusion f = one_group(m.g, {});
    f.cones.push_back({u.node});
    f.cone_of[y.node * graph::Node::kMaxInputs] = 0;
    CHECK(check_kernel(m, f, {y}).ir.guards.empty());
  }
}

TEST_CASE("lower: a coordinate that does not move is decided", "[codegen][lower]") {
  for (const std::int64_t row : {0, 1, 2, 3, 4}) {
    Maker m;
    const GraphEdge base = m.leaf({5, 6}), value = m.leaf({2, 6}), u = m.update(base, value, {1, 0});
    const GraphEdge y = m.map(Op::Negative, {m.view(u,
                                                    [&] {
                                                      IndexMap map;
                                                      map.push_back({-1, row, 0});
                                                      map.push_back({0, 5, -1});
                                                      return map;
                                                    }(),
                                                    {6})});
    Fusion f = one_group(m.g, {6});
    f.cones.push_back({u.node});
    f.cone_of[y.node * graph::Node::kMaxInputs] = 0;
    const Lowered l = check_kernel(m, f, {y});
    CHECK(l.ir.guards.empty());
    REQUIRE(loads_of_memory(l.ir) == 1);
    CHECK(l.buffers[0].leaf == (row == 1 || row == 2 ? 1u : 0u));
  }
}

TEST_CASE("lower: a box seen through steps and flips is the box of the coordinates that meet it", "[codegen][lower]") {
  for (const std::int64_t step : {1, 2, 3, 5, -1, -2, -3, -4}) {
    for (const std::int64_t at : {0, 1, 2, 5, 8}) {
      Maker m;
      const GraphEdge u = m.update(m.leaf({12}), m.leaf({4}), {at});
      const std::int64_t n = (12 + std::abs(step) - 1) / std::abs(step);
      IndexMap map;
      map.push_back({0, step > 0 ? 0 : 11, step});
      const GraphEdge y = m.map(Op::Negative, {m.view(u, map, {n})});
      Fusion f = one_group(m.g, {n});
      f.cones.push_back({u.node});
      f.cone_of[y.node * graph::Node::kMaxInputs] = 0;
      INFO("step " << step << " at " << at);
      check_kernel(m, f, {y});
    }
  }
}

TEST_CASE("lower: updates of updates", "[codegen][lower]") {
  Maker m;
  const GraphEdge base = m.leaf({8, 9}), a = m.leaf({4, 5}), b = m.leaf({2, 2});
  SECTION("in the value: both boxes hold") {
    const GraphEdge inner = m.update(a, b, {1, 1});
    const GraphEdge u = m.update(base, m.map(Op::Negative, {inner}), {2, 3});
    Fusion f = one_group(m.g, {8, 9});
    f.cones.push_back({inner.node, inner.node + 1});
    f.cone_of[u.node * graph::Node::kMaxInputs + 1] = 0;
    const Lowered l = check_kernel(m, f, {u});
    CHECK(l.ir.guards.size() == 2);
    CHECK(l.bytes_read == (72 + 20 + 4) * 8);
    CHECK(l.bytes_written == 72 * 8);
  }
  SECTION("in the base: a stencil's border") {
    GraphEdge u = base;
    for (const Dims& start : {Dims{0, 0}, Dims{4, 0}, Dims{0, 4}, Dims{4, 4}}) u = m.update(u, m.leaf({4, 5}), start);
    const Lowered l = check_kernel(m, one_group(m.g, {8, 9}), {u});
    CHECK(l.ir.guards.size() == 4);
    CHECK(count(l.ir, InstrKind::Inside) == 4);
  }
  SECTION("the same box again: the first value is not read") {
    const GraphEdge u = m.update(m.update(base, a, {2, 3}), m.update(m.leaf({4, 5}), a, {0, 0}), {2, 3});
    Fusion f = one_group(m.g, {8, 9});
    f.cones.push_back({u.node - 1});
    f.cone_of[u.node * graph::Node::kMaxInputs + 1] = 0;
    const Lowered l = check_kernel(m, f, {u});
    CHECK(l.ir.guards.size() == 1);
  }
}

TEST_CASE("lower: what is there everywhere is not loaded again under a guard", "[codegen][lower]") {
  Maker m;
  const GraphEdge x = m.leaf({10});
  IndexMap box;
  box.push_back({0, 3, 1});
  const GraphEdge add = m.map(Op::Add, {m.view(x, box, {4}), m.leaf({4})});
  const GraphEdge u = m.update(x, add, {3});
  Fusion f = one_group(m.g, {10});
  f.cones.push_back({add.node});
  f.cone_of[u.node * graph::Node::kMaxInputs + 1] = 0;
  const Lowered l = check_kernel(m, f, {u});
  CHECK(loads_of_memory(l.ir) == 2);
  CHECK(l.bytes_read == (10 + 4) * 8);
}

TEST_CASE("lower: one number in a box needs no guarded load", "[codegen][lower]") {
  Maker m;
  const GraphEdge u = m.update(m.leaf({10}), m.broadcast(m.leaf({}), {4}), {3});
  const Lowered l = check_kernel(m, one_group(m.g, {10}), {u});
  for (const auto& in : l.ir.instrs) CHECK(in.guard == kNone);
  CHECK(l.bytes_read == (10 + 1) * 8);
}

TEST_CASE("lower: reductions of updates, along each axis", "[codegen][lower]") {
  for (const int axis : {0, 1}) {
    for (const std::int64_t n : {7, 70}) {
      Maker m;
      const GraphEdge u = m.update(m.leaf({n, n + 1}), m.leaf({3, 2}), {2, 4});
      const GraphEdge s = m.reduce(Op::Sum, u, axis), a = m.reduce(Op::ArgMax, u, axis);
      const Lowered l = check_kernel(m, one_group(m.g, {n, n + 1}, axis), {s, a, u});
      CHECK(l.ir.reductions.size() == 2);
      CHECK(l.bytes_read == (n * (n + 1) + 6) * 8);
    }
  }
}

TEST_CASE("lower: an update in the epilogue of a reduction", "[codegen][lower]") {
  Maker m;
  const GraphEdge s = m.reduce(Op::Sum, m.leaf({6, 50}), 1);
  const GraphEdge u = m.update(s, m.leaf({2}), {3});
  const Lowered l = check_kernel(m, one_group(m.g, {6, 50}, 1), {s, u});
  for (const auto& in : l.ir.instrs)
    if (in.kind == InstrKind::Inside) CHECK(in.region == Region::Outer);
}

TEST_CASE("lower: a scatter stores its box of the update's memory", "[codegen][lower]") {
  Maker m;
  const GraphEdge base = m.leaf({9, 10}), value = m.map(Op::Negative, {m.leaf({3, 4})});
  const GraphEdge u = m.update(base, value, {8, 0}, {-2, 3});
  Fusion f = one_group(m.g, {3, 4});
  f.groups[0].scatter = u.node;
  const Lowered l = check_kernel(m, f, {u});
  REQUIRE(l.scatter);
  CHECK(l.scatter->update == u);
  CHECK(l.scatter->base == base);
  CHECK(l.loads.empty());
  CHECK(l.buffers.size() == 2);
  const codegen::AccessArgs& store = l.args.accesses.back();
  CHECK(store.offset == 8 * 10);
  CHECK(store.strides == Dims{-20, 3});
  CHECK(l.bytes_read == 12 * 8);
  CHECK(l.bytes_written == 12 * 8);
}

TEST_CASE("lower: the base of a scatter is asked for where another kernel makes it", "[codegen][lower]") {
  Maker m;
  const GraphEdge base = m.map(Op::Negative, {m.leaf({9})});
  const GraphEdge u = m.update(base, m.leaf({3}), {1}, {2});
  Fusion f = one_group(m.g, {3});
  f.groups.insert(f.groups.begin(), graph::Group{.nodes = {base.node}, .space = {9}});
  f.groups[1].scatter = u.node;
  f.groups[1].nodes = {u.node};
  f.group_of[u.node] = 1;
  m.g.roots = {u};
  check_plan(m, f, target());
  const Lowered l = codegen::lower(m.g, f, 1, {u}, target());
  CHECK(l.loads == std::vector<GraphEdge>{base});
  CHECK(l.scatter->base == base);
}

TEST_CASE("lower: below a reshape memory is read with the strides of the new shape", "[codegen][lower]") {
  Maker m;
  const GraphEdge x = m.leaf({4, 6});
  SECTION("a leaf") {
    const GraphEdge y = m.map(Op::Add, {m.reshape(x, {3, 8}), m.leaf({3, 1})});
    const Lowered l = check_kernel(m, one_group(m.g, {3, 8}), {y});
    CHECK(l.bytes_read == (24 + 3) * 8);
  }
  SECTION("a value of another kernel, transposed after it") {
    const GraphEdge v = m.map(Op::Negative, {x});
    IndexMap transpose;
    transpose.push_back({1, 0, 1});
    transpose.push_back({0, 0, 1});
    const GraphEdge y = m.map(Op::Negative, {m.view(m.reshape(v, {3, 8}), transpose, {8, 3})});
    Fusion f = one_group(m.g, {4, 6});
    f.groups[0].nodes = {v.node};
    f.groups.push_back({.nodes = {y.node}, .space = {8, 3}});
    f.group_of[y.node] = 1;
    m.g.roots = {y};
    check_plan(m, f, target());
    CHECK(codegen::lower(m.g, f, 1, {y}, target()).args.accesses[0].strides == Dims{1, 8});
  }
  SECTION("a view that is copied for it") {
    IndexMap transpose;
    transpose.push_back({1, 0, 1});
    transpose.push_back({0, 0, 1});
    const GraphEdge v = m.view(x, transpose, {6, 4});
    const GraphEdge y = m.map(Op::Negative, {m.reshape(v, {24})});
    Fusion f = one_group(m.g, {6, 4});
    f.groups[0].nodes = {v.node};
    f.group_of[v.node] = 0;
    f.groups.push_back({.nodes = {y.node}, .space = {24}});
    f.group_of[y.node] = 1;
    m.g.roots = {y};
    check_plan(m, f, target());
  }
}

namespace {

/// softmax without its exponentials: p = (max - x) / s with whole numbers, s = sum(max - x).
struct Row {
  Maker m;
  GraphEdge largest, difference, sum, scaled;
  Row(const Dims& shape, int axis) {
    const GraphEdge x = m.leaf(shape);
    largest = m.reduce(Op::Max, x, axis);
    difference = m.map(Op::Subtract, {m.keep(largest, axis), x});
    sum = m.reduce(Op::Sum, difference, axis);
    scaled = m.map(Op::Multiply, {difference, m.keep(sum, axis)});
  }
};

}  // namespace

TEST_CASE("lower: a row group reads a row once, in stages", "[codegen][lower]") {
  Row r({5, 100}, 1);
  const Lowered l = check_kernel(r.m, one_group(r.m.g, {5, 100}, 1), {r.scaled});
  CHECK(to_string(l.ir) == R"(kernel row_inner strict rank 1 vector 1 index 32
  buffer b0: f64
  buffer b1: f64
  access a0: load b0[*|1]
  access a1: store b1[*|1]
  point %0: f64 = load a0
  outer %1: f64 = result r0.0
  point.1 %2: f64 = subtract %1, %0
  outer.1 %3: f64 = result r1.0
  point.2 %4: f64 = multiply %2, %3
  point.2 store a1, %4
  reduce r0: f64 = max %0
  reduce r1: f64 = sum %2 stage 1
)");
  CHECK(l.bytes_read == 500 * 8);
  CHECK(l.bytes_written == 500 * 8);
}

TEST_CASE("lower: rows of up to 32 are serial, one longer is not; along any axis", "[codegen][lower]") {
  for (const int axis : {0, 1, 2}) {
    for (const std::int64_t n : {1, 2, 31, 32, 33, 129}) {
      Dims shape{3, 4, 5};
      shape[axis] = n;
      Row r(shape, axis);
      const Dims space = n == 1 ? [&] { Dims d = graph::squeeze(shape); d.insert(axis, 1); return d; }() : shape;
      INFO("axis " << axis << " n " << n);
      const Lowered l = check_kernel(r.m, one_group(r.m.g, space, axis), {r.scaled, r.sum, r.largest, r.difference});
      CHECK(l.ir.schedule == (n <= 32 ? Schedule::RowSerial : Schedule::RowInner));
      CHECK(l.ir.stages() == (n == 1 ? 2 : 3));
    }
  }
}

TEST_CASE("lower: a store waits for nothing but its value", "[codegen][lower]") {
  Row r({5, 100}, 1);
  const GraphEdge beside = r.m.map(Op::Negative, {r.m.leaf({5})});
  const GraphEdge after = r.m.map(Op::Add, {r.largest, beside});
  const Lowered l = check_kernel(r.m, one_group(r.m.g, {5, 100}, 1), {r.difference, r.largest, r.scaled, after});
  std::map<std::uint32_t, int> stage_of_store;
  for (const auto& in : l.ir.instrs)
    if (in.kind == InstrKind::Store) stage_of_store[l.buffers[l.ir.accesses[in.index].buffer].value.node] = in.stage;
  CHECK(stage_of_store[r.largest.node] == 0);
  CHECK(stage_of_store[after.node] == 0);
  CHECK(stage_of_store[r.difference.node] == 1);
  CHECK(stage_of_store[r.scaled.node] == 2);
}

TEST_CASE("lower: what only a late stage uses is loaded there", "[codegen][lower]") {
  Row r({5, 100}, 1);
  const GraphEdge weights = r.m.leaf({100}), rows = r.m.leaf({5, 1});
  const GraphEdge y = r.m.map(Op::Add, {r.m.map(Op::Multiply, {r.scaled, weights}), rows});
  const Lowered l = check_kernel(r.m, one_group(r.m.g, {5, 100}, 1), {y});
  for (const auto& in : l.ir.instrs) {
    if (in.kind != InstrKind::Load) continue;
    const std::uint32_t leaf = l.buffers[l.ir.accesses[in.index].buffer].leaf;
    CHECK(in.stage == (leaf == 1 ? 2 : 0));
    CHECK(in.region == (leaf == 2 ? Region::Row : Region::Point));
  }
  CHECK(l.bytes_read == (500 + 100 + 5) * 8);
}

TEST_CASE("lower: a stage can begin with values of the row alone", "[codegen][lower]") {
  Maker m;
  const GraphEdge x = m.leaf({4, 60}), largest = m.reduce(Op::Max, x, 1);
  SECTION("a row's result at every point of it") {
    const GraphEdge wide = m.map(Op::Negative, {m.broadcast(m.keep(largest, 1), {4, 60})});
    const Lowered l = check_kernel(m, one_group(m.g, {4, 60}, 1), {wide});
    CHECK(l.ir.stages() == 2);
  }
  SECTION("a reduction of it") {
    const GraphEdge wide = m.map(Op::Negative, {m.broadcast(m.keep(largest, 1), {4, 60})});
    const GraphEdge sum = m.reduce(Op::Sum, wide, 1);
    const Lowered l = check_kernel(m, one_group(m.g, {4, 60}, 1), {sum});
    CHECK(l.ir.reductions[1].stage == 1);
    CHECK(l.ir.schedule == Schedule::RowInner);
  }
}

TEST_CASE("lower: a row kernel with an update in its rows", "[codegen][lower]") {
  Maker m;
  const GraphEdge x = m.leaf({4, 60}), largest = m.keep(m.reduce(Op::Max, x, 1), 1);
  IndexMap columns;
  columns.push_back({0, 0, 1});
  columns.push_back({1, 7, 1});
  const GraphEdge u = m.update(x, m.view(m.broadcast(largest, {4, 60}), columns, {4, 20}), {0, 7});
  const GraphEdge sum = m.reduce(Op::Sum, u, 1);
  const Lowered l = check_kernel(m, one_group(m.g, {4, 60}, 1), {sum, u});
  CHECK(l.ir.guards.size() == 1);
  CHECK(l.ir.stages() == 2);
}

TEST_CASE("lower: without a second stage it is a reduction as ever", "[codegen][lower]") {
  Row r({5, 100}, 1);
  const Lowered l = check_kernel(r.m, one_group(r.m.g, {5, 100}, 1), {r.largest});
  CHECK(l.ir.schedule == Schedule::ReduceInner);
  CHECK(l.ir.reductions.size() == 1);
}

TEST_CASE("lower: every reduction of numbers", "[codegen][lower]") {
  for (const Dtype d : {int64, float64, float32}) {
    for (const Op op : {Op::Sum, Op::Prod, Op::Min, Op::Max, Op::ArgMin, Op::ArgMax}) {
      for (const std::int64_t n : {1, 5, 33, 300}) {
        if (op == Op::Prod && n > 5) continue;  // the pattern has zeros
        Maker m;
        const GraphEdge y = m.reduce(op, m.leaf({3, n}, d), 1);
        const Lowered l = check_kernel(m, one_group(m.g, {3, n}, 1), {y});
        CHECK(l.ir.reductions[0].dtype == d);
        CHECK(l.ir.instrs[2 - 1].dtype == (graph::is_arg_reduce(op) ? int64 : d));
      }
    }
  }
}

TEST_CASE("lower: vectors are 16 bytes of the widest array, fewer where registers or alignment ask for it",
          "[codegen][lower]") {
  const auto vector_of = [](std::vector<Dtype> from, Dtype to, const Dims& shape) {
    Maker m;
    std::vector<GraphEdge> x;
    for (Dtype d : from) x.push_back(d == to ? m.leaf(shape, d) : m.map(Op::Cast, {m.leaf(shape, d)}, to));
    const GraphEdge y = x.size() == 1 ? m.map(Op::Negative, {x[0]}) : m.map(Op::Add, {x[0], x[1]});
    const Lowered l = codegen::lower(m.g, one_group(m.g, graph::squeeze(shape)), 0, {y}, target("sm_90"));
    for (const auto& a : l.ir.accesses) CHECK(a.aligned == (l.ir.vector > 1));
    return l.ir.vector;
  };
  CHECK(vector_of({uint8, uint8}, uint8, {1000}) == 16);
  CHECK(vector_of({float16, float16}, float16, {1000}) == 8);
  CHECK(vector_of({float32}, float32, {1000}) == 4);
  CHECK(vector_of({float64}, float64, {1000}) == 2);
  CHECK(vector_of({uint8, float32}, float32, {1000}) == 4);
  CHECK(vector_of({uint8, float64}, float64, {1000}) == 2);
  {
    Maker m;  // wide values between narrow arrays
    const GraphEdge wide = m.map(Op::Negative, {m.map(Op::Cast, {m.leaf({1000}, uint8)}, float32)});
    const GraphEdge y = m.map(Op::Cast, {wide}, uint8);
    CHECK(codegen::lower(m.g, one_group(m.g, {1000}), 0, {y}, target("sm_90")).ir.vector == 8);
    CHECK(codegen::lower(m.g, one_group(m.g, {1000}), 0, {y}, target()).ir.vector == 1);
  }
  const auto rows = [](std::int64_t width) {
    Maker m;
    const GraphEdge y = m.map(Op::Add, {m.leaf({7, width}, uint8), m.leaf({width}, uint8)});
    return codegen::lower(m.g, one_group(m.g, {7, width}), 0, {y}, target("sm_90")).ir.vector;
  };
  CHECK(rows(32) == 16);
  CHECK(rows(36) == 4);
  CHECK(rows(33) == 1);
}

TEST_CASE("lower: a guarded load keeps the vectors of the others", "[codegen][lower]") {
  Maker m;
  const GraphEdge u = m.update(m.leaf({64}, float32), m.leaf({5}, float32), {3});
  const Lowered l = check_kernel(m, one_group(m.g, {64}), {u}, "sm_90");
  CHECK(l.ir.vector == 4);
  for (const auto& in : l.ir.instrs)
    if (in.guard != kNone) CHECK_FALSE(l.ir.accesses[in.index].aligned);
}

TEST_CASE("lower: rows on a GPU say their class and load vectors", "[codegen][lower]") {
  Row r({8, 1000}, 1);
  const Lowered l = check_kernel(r.m, one_group(r.m.g, {8, 1000}, 1), {r.scaled}, "sm_90");
  CHECK(l.ir.rows_class == 8);
  CHECK(l.ir.vector == 4);
  CHECK(l.ir.accesses[0].aligned);
}

namespace {

/// A random graph of whole numbers: maps, views, updates, reshapes, reductions and rows.
class Drawing {
 public:
  explicit Drawing(unsigned seed) : random_(seed) {
    for (int d = 0, rank = pick(1, 3); d < rank; ++d) shape_.push_back(pick(0, 9) == 0 ? 1 : pick(2, 40));
    for (int i = 0; i < 3; ++i) pool_.push_back(m.leaf(shape_));
    if (shape_.size() == 2) pool_.push_back(m.transposed_leaf(shape_[0], shape_[1], pick(0, 3)));
    for (int i = 0, n = pick(3, 14); i < n; ++i) pool_.push_back(draw());
    m.g.roots.push_back(pool_.back());
    for (int i = pick(0, 2); i > 0; --i) m.g.roots.push_back(any());
    graph::verify(m.g);
  }

  Maker m;

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  GraphEdge any() { return pool_[static_cast<std::size_t>(pick(0, static_cast<int>(pool_.size()) - 1))]; }

  /// Every value of the pool has the shape `shape_`, so that all of them meet.
  GraphEdge draw() {
    switch (pick(0, 9)) {
      case 0:
      case 1:
        return update(true);
      case 2:
        return update(false);
      case 3:
        return reversed(any());
      case 4:
        return reshaped();
      case 5:
      case 6:
        return row();
      case 7:
        return m.map(Op::Where, {m.map(Op::Less, {any(), any()}, bool_), any(), any()}, float64);
      default:
        return m.map(pick(0, 1) ? Op::Maximum : Op::Subtract, {any(), any()});
    }
  }

  GraphEdge update(bool dense) {
    Dims start, step, extents;
    IndexMap box;
    for (int d = 0; d < shape_.size(); ++d) {
      const std::int64_t n = shape_[d], s = dense || n == 1 ? 1 : pick(1, 3) * (pick(0, 1) ? 1 : -1);
      const std::int64_t from = pick(0, static_cast<int>(n) - 1);
      const std::int64_t most = s > 0 ? (n - 1 - from) / s + 1 : from / -s + 1;
      extents.push_back(pick(0, 3) == 0 ? most : pick(1, static_cast<int>(most)));
      start.push_back(from);
      step.push_back(s);
      box.push_back({d, pick(0, static_cast<int>(n - extents[d])), 1});
    }
    GraphEdge base = any(), whole = pick(0, 2) ? m.map(Op::Negative, {any()}) : any();
    // Memory that a scatter may go on with is a contiguous leaf's or a kernel's.
    const Op op = m.g.nodes[base.node].op;
    if (!dense && (op == Op::View || op == Op::Input)) base = m.map(Op::Negative, {base});
    return m.update(base, m.view(whole, box, extents), start, step);
  }

  GraphEdge reversed(GraphEdge x) {
    IndexMap map;
    for (int d = 0; d < shape_.size(); ++d)
      map.push_back(shape_[d] > 1 && pick(0, 1) ? AxisMap{d, shape_[d] - 1, -1} : AxisMap{d, 0, 1});
    return m.view(x, map, shape_);
  }

  /// Through one dimension and back, with something in between. A reshape stands on what fusion may find below one.
  GraphEdge reshaped() {
    const GraphEdge flat = m.reshape(m.map(Op::Negative, {any()}), {graph::element_count(shape_.span())});
    IndexMap back;
    back.push_back({0, m.shape(flat)[0] - 1, -1});
    const GraphEdge turned = m.map(Op::Negative, {m.view(flat, back, m.shape(flat))});
    return m.reshape(turned, shape_);
  }

  GraphEdge row() {
    const int axis = pick(0, shape_.size() - 1);
    static constexpr Op kOps[] = {Op::Sum, Op::Max, Op::Min, Op::ArgMax, Op::ArgMin};
    const Op op = kOps[pick(0, 4)];
    GraphEdge r = m.reduce(op, any(), axis);
    if (graph::is_arg_reduce(op)) r = m.map(Op::Cast, {r}, float64);
    return m.map(Op::Subtract, {m.keep(r, axis), any()});
  }

  std::mt19937 random_;
  Dims shape_;
  std::vector<GraphEdge> pool_;
};

}  // namespace

TEST_CASE("lower: random graphs give what loops over their nodes give, fused or not", "[codegen][lower]") {
  int kernels = 0, rows = 0, guards = 0, scatters = 0, reductions = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Maker m = Drawing(seed).m;
    m.g = graph::dce(m.g);
    INFO("seed " << seed);
    for (const char* name : {"sm_90", "x86-64-v3"}) {
      for (const bool enabled : {true, false}) {
        for (const Lowered& l : check_plan(m, graph::fuse(m.g, target(name), enabled), target(name))) {
          ++kernels;
          rows += l.ir.is_row();
          guards += !l.ir.guards.empty();
          scatters += l.scatter.has_value();
          reductions += !l.ir.reductions.empty();
        }
      }
    }
  }
  INFO(kernels << " kernels");
  CHECK(rows > 100);  // the drawing reaches everything
  CHECK(guards > 400);
  CHECK(scatters > 200);
  CHECK(reductions > rows + 200);
}
