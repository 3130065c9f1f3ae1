// Sort and Argsort as CUDA C. A row that fits in a thread block, or a part of one, is sorted in registers by merging
// (Batcher, Sorting networks and their applications, 1968), by keys or, where places are asked for, by keys and places:
// then every word is different, so the result is that of a stable sort. Longer rows are sorted byte by byte (radix.h),
// or not at all where few of their elements are read (select.cpp).
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/radix.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

// A thread holds neighbours of the row, `each` of them. Runs that are in order are merged by twos: the second one is
// taken from its end, so that after one step no element of the lower half is above one of the upper half. The first
// order does not matter, as the words of elements differ, or their elements are alike.
constexpr std::string_view kInBlockText = R"($KEY$WORD
struct $N_params {
  const $BITS* x;
  $RESULT* to;
  tarry_i64 rows, n;
};
enum { $N_each = $EACH, $N_of_row = $OF_ROW, $N_at_once = $AT_ONCE, $N_width = $N_each * $N_of_row };
__device__ __forceinline__ void $N_wait() {
  if ($N_of_row > 32)
    __syncthreads();
  else
    __syncwarp();
}
__device__ __forceinline__ void $N_order($N_word& a, $N_word& b) {
  const bool ordered = !$N_before(b, a);
  const $N_word low = ordered ? a : b;
  b = ordered ? b : a;
  a = low;
}
// A thread whose bit `upper` is not set keeps the lesser of each pair of its elements and those of thread ^ mask.
__device__ __forceinline__ void $N_exchange($N_word (&word)[$N_each], $N_word* own, int in_row, int mask, int upper,
                                            bool from_end) {
  $N_word other[$N_each];
  if ($N_of_row <= 32 || mask < 32) {
#pragma unroll
    for (int e = 0; e < $N_each; ++e) other[e] = $N_shuffle(word[from_end ? $N_each - 1 - e : e], mask);
  } else {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < $N_each; ++e) own[e * $N_of_row + in_row] = word[e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < $N_each; ++e)
      other[e] = own[(from_end ? $N_each - 1 - e : e) * $N_of_row + (in_row ^ mask)];
  }
  const bool low = (in_row & upper) == 0;
#pragma unroll
  for (int e = 0; e < $N_each; ++e) word[e] = $N_before(other[e], word[e]) == low ? other[e] : word[e];
}
__device__ __forceinline__ void $N_halves($N_word (&word)[$N_each], int run) {
#pragma unroll
  for (int step = run / 2; step > 0; step /= 2)
#pragma unroll
    for (int e = 0; e < $N_each; ++e)
      if ((e & step) == 0) $N_order(word[e], word[e + step]);
}
extern "C" __global__ void __launch_bounds__($N_at_once * $N_of_row) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $N_word memory[$N_at_once * ($N_width + $N_width / 32)];
  const int in_row = threadIdx.x % $N_of_row, n = (int)p.n;
  $N_word* const own = memory + threadIdx.x / $N_of_row * ($N_width + $N_width / 32);
  for (tarry_i64 first = (tarry_i64)blockIdx.x * $N_at_once; first < p.rows;
       first += (tarry_i64)gridDim.x * $N_at_once) {
    const tarry_i64 row = first + threadIdx.x / $N_of_row;
    const int there = row < p.rows ? n : 0;
    $N_word word[$N_each];
#pragma unroll
    for (int e = 0; e < $N_each; ++e) {
      const int i = e * $N_of_row + in_row;
      word[e] = $N_word_of(i < there ? $N_key(p.x[row * n + i]) : ($BITS)~($BITS)0, i);
    }
#pragma unroll
    for (int run = 2; run <= $N_each; run *= 2) {
#pragma unroll
      for (int e = 0; e < $N_each; ++e)
        if (e < (e ^ (run - 1))) $N_order(word[e], word[e ^ (run - 1)]);
      $N_halves(word, run / 2);
    }
    for (int run = 2; run <= $N_of_row; run *= 2) {
      $N_exchange(word, own, in_row, run - 1, run / 2, true);
      for (int step = run / 4; step > 0; step /= 2) $N_exchange(word, own, in_row, step, step, false);
      $N_halves(word, $N_each);
    }
    $N_wait();
#pragma unroll
    for (int e = 0; e < $N_each; ++e) {
      const int i = in_row * $N_each + e;
      own[i + i / 32] = word[e];
    }
    $N_wait();
#pragma unroll
    for (int e = 0; e < $N_each; ++e) {
      const int i = e * $N_of_row + in_row;
      if (i < there$AND_NO_NAN) p.to[row * n + i] = $N_result(own[i + i / 32]);
    }
$NANS    $N_wait();
  }
}
)";

