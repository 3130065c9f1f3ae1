// CUDA C of tree blocks: $E threads hold a block of tree R, $W neighbouring lanes each; $E * $W is 32. Or, where items
// are interleaved, a warp holds four blocks, each thread a lane of every one.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {
namespace {

constexpr std::string_view kLanes = R"(
// The split of lanes l and l + d of a tree block of m elements: lane l holds the elements l, l + 2d, l + 4d, ..., which are
// m / 2d or one more. `uneven` is the split of one more with m / 2d.
__device__ __forceinline__ $S_split $S_lane_pair(const $N_params& p, int m, int l, int d, $S_split uneven) {
  const int na = (m - l + 2 * d - 1) / (2 * d), nb = (m - l + d - 1) / (2 * d);
  return na == nb ? $S_even(p, na) : uneven;
}
__device__ __forceinline__ $S_split $S_uneven(const $N_params& p, int m, int d) { return $S_share(p, m / (2 * d) + 1, m / (2 * d)); }
)";

/// The lanes of a block, then the blocks of a warp.
constexpr std::string_view kTreeOrder = R"(  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 16; d >= $W; d /= 2) {
#pragma unroll
    for (int j = 0; j < $W; ++j) c[j] = $S_meet(c[j], $S_across(c[j], d / $W), $S_even(p, 64 / d), !(lane & d / $W));
  }
#pragma unroll
  for (int d = $W / 2; d > 0; d /= 2) {
#pragma unroll
    for (int j = 0; j < d; ++j) c[j] = $S_combine(c[j], c[j + d], $S_even(p, 64 / d));
  }
#pragma unroll
  for (int d = 1; d < $D; d *= 2) c[0] = $S_meet(c[0], $S_across(c[0], $E * d), $S_even(p, 128 * d), !(lane & $E * d));
  return $widen(c[0]);)";

/// The same for four lanes and where combining is long. Lanes l and l + 16, then + 8, + 4: of the lanes that two
/// threads hold, each takes over half, so that the eight threads of a block exchange seven lanes, not twelve.
constexpr std::string_view kExchange = R"(  const int lane = threadIdx.x & 31;
  const bool upper = lane & 4, odd = lane & 2;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const $S_state mine = upper ? c[j + 2] : c[j], given = upper ? c[j] : c[j + 2];
    c[j] = $S_meet(mine, $S_across(given, 4), $S_even(p, 4), !upper);
  }
  const $S_state mine = odd ? c[1] : c[0], given = odd ? c[0] : c[1];
  $S_state s = $S_meet(mine, $S_across(given, 2), $S_even(p, 8), !odd);
  s = $S_meet(s, $S_across(s, 1), $S_even(p, 16), !(lane & 1));
  s = $S_meet(s, $S_across(s, 4), $S_even(p, 32), !upper);
  s = $S_meet(s, $S_across(s, 2), $S_even(p, 64), !odd);
#pragma unroll
  for (int d = 1; d < $D; d *= 2) s = $S_meet(s, $S_across(s, 8 * d), $S_even(p, 128 * d), !(lane & 8 * d));
  return s;)";

/// Interleaved: lanes l and l + 16, then + 8: of the blocks that two threads have, each takes over half.
constexpr std::string_view kInterleaved = R"(  const int lane = threadIdx.x & 31;
  const bool upper = lane & 16, odd = lane & 8;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const $lane mine = upper ? c[j + 2] : c[j], given = upper ? c[j] : c[j + 2];
    c[j] = $S_meet(mine, $S_across(given, 16), $S_even(p, 4), !upper);
  }
  const $lane mine = odd ? c[1] : c[0], given = odd ? c[0] : c[1];
  $lane s = $S_meet(mine, $S_across(given, 8), $S_even(p, 8), !odd);
#pragma unroll
  for (int d = 4; d > 0; d /= 2) s = $S_meet(s, $S_across(s, d), $S_even(p, 64 / d), !(lane & d));
#pragma unroll
  for (int d = 8; d < 32; d *= 2) s = $S_meet(s, $S_across(s, d), $S_even(p, 16 * d), !(lane & d));
  return $widen(s);)";

/// A thread's own lanes first.
constexpr std::string_view kAnyOrder = R"(  const $S_split h = $S_even(p, 1);
#pragma unroll
  for (int j = $W / 2; j < $W; ++j) c[j - $W / 2] = $S_combine(c[j - $W / 2], c[j], h);
