// Stencils: kernels that load shifted views of one buffer.
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

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

/// A step: x with its inner points replaced by twice themselves less their four neighbours.
GraphEdge heat(Maker& m, GraphEdge x) {
  const Dims inner{m.shape(x)[0] - 2, m.shape(x)[1] - 2};
  GraphEdge v = m.map(Op::Multiply, {slice(m, x, {1, 1}, inner), m.scalar(2, m.dtype(x))});
  for (const auto& start : {Dims{0, 1}, Dims{2, 1}, Dims{1, 0}, Dims{1, 2}})
    v = m.map(Op::Subtract, {v, slice(m, x, start, inner)});
  return m.update(x, v, {1, 1});
}

Maker heat_steps(std::int64_t rows, std::int64_t columns, int steps, Dtype d = float32) {
  Maker m;
  GraphEdge x = m.leaf({rows, columns}, d);
  for (int i = 0; i < steps; ++i) x = heat(m, x);
  m.g.roots = {x};
  return m;
}
Maker heat_step(std::int64_t rows, std::int64_t columns, Dtype d = float32) { return heat_steps(rows, columns, 1, d); }

/// x moved by `by` along an axis, what falls out coming in at the other end: two updates.
GraphEdge rolled(Maker& m, GraphEdge x, int axis, std::int64_t by) {
  const Dims whole = m.shape(x);
  const std::int64_t n = whole[axis], head = ((by % n) + n) % n;
  const Dims zero = Dims::filled(whole.size(), 0);
  Dims first = whole, second = whole, from = zero, to = zero;
  first[axis] = n - head;
  second[axis] = head;
  to[axis] = head;
  from[axis] = n - head;
  const GraphEdge moved = m.update(m.broadcast(m.scalar(0, m.dtype(x)), whole), slice(m, x, zero, first), to);
  return m.update(moved, slice(m, x, from, second), zero);
}

/// The four neighbours of each point of a torus.
Maker torus(std::int64_t rows, std::int64_t columns, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf({rows, columns}, d);
  GraphEdge sum = x;
  for (const int axis : {0, 1})
    for (const int by : {1, -1}) sum = m.map(Op::Subtract, {rolled(m, x, axis, by), sum});
  m.g.roots = {sum};
  return m;
}

/// Both neighbours of each point of a ring, times a number that is drawn for it.
Maker drawn_ring(std::int64_t n, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf({n}, d);
  const GraphEdge bits =
      m.map(Op::RandomBits, {m.iota({n}, 0), m.scalar(7, Dtype::UInt64), m.scalar(2, Dtype::UInt32)}, Dtype::UInt32);
  m.g.roots = {m.map(Op::Multiply,
                     {m.map(Op::Subtract, {rolled(m, x, 0, 1), rolled(m, x, 0, -1)}), m.map(Op::Cast, {bits}, d)})};
  return m;
}

/// Differences of differences: what is computed at one point is wanted by its neighbours, without a border.
Maker differences(std::int64_t rows, std::int64_t columns) {
  Maker m;
  const GraphEdge x = m.leaf({rows, columns}, float32);
  const Dims part{rows - 1, columns - 1}, inner{rows - 2, columns - 2};
  const GraphEdge d = m.map(Op::Subtract, {slice(m, x, {1, 1}, part), slice(m, x, {0, 0}, part)});
  const GraphEdge e = m.map(Op::Multiply, {d, m.map(Op::Cast, {m.iota(part, 1)}, float32)});
  m.g.roots = {m.map(Op::Subtract, {slice(m, e, {1, 1}, inner), slice(m, e, {0, 0}, inner)}),
               slice(m, e, {0, 1}, inner)};
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
  for (const auto& [planes, rows, columns] : {std::tuple{4, 5, 6}, {3, 600, 10}, {5, 9, 130}})
    graphs.push_back(cube(planes, rows, columns));
  check_bits(graphs, Schedule::Stencil);
}

TEST_CASE("stencil: an update of the inner points keeps the border", "[stencil]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{3, 4}, {8, 16}, {9, 17}, {40, 70}, {600, 12}, {517, 21}, {1030, 64}})
    graphs.push_back(heat_step(rows, columns));
  check_bits(graphs, Schedule::Stencil);
}

TEST_CASE("stencil: a chain of steps computes each step once for a tile", "[stencil]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{9, 17}, {8, 16}, {40, 70}, {600, 24}, {521, 21}})
    graphs.push_back(heat_steps(rows, columns, 2));
  graphs.push_back(heat_steps(530, 32, 2, float64));
  graphs.push_back(heat_steps(30, 44, 2, Dtype::Float16));
  for (const auto& [rows, columns] : {std::pair{9, 14}, {600, 26}}) graphs.push_back(differences(rows, columns));
  check_bits(graphs, Schedule::Stencil);
  // The whole tile's text grows with the steps, not with the points that ask for them.
  const std::string text = codegen::render_cuda(lowered(heat_steps(1024, 1024, 2)).ir, target()).kernel;
  CHECK(text.find("_passes(") != std::string::npos);
}

