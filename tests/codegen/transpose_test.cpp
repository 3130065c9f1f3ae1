// Transposes: kernels of which some loads cross the stores.
#include <array>
#include <numeric>
#include <random>

#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

Maker transpose_add(std::int64_t rows, std::int64_t columns, Dtype d = float32) {
  Maker m;
  const GraphEdge a = m.leaf({rows, columns}, d), b = m.leaf({columns, rows}, d);
  m.g.roots = {m.map(Op::Add, {a, permuted(m, b, {1, 0})})};
  return m;
}

/// Two crossed operands, a row, a column, an index, two results.
Maker many(std::int64_t rows, std::int64_t columns) {
  Maker m;
  const GraphEdge a = m.leaf({columns, rows}, float32), b = m.leaf({columns, rows}, float64);
  const GraphEdge row = m.leaf({1, columns}, float64), column = m.leaf({rows, 1}, float64);
  const GraphEdge sum = m.map(Op::Add, {m.map(Op::Cast, {permuted(m, a, {1, 0})}, float64), permuted(m, b, {1, 0})});
  const GraphEdge scaled = m.map(Op::Multiply, {sum, m.broadcast(row, {rows, columns})});
  const GraphEdge shifted = m.map(Op::Add, {scaled, m.broadcast(column, {rows, columns})});
  const GraphEdge counted = m.map(Op::Add, {shifted, m.map(Op::Cast, {m.iota({rows, columns}, 0)}, float64)});
  m.g.roots = {shifted, counted};
  return m;
}

/// A box of a matrix, transposed.
Maker turned_slice(const Dims& shape, const Dims& start, const Dims& extents, Dtype d) {
  Maker m;
  m.g.roots = {permuted(m, slice(m, m.leaf(shape, d), start, extents), {1, 0})};
  return m;
}

/// A box of x replaced by a box of a transposed one, which begins as far from its first element.
Maker turned_into(const Dims& shape, const Dims& start, const Dims& extents, Dtype d) {
  Maker m;
  const GraphEdge x = m.leaf(shape, d),
                  v = slice(m, m.leaf({shape[1] + 3, shape[0] + 2}, d), {start[1], start[0]}, {extents[1], extents[0]});
  m.g.roots = {m.update(m.map(Op::Add, {x, x}), permuted(m, v, {1, 0}), start)};
  return m;
}

/// A matrix and a transposed one of another width: their sum, and that as float32, in two arrays.
Maker two_widths(std::int64_t rows, std::int64_t columns, Dtype d) {
  Maker m;
  const GraphEdge a = m.leaf({rows, columns}, Dtype::Float16), b = m.leaf({columns + 1, rows + 1}, d);
  const GraphEdge sum =
      m.map(Op::Add, {m.map(Op::Cast, {a}, float32),
                      m.map(Op::Cast, {permuted(m, slice(m, b, {1, 1}, {columns, rows}), {1, 0})}, float32)});
  m.g.roots = {m.map(Op::Cast, {sum}, Dtype::Float16), sum};
  return m;
}

/// A box of x replaced by a transposed array.
Maker placed(std::int64_t rows, std::int64_t columns) {
  Maker m;
  const GraphEdge x = m.leaf({rows, columns}, float32), v = m.leaf({columns - 7, rows - 5}, float32);
  m.g.roots = {m.update(m.map(Op::Add, {x, x}), permuted(m, v, {1, 0}), {2, 3})};
  return m;
}

/// Sums of a transposed array's neighbours, of which those past its end are 0: two guards of one tile.
Maker neighbours(std::int64_t rows, std::int64_t columns) {
  Maker m;
  const GraphEdge x = m.leaf({columns, rows}, float32),
                  zero = m.map(Op::Multiply, {m.leaf({rows, columns}, float32),
                                              m.broadcast(m.leaf({1, 1}, float32), {rows, columns})});
  const GraphEdge t = permuted(m, x, {1, 0});
  const GraphEdge left = m.update(zero, slice(m, t, {0, 1}, {rows, columns - 1}), {0, 0});
  const GraphEdge below = m.update(zero, slice(m, t, {0, 0}, {rows - 3, columns}), {3, 0});
  m.g.roots = {m.map(Op::Add, {left, below})};
  return m;
}

