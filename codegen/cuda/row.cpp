// CUDA C of RowInner: several stages over a row in one launch, tree R in each of them.
#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

/// A warp's part of a row: `units` units of $V elements.
constexpr std::string_view kUnit = R"(
// The node of the unit at `base`, m of whose elements are there; it is in the first lane. `whole`, the same for the warp:
// all of them are.
__device__ __forceinline__ $S_state $S_unit(const $N_params& p, const $N_at& t, const $N_row& r$P, $K base, int m, bool whole) {
@B  return $S_some(p, t, r$A, base, m);
@W  if (!whole) return $S_some(p, t, r$A, base, m);
@W  const int lane = threadIdx.x & 31;
@W  const $K k = base + $FIRST;
@W  $S_loads x[$STEPS];
@W#pragma unroll
@W  for (int s = 0; s < $STEPS; ++s) $S_load(p, t, k + s * 32, $ALL, x[s]);
@W  $S_state c[$W];
@W  $S_take(p, t, r$A, x, k, c);
@W  return $S_node(p, c);
}
)";

/// The row's node in every thread of the row, where that is less than a warp or one.
constexpr std::string_view kSpread = R"(
__device__ __forceinline__ $S_state $S_spread($S_state s) { return $S_from(s, threadIdx.x & 31 & -($D * $E)); }
)";

/// How much of the row a thread block of a cluster holds.
constexpr std::string_view kHeld = R"(
__device__ __forceinline__ int $S_held(const $N_params& p) {
  const int left = (int)p.n - (int)(blockIdx.x % $C) * $PART;
  return left < 0 ? 0 : left < $PART ? left : $PART;
}
)";

/// The node of the thread block's part of a row in every thread, through the nodes of its warps.
constexpr std::string_view kJoin = R"(
// Every warp combines the nodes of all of them, so that one barrier is enough.
__device__ __forceinline__ $S_state $S_join(const $N_params& p, $S_state* nodes, $S_state s) {
  const int lane = threadIdx.x & 31, n = $HELD, there = (n + $U * $V - 1) / ($U * $V);
  if (lane == 0) nodes[threadIdx.x >> 5] = s;
  __syncthreads();
  s = nodes[lane < there ? lane : 0];
#pragma unroll
  for (int d = 1; d < $T / 32; d *= 2) {
    const $S_state b = $S_down(s, d);
    const int left = n - (lane + d) * ($U * $V);
    if (left > 0) s = $S_combine(s, b, $S_share(p, d * ($U * $V), left < d * ($U * $V) ? left : d * ($U * $V)));
  }
  return $S_from(s, 0);
}
)";

/// Thread blocks of a cluster: each arrives when it is done with the others' memory, and waits before it uses or leaves
/// its own.
constexpr std::string_view kCluster = R"(
__device__ __forceinline__ void $N_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__device__ __forceinline__ void $N_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
// What lies at `mine` in another thread block.
template <class T> __device__ __forceinline__ const T* $N_of(const T* mine, int rank) {
  const T* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(mine), "r"(rank) : "memory");
  return there;
}
)";

/// The row's node in every thread, through those of its thread blocks.
constexpr std::string_view kMeet = R"(
__device__ __forceinline__ $S_state $S_meet(const $N_params& p, $S_state* part, $S_state s) {
  const int lane = threadIdx.x & 31, n = (int)p.n, there = (n + $PART - 1) / $PART;
  if (threadIdx.x == 0) *part = s;
  $N_arrive();
  $N_wait();
  s = *$N_of(part, lane < there ? lane : 0);
#pragma unroll
  for (int d = 1; d < $C; d *= 2) {
    const $S_state b = $S_down(s, d);
    const int left = n - (lane + d) * $PART;
    if (left > 0) s = $S_combine(s, b, $S_share(p, d * $PART, left < d * $PART ? left : d * $PART));
  }
  return $S_from(s, 0);
}
)";

