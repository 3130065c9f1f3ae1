// The Segment ops as CUDA C: folds of runs by tree R. A warp folds up to 4,096 elements of a run, 32 blocks of the
// tree, and its lanes fold the 32 results. Of longer runs each such chunk is a subtree, which a second kernel joins.
// Elements by the numbers of their runs are sorted first, as few bytes of the number as there are; what has the same
// bits in any order is joined instead.
//
// A run's chunks behind the first are found without a list: each begins in another cell of 4,096 elements of the row,
// and its run is the last that begins before the cell.
#include <bit>

#include <fmt/format.h>

#include "codegen/cuda/radix.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::Op;

constexpr std::int64_t kChunk = 4096, kSegmentWarps = kRoutineThreads / 32;

constexpr std::string_view kCommonText = R"($STATE
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
  struct $N_state* chunks;  // two in each cell: a run's first, and another
  tarry_i64 rows, n, m, cells;
};
// The last run that begins before a place; -1 where none does.
__device__ __forceinline__ tarry_i64 $N_run_before(const struct $N_params& p, tarry_i64 place) {
  tarry_i64 low = 0, left = p.m;
  while (left > 0) {
    const tarry_i64 half = left / 2;
    const bool before = p.offsets[low + half] < place;
    low = before ? low + half + 1 : low;
    left = before ? left - half - 1 : half;
  }
  return low - 1;
}
// Subtrees of n elements, one of `unit` in each lane: those that are missing are skipped.
__device__ __forceinline__ struct $N_state $N_of_lanes(struct $N_state sum, tarry_i64 unit, tarry_i64 n) {
  const int lane = threadIdx.x % 32;
$UNROLL
  for (int d = 1; d < 32; d *= 2) {
    const struct $N_state right = $N_below(sum, d);
    const tarry_i64 behind = n - (lane + d) * unit;
    if (lane % (2 * d) == 0 && behind > 0) sum = $N_join(sum, d * unit, right, behind < d * unit ? behind : d * unit);
  }
  return $N_of_lane(sum, 0);
}
)";

constexpr std::string_view kFoldText = R"(
// A block of the tree.
__device__ __forceinline__ struct $N_state $N_of_block(const $T* x, int n, $T shift) {
  const int lane = threadIdx.x % 32;
  struct $N_state sum = $N_first(x[lane < n ? lane : 0], shift);
  int count = 1;
$ONE
  for (int k = lane + 32; k < n; k += 32) sum = $N_next(sum, x[k], ++count, shift);
$UNROLL
  for (int d = 16; d > 0; d /= 2) {
    const struct $N_state right = $N_below(sum, d);
    const int behind = __shfl_down_sync(~0u, count, d);
    if (lane < d && lane + d < n) {
      sum = $N_join(sum, count, right, behind);
      count += behind;
    }
  }
  return $N_of_lane(sum, 0);
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const int lane = threadIdx.x % 32;
  const tarry_i64 of_row = p.cells + p.m;
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 8 + threadIdx.x / 32; i < p.rows * of_row; i += (tarry_i64)gridDim.x * 8) {
    const tarry_i64 row = i / of_row, cell = i % of_row;
    const bool is_first = cell >= p.cells;
    const tarry_i64 run = is_first ? cell - p.cells : $N_run_before(p, cell * 4096);
    if (run < 0) continue;
    const tarry_i64 from = p.offsets[run], n = p.offsets[run + 1] - from, chunk = is_first ? 0 : cell - from / 4096;
    if (chunk * 4096 >= n) {
      if (is_first && lane == 0) p.to[row * p.m + run] = $NOTHING;
      continue;
    }
    const $T* const x = p.x + row * p.n + from;
    const $T shift = $SHIFT;
    struct $N_state sum = $N_first(x[0], shift);
    if (n <= 32) {
#pragma unroll 1
      for (int k = 1; k < n; ++k) sum = $N_next(sum, x[k], k + 1, shift);
    } else {
      const tarry_i64 rest = n - chunk * 4096;
      const int there = (int)(rest < 4096 ? rest : 4096);
      const $T* const at = x + chunk * 4096;
#pragma unroll 1
      for (int b = 0; b * 128 < there; ++b) {
        const struct $N_state block = $N_of_block(at + b * 128, there - b * 128 < 128 ? there - b * 128 : 128, shift);
        if (lane == b) sum = block;
      }
      sum = $N_of_lanes(sum, 128, there);
    }
    if (lane != 0) continue;
    if (n <= 4096) p.to[row * p.m + run] = n == 1 ? $ALONE : $RESULT;
    else p.chunks[2 * (row * p.cells + from / 4096 + chunk) + (chunk != 0)] = sum;
  }
}
)";

