// Scans whose combination the kernel spells out: one kernel, with the same bits in every reader of KernelIr.
#include <array>
#include <random>

#include "codegen/ir/verify.h"
#include "tests/kernels/plan_kernels.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

using Edges = std::vector<GraphEdge>;
/// The combination of two neighbours.
using Body = std::function<Edges(Maker&, const Edges& a, const Edges& b)>;

/// The running combinations of the states along an axis.
Edges combined(Maker& m, const Edges& states, int axis, bool reverse, const Body& body) {
  const Dims shape = m.shape(states.front());
  Dims lanes = shape;
  lanes.erase(axis);
  const auto at = static_cast<std::uint32_t>(axis);
  const GraphEdge level =
      m.add(Op::LoopLevel, int64, {shape[axis]}, {}, graph::kCombines | (reverse ? graph::kFromLast : 0));
  Edges earlier, later, all;
  for (const GraphEdge& x : states)
    earlier.push_back(
        m.add(Op::LoopCarry, m.dtype(x), lanes, {m.add(Op::LoopElement, m.dtype(x), lanes, {x, level}, at), level}));
  for (const GraphEdge& e : earlier) later.push_back(m.add(Op::LoopLater, m.dtype(e), lanes, {e}));
  const Edges next = body(m, earlier, later);
  GraphEdge chain = level;
  for (std::size_t i = 0; i < next.size(); ++i) chain = m.add(Op::LoopNext, bool_, {}, {earlier[i], next[i], chain});
  for (const GraphEdge& e : earlier) all.push_back(m.add(Op::LoopStack, m.dtype(e), shape, {e, chain}, at));
  return all;
}

Edges plus(Maker& m, const Edges& a, const Edges& b) { return {m.map(Op::Add, {a[0], b[0]})}; }
Edges add_parts(Maker& m, const Edges& a, const Edges& b) {
  Edges sums;
  for (std::size_t i = 0; i < a.size(); ++i) sums.push_back(m.map(Op::Add, {a[i], b[i]}));
  return sums;
}
/// (a, b) then (c, d): a * c, b * c + d.
Edges line(Maker& m, const Edges& a, const Edges& b) {
  return {m.map(Op::Multiply, {a[0], b[0]}), m.map(Op::Add, {m.map(Op::Multiply, {a[1], b[0]}), b[1]})};
}
/// Square matrices, row by row.
Edges matrices(Maker& m, const Edges& a, const Edges& b) {
  const std::size_t n = a.size() == 4 ? 2 : 3;
  Edges c;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      GraphEdge sum = m.map(Op::Multiply, {a[n * i], b[j]});
      for (std::size_t k = 1; k < n; ++k)
        sum = m.map(Op::Add, {sum, m.map(Op::Multiply, {a[n * i + k], b[n * k + j]})});
      c.push_back(sum);
    }
  return c;
}
/// The larger value, and its place.
Edges larger(Maker& m, const Edges& a, const Edges& b) {
  const GraphEdge is = m.map(Op::Greater, {b[0], a[0]}, bool_);
  return {m.map(Op::Where, {is, b[0], a[0]}), m.map(Op::Where, {is, b[1], a[1]})};
}
/// A number of the body.
Edges faded(Maker& m, const Edges& a, const Edges& b) {
  return {m.map(Op::Add, {m.map(Op::Multiply, {a[0], m.scalar(0.75, m.dtype(a[0]))}), b[0]})};
}
/// Each state becomes another one's.
Edges crossed(Maker&, const Edges& a, const Edges& b) { return {b[1], a[0]}; }

struct Drawn {
  std::vector<Dtype> dtypes;
  Body body;
};
std::vector<Drawn> bodies() {
  return {{{float32}, plus},
          {{float64}, faded},
          {{float32, float32}, line},
          {{float64, float64, float64, float64}, matrices},
          {{float32, float32, float32, float32}, matrices},
          {{float64, int64}, larger},
          {{Dtype::Int8}, plus},
          {{Dtype::Float16}, plus},
          {{Dtype::UInt16, float64, Dtype::UInt8}, add_parts},
          {{int32, int32}, crossed},
          {std::vector<Dtype>(9, float32), matrices}};
}

struct Line {
  Dims shape;
  int axis;
};

