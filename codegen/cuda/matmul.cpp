// The text of the product: tiles of 64 x 64 results by four warps or of 128 x 128 by eight, 32 of k at a time, four of
// those staged in shared memory.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "codegen/cuda/matmul.h"
#include "codegen/prelude/text.h"
#include "codegen/render/common.h"
#include "support/check.h"
#include "support/hash.h"

namespace tarry::codegen {
namespace {

constexpr int kDepth = 32, kStages = 4;

/// A square of results by one thread block, in warps of 32 rows.
struct Tile {
  int extent, warp_columns;
  int resident;      ///< thread blocks that a multiprocessor has room for
  int filling;       ///< and how many keep it busy
  double teraflops;  ///< measured on an H200 where every multiprocessor has as many
  [[nodiscard]] int threads() const { return extent / 32 * (extent / warp_columns) * 32; }
  [[nodiscard]] int pitch_a() const { return kDepth + 8; }  // a warp that reads a fragment meets every bank once
  [[nodiscard]] int pitch_b() const { return extent + 4; }
  [[nodiscard]] int stage() const { return extent * pitch_a() + kDepth * pitch_b(); }  // floats
  [[nodiscard]] std::int64_t along(std::int64_t n) const { return (n + extent - 1) / extent; }
  [[nodiscard]] std::int64_t count(const MatmulShape& s) const {
    return std::max(s.a_count, s.b_count) * along(s.m) * along(s.n);
  }
};
constexpr Tile kSmall{64, 32, 3, 2, 50}, kLarge{128, 64, 1, 1, 57};

/// The rate of a tile of that kind: the last thread blocks leave multiprocessors idle, tiles reach over the
/// edge, and the first operands and the results take as long as `kAround` of k.
double expected(const Tile& tile, const MatmulShape& s, const graph::Target& target) {
  constexpr double kAround = 96;
  const double slots = target.multiprocessors * tile.filling, tiles = static_cast<double>(tile.count(s));
  const double busy = tiles / (std::ceil(tiles / slots) * slots);
  const double inside = static_cast<double>(s.m) * static_cast<double>(s.n) /
                        (static_cast<double>(tile.along(s.m) * tile.along(s.n)) * tile.extent * tile.extent);
  const auto depth = static_cast<double>(s.k);
  return tile.teraflops * busy * inside * depth / (depth + kAround);
}
const Tile& tile_of(const MatmulShape& s, const graph::Target& target) {
  return expected(kLarge, s, target) > expected(kSmall, s, target) ? kLarge : kSmall;
}

constexpr std::string_view kText = R"(
struct $N_params {
  const float* a;
  const float* b;
  float* c;
  tarry_i64 m, n, k, a_next, b_next;
};

// 16 bytes to shared memory, zeros where they are not `there`.
__device__ __forceinline__ void $N_copy(float* to, const float* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
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

// A warp has 32 x $COLUMNS results as tiles of 16 x 8. Lane 4 g + q has rows g and g + 8 of a, column g of b, and of every eight
// k those of numbers 2 q and 2 q + 1: in which order k goes does not matter as long as a and b agree.
extern "C" __global__ void __launch_bounds__($THREADS, $BLOCKS) $N(const __grid_constant__ struct $N_params p) {
  extern __shared__ uint4 shared_memory[];
  float* const stages = (float*)shared_memory;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const tarry_i64 columns = (p.n + $TILE - 1) / $TILE, rows = (p.m + $TILE - 1) / $TILE;
  const tarry_i64 matrix = blockIdx.x / (rows * columns), place = blockIdx.x % (rows * columns);
  const tarry_i64 row = place / columns * $TILE, column = place % columns * $TILE;
  const float* const a = p.a + matrix * p.a_next;
  const float* const b = p.b + matrix * p.b_next;
  float* const c = p.c + matrix * p.m * p.n;
  const int wm = warp / ($TILE / $COLUMNS) * 32, wn = warp % ($TILE / $COLUMNS) * $COLUMNS;
  const int depth = (int)((p.k + 31) / 32);

  // A thread copies its k of rows of a, and its column of rows of b.
  const int own_k = threadIdx.x % 8 * 4, own_row = threadIdx.x / 8;
  const int own_column = threadIdx.x % ($TILE / 4) * 4, own_depth = threadIdx.x / ($TILE / 4);
  const float* next_a = a + (row + own_row) * p.k + own_k;
  const float* next_b = b + own_depth * p.n + column + own_column;
  const int rows_left = (int)(p.m - row < $TILE ? p.m - row : $TILE) - own_row;
  const bool has_column = column + own_column < p.n;
  int left = (int)p.k;  // of k
  const auto load = [&](int stage) {
    if (left > 0) {
      float* const to_a = stages + stage * $STAGE + own_row * $PITCH_A + own_k;
      float* const to_b = stages + stage * $STAGE + $TILE * $PITCH_A + own_depth * $PITCH_B + own_column;
      const float* from = next_a;
#pragma unroll
      for (int i = 0; i < $TILE; i += $THREADS / 8) {
        $N_copy(to_a + i * $PITCH_A, from, i < rows_left && own_k < left);
        from += $THREADS / 8 * p.k;
      }
      from = next_b;
#pragma unroll
      for (int i = 0; i < 32; i += $THREADS * 4 / $TILE) {
        $N_copy(to_b + i * $PITCH_B, from, has_column && i + own_depth < left);
        from += $THREADS * 4 / $TILE * p.n;
      }
      next_a += 32;
      next_b += 32 * p.n;
      left -= 32;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  float sums[2][$COLUMNS / 8][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < $COLUMNS / 8; ++j)
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
    const float* const from_b = stages + step % 4 * $STAGE + $TILE * $PITCH_A + 2 * q * $PITCH_B + wn + g;
#pragma unroll $HALVES
    for (int half = 0; half < 2; ++half) {
      float part[2][$COLUMNS / 8][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < $COLUMNS / 8; ++j)
#pragma unroll
          for (int r = 0; r < 4; ++r) part[i][j][r] = 0.0f;
#pragma unroll
      for (int k = half * 16; k < half * 16 + 16; k += 8) {
        unsigned high_a[2][4], low_a[2][4], high_b[$COLUMNS / 8][2], low_b[$COLUMNS / 8][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float2 x = *(const float2*)(from_a + i * 16 * $PITCH_A + k), y = *(const float2*)(from_a + (i * 16 + 8) * $PITCH_A + k);
          $N_split(x.x, high_a[i][0], low_a[i][0]);
          $N_split(y.x, high_a[i][1], low_a[i][1]);
          $N_split(x.y, high_a[i][2], low_a[i][2]);
          $N_split(y.y, high_a[i][3], low_a[i][3]);
        }
#pragma unroll
        for (int j = 0; j < $COLUMNS / 8; ++j) {
          $N_split(from_b[k * $PITCH_B + j * 8], high_b[j][0], low_b[j][0]);
          $N_split(from_b[(k + 1) * $PITCH_B + j * 8], high_b[j][1], low_b[j][1]);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < $COLUMNS / 8; ++j) $N_multiply(part[i][j], low_a[i], high_b[j]);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < $COLUMNS / 8; ++j) $N_multiply(part[i][j], high_a[i], low_b[j]);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < $COLUMNS / 8; ++j) $N_multiply(part[i][j], high_a[i], high_b[j]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < $COLUMNS / 8; ++j)
#pragma unroll
          for (int r = 0; r < 4; ++r) sums[i][j][r] += part[i][j][r];
    }
  }

#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < $COLUMNS / 8; ++j) {
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
        *(float2*)(c + m * p.n + n) = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
    }
  }
}
)";

}  // namespace

