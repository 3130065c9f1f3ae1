// CUDA C of scans (docs/reference/numerics.md, "Scans"). What is missing at the end of a row is the neutral element of
// the scan: it changes no bit.
//
//   ScanSerial  a thread per row; its elements come in from left to right
//   ScanInner   a warp per row, four tree blocks at a time
//   ScanTiles   tiles of rows in one pass: cuda/scan_tiles.cpp
#include "codegen/cuda/scan.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kSerialLevels = 30;  // rows of up to 2^37 elements

/// Sixteen elements of a thread. Where a point is long there is one copy of its code: what goes into the scan and comes
/// out of it is in an array.
constexpr std::string_view kScanWarp = R"(
// The inputs of four tree blocks from `base` on, m of whose elements are there: x[4 s + j] is element 32 s + j from where the
// thread's quad of its block begins.
template <bool kWhole>
__device__ __forceinline__ void $N_inputs(const $N_params& p, const $N_at& t, const $N_row& r, $K base, int m, $N_0_state (&x)[16]) {
  const int block = (threadIdx.x & 31) / 8 * 128, l = (threadIdx.x & 7) * 4;
  const $K k = base + block + l;
  $N_outer o;
  $N_kept h;
@U  $N_0_loads a[4];
@U#pragma unroll
@U  for (int s = 0; s < 4; ++s) $N_0_load(p, t, k + s * 32, kWhole ? 4 : m - block - s * 32 - l, a[s]);
@U#pragma unroll
@U  for (int s = 0; s < 4; ++s) {
@U#pragma unroll
@U    for (int j = 0; j < 4; ++j) {
@U      if (kWhole || j < m - block - s * 32 - l) x[s * 4 + j] = $N_take($N_0_point(p, t, r, o, a[s], j, k + s * 32, h));
@U      else x[s * 4 + j] = $N_neutral();
@U    }
@U  }
@R  $N_0_state in[16];
@R#pragma unroll 1
@R  for (int e = 0; e < 16; ++e) {
@R    const int at = e / 4 * 32 + e % 4;
@R    in[e] = $N_neutral();
@R    if (kWhole || at < m - block - l) {
@R      $N_0_loads a;
@R      $N_0_load(p, t, k + at, 1, a);
@R      in[e] = $N_take($N_0_point(p, t, r, o, a, 0, k + at, h));
@R    }
@R  }
@R#pragma unroll
@R  for (int e = 0; e < 16; ++e) x[e] = in[e];
}

// The node of each block, in all eight threads that hold it.
__device__ __forceinline__ $N_0_state $N_node(const $N_0_state (&x)[16]) {
  const int lane = threadIdx.x & 31;
  $N_0_state c[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) c[j] = $N_combine($N_combine($N_combine(x[j], x[4 + j]), x[8 + j]), x[12 + j]);
  const bool high = lane & 4, odd = lane & 2;
  const $N_0_state a = $N_from(high ? c[0] : c[2], lane ^ 4), b = $N_from(high ? c[1] : c[3], lane ^ 4);
  const $N_0_state u = high ? $N_combine(a, c[2]) : $N_combine(c[0], a), v = high ? $N_combine(b, c[3]) : $N_combine(c[1], b);
  const $N_0_state w = $N_from(odd ? u : v, lane ^ 2);
  $N_0_state s = odd ? $N_combine(w, v) : $N_combine(u, w);
#pragma unroll
  for (int i = 0; i < 3; ++i) s = $N_across(s, i == 0 ? 1 : i == 1 ? 4 : 2);
  return s;
}

// Scans each block behind its offset: rows of eight quads of four.
__device__ __forceinline__ void $N_scan($N_0_state (&x)[16], $N_0_state offset) {
  const int lane = threadIdx.x & 31, q = lane & 7;
  $N_0_state before[4], row[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) {
#pragma unroll
    for (int j = 1; j < 4; ++j) x[s * 4 + j] = $N_combine(x[s * 4 + j - 1], x[s * 4 + j]);
    $N_0_state v = x[s * 4 + 3];
#pragma unroll
    for (int d = 1; d < 8; d *= 2) {
      const $N_0_state left = $N_from(v, (lane & -(2 * d)) + d - 1);
      if (q & d) v = $N_combine(left, v);
    }
    before[s] = $N_from(v, (lane - 1) & 31);
    row[s] = $N_from(v, lane | 7);
  }
  $N_0_state rows = $N_neutral();
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    $N_0_state base = $N_combine(offset, rows);
    if (q > 0) base = $N_combine(base, before[s]);
    rows = $N_combine(rows, row[s]);
#pragma unroll
    for (int j = 0; j < 4; ++j) x[s * 4 + j] = $N_combine(base, x[s * 4 + j]);
  }
}