/// uint8 pixels whose rows and columns change places, scaled by colour, by row and by column, plus an image as it is
/// and an index, to float32 pixels (order 1, 0, 2) or planes (2, 1, 0).
Maker normalised(std::int64_t height, std::int64_t width, std::int64_t values, const std::vector<int>& order) {
  Maker m;
  const Dims from{height, width, values}, to{from[order[0]], from[order[1]], from[order[2]]};
  const auto along = [&](int d) {
    Dims one{1, 1, 1};
    one[d] = to[d];
    return m.broadcast(m.leaf(one, float32), to);
  };
  GraphEdge x = m.map(Op::Cast, {permuted(m, m.leaf(from, Dtype::UInt8), order)}, float32);
  for (int d = 0; d < 3; ++d) x = m.map(Op::Multiply, {x, along(d)});
  x = m.map(Op::Add, {x, m.map(Op::Cast, {m.iota(to, 2)}, float32)});
  m.g.roots = {x, m.map(Op::Add, {m.map(Op::Cast, {m.leaf(to, Dtype::Float16)}, float32), x})};
  return m;
}

/// A box of an image replaced by another one whose rows and columns change places.
Maker placed_pixels(std::int64_t height, std::int64_t width, std::int64_t values) {
  Maker m;
  const GraphEdge x = m.leaf({height, width, values}, float32), v = m.leaf({width - 7, height - 5, values}, float32);
  m.g.roots = {m.update(m.map(Op::Add, {x, x}), permuted(m, v, {1, 0, 2}), {2, 3, 0})};
  return m;
}

/// Part of an image, its axes in another order, beside others of any width; one or two results.
Maker random_image(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto dtype = [&] {
    return std::array{Dtype::UInt8, Dtype::Float16, float32, float64,
                      Dtype::Int64}[static_cast<std::size_t>(pick(0, 4))];
  };
  Maker m;
  const Dims image{pick(33, 160), pick(33, 160), pick(2, 8)};
  std::vector<int> from{0, 1, 2}, order{0, 1, 2};  // pixels or planes
  if (pick(0, 2) == 0) from = {2, 0, 1};
  std::shuffle(order.begin(), order.end(), random);
  const auto part = [&] {
    Dims whole, start, extents;
    for (const int d : from) {
      extents.push_back(image[d]);
      start.push_back(d == 2 ? 0 : pick(0, 3) * pick(0, 1));
      whole.push_back(extents.back() + start.back() + (d == 2 ? 0 : pick(0, 3) * pick(0, 1)));
    }
    return permuted(m, slice(m, m.leaf(whole, dtype()), start, extents), order);
  };
  GraphEdge x = part();
  if (pick(0, 2) == 0) x = m.map(Op::Add, {m.map(Op::Cast, {x}, float32), m.map(Op::Cast, {part()}, float32)});
  if (pick(0, 2) == 0)
    x = m.map(Op::Maximum, {m.map(Op::Cast, {x}, float32), m.map(Op::Cast, {m.leaf(m.shape(x), dtype())}, float32)});
  m.g.roots = {m.map(Op::Cast, {m.map(Op::Negative, {m.map(Op::Cast, {x}, float64)})}, dtype())};
  if (pick(0, 3) == 0)
    m.g.roots.push_back(m.map(Op::Cast, {m.map(Op::Negative, {m.map(Op::Cast, {x}, float64)})}, float32));
  return m;
}

}  // namespace

