// CUDA C of reductions: tree R of docs/reference/numerics.md, one launch, the same bits for every geometry.
//
// Aligned runs of tree blocks are subtrees of R, so a warp, a thread block and the last thread block to arrive each
// combine a run of their own. A node's elements are counted from positions, never stored.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

/// The tree above whole nodes.
constexpr std::string_view kTree = R"(
// Combines `there` <= kNodes neighbouring nodes of `unit` elements each; the last one may have fewer, `tail`.
template <int kNodes>
__device__ __forceinline__ $S_state $S_tree(const $N_params& p, $S_state (&v)[kNodes], int there, tarry_i64 unit, tarry_i64 tail) {
#pragma unroll
  for (int d = 1; d < kNodes; d *= 2) {
    const int last = (there - 1) / d * d;
    const $S_split whole = $S_even(p, d * unit), cut = $S_share(p, d * unit, tail);
#pragma unroll
    for (int i = 0; i < kNodes; i += 2 * d)
      if (i + d < there) v[i] = $S_combine(v[i], v[i + d], i + d == last ? cut : whole);
    if (last & d) tail += d * unit;
  }
  return v[0];
}
)";

/// The tree above the steps of a thread.
constexpr std::string_view kSteps = R"(
// The nodes of a run's steps, as a binary counter: node `step` of nb <= unit elements comes in.
__device__ __forceinline__ void $S_push(const $N_params& p, $S_state* pending, int pitch, int step, $S_state s, tarry_i64 unit, tarry_i64 nb) {
  int level = 0;
  for (; step >> level & 1; ++level) {
    s = $S_combine(pending[level * pitch], s, $S_share(p, unit << level, nb));
    nb += unit << level;
  }
  pending[level * pitch] = s;
}

// The node of a run of `steps` nodes with m elements in all: what is pending, from the right.
__device__ __forceinline__ $S_state $S_collect(const $N_params& p, const $S_state* pending, int pitch, int steps, tarry_i64 unit, tarry_i64 m) {
  int level = __ffs(steps) - 1;
  $S_state s = pending[level * pitch];
  tarry_i64 nb = m - (tarry_i64)(steps & (steps - 1)) * unit;
  for (++level; steps >> level; ++level) {
    if (!(steps >> level & 1)) continue;
    s = $S_combine(pending[level * pitch], s, $S_share(p, unit << level, nb));
    nb += unit << level;
  }
  return s;
}
)";

constexpr std::string_view kArrive = R"(
// Counts a thread block in; what it and those counted before have written is visible to the last one.
__device__ __forceinline__ tarry_u32 $N_arrive(tarry_u32* ticket) {
  tarry_u32 before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
  return before;
}
)";

/// The work of the last thread block of a tile of columns, or of a row with very many chunks.
constexpr std::string_view kFoldColumns = R"(
// Folds chunk states of `unit` elements in place, $R at a time, to at most `most`: of one chunk part[0, $C) are the results.
__device__ __forceinline__ void $S_fold(const $N_params& p, $S_state* part, tarry_i64 pitch, int columns, int& chunks, tarry_i64& unit, int most) {
  for (; chunks > most; unit *= $R) {
    const int nodes = (chunks + $R - 1) / $R;
    const tarry_i64 tail = $total - (chunks - 1) * unit;
    for (int base = 0; base < nodes * $C; base += 256) {
      const int at = base + (int)threadIdx.x, node = at / $C, column = at % $C;
      const bool mine = node < nodes && column < columns;
      $S_state v[$R];
      if (mine) {
        const int there = chunks - node * $R < $R ? chunks - node * $R : $R;
        const $S_state* from = part + (tarry_i64)node * $R * pitch + column;
#pragma unroll
        for (int i = 0; i < $R; ++i)
          if (i < there) v[i] = from[i * pitch];
        v[0] = $S_tree(p, v, there, unit, node == nodes - 1 ? tail : unit);
      }
      __syncthreads();
      if (mine) part[node * pitch + column] = v[0];
      __syncthreads();
    }
    chunks = nodes;
  }
}
)";

