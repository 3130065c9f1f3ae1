// Lines of memory that are written past the caches: a plain store reads its line first.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tarry::runtime {

/// Bytes of a line, to which both addresses are aligned.
inline constexpr std::size_t kLineBytes = 64;

template <std::size_t kBytes>
void store_lines(void* to, const void* from) {
  static_assert(kBytes % kLineBytes == 0);
#if defined(__x86_64__)
  auto* const t = static_cast<__m128i*>(to);
  const auto* const f = static_cast<const __m128i*>(from);
  for (std::size_t k = 0; k < kBytes / sizeof(__m128i); ++k) _mm_stream_si128(t + k, _mm_load_si128(f + k));
#else
  std::memcpy(to, from, kBytes);
#endif
}

/// Other threads see the lines that were stored before, once they know of this.
inline void finish_lines() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace tarry::runtime
