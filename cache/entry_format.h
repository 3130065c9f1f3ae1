// The file of one cached kernel: everything needed to load it and to know that it is the right one.
//
//   magic "TARRYKRN" | format version u32 | sizes of the five parts u64 each | the parts | XXH3-128 of all before
//
// Integers are little-endian. The checksum finds damage of any kind; it is no protection against an attacker, which
// the rights of the directory are (DiskLayer).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/file.h"

namespace tarry::cache {

struct Entry {
  std::string material;  ///< KernelKey::material(), holds the source
  std::string compiler;
  std::string name;  ///< symbol of the kernel in the image
  std::string log;   ///< what the compiler said: decisions taken from it must repeat on a hit
  std::string image;
};

/// More than any kernel takes; what is larger is no entry, and nobody reads it to find out.
inline constexpr std::uint64_t kMostEntryBytes = std::uint64_t{64} << 20;

std::string encode(const Entry& entry);
/// nullopt for every file that encode did not make with this format version; then `defect` says what is wrong with it.
std::optional<Entry> decode(std::string_view bytes, std::string* defect = nullptr);
/// The same of a file, which is read only as far as its head agrees with its size.
std::optional<Entry> read_entry(const support::OpenFile& file, std::string* defect = nullptr);

}  // namespace tarry::cache