/// A warp has $D blocks at a time, of $V elements, and $X sets of loads: as soon as the lanes have taken a set, the
/// loads of the next one go out, before the tree above the lanes. Threads read the same vectors of blocks as the tree
/// has them, or, where every order gives the same bits, neighbouring ones. The nodes of 32 steps are kept in shared
/// memory, then combined by the lanes.
constexpr std::string_view kReduceInner = R"(
// The node of up to 32 neighbouring nodes, one in each lane, of `unit` elements each and m in all; it is in lane 0.
__device__ __forceinline__ $S_state $N_across_lanes(const $N_params& p, $S_state s, tarry_i64 unit, tarry_i64 m) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const $S_state b = $S_down(s, d);
    const tarry_i64 left = m - (lane + d) * unit;
    if (left > 0) s = $S_combine(s, b, $S_share(p, d * unit, left < d * unit ? left : d * unit));
  }
  return s;
}

// The node of elements [first, first + m), 0 < m <= 64 $V, of a row, by one warp; it is in lane 0.
__device__ __forceinline__ $S_state $N_run(const $N_params& p, const $N_at& t, const $N_row& r, $K first, int m, $S_state* kept) {
  const int lane = threadIdx.x & 31;
  int step = 0, left = m;
@U  if (left >= 2 * $V) {
@U    $K k = first + $FIRST;
@U    $S_loads x[4 * $X];
@U#pragma unroll
@U    for (int s = 0; s < 4 * $X; ++s) $S_load(p, t, k + (s / 4) * $V + (s % 4) * $PITCH, $ALL, x[s]);
@U#pragma unroll 1
@U    for (; left >= 2 * $V; left -= 2 * $V, ++step) {
@U      $S_state node;
@U#pragma unroll
@U      for (int half = 0; half < 2; ++half, k += $V) {
@U        $lane c[$W];
@U        $S_take(p, t, r, x + half % $X * 4, k, c);
@U        if (half + $X < 2 || left >= 4 * $V) {
@U#pragma unroll
@U          for (int s = 0; s < 4; ++s) $S_load(p, t, k + $X * $V + s * $PITCH, $ALL, x[half % $X * 4 + s]);
@U        }
@U        const $S_state h = $S_node(p, c);
@U        node = half == 0 ? h : $S_combine(node, h, $S_even(p, $V));
@U      }
@U      if (lane == 0) kept[step] = node;
@U    }
@U    first += m - left;
@U  }
@U  if (left > 0) {
@R#pragma unroll 1
@R  for (; left > 0; left -= 2 * $V, first += 2 * $V, ++step) {
    $S_state node;
#pragma unroll 1
@U    for (int half = 0; half < left; half += $V) {
@R    for (int half = 0; half < (left < 2 * $V ? left : 2 * $V); half += $V) {
      const int some = left - half < $V ? left - half : $V;
      const $S_state h = $S_some(p, t, r, first + half, some);
      node = half == 0 ? h : $S_combine(node, h, $S_share(p, $V, some));
    }
    if (lane == 0) kept[step] = node;
  }
  __syncwarp();
  $S_state s = {};
  if (lane * 2 * $V < m) s = kept[lane];
  __syncwarp();
  return $N_across_lanes(p, s, 2 * $V, m);
}
)";

/// A warp per row.
constexpr std::string_view kInnerWarp = R"(
extern "C" __global__ void __launch_bounds__(256, $M) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $S_state kept[8][32];
  const int warp = threadIdx.x >> 5;
  const tarry_i64 i = (tarry_i64)blockIdx.x * 8 + warp;
  if (i >= p.count) return;
  const $N_at t = $N_place(p, ($O)i);
  const $N_row r = $N_begin(p, t, 0);
  const $S_state s = $N_run(p, t, r, 0, (int)p.n, kept[warp]);
  if ((threadIdx.x & 31) == 0) $S_finish(p, t, s);
}
)";

/// A thread block per chunk of a row; the last one of a row folds the chunks, all at once.
constexpr std::string_view kInnerBlock = R"(
// The node of the thread block's warps, `unit` elements each, `left` in all.
__device__ __forceinline__ $S_state $N_warps(const $N_params& p, const $S_state* nodes, tarry_i64 unit, tarry_i64 left) {
  $S_state v[8];
#pragma unroll
  for (int w = 0; w < 8; ++w) v[w] = nodes[w];
  int there = 8;
  while (left <= (there - 1) * unit) --there;
  return $N_tree(p, v, there, unit, left < there * unit ? left - (there - 1) * unit : unit);
}

