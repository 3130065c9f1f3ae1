// Sort and Argsort as CUDA C. A row of up to kInBlock elements is one thread block's, sorted in shared memory by its
// keys and places (Batcher's network: the place makes every key different, so the result is that of a stable sort).
// Longer rows are sorted byte by byte, from the lowest: a tile of 4,096 elements counts its bytes, one thread block a
// row adds the counts up, and tiles move their elements to where their byte begins. A warp goes through its part of the
// tile in order, 32 elements at a time, so that equal bytes keep their order.
#include <limits>

#include <fmt/format.h>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kInBlock = 2048, kSortTile = 4096, kBytes = 256;

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

constexpr std::string_view kCountText = R"($KEY
struct $N_params {
  const $BITS* x;
  $PLACE* counts;
  tarry_i64 rows, n, tiles, shift;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ tarry_u32 counts[256];
  for (tarry_i64 tile = blockIdx.x; tile < p.rows * p.tiles; tile += gridDim.x) {
    const tarry_i64 row = tile / p.tiles, first = tile % p.tiles * 4096;
    const $BITS* const x = p.x + row * p.n;
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      const tarry_i64 i = first + k * 256 + threadIdx.x;
      if (i < p.n) atomicAdd(&counts[$N_key(x[i]) >> p.shift & 255], 1u);
    }
    __syncthreads();
    p.counts[(row * 256 + threadIdx.x) * p.tiles + tile % p.tiles] = counts[threadIdx.x];
    __syncthreads();
  }
}
)";

// In place: from counts, byte by byte and tile by tile, to the sums of those before.
constexpr std::string_view kAddText = R"(
struct $N_params {
  $PLACE* counts;
  tarry_i64 rows, tiles;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $PLACE sums[256];
  const tarry_i64 count = 256 * p.tiles;
  for (tarry_i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    $PLACE* const counts = p.counts + row * count;
    $PLACE before = 0;
    for (tarry_i64 first = 0; first < count; first += 1024) {
      $PLACE own[4], sum = 0;
      for (int k = 0; k < 4; ++k) {
        const tarry_i64 i = first + threadIdx.x * 4 + k;
        own[k] = i < count ? counts[i] : 0;
        sum += own[k];
      }
      sums[threadIdx.x] = sum;
      __syncthreads();
      for (int step = 1; step < 256; step *= 2) {
        const $PLACE left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += left;
        __syncthreads();
      }
      $PLACE at = before + sums[threadIdx.x] - sum;
      for (int k = 0; k < 4; ++k) {
        const tarry_i64 i = first + threadIdx.x * 4 + k;
        if (i < count) counts[i] = at;
        at += own[k];
      }
      before += sums[255];
      __syncthreads();
    }
  }
}
)";

constexpr std::string_view kMoveText = R"($KEY
struct $N_params {
  const $BITS* x;
  $BITS* to;
  const $PLACE* from_places;
  $RESULT* to_places;
  const $PLACE* starts;
  tarry_i64 rows, n, tiles, shift;
};
// The lanes whose byte is this one's.
__device__ __forceinline__ tarry_u32 $N_alike(int byte, bool there) {
  tarry_u32 same = __ballot_sync(~0u, there);
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const tarry_u32 set = __ballot_sync(~0u, byte >> bit & 1);
    same &= byte >> bit & 1 ? set : ~set;
  }
  return same;
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $PLACE starts[8][256];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (tarry_i64 tile = blockIdx.x; tile < p.rows * p.tiles; tile += gridDim.x) {
    const tarry_i64 row = tile / p.tiles, first = tile % p.tiles * 4096 + warp * 512 + lane;
    const $BITS* const x = p.x + row * p.n;
    for (int w = 0; w < 8; ++w) starts[w][threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 512; k += 32) {
      const bool there = first + k < p.n;
      const int byte = there ? (int)($N_key(x[first + k]) >> p.shift & 255) : 0;
      const tarry_u32 same = $N_alike(byte, there);
      if (there && __ffs((int)same) - 1 == lane) starts[warp][byte] += __popc(same);
      __syncwarp();
    }
    __syncthreads();
    $PLACE at = p.starts[(row * 256 + threadIdx.x) * p.tiles + tile % p.tiles];
    for (int w = 0; w < 8; ++w) {
      const $PLACE count = starts[w][threadIdx.x];
      starts[w][threadIdx.x] = at;
      at += count;
    }
    __syncthreads();
    for (int k = 0; k < 512; k += 32) {
      const tarry_i64 i = first + k;
      const bool there = i < p.n;
      const $BITS element = there ? x[i] : 0;
      const int byte = there ? (int)($N_key(element) >> p.shift & 255) : 0;
      const tarry_u32 same = $N_alike(byte, there);
      if (there) {
        const tarry_i64 place = row * p.n + starts[warp][byte] + __popc(same & ((1u << lane) - 1));
$STORES      }
      __syncwarp();
      if (there && __ffs((int)same) - 1 == lane) starts[warp][byte] += __popc(same);
      __syncwarp();
    }
    __syncthreads();
  }
}
)";

/// The passes of a long row: what each reads and writes.
struct LongRow {
  explicit LongRow(const RoutineSpec& s)
      : spec(s),
        passes(static_cast<int>(itemsize(s.dtype))),
        tiles((s.n + kSortTile - 1) / kSortTile),
        place(s.n <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8) {
    const auto take = [this](std::size_t size) {
      const std::size_t at = bytes;
      bytes += (size + 255) / 256 * 256;
      return at;
    };
    const auto elements = static_cast<std::size_t>(s.rows * s.n);
    counts = take(static_cast<std::size_t>(s.rows * kBytes * tiles) * place);
    values[0] = take(elements * itemsize(s.dtype));
    if (s.op == graph::Op::Sort) return;
    values[1] = take(elements * itemsize(s.dtype));
    for (std::size_t& at : places) at = take(elements * place);
  }
  const RoutineSpec& spec;
  const int passes;
  const std::int64_t tiles;
  const std::size_t place;  ///< bytes of a place in a row
  std::size_t bytes = 0, counts = 0, values[2] = {}, places[2] = {};
};