TEST_CASE("transpose: crossed operands have the interpreter's bits", "[transpose]") {
  std::vector<Maker> graphs;
  for (const auto& [rows, columns] : {std::pair{64, 64}, {128, 64}, {33, 65}, {100, 200}, {131, 67}, {64, 1000}}) {
    graphs.push_back(transpose_add(rows, columns));
    graphs.push_back(many(rows, columns));
    graphs.push_back(permute({rows, columns}, {1, 0}));
  }
  for (const auto& [rows, columns] : {std::pair{64, 80}, {133, 140}}) graphs.push_back(placed(rows, columns));
  check_bits(graphs, Schedule::Transpose);
  graphs.push_back(neighbours(64, 64));
  graphs.push_back(neighbours(70, 131));
  for (const auto& [rows, columns] : {std::pair{9, 10}, {9, 300}, {300, 9}, {17, 15}})
    graphs.push_back(many(rows, columns));
  check_c_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: permutations of several dimensions", "[transpose]") {
  std::vector<Maker> graphs;
  graphs.push_back(permute({2, 40, 3, 50}, {0, 3, 1, 2}));
  graphs.push_back(permute({2, 50, 7, 10}, {0, 2, 3, 1}));
  graphs.push_back(permute({40, 3, 70}, {2, 1, 0}));
  graphs.push_back(permute({40, 5, 70}, {1, 2, 0}));
  graphs.push_back(permute({3, 40, 2, 70}, {2, 3, 0, 1}));
  check_bits(graphs, Schedule::Transpose);
  check_c_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: elements of every width", "[transpose]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::Bool, Dtype::UInt8, Dtype::Float16, Dtype::Int32, Dtype::Int64, Dtype::Float64}) {
    graphs.push_back(permute({128, 256}, {1, 0}, d));
    graphs.push_back(permute({132, 140}, {1, 0}, d));
    graphs.push_back(permute({67, 201}, {1, 0}, d));
  }
  check_bits(graphs, Schedule::Transpose);
  check_c_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: small elements move in words, and rows begin with sectors", "[transpose]") {
  const auto row = [](const Dims& shape, Dtype d) {
    const KernelIr ir = lowered(permute(shape, {1, 0}, d)).ir;
    return std::tuple{ir.vector(), ir.as<codegen::TransposeLayout>().sector, ir.accesses[0].aligned};
  };
  CHECK(row({128, 256}, Dtype::UInt8) == std::tuple{4, 0, true});
  CHECK(row({130, 256}, Dtype::UInt8) == std::tuple{4, 32, true});
  CHECK(row({128, 255}, Dtype::UInt8) == std::tuple{4, 0, false});
  CHECK(row({144, 256}, Dtype::Float16) == std::tuple{2, 0, true});
  CHECK(row({130, 255}, Dtype::Float16) == std::tuple{2, 16, false});
  CHECK(row({128, 256}, float32) == std::tuple{1, 0, false});
  CHECK(row({129, 256}, float32) == std::tuple{1, 8, false});
  CHECK(row({129, 256}, float64) == std::tuple{1, 4, false});
  const auto tile = [](const Maker& m) {
    const KernelIr ir = lowered(m).ir;
    return std::pair{ir.as<codegen::TransposeLayout>().rows, ir.as<codegen::TransposeLayout>().columns};
  };
  CHECK(tile(permute({300, 512}, {1, 0}, Dtype::UInt8)) == std::pair{256, 128});
  CHECK(tile(permute({300, 511}, {1, 0}, Dtype::UInt8)) == std::pair{252, 128});  // lines are a word longer
  CHECK(tile(permute({300, 511}, {1, 0}, Dtype::Float16)) == std::pair{190, 64});
  CHECK(tile(permute({300, 511, 3}, {2, 1, 0}, Dtype::UInt8)) == std::pair{126, 64});
}

