// Formulas that repeat themselves, as steps that a program has written one behind the other: on a GPU one loop, with
// the bits of what was written out.
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

GraphEdge number(Maker& m, double value, const Dims& shape, Dtype d) { return m.broadcast(m.scalar(value, d), shape); }

/// x = max(x % 5 - a, c) + x, the least of it and 9: one value is handed on, numbers are the same in all steps or,
/// where `differs`, others in each.
Maker one_state(int steps, const Dims& shape, Dtype d = float64, bool differs = false) {
  Maker m;
  const GraphEdge a = m.leaf(shape, d);
  GraphEdge x = m.leaf(shape, d);
  for (int i = 0; i < steps; ++i) {
    const GraphEdge five = number(m, differs ? 3 + i : 5, shape, d);
    const GraphEdge part = m.map(Op::Subtract, {m.map(Op::Remainder, {x, five}), a});
    x = m.map(Op::Minimum,
              {m.map(Op::Add, {m.map(Op::Maximum, {part, number(m, -3, shape, d)}), x}), number(m, 9, shape, d)});
  }
  m.g.roots = {m.map(Op::Negative, {x})};
  return m;
}

/// Two values that depend on each other, a third one that nothing waits for, and draws that wait for nothing. All of
/// them are stored.
Maker three_states(int steps, std::int64_t n, Dtype d = float32) {
  Maker m;
  const Dims shape{n};
  GraphEdge x = m.leaf(shape, d), y = m.leaf(shape, d), sum = m.leaf(shape, d);
  const GraphEdge numbers = m.iota(shape, 0);
  for (int i = 0; i < steps; ++i) {
    const GraphEdge bits =
        m.map(Op::RandomBits, {numbers, m.scalar(7, Dtype::UInt64), m.scalar(i, Dtype::UInt32)}, Dtype::UInt32);
    const GraphEdge drawn = m.map(Op::Remainder, {m.map(Op::Cast, {bits}, d), number(m, 7, shape, d)});
    sum = m.map(Op::Minimum, {m.map(Op::Add, {sum, m.map(Op::Multiply, {x, drawn})}), number(m, 1000, shape, d)});
    const GraphEdge next = m.map(Op::Remainder, {m.map(Op::Add, {y, drawn}), number(m, 11, shape, d)});
    y = m.map(Op::Subtract, {m.map(Op::Remainder, {x, number(m, 3, shape, d)}), y});
    y = m.map(Op::Maximum, {y, number(m, -50, shape, d)});
    x = next;
  }
  m.g.roots = {x, y, sum};
  return m;
}

/// Every step but the last one has a reader behind all of them.
Maker read_afterwards(int steps, const Dims& shape) {
  Maker m;
  GraphEdge x = m.leaf(shape, float64), all = m.leaf(shape, float64);
  std::vector<GraphEdge> found;
  for (int i = 0; i < steps; ++i) {
    x = m.map(Op::Minimum, {m.map(Op::Remainder, {x, number(m, 5, shape, float64)}), m.map(Op::Negative, {x})});
    found.push_back(x);
  }
  for (std::size_t i = found.size(); i-- > 0;) all = m.map(Op::FloorDivide, {found[i], all});
  m.g.roots = {all};
  return m;
}

Schedule schedule_of(const Maker& m, const char* name = "sm_90") { return lowered(m, name).ir.schedule(); }

}  // namespace

TEST_CASE("roll: steps written out are a loop with the interpreter's bits", "[roll]") {
  std::vector<Maker> graphs;
  for (const std::int64_t n : {1, 31, 255, 257, 1000}) {
    graphs.push_back(one_state(12, {n}));
    graphs.push_back(one_state(21, {n}, float64, true));
    graphs.push_back(three_states(15, n));
  }
  graphs.push_back(one_state(30, {7, 33}, float32));
  graphs.push_back(three_states(16, 300, float64));
  check_bits(graphs, Schedule::Recurrence);
}

TEST_CASE("roll: text does not grow with the steps", "[roll]") {
  // Numbers of each step are parameters.
  const auto statements = [](const Maker& m) {
    return std::ranges::count_if(lowered(m).ir.instrs,
                                 [](const codegen::Instr& in) { return in.kind != codegen::InstrKind::Scalar; });
  };
  CHECK(statements(one_state(40, {1000})) == statements(one_state(15, {1000})));
  CHECK(statements(one_state(30, {1000}, float64, true)) == statements(one_state(15, {1000}, float64, true)));
  // Less than a step of three states may be left in front of the loop or behind it.
  constexpr std::ptrdiff_t kStep = 15;
  CHECK(std::abs(statements(three_states(19, 1000)) - statements(three_states(15, 1000))) < kStep);
}

TEST_CASE("roll: short formulas, a CPU's, and steps that others read stay as they are", "[roll]") {
  CHECK(schedule_of(one_state(12, {1000})) == Schedule::Recurrence);
  CHECK(schedule_of(one_state(3, {1000})) == Schedule::Pointwise);
  CHECK(schedule_of(one_state(12, {1000}), "x86-64-v3") == Schedule::Pointwise);
  CHECK(schedule_of(read_afterwards(12, {1000})) == Schedule::Pointwise);
}

TEST_CASE("roll: a buffer that is taken over is read before it is written", "[roll]") {
  Maker m = one_state(12, {500});
  for (graph::LeafLayout& leaf : m.g.leaves) leaf.donated = true;
  check_bits({m}, Schedule::Recurrence);
}

TEST_CASE("roll: loops compile without spills", "[roll][sweep]") {
  TARRY_REQUIRE_NVRTC();
  check_compiles({one_state(30, {1000}), one_state(20, {1000}, float64, true), three_states(15, 1000)});
}
