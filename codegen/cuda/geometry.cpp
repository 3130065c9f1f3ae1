// Launch geometry of CUDA kernels: a function of the kernel and its extents, so that bits and grids repeat on every
// GPU.
#include <algorithm>

#include "codegen/cuda/render.h"
#include "support/check.h"

namespace tarry::codegen {
namespace cuda {

OuterTile outer_tile(const KernelIr& ir) {
  // Shared memory of the 48 KB that every target grants a thread block: what passes between warps, and the pending
  // nodes of the columns.
  constexpr std::size_t kLanesBytes = 32 * 1024, kPendingBytes = 14 * 1024;
  constexpr int kMostBlocks = 4, kMostLevels = 12;
  constexpr std::size_t kItemBytes = 40;  // a thread holds four lanes of each column in registers
  const std::size_t state = state_bytes(ir), lane = ir.has_narrow_lanes() ? 4 * ir.reductions.size() : state;
  OuterTile tile;
  auto lanes_bytes = [&] { return static_cast<std::size_t>(tile.columns()) * lane * 8; };
  const auto fewer = [&] { tile.items = tile.items % 2 == 0 ? tile.items / 2 : 1; };
  const auto& layout = ir.as<ReduceOuterLayout>();
  tile.items = layout.vector;
  while (tile.items > 1 && static_cast<std::size_t>(tile.items) * lane > kItemBytes) fewer();
  if (layout.columns > 0) {
    // Few states a thread: what combines them waits for barriers, and another thread block loads meanwhile.
    constexpr std::size_t kFewBytes = 16;
    const auto many = [&] {
      return layout.vector % 2 == 0 && static_cast<std::size_t>(tile.items) * lane > kFewBytes &&
             layout.columns < 16 * tile.items;
    };
    while (tile.items > 1 && (many() || tile.items > layout.columns)) fewer();
    tile.width = std::min(32, layout.columns / tile.items);
  }
  // Moments take long to combine: twice as many blocks are between barriers.
  const int blocks = (tile.items == 1 ? 64 : 32) * (ir.has_moments() ? 2 : 1);
  tile.step_blocks = tile.narrow() ? std::min(blocks / tile.width, kThreads / tile.column_class()) : kMostBlocks;
  const int least = tile.narrow() ? tile.warp_blocks() : 1;
  while (tile.step_blocks > least && lanes_bytes() * static_cast<std::size_t>(tile.step_blocks) > kLanesBytes)
    tile.step_blocks /= 2;
  TARRY_ASSERT(lanes_bytes() <= kLanesBytes && tile.columns() <= kThreads);
  tile.levels = static_cast<int>(
      std::min<std::size_t>(kMostLevels, kPendingBytes / (static_cast<std::size_t>(tile.columns()) * state)));
  return tile;
}

int fold_width(const KernelIr& ir) {
  const std::size_t state = state_bytes(ir);
  return state <= 8 && ir.schedule() == Schedule::ReduceInner ? 16 : state <= 16 ? 8 : 4;
}

namespace {

constexpr std::int64_t kFill = 1024;         ///< thread blocks that keep every GPU of today busy
constexpr std::int64_t kColumnChunks = 256;  ///< of a tile, or more where the last thread block has few states to fold
constexpr std::int64_t kColumnStates = 16384;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Bytes that a tree block of one result reads; a kernel that reads nothing counts as one of float32.
std::int64_t tree_block_bytes(const KernelIr& ir) {
  const auto loaded = static_cast<std::int64_t>(ir.point_bytes());
  return kTreeBlock * (loaded > 0 ? loaded : 4);
}

void cut(Geometry& g, std::int64_t blocks, std::int64_t chunk_blocks) {
  g.chunk_blocks = chunk_blocks;
  g.chunks = std::max<std::int64_t>(1, divide_up(blocks, chunk_blocks));
}

/// Chunks of a row: small ones where that is what fills the GPU, then up to 512 KiB, of one row alone 256 KiB.
void cut_row(Geometry& g, std::int64_t blocks, const KernelIr& ir) {
  const std::int64_t smallest = std::int64_t{kWarps} * 2 * items(ir), largest = smallest * kInnerSteps;
  const std::int64_t folded_at_once = std::int64_t{kThreads} * fold_width(ir);
  constexpr std::int64_t kShort = 256 * 1024;  // bytes
  const std::int64_t usual = ir.rank == 0 ? kShort : 2 * kShort, block_bytes = tree_block_bytes(ir);
  cut(g, blocks, smallest);
  auto too_many = [&] {
    const std::int64_t all = g.outer_tiles * g.chunks, bytes = g.chunk_blocks * block_bytes;
    return g.chunks > folded_at_once || (bytes < kShort && all > kFill) || (bytes < usual && all > 2 * kFill);
  };
  while (g.chunks > 1 && g.chunk_blocks < largest && too_many()) cut(g, blocks, 2 * g.chunk_blocks);
}

/// A chunk has whole steps, or a part of one where that leaves too few chunks. Of a long array of few columns there are
/// more, as the last to run leave multiprocessors idle, and as their states are folded fast unless they are moments.
void cut_columns(Geometry& g, std::int64_t blocks, const KernelIr& ir) {
  constexpr std::int64_t kFew = 64, kLeast = 8, kLong = 128 * 1024;  // bytes
  const cuda::OuterTile tile = outer_tile(ir);
  const std::int64_t largest = std::int64_t{tile.step_blocks} << (tile.levels - 1), columns = tile.columns(),
                     block_bytes = columns * tree_block_bytes(ir);
  const std::int64_t states = tile.narrow() && !ir.has_moments() ? kColumnStates * 3 / 2 : kColumnStates;
  const auto too_many = [&] {
    const std::int64_t fill = tile.narrow() && g.chunk_blocks * block_bytes >= kLong ? states / 8 : kFill;
    return g.outer_tiles * g.chunks > fill || g.chunks > std::max(kColumnChunks, std::min(fill, states / columns));
  };
  cut(g, blocks, tile.narrow() ? tile.step_blocks : 1);
  while (g.outer_tiles * g.chunks < kFew && g.chunk_blocks > kLeast) cut(g, blocks, g.chunk_blocks / 2);
  while (g.chunks > 1 && g.chunk_blocks < largest && too_many()) cut(g, blocks, 2 * g.chunk_blocks);
}

/// Tiles of a contraction share their rows' operands over a chunk's columns, so a chunk is not too short; short ones
/// fill the GPU and end together.
void cut_tiles(Geometry& g, std::int64_t blocks) {
  constexpr std::int64_t kLeast = 8, kEnough = 2 * kFill, kLargest = std::int64_t{1} << (ContractTile::kLevels - 1);
  cut(g, blocks, kLeast);
  while (g.chunks > 1 && g.chunk_blocks < kLargest && g.outer_tiles * g.chunks > kEnough)
    cut(g, blocks, 2 * g.chunk_blocks);
}

/// Scratch memory and counters for the states of chunks that the last thread block of a tile folds.
void fold_chunks(Geometry& g, const KernelIr& ir, const KernelArgs& args) {
  if (g.chunks == 1) return;
  g.scratch_bytes = state_bytes(ir) * static_cast<std::size_t>(args.outer_count() * g.chunks);
  g.ticket_count = static_cast<std::size_t>(g.outer_tiles);
}

std::int64_t tree_blocks(const KernelArgs& args) { return divide_up(args.reduced, kTreeBlock); }

}  // namespace

Geometry geometry_pointwise(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  g.outer_tiles =
      divide_up(args.outer_count(), std::int64_t{pointwise_threads(ir)} * ir.vector() * pointwise_groups(ir));
  return g;
}

Geometry geometry_tiles(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  for (int d = 0; d < ir.rank; ++d) g.outer_tiles *= ir.tiles(d, args.extents[d]);
  return g;
}

Geometry geometry_stencil(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  Geometry g = geometry_tiles(ir, target, args);
  g.outer_tiles = divide_up(g.outer_tiles, kThreads);
  return g;
}

Geometry geometry_planar(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  Geometry g = geometry_tiles(ir, target, args);
  g.outer_tiles = divide_up(g.outer_tiles, std::int64_t{kThreads} * planar_tiles(ir));
  return g;
}

Geometry geometry_serial(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  TARRY_ASSERT(args.reduced <= 32);
  Geometry g;
  std::int64_t threads = 1;
  for (int d = 0; d < ir.rank; ++d) threads *= ir.tiles(d, args.extents[d]);
  g.outer_tiles = divide_up(threads, serial_rows(ir));
  return g;
}

Geometry geometry_reduce_inner(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  TARRY_ASSERT(args.reduced > 32);  // shorter rows are summed from left to right
  const bool warp = ir.as<ReduceInnerLayout>().warps_per_row == 1;
  Geometry g;
  g.outer_tiles = warp ? divide_up(args.outer_count(), kWarps) : args.outer_count();
  if (warp)
    cut(g, tree_blocks(args), std::max<std::int64_t>(1, tree_blocks(args)));
  else
    cut_row(g, tree_blocks(args), ir);
  fold_chunks(g, ir, args);
  return g;
}

Geometry geometry_reduce_outer(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  TARRY_ASSERT(args.reduced > 32);
  const OuterTile tile = outer_tile(ir);
  Geometry g;
  g.outer_tiles = divide_up(args.outer_count(),
                            tile.narrow() ? std::max<std::int64_t>(args.extents[ir.rank - 1], 1) : tile.columns());
  cut_columns(g, tree_blocks(args), ir);
  fold_chunks(g, ir, args);
  return g;
}

Geometry geometry_contract(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  const bool map = ir.is_map();
  const auto row = static_cast<int>(args.extents.size()) - (map ? 2 : 1);
  Geometry g;
  g.outer_tiles = divide_up(args.extents[row], contract_tile(ir).block_rows());
  if (map) g.outer_tiles *= divide_up(args.extents[row + 1], ContractTile::kColumns);
  for (int d = 0; d < row; ++d) g.outer_tiles *= args.extents[d];
  if (!map) cut_tiles(g, tree_blocks(args));
  fold_chunks(g, ir, args);
  return g;
}

Geometry geometry_row_inner(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  const std::int64_t longest = std::int64_t{ir.as<RowInnerLayout>().blocks_per_row} * kTreeBlock;
  TARRY_ASSERT(args.reduced > 32 && args.reduced <= longest);
  Geometry g;
  g.outer_tiles = row_thread_blocks(ir, args.outer_count());
  return g;
}

}  // namespace cuda

Geometry geometry_cuda(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  using namespace cuda;
  using Rule = Geometry (*)(const KernelIr&, const graph::Target&, const KernelArgs&);
  static constexpr Rule kRules[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, c_render, c_geometry, render, geometry) geometry,
#include "codegen/ir/schedules.def"
  };
  TARRY_ASSERT(target.is_cuda());
  return kRules[ir.layout.index()](ir, target, args);
}

}  // namespace tarry::codegen
