// Recurrences: levels of an axis, recorded one by one, in one kernel that goes over them.
#include "codegen/ir/verify.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// Rows or columns of an array, by the axis of its levels.
struct Grid {
  std::int64_t lanes, levels;
  int axis;
  [[nodiscard]] Dims shape() const { return axis == 0 ? Dims{levels, lanes} : Dims{lanes, levels}; }
  [[nodiscard]] Dims at(std::int64_t level) const { return axis == 0 ? Dims{level, 0} : Dims{0, level}; }
  [[nodiscard]] Dims one() const { return axis == 0 ? Dims{1, lanes} : Dims{lanes, 1}; }
};

/// x[k] = min(x[k - 1], a[k]) - b[k - 1], into zeros or into an array, up or down the levels.
Maker chain(const Grid& grid, Dtype d = float64, bool is_up = true, bool is_zero = true) {
  Maker m;
  const GraphEdge a = m.leaf(grid.shape(), d), b = m.leaf(grid.shape(), d);
  GraphEdge x = is_zero ? m.broadcast(m.scalar(0, d), grid.shape()) : m.leaf(grid.shape(), d);
  const auto level = [&](std::int64_t k) { return is_up ? k : grid.levels - 1 - k; };
  GraphEdge now = slice(m, b, grid.at(level(0)), grid.one());
  x = m.update(x, now, grid.at(level(0)));
  for (std::int64_t k = 1; k < grid.levels; ++k) {
    now = m.map(Op::Subtract, {m.map(Op::Minimum, {now, slice(m, a, grid.at(level(k)), grid.one())}),
                               slice(m, b, grid.at(level(k - 1)), grid.one())});
    x = m.update(x, now, grid.at(level(k)));
  }
  m.g.roots = {x};
  return m;
}

/// Two states up the levels, of which nothing is stored, and a third one down that reads them all.
Maker up_and_down(const Grid& grid, Dtype d = float64) {
  Maker m;
  const GraphEdge a = m.leaf(grid.shape(), d), b = m.leaf(grid.shape(), d);
  GraphEdge x = m.broadcast(m.scalar(0, d), grid.shape());
  std::vector<GraphEdge> c{slice(m, a, grid.at(0), grid.one())}, e{slice(m, b, grid.at(0), grid.one())};
  c[0] = m.map(Op::Negative, {c[0]});
  for (std::int64_t k = 1; k < grid.levels; ++k) {
    const GraphEdge ak = slice(m, a, grid.at(k), grid.one()), bk = slice(m, b, grid.at(k), grid.one());
    const GraphEdge before = m.map(Op::Maximum, {c.back(), ak});
    c.push_back(m.map(Op::Minimum, {before, bk}));
    e.push_back(m.map(Op::Subtract, {m.map(Op::Minimum, {e.back(), before}), bk}));
  }
  GraphEdge now = e.back();
  x = m.update(x, now, grid.at(grid.levels - 1));
  for (std::int64_t k = grid.levels - 1; k-- > 0;) {
    now = m.map(Op::Minimum,
                {m.map(Op::Subtract, {c[static_cast<std::size_t>(k)], now}), e[static_cast<std::size_t>(k)]});
    x = m.update(x, now, grid.at(k));
  }
  m.g.roots = {x};
  return m;
}

/// x[k] = x[k - 1] - min(x[k - 2], a[k])
Maker second_order(const Grid& grid) {
  Maker m;
  const GraphEdge a = m.leaf(grid.shape());
  GraphEdge x = m.broadcast(m.scalar(0), grid.shape());
  std::vector<GraphEdge> all{slice(m, a, grid.at(1), grid.one()), slice(m, a, grid.at(0), grid.one())};
  for (std::int64_t k = 0; k < grid.levels; ++k) {
    if (k > 1)
      all.push_back(
          m.map(Op::Subtract, {all.back(), m.map(Op::Minimum, {all.end()[-2], slice(m, a, grid.at(k), grid.one())})}));
    x = m.update(x, all[static_cast<std::size_t>(k)], grid.at(k));
  }
  m.g.roots = {x};
  return m;
}

/// A quarter of an array as it is, then a formula of other arrays, rows of another array, and numbers.
Maker quarters(const Grid& grid, Dtype d) {
  Maker m;
  const GraphEdge a = m.leaf(grid.shape(), d), b = m.leaf(grid.shape(), d);
  GraphEdge x = m.leaf(grid.shape(), d);
  const std::int64_t n = grid.levels;
  for (std::int64_t k = n / 4; k < n; ++k) {
    const GraphEdge back = slice(m, b, grid.at(n - 1 - k), grid.one());
    const GraphEdge value = 4 * k >= 3 * n ? m.broadcast(m.scalar(static_cast<double>(k), d), grid.one())
                            : 2 * k >= n   ? back
                                           : m.map(Op::Minimum, {slice(m, a, grid.at(k), grid.one()), back});
    x = m.update(x, value, grid.at(k));
  }
  m.g.roots = {x};
  return m;
}

