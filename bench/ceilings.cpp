#include "bench/ceilings.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench/timing.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/parallel.h"

namespace bench {
namespace {

namespace ta = tarry;

constexpr const char* kKernels = R"(
typedef unsigned long long u64;
struct alignas(16) F4 { float v[4]; };
struct P { const F4* from; F4* to; u64 vectors; u64 unused; };
extern "C" __global__ void __launch_bounds__(256) ceiling_copy(const __grid_constant__ P p) {
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  if (i < p.vectors) p.to[i] = p.from[i];
}
extern "C" __global__ void __launch_bounds__(256) ceiling_write(const __grid_constant__ P p) {
  const u64 base = (u64)blockIdx.x * 1024 + threadIdx.x;
  const float value = (float)blockIdx.x;
  const F4 x = {{value, value, value, value}};
#pragma unroll
  for (int u = 0; u < 4; ++u) p.to[base + u * 256] = x;
}
// Eight 16-byte loads in flight per thread; the sum only keeps the loads alive.
extern "C" __global__ void __launch_bounds__(512) ceiling_read(const __grid_constant__ P p) {
  const u64 base = (u64)blockIdx.x * 512 * 32 + threadIdx.x;
  float s = 0;
  for (int r = 0; r < 4; ++r) {
    F4 x[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) x[u] = p.from[base + (r * 8 + u) * 512];
#pragma unroll
    for (int u = 0; u < 8; ++u) s += (x[u].v[0] + x[u].v[1]) + (x[u].v[2] + x[u].v[3]);
  }
  if (s == 12345.678f) p.to[0].v[0] = s;
}
)";

Ceilings of_gpu() {
  ta::runtime::Backend& b = ta::runtime::backend(ta::cuda(0));
  const std::size_t bytes = std::size_t{1} << 30;
  const auto from = b.allocate(bytes), to = b.allocate(bytes);
  const std::vector<float> ones(bytes / 4, 1.0F);
  b.upload(*from, ones.data(), bytes);
  const auto image = std::make_shared<const std::string>(
      ta::runtime::nvrtc_compile(kKernels, b.target(), ta::graph::Mode::Strict).bytes);
  const auto rate = [&](const char* entry, int threads, std::int64_t vectors_per_block, double moved) {
    ta::cache::KernelRequest request;
    request.entry = entry;
    const auto executable = b.load(request, {image, "bench", ""});
    ta::codegen::KernelSource source;
    source.entry = entry;
    source.threads = threads;
    ta::codegen::Geometry geometry;
    geometry.outer_tiles = static_cast<std::int64_t>(bytes / 16) / vectors_per_block;
    const std::vector<std::uint64_t> words{reinterpret_cast<std::uint64_t>(from->data),
                                           reinterpret_cast<std::uint64_t>(to->data), bytes / 16, 0};
    const auto launch = [&] { b.launch({executable.get(), &source, words, geometry}); };
    return moved / measure(launch, [&] { b.synchronize(); }).back_to_back;
  };
  const auto once = static_cast<double>(bytes);
  return {rate("ceiling_copy", 256, 256, 2 * once), rate("ceiling_read", 512, 512 * 32, once),
          rate("ceiling_write", 256, 1024, once)};
}

#if defined(__x86_64__)
/// Lines of `from`, or of one value where it is null, stored past the caches: without it memory is read before it is
/// written.
__attribute__((target("avx"))) void store_lines(char* to, const char* from, std::size_t bytes) {
  const __m256i value = _mm256_set1_epi32(3);
  for (std::size_t at = 0; at < bytes; at += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at),
                        from == nullptr ? value : _mm256_load_si256(reinterpret_cast<const __m256i*>(from + at)));
  _mm_sfence();
}
/// Asks for memory 4 KiB ahead: with 16 bytes a load a core has too much to do to read as fast as memory gives.
__attribute__((target("avx2"))) std::uint64_t read_lines(const char* from, std::size_t bytes) {
  constexpr int kVectors = 8;
  __m256i sum[kVectors] = {};
  for (std::size_t at = 0; at < bytes; at += 32 * kVectors) {
    for (int k = 0; k < kVectors; k += 2) _mm_prefetch(from + at + 4096 + 32 * k, _MM_HINT_T0);
    for (int k = 0; k < kVectors; ++k)
      sum[k] = _mm256_add_epi64(sum[k], _mm256_load_si256(reinterpret_cast<const __m256i*>(from + at + 32 * k)));
  }
  for (int k = 1; k < kVectors; ++k) sum[0] = _mm256_add_epi64(sum[0], sum[k]);
  std::uint64_t words[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), sum[0]);
  return std::accumulate(words, words + 4, std::uint64_t{0});
}
bool has_lines() { return __builtin_cpu_supports("avx2"); }
#else
std::uint64_t read_lines(const char*, std::size_t) { return 0; }
void store_lines(char*, const char*, std::size_t) {}
bool has_lines() { return false; }
#endif

/// The better of plain loops and those above; all cores, on memory as arrays have it.
Ceilings of_cpu() {
  ta::runtime::Backend& b = ta::runtime::backend(ta::cpu);
  const std::size_t bytes = std::size_t{1} << 28;
  const auto from_buffer = b.allocate(bytes), to_buffer = b.allocate(bytes);
  char *const from = static_cast<char*>(from_buffer->data), *const to = static_cast<char*>(to_buffer->data);
  std::memset(from, 1, bytes);
  std::memset(to, 2, bytes);
  const auto rate = [&](double moved, const std::function<void(std::size_t at, std::size_t size)>& piece) {
    constexpr std::int64_t kPiece = std::int64_t{1} << 18;
    const auto call = [&] {
      ta::runtime::parallel_for(static_cast<std::int64_t>(bytes) / kPiece, 1, [&](std::int64_t lo, std::int64_t hi) {
        piece(static_cast<std::size_t>(lo * kPiece), static_cast<std::size_t>((hi - lo) * kPiece));
      });
    };
    return moved / measure(call, [] {}).back_to_back;
  };
  const auto once = static_cast<double>(bytes);
  Ceilings c;
  c.copy = rate(2 * once, [&](std::size_t at, std::size_t size) { std::memcpy(to + at, from + at, size); });
  c.write = rate(once, [&](std::size_t at, std::size_t size) { std::memset(to + at, 3, size); });
  if (has_lines()) {
    c.copy = std::max(c.copy,
                      rate(2 * once, [&](std::size_t at, std::size_t size) { store_lines(to + at, from + at, size); }));
    c.write =
        std::max(c.write, rate(once, [&](std::size_t at, std::size_t size) { store_lines(to + at, nullptr, size); }));
  }
  std::atomic<std::uint64_t> total{0};
  c.read = rate(once, [&](std::size_t at, std::size_t size) {
    std::uint64_t s[32] = {};
    for (const auto *word = reinterpret_cast<const std::uint64_t*>(from + at), *const end = word + size / 8; word < end;
         word += 32)
      for (std::size_t k = 0; k < 32; ++k) s[k] += word[k];
    total += std::accumulate(s, s + 32, std::uint64_t{0});
  });
  if (has_lines())
    c.read =
        std::max(c.read, rate(once, [&](std::size_t at, std::size_t size) { total += read_lines(from + at, size); }));
  return total == 0 ? Ceilings{} : c;  // the sum is needed, so the loads are
}

}  // namespace

Ceilings measure_ceilings(bool gpu) {
  const Ceilings c = gpu ? of_gpu() : of_cpu();
  ta::runtime::backend(gpu ? ta::cuda(0) : ta::cpu).trim();
  return c;
}

}  // namespace bench