// A subtree of each size in a lane of its own.
constexpr std::string_view kJoinText = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const int lane = threadIdx.x % 32;
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 8 + threadIdx.x / 32; i < p.rows * p.cells;
       i += (tarry_i64)gridDim.x * 8) {
    const tarry_i64 row = i / p.cells, cell = i % p.cells, run = $N_run_before(p, (cell + 1) * 4096);
    if (run < 0) continue;
    const tarry_i64 from = p.offsets[run], n = p.offsets[run + 1] - from;
    if (from / 4096 != cell || n <= 4096) continue;
    const struct $N_state* const chunks = p.chunks + 2 * (row * p.cells + cell);
    const tarry_i64 count = (n + 4095) / 4096, unit = 131072, units = (n + unit - 1) / unit;
    struct $N_state sum = chunks[0], subtree = sum;  // of 2^lane units, the last of them perhaps short
#pragma unroll 1
    for (tarry_i64 u = 0; u < units; ++u) {
      const tarry_i64 chunk = u * 32 + lane < count ? u * 32 + lane : 0;
      tarry_i64 all = n - u * unit < unit ? n - u * unit : unit;
      sum = $N_of_lanes(chunks[2 * chunk + (chunk != 0)], 4096, all);
      int level = 0;
#pragma unroll 1
      for (; u >> level & 1; ++level) {
        sum = $N_join($N_of_lane(subtree, level), unit << level, sum, all);
        all += unit << level;
      }
      if (lane == level) subtree = sum;
    }
    int level = 0;
    while (!(units >> level & 1)) ++level;
    sum = $N_of_lane(subtree, level);
    tarry_i64 all = n - (units - (1ll << level)) * unit;
#pragma unroll 1
    for (++level; units >> level != 0; ++level) {
      const struct $N_state left = $N_of_lane(subtree, level);
      if (!(units >> level & 1)) continue;
      sum = $N_join(left, unit << level, sum, all);
      all += unit << level;
    }
    if (lane == 0) p.to[row * p.m + run] = $RESULT;
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

Op joins(Op segments) {
  switch (segments) {
    case Op::SegmentMin: return Op::Minimum;
    case Op::SegmentMax: return Op::Maximum;
    case Op::SegmentProd: return Op::Multiply;
    default: return Op::Add;
  }
}

std::string fold_of_nothing(const RoutineSpec& spec) {
  const Op join = joins(spec.op);
  return join == Op::Add ? "0" : join == Op::Multiply ? "1" : end_of(spec.dtype, join == Op::Minimum);
}

KernelSource fold_kernel(const RoutineSpec& spec, std::string_view does, std::string_view text) {
  const bool moments = spec.op == Op::SegmentM2;
  std::string of_lane, below;
  const std::vector<std::string_view> members =
      moments ? std::vector<std::string_view>{"mean", "m2"} : std::vector<std::string_view>{"value"};
  for (const std::string_view member : members) {
    of_lane += fmt::format("  o.{0} = __shfl_sync(~0u, s.{0}, lane);\n", member);
    below += fmt::format("  o.{0} = __shfl_down_sync(~0u, s.{0}, lanes);\n", member);
  }
  std::vector<std::string> functions;
  if (!moments) functions.push_back(function_name(joins(spec.op), spec.dtype, spec.dtype));
  const TextPart parts[] = {{"$STATE", std::string(moments ? kMomentsState : kValueState)},
                            // A division calls a function: what is live around several of them would spill.
                            {"$UNROLL", moments ? "#pragma unroll 1" : "#pragma unroll"},
                            {"$ONE", moments ? "#pragma unroll 1" : ""},
                            {"$OF_LANE", of_lane},
                            {"$BELOW", below},
                            {"$NOTHING", fold_of_nothing(spec)},
                            {"$SHIFT", moments ? "x[0] - x[0] == 0 ? x[0] : 0" : "0"},
                            {"$ALONE", moments ? "x[0] - x[0]" : "sum.value"},
                            {"$RESULT", moments ? "sum.m2" : "sum.value"},
                            {"$FUNCTION", moments ? "" : functions.front()},
                            {"$T", c_type(spec.dtype)}};
  return routine_kernel(fmt::format("{}_{}", graph::name(spec.op), does), std::string(kCommonText) + std::string(text),
                        parts, functions, kRoutineThreads);
}

// ---------------------------------------------------------------- elements by the numbers of their runs

constexpr std::string_view kNumberText = R"(__device__ __forceinline__ $BITS $N_key($BITS x) { return x; }
// Elements of no run come behind all of them.
__device__ __forceinline__ $BITS $N_number(tarry_i64 x, tarry_i64 runs) {
  return (tarry_u64)x < (tarry_u64)runs ? ($BITS)x : ($BITS)runs;
}
)";