// The node of all chunks of `unit` elements, $R or fewer for each thread; it is in thread 0.
__device__ __forceinline__ $S_state $N_fold_row(const $N_params& p, const $S_state* part, $S_state* nodes, int chunks, tarry_i64 unit) {
  int run = 1;
  while (run * 256 < chunks) run *= 2;
  const int first = threadIdx.x * run, there = chunks - first < run ? chunks - first : run;
  const tarry_i64 left = p.n - first * unit;
  $S_state s = {};
  if (there > 0) {
    $S_state v[$R];
#pragma unroll
    for (int i = 0; i < $R; ++i)
      if (i < there) v[i] = part[first + i];
    s = $N_tree(p, v, there, unit, left < there * unit ? left - (there - 1) * unit : unit);
  }
  unit *= run;
  s = $N_across_lanes(p, s, unit, left + (threadIdx.x & 31) * unit);
  if ((threadIdx.x & 31) == 0) nodes[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) s = $N_warps(p, nodes, unit * 32, p.n);
  return s;
}

extern "C" __global__ void __launch_bounds__(256, $M) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $S_state kept[8][32];
  __shared__ $S_state nodes[8];
  __shared__ bool last;
  const tarry_u32 chunks = (tarry_u32)p.chunks, row = blockIdx.x / chunks, chunk = blockIdx.x - row * chunks;
  const int warp = threadIdx.x >> 5;
  const $N_at t = $N_place(p, ($O)row);
  const $N_row r = $N_begin(p, t, 0);
  const tarry_i64 unit = p.chunk_blocks * 16, first = chunk * unit * 8 + warp * unit;
  const tarry_i64 left = p.n - first;
  if (left > 0) {
    const $S_state s = $N_run(p, t, r, ($K)first, (int)(left < unit ? left : unit), kept[warp]);
    if ((threadIdx.x & 31) == 0) nodes[warp] = s;
  }
  __syncthreads();
  $S_state* part = ($S_state*)p.scratch + (tarry_i64)row * chunks;
  if (threadIdx.x == 0) {
    const $S_state s = $N_warps(p, nodes, unit, left < 8 * unit ? left : 8 * unit);
    if (chunks == 1) {
      $S_finish(p, t, s);
      last = false;
    } else {
      part[chunk] = s;
      last = $N_arrive(p.tickets + row) == chunks - 1;
    }
  }
  __syncthreads();
  if (!last) return;
  int parts = (int)chunks;
  tarry_i64 elements = unit * 8;
  $N_fold(p, part, 1, 1, parts, elements, 256 * $R);
  const $S_state s = $N_fold_row(p, part, nodes, parts, elements);
  if (threadIdx.x == 0) {
    p.tickets[row] = 0;
    $S_finish(p, t, s);
  }
}
)";

/// The results of warps for the lanes 0 to 7 of a block, combined.
constexpr std::string_view kColumnLanes = R"(// One column of a block of m <= 128 elements: its lanes 0 to 7.
__device__ __forceinline__ $S_state $S_lanes(const $N_params& p, const $lane* lanes, int m) {
  $lane v[8];
#pragma unroll
  for (int l = 0; l < 8; ++l) v[l] = lanes[l * $C];
#pragma unroll
  for (int d = 4; d > 0; d /= 2) {
    const $S_split uneven = $S_uneven(p, m, d);
#pragma unroll
    for (int l = 0; l < 4; ++l)
      if (l < d && l + d < m) v[l] = $S_combine(v[l], v[l + d], $S_lane_pair(p, m, l, d, uneven));
  }
  return $widen(v[0]);
}

)";

/// Threads side by side hold $W columns each; number w of 8 such rows of threads holds lanes w, w + 8, w + 16, w + 24
/// of a tree block, so that two levels of the tree combine in registers and three through shared memory.
constexpr std::string_view kOuter = R"(
// The $W columns of a block with m <= 128 elements: lanes w, w + 8, w + 16, w + 24 combined, into c.
__device__ __forceinline__ void $N_columns(const $N_params& p, const $N_at& t, const $N_row* r, $K base, int m, $lane* c) {
  const int w = $ROW;
@U  $lane lane[4][$W];
)";

