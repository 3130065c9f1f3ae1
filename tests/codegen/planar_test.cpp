// Planes: kernels in which a short dimension has its elements side by side here and apart there.
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// Bytes of pixels, scaled and shifted by colour, as planes of floats.
Maker normalised(std::int64_t height, std::int64_t width, std::int64_t colours) {
  Maker m;
  const GraphEdge image = m.leaf({height, width, colours}, uint8);
  const GraphEdge scale = m.leaf({colours, 1, 1}, float32), shift = m.leaf({colours, 1, 1}, float32);
  const Dims planes{colours, height, width};
  const GraphEdge x = m.map(Op::Cast, {permuted(m, image, {2, 0, 1})}, float32);
  m.g.roots = {m.map(Op::Add, {m.map(Op::Multiply, {x, m.broadcast(scale, planes)}), m.broadcast(shift, planes)})};
  return m;
}

/// Pixels and planes, a row and an index, to planes of two kinds.
Maker mixed(std::int64_t width, std::int64_t colours) {
  Maker m;
  const GraphEdge pixels = m.leaf({width, colours}, float32), planes = m.leaf({colours, width}, float64),
                  row = m.leaf({1, width}, float64);
  const GraphEdge sum = m.map(Op::Add, {m.map(Op::Cast, {permuted(m, pixels, {1, 0})}, float64), planes});
  const GraphEdge scaled = m.map(Op::Multiply, {sum, m.broadcast(row, {colours, width})});
  m.g.roots = {
      scaled,
      m.map(Op::Cast, {m.map(Op::Add, {scaled, m.map(Op::Cast, {m.iota({colours, width}, 1)}, float64)})}, float32)};
  return m;
}

/// A box of planes replaced by pixels.
Maker placed(std::int64_t width, std::int64_t colours, Dtype d) {
  Maker m;
  const GraphEdge x = m.leaf({colours, width}, d), v = m.leaf({width - 9, colours}, d);
  m.g.roots = {m.update(m.map(Op::Add, {x, x}), permuted(m, v, {1, 0}), {0, 5})};
  return m;
}

}  // namespace

TEST_CASE("planar: to and from pixels of every width, with the interpreter's bits", "[planar]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::Bool, Dtype::UInt8, Dtype::Float16, Dtype::Float32, Dtype::Int64})
    for (const std::int64_t values : {2, 3, 4, 5, 8})
      for (const std::int64_t count : {600, 1003}) {
        graphs.push_back(permute({count, values}, {1, 0}, d));
        graphs.push_back(permute({values, count}, {1, 0}, d));
      }
  check_bits(graphs, Schedule::Planar);
}

TEST_CASE("planar: of rows, of permuted rows, of dimensions around", "[planar]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::UInt8, Dtype::Float32}) {
    graphs.push_back(permute({5, 40, 3}, {0, 2, 1}, d));
    graphs.push_back(permute({5, 41, 3}, {0, 2, 1}, d));
    graphs.push_back(permute({5, 3, 40}, {0, 2, 1}, d));
    graphs.push_back(permute({6, 5, 3, 40}, {1, 0, 3, 2}, d));
    graphs.push_back(permute({6, 5, 40, 4}, {3, 1, 0, 2}, d));
    graphs.push_back(placed(100, 3, d));
    graphs.push_back(placed(101, 2, d));
  }
  for (const std::int64_t width : {128, 131}) {
    for (const std::int64_t colours : {2, 3, 4}) {
      graphs.push_back(normalised(3, width, colours));
      graphs.push_back(mixed(width, colours));
    }
  }
  check_bits(graphs, Schedule::Planar);
}

TEST_CASE("planar: small elements move in words where they are aligned", "[planar]") {
  const auto columns = [](const Maker& m) { return lowered(m).ir.vector(); };
  CHECK(columns(permute({1000, 3}, {1, 0}, Dtype::UInt8)) == 4);
  CHECK(columns(permute({1001, 3}, {1, 0}, Dtype::UInt8)) == 1);  // the second plane starts anywhere
  CHECK(columns(permute({1000, 3}, {1, 0}, Dtype::Float16)) == 2);
  CHECK(columns(permute({1001, 3}, {1, 0})) == 1);
  CHECK(columns(normalised(3, 128, 3)) == 4);
}

TEST_CASE("planar: a tile of what crosses a long dimension comes before planes", "[planar]") {
  Maker m;
  const GraphEdge pixels = m.leaf({50, 60, 3}, float32), turned = m.leaf({3, 60, 50}, float32);
  m.g.roots = {m.map(Op::Add, {permuted(m, pixels, {2, 0, 1}), permuted(m, turned, {0, 2, 1})})};
  check_bits({m}, Schedule::Transpose);
}

TEST_CASE("planar: what is long, or keeps its order, is no plane", "[planar]") {
  const auto schedule = [](const Maker& m, const char* target = "sm_90") { return lowered(m, target).ir.schedule(); };
  CHECK(schedule(permute({3, 1000}, {1, 0})) == Schedule::Planar);
  CHECK(schedule(permute({9, 1000}, {1, 0})) == Schedule::Pointwise);
  CHECK(schedule(permute({3, 32}, {1, 0})) == Schedule::Pointwise);
  CHECK(schedule(permute({40, 50, 3}, {1, 0, 2})) == Schedule::Transpose);
  CHECK(schedule(permute({40, 30, 3}, {1, 0, 2})) == Schedule::Pointwise);
  CHECK(schedule(permute({3, 1000}, {1, 0}), "x86-64-v4") == Schedule::Transpose);
  CHECK(schedule(permute({3, 32}, {1, 0}), "x86-64-v4") == Schedule::Pointwise);
}

TEST_CASE("planar: kernels compile without spills", "[planar][sweep]") {
  TARRY_REQUIRE_NVRTC();
  check_compiles({permute({1000, 3}, {1, 0}, Dtype::UInt8), permute({4, 1000}, {1, 0}, Dtype::Float16),
                  permute({8, 1000}, {1, 0}, Dtype::UInt8), permute({1000, 7}, {1, 0}, Dtype::Float64),
                  normalised(3, 128, 3), mixed(131, 4), placed(100, 3, float32)});
}

TEST_CASE("planar: golden text", "[planar]") { check_golden("render_cuda_planar", normalised(3, 128, 3)); }

TEST_CASE("planar: the verifier refuses tiles that are none", "[planar]") {
  const KernelIr good = lowered(normalised(3, 128, 3)).ir;
  const auto refused = [&](const auto& change) { check_refused(good, change); };
  refused([](KernelIr& ir) { ir.as<codegen::PlanarLayout>().channel_dimension = -1; });
  refused([](KernelIr& ir) { ir.as<codegen::PlanarLayout>().channel_dimension = ir.rank - 1; });
  refused([](KernelIr& ir) { ir.as<codegen::PlanarLayout>().channels = 9; });
}
