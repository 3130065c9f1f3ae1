// Batcher's merge exchange (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M), which sorts any
// number of elements by compare-exchanges that do not depend on their values.
#include "runtime/device/cpu/network.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace tarry::runtime {

#if defined(__x86_64__)

namespace {

constexpr std::size_t kVectorBytes = 32;

template <class Word>
struct Vector {
  typedef Word Type __attribute__((vector_size(kVectorBytes)));
};

template <class Word>
[[gnu::always_inline]] inline void merge_exchange(Word* words, std::int64_t n) {
  using V = typename Vector<Word>::Type;
  constexpr std::int64_t kVectors = kNetworkBytes / kVectorBytes;
  V* const row = reinterpret_cast<V*>(words);
  const auto top = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)) / 2);
  for (std::int64_t p = top; p > 0; p /= 2) {
    std::int64_t apart = p, first = 0;
    for (std::int64_t q = top;; q /= 2) {
      for (std::int64_t block = first; block < n - apart; block += 2 * p) {
        const std::int64_t until = std::min(block + p, n - apart);
        for (std::int64_t i = block * kVectors; i < until * kVectors; ++i) {
          V *const low = row + i, *const high = low + apart * kVectors;
          const V a = *low, b = *high;
          *low = a < b ? a : b;
          *high = a < b ? b : a;
        }
      }
      if (q == p) break;
      apart = q - p;
      first = p;
    }
  }
}

}  // namespace

bool has_network() {
  static const bool has_instructions = __builtin_cpu_supports("avx2");
  return has_instructions;
}

[[gnu::target("avx2")]] void sort_in_network(std::int32_t* words, std::int64_t n) { merge_exchange(words, n); }
[[gnu::target("avx2")]] void sort_in_network(std::int64_t* words, std::int64_t n) { merge_exchange(words, n); }

#else

bool has_network() { return false; }
void sort_in_network(std::int32_t*, std::int64_t) { TARRY_ASSERT(false); }
void sort_in_network(std::int64_t*, std::int64_t) { TARRY_ASSERT(false); }

#endif

}  // namespace tarry::runtime
