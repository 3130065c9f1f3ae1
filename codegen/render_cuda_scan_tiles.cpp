// CUDA C of ScanTiles. Thread blocks take tiles of rows by number. Loading warps stage a tile in shared memory and publish its
// node of tree R at once; a gathering warp collects the published nodes before it and folds them; scanning warps, which wait
// for that fold alone, write the tile. A tile waits only for tiles of smaller number, and those were taken by thread blocks
// that run: progress needs nothing of the scheduler. Which thread block takes a tile changes no bit, since every fold is of
// the same nodes in the same order.
#include <algorithm>
#include <bit>

#include "codegen/render_cuda_scan.h"

#include <fmt/format.h>

#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr std::string_view kTileTypes = R"(
struct alignas(16) $N_quad { $N_0_state v[4]; };
// A tile in shared memory, beside its elements: nodes of its blocks, of pairs and of fours of them, and of all.
struct $N_slot { $N_0_state one[$BLOCKS], two[$BLOCKS / 2], four[$BLOCKS / 4], all, offset; tarry_u32 number; };
// The tiles of a row, and where the nodes of tiles, of 256 and of 65,536 tiles are published.
struct $N_plan { tarry_u64* words; tarry_u32 tiles, row_tiles, row_nodes; };

__device__ __forceinline__ $N_plan $N_make_plan(const $N_params& p) {
  $N_plan plan;
  plan.row_tiles = (tarry_u32)((p.n + $TILE - 1) / $TILE);
  plan.tiles = (tarry_u32)p.count * plan.row_tiles;
  plan.row_nodes = plan.row_tiles + (plan.row_tiles >> 8) + (plan.row_tiles >> 16);
  plan.words = (tarry_u64*)(p.tickets + 4);
  return plan;
}
__device__ __forceinline__ tarry_u64* $N_published(const $N_plan& plan, tarry_u32 row, int level) {
  tarry_u64 node = (tarry_u64)row * plan.row_nodes;
  if (level > 0) node += plan.row_tiles;
  if (level > 1) node += plan.row_tiles >> 8;
  return plan.words + node * $PARTS;
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
    $N_0_state x[$LOADED][16];
    if (m == $TILE) {
#pragma unroll
      for (int u = 0; u < $LOADED; ++u) $N_inputs<true>(p, t, r, ($K)first + (warp * $LOADED + u) * 512, 512, x[u]);
    } else {
#pragma unroll
      for (int u = 0; u < $LOADED; ++u)
        $N_inputs<false>(p, t, r, ($K)first + (warp * $LOADED + u) * 512, m - (warp * $LOADED + u) * 512, x[u]);
    }
#pragma unroll
    for (int u = 0; u < $LOADED; ++u) {
      $N_stage(quads, warp * $LOADED + u, x[u]);
      $N_note(slot, warp * $LOADED + u, x[u]);
    }
    $N_meet($TAKEN, 32 * $LOADERS);
    if (warp == 0) $N_complete(plan, slot, row, at);
    $N_leave($FULL + place, 32 * ($LOADERS + 1));
  }
}
)";

constexpr std::string_view kGatherer = R"(
// Of a group of 256 published nodes of which k are before: the canonical list of those, list[j] of 2^j nodes. Gives the node
// of all 256, node k being `own`. A lane has nodes lane, lane + 32, ...
__device__ __forceinline__ $N_0_state $N_gather(const tarry_u64* nodes, tarry_u32 k, $N_0_state own, $N_0_state* list) {
  const tarry_u32 lane = threadIdx.x & 31, run = k >> 5;
  tarry_u64 words[8][$PARTS];
#pragma unroll
  for (tarry_u32 j = 0; j < 8; ++j) {
#pragma unroll
    for (int i = 0; i < $PARTS; ++i) words[j][i] = j * 32 + lane < k ? $N_peek(nodes + (j * 32 + lane) * $PARTS + i) : 0;
  }
  $N_0_state v[8];
#pragma unroll
  for (tarry_u32 j = 0; j < 8; ++j) {
    v[j] = own;
    if (j * 32 + lane >= k) continue;
    $N_parts parts;
#pragma unroll
    for (int i = 0; i < $PARTS; ++i) {
      while ((tarry_u32)words[j][i] == 0) {
        __nanosleep(20);
        words[j][i] = $N_peek(nodes + (j * 32 + lane) * $PARTS + i);
      }
      parts.part[i] = (tarry_u32)(words[j][i] >> 32);
    }
    v[j] = parts.s;
  }
  // Within the run of 32 where k lies.
  $N_0_state s = v[0];
#pragma unroll
  for (tarry_u32 j = 1; j < 8; ++j)
    if (j == run) s = v[j];
#pragma unroll
  for (int j = 0; j < 5; ++j) {
    const $N_0_state c = $N_from(s, (int)(k & 31) >> (j + 1) << (j + 1));
    if (lane == 0) list[j] = c;
    s = $N_across(s, 1 << j);
  }
  // The nodes of the eight runs, each lane one of them: that whose number has the lane's lowest bits, turned around.
  const bool first = lane & 1, second = lane & 2, third = lane & 4;
  $N_0_state x[4], y[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const $N_0_state other = $N_from(first ? v[i] : v[4 + i], lane ^ 1);
    x[i] = first ? $N_combine(other, v[4 + i]) : $N_combine(v[i], other);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const $N_0_state other = $N_from(second ? x[i] : x[2 + i], lane ^ 2);
    y[i] = second ? $N_combine(other, x[2 + i]) : $N_combine(x[i], other);
  }
  const $N_0_state other = $N_from(third ? y[0] : y[1], lane ^ 4);
  s = third ? $N_combine(other, y[1]) : $N_combine(y[0], other);
  s = $N_across($N_across(s, 8), 16);
  const $N_0_state c5 = $N_from(s, (run >> 2 & 1) | (run & 2));
  s = $N_across(s, 4);
  const $N_0_state c6 = $N_from(s, run >> 2 & 1);
  s = $N_across(s, 2);
  if (lane == 0) {
    list[5] = c5;
    list[6] = c6;
    list[7] = s;
  }
  return $N_across(s, 1);
}

