// Searchsorted and Bincount as CUDA C. A thread looks for one value. A thread block counts in shared memory where the
// bins fit there, in as many copies as fit, so that lanes seldom meet; elsewhere the lanes of a warp that name one bin
// are counted together.
#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::Op;

constexpr std::int64_t kSharedBins = 8192, kIdsOfBlock = 16384;

constexpr std::string_view kSearchText = R"($KEY
struct $N_params {
  const $BITS* sorted;
  const $BITS* x;
  tarry_i64* to;
  tarry_i64 n, m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x; i < p.m; i += (tarry_i64)gridDim.x * 256) {
    const $BITS key = $N_key(p.x[i]);
    tarry_i64 low = 0, left = p.n;  // the place is one of low .. low + left
    while (left > 0) {
      const tarry_i64 half = left / 2;
      const $BITS there = $N_key(p.sorted[low + half]);
      const bool behind = $BEHIND;
      low = behind ? low + half + 1 : low;
      left = behind ? left - half - 1 : half;
    }
    p.to[i] = low;
  }
}
)";

constexpr std::string_view kFillText = R"(
struct $N_params {
  $T* to;
  tarry_i64 m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x; i < p.m; i += (tarry_i64)gridDim.x * 256)
    p.to[i] = $VALUE;
}
)";

// A bin that passes 2^32 within a thread block would need 2^32 elements of it: it has fewer.
constexpr std::string_view kBinsText = R"(
struct $N_params {
  const $T* ids;
  tarry_i64* to;
  tarry_i64 n, m, copies;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ tarry_u32 bins[8192];
  const int m = (int)p.m, copies = (int)p.copies, own = threadIdx.x & (copies - 1);
  for (int i = threadIdx.x; i < m * copies; i += 256) bins[i] = 0;
  __syncthreads();
  for (tarry_i64 first = (tarry_i64)blockIdx.x * 16384; first < p.n; first += (tarry_i64)gridDim.x * 16384) {
    for (int k = 0; k < 16384; k += 2048) {
      tarry_i64 id[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const tarry_i64 i = first + k + j * 256 + threadIdx.x;
        id[j] = i < p.n ? (tarry_i64)p.ids[i] : -1;
      }
#pragma unroll
      for (int j = 0; j < 8; ++j)
        if ((tarry_u64)id[j] < (tarry_u64)m) atomicAdd(&bins[(int)id[j] * copies + own], 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < m; i += 256) {
    tarry_u32 count = 0;
    for (int c = 0; c < copies; ++c) count += bins[i * copies + c];
    if (count != 0) atomicAdd((unsigned long long*)p.to + i, (unsigned long long)count);
  }
}
)";

constexpr std::string_view kManyBinsText = R"(
struct $N_params {
  const $T* ids;
  tarry_i64* to;
  tarry_i64 n, m, copies;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 first = (tarry_i64)blockIdx.x * 256; first < p.n; first += (tarry_i64)gridDim.x * 256) {
    const tarry_i64 i = first + threadIdx.x, id = i < p.n ? (tarry_i64)p.ids[i] : -1;
    const tarry_u32 alike = __match_any_sync(~0u, (unsigned long long)id);
    if ((tarry_u64)id < (tarry_u64)p.m && __ffs((int)alike) - 1 == (int)(threadIdx.x % 32))
      atomicAdd((unsigned long long*)p.to + id, (unsigned long long)__popc(alike));
  }
}
)";

}  // namespace

KernelSource fill_kernel(std::string_view word, std::string_view type, std::string_view value) {
  const TextPart parts[] = {{"$T", std::string(type)}, {"$VALUE", std::string(value)}};
  return routine_kernel(word, kFillText, parts, {}, kRoutineThreads);
}

RoutineLaunch fill_launch(std::uint32_t kernel, void* to, std::int64_t count) {
  Geometry g;
  g.outer_tiles = striding_grid((count + kRoutineThreads - 1) / kRoutineThreads);
  return {kernel, {word_of(to), word_of(count)}, g};
}

std::vector<KernelSource> run_kernels(const RoutineSpec& spec) {
  if (spec.op == Op::Searchsorted) {
    const TextPart parts[] = {{"$KEY", key_function(spec, Zeros::Equal)},
                              {"$BITS", bits_type(spec.dtype)},
                              {"$BEHIND", spec.reversed() ? "there <= key" : "there < key"}};
    return {routine_kernel("searchsorted", kSearchText, parts, {}, kRoutineThreads)};
  }
  TARRY_ASSERT(spec.op == Op::Bincount);
  std::vector<KernelSource> kernels;
  kernels.push_back(fill_kernel("bincount_clear", "tarry_i64", "0"));
  const TextPart parts[] = {{"$T", c_type(spec.dtype)}};
  kernels.push_back(
      routine_kernel("bincount", spec.m <= kSharedBins ? kBinsText : kManyBinsText, parts, {}, kRoutineThreads));
  return kernels;
}

std::vector<RoutineLaunch> run_launches(const RoutineSpec& spec, std::span<void* const> operands) {
  const auto grid = [](std::int64_t items, std::int64_t of_block) {
    Geometry g;
    g.outer_tiles = striding_grid((items + of_block - 1) / of_block);
    return g;
  };
  std::vector<std::uint64_t> words;
  for (const void* const p : operands) words.push_back(word_of(p));
  words.insert(words.end(), {word_of(spec.n), word_of(spec.m)});
  if (spec.op == Op::Searchsorted) return {{0, words, grid(spec.m, kRoutineThreads)}};
  std::int64_t copies = 1;
  while (copies < 32 && 2 * copies * spec.m <= kSharedBins) copies *= 2;
  words.push_back(word_of(copies));
  return {fill_launch(0, operands[1], spec.m),
          {1, words, grid(spec.n, spec.m <= kSharedBins ? kIdsOfBlock : kRoutineThreads)}};
}

}  // namespace tarry::codegen