/// The states of a body, computed before, and what is made of the results, which are stored too where `all`.
Maker scan_of(const Drawn& d, const Line& at, bool reverse, bool all) {
  Maker m;
  Edges states;
  for (const Dtype t : d.dtypes) states.push_back(numbers(m, at.shape, t));
  if (all) states[0] = m.map(Op::Negative, {states[0]});
  const Edges results = combined(m, states, at.axis, reverse, d.body);
  const GraphEdge after = m.map(Op::Subtract, {results.back(), states.back()});
  m.g.roots = {after};
  if (all) m.g.roots.insert(m.g.roots.end(), results.begin(), results.end());
  return m;
}

}  // namespace

TEST_CASE("combine: every body, axis and length is one kernel with one order of combination", "[combine][scan]") {
  const std::vector<Drawn> all = bodies();
  const std::size_t number = GENERATE(range(0, 11));
  INFO("body " << number);
  for (const Line& at : {Line{{2}, 0},
                         {{33}, 0},
                         {{5, 31}, 1},
                         {{32, 5}, 0},
                         {{3, 129, 2}, 1},
                         {{40, 70}, 1},
                         {{300, 17}, 0},
                         {{3, 700}, 1},
                         {{5000}, 0}}) {
    INFO("axis " << at.axis << " of " << graph::to_string(at.shape));
    const std::vector<Lowered> kernels = check_readers(scan_of(all[number], at, number % 2 == 1, number % 3 == 0));
    CHECK(kernels.size() == 1);
    CHECK(kernels[0].ir.combines());
  }
}