TEST_CASE("transpose: matrices that begin anywhere, of rows that do", "[transpose]") {
  std::vector<Maker> graphs;
  for (const auto& [d, big] : {std::pair<Dtype, std::int64_t>{Dtype::UInt8, 400},
                               {Dtype::Float16, 280},
                               {Dtype::Int64, 135},
                               {Dtype::Int32, 150},
                               {Dtype::Float64, 90}})
    for (std::int64_t first = 0; first < 5; ++first) {
      graphs.push_back(turned_slice({big + 1, 2 * big - 3}, {first, 3 * first}, {big - 5, 2 * big - 19}, d));
      graphs.push_back(turned_slice({40 + first, 300}, {first, 1}, {39, 270 + first}, d));
      graphs.push_back(turned_into({310 + first, 170}, {2, first}, {299, 160 - first}, d));
    }
  for (const Dtype d : {Dtype::UInt8, Dtype::Float16, Dtype::Float64})
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{257, 383}, {130, 511}, {300, 34}}) {
      graphs.push_back(transpose_add(rows, columns, d));
      graphs.push_back(two_widths(rows, columns, d));
    }
  check_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: images whose rows and columns change places", "[transpose][sweep]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::Bool, Dtype::UInt8, Dtype::Float16, Dtype::Float32, Dtype::Int64})
    for (const std::int64_t values : {2, 3, 4, 5, 8})
      for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{72, 160}, {67, 141}, {33, 34}}) {
        graphs.push_back(permute({height, width, values}, {1, 0, 2}, d));
        graphs.push_back(permute({height, width, values}, {2, 1, 0}, d));
        graphs.push_back(permute({values, height, width}, {2, 1, 0}, d));
      }
  graphs = part_of_sweep(std::move(graphs), 4);
  for (const Maker& m : graphs) CHECK(lowered(m).ir.as<codegen::TransposeLayout>().channels > 1);
  graphs.push_back(permute({40, 50, 3}, {1, 2, 0}));  // a matrix
  graphs.push_back(permute({2, 40, 50, 3}, {0, 2, 1, 3}));
  graphs.push_back(permute({40, 5, 50, 3}, {2, 1, 0, 3}));
  check_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: pixels stored narrower than they are loaded", "[transpose]") {
  std::vector<Maker> graphs;
  for (const auto& [from, to] : {std::pair{float64, Dtype::UInt8},
                                 {float32, Dtype::UInt8},
                                 {Dtype::Float16, Dtype::UInt8},
                                 {float64, Dtype::Float16}})
    for (const std::int64_t values : {3, 5, 7, 8})
      for (const std::int64_t height : {72, 67}) {
        Maker m;
        m.g.roots = {m.map(Op::Cast, {permuted(m, m.leaf({height, 141, values}, from), {1, 0, 2})}, to)};
        graphs.push_back(std::move(m));
      }
  check_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: random images in random orders", "[transpose][sweep]") {
  std::vector<std::uint64_t> seeds(environment("TARRY_FUZZ_ARRAYS", 400));
  std::iota(seeds.begin(), seeds.end(), environment("TARRY_FUZZ_SEED", 1000));
  seeds = part_of_sweep(std::move(seeds), 4);
  std::vector<Maker> graphs;
  for (const std::uint64_t seed : seeds) {
    Maker m = random_image(static_cast<unsigned>(seed));
    if (lowered(m).ir.schedule() == Schedule::Transpose) graphs.push_back(std::move(m));
  }
  CHECK(graphs.size() > seeds.size() / 4);
  check_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: images among other operands", "[transpose]") {
  std::vector<Maker> graphs;
  for (const std::int64_t values : {2, 3, 4, 8})
    for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{64, 128}, {67, 45}}) {
      graphs.push_back(normalised(height, width, values, {1, 0, 2}));
      graphs.push_back(normalised(height, width, values, {2, 1, 0}));
      graphs.push_back(placed_pixels(height, width, values));
    }
  for (const Maker& m : graphs) CHECK(lowered(m).ir.as<codegen::TransposeLayout>().channels > 1);
  check_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: pixels of two sizes, and of many values, have no tile", "[transpose]") {
  CHECK(lowered(permute({40, 50, 9}, {1, 0, 2})).ir.schedule() == Schedule::Pointwise);
  CHECK(lowered(permute({40, 32, 3}, {1, 0, 2})).ir.schedule() == Schedule::Pointwise);
  Maker m;  // a guard that holds for some values of a pixel
  const GraphEdge x = m.leaf({50, 40, 3}, float32), v = m.leaf({40, 50, 2}, float32);
  m.g.roots = {m.update(m.map(Op::Add, {x, x}), permuted(m, v, {1, 0, 2}), {0, 0, 1})};
  const auto layout = lowered(m).ir.layout;
  const auto* const transpose = std::get_if<codegen::TransposeLayout>(&layout);
  CHECK((transpose == nullptr || transpose->channel_dimension == -1));
}

TEST_CASE("transpose: short dimensions and rows that stay whole are pointwise", "[transpose]") {
  CHECK(lowered(permute({9, 1000}, {1, 0})).ir.schedule() == Schedule::Pointwise);
  CHECK(lowered(permute({1000, 9}, {1, 0})).ir.schedule() == Schedule::Pointwise);
  CHECK(lowered(permute({32, 32}, {1, 0})).ir.schedule() == Schedule::Pointwise);
  CHECK(lowered(permute({4, 50, 60, 9}, {0, 2, 1, 3})).ir.schedule() == Schedule::Pointwise);
  const char* const cpu = "x86-64-v4";
  CHECK(lowered(permute({8, 8}, {1, 0}), cpu).ir.schedule() == Schedule::Pointwise);
  CHECK(lowered(permute({9, 9}, {1, 0}), cpu).ir.schedule() == Schedule::Transpose);
  CHECK(lowered(permute({4, 50, 60, 9}, {0, 2, 1, 3}), cpu).ir.schedule() == Schedule::Pointwise);
}

