// CUDA C of tree blocks: eight threads hold a block of tree R, four neighbouring lanes each.
#include <fmt/format.h>

#include "codegen/render_cuda.h"

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

constexpr std::string_view kBlocks = R"(
// $D whole blocks; x[s] holds elements k + 32 s ... k + 32 s + 3. The node is in the first lane.
__device__ __forceinline__ $S_state $S_four(const $N_params& p, const $N_at& t, const $N_row& r$P, const $S_loads* x, $K k) {
  $S_state c[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) {
@S    $S_stores y;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const $S_inputs in = $S_point(p, t, r$I, x[s], j, k + s * 32$Y$H);
      c[j] = s == 0 ? $S_first(in) : $S_step(p, c[j], in, s + 1);
    }
@S    $S_store(p, t, k + s * 32, 4, y);
  }
#pragma unroll
  for (int d = 4; d > 0; d /= 2) {
#pragma unroll
    for (int j = 0; j < 4; ++j) c[j] = $S_combine(c[j], $S_down(c[j], d), $S_even(p, 16 / d));
  }
  c[0] = $S_combine($S_combine(c[0], c[2], $S_even(p, 32)), $S_combine(c[1], c[3], $S_even(p, 32)), $S_even(p, 64));
#pragma unroll
  for (int d = 1; d < $D; d *= 2) c[0] = $S_combine(c[0], $S_down(c[0], 8 * d), $S_even(p, 128 * d));
  return c[0];
}

// Up to $D blocks with m elements in all: lanes and blocks that are missing take no part.
__device__ __forceinline__ $S_state $S_some(const $N_params& p, const $N_at& t, const $N_row& r$P, $K base, int m) {
  const int lane = threadIdx.x & 31, block = $Q * 128, l = (lane & 7) * 4;
  const int here = m - block < 128 ? m - block : 128;
  $S_loads x[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
    $S_load(p, t, base + block + s * 32 + l, left, x[s]);
  }
  $S_state c[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
@S    $S_stores y;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < left) {
        const $S_inputs in = $S_point(p, t, r$I, x[s], j, base + block + s * 32 + l$Y$H);
        c[j] = s == 0 ? $S_first(in) : $S_step(p, c[j], in, s + 1);
      }
    }
@S    $S_store(p, t, base + block + s * 32 + l, left, y);
  }
#pragma unroll
  for (int d = 4; d > 0; d /= 2) {
    const $S_split uneven = $S_uneven(p, here, 4 * d);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const $S_state b = $S_down(c[j], d);
      if (l + j + 4 * d < here) c[j] = $S_combine(c[j], b, $S_lane_pair(p, here, l + j, 4 * d, uneven));
    }
  }
  // The four lanes of the block's first thread.
  const $S_split uneven = $S_uneven(p, here, 2);
  if (2 < here) c[0] = $S_combine(c[0], c[2], $S_lane_pair(p, here, 0, 2, uneven));
  if (3 < here) c[1] = $S_combine(c[1], c[3], $S_lane_pair(p, here, 1, 2, uneven));
  if (1 < here) c[0] = $S_combine(c[0], c[1], $S_share(p, (here + 1) / 2, here / 2));
#pragma unroll
  for (int d = 1; d < $D; d *= 2) {
    const $S_state b = $S_down(c[0], 8 * d);
    const int left = m - block - d * 128;
    if (left > 0) c[0] = $S_combine(c[0], b, $S_share(p, d * 128, left < d * 128 ? left : d * 128));
  }
  return c[0];
}
)";

}  // namespace

std::string_view lane_functions() { return kLanes; }
std::string_view block_functions() { return kBlocks; }

std::vector<std::pair<std::string, std::string>> block_choices(const KernelIr& ir, const Stage& stage, int blocks) {
  const bool row = ir.is_row();
  return {
      {"$D", std::to_string(blocks)},
      {"$Q", blocks == 4 ? "(lane >> 3)" : fmt::format("(lane >> 3 & {})", blocks - 1)},
      {"$Y", stage.stores ? ", y" : ""},
      {"$P", row ? ", const $N_outer& o, $N_kept* h" : ""},  // further parameters and arguments, and those of a point
      {"$A", row ? ", o, h" : ""},
      {"$I", row ? ", o" : ""},
      {"$H", row ? ", h[s * 4 + j]" : ""},
  };
}

}  // namespace tarry::codegen::cuda