#pragma unroll
  for (int j = 1; j < $W / 2; ++j) c[0] = $S_combine(c[0], c[j], h);
#pragma unroll
  for (int d = 1; d < $D * $E; d *= 2) c[0] = $S_combine(c[0], $S_across(c[0], d), h);
  return $widen(c[0]);)";

constexpr std::string_view kBlocks = R"(
// The lanes of $D whole blocks, $W in each thread; x[s] holds elements k + $PITCH s ... of them.
__device__ __forceinline__ void $S_take(const $N_params& p, const $N_at& t, const $N_row& r$P, $const$S_loads* x, $K k, $lane* c) {
#pragma unroll
  for (int s = 0; s < $STEPS; ++s) {
@D    $S_draw(p, t, k + s * $PITCH, x[s]);
@S    $S_stores y;
#pragma unroll
    for (int j = 0; j < $W; ++j) {
      const $S_inputs in = $S_point(p, t, r$I, x[s], j, k + s * $PITCH$Y$H);
      c[j] = s == 0 ? $S_first(in) : $S_step(p, c[j], in, s + 1);
    }
@S    $S_store(p, t, k + s * $PITCH, $ALL, y);
  }
}

// The node of those blocks, in all their threads.
__device__ __forceinline__ $S_state $S_node(const $N_params& p, $lane* c) {
$LANES
}
)";

/// A part of the blocks of a warp, or of a brief stage, all of them.
constexpr std::string_view kSome = R"(
// Up to $D blocks with m elements in all: lanes and blocks that are missing take no part. Points that are missing are
// computed all the same, from zeros: that is shorter than going round them one by one. Loops load for themselves.
__device__ __forceinline__ $S_state $S_some(const $N_params& p, const $N_at& t, const $N_row& r$P, $K base, int m) {
  const int lane = threadIdx.x & 31, block = $Q * 128, l = lane % $E * $W;
  const int here = m - block < 128 ? m - block : 128;
@U  $S_loads x[$STEPS] = {};
@U#pragma unroll
@U  for (int s = 0; s < $STEPS; ++s) {
@U    const int left = here - s * 32 - l;
@U    $S_load(p, t, base + block + s * 32 + l, left, x[s]);
@U  }
  $lane c[$W] = {};
#pragma unroll$once
  for (int s = 0; s < $STEPS; ++s) {
    const int left = here - s * 32 - l;
@R    $S_loads x[1] = {};
@R    $S_load(p, t, base + block + s * 32 + l, left, x[0]);
@D    $S_draw(p, t, base + block + s * 32 + l, x[$s]);
@S    $S_stores y;
#pragma unroll
    for (int j = 0; j < $W; ++j) {
      if (!$LOOPS || j < left) {
        const $S_inputs in = $S_point(p, t, r$I, x[$s], j, base + block + s * 32 + l$Y$H);
        const $lane next = s == 0 ? $S_first(in) : $S_step(p, c[j], in, s + 1);
        if (j < left) c[j] = next;
      }
    }
@S    $S_store(p, t, base + block + s * 32 + l, left, y);
  }
#pragma unroll
  for (int d = 16; d >= $W; d /= 2) {
    const $S_split uneven = $S_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < $W; ++j) {
      const $lane b = $S_down(c[j], d / $W);
      if (l + j + d < here) c[j] = $S_combine(c[j], b, $S_lane_pair(p, here, l + j, d, uneven));
    }
  }
  // The lanes of the block's first thread.
#pragma unroll
  for (int d = $W / 2; d > 0; d /= 2) {
    const $S_split uneven = $S_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < d; ++j)
      if (j + d < here) c[j] = $S_combine(c[j], c[j + d], $S_lane_pair(p, here, j, d, uneven));
  }
#pragma unroll
  for (int d = 1; d < $D; d *= 2) {
    const $lane b = $S_down(c[0], $E * d);
    const int left = m - block - d * 128;
    if (left > 0) c[0] = $S_combine(c[0], b, $S_share(p, d * 128, left < d * 128 ? left : d * 128));
  }
  return $widen(c[0]);
}
)";

