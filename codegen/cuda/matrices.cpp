// Systems and factors of matrices on a GPU: a group of threads has a matrix, lanes of a warp in shared memory where it
// is small, and a thread block in scratch where it is not. What they compute stands in matrix_text.h.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {

extern const char kMatrixText[];

namespace {

using graph::Op;

constexpr int kWarpLanes = 32, kResidentBlocks = 1024;
constexpr std::size_t kMostShared = 48 * 1024;

constexpr std::string_view kMatrixParameters = R"(
#ifdef __CUDACC__
#define TARRY_MEMBER __device__ __forceinline__
#else
#define TARRY_MEMBER
#endif
struct $N_params {
  const $T* a;
  const $T* b;
  $T* to;
  $T* scratch;
  tarry_i64 rows, n, m, columns;
};
namespace $N_matrix {
)";

// Some lanes of a warp: all groups of a warp come to the same barriers, since their matrices have one extent.
constexpr std::string_view kByLanes = R"(
struct Group {
  static constexpr int lanes = $LANES, threads = $LANES, part = 0, parts = 1;
  int lane, thread;
  TARRY_MEMBER void sync() const { __syncwarp(); }
  TARRY_MEMBER bool any(bool x) const { return __ballot_sync(0xffffffffu, x) != 0; }
  TARRY_MEMBER $T most($T x) const {
    for (int d = $LANES / 2; d > 0; d /= 2) {
      const $T other = __shfl_xor_sync(0xffffffffu, x, d);
      if (other > x) x = other;
    }
    return x;
  }
  TARRY_MEMBER int largest($T x, int at) const {
    for (int d = $LANES / 2; d > 0; d /= 2) {
      const $T other = __shfl_xor_sync(0xffffffffu, x, d);
      const int there = __shfl_xor_sync(0xffffffffu, at, d);
      if (other > x || (other == x && there < at)) {
        x = other;
        at = there;
      }
    }
    return at;
  }
};
}
extern "C" __global__ void __launch_bounds__($THREADS, 1) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $T works[$GROUPS][$WORK];
  const int group = threadIdx.x / $LANES, thread = threadIdx.x % $LANES;
  const $N_matrix::Group g{thread, thread};
  $T* const w = works[group];
)";

constexpr std::string_view kByBlock = R"(
struct Group {
  static constexpr int lanes = 32, threads = $THREADS, parts = $THREADS / 32;
  int lane, part, thread;
  $T* values;
  int* places;
  TARRY_MEMBER void sync() const { __syncthreads(); }
  // Hands on what the warps have, for each to go through.
  TARRY_MEMBER void put($T x, int at) const {
    sync();
    if (lane == 0) {
      values[part] = x;
      places[part] = at;
    }
    sync();
  }
  TARRY_MEMBER bool any(bool x) const {
    put(0, __ballot_sync(0xffffffffu, x) != 0);
    bool found = false;
    for (int i = 0; i < parts; ++i) found = found || places[i] != 0;
    return found;
  }
  TARRY_MEMBER $T most($T x) const {
    for (int d = 16; d > 0; d /= 2) {
      const $T other = __shfl_xor_sync(0xffffffffu, x, d);
      if (other > x) x = other;
    }
    put(x, 0);
    for (int i = 0; i < parts; ++i)
      if (values[i] > x) x = values[i];
    return x;
  }
  TARRY_MEMBER int largest($T x, int at) const {
    for (int d = 16; d > 0; d /= 2) take(x, at, __shfl_xor_sync(0xffffffffu, x, d), __shfl_xor_sync(0xffffffffu, at, d));
    put(x, at);
    for (int i = 0; i < parts; ++i) take(x, at, values[i], places[i]);
    return at;
  }
  static TARRY_MEMBER void take($T& x, int& at, $T other, int there) {
    if (other > x || (other == x && there < at)) {
      x = other;
      at = there;
    }
  }
};
}
extern "C" __global__ void __launch_bounds__($THREADS, 1) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $T values[$THREADS / 32];
  __shared__ int places[$THREADS / 32];
  const int group = 0, thread = threadIdx.x;
  const $N_matrix::Group g{thread % 32, thread / 32, thread, values, places};
  $T* const w = p.scratch + blockIdx.x * ($WORK);
)";

// A group without work repeats the last one's, which comes to the same values.
constexpr std::string_view kEachJob = R"(
  const int n = (int)p.n, ld = n | 1;
  const tarry_i64 tiles = (p.m + p.columns - 1) / p.columns, jobs = p.rows * tiles;
  for (tarry_i64 base = (tarry_i64)blockIdx.x * $GROUPS; base < jobs; base += (tarry_i64)gridDim.x * $GROUPS) {
    const tarry_i64 job = base + group < jobs ? base + group : jobs - 1;
    const tarry_i64 matrix = job / tiles, first = job % tiles * p.columns;
    const int count = (int)(p.m - first < p.columns ? p.m - first : p.columns);
    const $T* const a = p.a + matrix * n * n;
    $N_matrix::$CALL;
  }
}
)";

