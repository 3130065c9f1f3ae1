// Sort and Argsort as CUDA C. A row of up to kInBlock elements is one thread block's, sorted in shared memory by its
// keys and places (Batcher's network: the place makes every key different, so the result is that of a stable sort).
// Longer rows are sorted byte by byte (radix.h), or not at all where few of their elements are read (select.cpp).
#include <fmt/format.h>

#include "codegen/cuda/radix.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kInBlock = 2048;

constexpr std::string_view kInBlockText = R"($KEY
struct $N_params {
  const $BITS* x;
  $RESULT* to;
  tarry_i64 rows, n;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $BITS keys[2048];
  __shared__ tarry_u32 places[2048];
  const int n = (int)p.n;
  int size = 2;
  while (size < n) size *= 2;
  for (tarry_i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const $BITS* const x = p.x + row * n;
    for (int i = threadIdx.x; i < size; i += 256) {
      keys[i] = i < n ? $N_key(x[i]) : ($BITS)~($BITS)0;
      places[i] = i;
    }
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) {
      for (int step = run / 2; step > 0; step /= 2) {
        for (int i = threadIdx.x; i < size / 2; i += 256) {
          const int low = i / step * 2 * step + i % step, high = low + step;
          const $BITS a = keys[low], b = keys[high];
          const tarry_u32 at = places[low], bt = places[high];
          const bool ordered = a < b || (a == b && at < bt);
          if (ordered != ((low & run) == 0)) {
            keys[low] = b;
            keys[high] = a;
            places[low] = bt;
            places[high] = at;
          }
        }
        __syncthreads();
      }
    }
    for (int i = threadIdx.x; i < n; i += 256) p.to[row * n + i] = $TAKE;
    __syncthreads();
  }
}
)";

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

bool fits_in_block(const RoutineSpec& spec) { return spec.n <= kInBlock; }
bool gives_places(const RoutineSpec& spec) { return spec.op == graph::Op::Argsort; }

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
  const std::string key = key_function(spec, Zeros::Apart), bits = bits_type(spec.dtype);
  if (fits_in_block(spec)) {
    const TextPart parts[] = {{"$KEY", key},
                              {"$BITS", bits},
                              {"$RESULT", gives_places(spec) ? "tarry_i64" : bits},
                              {"$TAKE", gives_places(spec) ? "places[i]" : "x[places[i]]"}};
    return {
        routine_kernel(gives_places(spec) ? "argsort_rows" : "sort_rows", kInBlockText, parts, {}, kRoutineThreads)};
  }
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
    g.outer_tiles = striding_grid(spec.rows);
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