/// All 128 elements, loads ahead.
constexpr std::string_view kWholeColumns = R"(  if (m == 128) {
#pragma unroll
    for (int s = 0; s < 4; s += $F) {
      $S_loads x[4 * $F];
#pragma unroll
      for (int i = 0; i < 4 * $F; ++i) $S_load(p, t, base + s * 32 + i * 8 + w, $W, x[i]);
#pragma unroll
      for (int i = 0; i < 4 * $F; ++i) {
@S        $S_stores y;
#pragma unroll
        for (int j = 0; j < $W; ++j) {
          const $S_inputs in = $S_point(p, t, r[j], x[i], j, base + s * 32 + i * 8 + w$Y);
          lane[i % 4][j] = s + i / 4 == 0 ? $S_first(in) : $S_step(p, lane[i % 4][j], in, s + i / 4 + 1);
        }
@S        $S_store(p, t, base + s * 32 + i * 8 + w, $W, y);
      }
    }
#pragma unroll
    for (int j = 0; j < $W; ++j)
      c[j] = $S_combine($S_combine(lane[0][j], lane[2][j], $S_even(p, 4)), $S_combine(lane[1][j], lane[3][j], $S_even(p, 4)), $S_even(p, 8));
    return;
  }
)";

/// Blocks of any number of elements.
constexpr std::string_view kSomeColumns = R"(#pragma unroll
  for (int k = 0; k < 16; k += 2) {
    $S_loads x[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = (k + i) * 8 + w;
      $S_load(p, t, base + at, at < m ? $W : 0, x[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = (k + i) * 8 + w;
      if (at < m) {
@S        $S_stores y;
#pragma unroll
        for (int j = 0; j < $W; ++j) {
          const $S_inputs in = $S_point(p, t, r[j], x[i], j, base + at$Y);
          lane[(k + i) % 4][j] = k + i < 4 ? $S_first(in) : $S_step(p, lane[(k + i) % 4][j], in, (k + i) / 4 + 1);
        }
@S        $S_store(p, t, base + at, $W, y);
      }
    }
  }
  const $S_split uneven16 = $S_uneven(p, m, 16), uneven8 = $S_uneven(p, m, 8);
#pragma unroll
  for (int j = 0; j < $W; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int l = w + 8 * i;
      if (l + 16 < m) lane[i][j] = $S_combine(lane[i][j], lane[i + 2][j], $S_lane_pair(p, m, l, 16, uneven16));
    }
    if (w + 8 < m) lane[0][j] = $S_combine(lane[0][j], lane[1][j], $S_lane_pair(p, m, w, 8, uneven8));
    c[j] = lane[0][j];
  }
}

)";

/// Blocks of any number of elements, one lane after the other: w, w + 16, w + 8, w + 24.
constexpr std::string_view kRolledColumns =
    R"(  const $S_split uneven16 = $S_uneven(p, m, 16), uneven8 = $S_uneven(p, m, 8);
  $lane lower[$W], held[$W];
#pragma unroll 1
  for (int number = 0; number < 4; ++number) {
    const int l = w + number / 2 * 8 + number % 2 * 16;
    $lane s[$W];
#pragma unroll 1
    for (int at = l; at < m; at += 32) {
      $S_loads x;
      $S_load(p, t, base + at, $W, x);
@S      $S_stores y;
#pragma unroll
      for (int j = 0; j < $W; ++j) {
        const $S_inputs in = $S_point(p, t, r[j], x, j, base + at$Y);
        s[j] = at == l ? $S_first(in) : $S_step(p, s[j], in, at / 32 + 1);
      }
@S      $S_store(p, t, base + at, $W, y);
    }
#pragma unroll
    for (int j = 0; j < $W; ++j) {
      if (number == 2) lower[j] = held[j];
      if (number % 2 == 0) held[j] = s[j];
      else if (l < m) held[j] = $S_combine(held[j], s[j], $S_lane_pair(p, m, l - 16, 16, uneven16));
    }
  }