bool fits_in_block(const RoutineSpec& spec) { return spec.n <= kInBlock; }
bool gives_places(const RoutineSpec& spec) { return spec.op == graph::Op::Argsort; }

/// Kernels of long rows, by number. An Argsort's first pass makes places of coordinates, its last writes them alone.
enum Number : std::uint32_t { kCount, kAdd, kMove, kFirst, kLast, kOnly };

KernelSource move_kernel(const RoutineSpec& spec, const LongRow& row, std::span<const TextPart> common, Number number) {
  const bool first = number == kFirst || number == kOnly, last = number == kLast || number == kOnly;
  std::string stores;
  if (!(gives_places(spec) && last)) stores += "        p.to[place] = element;\n";
  if (gives_places(spec))
    stores += fmt::format("        p.to_places[place] = {};\n", first ? "i" : "p.from_places[row * p.n + i]");
  std::vector<TextPart> parts(common.begin(), common.end());
  parts.push_back({"$STORES", stores});
  parts.push_back({"$RESULT", last ? "tarry_i64" : row.place == 4 ? "tarry_u32" : "tarry_u64"});
  return routine_kernel(gives_places(spec) ? "argsort_move" : "sort_move", kMoveText, parts, {}, kRoutineThreads);
}

}  // namespace

std::size_t sort_scratch(const RoutineSpec& spec) { return fits_in_block(spec) ? 0 : LongRow(spec).bytes; }

std::vector<KernelSource> sort_kernels(const RoutineSpec& spec) {
  const LongRow row(spec);
  std::vector<TextPart> parts = {{"$KEY", key_function(spec, Zeros::Apart)},
                                 {"$BITS", bits_type(spec.dtype)},
                                 {"$PLACE", row.place == 4 ? "tarry_u32" : "tarry_u64"}};
  if (fits_in_block(spec)) {
    parts.push_back({"$RESULT", gives_places(spec) ? "tarry_i64" : bits_type(spec.dtype)});
    parts.push_back({"$TAKE", gives_places(spec) ? "places[i]" : "x[places[i]]"});
    return {
        routine_kernel(gives_places(spec) ? "argsort_rows" : "sort_rows", kInBlockText, parts, {}, kRoutineThreads)};
  }
  std::vector<KernelSource> kernels;
  kernels.push_back(routine_kernel("sort_count", kCountText, parts, {}, kRoutineThreads));
  kernels.push_back(routine_kernel("sort_add", kAddText, parts, {}, kRoutineThreads));
  if (!gives_places(spec)) {
    kernels.push_back(move_kernel(spec, row, parts, kMove));
    return kernels;
  }
  for (const Number number : {kMove, kFirst, kLast, kOnly}) kernels.push_back(move_kernel(spec, row, parts, number));
  return kernels;
}

std::int64_t sort_launch_count(const RoutineSpec& spec) {
  return fits_in_block(spec) ? 1 : 3 * static_cast<std::int64_t>(itemsize(spec.dtype));
}

std::vector<RoutineLaunch> sort_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  TARRY_ASSERT(operands.size() == 2);
  void *const x = operands[0], *const result = operands[1];
  const auto grid = [](std::int64_t blocks) {
    Geometry g;
    g.outer_tiles = striding_grid(blocks);
    return g;
  };
  if (fits_in_block(spec))
    return {{0, {word_of(x), word_of(result), word_of(spec.rows), word_of(spec.n)}, grid(spec.rows)}};
  const LongRow row(spec);
  const auto at = [&](std::size_t offset) { return static_cast<void*>(static_cast<char*>(scratch) + offset); };
  const std::uint64_t counts = word_of(at(row.counts));
  std::vector<RoutineLaunch> launches;
  const void *values = x, *places = nullptr;
  for (int pass = 0; pass < row.passes; ++pass) {
    const bool first = pass == 0, last = pass + 1 == row.passes;
    const std::size_t turn = static_cast<std::size_t>(pass % 2);
    // A sort's passes end in the result, whichever half they began in.
    void* const to = gives_places(spec)                 ? at(row.values[turn])
                     : (row.passes - 1 - pass) % 2 == 0 ? result
                                                        : at(row.values[0]);
    void* const to_places = last ? result : at(row.places[turn]);
    Number number = kMove;
    if (gives_places(spec)) number = first && last ? kOnly : first ? kFirst : last ? kLast : kMove;
    const std::uint64_t shift = static_cast<std::uint64_t>(8 * pass);
    const std::uint64_t rows = word_of(spec.rows), n = word_of(spec.n), tiles = word_of(row.tiles);
    const Geometry by_tile = grid(spec.rows * row.tiles);
    launches.push_back({kCount, {word_of(values), counts, rows, n, tiles, shift}, by_tile});
    launches.push_back({kAdd, {counts, rows, tiles}, grid(spec.rows)});
    launches.push_back(
        {number,
         {word_of(values), word_of(to), word_of(places), word_of(to_places), counts, rows, n, tiles, shift},
         by_tile});
    values = to;
    places = to_places;
  }
  return launches;
}

}  // namespace tarry::codegen