bool has_matmul_kernel(const MatmulShape& shape, const graph::Target& target) {
  constexpr double kWorth = 43;  // TFLOP/s; the library comes to 38 to 51 where a GPU is full
  if (!target.is_cuda() || target.level != 90 || shape.k % 4 != 0 || shape.n % 4 != 0) return false;
  const Tile& tile = tile_of(shape, target);
  return tile.count(shape) <= std::numeric_limits<std::int32_t>::max() && expected(tile, shape, target) >= kWorth;
}

Geometry matmul_geometry(const MatmulShape& shape, const graph::Target& target) {
  Geometry g;
  g.outer_tiles = tile_of(shape, target).count(shape);
  return g;
}

KernelSource render_matmul(const MatmulShape& shape, const graph::Target& target) {
  TARRY_ASSERT(has_matmul_kernel(shape, target));
  const Tile& tile = tile_of(shape, target);
  std::string kernel(kText);
  const auto number = [&](const char* what, int by) { replace_all(kernel, what, std::to_string(by)); };
  number("$PITCH_A", tile.pitch_a());
  number("$PITCH_B", tile.pitch_b());
  number("$STAGE", tile.stage());
  number("$TILE", tile.extent);
  number("$COLUMNS", tile.warp_columns);
  number("$THREADS", tile.threads());
  number("$BLOCKS", tile.resident);
  number("$HALVES", tile.extent == kSmall.extent ? 2 : 1);  // registers
  KernelSource source;
  source.sections = prelude_sections({});
  source.prelude = prelude_text(source.sections, Dialect::Cuda);
  source.entry = fmt::format("matmul_f32_tiles_{}", support::hash_bytes(source.prelude + kernel).hex().substr(0, 8));
  replace_all(kernel, "$N", source.entry);
  source.kernel = std::move(kernel);
  source.text = source.prelude + source.kernel;
  source.threads = tile.threads();
  source.shared_bytes = kStages * tile.stage() * 4;
  return source;
}

std::array<std::uint64_t, 8> matmul_parameters(const MatmulShape& s, const void* a, const void* b, const void* result) {
  const auto word = [](auto x) { return static_cast<std::uint64_t>(x); };
  const auto address = [](const void* p) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p)); };
  return {address(a),
          address(b),
          address(result),
          word(s.m),
          word(s.n),
          word(s.k),
          word(s.a_count == 1 ? 0 : s.m * s.k),
          word(s.b_count == 1 ? 0 : s.k * s.n)};
}

}  // namespace tarry::codegen