#pragma unroll
  for (int j = 0; j < $W; ++j) {
    c[j] = lower[j];
    if (w + 8 < m) c[j] = $S_combine(lower[j], held[j], $S_lane_pair(p, m, w, 8, uneven8));
  }
}

)";

constexpr std::string_view kOuterHead =
    R"(extern "C" __global__ void __launch_bounds__(256, $M) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $lane lanes[$B][8][$C];
  __shared__ $S_state pending[$L][$C];
  __shared__ bool last;
  const tarry_u32 chunks = (tarry_u32)p.chunks, tiles = gridDim.x / chunks, chunk = blockIdx.x / tiles, tile = blockIdx.x - chunk * tiles;
  const int w = $ROW, side = threadIdx.x % $SIDE * $W, columns = $COLUMNS;
  const tarry_i64 corner = (tarry_i64)tile * $TILE, first = chunk * p.chunk_blocks * 128;
  const tarry_i64 m = p.n - first < p.chunk_blocks * 128 ? p.n - first : p.chunk_blocks * 128;
  const bool inside = side < columns, column = threadIdx.x < columns;
  $N_at t;
  $N_row r[$W];
  if (inside) {
    t = $N_place(p, ($O)(corner + side));
#pragma unroll
    for (int j = 0; j < $W; ++j) r[j] = $N_begin(p, t, j);
  }
  int step = 0;
)";

/// All threads go from tree block to tree block.
constexpr std::string_view kWideSteps = R"(  for (tarry_i64 at = 0; at < m; at += $B * 128, ++step) {
    const int left = m - at < $B * 128 ? (int)(m - at) : $B * 128;
    if (inside) {
#pragma unroll 1
      for (int b = 0; b * 128 < left; ++b) {
        $lane c[$W];
        $N_columns(p, t, r, ($K)(first + at) + b * 128, left - b * 128 < 128 ? left - b * 128 : 128, c);
#pragma unroll
        for (int j = 0; j < $W; ++j) lanes[b][w][side + j] = c[j];
      }
    }
    __syncthreads();
    if (column) {
      $S_state v[$B];
      const int there = (left + 127) / 128;
#pragma unroll
      for (int b = 0; b < $B; ++b)
        if (b < there) v[b] = $S_lanes(p, &lanes[b][0][threadIdx.x], left - b * 128 < 128 ? left - b * 128 : 128);
      $N_push(p, &pending[0][threadIdx.x], $C, step, $N_tree(p, v, there, 128, left - (there - 1) * 128), $B * 128, left);
    }
    __syncthreads();
  }
)";

/// Every 8 * $SIDE threads have a tree block of their own; those that a warp holds of a column, $G, are combined by
/// shuffles.
constexpr std::string_view kNarrowSteps = R"(  __shared__ $S_state nodes[$B / $G][$C];
  const int own = threadIdx.x / (8 * $SIDE), b = threadIdx.x / $H, x = threadIdx.x % $H;
  for (tarry_i64 at = 0; at < m; at += $B * 128, ++step) {
    const int left = m - at < $B * 128 ? (int)(m - at) : $B * 128;
#pragma unroll
    for (int i = own; i < $B; i += 32 / $SIDE) {
      if (!inside || i * 128 >= left) break;
      $lane c[$W];
      $N_columns(p, t, r, ($K)(first + at) + i * 128, left - i * 128 < 128 ? left - i * 128 : 128, c);
#pragma unroll
      for (int j = 0; j < $W; ++j) lanes[i][w][side + j] = c[j];
    }
    __syncthreads();
    if (b < $B) {
      const int mine = left - b * 128;
      $S_state s = {};
      if (x < columns && mine > 0) s = $S_lanes(p, &lanes[b][0][x], mine < 128 ? mine : 128);
#pragma unroll
      for (int d = 1; d < $G; d *= 2) {
        const $S_state right = $S_down(s, d * $H);
        const int there = mine - d * 128;
        if (there > 0) s = $S_combine(s, right, $S_share(p, d * 128, there < d * 128 ? there : d * 128));
      }
      if (b % $G == 0 && x < columns) nodes[b / $G][x] = s;
    }
    __syncthreads();
    if (column) {
      $S_state v[$B / $G];
      const int unit = 128 * $G, there = (left + unit - 1) / unit;
#pragma unroll
      for (int i = 0; i < $B / $G; ++i)
        if (i < there) v[i] = nodes[i][threadIdx.x];
      $N_push(p, &pending[0][threadIdx.x], $C, step, $N_tree(p, v, there, unit, left - (there - 1) * unit), $B * 128, left);
    }
  }
)";

