// The text of Compact: thread blocks count their tiles, one sums the counts up, thread blocks write the places.
#include <string>

#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"

namespace tarry::codegen {
namespace {

constexpr int kItems = 16, kSumThreads = 1024;
static_assert(kRoutineThreads * kItems == kCompactTile);

// `before` is what the threads of the block before this one have, `all` what it has.
constexpr std::string_view kShared = R"(
struct $N_params {
  const tarry_u8* mask;
  tarry_i64* to;
  tarry_i64* counts;
  tarry_i64 n, tiles;
};
TARRY_FN tarry_i64 $N_before(tarry_i64 own, tarry_i64& all) {
  __shared__ tarry_i64 sums[33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  tarry_i64 through = own;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const tarry_i64 other = __shfl_up_sync(0xffffffffu, through, d);
    if (lane >= d) through += other;
  }
  if (lane == 31) sums[warp] = through;
  __syncthreads();
  if (threadIdx.x == 0) {
    tarry_i64 sum = 0;
    for (int w = 0; w < $WARPS; ++w) {
      const tarry_i64 next = sums[w];
      sums[w] = sum;
      sum += next;
    }
    sums[32] = sum;
  }
  __syncthreads();
  all = sums[32];
  const tarry_i64 before = sums[warp] + through - own;
  __syncthreads();
  return before;
}
)";

constexpr std::string_view kCount = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 first = (tarry_i64)blockIdx.x * 4096;
  tarry_i64 own = 0, all;
  for (int i = 0; i < 16; ++i) {
    const tarry_i64 at = first + i * 256 + threadIdx.x;
    if (at < p.n && p.mask[at] != 0) ++own;
  }
  $N_before(own, all);
  if (threadIdx.x == 0) p.counts[blockIdx.x] = all;
}
)";

constexpr std::string_view kSum = R"(
extern "C" __global__ void __launch_bounds__(1024) $N(const __grid_constant__ struct $N_params p) {
  tarry_i64 sum = 0;
  for (tarry_i64 first = 0; first < p.tiles; first += 1024) {
    const tarry_i64 tile = first + threadIdx.x;
    const tarry_i64 own = tile < p.tiles ? p.counts[tile] : 0;
    tarry_i64 all;
    const tarry_i64 before = $N_before(own, all);
    if (tile < p.tiles) p.counts[tile] = sum + before;
    sum += all;
  }
  if (threadIdx.x == 0) p.to[p.n] = sum;
}
)";

constexpr std::string_view kWrite = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 first = (tarry_i64)blockIdx.x * 4096;
  tarry_i64 next = p.counts[blockIdx.x];
  for (int i = 0; i < 16; ++i) {
    const tarry_i64 at = first + i * 256 + threadIdx.x;
    const tarry_i64 own = at < p.n && p.mask[at] != 0 ? 1 : 0;
    tarry_i64 all;
    const tarry_i64 before = $N_before(own, all);
    if (own != 0) p.to[next + before] = at;
    next += all;
  }
}
)";

KernelSource kernel_of(std::string_view does, std::string_view body, int threads) {
  const TextPart parts[] = {{"$WARPS", std::to_string(threads / 32)}};
  return routine_kernel(fmt::format("compact_{}", does), std::string(kShared) + std::string(body), parts, {}, threads);
}

std::int64_t tiles_of(const RoutineSpec& spec) { return (spec.n + kCompactTile - 1) / kCompactTile; }

}  // namespace

std::size_t compact_scratch(const RoutineSpec& spec) {
  return static_cast<std::size_t>(tiles_of(spec)) * sizeof(std::int64_t);
}

std::vector<KernelSource> compact_kernels() {
  return {kernel_of("count", kCount, kRoutineThreads), kernel_of("sum", kSum, kSumThreads),
          kernel_of("write", kWrite, kRoutineThreads)};
}

std::vector<RoutineLaunch> compact_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  const std::vector<std::uint64_t> words{word_of(operands[0]), word_of(operands[1]), word_of(scratch), word_of(spec.n),
                                         word_of(tiles_of(spec))};
  Geometry tiles, one;
  tiles.outer_tiles = tiles_of(spec);
  return {{0, words, tiles}, {1, words, one}, {2, words, tiles}};
}

}  // namespace tarry::codegen
