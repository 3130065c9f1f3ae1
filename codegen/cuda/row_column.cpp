// CUDA C of kernels that reduce two dimensions, each by itself: a thread block per tile of 128 rows and 128 columns,
// which is a block of tree R either way.
//
// A warp has a row of the tile at a time, a thread four neighbouring columns of it. Warp w has the rows w, w + 8, ...
// as lanes w, w + 8, w + 16, w + 24 of its columns, whose states it holds in registers, like ReduceOuter. What the
// row's own reductions take passes through shared memory of the warp, from there to lanes h, h + $G, ... of the row in
// one of $G threads. The tile's states go to memory; the last thread block of 128 rows folds those of the rows, the
// last one of 128 columns those of the columns. Where a point takes many instructions, a warp's four rounds share one
// copy of the code, and tiles that are not whole do, too.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "support/check.h"

namespace tarry::codegen {
namespace cuda {
namespace {

constexpr int kTile = 128;

/// Bytes that a point keeps for the reductions along its row.
std::size_t kept_bytes(const KernelIr& ir, const StagePlan& plan) {
  std::size_t at = 0, widest = 4;
  for (const Value v : plan.kept) {
    const std::size_t size = itemsize(ir.instrs[v].dtype);
    at = (at + size - 1) / size * size + size;
    widest = std::max(widest, size);
  }
  return std::max<std::size_t>(4, (at + widest - 1) / widest * widest);
}

/// How a warp reduces the rows that it has: `threads` for each, so that what they hold fits shared memory. Rows in
/// shared memory are so far apart that a warp meets every bank once.
struct RowGroup {
  int threads = 8;
  [[nodiscard]] int rows() const { return 32 / threads; }
  [[nodiscard]] int pitch() const { return kTile + threads % 32; }
};
RowGroup row_group(std::size_t kept) {
  constexpr std::size_t kNarrow = 8, kMedium = 16, kWidest = 32;
  TARRY_ASSERT(kept <= kWidest);
  return {kept <= kNarrow ? 8 : kept <= kMedium ? 16 : 32};
}

constexpr std::string_view kCrossed = R"(
struct alignas(16) $N_four { $N_kept v[4]; };

// The node of a row of m <= 128 elements from index k on, by $G threads; it is in the first of them.
__device__ __forceinline__ $N_0_state $N_row_node(const $N_params& p, const $N_kept* row, $K k, int m) {
  const int h = threadIdx.x % $G;
  $N_0_state c[$H];
  if (m == 128) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#pragma unroll
      for (int i = 0; i < $H; ++i) {
        const $N_0_inputs in = $N_0_take(p, row[s * 32 + i * $G + h], k + s * 32 + i * $G + h);
        c[i] = s == 0 ? $N_0_first(in) : $N_0_step(p, c[i], in, s + 1);
      }
    }
#pragma unroll
    for (int d = $H / 2; d > 0; d /= 2) {
#pragma unroll
      for (int i = 0; i < d; ++i) c[i] = $N_0_combine(c[i], c[i + d], $N_0_even(p, 64 / (d * $G)));
    }
#pragma unroll
    for (int d = $G / 2; d > 0; d /= 2) c[0] = $N_0_meet(c[0], $N_0_across(c[0], d), $N_0_even(p, 64 / d), !(h & d));
    return c[0];
  }
#pragma unroll
  for (int i = 0; i < $H; ++i) {
    c[i] = $N_0_state{};
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const int at = s * 32 + i * $G + h;
      if (at < m) {
        const $N_0_inputs in = $N_0_take(p, row[at], k + at);
        c[i] = s == 0 ? $N_0_first(in) : $N_0_step(p, c[i], in, s + 1);
      }
    }
  }
#pragma unroll
  for (int d = $H / 2; d > 0; d /= 2) {
    const $N_0_split uneven = $N_0_uneven(p, m, d * $G);
#pragma unroll
    for (int i = 0; i < d; ++i) {
      const int l = i * $G + h;
      if (l + d * $G < m) c[i] = $N_0_combine(c[i], c[i + d], $N_0_lane_pair(p, m, l, d * $G, uneven));
    }
  }
#pragma unroll
  for (int d = $G / 2; d > 0; d /= 2) {
    const $N_0_split uneven = $N_0_uneven(p, m, d);
    const $N_0_state b = $N_0_down(c[0], d);
    if (h < d && h + d < m) c[0] = $N_0_combine(c[0], b, $N_0_lane_pair(p, m, h, d, uneven));
  }
  return c[0];
}