// A word that is compared is a key alone, of which the element is made again,
constexpr std::string_view kKeyText = R"(
typedef $WIDE $N_word;
__device__ __forceinline__ $N_word $N_word_of($BITS key, int) { return key; }
__device__ __forceinline__ bool $N_before($N_word a, $N_word b) { return a < b; }
__device__ __forceinline__ $N_word $N_shuffle($N_word a, int mask) { return __shfl_xor_sync(~0u, a, mask); }
$ELEMENT__device__ __forceinline__ $BITS $N_result($N_word a) { return $N_element(($BITS)a); }
)";

// a key before a place,
constexpr std::string_view kKeyAndPlaceText = R"(
typedef tarry_u64 $N_word;
__device__ __forceinline__ $N_word $N_word_of($BITS key, int place) { return (tarry_u64)key << 32 | (tarry_u32)place; }
__device__ __forceinline__ bool $N_before($N_word a, $N_word b) { return a < b; }
__device__ __forceinline__ $N_word $N_shuffle($N_word a, int mask) { return __shfl_xor_sync(~0u, a, mask); }
__device__ __forceinline__ tarry_i64 $N_result($N_word a) { return (tarry_u32)a; }
)";

// or both, where they take more than 64 bits.
constexpr std::string_view kPairText = R"(
struct $N_word {
  tarry_u64 key;
  tarry_u32 place;
};
__device__ __forceinline__ $N_word $N_word_of(tarry_u64 key, int place) { return {key, (tarry_u32)place}; }
__device__ __forceinline__ bool $N_before(const $N_word& a, const $N_word& b) {
  return a.key < b.key || (a.key == b.key && a.place < b.place);
}
__device__ __forceinline__ $N_word $N_shuffle(const $N_word& a, int mask) {
  return {__shfl_xor_sync(~0u, a.key, mask), __shfl_xor_sync(~0u, a.place, mask)};
}
__device__ __forceinline__ tarry_i64 $N_result(const $N_word& a) { return a.place; }
)";

// NaNs have one key. They lie behind all else, each with its bits, in the order in which they came.
constexpr std::string_view kNansText = R"(    if (in_row == 0 && there > 0) {
      int at = n;
      while (at > 0 && own[at - 1 + (at - 1) / 32] == ($BITS)~($BITS)0) --at;
      for (int i = 0; at < n; ++i) {
        const $BITS x = p.x[row * n + i];
        if ($N_key(x) == ($BITS)~($BITS)0) p.to[row * n + at++] = x;
      }
    }
)";

bool gives_places(const RoutineSpec& spec) { return spec.op == graph::Op::Argsort; }

/// Bytes of a word of kInBlockText.
std::size_t word_bytes(const RoutineSpec& spec) {
  const bool is_wide = itemsize(spec.dtype) == 8;
  return gives_places(spec) ? (is_wide ? 16 : 8) : (is_wide ? 8 : 4);
}

bool fits_in_block(const RoutineSpec& spec) {
  constexpr std::int64_t kBytes = 32768;  // of shared memory, without what keeps threads out of each other's banks
  return spec.n <= kBytes / static_cast<std::int64_t>(word_bytes(spec));
}

/// How a row is shared out: so many elements a thread, threads a row, rows a thread block.
struct InBlock {
  explicit InBlock(const RoutineSpec& spec) {
    int width = 8;
    while (width < spec.n) width *= 2;
    each = width <= 2048 ? 8 : 16;
    of_row = width / each;
    at_once = std::max(1, kRoutineThreads / of_row);
  }
  int each, of_row, at_once;
};

KernelSource rows_kernel(const RoutineSpec& spec) {
  const std::string bits = bits_type(spec.dtype);
  const bool is_wide = itemsize(spec.dtype) == 8;
  const bool has_nans = !gives_places(spec) && is_floating(spec.dtype);
  const InBlock block(spec);
  const TextPart parts[] = {{"$KEY", key_function(spec, Zeros::Apart)},
                            {"$AND_NO_NAN", has_nans ? " && own[i + i / 32] != ($BITS)~($BITS)0" : ""},
                            {"$NANS", has_nans ? std::string(kNansText) : std::string()},
                            {"$WORD", std::string(!gives_places(spec) ? kKeyText
                                                  : is_wide           ? kPairText
                                                                      : kKeyAndPlaceText)},
                            {"$ELEMENT", gives_places(spec) ? std::string() : element_function(spec)},
                            {"$WIDE", is_wide ? "tarry_u64" : "tarry_u32"},
                            {"$BITS", bits},
                            {"$RESULT", gives_places(spec) ? "tarry_i64" : bits},
                            {"$EACH", std::to_string(block.each)},
                            {"$OF_ROW", std::to_string(block.of_row)},
                            {"$AT_ONCE", std::to_string(block.at_once)}};
  return routine_kernel(gives_places(spec) ? "argsort_rows" : "sort_rows", kInBlockText, parts, {},
                        block.at_once * block.of_row);
}

