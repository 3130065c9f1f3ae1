// The text of the Scatter routines whose bits do not depend on the order in which elements are joined: what is integer,
// minima and maxima. Elements are joined as words, of 32 or 64 bits, with an atomic instruction for each. A minimum is
// one of keys that order as the elements do. Where the places are few, a thread block joins its elements in shared
// memory first, in as many copies of the places as fit, so that lanes seldom meet. Where they are not, the lanes of a
// warp that name one place are joined first.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "codegen/render/common.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::Op;

constexpr std::int64_t kJoinBytes = 32768, kMostJoinBlocks = 4096, kLeastElements = 4096;

constexpr std::string_view kWords = R"(
struct $N_params {
  $T* to;
  const $INDEX* index;
  const $T* value;
  tarry_i64 places, count, row, each;
  tarry_i64 copies;
};
TARRY_FN $W $N_word($T x) {
$WORD
}
TARRY_FN $T $N_value($W x) {
$VALUE
}
TARRY_FN $W $N_both($W a, $W b) { return $BOTH; }
TARRY_FN $T $N_join($T a, $T b) { return $JOIN; }
// To memory of all thread blocks.
TARRY_FN void $N_put($T* to, $T value) {
$PUT
}
// The place of an element, -1 where there is none.
TARRY_FN tarry_i64 $N_place(const struct $N_params& p, tarry_i64 element) {
  if (element >= p.count * p.row) return -1;
  const tarry_i64 at = p.row == 1 ? element : element / p.row;
  const tarry_i64 place = (tarry_i64)p.index[at];
  return (tarry_u64)place < (tarry_u64)p.places ? place * p.row + (element - at * p.row) : -1;
}
)";

constexpr std::string_view kJoinShared = R"(
TARRY_FN void $N_into($W* at, $W x) {
$INTO
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $W words[$ROOM];
  const int all = (int)(p.places * p.row), copies = (int)p.copies, own = threadIdx.x & (copies - 1);
  for (int i = threadIdx.x; i < all * copies; i += 256) words[i] = $NOTHING;
  __syncthreads();
  const tarry_i64 first = blockIdx.x * p.each, end = first + p.each;
  for (tarry_i64 base = first; base < end; base += 1024) {
    tarry_i64 place[4];
    $W word[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const tarry_i64 element = base + k * 256 + threadIdx.x;
      place[k] = $N_place(p, element);
      word[k] = place[k] < 0 ? $NOTHING : $N_word(p.value[element]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (place[k] >= 0) $N_into(&words[(int)place[k] * copies + own], word[k]);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < all; i += 256) {
    $W word = words[i * copies];
    for (int c = 1; c < copies; ++c) word = $N_both(word, words[i * copies + c]);
    if (word != $NOTHING) $N_put(p.to + i, $N_value(word));
  }
}
)";

// The lanes of a warp join by pairs: in each round those of odd number among the lanes left give theirs away.
constexpr std::string_view kGlobal = R"(
TARRY_FN $W $N_of_alike($W word, tarry_u32 alike) {
  const int lane = threadIdx.x % 32;
  tarry_u32 behind = alike & ~1u << lane, number = __popc(alike & ((1u << lane) - 1));
  while (__ballot_sync(~0u, behind != 0) != 0) {
    const int next = __ffs((int)behind);
    const $W other = __shfl_sync(~0u, word, (next - 1) & 31);
    if (next != 0) word = $N_both(word, other);
    behind &= ~__ballot_sync(~0u, number & 1);
    number >>= 1;
  }
  return word;
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 element = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  const tarry_i64 place = $N_place(p, element);
  $W word = place < 0 ? $NOTHING : $N_word(p.value[element]);
  const tarry_u32 alike = __match_any_sync(~0u, (unsigned long long)place);
  if (__ballot_sync(~0u, (alike & (alike - 1)) != 0) != 0) word = $N_of_alike(word, alike);
  if (place >= 0 && __ffs((int)alike) - 1 == (int)(threadIdx.x % 32)) $N_put(p.to + place, $N_value(word));
}
)";