// The warp's rows of those from s * 32 on.
__device__ __forceinline__ void $N_fetch(const $N_params& p, $O b, $K top, int rows, $K k, int left, int s, $N_1_loads* x) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = s * 32 + i * 8 + (threadIdx.x >> 5);
    if (row < rows) $N_1_load(p, $N_place(p, b, top + row), k, left, x[i]);
  }
}

// A tile of rows x columns: nodes of its rows, and of each column the lanes w, w + 8, w + 16, w + 24 combined, into c.
template <bool kWhole>
__device__ __forceinline__ void $N_tile(const $N_params& p, $O b, $K top, int rows, $K base, int columns, $N_kept (*lines)[$P],
                                        $N_0_state* nodes, $N_1_state* c) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, left = kWhole ? 4 : columns - lane * 4;
  const $K k = base + lane * 4;
  const $N_row r = {};
  $N_1_state lanes[4][4];
  $N_1_loads x[$F][4];
  if ($F == 2) $N_fetch(p, b, top, kWhole ? 128 : rows, k, left, 0, x[0]);
#pragma unroll$once
  for (int s = 0; s < 4; ++s) {
    if ($F == 1) $N_fetch(p, b, top, kWhole ? 128 : rows, k, left, s, x[0]);
    else if (s < 3) $N_fetch(p, b, top, kWhole ? 128 : rows, k, left, s + 1, x[(s + 1) % $F]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = s * 32 + i * 8 + warp;
      if (kWhole || row < rows) {
        const $N_at t = $N_place(p, b, top + row);
        $N_four own;
@S        $N_1_stores y;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (kWhole || j < left) {
            const $N_1_inputs in = $N_1_point(p, t, r, x[s % $F][i], j, k$Y, own.v[j], top + row);
            lanes[i][j] = s == 0 ? $N_1_first(in) : $N_1_step(p, lanes[i][j], in, s + 1);
          }
        }
@S        $N_1_store(p, t, k, left, y);
        *($N_four*)&lines[i % $H][lane * 4] = own;
      }
      if (i % $H == $H - 1) {
        __syncwarp();
        const int mine = s * 32 + (i - i % $H + lane / $G) * 8 + warp;
        const $N_0_state node = $N_row_node(p, lines[lane / $G], base, kWhole ? 128 : columns);
        if (lane % $G == 0 && (kWhole || mine < rows)) nodes[mine] = node;
        __syncwarp();
      }
    }
  }
  if (kWhole) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      c[j] = $N_1_combine($N_1_combine(lanes[0][j], lanes[2][j], $N_1_even(p, 4)),
                          $N_1_combine(lanes[1][j], lanes[3][j], $N_1_even(p, 4)), $N_1_even(p, 8));
    return;
  }
  const $N_1_split uneven16 = $N_1_uneven(p, rows, 16), uneven8 = $N_1_uneven(p, rows, 8);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int l = warp + 8 * i;
      if (l + 16 < rows) lanes[i][j] = $N_1_combine(lanes[i][j], lanes[i + 2][j], $N_1_lane_pair(p, rows, l, 16, uneven16));
    }
    if (warp + 8 < rows) lanes[0][j] = $N_1_combine(lanes[0][j], lanes[1][j], $N_1_lane_pair(p, rows, warp, 8, uneven8));
    c[j] = lanes[0][j];
  }
}

