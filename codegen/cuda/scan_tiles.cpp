// CUDA C of ScanTiles. Thread blocks take tiles of rows by number. Loading warps stage a tile in shared memory and
// publish its node of tree R at once; a gathering warp collects the published nodes before it and folds them; scanning
// warps, which wait for that fold alone, write the tile. A tile waits only for tiles of smaller number, and those were
// taken by thread blocks that run: progress needs nothing of the scheduler. Which thread block takes a tile changes no
// bit, since every fold is of the same nodes in the same order.
#include <algorithm>
#include <bit>

#include "codegen/cuda/scan.h"

#include <fmt/format.h>

#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr std::string_view kSlot =
    "// A tile in shared memory, beside its elements: nodes of its blocks, of pairs and of fours of them, and of all.\n"
    "struct $N_slot { $N_0_state one[$BLOCKS], two[$BLOCKS / 2], four[$BLOCKS / 4], all, offset; tarry_u32 number; };";
constexpr std::string_view kCombineSlot =
    "// A tile in shared memory, beside its elements: nodes of its blocks, and of all.\n"
    "struct $N_slot { $N_0_state one[$BLOCKS], all; $N_maybe offset; tarry_u32 number; };";
constexpr std::string_view kBeforeBlock =
    "      if (block & 2) offset = $N_combine(offset, slot.two[unit * 2]);\n"
    "      if (block & 1) offset = $N_combine(offset, slot.one[block & -2]);\n";

constexpr std::string_view kTileTypes = R"(
struct alignas(16) $N_quad { $N_0_state v[4]; };
$SLOT
// The tiles of a row, and where the nodes of tiles, of 16 tiles, of 256, ... are published: level l has those of 16^l.
struct $N_plan { tarry_u64* words; tarry_u32 tiles, row_tiles, row_nodes; };

// Nodes of a row on the levels before one.
__device__ __forceinline__ tarry_u32 $N_nodes_below(tarry_u32 tiles, tarry_u32 level) {
  tarry_u32 nodes = 0;
#pragma unroll
  for (tarry_u32 l = 0; l < 6; ++l)
    if (l < level) nodes += tiles >> 4 * l;
  return nodes;
}
__device__ __forceinline__ $N_plan $N_make_plan(const $N_params& p) {
  $N_plan plan;
  plan.row_tiles = (tarry_u32)((p.n + $TILE - 1) / $TILE);
  plan.tiles = (tarry_u32)p.count * plan.row_tiles;
  plan.row_nodes = $N_nodes_below(plan.row_tiles, 6);
  plan.words = (tarry_u64*)(p.tickets + 4);
  return plan;
}
__device__ __forceinline__ tarry_u64* $N_published(const $N_plan& plan, tarry_u32 row, tarry_u32 level) {
  return plan.words + ((tarry_u64)row * plan.row_nodes + $N_nodes_below(plan.row_tiles, level)) * $PARTS;
}

// Barriers of some warps of the thread block: meet waits for the others, leave does not.
__device__ __forceinline__ void $N_meet(int id, int threads) {
  asm volatile("barrier.cta.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void $N_leave(int id, int threads) {
  asm volatile("barrier.cta.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ tarry_u32 $N_next(tarry_u32* ticket) {
  tarry_u32 before;
  asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
  return before;
}
// Counts a thread block out; what those counted before have read and written is done.
__device__ __forceinline__ tarry_u32 $N_arrive(tarry_u32* ticket) {
  tarry_u32 before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
  return before;
}

// A node is published as words of 32 of its bits beside a mark, each written at once: no order between them is needed.
union $N_parts { $N_0_state s; tarry_u32 part[$PARTS]; };
__device__ __forceinline__ void $N_publish(tarry_u64* to, $N_0_state s) {
  $N_parts parts;
  parts.s = s;
#pragma unroll
  for (int i = 0; i < $PARTS; ++i) {
    const tarry_u64 word = (tarry_u64)parts.part[i] << 32 | 1;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(to + i), "l"(word) : "memory");
  }
}
__device__ __forceinline__ tarry_u64 $N_peek(const tarry_u64* from) {
  tarry_u64 word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}
)";

