// Searchsorted, Bincount and the Segment ops as CUDA C. A thread looks for one value; a thread block counts in shared
// memory where the bins fit there; a warp folds one run by tree R, a subtree of each size in a lane of its own.
#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::Op;

constexpr std::int64_t kSharedBins = 4096, kIdsOfBlock = 16384;

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

constexpr std::string_view kClearText = R"(
struct $N_params {
  tarry_i64* to;
  tarry_i64 m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x; i < p.m; i += (tarry_i64)gridDim.x * 256) p.to[i] = 0;
}
)";

// A bin that passes 2^32 within a thread block would need 2^32 elements of it: it has fewer.
constexpr std::string_view kBinsText = R"(
struct $N_params {
  const tarry_i64* ids;
  tarry_i64* to;
  tarry_i64 n, m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ tarry_u32 bins[4096];
  for (int i = threadIdx.x; i < p.m; i += 256) bins[i] = 0;
  __syncthreads();
  for (tarry_i64 first = (tarry_i64)blockIdx.x * 16384; first < p.n; first += (tarry_i64)gridDim.x * 16384) {
    for (int k = 0; k < 16384; k += 256) {
      const tarry_i64 i = first + k + threadIdx.x;
      if (i < p.n && (tarry_u64)p.ids[i] < (tarry_u64)p.m) atomicAdd(&bins[p.ids[i]], 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < p.m; i += 256)
    if (bins[i] != 0) atomicAdd((unsigned long long*)p.to + i, (unsigned long long)bins[i]);
}
)";

constexpr std::string_view kManyBinsText = R"(
struct $N_params {
  const tarry_i64* ids;
  tarry_i64* to;
  tarry_i64 n, m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x; i < p.n; i += (tarry_i64)gridDim.x * 256)
    if ((tarry_u64)p.ids[i] < (tarry_u64)p.m) atomicAdd((unsigned long long*)p.to + p.ids[i], 1ull);
}
)";

constexpr std::string_view kRunText = R"($STATE
__device__ __forceinline__ struct $N_state $N_of_lane(const struct $N_state& s, int lane) {
  struct $N_state o;
$OF_LANE  return o;
}
__device__ __forceinline__ struct $N_state $N_below(const struct $N_state& s, int lanes) {
  struct $N_state o;
$BELOW  return o;
}
struct $N_params {
  const $T* x;
  const tarry_i64* offsets;
  $T* to;
  tarry_i64 rows, n, m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const int lane = threadIdx.x % 32;
  for (tarry_i64 run = (tarry_i64)blockIdx.x * 8 + threadIdx.x / 32; run < p.rows * p.m;
       run += (tarry_i64)gridDim.x * 8) {
    const tarry_i64 g = run % p.m, from = p.offsets[g], n = p.offsets[g + 1] - from;
    const $T* const x = p.x + run / p.m * p.n + from;
    if (n <= 0) {
      if (lane == 0) p.to[run] = $NOTHING;
      continue;
    }
    const $T shift = $SHIFT;
    struct $N_state sum = $N_first(x[lane < n ? lane : 0], shift);
    if (n <= 32) {
      sum = $N_of_lane(sum, 0);
#pragma unroll 1
      for (int k = 1; k < n; ++k) sum = $N_next(sum, x[k], k + 1, shift);
    } else {
      struct $N_state subtree = sum;  // of 2^lane blocks, the last of them perhaps short
      const tarry_i64 blocks = (n + 127) / 128;
#pragma unroll 1
      for (tarry_i64 b = 0; b < blocks; ++b) {
        const tarry_i64 rest = n - b * 128;
        const int there = (int)(rest < 128 ? rest : 128);
        const $T* const at = x + b * 128;
        sum = $N_first(at[lane < there ? lane : 0], shift);
        int count = 1;
        for (int k = lane + 32; k < there; k += 32) sum = $N_next(sum, at[k], ++count, shift);
$UNROLL
        for (int d = 16; d > 0; d /= 2) {
          const struct $N_state right = $N_below(sum, d);
          const int behind = __shfl_down_sync(~0u, count, d);
          if (lane < d && lane + d < there) {
            sum = $N_join(sum, count, right, behind);
            count += behind;
          }
        }
        sum = $N_of_lane(sum, 0);
        tarry_i64 all = there;
        int level = 0;
#pragma unroll 1
        for (; b >> level & 1; ++level) {
          sum = $N_join($N_of_lane(subtree, level), 128ll << level, sum, all);
          all += 128ll << level;
        }
        if (lane == level) subtree = sum;
      }
      int level = 0;
      while (!(blocks >> level & 1)) ++level;
      sum = $N_of_lane(subtree, level);
      tarry_i64 all = n - (blocks - (1ll << level)) * 128;
#pragma unroll 1
      for (++level; blocks >> level != 0; ++level) {
        const struct $N_state left = $N_of_lane(subtree, level);
        if (!(blocks >> level & 1)) continue;
        sum = $N_join(left, 128ll << level, sum, all);
        all += 128ll << level;
      }
    }
    if (lane == 0) p.to[run] = $RESULT;
  }
}
)";

constexpr std::string_view kValueState = R"(struct $N_state {
  $T value;
};
__device__ __forceinline__ struct $N_state $N_first($T x, $T) {
  struct $N_state s;
  s.value = x;
  return s;
}
__device__ __forceinline__ struct $N_state $N_join(const struct $N_state& a, tarry_i64, const struct $N_state& b,
                                                   tarry_i64) {
  struct $N_state s;
  s.value = $FUNCTION(a.value, b.value);
  return s;
}
__device__ __forceinline__ struct $N_state $N_next(const struct $N_state& a, $T x, int, $T shift) {
  return $N_join(a, 0, $N_first(x, shift), 0);
}
)";