template <bool kWhole>
__device__ __forceinline__ void $N_results(const $N_params& p, const $N_at& t, const $N_row& r, $K base, int m, const $N_0_state (&x)[16]) {
  const int block = (threadIdx.x & 31) / 8 * 128, l = (threadIdx.x & 7) * 4;
  const $K k = base + block + l;
  $N_outer o;
  $N_kept h;
@U  $N_1_loads a[4];
@U#pragma unroll
@U  for (int s = 0; s < 4; ++s) $N_1_load(p, t, k + s * 32, kWhole ? 4 : m - block - s * 32 - l, a[s]);
@U#pragma unroll
@U  for (int s = 0; s < 4; ++s) {
@U    const int left = kWhole ? 4 : m - block - s * 32 - l;
@U    $N_1_stores y;
@U#pragma unroll
@U    for (int j = 0; j < 4; ++j)
@U      if (j < left) $N_1_point(p, t, r, o, a[s], j, k + s * 32, y, h, x[s * 4 + j]);
@U    $N_1_store(p, t, k + s * 32, left, y);
@U  }
@R  $N_0_state out[16];
@R#pragma unroll
@R  for (int e = 0; e < 16; ++e) out[e] = x[e];
@R#pragma unroll 1
@R  for (int e = 0; e < 16; ++e) {
@R    const int at = e / 4 * 32 + e % 4;
@R    if (!kWhole && at >= m - block - l) continue;
@R    $N_1_loads a;
@R    $N_1_stores y;
@R    $N_1_load(p, t, k + at, 1, a);
@R    $N_1_point(p, t, r, o, a, 0, k + at, y, h, out[e]);
@R    $N_1_store(p, t, k + at, 1, y);
@R  }
}
)";

constexpr std::string_view kScanInner = R"(
// Four blocks of a row; offset is that of the first one and becomes their node.
template <bool kWhole>
__device__ __forceinline__ $N_0_state $N_blocks(const $N_params& p, const $N_at& t, const $N_row& r, $K base, int m, $N_0_state offset) {
  const int lane = threadIdx.x & 31;
  $N_0_state x[16];
  $N_inputs<kWhole>(p, t, r, base, m, x);
  const $N_0_state node = $N_node(x), one = $N_from(node, lane & -16), pair = $N_across(node, 8), two = $N_from(pair, 0);
  if (lane & 16) offset = $N_combine(offset, two);
  if (lane & 8) offset = $N_combine(offset, one);
  $N_scan(x, offset);
  $N_results<kWhole>(p, t, r, base, m, x);
  return $N_across(pair, 16);
}

extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $N_0_state pending[8][$LEVELS], folded[8][$LEVELS];
  const int warp = threadIdx.x >> 5;
  const tarry_i64 i = (tarry_i64)blockIdx.x * 8 + warp;
  if (i >= p.count) return;
  const $N_at t = $N_place(p, ($O)i);
  const $N_row r = $N_begin(p, t, 0);
  $N_0_state offset = $N_neutral();
  tarry_i64 step = 0;
  int depth = 0;
#pragma unroll 1
  for (tarry_i64 k = 0; k < p.n; k += 512, ++step) {
    const tarry_i64 left = p.n - k;
    const $N_0_state s = left >= 512 ? $N_blocks<true>(p, t, r, ($K)k, 512, offset) : $N_blocks<false>(p, t, r, ($K)k, (int)left, offset);
    if ((threadIdx.x & 31) == 0) offset = $N_push(pending[warp], folded[warp], depth, step, s);
    offset = $N_from(offset, 0);
  }
}
)";

/// The aligned subtrees that have come in, as a binary counter, and beside each the fold of it and all larger ones.
constexpr std::string_view kPush = R"(
// Node `step` comes in; the offset of the next one.
__device__ __forceinline__ $N_0_state $N_push($HAVE$N_0_state* pending, $N_0_state* folded, int& depth, tarry_i64 step, $N_0_state s) {
  for (; step & 1; step >>= 1) s = $N_combine($GIVEpending[--depth], s);
  pending[depth] = s;
  if (depth > 0) s = $N_combine($GIVEfolded[depth - 1], s);
  folded[depth++] = s;
  return s;
}
)";

constexpr std::string_view kSerialHead = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= p.count) return;
  const $N_at t = $N_place(p, ($O)i);
  const $N_row r = $N_begin(p, t, 0);
  $N_outer o;
  $N_0_state pending[$LEVELS], folded[$LEVELS], lane[32], offset = $N_neutral();
  int depth = 0;