std::string_view call_of(Op op) {
  switch (op) {
    case Op::Solve: return "solve(g, a, p.b + matrix * n * p.m, p.to + matrix * n * p.m, w, ld, n, p.m, first, count)";
    case Op::Inverse: return "solve(g, a, (const $T*)0, p.to + matrix * n * n, w, ld, n, p.m, first, count)";
    case Op::Pivots: return "pivots(g, a, p.to + matrix * n, w, ld, n)";
    case Op::Cholesky: return "cholesky(g, a, p.to + matrix * n * n, w, ld, n)";
    default: return "eigh(g, a, p.to + matrix * (n + 1) * n, w, ld, n)";
  }
}

/// Lanes of a warp that share a small matrix.
int lanes_of(const RoutineSpec& spec) {
  int lanes = 4;
  while (lanes < spec.n) lanes *= 2;
  return lanes;
}

bool is_small(const RoutineSpec& spec) { return spec.n <= kWarpLanes; }

/// The largest matrix that a kernel takes whose groups are lanes: its shared memory is for that.
RoutineSpec widest_in_lanes(RoutineSpec spec) {
  spec.n = lanes_of(spec);
  return spec;
}

std::int64_t columns_at_once(const RoutineSpec& spec) { return is_small(spec) ? lanes_of(spec) : spec.n; }

/// Elements of a group's memory.
std::int64_t group_work(const RoutineSpec& spec) {
  return is_small(spec) ? matrix_work(widest_in_lanes(spec), columns_at_once(spec))
                        : matrix_work(spec, columns_at_once(spec));
}

/// Groups of a thread block.
int groups_of(const RoutineSpec& spec) {
  if (!is_small(spec)) return 1;
  const auto fit = static_cast<int>(kMostShared / (static_cast<std::size_t>(group_work(spec)) * itemsize(spec.dtype)));
  const int per_warp = kWarpLanes / lanes_of(spec), wanted = 4 * per_warp;
  return std::max(per_warp, std::min(wanted, fit) / per_warp * per_warp);
}

std::int64_t jobs_of(const RoutineSpec& spec) {
  return spec.rows * ((spec.m + columns_at_once(spec) - 1) / columns_at_once(spec));
}

std::int64_t grid_of(const RoutineSpec& spec) {
  if (!is_small(spec)) return std::min<std::int64_t>(jobs_of(spec), kResidentBlocks);
  return striding_grid((jobs_of(spec) + groups_of(spec) - 1) / groups_of(spec));
}

}  // namespace

std::int64_t matrix_work(const RoutineSpec& spec, std::int64_t columns) {
  const std::int64_t ld = spec.n | 1;
  switch (spec.op) {
    case Op::Solve:
    case Op::Inverse: return ld * (spec.n + columns);
    case Op::Eigh: return ld * 2 * spec.n + 2 * spec.n + 1;
    default: return ld * spec.n;
  }
}

std::size_t matrix_scratch(const RoutineSpec& spec) {
  if (is_small(spec)) return 0;
  return static_cast<std::size_t>(grid_of(spec) * group_work(spec)) * itemsize(spec.dtype);
}

std::vector<KernelSource> matrix_kernels(const RoutineSpec& spec) {
  const bool small = is_small(spec);
  const int lanes = small ? lanes_of(spec) : kRoutineThreads, threads = small ? lanes * groups_of(spec) : lanes;
  // The memory of a large matrix follows the parameters.
  const std::string_view large = spec.op == Op::Eigh                              ? "(p.n | 1) * 2 * p.n + 2 * p.n + 1"
                                 : spec.op == Op::Solve || spec.op == Op::Inverse ? "(p.n | 1) * (p.n + p.columns)"
                                                                                  : "(p.n | 1) * p.n";
  const std::string_view all = kMatrixText;
  const std::string_view marker = "// ------";
  const std::string_view text = all.substr(all.find('\n', all.find(marker)) + 1);
  const TextPart parts[] = {{"$CALL", std::string(call_of(spec.op))},
                            {"$THREADS", std::to_string(threads)},
                            {"$GROUPS", std::to_string(groups_of(spec))},
                            {"$LANES", std::to_string(lanes)},
                            {"$WORK", small ? std::to_string(group_work(spec)) : std::string(large)},
                            {"$T", c_type(spec.dtype)}};
  const std::string body = std::string(kMatrixParameters) + std::string(text) +
                           std::string(small ? kByLanes : kByBlock) + std::string(kEachJob);
  return {routine_kernel(fmt::format("{}_{}_{}", graph::name(spec.op), info(spec.dtype).suffix, small ? lanes : 0),
                         body, parts, {}, threads)};
}

std::vector<RoutineLaunch> matrix_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  const bool two = spec.op == Op::Solve;
  Geometry blocks;
  blocks.outer_tiles = grid_of(spec);
  return {{0,
           {word_of(operands[0]), word_of(two ? operands[1] : nullptr), word_of(operands.back()), word_of(scratch),
            word_of(spec.rows), word_of(spec.n), word_of(spec.m), word_of(columns_at_once(spec))},
           blocks}};
}

}  // namespace tarry::codegen