TEST_CASE("stencil: where nearly all tiles have guards as usual, those have a text without any", "[stencil]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{64, 64}, {1030, 64}, {40, 70}, {601, 33}, {17, 9}, {3, 4}, {2, 2}})
    graphs.push_back(torus(rows, columns));
  graphs.push_back(torus(530, 48, float64));
  graphs.push_back(torus(530, 64, Dtype::UInt8));
  graphs.push_back(torus(33, 36, Dtype::Int64));
  check_bits(graphs, Schedule::Stencil);
  const auto apart = [](const Maker& m) { return lowered(m).ir.as<codegen::StencilLayout>().apart; };
  CHECK(apart(torus(1024, 1024)));
  CHECK_FALSE(apart(torus(9, 9)));            // most tiles have a border
  CHECK_FALSE(apart(box_filter(64, 64, 1)));  // no guards
  const std::string text = codegen::render_cuda(lowered(torus(1024, 1024)).ir, target()).kernel;
  const std::string usual = text.substr(text.find("_passes("), text.find("_tile(") - text.find("_passes("));
  CHECK(usual.find("?") == usual.find("? cs"));  // nothing is chosen but which elements are wanted
  CHECK(usual.find("tarry_where") == std::string::npos);
}

TEST_CASE("stencil: neighbouring columns draw from one block of words", "[stencil]") {
  std::vector<Maker> graphs;
  for (const std::int64_t n : {2, 9, 64, 1003, 4096}) graphs.push_back(drawn_ring(n));
  graphs.push_back(drawn_ring(530, float64));
  check_bits(graphs, Schedule::Stencil);
  const std::string text = codegen::render_cuda(lowered(drawn_ring(4096)).ir, target()).kernel;
  CHECK(text.find("_passes(") < text.find("tarry_words_u32(d"));
}

TEST_CASE("stencil: elements of every width", "[stencil]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::UInt8, Dtype::Float16, Dtype::Int32, Dtype::Int64, Dtype::Float64}) {
    graphs.push_back(box_filter(7, 18, 1, d));
    graphs.push_back(heat_step(520, 24, d));
    graphs.push_back(line(300, 2, d));
    graphs.push_back(cube(3, 5, 12, d));
  }
  check_bits(graphs, Schedule::Stencil);
}

TEST_CASE("stencil: elements are loaded once, in the widest runs that alignment allows", "[stencil]") {
  const auto text = [](const Maker& m) { return codegen::render_cuda(lowered(m).ir, target()).kernel; };
  // Rows of 1022 floats begin at 8-byte boundaries; those of 1021 at none.
  CHECK(lowered(box_filter(1024, 1024, 1)).ir.vector() == 2);
  CHECK(lowered(box_filter(1024, 1023, 1)).ir.vector() == 1);
  CHECK(lowered(heat_step(1024, 1024)).ir.vector() == 4);
  CHECK(lowered(heat_step(1024, 1024)).ir.as<codegen::StencilLayout>().rows == 8);
  CHECK(lowered(box_filter(1024, 1024, 1)).ir.as<codegen::StencilLayout>().rows == 8);
  CHECK(lowered(heat_step(512, 1024)).ir.as<codegen::StencilLayout>().rows == 1);
  CHECK(lowered(line(1000, 3)).ir.vector() == 4);
  // Extents, strides and offsets are arguments; shifts are not.
  CHECK(text(heat_step(1024, 2048)) == text(heat_step(8192, 4096)));
  CHECK(text(line(1000, 2)) != text(line(1000, 3)));
}

TEST_CASE("stencil: other kernels stay pointwise", "[stencil]") {
  const auto schedule = [](const Maker& m) { return lowered(m).ir.schedule(); };
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
  CHECK(lowered(heat_step(100, 100), "x86-64-v4").ir.schedule() == Schedule::Pointwise);
}

TEST_CASE("stencil: kernels compile without spills", "[stencil][sweep]") {
  TARRY_REQUIRE_NVRTC();
  check_compiles({box_filter(1024, 1024, 1), box_filter(1023, 1023, 2), heat_step(1024, 1024), heat_step(1023, 1021),
                  heat_steps(1024, 1024, 2), heat_step(1024, 1024, float16), line(1000, 3), cube(10, 1000, 1000),
                  cube(10, 1000, 1000, float64)});
}

TEST_CASE("stencil: golden text", "[stencil]") {
  check_golden("render_cuda_stencil", heat_step(1024, 1024));
  check_golden("render_cuda_stencil_chain", heat_steps(1024, 1024, 2));
}

TEST_CASE("stencil: the verifier refuses windows that are none", "[stencil]") {
  const KernelIr good = lowered(heat_step(1024, 1024)).ir;
  const auto refused = [&](const auto& change) { check_refused(good, change); };
  std::uint32_t shifted = 0;
  while (good.accesses[shifted].row == 0) ++shifted;
  refused([&](KernelIr& ir) { ir.accesses[shifted].window = shifted; });
  refused([&](KernelIr& ir) { ir.accesses[shifted].window = codegen::kNone; });
  refused([&](KernelIr& ir) { ir.accesses[shifted].strides.back() = codegen::StrideClass::Zero; });
  refused([&](KernelIr& ir) {
    ir.accesses[ir.guards[0].terms[0].access].strides = {codegen::StrideClass::One, codegen::StrideClass::One};
  });
  refused([&](KernelIr& ir) { ir.layout = codegen::PointwiseLayout{}; });
  refused([&](KernelIr& ir) { ir.as<codegen::StencilLayout>().rows = 16; });
}