TEST_CASE("transpose: a short dimension goes inside of all but a run of the last one", "[transpose]") {
  CHECK(lowered(permute({6000, 9}, {1, 0})).args.extents == Dims{2, 9, 3000});
  CHECK(lowered(permute({40, 5000, 9}, {2, 0, 1})).args.extents == Dims{50, 9, 4000});
  CHECK(lowered(permute({40, 500, 9}, {2, 1, 0})).args.extents == Dims{500, 9, 40});
  CHECK(lowered(permute({4099, 9}, {1, 0})).args.extents == Dims{9, 4099});  // a prime
  CHECK(lowered(permute({500, 9}, {1, 0})).args.extents == Dims{9, 500});
  std::vector<Maker> graphs, parts;
  for (const Dtype d : {Dtype::UInt8, Dtype::Float32, Dtype::Float64}) {
    graphs.push_back(permute({6000, 9}, {1, 0}, d));
    graphs.push_back(permute({40, 500, 9}, {2, 1, 0}, d));
    graphs.push_back(permute({3, 40, 500, 10}, {3, 0, 2, 1}, d));
    parts.push_back(turned_slice({6000, 6}, {0, 1}, {6000, 5}, d));  // of pixels
    CHECK(lowered(parts.back(), "x86-64-v3").args.extents == Dims{2, 5, 3000});
  }
  graphs.push_back(many(9, 6000));
  check_bits(graphs, Schedule::Pointwise);
  check_c_bits(parts, Schedule::Pointwise);
}

TEST_CASE("transpose: in C pixels become planes, planes pixels, and both change places", "[transpose][sweep]") {
  std::vector<Maker> graphs;
  for (const Dtype d : {Dtype::UInt8, Dtype::Float16, Dtype::Float32, Dtype::Float64})
    for (const std::int64_t values : {2, 3, 4, 5, 6, 7, 8}) {
      if (values > 3 && values % 2 == (d == Dtype::UInt8 || d == Dtype::Float32)) continue;
      graphs.push_back(permute({1003, values}, {1, 0}, d));
      graphs.push_back(permute({values, 1003}, {1, 0}, d));
      for (const std::vector<int>& order : {std::vector{1, 0, 2}, {2, 1, 0}})
        graphs.push_back(permute({67, 141, values}, order, d));
      graphs.push_back(permute({values, 67, 141}, {2, 1, 0}, d));
    }
  graphs.push_back(permute({4, 50, 60, 8}, {0, 2, 1, 3}));
  graphs.push_back(permute({50, 60, 8}, {1, 0, 2}, Dtype::UInt8));
  graphs.push_back(permute({5, 40, 3}, {0, 2, 1}));
  graphs.push_back(permute({6, 5, 40, 4}, {3, 1, 0, 2}));
  for (const std::int64_t values : {2, 3, 8}) {
    graphs.push_back(normalised(67, 45, values, {1, 0, 2}));
    graphs.push_back(normalised(67, 45, values, {2, 1, 0}));
    graphs.push_back(placed_pixels(67, 45, values));
  }
  graphs.push_back(many(5, 6000));
  graphs = part_of_sweep(std::move(graphs), 4);
  for (const Maker& m : graphs) CHECK(lowered(m, "x86-64-v2").ir.as<codegen::TransposeLayout>().channels > 1);
  check_c_bits(graphs, Schedule::Transpose);
}

TEST_CASE("transpose: tiles fit the stack of a small thread", "[transpose]") {
  const auto sums = [](int count) {
    Maker m;
    GraphEdge sum = m.leaf({100, 90}, float64);
    for (int i = 0; i < count; ++i) sum = m.map(Op::Add, {sum, permuted(m, m.leaf({90, 100}, float64), {1, 0})});
    m.g.roots = {sum};
    return lowered(m, "x86-64-v3").ir;
  };
  CHECK(sums(4).schedule() == Schedule::Transpose);
  CHECK(sums(4).as<codegen::TransposeLayout>().rows == 32);
  CHECK(sums(9).schedule() == Schedule::Pointwise);
}