// A NaN may change its bits when it is joined, but only once: a word that repeats ends the loop.
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

// Shared memory adds 32 bits at once: of 64 the upper half takes what the lower one carries.
constexpr std::string_view kAddHalves = R"(  unsigned* const halves = (unsigned*)at;
  const unsigned low = (unsigned)x, before = atomicAdd(halves, low);
  const unsigned high = (unsigned)(x >> 32) + (before + low < low ? 1u : 0u);
  if (high != 0) atomicAdd(halves + 1, high);)";

constexpr std::string_view kReplaceShared = R"(  $W seen = *(volatile $W*)at;
  for (;;) {
    const $W old = seen, next = $N_both(old, x);
    if (next == old) return;
    seen = atomicCAS(at, old, next);
    if (seen == old) return;
  })";

Op join_of(Op scatter) {
  switch (scatter) {
    case Op::ScatterAdd: return Op::Add;
    case Op::ScatterMultiply: return Op::Multiply;
    case Op::ScatterMin: return Op::Minimum;
    default: TARRY_ASSERT(scatter == Op::ScatterMax); return Op::Maximum;
  }
}

bool selects(Op join) { return join == Op::Minimum || join == Op::Maximum; }
bool is_wide(const RoutineSpec& spec) { return itemsize(spec.dtype) == 8; }
const char* word_type(const RoutineSpec& spec) { return is_wide(spec) ? "unsigned long long" : "unsigned"; }

/// Elements as words and back. Keys of floats put NaN where it wins: no other element has the first or the last key.
struct Words {
  std::string word, value, nothing;
};
Words words_of(const RoutineSpec& spec, Op join) {
  const std::string type = c_type(spec.dtype), w = word_type(spec);
  const std::string all_ones = fmt::format("({})~({})0", w, w),
                    top = is_wide(spec) ? "0x8000000000000000ull" : "0x80000000u";
  if (!selects(join)) {
    return {fmt::format("  return ({})x;", w), fmt::format("  return ({})x;", type),
            join == Op::Add ? fmt::format("({})0", w) : fmt::format("({})1", w)};
  }
  const std::string nothing = join == Op::Minimum ? all_ones : fmt::format("({})0", w);
  if (is_floating(spec.dtype)) {
    const std::string bits = bits_type(spec.dtype), last = join == Op::Minimum ? "0" : all_ones;
    const std::string sign = fmt::format("(({})1 << {})", bits, 8 * itemsize(spec.dtype) - 1);
    const std::string word = fmt::format(
        "  union {{ {0} value; {1} bits; }} u;\n  u.value = x;\n"
        "  if (({1})(u.bits & ({1})~{2}) > ({1}){3}) return {4};\n"
        "  return ({5})({1})(u.bits & {2} ? ~u.bits : u.bits | {2});",
        type, bits, sign, infinity_bits(spec.dtype), last, w);
    const std::string value = fmt::format(
        "  union {{ {0} value; {1} bits; }} u;\n"
        "  u.bits = x == {2} ? ({1})~{3} : ({1})(x & {3} ? x ^ {3} : ~x);\n  return u.value;",
        type, bits, last, sign);
    return {word, value, nothing};
  }
  if (info(spec.dtype).kind != DtypeKind::Int)
    return {fmt::format("  return ({})x;", w), fmt::format("  return ({})x;", type), nothing};
  return {fmt::format("  return ({}){}x ^ {};", w, is_wide(spec) ? "(long long)" : "(int)", top),
          fmt::format("  return ({})(x ^ {});", type, top), nothing};
}

