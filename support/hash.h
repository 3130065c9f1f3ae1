// 128-bit hashes of bytes (XXH3). A hash is a filter: whoever finds an equal one compares the bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::support {

struct Hash128 {
  std::uint64_t lo = 0, hi = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  [[nodiscard]] std::string hex() const;  ///< 32 lower-case digits, hi first
};

Hash128 hash_bytes(const void* data, std::size_t size);
inline Hash128 hash_bytes(std::string_view s) { return hash_bytes(s.data(), s.size()); }

/// Finds damage; never an identity. Keeps all 128 bits where a build shortens the identity hashes (TARRY_HASH_BITS).
Hash128 checksum_bytes(std::string_view bytes);

struct Hash128Hasher {
  std::size_t operator()(const Hash128& h) const noexcept { return h.lo; }
};

}  // namespace tarry::support