#pragma unroll 1
  for (tarry_i64 block = 0; block * 128 < p.n; ++block) {
    $N_0_state rows = $N_neutral();
#pragma unroll 1
    for (int row = 0; row < 4 && block * 128 + row * 32 < p.n; ++row) {
      const tarry_i64 left = p.n - block * 128 - row * 32;
      const $N_0_state base = $N_combine(offset, rows);
)";

/// Quad q of a row of eight is there: the fold of the row so far, by the tree of its quads.
constexpr std::string_view kFoldQuad = R"(          through = sum;
          if (q & 1) through = $N_combine(one, through);
          if ((q & 3) == 1) two = through;
          if ((q & 2) != 0) through = $N_combine(two, through);
          if (q == 3) four = through;
          if (q & 4) through = $N_combine(four, through);
          one = sum;)";

/// A row of 32 elements, 16 of which are loaded ahead.
constexpr std::string_view kAheadRow = R"(      $N_0_state one, two, four, through;
      $N_kept h;
#pragma unroll
      for (int half = 0; half < 32; half += 16) {
        const $K k = ($K)(block * 128) + row * 32 + half;
        $N_0_loads a[16];
        $N_1_loads b[16];
#pragma unroll
        for (int e = 0; e < 16; ++e) $N_0_load(p, t, k + e, half + e < left ? 1 : 0, a[e]);
#pragma unroll
        for (int e = 0; e < 16; ++e) $N_1_load(p, t, k + e, half + e < left ? 1 : 0, b[e]);
#pragma unroll
        for (int q = half / 4; q < half / 4 + 4; ++q) {
          const $N_0_state before = q == 0 ? base : $N_combine(base, through);
          $N_0_state sum;
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const int e = q * 4 + j - half, l = q * 4 + j;
            $N_0_state v = $N_neutral();
            if (l < left) v = $N_take($N_0_point(p, t, r, o, a[e], 0, k + e, h));
            lane[l] = row == 0 ? v : $N_combine(lane[l], v);
            sum = j == 0 ? v : $N_combine(sum, v);
            if (l < left) {
              $N_1_stores y;
              $N_1_point(p, t, r, o, b[e], 0, k + e, y, h, $N_combine(before, sum));
              $N_1_store(p, t, k + e, 1, y);
            }
          }
$QUAD
        }
      }
)";

/// The same with one copy of the code of a point: what goes into the scan and comes out of it is in an array.
constexpr std::string_view kPointwiseRow = R"(      const $K k = ($K)(block * 128) + row * 32;
      $N_0_state x[32], one, two, four, through;
      $N_kept points[32];
#pragma unroll 1
      for (int l = 0; l < 32; ++l) {
        x[l] = $N_neutral();
        if (l < left) {
          $N_0_loads a;
          $N_0_load(p, t, k + l, 1, a);
          x[l] = $N_take($N_0_point(p, t, r, o, a, 0, k + l, points[l]));
        }
      }
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const $N_0_state before = q == 0 ? base : $N_combine(base, through);
        $N_0_state sum;
#pragma unroll
        for (int l = q * 4; l < q * 4 + 4; ++l) {
          lane[l] = row == 0 ? x[l] : $N_combine(lane[l], x[l]);
          sum = l == q * 4 ? x[l] : $N_combine(sum, x[l]);
          x[l] = $N_combine(before, sum);
        }
$QUAD
      }
#pragma unroll 1
      for (int l = 0; l < 32 && l < left; ++l) {
        $N_1_loads b;
        $N_1_stores y;
        $N_1_load(p, t, k + l, 1, b);
        $N_1_point(p, t, r, o, b, 0, k + l, y, points[l], x[l]);
        $N_1_store(p, t, k + l, 1, y);
      }
)";

constexpr std::string_view kSerialTail = R"(      rows = $N_combine(rows, through);
    }
    if (block * 128 + 128 >= p.n) break;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
#pragma unroll
      for (int l = 0; l < d; ++l) lane[l] = $N_combine(lane[l], lane[l + d]);
    }
    offset = $N_push(pending, folded, depth, block, lane[0]);
  }
}
)";

/// Functions of the states: take, neutral, combine; from and across for another lane of the warp, the latter combined
/// with the own one in the order of lanes.
std::string scan_functions(const KernelIr& ir, Expressions& expressions) {
  CodeWriter w;
  const auto each = [&](auto&& text) {
    for (std::uint32_t i = 0; i < ir.reductions.size(); ++i) w.line(text(i, ir.reductions[i]));
  };
  const auto function = [&](std::string_view head, auto&& text) {
    w.open(fmt::format("__device__ __forceinline__ $N_0_state {}", head));
    w.line("$N_0_state s;");
    each(text);
    w.line("return s;");
    w.close();
  };
  function("$N_take(const $N_0_inputs& in)", [](auto i, const auto&) { return fmt::format("s.r{0} = in.x{0};", i); });
  function("$N_neutral()", [](auto i, const auto& r) { return fmt::format("s.r{} = {};", i, neutral_literal(r)); });
  function("$N_combine($N_0_state a, $N_0_state b)", [&](auto i, const auto& r) {
    return fmt::format("s.r{} = {};", i, expressions.combine(r, fmt::format("a.r{}", i), fmt::format("b.r{}", i)));
  });
  function("$N_from($N_0_state a, int lane)",
           [](auto i, const auto&) { return fmt::format("s.r{0} = __shfl_sync(0xffffffffu, a.r{0}, lane);", i); });
  w.open("__device__ __forceinline__ $N_0_state $N_across($N_0_state a, int d)");
  w.line("const int lane = threadIdx.x & 31;");
  w.line("const $N_0_state b = $N_from(a, lane ^ d);");
  w.line("return lane & d ? $N_combine(b, a) : $N_combine(a, b);");
  w.close();
  return w.take();
}