/// Two formulas that take turns; `carried`, one of them of the level before.
Maker turns(const Grid& grid, Dtype d, bool carried) {
  Maker m;
  const GraphEdge a = m.leaf(grid.shape(), d), b = m.leaf({grid.lanes}, d);
  GraphEdge x = m.broadcast(m.scalar(0, d), grid.shape());
  const GraphEdge first = m.reshape(b, grid.one());
  GraphEdge now = first;
  for (std::int64_t k = 0; k < grid.levels; ++k) {
    const GraphEdge ak = slice(m, a, grid.at(k), grid.one());
    now = k % 2 == 0 ? m.map(Op::Minimum, {first, ak}) : m.map(Op::Subtract, {carried ? now : first, ak});
    x = m.update(x, now, grid.at(k));
  }
  m.g.roots = {x};
  return m;
}

/// x[k] = min(x[k - 1], a[k]) - b[k], recorded as a loop; all of x, or its last level too.
GraphEdge loop(Maker& m, const Grid& grid, GraphEdge a, GraphEdge b, bool is_up,
               std::vector<GraphEdge>* last = nullptr) {
  const auto axis = static_cast<std::uint32_t>(grid.axis);
  const Dims lanes{grid.lanes};
  const Dtype d = m.dtype(a);
  const GraphEdge level = m.add(Op::LoopLevel, int64, {grid.levels}, {}, is_up ? 0 : 1);
  const GraphEdge init = m.broadcast(m.scalar(1, d), lanes);
  const GraphEdge carry = m.add(Op::LoopCarry, d, lanes, {init, level});
  const GraphEdge ak = m.add(Op::LoopElement, d, lanes, {a, level}, axis);
  const GraphEdge bk = m.add(Op::LoopElement, d, lanes, {b, level}, axis);
  const GraphEdge next = m.map(Op::Subtract, {m.map(Op::Minimum, {carry, ak}), bk});
  const GraphEdge chain = m.add(Op::LoopNext, bool_, {}, {carry, next, level});
  if (last) last->push_back(m.add(Op::LoopLast, d, lanes, {next, chain}));
  return m.add(Op::LoopStack, d, grid.shape(), {next, chain}, axis);
}

/// A loop, whose operand is computed; and one down through what it stacks, of which nothing else is stored.
Maker loops(const Grid& grid, Dtype d, bool is_up) {
  Maker m;
  const GraphEdge a = m.leaf(grid.shape(), d), b = m.leaf(grid.shape(), d);
  const GraphEdge first = loop(m, grid, m.map(Op::Negative, {a}), b, is_up);
  m.g.roots = {loop(m, grid, m.map(Op::Maximum, {first, b}), a, !is_up, &m.g.roots)};
  return m;
}

/// while x < a: x = x + |b| and n = n + 1, which is narrower at first; nothing else leads out of such a loop.
Maker until_done(std::int64_t lanes, Dtype d, std::int64_t limit) {
  Maker m;
  const Dims all{lanes};
  const GraphEdge a = m.map(Op::Abs, {m.leaf(all, d)}), b = m.map(Op::Abs, {m.leaf(all, d)});
  const GraphEdge level = m.add(Op::LoopLevel, int64, {limit}, {}, 0);
  const GraphEdge x = m.add(Op::LoopCarry, d, all, {m.broadcast(m.scalar(0, d), all), level});
  const GraphEdge n = m.add(Op::LoopCarry, d, all, {m.broadcast(m.scalar(0, d), all), level});
  const GraphEdge on = m.add(Op::Less, bool_, all, {x, a});
  const GraphEdge next_x = m.map(Op::Where, {on, m.map(Op::Add, {x, b}), x});
  const GraphEdge next_n = m.map(Op::Where, {on, m.map(Op::Add, {n, m.scalar(1, d)}), n});
  GraphEdge chain = m.add(Op::LoopWhile, bool_, {}, {on, level});
  chain = m.add(Op::LoopNext, bool_, {}, {x, next_x, chain});
  chain = m.add(Op::LoopNext, bool_, {}, {n, next_n, chain});
  m.g.roots = {m.add(Op::LoopLast, d, all, {next_x, chain}), m.add(Op::LoopLast, d, all, {next_n, chain})};
  return m;
}