/// How a place in memory takes an element: with one instruction, or by replacing what is there until nobody has come
/// between.
std::string put_of(const RoutineSpec& spec, Op join) {
  if (itemsize(spec.dtype) < 4) return std::string(kReplacePart);
  if (join == Op::Multiply || is_floating(spec.dtype)) return std::string(kReplaceWord);
  if (join == Op::Add) return "  atomicAdd(($W*)to, ($W)value);";
  const bool is_signed = info(spec.dtype).kind == DtypeKind::Int;
  const char* const type = is_signed ? (is_wide(spec) ? "long long" : "int") : "$W";
  return fmt::format("  atomic{0}(({1}*)to, ({1})value);", join == Op::Minimum ? "Min" : "Max", type);
}

std::string into_of(const RoutineSpec& spec, Op join) {
  if (join == Op::Add) return is_wide(spec) ? std::string(kAddHalves) : "  atomicAdd(at, x);";
  if (join == Op::Multiply || is_wide(spec)) return std::string(kReplaceShared);
  const bool least = join == Op::Minimum;
  // Most elements change nothing: they only read.
  return fmt::format("  if (x {} *(volatile $W*)at) atomic{}(at, x);", least ? "<" : ">", least ? "Min" : "Max");
}

std::int64_t room(const RoutineSpec& spec) { return kJoinBytes / (is_wide(spec) ? 8 : 4); }
/// True where so many elements go to each place that joining them in thread blocks first saves most of the traffic.
bool in_shared(const RoutineSpec& spec) {
  const std::int64_t places = spec.n * spec.rows;
  return places <= room(spec) && spec.m * spec.rows >= 8 * places;
}

}  // namespace

KernelSource join_kernel(const RoutineSpec& spec) {
  const Op join = join_of(spec.op);
  const Words words = words_of(spec, join);
  const std::string type = c_type(spec.dtype);
  const std::array<std::string, 2> operands{"a", "b"};
  const std::string joined = fmt::format("({})({})", type, expression(join, spec.dtype, spec.dtype, operands));
  const std::string needed = function_name(join, spec.dtype, spec.dtype);
  const char* const both = join == Op::Add        ? "a + b"
                           : join == Op::Multiply ? "a * b"
                           : join == Op::Minimum  ? "a < b ? a : b"
                                                  : "a > b ? a : b";
  const TextPart parts[] = {{"$WORD", words.word},
                            {"$VALUE", words.value},
                            {"$NOTHING", words.nothing},
                            {"$BOTH", both},
                            {"$JOIN", joined},
                            {"$PUT", put_of(spec, join)},
                            {"$INTO", into_of(spec, join)},
                            {"$ROOM", std::to_string(room(spec))},
                            {"$MASK", itemsize(spec.dtype) == 1 ? "0xff" : "0xffff"},
                            {"$INDEX", c_type(spec.numbers)},
                            {"$W", word_type(spec)},
                            {"$T", type}};
  const bool shared = in_shared(spec), calls = joined.find(needed) != std::string::npos;
  return routine_kernel(fmt::format("{}_{}_{}", graph::name(spec.op), info(spec.dtype).suffix, shared ? "few" : "many"),
                        std::string(kWords) + std::string(shared ? kJoinShared : kGlobal), parts,
                        std::span(&needed, calls ? 1 : 0), kRoutineThreads);
}

RoutineLaunch join_launch(const RoutineSpec& spec, std::uint32_t kernel, std::span<void* const> operands) {
  const std::int64_t elements = spec.m * spec.rows, places = spec.n * spec.rows;
  std::int64_t each = kRoutineThreads, copies = 1;
  if (in_shared(spec)) {
    constexpr std::int64_t kRound = 1024, kLanes = 32;
    each = std::max({kLeastElements, 4 * places, (elements + kMostJoinBlocks - 1) / kMostJoinBlocks});
    each = (each + kRound - 1) / kRound * kRound;
    while (copies < kLanes && 2 * copies * places <= room(spec)) copies *= 2;
  }
  Geometry g;
  g.outer_tiles = (elements + each - 1) / each;
  return {kernel,
          {word_of(operands[2]), word_of(operands[0]), word_of(operands[1]), word_of(spec.n), word_of(spec.m),
           word_of(spec.rows), word_of(each), word_of(copies)},
          g};
}

}  // namespace tarry::codegen