/// The passes of a long row: what each reads and writes.
struct LongRow : RadixRows {
  explicit LongRow(const RoutineSpec& s) : RadixRows(s.rows, s.n), passes(static_cast<int>(itemsize(s.dtype))) {
    const auto elements = static_cast<std::size_t>(s.rows * s.n);
    values[0] = take(elements * itemsize(s.dtype));
    if (s.op == graph::Op::Sort) return;
    values[1] = take(elements * itemsize(s.dtype));
    for (std::size_t& at : places) at = take(elements * place);
  }
  const int passes;
  std::size_t values[2] = {}, places[2] = {};
};

/// Kernels of long rows, by number. An Argsort's first pass makes places of coordinates, its last writes them alone.
enum Number : std::uint32_t { kCount, kAdd, kMove, kFirst, kLast, kOnly };

KernelSource move_kernel(const RoutineSpec& spec, const LongRow& row, const RadixTypes& types, Number number) {
  if (!gives_places(spec)) return radix_move("sort_move", types, {}, RadixElements::Written);
  const bool first = number == kFirst || number == kOnly, last = number == kLast || number == kOnly;
  const std::string place = row.place_type();
  return radix_move(
      "argsort_move", types,
      {place, last ? "tarry_i64" : place, first ? fmt::format("({})i", place) : "p.beside[row * p.n + i]"},
      last ? RadixElements::Dropped : RadixElements::Written);
}

}  // namespace

std::size_t sort_scratch(const RoutineSpec& spec) {
  if (selects(spec)) return select_scratch(spec);
  return fits_in_block(spec) ? 0 : LongRow(spec).bytes;
}

std::vector<KernelSource> sort_kernels(const RoutineSpec& spec) {
  if (selects(spec)) return select_kernels(spec);
  if (fits_in_block(spec)) return {rows_kernel(spec)};
  const std::string key = key_function(spec, Zeros::Apart), bits = bits_type(spec.dtype);
  const LongRow row(spec);
  const RadixTypes types{bits, row.place_type(), key, bits};
  std::vector<KernelSource> kernels;
  kernels.push_back(radix_count(types));
  kernels.push_back(radix_add(types));
  kernels.push_back(move_kernel(spec, row, types, kMove));
  if (!gives_places(spec)) return kernels;
  for (const Number number : {kFirst, kLast, kOnly}) kernels.push_back(move_kernel(spec, row, types, number));
  return kernels;
}

std::int64_t sort_launch_count(const RoutineSpec& spec) {
  if (selects(spec)) return select_launch_count(spec);
  return fits_in_block(spec) ? 1 : 3 * static_cast<std::int64_t>(itemsize(spec.dtype));
}

std::vector<RoutineLaunch> sort_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (selects(spec)) return select_launches(spec, operands, scratch);
  TARRY_ASSERT(operands.size() == 2);
  void *const x = operands[0], *const result = operands[1];
  if (fits_in_block(spec)) {
    Geometry g;
    const InBlock block(spec);
    g.outer_tiles = striding_grid((spec.rows + block.at_once - 1) / block.at_once);
    return {{0, {word_of(x), word_of(result), word_of(spec.rows), word_of(spec.n)}, g}};
  }
  const LongRow row(spec);
  const auto at = [&](std::size_t offset) { return static_cast<void*>(static_cast<char*>(scratch) + offset); };
  std::vector<RoutineLaunch> launches;
  const void *values = x, *places = nullptr;
  for (int pass = 0; pass < row.passes; ++pass) {
    const bool first = pass == 0, last = pass + 1 == row.passes;
    const std::size_t turn = static_cast<std::size_t>(pass % 2);
    // A sort's passes end in the result, whichever half they began in.
    void* const to = gives_places(spec)                 ? at(row.values[turn])
                     : (row.passes - 1 - pass) % 2 == 0 ? result
                                                        : at(row.values[0]);
    void* const to_places = !gives_places(spec) ? nullptr : last ? result : at(row.places[turn]);
    Number number = kMove;
    if (gives_places(spec)) number = first && last ? kOnly : first ? kFirst : last ? kLast : kMove;
    append_radix_pass(row, {values, to, places, to_places, pass}, {kCount, kAdd, number}, scratch, launches);
    values = to;
    places = to_places;
  }
  return launches;
}

}  // namespace tarry::codegen