std::vector<Maker> some() {
  std::vector<Maker> graphs;
  for (const Grid& grid : {Grid{1, 9, 1}, {40, 9, 1}, {300, 20, 1}, {5, 33, 0}, {700, 11, 0}}) {
    graphs.push_back(chain(grid));
    graphs.push_back(chain(grid, float32, false));
    graphs.push_back(chain(grid, int32, true, false));
    graphs.push_back(up_and_down(grid));
    graphs.push_back(second_order(grid));
    graphs.push_back(loops(grid, float64, true));
    graphs.push_back(loops(grid, float32, false));
  }
  for (const Grid& grid : {Grid{70, 200, 1}, {33, 120, 0}}) {
    graphs.push_back(quarters(grid, float32));
    graphs.push_back(quarters(grid, int64));
    graphs.push_back(turns(grid, float64, true));
    graphs.push_back(turns(grid, float32, false));
  }
  graphs.push_back(up_and_down({64, 150, 1}, float32));
  graphs.push_back(until_done(700, float64, 12));
  graphs.push_back(until_done(33, float32, 1000));
  graphs.push_back(until_done(1, int32, 3));
  return graphs;
}

}  // namespace

TEST_CASE("levels: a recurrence is one kernel with the interpreter's bits", "[levels]") {
  check_bits(some(), Schedule::Recurrence);
}

TEST_CASE("levels: in C lanes go side by side with the interpreter's bits", "[levels]") {
  check_c_bits(some(), Schedule::Recurrence);
}

TEST_CASE("loops: a graph that breaks their rules is refused", "[levels][loop]") {
  const Grid grid{4, 9, 1};
  const auto broken = [&](const std::function<void(Maker&, GraphEdge a, GraphEdge stack, GraphEdge chain)>& add) {
    Maker m;
    const GraphEdge a = m.leaf(grid.shape()), stack = loop(m, grid, a, a, true);
    m.g.roots = {stack};
    if (add) add(m, a, stack, m.g.nodes[stack.node].inputs[1]);
    return std::string(graph::find_broken_loop(m.g) ? graph::find_broken_loop(m.g) : "");
  };
  const auto level = [](const Maker& m) { return GraphEdge{m.g.nodes[2].op == Op::LoopLevel ? 2U : 1U, 0}; };
  CHECK(broken({}).empty());
  CHECK(broken([&](Maker& m, GraphEdge, GraphEdge stack, GraphEdge chain) {
          const GraphEdge again = m.add(Op::LoopElement, float64, {grid.lanes}, {stack, level(m)}, 1);
          m.g.roots = {m.add(Op::LoopStack, float64, grid.shape(), {again, chain}, 1)};
        }) == "a loop that reads its own results");
  CHECK(broken([&](Maker& m, GraphEdge, GraphEdge, GraphEdge) {
          (void)m.add(Op::LoopCarry, float64, {grid.lanes}, {m.leaf({grid.lanes}), level(m)});
        }) == "a carry without a next value");
  CHECK(broken([&](Maker& m, GraphEdge a, GraphEdge, GraphEdge) {
          const GraphEdge ak = m.add(Op::LoopElement, float64, {grid.lanes}, {a, level(m)}, 1);
          (void)m.reduce(Op::Sum, ak, 0);
        }) == "an op of a level that is not elementwise");
  CHECK(broken([&](Maker& m, GraphEdge a, GraphEdge, GraphEdge) {
          m.g.roots = {m.add(Op::LoopElement, float64, {grid.lanes}, {a, level(m)}, 1)};
        }) == "a value of a level is no result");
}

TEST_CASE("loops: one that ends hands out next values alone", "[levels][loop]") {
  Maker m = until_done(40, float64, 12);
  INFO((graph::find_broken_loop(m.g) ? graph::find_broken_loop(m.g) : ""));
  CHECK(graph::find_broken_loop(m.g) == nullptr);
  graph::GraphNode& last = m.g.nodes[m.g.roots[0].node];
  last.inputs[0] = m.g.nodes[last.inputs[0].node].inputs[1];  // what it would be if it went on
  CHECK(std::string(graph::find_broken_loop(m.g)) == "a loop that ends, with values of its levels");
}

TEST_CASE("levels: every element is read and written once", "[levels]") {
  for (const char* name : {"x86-64-v3", "sm_90"}) {
    const Grid grid{200, 40, 1};
    const Lowered l = lowered(chain(grid), name);
    CHECK(l.bytes_written == 200 * 40 * 8);
    CHECK(l.bytes_read == (200 * 39 + 200 * 40) * 8);  // the last level of b has no reader
    const Lowered both = lowered(up_and_down(grid), name);
    CHECK(both.bytes_read + both.bytes_written == 3 * 200 * 40 * 8);
  }
}

TEST_CASE("levels: text does not grow with the levels, nor with what is kept of them", "[levels]") {
  const auto text = [](std::int64_t levels, const char* name) {
    return codegen::render(lowered(up_and_down({64, levels, 0}), name).ir, target(name)).text;
  };
  CHECK(text(20, "sm_90") == text(90, "sm_90"));
  CHECK(text(20, "x86-64-v3") == text(21, "x86-64-v3"));
}