constexpr std::string_view kOffsetsText = R"(
struct $N_params {
  const $BITS* sorted;
  tarry_i64* offsets;
  tarry_i64 n, m;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 run = (tarry_i64)blockIdx.x * 256 + threadIdx.x; run <= p.m; run += (tarry_i64)gridDim.x * 256) {
    tarry_i64 low = 0, left = p.n;
    while (left > 0) {
      const tarry_i64 half = left / 2;
      const bool before = p.sorted[low + half] < ($BITS)run;
      low = before ? low + half + 1 : low;
      left = before ? left - half - 1 : half;
    }
    p.offsets[run] = low;
  }
}
)";

bool any_order(const RoutineSpec& spec) {
  return spec.op == Op::SegmentMin || spec.op == Op::SegmentMax || !is_floating(spec.dtype);
}

/// The Scatter that joins one row of elements, whatever their order.
RoutineSpec scatter_of(const RoutineSpec& spec) {
  const Op join = joins(spec.op);
  RoutineSpec scatter;
  scatter.op = join == Op::Minimum   ? Op::ScatterMin
               : join == Op::Maximum ? Op::ScatterMax
               : join == Op::Add     ? Op::ScatterAdd
                                     : Op::ScatterMultiply;
  scatter.dtype = spec.dtype;
  scatter.n = spec.m;
  scatter.m = spec.n;
  scatter.numbers = spec.numbers;
  return scatter;
}

/// The memory of a fold: chunks of all rows; of one by numbers also what a sort of one row needs.
struct FoldMemory : RadixRows {
  explicit FoldMemory(const RoutineSpec& spec)
      : RadixRows(1, spec.n),
        cells(spec.n > kChunk ? spec.n / kChunk + 1 : 0),
        passes((static_cast<int>(std::bit_width(static_cast<std::uint64_t>(spec.m))) + 7) / 8),
        bits(spec.m <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8) {
    const std::size_t size = itemsize(spec.dtype), elements = static_cast<std::size_t>(spec.n);
    if (!spec.reversed()) bytes = 0;
    chunks = take(static_cast<std::size_t>(spec.rows * cells) * 2 * (spec.op == Op::SegmentM2 ? 2 * size : size));
    if (!spec.reversed()) return;
    offsets = take(static_cast<std::size_t>(spec.m + 1) * sizeof(std::int64_t));
    for (std::size_t& at : numbers) at = take(elements * bits);
    for (std::size_t& at : values) at = take(elements * size);
  }
  [[nodiscard]] const char* bits_name() const { return bits == 4 ? "tarry_u32" : "tarry_u64"; }
  const std::int64_t cells;
  const int passes;
  const std::size_t bits;  ///< bytes of a number
  std::size_t chunks = 0, offsets = 0, numbers[2] = {}, values[2] = {};
};

/// Kernels, by number. Of runs in order the first is kSegmentFold - kSegmentFold, the second kSegmentJoin -
/// kSegmentFold.
enum SegmentKernel : std::uint32_t {
  kSegmentAdd,
  kSegmentCountFirst,
  kSegmentMoveFirst,
  kSegmentCount,
  kSegmentMove,
  kSegmentOffsets,
  kSegmentFold,
  kSegmentJoin
};

std::vector<KernelSource> sorting_kernels(const RoutineSpec& spec) {
  const FoldMemory memory(spec);
  const std::string bits = memory.bits_name(), place = memory.place_type(), key(kNumberText);
  const RadixTypes first{bits, place, key, c_type(spec.numbers), "$N_number((tarry_i64)x[i], p.limit)"},
      next{bits, place, key, bits};
  const std::string value = bits_type(spec.dtype);
  const RadixBeside beside{value, value, "p.beside[i]"};
  const TextPart parts[] = {{"$BITS", bits}};
  std::vector<KernelSource> kernels;
  kernels.push_back(radix_add(first));
  for (const RadixTypes& types : {first, next}) {
    kernels.push_back(radix_count(types));
    kernels.push_back(radix_move("runs_move", types, beside, RadixElements::Written));
  }
  kernels.push_back(routine_kernel("runs_offsets", kOffsetsText, parts, {}, kRoutineThreads));
  return kernels;
}