TEST_CASE("transpose: kernels compile without spills", "[transpose][sweep]") {
  TARRY_REQUIRE_NVRTC();
  check_compiles({transpose_add(128, 256),
                  many(128, 256),
                  placed(128, 256),
                  permute({128, 256}, {1, 0}, Dtype::UInt8),
                  permute({129, 255}, {1, 0}, Dtype::UInt8),
                  turned_slice({300, 300}, {1, 3}, {131, 257}, Dtype::Float16),
                  turned_into({300, 300}, {1, 3}, {131, 257}, Dtype::UInt8),
                  two_widths(257, 383, Dtype::UInt8),
                  transpose_add(129, 257, Dtype::UInt8),
                  permute({128, 256}, {1, 0}, Dtype::Float16),
                  permute({2, 40, 3, 50}, {0, 3, 1, 2}, Dtype::Int64),
                  permute({73, 160, 2}, {1, 0, 2}, Dtype::UInt8),
                  permute({73, 160, 3}, {1, 0, 2}, Dtype::UInt8),
                  permute({73, 160, 4}, {1, 0, 2}, Dtype::UInt8),
                  permute({73, 160, 8}, {1, 0, 2}, Dtype::UInt8),
                  permute({73, 160, 3}, {2, 1, 0}, Dtype::UInt8),
                  permute({3, 73, 160}, {2, 1, 0}, Dtype::UInt8),
                  permute({8, 73, 160}, {2, 1, 0}, Dtype::UInt8),
                  permute({72, 160, 3}, {1, 0, 2}, Dtype::UInt8),
                  permute({4, 72, 160}, {2, 1, 0}),
                  permute({72, 160, 3}, {2, 1, 0}, Dtype::Float16),
                  permute({72, 161, 2}, {1, 0, 2}, Dtype::Float64),
                  permute({72, 160, 8}, {1, 0, 2}, Dtype::UInt8),
                  permute({72, 160, 8}, {2, 1, 0}, Dtype::Float64),
                  permute({7, 72, 160}, {2, 1, 0}),
                  normalised(64, 128, 3, {1, 0, 2}),
                  normalised(67, 45, 4, {2, 1, 0}),
                  placed_pixels(64, 128, 3)});
}

TEST_CASE("transpose: golden text", "[transpose]") {
  check_golden("render_cuda_transpose", transpose_add(128, 256));
  check_golden("render_cuda_transpose_odd", permute({129, 255}, {1, 0}, Dtype::UInt8));
  check_golden("render_cuda_transpose_interleaved", normalised(64, 128, 3, {1, 0, 2}));
  check_golden("render_c_transpose", transpose_add(128, 256), "x86-64-v3");
}

TEST_CASE("transpose: the verifier refuses tiles that are none", "[transpose]") {
  const KernelIr good = lowered(transpose_add(128, 256)).ir;
  const auto refused = [&](const auto& change) { check_refused(good, change); };
  refused([](KernelIr& ir) { ir.as<codegen::TransposeLayout>().across = -1; });
  refused([](KernelIr& ir) { ir.as<codegen::TransposeLayout>().across = 1; });
  refused([](KernelIr& ir) { ir.as<codegen::TransposeLayout>().rows = 12; });
  refused([](KernelIr& ir) { ir.as<codegen::TransposeLayout>().columns = 12; });
  KernelIr bytes = lowered(permute({129, 255}, {1, 0}, Dtype::UInt8)).ir;
  check_refused(bytes, [](KernelIr& ir) { ir.as<codegen::TransposeLayout>().rows -= 2; });
  refused([](KernelIr& ir) { ir.as<codegen::TransposeLayout>().sector = 12; });
  check_refused(lowered(permute({72, 161, 5}, {1, 0, 2}, Dtype::UInt8)).ir,
                [](KernelIr& ir) { ir.as<codegen::TransposeLayout>().columns = 16; });
  refused([](KernelIr& ir) { ir.accesses.back().strides.back() = codegen::StrideClass::Any; });
  refused([](KernelIr& ir) { ir.as<codegen::TransposeLayout>().channels = 3; });
  refused([](KernelIr& ir) { ir.accesses.back().interleaved_along = 1; });
}