extern "C" __global__ void __launch_bounds__(256, $M) $N(const __grid_constant__ struct $N_params p) {
  alignas(16) __shared__ unsigned char room[$ROOM];  // what rows take, then what warps have of columns
  __shared__ $N_0_state nodes[128];
  __shared__ bool last[2];
  const tarry_u32 chunks = (tarry_u32)p.chunks, bands = (tarry_u32)((p.$EY + 127) / 128);
  const tarry_u32 tile = blockIdx.x / chunks, chunk = blockIdx.x - tile * chunks, b = tile / bands, band = tile - b * bands;
  const tarry_i64 top = (tarry_i64)band * 128, base = (tarry_i64)chunk * 128;
  const int rows = p.$EY - top < 128 ? (int)(p.$EY - top) : 128, columns = p.n - base < 128 ? (int)(p.n - base) : 128;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const bool row = (int)threadIdx.x < rows, column = (int)threadIdx.x < columns;
  $N_1_state c[4];
  $N_kept (*lines)[$P] = ($N_kept (*)[$P])room + warp * $H;
@U  if (rows == 128 && columns == 128) $N_tile<true>(p, ($O)b, ($K)top, rows, ($K)base, columns, lines, nodes, c);
@U  else
  $N_tile<false>(p, ($O)b, ($K)top, rows, ($K)base, columns, lines, nodes, c);
  __syncthreads();
  $N_1_state (*lanes)[128] = ($N_1_state (*)[128])room;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (lane * 4 + j < columns) lanes[warp][lane * 4 + j] = c[j];
  __syncthreads();
  // States of rows: [b][chunk][row]; behind them those of columns: [b][band][column].
  $N_0_state* across = ($N_0_state*)p.scratch + (tarry_i64)b * chunks * p.$EY + top;
  const tarry_i64 before = (p.count * chunks * (tarry_i64)sizeof($N_0_state) + 15) / 16 * 16;
  $N_1_state* down = ($N_1_state*)((unsigned char*)p.scratch + before) + (tarry_i64)b * bands * p.n + base;
  if (row) across[chunk * p.$EY + threadIdx.x] = nodes[threadIdx.x];
  if (column) down[band * p.n + threadIdx.x] = $N_1_lanes(p, &lanes[0][threadIdx.x], rows);
  __syncthreads();
  tarry_u32* const tickets = p.tickets + gridDim.x / chunks;
  if (threadIdx.x == 0) {
    last[0] = $N_arrive(p.tickets + tile) == chunks - 1;
    last[1] = $N_arrive(tickets + b * chunks + chunk) == bands - 1;
  }
  __syncthreads();
  if (last[0]) {
    int parts = (int)chunks;
    tarry_i64 elements = 128;
    $N_0_fold(p, across, p.$EY, rows, parts, elements, 1);
    if (threadIdx.x == 0) p.tickets[tile] = 0;
    if (row) $N_0_finish(p, $N_place(p, ($O)b, ($K)(top + threadIdx.x)), across[threadIdx.x]);
  }
  if (last[1]) {
    int parts = (int)bands;
    tarry_i64 elements = 128;
    $N_1_fold(p, down, p.n, columns, parts, elements, 1);
    if (threadIdx.x == 0) tickets[b * chunks + chunk] = 0;
    if (column) $N_1_finish(p, $N_place(p, ($O)b, 0), ($K)(base + threadIdx.x), down[threadIdx.x]);
  }
}
)";

/// Bytes that a thread loads of a row.
std::size_t loaded_bytes(const KernelIr& ir) {
  std::size_t bytes = 0;
  for (const Access& a : ir.accesses)
    if (!a.store && !a.outer_only && a.buffer != kNone && a.reduced != StrideClass::Zero)
      bytes += itemsize(ir.buffers[a.buffer]);
  return bytes * static_cast<std::size_t>(items(ir));
}

}  // namespace

