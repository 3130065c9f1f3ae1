// The text of a sort's passes.
#include "codegen/cuda/radix.h"

#include <fmt/format.h>

namespace tarry::codegen {
namespace {

// Lanes beside each other count apart: where all bytes are equal, 8 of a warp meet instead of 32.
constexpr std::string_view kCountText = R"($KEY
struct $N_params {
  const $SOURCE* x;
  $PLACE* counts;
  $PLACE* sums;
  tarry_i64 rows, n, tiles, of_chunk, chunks, shift, limit;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ tarry_u32 counts[1024];
  for (tarry_i64 chunk = blockIdx.x; chunk < p.rows * p.chunks; chunk += gridDim.x) {
    const tarry_i64 row = chunk / p.chunks, of_row = chunk % p.chunks, begin = of_row * p.of_chunk;
    const tarry_i64 end = begin + p.of_chunk < p.tiles ? begin + p.of_chunk : p.tiles;
    const $SOURCE* const x = p.x + row * p.n;
    $PLACE before = 0;
    for (tarry_i64 tile = begin; tile < end; ++tile) {
      int bytes[16];
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        const tarry_i64 i = tile * 4096 + k * 256 + threadIdx.x;
        bytes[k] = i < p.n ? (int)($N_key($ELEMENT) >> p.shift & 255) : -1;
      }
      for (int k = 0; k < 1024; k += 256) counts[k + threadIdx.x] = 0;
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 16; ++k)
        if (bytes[k] >= 0) atomicAdd(&counts[bytes[k] * 4 + threadIdx.x % 4], 1u);
      __syncthreads();
      const tarry_u32* const own = counts + threadIdx.x * 4;
      p.counts[(row * p.tiles + tile) * 256 + threadIdx.x] = before;
      before += own[0] + own[1] + own[2] + own[3];
      __syncthreads();
    }
    p.sums[(row * 256 + threadIdx.x) * p.chunks + of_row] = before;
  }
}
)";

// From the sums of a byte, chunk by chunk, to those of the chunks before, and the sum of all.
constexpr std::string_view kAddText = R"(
struct $N_params {
  const $PLACE* sums;
  $PLACE* begins;
  $PLACE* totals;
  tarry_i64 rows, chunks;
};
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const int lane = threadIdx.x % 32;
  for (tarry_i64 byte = (tarry_i64)blockIdx.x * 8 + threadIdx.x / 32; byte < p.rows * 256;
       byte += (tarry_i64)gridDim.x * 8) {
    const $PLACE* const sums = p.sums + byte * p.chunks;
    $PLACE* const begins = p.begins + byte / 256 * p.chunks * 256 + byte % 256;
    $PLACE before = 0;
    for (tarry_i64 first = 0; first < p.chunks; first += 32) {
      const tarry_i64 i = first + lane;
      const $PLACE own = i < p.chunks ? sums[i] : 0;
      $PLACE through = own;
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        const $PLACE left = __shfl_up_sync(~0u, through, d);
        if (lane >= d) through += left;
      }
      if (i < p.chunks) begins[i * 256] = before + through - own;
      before += __shfl_sync(~0u, through, 31);
    }
    if (lane == 0) p.totals[byte] = before;
  }
}
)";

// A warp goes through its part of the tile in order, 32 elements at a time, so that equal bytes keep their order.
constexpr std::string_view kMoveText = R"($KEY
struct $N_params {
  const $SOURCE* x;
  $BITS* to;
  const $BESIDE_FROM* beside;
  $BESIDE_TO* beside_to;
  const $PLACE* counts;
  const $PLACE* begins;
  const $PLACE* totals;
  tarry_i64 rows, n, tiles, of_chunk, chunks, shift, limit;
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
// The sum of what the threads before this one have.
__device__ __forceinline__ $PLACE $N_before($PLACE own) {
  __shared__ $PLACE sums[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  $PLACE through = own, before = 0;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const $PLACE left = __shfl_up_sync(~0u, through, d);
    if (lane >= d) through += left;
  }
  if (lane == 31) sums[warp] = through;
  __syncthreads();
  for (int w = 0; w < warp; ++w) before += sums[w];
  __syncthreads();
  return before + through - own;
}
extern "C" __global__ void __launch_bounds__(256, $BLOCKS) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $ROOM memory[4096];
  __shared__ tarry_u32 counts[8][256];
  __shared__ $PLACE begins[256];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (tarry_i64 tile = blockIdx.x; tile < p.rows * p.tiles; tile += gridDim.x) {
    const tarry_i64 row = tile / p.tiles, of_row = tile % p.tiles;
    const tarry_i64 of_tile = of_row * 4096, own = of_tile + warp * 512 + lane;
    const $SOURCE* const x = p.x + row * p.n;
    const int there = (int)(p.n - of_tile < 4096 ? p.n - of_tile : 4096), mine = warp * 512 + lane;
    $BITS element[16];
    tarry_u32 rank[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const tarry_i64 i = own + k * 32;
      element[k] = mine + k * 32 < there ? $ELEMENT : ($BITS)0;
    }
    for (int w = 0; w < 8; ++w) counts[w][threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int byte = (int)($N_key(element[k]) >> p.shift & 255);
      const tarry_u32 same = $N_alike(byte, mine + k * 32 < there);
      rank[k] = counts[warp][byte] + __popc(same & ((1u << lane) - 1));
      __syncwarp();
      if (same != 0 && __ffs((int)same) - 1 == lane) counts[warp][byte] += __popc(same);
      __syncwarp();
    }
    __syncthreads();
    tarry_u32 all = 0;
    for (int w = 0; w < 8; ++w) {
      const tarry_u32 count = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = all;
      all += count;
    }
    const tarry_u32 in_tile = (tarry_u32)$N_before(all);
    begins[threadIdx.x] = $N_before(p.totals[row * 256 + threadIdx.x]) +
                          p.begins[(row * p.chunks + of_row / p.of_chunk) * 256 + threadIdx.x] +
                          p.counts[tile * 256 + threadIdx.x] - in_tile;
    for (int w = 0; w < 8; ++w) counts[w][threadIdx.x] += in_tile;
    __syncthreads();
    $BITS* const elements = ($BITS*)memory;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if (mine + k * 32 >= there) continue;
      rank[k] += counts[warp][(int)($N_key(element[k]) >> p.shift & 255)];
      elements[rank[k]] = element[k];
    }
    __syncthreads();
    $PLACE at[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = k * 256 + threadIdx.x;
      at[k] = 0;
      if (i >= there) continue;
      const $BITS moved = elements[i];
      at[k] = begins[(int)($N_key(moved) >> p.shift & 255)] + i;
$WRITE_ELEMENT    }
    __syncthreads();
$MOVE_BESIDE  }
}
)";