constexpr std::string_view kOuterTail = R"(  $S_state s = {};
  if (column) s = $N_collect(p, &pending[0][threadIdx.x], $C, step, $B * 128, m);
  if (chunks > 1) {
    $S_state* part = ($S_state*)p.scratch + corner;
    if (column) part[chunk * p.count + threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x == 0) last = $N_arrive(p.tickets + tile) == chunks - 1;
    __syncthreads();
    if (!last) return;
    int parts = (int)chunks;
    tarry_i64 elements = p.chunk_blocks * 128;
    $N_fold(p, part, p.count, columns, parts, elements, 1);
    if (threadIdx.x == 0) p.tickets[tile] = 0;
    if (column) s = part[threadIdx.x];
  }
  if (column) $S_finish(p, $N_place(p, ($O)(corner + threadIdx.x)), s);
}
)";

std::string skeleton(const KernelIr& ir, const Stage& stage) {
  if (ir.schedule() == Schedule::ReduceOuter)
    return fmt::format("{}{}{}{}{}{}{}{}{}{}", lane_functions(), tree_functions(), kFoldColumns, kOuter,
                       stage.rolled ? "" : kWholeColumns, stage.rolled ? kRolledColumns : kSomeColumns, kColumnLanes,
                       kOuterHead, outer_tile(ir).narrow() ? kNarrowSteps : kWideSteps, kOuterTail);
  const int warps = ir.as<ReduceInnerLayout>().warps_per_row;
  TARRY_ASSERT(warps == 1 || warps == 8);
  const std::string inner = fmt::format("{}{}{}", lane_functions(), block_functions(ir, stage), kReduceInner);
  return warps == 1 ? fmt::format("{}{}", inner, kInnerWarp)
                    : fmt::format("{}{}{}{}{}", inner, kTree, kArrive, kFoldColumns, kInnerBlock);
}

/// True if points are one vector's elements with next to nothing computed of them: a thread needs few registers.
bool is_stream(const KernelIr& ir) {
  int cost = 0;
  for (const Instr& in : ir.instrs)
    if (in.region == Region::Point && in.kind == InstrKind::Compute) cost += graph::info(in.op).cost;
  return std::count_if(ir.accesses.begin(), ir.accesses.end(), streams) == 1 && cost <= 4 &&
         std::all_of(ir.accesses.begin(), ir.accesses.end(),
                     [&](const Access& a) { return !streams(a) || (a.aligned && a.loop == kNone); });
}

/// Where threads of ReduceOuter are.
std::vector<std::pair<std::string, std::string>> outer_choices(const KernelIr& ir) {
  const OuterTile tile = outer_tile(ir);
  const std::string all_columns =
      ir.rank == 1 ? "p.count" : "p." + slot_name({SlotKind::Extent, static_cast<std::uint32_t>(ir.rank - 1)});
  const std::string left = fmt::format("p.count - (tarry_i64)tile * {}", tile.columns());
  return {{"$COLUMNS",
           tile.narrow() ? "(int)" + all_columns : fmt::format("{0} < {1} ? (int)({0}) : {1}", left, tile.columns())},
          {"$TILE", tile.narrow() ? "columns" : std::to_string(tile.columns())},
          {"$ROW", tile.narrow() ? fmt::format("threadIdx.x / {} % 8", tile.width) : "threadIdx.x >> 5"},
          {"$SIDE", std::to_string(tile.width)},
          {"$H", std::to_string(tile.column_class())},
          {"$G", std::to_string(tile.warp_blocks())}};
}