/// From what a point keeps.
std::string Functions::along_text(const Stage& stage) {
  stage_ = &stage;
  taken();
  out_.open("__device__ __forceinline__ $S_inputs $S_take(const $N_params& p, const $N_kept& h, $K k)");
  take([&](Value v) { return (ir_.instrs[v].kind == InstrKind::Scalar ? "" : "h.") + operand(v, Region::Point); }, "k");
  out_.close();
  finish();
  return Template(ir_, stage).fill(out_.take());
}

KernelSource render_row_column(const KernelIr& ir, const graph::Target&) {
  using enum SlotKind;
  const StagePlan plan = plan_stages(ir);
  const Stage &along = plan.stages[0], &across = plan.stages[1];
  const std::size_t kept = kept_bytes(ir, plan), state = state_bytes(ir, 1);
  const RowGroup group = row_group(kept);
  const std::string rows = fmt::format("e{}", ir.rank - 1);
  const std::size_t lines = kept * static_cast<std::size_t>(kWarps * group.rows() * group.pitch());
  Functions functions(ir, plan);
  const Parameters parameters =
      ir.wide_index ? make_parameters(ir, {OuterCount, Reduced, Extent, Chunks, Scratch, Tickets, Reciprocal})
                    : make_parameters(ir, {OuterCount, Reduced, Extent, Magic, Chunks, Scratch, Tickets, Reciprocal});
  const auto fill = [&](const Stage& stage, std::string_view text) {
    return Template(ir, stage,
                    {{"$total", &stage == &across ? "p." + rows : "p.n"},
                     {"$ROOM", std::to_string(std::max(lines, state * static_cast<std::size_t>(kWarps * kTile)))},
                     {"$EY", rows},
                     {"$R", state_bytes(ir, stage.number) <= 16 ? "8" : "4"},
                     {"$C", std::to_string(kTile)},
                     {"$G", std::to_string(group.threads)},
                     {"$H", std::to_string(group.rows())},
                     {"$P", std::to_string(group.pitch())},
                     {"$F", loaded_bytes(ir) <= 16 && state <= 8 && !across.rolled ? "2" : "1"},
                     {"$M", state <= 8 && !across.rolled ? "2" : "1"},
                     {"$Y", across.stores ? ", y" : ""}})
        .fill(text);
  };
  std::string kernel = parameter_struct(parameters) + fill(along, functions.shared_text());
  kernel += state_type(ir, along) + functions.along_text(along) + state_functions(ir, along, functions.expressions());
  kernel +=
      state_type(ir, across) + functions.stage_text(across) + state_functions(ir, across, functions.expressions());
  kernel += fill(along, arrive_function());
  for (const Stage& stage : plan.stages)
    kernel += fill(stage, fmt::format("{}{}{}", lane_functions(), node_functions(), column_fold()));
  kernel += fill(across, fmt::format("{}{}", column_lanes(), kCrossed));
  return finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
}

Geometry geometry_row_column(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  const auto tiles = [](std::int64_t extent) { return (extent + kTile - 1) / kTile; };
  const std::int64_t rows = args.extents.back(), batches = args.outer_count() == 0 ? 0 : args.outer_count() / rows;
  g.outer_tiles = batches * tiles(rows);
  if (g.outer_tiles == 0) return g;
  TARRY_ASSERT(rows > 32 && args.reduced > 32);
  g.chunks = tiles(args.reduced);
  g.scratch_bytes = state_bytes(ir, 0) * static_cast<std::size_t>(args.outer_count() * g.chunks) + 16 +
                    state_bytes(ir, 1) * static_cast<std::size_t>(g.outer_tiles * args.reduced);
  g.ticket_count = static_cast<std::size_t>(batches * (tiles(rows) + g.chunks));
  return g;
}

}  // namespace cuda
}  // namespace tarry::codegen
