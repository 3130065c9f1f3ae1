// Contractions in C: at every instruction set level and on any number of threads they have the interpreter's bits.
#include "tests/kernels/plan_kernels.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// x with its last two axes exchanged.
GraphEdge turned(Maker& m, GraphEdge x) {
  Dims to = m.shape(x);
  const int last = to.size() - 1;
  std::swap(to[last], to[last - 1]);
  IndexMap map;
  for (int d = 0; d <= last; ++d) map.push_back({d == last ? last - 1 : d == last - 1 ? last : d, 0, 1});
  return m.view(x, map, to);
}

/// op over the last axis of f(a, b), a of (rows, n) and b of (columns, n).
GraphEdge contracted(Maker& m, GraphEdge a, GraphEdge b, Op f, Op op) {
  const GraphEdge x = m.map(f, {m.keep(a, m.shape(a).size() - 1), m.keep(b, m.shape(b).size() - 2)});
  return m.reduce(op, x, m.shape(x).size() - 1);
}

GraphEdge distances(Maker& m, GraphEdge a, GraphEdge b) {
  const GraphEdge d = m.map(Op::Subtract, {m.keep(a, m.shape(a).size() - 1), m.keep(b, m.shape(b).size() - 2)});
  return m.reduce(Op::Sum, m.map(Op::Multiply, {d, d}), m.shape(d).size() - 1);
}

/// exp(-d / 2) of the distances between points, or its sums along columns.
Maker rbf(std::int64_t rows, std::int64_t columns, std::int64_t n, bool sums = false, Dtype d = float32) {
  Maker m;
  const GraphEdge e = distances(m, numbers(m, {rows, n}, d), numbers(m, {columns, n}, d));
  const GraphEdge x = m.map(Op::Exp, {m.map(Op::Multiply, {e, m.scalar(-0.5, d)}, d)});
  m.g.roots = {sums ? m.reduce(Op::Sum, x, 1) : x};
  return m;
}

Schedule schedule_of(const Maker& m) { return lowered(m, "x86-64-v3").ir.schedule(); }

}  // namespace

TEST_CASE("contraction_c: tiles whose last rows, columns or steps are missing", "[contraction_c]") {
  check_c_bits({rbf(32, 512, 16), rbf(3, 31, 2), rbf(3, 43, 32), rbf(33, 513, 5), rbf(37, 1030, 3), rbf(97, 65, 8)},
               Schedule::Contract);
}