constexpr std::string_view kStage = R"(
// The nodes of four blocks of a tile, and those of pairs and of all four.
__device__ __forceinline__ void $N_note($N_slot& slot, int unit, const $N_0_state (&x)[16]) {
  const int lane = threadIdx.x & 31, block = unit * 4 + lane / 8;
  $N_0_state node = $N_node(x);
  if ((lane & 7) == 0) slot.one[block] = node;
  node = $N_across(node, 8);
  if ((lane & 15) == 0) slot.two[block / 2] = node;
  node = $N_across(node, 16);
  if (lane == 0) slot.four[unit] = node;
}
// The node of a tile, by one warp.
__device__ __forceinline__ void $N_complete(const $N_plan& plan, $N_slot& slot, tarry_u32 row, tarry_u32 at) {
  const int lane = threadIdx.x & 31;
  $N_0_state node = lane < $BLOCKS / 4 ? slot.four[lane] : $N_neutral();
#pragma unroll
  for (int d = 1; d < $BLOCKS / 4; d *= 2) node = $N_across(node, d);
  if (lane != 0) return;
  $N_publish($N_published(plan, row, 0) + (tarry_u64)at * $PARTS, node);
  slot.all = node;
}
__device__ __forceinline__ void $N_stage($N_quad* quads, int unit, const $N_0_state (&x)[16]) {
  const int lane = threadIdx.x & 31, block = unit * 4 + lane / 8;
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    $N_quad quad;
#pragma unroll
    for (int j = 0; j < 4; ++j) quad.v[j] = x[s * 4 + j];
    quads[block * 32 + s * 8 + (lane & 7)] = quad;
  }
}
__device__ __forceinline__ void $N_staged(const $N_quad* quads, int unit, $N_0_state (&x)[16]) {
  const int lane = threadIdx.x & 31, block = unit * 4 + lane / 8;
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const $N_quad quad = quads[block * 32 + s * 8 + (lane & 7)];
#pragma unroll
    for (int j = 0; j < 4; ++j) x[s * 4 + j] = quad.v[j];
  }
}
)";

constexpr std::string_view kLoader = R"(
// Takes tiles, stages them and publishes their nodes. A tile is taken only where it can be loaded at once: others wait for it.
__device__ __forceinline__ void $N_loader(const $N_params& p, const $N_plan& plan, $N_quad* stage, $N_slot* slots) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const bool leader = warp == 0 && lane == 0;
#pragma unroll 1
  for (tarry_u32 turn = 0;; ++turn) {
    const int place = turn % $STAGES;
    $N_slot& slot = slots[place];
    $N_quad* const quads = stage + place * ($BLOCKS * 32);
    if (turn >= $STAGES) $N_meet($EMPTY + place, 32 * ($LOADERS + $SCANNERS));
    if (leader) slot.number = $N_next(p.tickets);
    $N_meet($TAKEN, 32 * $LOADERS);
    const tarry_u32 number = slot.number;
    if (number >= plan.tiles) {
      $N_leave($FULL + place, 32 * ($LOADERS + 1));
      return;
    }
    const tarry_u32 row = number / plan.row_tiles, at = number - row * plan.row_tiles;
    const $N_at t = $N_place(p, ($O)row);
    const $N_row r = $N_begin(p, t, 0);
    const tarry_i64 first = (tarry_i64)at * $TILE;
    const int m = p.n - first < $TILE ? (int)(p.n - first) : $TILE;
    $N_0_state x[$LOADED][$HELD];
    if (m == $TILE) {
#pragma unroll
      for (int u = 0; u < $LOADED; ++u) $N_inputs<true>(p, t, r, ($K)first + (warp * $LOADED + u) * $UNIT, $UNIT, x[u]);
    } else {
#pragma unroll
      for (int u = 0; u < $LOADED; ++u)
        $N_inputs<false>(p, t, r, ($K)first + (warp * $LOADED + u) * $UNIT, m - (warp * $LOADED + u) * $UNIT, x[u]);
    }
#pragma unroll
    for (int u = 0; u < $LOADED; ++u) {
      $N_stage(quads, warp * $LOADED + u, x[u]);
      $N_note($GIVEslot, warp * $LOADED + u, x[u]);
    }
    $N_meet($TAKEN, 32 * $LOADERS);
    if (warp == 0) $N_complete($GIVEplan, slot, row, at);
    $N_leave($FULL + place, 32 * ($LOADERS + 1));
  }
}
)";

