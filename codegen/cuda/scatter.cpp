// The text of the Scatter routines.

#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "codegen/render/common.h"
#include "support/check.h"
#include "support/hash.h"

namespace tarry::codegen {
namespace {

constexpr std::string_view kParameters = R"(
struct $N_params {
  $T* to;
  const tarry_i64* index;
  const $T* value;
  $P* last;
  tarry_i64 count, row;
};
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

constexpr std::string_view kWrite = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 element = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (element >= p.count * p.row) return;
  const tarry_i64 at = p.row == 1 ? element : element / p.row;
  const tarry_i64 place = p.index[at];
  if (p.last[place] == at) p.to[place * p.row + (element - at * p.row)] = p.value[element];
}
)";

// A NaN may change its bits when it is joined, but only once: a word that repeats ends the loop.
constexpr std::string_view kJoin = R"(
TARRY_FN $T $N_join($T a, $T b) { return $JOIN; }
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 element = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (element >= p.count * p.row) return;
  const tarry_i64 at = p.row == 1 ? element : element / p.row;
  $T* const to = p.to + p.index[at] * p.row + (element - at * p.row);
  const $T value = p.value[element];
$REPLACE
}
)";

constexpr std::string_view kReplaceWord = R"(  union { $T value; $W word; } old, next;
  $W* const words = ($W*)to;
  $W seen = *(volatile $W*)words;
  for (;;) {
    old.word = seen;
    next.value = $N_join(old.value, value);
    if (next.word == old.word) return;
    seen = atomicCAS(words, old.word, next.word);
    if (seen == old.word) return;
  })";

// Elements of 8 and 16 bits change within the word of 32 bits around them.
constexpr std::string_view kReplacePart = R"(  const unsigned part = (unsigned)((tarry_u64)to & 3);
  unsigned* const word = (unsigned*)((char*)to - part);
  const unsigned shift = part * 8, mask = $MASKu << shift;
  unsigned seen = *(volatile unsigned*)word;
  for (;;) {
    const $T next = $N_join(($T)(seen >> shift), value);
    const unsigned wanted = (seen & ~mask) | (((unsigned)next & $MASKu) << shift);
    if (wanted == seen) return;
    const unsigned found = atomicCAS(word, seen, wanted);
    if (found == seen) return;
    seen = found;
  })";

bool narrow(const RoutineSpec& spec) { return spec.m <= std::numeric_limits<std::int32_t>::max(); }

/// Moves are the same for all dtypes of a size.
std::string type_of(const RoutineSpec& spec) {
  if (spec.op != Op::ScatterSet) return c_type(spec.dtype);
  return fmt::format("tarry_u{}", itemsize(spec.dtype) * 8);
}

Op join_of(Op scatter) {
  switch (scatter) {
    case Op::ScatterAdd: return Op::Add;
    case Op::ScatterMultiply: return Op::Multiply;
    case Op::ScatterMin: return Op::Minimum;
    default: TARRY_ASSERT(scatter == Op::ScatterMax); return Op::Maximum;
  }
}

KernelSource kernel_of(const RoutineSpec& spec, std::string_view does, std::string_view text,
                       std::span<const std::string> functions) {
  const std::string kind =
      spec.op == Op::ScatterSet ? fmt::format("{}_bytes", itemsize(spec.dtype)) : std::string(info(spec.dtype).suffix);
  const TextPart parts[] = {{"$T", type_of(spec)}, {"$P", narrow(spec) ? "int" : "tarry_i64"}};
  return routine_kernel(fmt::format("{}_{}_{}", graph::name(spec.op), kind, does),
                        std::string(kParameters) + std::string(text), parts, functions, kRoutineThreads);
}

KernelSource joining(const RoutineSpec& spec) {
  const Op join = join_of(spec.op);
  const std::size_t size = itemsize(spec.dtype);
  std::string text(kJoin);
  replace_all(text, "$REPLACE", size < 4 ? kReplacePart : kReplaceWord);
  const std::array<std::string, 2> operands{"a", "b"};
  replace_all(text, "$JOIN",
              fmt::format("({})({})", type_of(spec), expression(join, spec.dtype, spec.dtype, operands)));
  replace_all(text, "$W", size == 8 ? "unsigned long long" : "unsigned");
  replace_all(text, "$MASK", size == 1 ? "0xff" : "0xffff");
  const std::string needed = function_name(join, spec.dtype, spec.dtype);
  const bool calls = text.find(needed) != std::string::npos;
  return kernel_of(spec, "join", text, std::span(&needed, calls ? 1 : 0));
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
  if (spec.op != Op::ScatterSet) return {joining(spec)};
  return {kernel_of(spec, "forget", kForget, {}), kernel_of(spec, "note", kNote, {}),
          kernel_of(spec, "write", kWrite, {})};
}

std::vector<RoutineLaunch> scatter_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  const std::vector<std::uint64_t> words{word_of(operands[2]), word_of(operands[0]), word_of(operands[1]),
                                         word_of(scratch),     word_of(spec.m),      word_of(spec.rows)};
  if (spec.op != Op::ScatterSet) return {{0, words, blocks_for(spec.m * spec.rows)}};
  return {{0, words, blocks_for(spec.m)}, {1, words, blocks_for(spec.m)}, {2, words, blocks_for(spec.m * spec.rows)}};
}

}  // namespace tarry::codegen
