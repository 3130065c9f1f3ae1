// Integers, strings and checksums as the files of the cache hold them: little-endian, sizes checked before use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/hash.h"

namespace tarry::cache {

inline constexpr std::size_t kHashSize = 16;  ///< bytes of a hash or checksum in a file

inline void append_integer(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
}

inline void append_hash(std::string& bytes, const support::Hash128& hash) {
  append_integer(bytes, hash.lo, 8);
  append_integer(bytes, hash.hi, 8);
}

/// Cuts pieces off the front; once a piece is missing, every later one is too.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::string_view> take(std::uint64_t size) {
    if (size > bytes_.size()) {
      bytes_ = {};
      good_ = false;
    }
    if (!good_) return std::nullopt;
    const std::string_view piece = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(piece.size());
    return piece;
  }
  /// 0 where it is missing: ask good() after reading all of them.
  std::uint64_t integer(std::size_t size) {
    const std::string_view piece = take(size).value_or(std::string_view{});
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < piece.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(piece[i])} << (8 * i);
    return value;
  }
  support::Hash128 hash() {
    const std::uint64_t lo = integer(8);
    return {lo, integer(8)};
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

/// True where `bytes` end in the checksum of all before it.
inline bool has_checksum(std::string_view bytes) {
  if (bytes.size() < kHashSize) return false;
  const std::string_view body = bytes.substr(0, bytes.size() - kHashSize);
  return Reader(bytes.substr(body.size())).hash() == support::checksum_bytes(body);
}

inline void append_checksum(std::string& bytes) { append_hash(bytes, support::checksum_bytes(bytes)); }

}  // namespace tarry::cache