constexpr std::string_view kGatherer = R"(
// The words of a node as they were when it was asked for; marked where nothing is asked.
struct $N_words { tarry_u64 part[$PARTS]; };
__device__ __forceinline__ $N_words $N_ask(const tarry_u64* node, bool asks) {
  $N_words w;
#pragma unroll
  for (int i = 0; i < $PARTS; ++i) w.part[i] = asks ? $N_peek(node + i) : 1;
  return w;
}
// The node, asked for again until all its words are there.
__device__ __forceinline__ $N_0_state $N_await(const tarry_u64* node, $N_words w) {
  $N_parts parts;
#pragma unroll
  for (int i = 0; i < $PARTS; ++i) {
    while ((tarry_u32)w.part[i] == 0) {
      __nanosleep(20);
      w.part[i] = $N_peek(node + i);
    }
    parts.part[i] = (tarry_u32)(w.part[i] >> 32);
  }
  __syncwarp();
  return parts.s;
}

// Finds the offsets of tiles; completes nodes of 16, 256, ... tiles. Lanes 0 to 15 have the nodes of one level that lie in the
// same group of 16 as the tile, lanes 16 to 31 those of the next level.
__device__ __forceinline__ void $N_gatherer(const $N_params& p, const $N_plan& plan, $N_slot* slots) {
  const tarry_u32 lane = threadIdx.x & 31, half = lane >> 4, number_of_16 = lane & 15;
#pragma unroll 1
  for (tarry_u32 turn = 0;; ++turn) {
    const int place = turn % $STAGES;
    $N_slot& slot = slots[place];
    $N_meet($FULL + place, 32 * ($LOADERS + 1));
    const tarry_u32 number = slot.number;
    if (number >= plan.tiles) {
      $N_leave($READY + place, 32 * ($SCANNERS + 1));
      return;
    }
    const tarry_u32 row = number / plan.row_tiles, at = number - row * plan.row_tiles;
    // All levels are asked at once: the way there and back is long.
    const tarry_u64* node[3];
    $N_words words[3];
#pragma unroll
    for (tarry_u32 pair = 0; pair < 3; ++pair) {
      const tarry_u32 level = 2 * pair + half, to = at >> 4 * level;
      node[pair] = $N_published(plan, row, level) + (tarry_u64)((to & ~15u) + number_of_16) * $PARTS;
      words[pair] = $N_ask(node[pair], number_of_16 < (to & 15));
    }
    // What the tile completes goes out before the tile's own offset is known: others wait for it.
    $N_0_state own = slot.all;
#pragma unroll 1
    for (tarry_u32 level = 0; level < 5 && (at >> 4 * level & 15) == 15; ++level) {
      const tarry_u32 to = at >> 4 * level;
      const tarry_u64* const from = $N_published(plan, row, level) + (tarry_u64)((to & ~15u) + number_of_16) * $PARTS;
      $N_0_state s = $N_await(from, $N_ask(from, number_of_16 < 15));
      if (number_of_16 == 15) s = own;
#pragma unroll
      for (int j = 0; j < 4; ++j) s = $N_across($GIVEs, 1 << j);
      own = s;
      if (lane == 0) $N_publish($N_published(plan, row, level + 1) + (tarry_u64)(to >> 4) * $PARTS, own);
    }
    // The canonical list of the tiles before, from the largest node on: four nodes of each level, c[j] of 2^j of the level's.
    $OFFSET offset = $NOTHING();
#pragma unroll
    for (int pair = 2; pair >= 0; --pair) {
      if (at >> 8 * pair == 0) continue;
      const tarry_u32 k = at >> 4 * (2 * pair + half) & 15;
      $N_0_state s = $N_await(node[pair], words[pair]), c[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        c[j] = $N_from(s, (lane & 16) | k >> (j + 1) << (j + 1));
        s = $N_across($GIVEs, 1 << j);
      }
#pragma unroll
      for (int h = 1; h >= 0; --h) {
#pragma unroll
        for (int j = 3; j >= 0; --j)
          if (k >> j & 1) offset = $JOIN($GIVEoffset, c[j]);
        offset = $N_from(offset, h * 16);
      }
    }
    if (lane == 0) slot.offset = offset;
    $N_leave($READY + place, 32 * ($SCANNERS + 1));
  }
}
)";
constexpr std::string_view kScanner = R"(
// Writes tiles whose offsets are known.
__device__ __forceinline__ void $N_scanner(const $N_params& p, const $N_plan& plan, $N_quad* stage, $N_slot* slots) {
  const int lane = threadIdx.x & 31, warp = (threadIdx.x >> 5) - ($LOADERS + 1);
#pragma unroll 1
  for (tarry_u32 turn = 0;; ++turn) {
    const int place = turn % $STAGES;
    $N_slot& slot = slots[place];
    const $N_quad* const quads = stage + place * ($BLOCKS * 32);
    $N_meet($READY + place, 32 * ($SCANNERS + 1));
    const tarry_u32 number = slot.number;
    if (number >= plan.tiles) return;
    const tarry_u32 row = number / plan.row_tiles, at = number - row * plan.row_tiles;
    const $N_at t = $N_place(p, ($O)row);
    const $N_row r = $N_begin(p, t, 0);
    const tarry_i64 first = (tarry_i64)at * $TILE;
    const int m = p.n - first < $TILE ? (int)(p.n - first) : $TILE;
    $N_0_state node[$DEPTH];
    node[0] = lane < $UNITS ? $UNIT_NODES[lane] : $N_neutral();
#pragma unroll
    for (int j = 1; j < $DEPTH; ++j) node[j] = $N_across($GIVEnode[j - 1], 1 << (j - 1));
#pragma unroll 1
    for (int u = 0; u < $SCANNED; ++u) {
      const int unit = warp * $SCANNED + u$OF_BLOCK;
      $OFFSET offset = slot.offset;
#pragma unroll
      for (int j = $DEPTH - 1; j >= 0; --j) {
        const $N_0_state left = $N_from(node[j], unit >> (j + 1) << (j + 1));
        if (unit >> j & 1) offset = $JOIN($GIVEoffset, left);
      }
$WITHIN      $N_0_state x[$HELD];
      $N_staged(quads, unit, x);
      $N_scan($GIVEx, offset);
      if (m == $TILE) $N_results<true>(p, t, r, ($K)first + unit * $UNIT, $UNIT, x);
      else $N_results<false>(p, t, r, ($K)first + unit * $UNIT, m - unit * $UNIT, x);
    }
    $N_leave($EMPTY + place, 32 * ($LOADERS + $SCANNERS));
  }
}

