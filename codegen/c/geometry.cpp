// How a C kernel is divided into work items: the rule of its schedule's row, and those of pointwise kernels,
// contractions and scans. The others stand beside their renderers.
#include <algorithm>
#include <bit>

#include "codegen/c/scan_steps.h"
#include "codegen/ir/contract.h"
#include "support/check.h"

namespace tarry::codegen {

Geometry geometry_c_contract(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  constexpr std::int64_t kMostChunks = 64;
  const auto cover = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  const ContractRun run = contract_run(ir, target);
  const int row = ir.rank - (ir.is_map() ? 2 : 1);
  Geometry g;
  g.outer_tiles = cover(args.extents[row], ContractRun::kItemRows);
  for (int d = 0; d < row; ++d) g.outer_tiles *= args.extents[d];
  if (ir.is_map()) {
    g.outer_tiles *= cover(args.extents[row + 1], run.columns);
    return g;
  }
  TARRY_ASSERT(args.reduced > kLongestLoop);
  const std::int64_t blocks = cover(args.reduced, 128), longest = std::int64_t{1} << (ContractRun::kLevels - 1);
  g.chunk_blocks = run.columns / 128;
  while (g.chunk_blocks < longest && cover(blocks, g.chunk_blocks) > kMostChunks) g.chunk_blocks *= 2;
  g.chunks = cover(blocks, g.chunk_blocks);
  if (g.chunks > 1) g.scratch_bytes = static_cast<std::size_t>(g.chunks * args.outer_count()) * (8 + state_bytes(ir));
  return g;
}

Geometry geometry_c_scan(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  constexpr std::int64_t kBlock = 128;
  constexpr std::int64_t kEnoughTiles = 64;       // fills the threads of a large machine without chunks
  constexpr std::int64_t kChunkPoints = 1 << 16;  // large enough to hide the cost of an item, small enough to balance
  constexpr std::int64_t kMostItems = 1024;
  Geometry g;
  const int tile = ir.schedule() == Schedule::ScanSerial ? scan_width(ir) : 1;
  g.outer_tiles = tile_count(args, tile);
  if (g.outer_tiles == 0) return g;
  const std::int64_t blocks = std::max<std::int64_t>(1, args.reduced / kBlock + (args.reduced % kBlock != 0));
  g.chunk_blocks = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks)));
  if (g.outer_tiles >= kEnoughTiles && blocks <= kMostBlocks) return g;
  std::int64_t wanted = std::max<std::int64_t>(1, kChunkPoints / kBlock / tile);
  while (wanted < kMostBlocks && (blocks + wanted - 1) / wanted * g.outer_tiles > kMostItems) wanted *= 2;
  if (wanted >= blocks) return g;
  g.chunk_blocks = wanted;
  g.chunks = (blocks + wanted - 1) / wanted;
  g.scratch_bytes = static_cast<std::size_t>(g.grid()) * scan_state_bytes(ir, tile);
  return g;
}

Geometry geometry_c_pointwise(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  g.outer_tiles = args.outer_count();
  g.dense = dense_stores(ir, args, 1);
  return g;
}

Geometry geometry_c(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  using Rule = Geometry (*)(const KernelIr&, const graph::Target&, const KernelArgs&);
  static constexpr Rule kRules[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, render, geometry, ...) geometry,
#include "codegen/ir/schedules.def"
  };
  return kRules[ir.layout.index()](ir, target, args);
}

}  // namespace tarry::codegen
