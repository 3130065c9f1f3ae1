// lower(): reductions, rows in stages, and how wide their vectors are.
#include <map>

#include "graph/fusion/trace.h"
#include "tests/kernels/lowered.h"

using namespace tarry;
using namespace tarry::test;

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
      const Dims space = n == 1 ? [&] {
        Dims d = graph::squeeze(shape);
        d.insert(axis, 1);
        return d;
      }()
                                : shape;
      INFO("axis " << axis << " n " << n);
      const Lowered l = check_kernel(r.m, one_group(r.m.g, space, axis), {r.scaled, r.sum, r.largest, r.difference});
      CHECK(l.ir.schedule() == (n <= 32 ? Schedule::RowSerial : Schedule::RowInner));
      CHECK(l.ir.stages() == (n == 1 ? 2 : 3));
    }
  }
}

TEST_CASE("lower: a reduced row of 4 KB belongs to a thread block of a GPU, unless its end costs more than that gains",
          "[codegen][lower]") {
  const auto schedule_of = [](Op op, Dtype dtype, std::int64_t n) {
    Maker m;
    const GraphEdge y = m.reduce(op, m.leaf({5, n}, dtype), 1);
    return codegen::lower(m.g, one_group(m.g, {5, n}, 1), 0, {y}, named_target("sm_90")).ir.schedule();
  };
  const auto held = [&](Op op, Dtype dtype, std::int64_t n) {
    INFO(name(dtype) << " " << n);
    const Schedule s = schedule_of(op, dtype, n);
    CHECK((s == Schedule::RowInner || s == Schedule::ReduceInner));
    return s == Schedule::RowInner;
  };
  for (const auto& [dtype, least] : {std::pair(float32, 1000), {float16, 2000}, {float64, 513}}) {
    CHECK(held(Op::Sum, dtype, least));
    CHECK(held(Op::Sum, dtype, 4096));
    CHECK(held(Op::Sum, dtype, 512));  // by a part of a warp
    if (dtype != float64) CHECK_FALSE(held(Op::Sum, dtype, least - 1));
  }
  CHECK(held(Op::ArgMax, float32, 3001));
  CHECK(held(Op::ArgMax, float16, 2048));
  CHECK_FALSE(held(Op::ArgMax, float16, 2047));
  CHECK(held(Op::Moments, float32, 1536));
  CHECK_FALSE(held(Op::Moments, float32, 1535));
  CHECK(held(Op::Moments, float64, 1535));
  CHECK_FALSE(held(Op::Moments, float16, 4096));
  CHECK_FALSE(held(Op::Max, uint8, 4096));
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
    CHECK(l.ir.schedule() == Schedule::RowInner);
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
  CHECK(l.ir.schedule() == Schedule::ReduceInner);
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
    const Lowered l = codegen::lower(m.g, one_group(m.g, graph::squeeze(shape)), 0, {y}, named_target("sm_90"));
    for (const auto& a : l.ir.accesses) CHECK(a.aligned == (l.ir.vector() > 1));
    return l.ir.vector();
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
    CHECK(codegen::lower(m.g, one_group(m.g, {1000}), 0, {y}, named_target("sm_90")).ir.vector() == 8);
    CHECK(codegen::lower(m.g, one_group(m.g, {1000}), 0, {y}, named_target()).ir.vector() == 1);
  }
  const auto rows = [](std::int64_t width) {
    Maker m;
    const GraphEdge y = m.map(Op::Add, {m.leaf({7, width}, uint8), m.leaf({width}, uint8)});
    return codegen::lower(m.g, one_group(m.g, {7, width}), 0, {y}, named_target("sm_90")).ir.vector();
  };
  CHECK(rows(32) == 16);
  CHECK(rows(36) == 4);
  CHECK(rows(33) == 1);
}

TEST_CASE("lower: a guarded load keeps the vectors of the others", "[codegen][lower]") {
  Maker m;
  const GraphEdge u = m.update(m.leaf({64}, float32), m.leaf({25}, float32), {3});  // not the same nearly everywhere
  const Lowered l = check_kernel(m, one_group(m.g, {64}), {u}, "sm_90");
  CHECK(l.ir.schedule() == Schedule::Pointwise);
  CHECK(l.ir.vector() == 4);
  for (const auto& in : l.ir.instrs)
    if (in.guard != kNone) CHECK_FALSE(l.ir.accesses[in.index].aligned);
}

TEST_CASE("lower: rows on a GPU say their class and load vectors", "[codegen][lower]") {
  Row r({8, 1000}, 1);
  const Lowered l = check_kernel(r.m, one_group(r.m.g, {8, 1000}, 1), {r.scaled}, "sm_90");
  CHECK(l.ir.as<codegen::RowInnerLayout>().blocks_per_row == 8);
  CHECK(l.ir.vector() == 4);
  CHECK(l.ir.accesses[0].aligned);
  const auto of = [](std::int64_t n) {
    Row row({8, n}, 1);
    const codegen::KernelIr ir = check_kernel(row.m, one_group(row.m.g, {8, n}, 1), {row.scaled}, "sm_90").ir;
    if (const auto* serial = std::get_if<codegen::RowSerialLayout>(&ir.layout))
      return std::pair(serial->longest_row, false);
    const auto& layout = ir.as<codegen::RowInnerLayout>();
    return std::pair(layout.blocks_per_row, layout.half_block);
  };
  for (int n = 2; n <= 8; ++n) CHECK(of(n) == std::pair(n, false));
  CHECK(of(9) == std::pair(16, false));
  CHECK(of(32) == std::pair(32, false));
  CHECK(of(33) == std::pair(1, true));
  CHECK(of(64) == std::pair(1, true));
  CHECK(of(65) == std::pair(1, false));
}