extern "C" __global__ void __launch_bounds__($THREADS, $RESIDENT) $N(const __grid_constant__ struct $N_params p) {
  extern __shared__ uint4 shared_memory[];
  $N_quad* const stage = ($N_quad*)shared_memory;
  __shared__ $N_slot slots[$STAGES];
  __shared__ bool last;
  const $N_plan plan = $N_make_plan(p);
  const int warp = threadIdx.x >> 5;
  if (warp < $LOADERS) $N_loader(p, plan, stage, slots);
  else if (warp < $LOADERS + 1) $N_gatherer(p, plan, slots);
  else $N_scanner(p, plan, stage, slots);
  __syncthreads();
  if (threadIdx.x == 0) last = $N_arrive(p.tickets + 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  const tarry_u64 used = 2 + (tarry_u64)p.count * plan.row_nodes * $PARTS;
  for (tarry_u64 i = threadIdx.x; i < used; i += $THREADS) ((tarry_u64*)p.tickets)[i] = 0;
}
)";

}  // namespace

/// Three tiles in shared memory. Where a tile is 64 KiB, one thread block fills a multiprocessor; what a tile costs
/// beside its bytes, mostly the wait for the slowest tile before it, is the same for all sizes. Wider states need more
/// registers: smaller tiles by fewer threads.
ScanTile scan_tile(const KernelIr& ir) {
  constexpr int kTileBytes = 16 * 1024;
  const int bytes = static_cast<int>(std::bit_ceil(scan_state_bytes(ir)));
  ScanTile tile;
  const int wanted = ir.as<ScanTilesLayout>().units, units = bytes > 4 ? std::min(wanted, 2) : wanted;
  tile.blocks = units * kTileBytes / (kTreeBlock * bytes);
  if (ir.combines()) {  // a warp takes a block at a time, and nodes the blocks of its lanes
    tile.blocks = std::min(tile.blocks, 32);
    tile.loaders = tile.scanners = std::min(tile.blocks, bytes <= 8 ? 8 : 4);
    return tile;
  }
  tile.loaders = std::min({4 * units, std::max(4, 64 / bytes), tile.blocks / 4});
  tile.scanners = std::min(tile.loaders, 8);
  tile.resident = wanted == 1 && bytes <= 4 ? 4 : 1;
  return tile;
}