TEST_CASE("contraction_c: sums of a run of columns, of several, and of chunks of several", "[contraction_c]") {
  check_c_bits({rbf(3, 33, 7, true), rbf(33, 128, 16, true), rbf(5, 512, 2, true), rbf(35, 1153, 4, true),
                rbf(3, 70'003, 2, true)},
               Schedule::ContractReduce);
}

TEST_CASE("contraction_c: every dtype and every fold", "[contraction_c]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {uint8, int32, int64, float32, float64})
    for (const Op op : {Op::Sum, Op::Prod, Op::Min, Op::Max}) {
      Maker m;
      m.g.roots = {contracted(m, numbers(m, {6, 9}, d), numbers(m, {40, 9}, d), Op::Subtract, op)};
      graphs.push_back(std::move(m));
    }
  Maker halves;
  const GraphEdge a = numbers(halves, {6, 9}, float16), b = numbers(halves, {40, 9}, float16);
  const GraphEdge x = halves.map(Op::Multiply, {halves.keep(a, 1), halves.keep(b, 0)});
  halves.g.roots = {halves.reduce(Op::Sum, halves.map(Op::Cast, {x}, float32), 2), halves.reduce(Op::Max, x, 2)};
  graphs.push_back(std::move(halves));
  graphs.push_back(rbf(33, 140, 6, false, float64));
  check_c_bits(graphs, Schedule::Contract);
}

TEST_CASE("contraction_c: NaNs, infinities and zeros of both signs in a fold", "[contraction_c]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<Maker> graphs;
  for (const Op op : {Op::Sum, Op::Prod, Op::Min, Op::Max}) {
    Maker m;
    const GraphEdge a = m.leaf({5, 3}, float32), b = m.leaf({36, 3}, float32);
    m.leaves[0] = memory_of(float32, {-0.0, -0.0, -0.0, nan, 1, 2, inf, -inf, 0, 1, nan, 2, 0, -0.0, 1});
    for (std::size_t i = 0; i < 36 * 3; ++i)
      put(float32, &m.leaves[1][i * 4], std::array{-0.0, 1.0, 0.0, inf, -inf, nan, 2.0}[i / 3 % 7]);
    m.g.roots = {contracted(m, a, b, Op::Add, op)};
    graphs.push_back(std::move(m));
  }
  check_c_bits(graphs, Schedule::Contract);
}

TEST_CASE("contraction_c: operands that lie along rows, columns or apart, of batches", "[contraction_c]") {
  std::vector<Maker> graphs;
  {
    Maker m;  // contiguous along rows and columns
    m.g.roots = {distances(m, turned(m, numbers(m, {12, 37})), turned(m, numbers(m, {12, 300})))};
    graphs.push_back(std::move(m));
  }
  {
    Maker m;  // two planes of each of three batches
    const GraphEdge a = numbers(m, {3, 2, 9, 5}), b = m.broadcast(numbers(m, {3, 1, 70, 5}), {3, 2, 70, 5});
    m.g.roots = {distances(m, a, b)};
    graphs.push_back(std::move(m));
  }
  {
    Maker m;  // what follows reads operands of points, rows and columns, and stores twice
    const GraphEdge a = numbers(m, {40, 8}), b = numbers(m, {250, 8}), d = distances(m, a, b);
    const GraphEdge row = m.keep(numbers(m, {40}), 1), column = numbers(m, {250});
    const GraphEdge scaled = m.map(Op::Multiply, {m.map(Op::Add, {d, row}), column});
    m.g.roots = {scaled, m.map(Op::Subtract, {contracted(m, a, b, Op::Multiply, Op::Max), numbers(m, {40, 250})})};
    graphs.push_back(std::move(m));
  }
  check_c_bits(graphs, Schedule::Contract);
}

TEST_CASE("contraction_c: several reductions of a run, of folds and of what follows them", "[contraction_c]") {
  Maker m;
  const GraphEdge e = distances(m, numbers(m, {2, 37, 6}), numbers(m, {2, 1100, 6}));
  const GraphEdge row = m.keep(numbers(m, {37}), 1),
                  weighted = m.map(Op::Multiply, {m.map(Op::Add, {e, row}), numbers(m, {1100})});
  m.g.reduces.push_back({2, 1});
  const GraphEdge spread =
      m.add(Op::Moments, float32, {2, 37}, {e}, static_cast<std::uint32_t>(m.g.reduces.size() - 1));
  m.g.roots = {m.reduce(Op::ArgMin, e, 2),
               m.reduce(Op::Sum, e, 2),
               m.map(Op::Sqrt, {m.reduce(Op::Max, weighted, 2)}),
               spread,
               {spread.node, 1}};
  check_c_bits({std::move(m)}, Schedule::ContractReduce);
}

TEST_CASE("contraction_c: a long step is folded row by row", "[contraction_c]") {
  Maker m;
  const GraphEdge d = m.map(Op::Subtract, {m.keep(numbers(m, {9, 4}), 1), m.keep(numbers(m, {80, 4}), 0)});
  m.g.roots = {m.reduce(Op::Sum, m.map(Op::Exp, {m.map(Op::Tanh, {d})}), 2)};
  check_c_bits({std::move(m)}, Schedule::Contract);
}

TEST_CASE("contraction_c: few columns, and operands that move along both sides, are loops of other kernels",
          "[contraction_c]") {
  CHECK(schedule_of(rbf(40, 10, 8)) != Schedule::Contract);
  CHECK(schedule_of(rbf(40, 11, 8)) == Schedule::Contract);
  Maker m;
  const GraphEdge a = m.keep(numbers(m, {8, 4}), 1), b = m.keep(numbers(m, {64, 4}), 0), c = numbers(m, {8, 64, 4});
  m.g.roots = {m.reduce(Op::Sum, m.map(Op::Multiply, {m.map(Op::Add, {a, b}), c}), 2)};
  CHECK(schedule_of(m) == Schedule::ReduceSerial);
}

TEST_CASE("contraction_c: golden texts", "[contraction_c]") {
  check_golden("render_c_contract", rbf(64, 128, 16), "x86-64-v3");
  check_golden("render_c_contract_sum", rbf(64, 1280, 16, true), "x86-64-v3");
}
