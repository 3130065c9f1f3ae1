// lower(): updates, scatters and reshapes become guarded loads, boxes that are stored, and strides.
#include <cstdlib>

#include "tests/kernels/lowered.h"

using namespace tarry;
using namespace tarry::test;

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
    f.recomputed_sets.push_back({u.node});
    f.recomputed_set_of[y.node * graph::Node::kMaxInputs] = 0;
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
    f.recomputed_sets.push_back({u.node});
    f.recomputed_set_of[y.node * graph::Node::kMaxInputs] = 0;
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
      f.recomputed_sets.push_back({u.node});
      f.recomputed_set_of[y.node * graph::Node::kMaxInputs] = 0;
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
    f.recomputed_sets.push_back({inner.node, inner.node + 1});
    f.recomputed_set_of[u.node * graph::Node::kMaxInputs + 1] = 0;
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
    f.recomputed_sets.push_back({u.node - 1});
    f.recomputed_set_of[u.node * graph::Node::kMaxInputs + 1] = 0;
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
  f.recomputed_sets.push_back({add.node});
  f.recomputed_set_of[u.node * graph::Node::kMaxInputs + 1] = 0;
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
  check_plan(m, f, named_target());
  const Lowered l = codegen::lower(m.g, f, 1, {u}, named_target());
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
    check_plan(m, f, named_target());
    CHECK(codegen::lower(m.g, f, 1, {y}, named_target()).args.accesses[0].strides == Dims{1, 8});
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
    check_plan(m, f, named_target());
  }
}
