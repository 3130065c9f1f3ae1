// The text of the product: tiles of 64 x 64 by four warps, operands staged four tiles of k ahead.
#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "codegen/matmul.h"
#include "codegen/prelude_text.h"
#include "codegen/render_common.h"
#include "support/check.h"
#include "support/hash.h"

namespace tarry::codegen {
namespace {

constexpr int kTile = 64, kDepth = 32, kStages = 4, kThreads = 128;
constexpr int kPitchA = kDepth + 8, kPitchB = kTile + 4;  // a warp that reads a fragment meets every bank once
constexpr int kStageBytes = (kTile * kPitchA + kDepth * kPitchB) * 4;
constexpr std::int64_t kLeastTiles = 96, kLeastDepth = 64;  // fewer: a library may share the sums out

constexpr std::string_view kText = R"(
struct $N_params {
  const float* a;
  const float* b;
  float* c;
  tarry_i64 m, n, k, a_next, b_next;
};

// $SIZE bytes to shared memory, zeros where they are not `there`.
__device__ __forceinline__ void $N_copy_a(float* to, const float* from, bool there) {
  asm volatile("cp.async.$CACHE_A.shared.global [%0], [%1], $BYTES_A, %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(there ? $BYTES_A : 0) : "memory");
}
__device__ __forceinline__ void $N_copy_b(float* to, const float* from, bool there) {
  asm volatile("cp.async.$CACHE_B.shared.global [%0], [%1], $BYTES_B, %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(there ? $BYTES_B : 0) : "memory");
}
__device__ __forceinline__ void $N_multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// The nearest number of eleven bits, and what is left.
__device__ __forceinline__ void $N_split(float x, unsigned& high, unsigned& low) {
  high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  low = __float_as_uint(x - __uint_as_float(high));
}

// A warp has 32 x 32 results as 2 x 4 tiles of 16 x 8. Lane 4 g + q has rows g and g + 8 of a, column g of b, and of every eight
// k those of numbers 2 q and 2 q + 1: in which order k goes does not matter as long as a and b agree.
extern "C" __global__ void __launch_bounds__(128, 3) $N(const __grid_constant__ struct $N_params p) {
  extern __shared__ uint4 shared_memory[];
  float* const stages = (float*)shared_memory;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const tarry_i64 columns = (p.n + 63) / 64, rows = (p.m + 63) / 64;
  const tarry_i64 matrix = blockIdx.x / (rows * columns), place = blockIdx.x % (rows * columns);
  const tarry_i64 row = place / columns * 64, column = place % columns * 64;
  const float* const a = p.a + matrix * p.a_next;
  const float* const b = p.b + matrix * p.b_next;
  float* const c = p.c + matrix * p.m * p.n;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;
  const int depth = (int)((p.k + 31) / 32);

  // A thread copies its k of rows of a, and its column of rows of b.
  const int own_k = threadIdx.x % (32 / $WIDE_A) * $WIDE_A, own_row = threadIdx.x / (32 / $WIDE_A);
  const int own_column = threadIdx.x % (64 / $WIDE_B) * $WIDE_B, own_depth = threadIdx.x / (64 / $WIDE_B);
  const float* next_a = a + (row + own_row) * p.k + own_k;
  const float* next_b = b + own_depth * p.n + column + own_column;
  const int rows_left = (int)(p.m - row < 64 ? p.m - row : 64) - own_row;
  const bool has_column = column + own_column < p.n;
  int left = (int)p.k;  // of k
  const auto load = [&](int stage) {
    if (left > 0) {
      float* const to_a = stages + stage * $STAGE + own_row * $PITCH_A + own_k;
      float* const to_b = stages + stage * $STAGE + 64 * $PITCH_A + own_depth * $PITCH_B + own_column;
      const float* from = next_a;
#pragma unroll
      for (int i = 0; i < 64; i += 4 * $WIDE_A) {
        $N_copy_a(to_a + i * $PITCH_A, from, i < rows_left && own_k < left);
        from += 4 * $WIDE_A * p.k;
      }
      from = next_b;
#pragma unroll
      for (int i = 0; i < 32; i += 2 * $WIDE_B) {
        $N_copy_b(to_b + i * $PITCH_B, from, has_column && i + own_depth < left);
        from += 2 * $WIDE_B * p.n;
      }
      next_a += 32;
      next_b += 32 * p.n;
      left -= 32;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  float sums[2][4][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) sums[i][j][r] = 0.0f;
#pragma unroll
  for (int s = 0; s < 3; ++s) load(s);
#pragma unroll 1
  for (int step = 0; step < depth; ++step) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    load((step + 3) % 4);
    const float* const from_a = stages + step % 4 * $STAGE + (wm + g) * $PITCH_A + 2 * q;
    const float* const from_b = stages + step % 4 * $STAGE + 64 * $PITCH_A + 2 * q * $PITCH_B + wn + g;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float part[2][4][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int r = 0; r < 4; ++r) part[i][j][r] = 0.0f;
#pragma unroll
      for (int k = half * 16; k < half * 16 + 16; k += 8) {
        unsigned high_a[2][4], low_a[2][4], high_b[4][2], low_b[4][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float2 x = *(const float2*)(from_a + i * 16 * $PITCH_A + k), y = *(const float2*)(from_a + (i * 16 + 8) * $PITCH_A + k);
          $N_split(x.x, high_a[i][0], low_a[i][0]);
          $N_split(y.x, high_a[i][1], low_a[i][1]);
          $N_split(x.y, high_a[i][2], low_a[i][2]);
          $N_split(y.y, high_a[i][3], low_a[i][3]);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          $N_split(from_b[k * $PITCH_B + j * 8], high_b[j][0], low_b[j][0]);
          $N_split(from_b[(k + 1) * $PITCH_B + j * 8], high_b[j][1], low_b[j][1]);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) $N_multiply(part[i][j], low_a[i], high_b[j]);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) $N_multiply(part[i][j], high_a[i], low_b[j]);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) $N_multiply(part[i][j], high_a[i], high_b[j]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int r = 0; r < 4; ++r) sums[i][j][r] += part[i][j][r];
    }
  }

#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const tarry_i64 m = row + wm + i * 16 + r / 2 * 8 + g, n = column + wn + j * 8 + 2 * q + r % 2;
        if (m >= p.m || n >= p.n) continue;
        float x = sums[i][j][r];
        if (!(x - x == 0.0f)) {
          x = 0.0f;
#pragma unroll 1
          for (tarry_i64 k = 0; k < p.k; ++k) x = __fmaf_rn(a[m * p.k + k], b[k * p.n + n], x);
        }
        sums[i][j][r] = x;
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const tarry_i64 m = row + wm + i * 16 + h * 8 + g, n = column + wn + j * 8 + 2 * q;
        if (m >= p.m || n >= p.n) continue;
        float* const to = c + m * p.n + n;
        if ($WIDE_B > 1) {
          *(float2*)to = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
        } else {
          to[0] = sums[i][j][2 * h];
          if (n + 1 < p.n) to[1] = sums[i][j][2 * h + 1];
        }
      }
    }
  }
}
)";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