// Finds the offsets of tiles; completes nodes of 256 and 65,536 tiles.
__device__ __forceinline__ void $N_gatherer(const $N_params& p, const $N_plan& plan, $N_slot* slots, $N_0_state* lists) {
  const tarry_u32 lane = threadIdx.x & 31;
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
    $N_0_state own = slot.all;
    bool completes = true;
    const tarry_u64* nodes = $N_published(plan, row, 0) + (tarry_u64)(at & ~255u) * $PARTS;
#pragma unroll 1
    for (int level = 0; level < 3 && (completes || at >> 8 * level != 0); ++level) {
      const tarry_u32 k = at >> 8 * level & 255, parent = at >> 8 * level >> 8;
      tarry_u64* const above = $N_published(plan, row, level + 1);
      own = $N_gather(nodes, k, own, lists + level * 8);
      completes = completes && k == 255;
      if (completes && level < 2 && lane == 0) $N_publish(above + (tarry_u64)parent * $PARTS, own);
      nodes = above + (tarry_u64)(parent & ~255u) * $PARTS;
    }
    __syncwarp();
    $N_0_state offset = $N_neutral();
#pragma unroll 1
    for (int j = 31 - __clz(at); j >= 0; --j)
      if (at >> j & 1) offset = $N_combine(offset, lists[j]);
    __syncwarp();
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
    node[0] = lane < $BLOCKS / 4 ? slot.four[lane] : $N_neutral();
#pragma unroll
    for (int j = 1; j < $DEPTH; ++j) node[j] = $N_across(node[j - 1], 1 << (j - 1));
#pragma unroll 1
    for (int u = 0; u < $SCANNED; ++u) {
      const int unit = warp * $SCANNED + u, block = unit * 4 + lane / 8;
      $N_0_state offset = slot.offset;
#pragma unroll
      for (int j = $DEPTH - 1; j >= 0; --j) {
        const $N_0_state left = $N_from(node[j], unit >> (j + 1) << (j + 1));
        if (unit >> j & 1) offset = $N_combine(offset, left);
      }
      if (block & 2) offset = $N_combine(offset, slot.two[unit * 2]);
      if (block & 1) offset = $N_combine(offset, slot.one[block & -2]);
      $N_0_state x[16];
      $N_staged(quads, unit, x);
      $N_scan(x, offset);
      if (m == $TILE) $N_results<true>(p, t, r, ($K)first + unit * 512, 512, x);
      else $N_results<false>(p, t, r, ($K)first + unit * 512, m - unit * 512, x);
    }
    $N_leave($EMPTY + place, 32 * ($LOADERS + $SCANNERS));
  }
}

extern "C" __global__ void __launch_bounds__($THREADS, $RESIDENT) $N(const __grid_constant__ struct $N_params p) {
  extern __shared__ uint4 shared_memory[];
  $N_quad* const stage = ($N_quad*)shared_memory;
  __shared__ $N_slot slots[$STAGES];
  __shared__ $N_0_state lists[24];
  __shared__ bool last;
  const $N_plan plan = $N_make_plan(p);
  const int warp = threadIdx.x >> 5;
  if (warp < $LOADERS) $N_loader(p, plan, stage, slots);
  else if (warp < $LOADERS + 1) $N_gatherer(p, plan, slots, lists);
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

/// Tiles of 16 KiB, three in 48 KiB of shared memory, so that several thread blocks share a multiprocessor: while one waits
/// the others load and store.
ScanTile scan_tile(const KernelIr& ir) {
  constexpr int kTileBytes = 16 * 1024;
  ScanTile tile;
  tile.blocks = kTileBytes / (kTreeBlock * static_cast<int>(std::bit_ceil(scan_state_bytes(ir))));
  tile.loaders = tile.scanners = std::min(4, tile.blocks / 4);
  return tile;
}

std::string tile_text() { return fmt::format("{}{}{}{}{}", kTileTypes, kStage, kLoader, kGatherer, kScanner); }

std::vector<std::pair<std::string, std::string>> tile_choices(const KernelIr& ir) {
  const ScanTile tile = scan_tile(ir);
  std::vector<std::pair<std::string, std::string>> all;
  const auto number = [&](const char* what, std::int64_t by) { all.emplace_back(what, std::to_string(by)); };
  int depth = 0;
  while (4 << depth < tile.blocks) ++depth;
  number("$TILE", tile.elements());
  number("$BLOCKS", tile.blocks);
  number("$STAGES", tile.stages);
  number("$LOADERS", tile.loaders);
  number("$LOADED", tile.blocks / 4 / tile.loaders);
  number("$SCANNERS", tile.scanners);
  number("$SCANNED", tile.blocks / 4 / tile.scanners);
  number("$THREADS", tile.threads());
  number("$RESIDENT", scan_state_bytes(ir) > 4 ? 1 : 4);
  number("$DEPTH", std::max(depth, 1));
  number("$PARTS", static_cast<std::int64_t>(scan_state_bytes(ir) / 4));
  number("$TAKEN", 1);  // barriers, of which a thread block has 16; 0 is that of all threads
  number("$FULL", 2);
  number("$READY", 2 + tile.stages);
  number("$EMPTY", 2 + 2 * tile.stages);
  TARRY_ASSERT(2 + 3 * tile.stages <= 16);
  return all;
}

}  // namespace tarry::codegen::cuda