/// The points of a stage without reductions.
constexpr std::string_view kEach = R"(
template <bool kWhole>
__device__ __forceinline__ void $S_each(const $N_params& p, const $N_at& t, const $N_row& r$P, $K base, int m) {
  const int lane = threadIdx.x & 31, at = $FIRST, there = $THERE;
  const $K k = base + at;
@U  $S_loads x[$STEPS] = {};
@U#pragma unroll
@U  for (int s = 0; s < $STEPS; ++s) $S_load(p, t, k + s * 32, kWhole ? $ALL : there - s * 32, x[s]);
#pragma unroll$once
  for (int s = 0; s < $STEPS; ++s) {
@R    $S_loads x[1] = {};
@R    $S_load(p, t, k + s * 32, kWhole ? $ALL : there - s * 32, x[0]);
@D    $S_draw(p, t, k + s * 32, x[$s]);
@S    $S_stores y;
#pragma unroll
    for (int j = 0; j < $W; ++j)
      if (!$LOOPS || kWhole || $ITEM < there - s * 32) $S_point(p, t, r$I, x[$s], j, k + s * 32$Y$H);
@S    $S_store(p, t, k + s * 32, kWhole ? $ALL : there - s * 32, y);
  }
}
__device__ __forceinline__ void $S_unit(const $N_params& p, const $N_at& t, const $N_row& r$P, $K base, int m, bool whole) {
@W  if (whole) return $S_each<true>(p, t, r$A, base, m);
  $S_each<false>(p, t, r$A, base, m);
}
)";

/// Several rows per thread block: threads of rows that are not there go along with nothing to do, for the shuffles.
constexpr std::string_view kRowsHead = R"(
extern "C" __global__ void __launch_bounds__($T, $M) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 row = (tarry_i64)blockIdx.x * $ROWS + threadIdx.x / ($D * $E), i = row < p.count ? row : p.count - 1;
  const $K first = 0;
  const int m = row < p.count ? (int)p.n : 0;
  const bool leader = m > 0 && threadIdx.x % ($D * $E) == 0;
  const bool whole = $WHOLE && (tarry_i64)blockIdx.x * $ROWS + (threadIdx.x | 31) / ($D * $E) < p.count;
)";

constexpr std::string_view kRowHead = R"(
extern "C" __global__ void __launch_bounds__($T, $M) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 i = blockIdx.x;
  const $K first = (threadIdx.x >> 5) * ($U * $V);
  const int m = (int)p.n - (int)first;
  const bool leader = threadIdx.x == 0;
)";

/// A row that several thread blocks share.
constexpr std::string_view kClusterHead = R"(
extern "C" __global__ void __cluster_dims__($C, 1, 1) __launch_bounds__($T, $M) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 i = blockIdx.x / $C;
  const int rank = blockIdx.x % $C;
  const $K first = rank * $PART + (threadIdx.x >> 5) * ($U * $V);
  const int m = (int)p.n - (int)first;
  const bool leader = rank == 0 && threadIdx.x == 0;
)";

constexpr std::string_view kPlaced = R"(  const $N_at t = $N_place(p, ($O)i);
  const $N_row r = $N_begin(p, t, 0);
  $N_outer o;
  $N_kept h[$STEPS * $W * $U];
)";

/// The aligned tree of up to four units: the left pair is s, the right one q.
constexpr std::string_view kReduces = R"(  $S_state s$Z = {}, q$Z = {};
#pragma unroll$ROLL
  for (int u = 0; u < $U; ++u) {
    const int there = m - u * $V;
    if (there > 0) {
      const $S_state a = $S_unit(p, t, r, o, h + u * (4 * $W), first + u * $V, there, there >= $V);
      const $S_split split = $S_share(p, $V, there < $V ? there : $V);
      if (u < 2) s$Z = u & 1 ? $S_combine(s$Z, a, split) : a;
      else q$Z = u & 1 ? $S_combine(q$Z, a, split) : a;
    }
  }
  if ($U > 2 && m > 2 * $V) s$Z = $S_combine(s$Z, q$Z, $S_share(p, 2 * $V, m < 4 * $V ? m - 2 * $V : 2 * $V));
)";

constexpr std::string_view kReducesOnce = R"(  $S_state s$Z = $S_unit(p, t, r, o, h, first, m, whole);
)";

constexpr std::string_view kMaps = R"(#pragma unroll$ROLL
  for (int u = 0; u < $U; ++u) {
    const int there = m - u * $V;
    if (there > 0) $S_unit(p, t, r, o, h + u * (4 * $W), first + u * $V, there, there >= $V);
  }
  const $S_state s$Z = {};
)";

constexpr std::string_view kMapsOnce = R"(  $S_unit(p, t, r, o, h, first, m, whole);
  const $S_state s$Z = {};
)";