/// Numbers and pieces that the skeletons leave open.
std::vector<std::pair<std::string, std::string>> choices(const KernelIr& ir, const Stage& stage) {
  const std::size_t loaded = ir.point_bytes() * static_cast<std::size_t>(items(ir));
  const bool inner = ir.schedule() == Schedule::ReduceInner;
  const std::vector<StateField> fields = state_fields(ir);
  const bool moments = ir.has_moments();
  const bool tight = inner && loaded <= 16 && state_bytes(ir) <= 16 &&
                     std::all_of(ir.reductions.begin(), ir.reductions.end(),
                                 [](const Reduction& r) { return r.op != Op::MomentsMerge && itemsize(r.dtype) <= 4; });
  const bool slim = fields.size() == 1 && (ir.has_narrow_lanes() || itemsize(fields[0].dtype) <= 4);
  std::vector<std::pair<std::string, std::string>> all;
  if (!inner) all = outer_choices(ir);
  for (auto& choice : block_choices(ir, stage, items(ir))) all.push_back(std::move(choice));
  auto choose = [&](const char* what, std::string by) { all.emplace_back(what, std::move(by)); };
  choose("$X", loaded <= 16 && !moments ? "2" : "1");
  choose("$R", std::to_string(fold_width(ir)));
  // Thread blocks per multiprocessor: others load while one combines its warps. Left alone, ptxas spills a few
  // registers for the sake of occupancy, which loads in flight make up for.
  const bool narrow = items(ir) > kInnerItems, bytes = items(ir) > 2 * kInnerItems;
  const bool many =
      inner && !ir.wide_index && is_stream(ir) && (moments ? tight : slim) && (ir.rank == 0 || !narrow || bytes);
  const auto resident = [&] {
    const bool light =
        slim || (ir.reductions.size() == 1 && ir.reductions[0].op == Op::Moments && state_bytes(ir) <= 8);
    if (!inner && light && items(ir) == 1 && outer_tile(ir).narrow()) return "3";
    if (many) return bytes || ir.rank > 0 ? "3" : "4";
    const bool few_registers =
        inner ? fields.size() == 1 || (moments && tight) : light && (ir.loops.empty() || loaded <= 16);
    return few_registers ? "2" : "1";
  };
  choose("$M", resident());
  const bool narrow_moments = !inner && moments && items(ir) == 1;
  choose("$F", loaded <= 4 && !narrow_moments ? "4" : loaded <= 16 ? "2" : "1");
  if (ir.schedule() == Schedule::ReduceOuter) {
    const OuterTile tile = outer_tile(ir);
    choose("$C", std::to_string(tile.columns()));
    choose("$B", std::to_string(tile.step_blocks));
    choose("$L", std::to_string(tile.levels));
  } else {
    choose("$V", std::to_string(kTreeBlock * items(ir)));
    choose("$C", "1");
  }
  return all;
}

Parameters parameters_of(const KernelIr& ir) {
  using enum SlotKind;
  return ir.wide_index
             ? make_parameters(ir, {OuterCount, Reduced, Extent, Chunks, ChunkBlocks, Scratch, Tickets, Reciprocal})
             : make_parameters(ir,
                               {OuterCount, Reduced, Extent, Magic, Chunks, ChunkBlocks, Scratch, Tickets, Reciprocal});
}

}  // namespace

std::string tree_functions() { return fmt::format("{}{}", node_functions(), kArrive); }
std::string node_functions() { return fmt::format("{}{}", kTree, kSteps); }
std::string_view arrive_function() { return kArrive; }
std::string_view column_fold() { return kFoldColumns; }
std::string_view column_lanes() { return kColumnLanes; }

KernelSource render_reduction(const KernelIr& ir, const graph::Target&) {
  TARRY_ASSERT(!ir.reductions.empty());
  const StagePlan plan = plan_stages(ir);
  const Stage& stage = plan.stages[0];
  Functions functions(ir, plan);
  const Parameters parameters = parameters_of(ir);
  std::string kernel = parameter_struct(parameters) + Template(ir, stage).fill(functions.shared_text());
  kernel += state_type(ir, stage) + functions.stage_text(stage) + state_functions(ir, stage, functions.expressions());
  kernel += Template(ir, stage, choices(ir, stage)).fill(skeleton(ir, stage));
  return finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
}

}  // namespace tarry::codegen::cuda
