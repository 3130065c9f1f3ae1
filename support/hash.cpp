// hash_bytes, checksum_bytes: XXH3-128, inlined from its header so that nothing is linked.
#include "support/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/// Bits of an identity hash that are kept. A build with 8 must still give right results: nothing trusts a hash alone.
#ifndef TARRY_HASH_BITS
#define TARRY_HASH_BITS 128
#endif
static_assert(TARRY_HASH_BITS >= 1 && TARRY_HASH_BITS <= 128);

namespace tarry::support {

namespace {

constexpr std::uint64_t low_bits(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count < 0 ? 0 : count)) - 1;
}

}  // namespace

std::string Hash128::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    const auto shift = static_cast<int>(60 - 4 * i);
    text[i] = kDigits[(hi >> shift) & 15];
    text[16 + i] = kDigits[(lo >> shift) & 15];
  }
  return text;
}

Hash128 checksum_bytes(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Hash128 hash_bytes(const void* data, std::size_t size) {
  const XXH128_hash_t h = XXH3_128bits(data, size);
  return {h.low64 & low_bits(TARRY_HASH_BITS), h.high64 & low_bits(TARRY_HASH_BITS - 64)};
}

}  // namespace tarry::support