std::int64_t tiles(std::int64_t extent) { return (extent + kTile - 1) / kTile; }

}  // namespace

bool has_matmul_kernel(const MatmulShape& shape, const graph::Target& target) {
  if (!target.is_cuda() || target.level < 80 || shape.k < kLeastDepth) return false;
  const std::int64_t all = matmul_geometry(shape).outer_tiles;
  return all >= kLeastTiles && all <= std::numeric_limits<std::int32_t>::max() &&
         shape.m * shape.n * 2 >= tiles(shape.m) * tiles(shape.n) * kTile * kTile;  // at least half of the tiles' results
}

Geometry matmul_geometry(const MatmulShape& shape) {
  Geometry g;
  g.outer_tiles = std::max(shape.a_count, shape.b_count) * tiles(shape.m) * tiles(shape.n);
  return g;
}

KernelSource render_matmul(const MatmulShape& shape, const graph::Target& target) {
  TARRY_ASSERT(target.is_cuda() && target.level >= 80);
  std::string kernel(kText);
  const auto operand = [&](const char* which, std::int64_t row) {  // a row of whole 16 bytes is copied by them
    const bool wide = row % 4 == 0;
    replace_all(kernel, fmt::format("$CACHE_{}", which), wide ? "cg" : "ca");
    replace_all(kernel, fmt::format("$BYTES_{}", which), wide ? "16" : "4");
    replace_all(kernel, fmt::format("$WIDE_{}", which), wide ? "4" : "1");
  };
  operand("A", shape.k);
  operand("B", shape.n);
  replace_all(kernel, "$PITCH_A", std::to_string(kPitchA));
  replace_all(kernel, "$PITCH_B", std::to_string(kPitchB));
  replace_all(kernel, "$STAGE", std::to_string(kStageBytes / 4));
  replace_all(kernel, "$SIZE", "4 or 16");
  KernelSource source;
  source.sections = prelude_sections({});
  source.prelude = prelude_text(source.sections, Dialect::Cuda);
  source.entry = fmt::format("matmul_f32_tiles_{}", support::hash_bytes(source.prelude + kernel).hex().substr(0, 8));
  replace_all(kernel, "$N", source.entry);
  source.kernel = std::move(kernel);
  source.text = source.prelude + source.kernel;
  source.threads = kThreads;
  source.shared_bytes = kStages * kStageBytes;
  return source;
}

std::array<std::uint64_t, 8> matmul_parameters(const MatmulShape& s, const void* a, const void* b, const void* result) {
  const auto word = [](auto x) { return static_cast<std::uint64_t>(x); };
  const auto address = [](const void* p) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p)); };
  return {address(a), address(b), address(result), word(s.m), word(s.n), word(s.k), word(s.a_count == 1 ? 0 : s.m * s.k),
          word(s.b_count == 1 ? 0 : s.k * s.n)};
}

}  // namespace tarry::codegen
