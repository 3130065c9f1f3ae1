// The text of the Scatter routines: set notes the last row that names a place, then writes that row. Where the places
// are not many more than the rows, all notes are cleared at once, and places take their rows, in order; else each row
// clears its note, and writes itself if it is the one noted.

#include <limits>
#include <string>

#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"

namespace tarry::codegen {
namespace {

constexpr std::string_view kParameters = R"(
struct $N_params {
  $T* to;
  const tarry_i64* index;
  const $T* value;
  $P* last;
  tarry_i64 places, count, row;
};
)";

constexpr std::string_view kClear = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 place = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (place < p.places) p.last[place] = -1;
}
)";

constexpr std::string_view kTake = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 element = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (element >= p.places * p.row) return;
  const tarry_i64 place = p.row == 1 ? element : element / p.row;
  const tarry_i64 at = p.last[place];
  if (at >= 0) p.to[element] = p.value[at * p.row + (element - place * p.row)];
}
)";

constexpr std::string_view kForget = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 at = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (at < p.count) p.last[p.index[at]] = -1;
}
)";

constexpr std::string_view kNote = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 at = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (at < p.count) atomicMax(&p.last[p.index[at]], ($P)at);
}
)";

constexpr std::string_view kScatterWrite = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 element = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (element >= p.count * p.row) return;
  const tarry_i64 at = p.row == 1 ? element : element / p.row;
  const tarry_i64 place = p.index[at];
  if (p.last[place] == at) p.to[place * p.row + (element - at * p.row)] = p.value[element];
}
)";

bool narrow(const RoutineSpec& spec) { return spec.m <= std::numeric_limits<std::int32_t>::max(); }

/// True where going over all places costs less than going to those named.
bool dense(const RoutineSpec& spec) { return spec.n <= 4 * spec.m; }

/// Moves are the same for all dtypes of a size.
KernelSource kernel_of(const RoutineSpec& spec, std::string_view does, std::string_view text) {
  const TextPart parts[] = {{"$T", bits_type(spec.dtype)}, {"$P", narrow(spec) ? "int" : "tarry_i64"}};
  return routine_kernel(fmt::format("{}_{}_bytes_{}", graph::name(spec.op), itemsize(spec.dtype), does),
                        std::string(kParameters) + std::string(text), parts, {}, kRoutineThreads);
}

Geometry blocks_for(std::int64_t threads) {
  Geometry g;
  g.outer_tiles = (threads + kRoutineThreads - 1) / kRoutineThreads;
  return g;
}

}  // namespace

std::size_t scatter_scratch(const RoutineSpec& spec) {
  if (spec.op != Op::ScatterSet) return 0;
  return static_cast<std::size_t>(spec.n) * (narrow(spec) ? sizeof(std::int32_t) : sizeof(std::int64_t));
}

std::vector<KernelSource> scatter_kernels(const RoutineSpec& spec) {
  if (spec.op != Op::ScatterSet) return {join_kernel(spec)};
  if (dense(spec))
    return {kernel_of(spec, "clear", kClear), kernel_of(spec, "note", kNote), kernel_of(spec, "take", kTake)};
  return {kernel_of(spec, "forget", kForget), kernel_of(spec, "note", kNote), kernel_of(spec, "write", kScatterWrite)};
}

std::vector<RoutineLaunch> scatter_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (spec.op != Op::ScatterSet) return {join_launch(spec, 0, operands)};
  const std::vector<std::uint64_t> words{word_of(operands[2]), word_of(operands[0]), word_of(operands[1]),
                                         word_of(scratch),     word_of(spec.n),      word_of(spec.m),
                                         word_of(spec.rows)};
  const std::int64_t first = dense(spec) ? spec.n : spec.m, last = first * spec.rows;
  return {{0, words, blocks_for(first)}, {1, words, blocks_for(spec.m)}, {2, words, blocks_for(last)}};
}

}  // namespace tarry::codegen
