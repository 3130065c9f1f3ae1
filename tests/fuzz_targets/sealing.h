// Checksums that are right again after a mutation.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "cache/bytes.h"
#include "support/hash.h"

namespace tarry::test {

/// Puts the checksum of [from, to) at `to`, where there is room.
inline void seal(std::string& bytes, std::size_t from, std::size_t to) {
  if (to < from || to > bytes.size() || bytes.size() - to < cache::kHashSize) return;
  std::string checked = bytes.substr(from, to - from);
  cache::append_checksum(checked);
  bytes.replace(to, cache::kHashSize, checked.substr(checked.size() - cache::kHashSize));
}

/// The first byte of an input says what to seal.
inline int flags_of(std::string_view& input) {
  if (input.empty()) return 0;
  const int flags = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return flags;
}

}  // namespace tarry::test