constexpr std::string_view kMoveBeside = R"(    $BESIDE* const held = ($BESIDE*)memory;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const tarry_i64 i = own + k * 32;
      if (mine + k * 32 < there) held[rank[k]] = $GIVEN;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = k * 256 + threadIdx.x;
      if (i < there) p.beside_to[row * p.n + at[k]] = held[i];
    }
    __syncthreads();
)";

std::vector<TextPart> parts_of(const RadixTypes& types) {
  return {{"$KEY", types.key},
          {"$BITS", types.bits},
          {"$SOURCE", types.source},
          {"$ELEMENT", types.element},
          {"$PLACE", types.place}};
}

Geometry blocks_of(std::int64_t count) {
  Geometry g;
  g.outer_tiles = striding_grid(count);
  return g;
}

}  // namespace

KernelSource radix_count(const RadixTypes& types) {
  return routine_kernel("sort_count", kCountText, parts_of(types), {}, kRoutineThreads);
}

KernelSource radix_add(const RadixTypes& types) {
  const TextPart parts[] = {{"$PLACE", types.place}};
  return routine_kernel("sort_add", kAddText, parts, {}, kRoutineThreads);
}

KernelSource radix_move(std::string_view word, const RadixTypes& types, const RadixBeside& beside,
                        RadixElements elements) {
  const bool alone = beside.type.empty();
  const auto is_wide = [](std::string_view type) { return type.ends_with("64"); };
  const bool wide = is_wide(types.bits) || is_wide(beside.type);
  std::vector<TextPart> parts{
      {"$WRITE_ELEMENT",
       elements == RadixElements::Written ? "      p.to[row * p.n + at[k]] = moved;\n" : std::string()},
      {"$MOVE_BESIDE", alone ? std::string() : std::string(kMoveBeside)},
      {"$GIVEN", beside.given},
      {"$BESIDE_FROM", alone ? "void" : beside.type},
      {"$BESIDE_TO", alone ? "void" : beside.to},
      {"$BESIDE", beside.type},
      {"$BLOCKS", alone && !wide && !is_wide(types.place)
                      ? "3"
                      : "2"},  // of a multiprocessor at least: more threads, fewer registers
      {"$ROOM", wide ? "tarry_u64" : "tarry_u32"}};
  const std::vector<TextPart> common = parts_of(types);
  parts.insert(parts.end(), common.begin(), common.end());
  return routine_kernel(word, kMoveText, parts, {}, kRoutineThreads);
}

void append_radix_pass(const RadixRows& rows, const RadixPass& pass, RadixNumbers numbers, void* scratch,
                       std::vector<RoutineLaunch>& launches) {
  const auto at = [&](std::size_t offset) { return word_of(static_cast<const char*>(scratch) + offset); };
  const std::uint64_t counts = at(rows.counts), sums = at(rows.sums), begins = at(rows.begins),
                      totals = at(rows.totals);
  const std::uint64_t of = word_of(rows.rows), n = word_of(rows.n), tiles = word_of(rows.tiles),
                      of_chunk = word_of(rows.of_chunk), chunks = word_of(rows.chunks), limit = word_of(pass.limit);
  const auto shift = static_cast<std::uint64_t>(8 * pass.byte);
  launches.push_back({numbers.count,
                      {word_of(pass.x), counts, sums, of, n, tiles, of_chunk, chunks, shift, limit},
                      blocks_of(rows.rows * rows.chunks)});
  launches.push_back({numbers.add,
                      {sums, begins, totals, of, chunks},
                      blocks_of((rows.rows * 256 * 32 + kRoutineThreads - 1) / kRoutineThreads)});
  launches.push_back({numbers.move,
                      {word_of(pass.x), word_of(pass.to), word_of(pass.beside), word_of(pass.beside_to), counts, begins,
                       totals, of, n, tiles, of_chunk, chunks, shift, limit},
                      blocks_of(rows.rows * rows.tiles)});
}

}  // namespace tarry::codegen