Geometry blocks_of(std::int64_t items, std::int64_t of_block) {
  Geometry g;
  g.outer_tiles = striding_grid((items + of_block - 1) / of_block);
  return g;
}

void append_folds(const RoutineSpec& spec, const FoldMemory& memory, std::span<void* const> operands, void* chunks,
                  std::uint32_t first, std::vector<RoutineLaunch>& launches) {
  const std::vector<std::uint64_t> words{word_of(operands[0]), word_of(operands[1]), word_of(operands[2]),
                                         word_of(chunks),      word_of(spec.rows),   word_of(spec.n),
                                         word_of(spec.m),      word_of(memory.cells)};
  launches.push_back({first, words, blocks_of(spec.rows * (memory.cells + spec.m), kSegmentWarps)});
  if (memory.cells > 0) launches.push_back({first + 1, words, blocks_of(spec.rows * memory.cells, kSegmentWarps)});
}

}  // namespace

std::size_t segment_scratch(const RoutineSpec& spec) {
  return spec.reversed() && any_order(spec) ? 0 : FoldMemory(spec).bytes;
}

std::vector<KernelSource> segment_kernels(const RoutineSpec& spec) {
  std::vector<KernelSource> kernels;
  if (spec.reversed() && any_order(spec)) {
    kernels.push_back(fill_kernel("runs_clear", c_type(spec.dtype), fold_of_nothing(spec)));
    kernels.push_back(join_kernel(scatter_of(spec)));
    return kernels;
  }
  if (spec.reversed()) kernels = sorting_kernels(spec);
  kernels.push_back(fold_kernel(spec, "chunks", kFoldText));
  if (spec.n > kChunk) kernels.push_back(fold_kernel(spec, "join", kJoinText));
  return kernels;
}

std::int64_t segment_launch_count(const RoutineSpec& spec) {
  const FoldMemory memory(spec);
  const std::int64_t folds = memory.cells > 0 ? 2 : 1;
  if (!spec.reversed()) return folds;
  return any_order(spec) ? 1 + spec.rows : spec.rows * (3 * memory.passes + 1 + folds);
}

std::vector<RoutineLaunch> segment_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  const FoldMemory memory(spec);
  const auto at = [&](std::size_t offset) { return static_cast<void*>(static_cast<char*>(scratch) + offset); };
  std::vector<RoutineLaunch> launches;
  if (!spec.reversed()) {
    append_folds(spec, memory, operands, at(memory.chunks), 0, launches);
    return launches;
  }
  const auto row_of = [&](void* of, std::int64_t row, std::int64_t extent) {
    return static_cast<void*>(static_cast<char*>(of) + row * extent * static_cast<std::int64_t>(itemsize(spec.dtype)));
  };
  if (any_order(spec)) launches.push_back(fill_launch(0, operands[2], spec.rows * spec.m));
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    void *const x = row_of(operands[0], row, spec.n), *const to = row_of(operands[2], row, spec.m);
    if (any_order(spec)) {
      void* const join[] = {operands[1], x, to};
      launches.push_back(join_launch(scatter_of(spec), 1, join));
      continue;
    }
    const void *numbers = operands[1], *values = x;
    for (int pass = 0; pass < memory.passes; ++pass) {
      const std::size_t turn = static_cast<std::size_t>(pass % 2);
      const RadixNumbers kernels{pass == 0 ? kSegmentCountFirst : kSegmentCount, kSegmentAdd,
                                 pass == 0 ? kSegmentMoveFirst : kSegmentMove};
      void *const moved = at(memory.numbers[turn]), *const beside = at(memory.values[turn]);
      append_radix_pass(memory, {numbers, moved, values, beside, pass, spec.m}, kernels, scratch, launches);
      numbers = moved;
      values = beside;
    }
    void *const sorted = const_cast<void*>(values), *const offsets = at(memory.offsets);
    launches.push_back({kSegmentOffsets,
                        {word_of(numbers), word_of(offsets), word_of(spec.n), word_of(spec.m)},
                        blocks_of(spec.m + 1, kRoutineThreads)});
    RoutineSpec of_row = spec;
    of_row.rows = 1;
    void* const folded[] = {sorted, offsets, to};
    append_folds(of_row, memory, folded, at(memory.chunks), kSegmentFold, launches);
  }
  return launches;
}

}  // namespace tarry::codegen