using Choices = std::vector<std::pair<std::string, std::string>>;

Choices choices(const KernelIr& ir, const StagePlan& plan, const Stage& stage) {
  const RowTile& tile = plan.tile;
  Choices all = block_choices(ir, stage, tile.blocks);
  all.insert(all.begin(), {"$ROWS", std::to_string(tile.rows)});
  all.insert(all.begin(), {"$PART", std::to_string(tile.part())});
  all.insert(all.begin(), {"$HELD", tile.cluster > 1 ? "$S_held(p)" : "(int)p.n"});
  all.insert(all.begin(), {"$ROLL", plan.kept.empty() ? " 1" : ""});  // what is held has to have a fixed place
  // The node of whole blocks counts on four steps.
  all.emplace_back("$WHOLE", lane_steps(ir) == 2 ? "false" : "p.n == $V");
  all.emplace_back("$Z", std::to_string(stage.number));
  all.emplace_back("$V", std::to_string(tile.unit()));
  all.emplace_back("$U", std::to_string(tile.units));
  all.emplace_back("$T", std::to_string(tile.threads()));
  all.emplace_back("$C", std::to_string(tile.cluster));
  all.emplace_back("$M", std::to_string(plan.resident()));
  return all;
}

/// Functions of a stage of RowInner beyond those that load, compute and store its points.
std::string row_functions(const KernelIr& ir, const RowTile& tile, const Stage& stage) {
  if (stage.reductions.empty()) return std::string(kEach);
  return fmt::format("{}{}{}{}{}{}", lane_functions(), block_functions(ir, stage), kUnit, tile.cluster > 1 ? kHeld : "",
                     tile.warps == 1 ? kSpread : kJoin, tile.cluster > 1 ? kMeet : "");
}

/// A stage in the body of RowInner.
std::string row_stage(const RowTile& tile, const Stage& stage) {
  const bool once = tile.warps == 1;
  std::string text(stage.reductions.empty() ? (once ? kMapsOnce : kMaps) : once ? kReducesOnce : kReduces);
  if (!stage.reductions.empty()) {
    if (once)
      text += "  s$Z = $S_spread(s$Z);\n";
    else
      text += "  __shared__ $S_state nodes$Z[$T / 32];\n  s$Z = $S_join(p, nodes$Z, s$Z);\n";
    if (tile.cluster > 1) text += "  __shared__ $S_state part$Z[1];\n  s$Z = $S_meet(p, part$Z, s$Z);\n";
  }
  return text + "  $S_finish(p, t, r, s$Z, leader, o);\n";
}

}  // namespace

KernelSource render_rows(const KernelIr& ir, const graph::Target&) {
  using enum SlotKind;
  const StagePlan plan = plan_stages(ir);
  const RowTile& tile = plan.tile;
  Functions functions(ir, plan);
  const Parameters parameters = ir.wide_index ? make_parameters(ir, {OuterCount, Reduced, Extent, Reciprocal})
                                              : make_parameters(ir, {OuterCount, Reduced, Extent, Magic, Reciprocal});
  auto fill = [&](const Stage& stage, const std::string& text) {
    return Template(ir, stage, choices(ir, plan, stage)).fill(text);
  };
  std::string kernel = parameter_struct(parameters) + Template(ir, plan.stages[0]).fill(functions.shared_text());
  const std::string_view head = tile.warps == 1 ? kRowsHead : tile.cluster > 1 ? kClusterHead : kRowHead;
  if (tile.cluster > 1) kernel += fill(plan.stages[0], std::string(kCluster));
  std::string body = fill(plan.stages[0], fmt::format("{}{}", head, kPlaced));
  for (const Stage& stage : plan.stages) {
    kernel += state_type(ir, stage) + functions.stage_text(stage) + state_functions(ir, stage, functions.expressions());
    kernel += fill(stage, row_functions(ir, tile, stage));
    body += fill(stage, row_stage(tile, stage));
  }
  if (tile.cluster > 1)
    body += fill(plan.stages[0], "  $N_arrive();  // the others may still read this one's memory\n  $N_wait();\n");
  kernel += body + "}\n";
  KernelSource source =
      finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
  source.threads = tile.threads();
  source.cluster = tile.cluster;
  return source;
}

}  // namespace tarry::codegen::cuda