std::vector<std::pair<std::string, std::string>> choices(const KernelIr& ir) {
  std::vector<std::pair<std::string, std::string>> all = combine_choices(ir);
  if (ir.schedule() == Schedule::ScanTiles)
    std::ranges::move(tile_choices(ir), std::back_inserter(all));
  else
    all.emplace_back("$LEVELS", std::to_string(kSerialLevels));
  all.emplace_back("$QUAD", kFoldQuad);
  return all;
}

}  // namespace

std::size_t scan_state_bytes(const KernelIr& ir) {
  std::size_t at = 0, align = ir.combines() ? 4 : 1;
  for (const Reduction& r : ir.reductions) {
    const std::size_t size = itemsize(r.dtype);
    at = (at + size - 1) / size * size + size;
    align = std::max(align, size);
  }
  return (at + align - 1) / align * align;
}

Geometry geometry_scan(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  constexpr std::int64_t kMultiprocessors =
      160;  // about what the largest GPUs have; thread blocks that find no tile left leave at once
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t outer = args.outer_count();
  Geometry g;
  if (ir.schedule() != Schedule::ScanTiles) {
    g.outer_tiles = divide_up(outer, ir.schedule() == Schedule::ScanSerial ? kThreads : kWarps);
    return g;
  }
  const ScanTile tile = scan_tile(ir);
  const std::int64_t row_tiles = divide_up(args.reduced, tile.elements());
  g.outer_tiles = std::min(outer * row_tiles, kMultiprocessors * tile.resident);
  std::int64_t nodes = 0;
  for (int level = 0; level < 6; ++level) nodes += outer * (row_tiles >> 4 * level);
  g.ticket_count = 4 + static_cast<std::size_t>(2 * nodes) * (scan_state_bytes(ir) / 4);
  return g;
}

KernelSource render_scan(const KernelIr& ir, const graph::Target&) {
  using enum SlotKind;
  const StagePlan plan = plan_stages(ir);
  TARRY_ASSERT(plan.stages.size() == 2);
  const bool tiles = ir.schedule() == Schedule::ScanTiles, serial = ir.schedule() == Schedule::ScanSerial;
  Functions functions(ir, plan);
  Parameters parameters = ir.wide_index ? make_parameters(ir, {OuterCount, Reduced, Extent, Reciprocal})
                                        : make_parameters(ir, {OuterCount, Reduced, Extent, Magic, Reciprocal});
  if (tiles)
    parameters = ir.wide_index ? make_parameters(ir, {OuterCount, Reduced, Extent, Tickets, Reciprocal})
                               : make_parameters(ir, {OuterCount, Reduced, Extent, Magic, Tickets, Reciprocal});
  std::string kernel = parameter_struct(parameters) + Template(ir, plan.stages[0]).fill(functions.shared_text());
  const bool combines = ir.combines();
  kernel += combines ? Template(ir, plan.stages[0]).fill(combine_state(ir)) : state_type(ir, plan.stages[0]);
  kernel += functions.stage_text(plan.stages[0]) + functions.stage_text(plan.stages[1]);
  std::string text =
      combines ? combine_functions(ir, functions.expressions()) : scan_functions(ir, functions.expressions());
  if (!serial) text += combines ? combine_warp() : kScanWarp;
  if (!tiles) text += kPush;
  if (tiles)
    text += tile_text(ir);
  else if (combines)
    text += serial ? combine_serial() : combine_inner();
  else
    text += serial ? fmt::format("{}{}{}", kSerialHead, plan.rolls ? kPointwiseRow : kAheadRow, kSerialTail)
                   : std::string(kScanInner);
  kernel += Template(ir, plan.stages[0], choices(ir)).fill(text);
  KernelSource source =
      finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
  if (tiles) {
    const ScanTile tile = scan_tile(ir);
    source.threads = tile.threads();
    source.shared_bytes =
        static_cast<int>(static_cast<std::size_t>(tile.stages * tile.elements()) * scan_state_bytes(ir));
  }
  return source;
}

}  // namespace tarry::codegen::cuda