TEST_CASE("combine: random bodies have one order in every reader", "[combine][scan][fuzz]") {
  const std::uint64_t first = environment("TARRY_FUZZ_SEED", 1), end = first + environment("TARRY_FUZZ_ARRAYS", 12);
  for (std::uint64_t seed = first; seed < end; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto pick = [&](std::size_t count) {
      return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    constexpr std::array kDtypes{float32, float64, int32, int64, Dtype::Int8, Dtype::UInt16, Dtype::Float16};
    constexpr std::array kOps{Op::Add, Op::Subtract, Op::Multiply, Op::Minimum, Op::Maximum};
    const Body body = [&](Maker& m, const Edges& a, const Edges& b) {
      Edges given = a, next;
      given.insert(given.end(), b.begin(), b.end());
      for (const GraphEdge& state : a) {
        const Dtype d = m.dtype(state);
        const auto drawn = [&] {
          const GraphEdge x = given[pick(given.size())];
          return m.dtype(x) == d ? x : m.map(Op::Cast, {x}, d);
        };
        GraphEdge x = drawn();
        for (std::size_t i = pick(4); i > 0; --i)
          x = m.map(kOps[pick(kOps.size())], {x, pick(5) == 0 ? m.scalar(2, d) : drawn()});
        next.push_back(x);
      }
      return next;
    };
    Drawn d{{}, body};
    for (std::size_t i = pick(4) + 1; i > 0; --i) d.dtypes.push_back(kDtypes[pick(kDtypes.size())]);
    Line at{{}, 0};
    for (std::size_t i = pick(3) + 1; i > 0; --i) at.shape.push_back(2 + static_cast<std::int64_t>(pick(60)));
    at.axis = static_cast<int>(pick(static_cast<std::size_t>(at.shape.size())));
    at.shape[at.axis] = std::array<std::int64_t, 7>{2, 20, 32, 33, 150, 1000, 5000}[pick(at.shape.size() == 1 ? 7 : 5)];
    check_readers(scan_of(d, at, pick(2) == 0, pick(2) == 0));
  }
}

TEST_CASE("combine: many columns are a thread each, long rows tiles", "[combine][scan]") {
  const auto schedule = [](const Line& at) {
    return plan_kernels(scan_of(bodies()[2], at, false, false), planned_for("sm_90"))[0].ir.schedule();
  };
  CHECK(schedule({{40, 20000}, 0}) == Schedule::ScanSerial);
  CHECK(schedule({{20, 31}, 1}) == Schedule::ScanSerial);
  CHECK(schedule({{20, 1000}, 1}) == Schedule::ScanInner);
  CHECK(schedule({{2, 100000}, 1}) == Schedule::ScanTiles);
  check_readers(scan_of(bodies()[2], {{140, 16400}, 0}, false, true));
  for (const std::size_t number : {1, 2, 5, 8, 10})
    check_readers(scan_of(bodies()[number], {{2, 70003}, 1}, number % 2 == 1, true));
  check_readers(scan_of(bodies()[0], {{150'001}, 0}, true, false));
  check_readers(scan_of(bodies()[3], {{140'000}, 0}, false, false));
}

TEST_CASE("combine: kernels compile without spills", "[combine][scan][sweep]") {
  TARRY_REQUIRE_NVRTC();
  const std::array shapes{Line{{20, 31}, 1}, Line{{300, 20000}, 0}, Line{{20, 1000}, 1}, Line{{2, 100'000}, 1},
                          Line{{200'000}, 0}};
  std::size_t number = today();
  for (const char* arch : {"sm_75", "sm_90"}) {
    std::vector<Maker> graphs;
    for (const Drawn& d : bodies())
      for (const Line& at : shapes)
        if (whole_sweeps() || ++number % 5 == 0) graphs.push_back(scan_of(d, at, false, true));
    for (const runtime::KernelResources& r : compiled(graphs, arch)) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers");
      CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
    }
  }
}

TEST_CASE("combine: a loop that combines what is no state is refused", "[combine][loop]") {
  const auto broken = [](const Body& body, const std::function<void(Maker&)>& change = {}) {
    Maker m;
    m.g.roots = {combined(m, {m.leaf({4, 9})}, 1, false, body)[0]};
    if (change) change(m);
    const char* const rule = graph::find_broken_loop(m.g);
    return std::string(rule ? rule : "");
  };
  const auto first = [](Maker& m, Op op) -> graph::GraphNode& {
    return *std::ranges::find_if(m.g.nodes, [&](const graph::GraphNode& n) { return n.op == op; });
  };
  CHECK(broken(plus).empty());
  CHECK(broken(faded).empty());
  const char* const no_state = "a loop that combines what is no state";
  CHECK(broken([](Maker& m, const Edges& a, const Edges&) -> Edges { return {m.map(Op::Add, {a[0], m.leaf({4})})}; }) ==
        no_state);
  CHECK(broken([&](Maker& m, const Edges& a, const Edges&) -> Edges {
          return {m.map(Op::Add, {a[0], m.g.nodes[a[0].node].inputs[0]})};
        }) == no_state);
  CHECK(broken(plus, [&](Maker& m) { first(m, Op::LoopStack).inputs[0] = first(m, Op::LoopNext).inputs[1]; }) ==
        no_state);
  CHECK(broken(plus, [&](Maker& m) { first(m, Op::LoopStack).op = Op::LoopLast; }) == no_state);
  CHECK(broken(plus, [&](Maker& m) { first(m, Op::LoopLevel).payload = 4; }) == "a loop without levels");
  CHECK(broken(plus, [&](Maker& m) { first(m, Op::LoopLevel).payload = 0; }) == "inputs that a loop does not take");
  Maker wide;
  Edges states;
  for (int i = 0; i < 5; ++i) states.push_back(wide.leaf({4, 9}));
  wide.g.roots = {combined(wide, states, 1, false, add_parts)[0]};
  CHECK(std::string(graph::find_broken_loop(wide.g)) == "states too large to combine");
}

TEST_CASE("combine: the verifier refuses what a combination does not have", "[combine]") {
  using codegen::Instr;
  const KernelIr ir = lowered(scan_of(bodies()[2], {{5000}, 0}, false, false), "sm_90").ir;
  const auto first = [](KernelIr& of, codegen::InstrKind kind) -> Instr& {
    return *std::ranges::find_if(of.instrs, [&](const Instr& in) { return in.kind == kind; });
  };
  check_refused(ir, [&](KernelIr& k) { first(k, codegen::InstrKind::Later).region = codegen::Region::Point; });
  check_refused(ir, [&](KernelIr& k) { first(k, codegen::InstrKind::Earlier).index = 7; });
  check_refused(ir, [&](KernelIr& k) { k.reductions[0].combined = codegen::kNone; });
  check_refused(ir, [&](KernelIr& k) { k.reductions[0].combined = 0; });
  check_refused(ir, [&](KernelIr& k) { k.reductions[1].op = Op::CumulativeSum; });
}

TEST_CASE("combine: scalars and extents are arguments of one text", "[combine]") {
  const auto text = [](double number, std::int64_t n, const char* name) {
    Maker m;
    m.g.roots = {combined(m, {m.leaf({n})}, 0, false, [&](Maker& of, const Edges& a, const Edges& b) -> Edges {
      return {of.map(Op::Add, {of.map(Op::Multiply, {a[0], of.scalar(number)}), b[0]})};
    })[0]};
    return codegen::render(lowered(m, name).ir, target(name)).text;
  };
  for (const char* name : {"sm_90", "x86-64-v3"}) CHECK(text(0.5, 200'000, name) == text(0.7, 300'000, name));
}