// docs/reference/numerics.md, "Composite reductions".
constexpr std::string_view kMomentsState = R"(struct $N_state {
  $T mean, m2;
};
__device__ __forceinline__ struct $N_state $N_first($T x, $T shift) {
  struct $N_state s;
  s.mean = x - shift;
  s.m2 = 0;
  return s;
}
// With its k-th element.
__device__ __forceinline__ struct $N_state $N_next(const struct $N_state& a, $T x, int k, $T shift) {
  const $T y = x - shift, d = y - a.mean;
  struct $N_state s;
  s.mean = a.mean + d * (($T)1 / ($T)k);
  s.m2 = a.m2 + d * (y - s.mean);
  return s;
}
__device__ __forceinline__ struct $N_state $N_join(const struct $N_state& a, tarry_i64 of_a, const struct $N_state& b,
                                                   tarry_i64 of_b) {
  const $T w = ($T)of_b / ($T)(of_a + of_b), d = b.mean - a.mean;
  struct $N_state s;
  s.mean = a.mean + d * w;
  s.m2 = (a.m2 + b.m2) + (d * d) * (($T)of_a * w);
  return s;
}
)";

/// The end of a dtype's range: what no element changes, for a minimum and a maximum.
std::string end_of(Dtype dtype, bool largest) {
  switch (dtype) {
    case Dtype::Float32: return fmt::format("tarry_from_bits_f32({}u)", largest ? "0x7f800000" : "0xff800000");
    case Dtype::Float64:
      return fmt::format("tarry_from_bits_f64({}ull)", largest ? "0x7ff0000000000000" : "0xfff0000000000000");
    case Dtype::Int64: return largest ? "0x7fffffffffffffffll" : "(-0x7fffffffffffffffll - 1)";
    default: TARRY_ASSERT(dtype == Dtype::UInt64); return largest ? "~0ull" : "0ull";
  }
}

KernelSource segment_kernel(const RoutineSpec& spec) {
  const bool moments = spec.op == Op::SegmentM2;
  const Op joins = spec.op == Op::SegmentMin    ? Op::Minimum
                   : spec.op == Op::SegmentMax  ? Op::Maximum
                   : spec.op == Op::SegmentProd ? Op::Multiply
                                                : Op::Add;
  std::string of_lane, below;
  const std::vector<std::string_view> members =
      moments ? std::vector<std::string_view>{"mean", "m2"} : std::vector<std::string_view>{"value"};
  for (const std::string_view member : members) {
    of_lane += fmt::format("  o.{0} = __shfl_sync(~0u, s.{0}, lane);\n", member);
    below += fmt::format("  o.{0} = __shfl_down_sync(~0u, s.{0}, lanes);\n", member);
  }
  std::vector<std::string> functions;
  if (!moments) functions.push_back(function_name(joins, spec.dtype, spec.dtype));
  const std::string nothing = joins == Op::Add        ? "0"
                              : joins == Op::Multiply ? "1"
                                                      : end_of(spec.dtype, joins == Op::Minimum);
  const TextPart parts[] = {{"$STATE", std::string(moments ? kMomentsState : kValueState)},
                            // A division calls a function: what is live around several of them would spill.
                            {"$UNROLL", moments ? "#pragma unroll 1" : "#pragma unroll"},
                            {"$OF_LANE", of_lane},
                            {"$BELOW", below},
                            {"$NOTHING", nothing},
                            {"$SHIFT", moments ? "x[0] - x[0] == 0 ? x[0] : 0" : "0"},
                            {"$RESULT", moments ? "n == 1 ? x[0] - x[0] : sum.m2" : "sum.value"},
                            {"$FUNCTION", moments ? "" : functions.front()},
                            {"$T", c_type(spec.dtype)}};
  return routine_kernel(graph::name(spec.op), kRunText, parts, functions, kRoutineThreads);
}

}  // namespace

std::vector<KernelSource> run_kernels(const RoutineSpec& spec) {
  if (graph::is_segments(spec.op)) return {segment_kernel(spec)};
  if (spec.op == Op::Searchsorted) {
    const TextPart parts[] = {{"$KEY", key_function(spec, Zeros::Equal)},
                              {"$BITS", bits_type(spec.dtype)},
                              {"$BEHIND", spec.reversed() ? "there <= key" : "there < key"}};
    return {routine_kernel("searchsorted", kSearchText, parts, {}, kRoutineThreads)};
  }
  TARRY_ASSERT(spec.op == Op::Bincount);
  std::vector<KernelSource> kernels;
  kernels.push_back(routine_kernel("bincount_clear", kClearText, {}, {}, kRoutineThreads));
  kernels.push_back(
      routine_kernel("bincount", spec.m <= kSharedBins ? kBinsText : kManyBinsText, {}, {}, kRoutineThreads));
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
  const std::uint64_t n = word_of(spec.n), m = word_of(spec.m);
  if (graph::is_segments(spec.op)) {
    words.insert(words.end(), {word_of(spec.rows), n, m});
    return {{0, words, grid(spec.rows * spec.m, kRoutineThreads / 32)}};
  }
  words.insert(words.end(), {n, m});
  if (spec.op == Op::Searchsorted) return {{0, words, grid(spec.m, kRoutineThreads)}};
  return {{0, {word_of(operands[1]), m}, grid(spec.m, kRoutineThreads)},
          {1, words, grid(spec.n, spec.m <= kSharedBins ? kIdsOfBlock : kRoutineThreads)}};
}

}  // namespace tarry::codegen