/// The same where items are interleaved.
constexpr std::string_view kSomeInterleaved = R"(
// Up to four blocks with m elements in all: lanes and blocks that are missing take no part. Points that are missing are
// computed all the same, from zeros: that is shorter than going round them one by one. Loops load for themselves.
__device__ __forceinline__ $S_state $S_some(const $N_params& p, const $N_at& t, const $N_row& r$P, $K base, int m) {
  const int lane = threadIdx.x & 31;
@U  $S_loads x[4] = {};
@U#pragma unroll
@U  for (int s = 0; s < 4; ++s) $S_load(p, t, base + lane + s * 32, m - lane - s * 32, x[s]);
  $lane c[4] = {};
#pragma unroll$once
  for (int s = 0; s < 4; ++s) {
    const int left = m - lane - s * 32;
@R    $S_loads x[1] = {};
@R    $S_load(p, t, base + lane + s * 32, left, x[0]);
@S    $S_stores y;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!$LOOPS || j * 128 < left) {
        const $S_inputs in = $S_point(p, t, r$I, x[$s], j, base + lane + s * 32$Y$H);
        const $lane next = s == 0 ? $S_first(in) : $S_step(p, c[j], in, s + 1);
        if (j * 128 < left) c[j] = next;
      }
    }
@S    $S_store(p, t, base + lane + s * 32, left, y);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int here = m - j * 128 < 128 ? m - j * 128 : 128;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      const $lane b = $S_down(c[j], d);
      if (lane + d < here) c[j] = $S_combine(c[j], b, $S_lane_pair(p, here, lane, d, $S_uneven(p, here, d)));
    }
  }
#pragma unroll
  for (int d = 1; d < 4; d *= 2) {
#pragma unroll
    for (int j = 0; j < 4; j += 2 * d) {
      const int left = m - (j + d) * 128;
      if (left > 0) c[j] = $S_combine(c[j], c[j + d], $S_share(p, d * 128, left < d * 128 ? left : d * 128));
    }
  }
  return $widen(c[0]);
}
)";

}  // namespace

std::string_view lane_functions() { return kLanes; }
std::string block_functions(const KernelIr& ir, const Stage& stage) {
  return fmt::format("{}{}", stage.brief ? "" : kBlocks, ir.striped() ? kSomeInterleaved : kSome);
}

bool in_any_order(const KernelIr& ir, const Stage& stage) {
  return std::all_of(stage.reductions.begin(), stage.reductions.end(),
                     [&](std::uint32_t r) { return in_any_order(ir.reductions[r]); });
}

std::vector<std::pair<std::string, std::string>> block_choices(const KernelIr& ir, const Stage& stage, int blocks) {
  const bool row = ir.is_row();
  const bool moments = std::any_of(stage.reductions.begin(), stage.reductions.end(),
                                   [&](std::uint32_t r) { return graph::output_count(ir.reductions[r].op) == 2; });
  // A value that `load` does not bring is there only where its point is.
  const bool loops = gathers(ir) || std::any_of(ir.instrs.begin(), ir.instrs.end(),
                                                [](const Instr& in) { return in.region == Region::Loop; });
  const bool free = in_any_order(ir, stage), spread = free && ir.schedule() == Schedule::ReduceInner && !ir.striped();
  return {
      {"$LANES", std::string(ir.striped()                ? kInterleaved
                             : free                      ? kAnyOrder
                             : moments && items(ir) == 4 ? kExchange
                                                         : kTreeOrder)},
      {"$LOOPS", loops ? "true" : "false"},
      {"$D", std::to_string(blocks)},
      {"$PITCH", std::to_string(spread ? 32 * items(ir) : 32)},
      {"$FIRST", ir.striped() ? "lane"
                 : spread     ? "lane * $W"
                              : "$Q * 128 + lane % $E * $W"},
      {"$THERE",
       ir.striped() ? "m - lane" : "(m - $Q * 128 < 128 ? m - $Q * 128 : 128) - lane % $E * $W"},  // from there on
      {"$ITEM", ir.striped() ? "j * 128" : "j"},
      {"$ALL", ir.striped() ? "512" : "$W"},
      {"$Q", blocks == items(ir) ? "(lane / $E)" : fmt::format("(lane / $E & {})", blocks - 1)},
      {"$E", std::to_string(32 / items(ir))},
      {"$STEPS", std::to_string(lane_steps(ir))},
      {"$const", stage.draws ? "" : "const "},
      {"$Y", stage.stores ? ", y" : ""},
      {"$P", row ? ", const $N_outer& o, $N_kept* h" : ""},  // further parameters and arguments, and those of a point
      {"$A", row ? ", o, h" : ""},
      {"$I", row ? ", o" : ""},
      {"$H", row ? ", h[s * $W + j]" : ""},
  };
}

}  // namespace tarry::codegen::cuda