std::string tile_text(const KernelIr& ir) {
  return fmt::format("{}{}{}{}{}", kTileTypes, ir.combines() ? combine_stage() : kStage, kLoader, kGatherer, kScanner);
}

std::vector<std::pair<std::string, std::string>> tile_choices(const KernelIr& ir) {
  const ScanTile tile = scan_tile(ir);
  const bool combines = ir.combines();
  std::vector<std::pair<std::string, std::string>> all{
      {"$SLOT", combines ? std::string(kCombineSlot) : std::string(kSlot)},
      {"$HELD", combines ? "4" : "16"},
      {"$WITHIN", combines ? std::string() : std::string(kBeforeBlock)},
      {"$OF_BLOCK", combines ? "" : ", block = unit * 4 + lane / 8"},
      {"$UNIT_NODES", combines ? "slot.one" : "slot.four"},
      {"$UNITS", combines ? "$BLOCKS" : "$BLOCKS / 4"},
      {"$UNIT", combines ? "128" : "512"}};
  const auto number = [&](const char* what, std::int64_t by) { all.emplace_back(what, std::to_string(by)); };
  const int unit = combines ? 1 : 4;  // blocks that a warp takes at a time
  int depth = 0;
  while (unit << depth < tile.blocks) ++depth;
  number("$TILE", tile.elements());
  number("$BLOCKS", tile.blocks);
  number("$STAGES", tile.stages);
  number("$LOADERS", tile.loaders);
  number("$LOADED", tile.blocks / unit / tile.loaders);
  number("$SCANNERS", tile.scanners);
  number("$SCANNED", tile.blocks / unit / tile.scanners);
  number("$THREADS", tile.threads());
  number("$RESIDENT", tile.resident);
  number("$DEPTH", combines ? depth + 1 : std::max(depth, 1));
  number("$PARTS", static_cast<std::int64_t>(scan_state_bytes(ir) / 4));
  number("$TAKEN", 1);  // barriers, of which a thread block has 16; 0 is that of all threads
  number("$FULL", 2);
  number("$READY", 2 + tile.stages);
  number("$EMPTY", 2 + 2 * tile.stages);
  TARRY_ASSERT(2 + 3 * tile.stages <= 16);
  return all;
}

}  // namespace tarry::codegen::cuda