TEST_CASE("levels: two sweeps carry three values and keep two arrays", "[levels]") {
  const KernelIr ir = lowered(up_and_down({30, 12, 1})).ir;
  const auto count = [&](codegen::InstrKind kind) {
    return std::ranges::count_if(ir.instrs, [&](const codegen::Instr& in) { return in.kind == kind; });
  };
  CHECK(ir.levels.size() == 2);
  CHECK(count(codegen::InstrKind::Carried) == 3);
  CHECK(ir.arrays.size() == 2);
  CHECK(count(codegen::InstrKind::Inside) == 0);
}

TEST_CASE("levels: what a lane keeps fits a small stack, or the levels stay operations", "[levels]") {
  const Maker m = up_and_down({4, 12, 1});
  const auto kernels = [&](std::size_t bytes) {
    graph::Limits limits;
    limits.kept = bytes;
    const graph::Fusion f = graph::fuse(m.g, target("x86-64-v3"), limits);
    return std::ranges::count_if(f.groups, [](const graph::Group& g) { return g.levels != nullptr; });
  };
  const std::size_t kept = 2 * 10 * sizeof(double);  // two arrays of the levels but the first and the last
  CHECK(kernels(kept) == 1);
  CHECK(kernels(kept - 1) == 0);
}

TEST_CASE("levels: groups beside a recurrence name their nodes in ascending order", "[levels]") {
  Maker m = chain({40, 9, 1});
  const GraphEdge x = m.leaf({256, 256}), y = m.map(Op::Maximum, {x, m.leaf({256, 256})});
  const GraphEdge row = m.reduce(Op::Sum, y, 1), column = m.reduce(Op::Sum, m.map(Op::Square, {y}), 0);
  m.g.roots = {m.map(Op::Negative, {row}), row, column, m.g.roots[0]};
  const graph::Fusion f = graph::fuse(m.g, target("x86-64-v3"));
  for (const graph::Group& group : f.groups) {
    CHECK(std::ranges::is_sorted(group.nodes));
    CHECK(std::ranges::is_sorted(group.of_columns));
  }
  CHECK(std::ranges::count_if(f.groups, [](const graph::Group& g) { return g.row_column(); }) == 1);
  CHECK(std::ranges::count_if(f.groups, [](const graph::Group& g) { return g.levels != nullptr; }) == 1);
}

TEST_CASE("levels: few levels, other formulas and values between them stay operations", "[levels]") {
  const auto kernels = [](const Maker& m) {
    const graph::Fusion f = graph::fuse(m.g, target());
    return std::ranges::count_if(f.groups, [](const graph::Group& g) { return g.levels != nullptr; });
  };
  CHECK(kernels(chain({40, 20, 1})) == 1);
  CHECK(kernels(chain({40, 4, 1})) == 0);
  Maker other;
  GraphEdge x = other.leaf({40, 20}), now = slice(other, x, {0, 0}, {40, 1});
  for (std::int64_t k = 1; k < 20; ++k) {
    now = other.map(k * k / 3 % 2 ? Op::Minimum : Op::Subtract, {now, slice(other, x, {0, k}, {40, 1})});
    x = other.update(x, now, {0, k});
  }
  other.g.roots = {x};
  CHECK(kernels(other) == 0);
}

TEST_CASE("levels: kernels compile without spills", "[levels][sweep]") {
  TARRY_REQUIRE_NVRTC();
  check_compiles({chain({40, 9, 1}), chain({40, 9, 0}, float16), up_and_down({300, 20, 1}), second_order({64, 20, 1})});
}

TEST_CASE("levels: the verifier refuses what a recurrence does not have", "[levels]") {
  using codegen::Instr;
  using codegen::InstrKind;
  const KernelIr ir = lowered(up_and_down({30, 12, 1})).ir;
  const auto first = [](KernelIr& of, InstrKind kind) -> Instr& {
    return *std::ranges::find_if(of.instrs, [&](const Instr& in) { return in.kind == kind; });
  };
  check_refused(ir, [&](KernelIr& k) { first(k, InstrKind::Carried).region = codegen::Region::Row; });
  check_refused(ir, [&](KernelIr& k) { first(k, InstrKind::Carried).args[1] = first(k, InstrKind::Carried).args[0]; });
  check_refused(ir, [&](KernelIr& k) { first(k, InstrKind::Keep).output = 7; });
  check_refused(ir, [&](KernelIr& k) { first(k, InstrKind::Kept).index = first(k, InstrKind::Load).index; });
  check_refused(ir, [&](KernelIr& k) { k.levels.clear(); });
  check_refused(ir, [&](KernelIr& k) { k.accesses[first(k, InstrKind::Store).index].buffer = 0; });
}
