// encode and decode of cache entries. decode trusts no size before it has checked it.
#include "cache/entry_format.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "cache/bytes.h"
#include "cache/kernel_key.h"

namespace tarry::cache {

namespace {

constexpr std::string_view kEntryMagic = "TARRYKRN";

constexpr std::array<std::string Entry::*, 5> kParts{&Entry::material, &Entry::compiler, &Entry::name, &Entry::log,
                                                     &Entry::image};

/// Why `bytes` are no entry, as far as its head and checksum tell; "" where they may be one.
std::string defect_of(std::string_view bytes, Reader& reader) {
  if (bytes.substr(0, kEntryMagic.size()) != kEntryMagic.substr(0, bytes.size()))
    return "it is no kernel of this library";
  if (bytes.size() < kEntryMagic.size() + 4 + kHashSize) return "it is cut off";
  reader.take(kEntryMagic.size());
  const std::uint64_t version = reader.integer(4);
  if (!has_checksum(bytes)) return "its checksum is wrong";
  if (version == kFormatVersion) return "";
  return "it has format version " + std::to_string(version) + ", not " + std::to_string(kFormatVersion);
}

/// True if a file of `size` bytes that begins with `head` has the parts that it names.
bool adds_up(std::string_view head, std::uint64_t size) {
  Reader reader(head);
  reader.take(kEntryMagic.size() + 4);
  std::uint64_t left = size - kHashSize - kEntryMagic.size() - 4 - 8 * kParts.size();
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const std::uint64_t part = reader.integer(8);
    if (part > left) return false;
    left -= part;
  }
  return left == 0;
}

}  // namespace

std::string encode(const Entry& entry) {
  std::string bytes(kEntryMagic);
  append_integer(bytes, kFormatVersion, 4);
  for (const auto part : kParts) append_integer(bytes, (entry.*part).size(), 8);
  for (const auto part : kParts) bytes += entry.*part;
  append_checksum(bytes);
  return bytes;
}

std::optional<Entry> decode(std::string_view bytes, std::string* defect) {
  Reader reader(bytes.substr(0, bytes.size() - std::min(bytes.size(), kHashSize)));
  std::string found = defect_of(bytes, reader);
  Entry entry;
  if (found.empty()) {
    std::array<std::uint64_t, kParts.size()> sizes{};
    for (std::uint64_t& size : sizes) size = reader.integer(8);
    for (std::size_t i = 0; i < kParts.size(); ++i)
      entry.*kParts[i] = reader.take(sizes[i]).value_or(std::string_view{});
    if (reader.at_end()) return entry;
    found = "its sizes do not add up";
  }
  if (defect != nullptr) *defect = std::move(found);
  return std::nullopt;
}

std::optional<Entry> read_entry(const support::OpenFile& file, std::string* defect) {
  constexpr std::uint64_t kAtOnce = 65536;  // most entries whole
  const auto fail = [&](const char* what) -> std::optional<Entry> {
    if (defect != nullptr) *defect = what;
    return std::nullopt;
  };
  if (file.size() > kMostEntryBytes) return fail("it is larger than any kernel");
  std::optional<std::string> bytes = file.read(0, std::min(file.size(), kAtOnce));
  if (!bytes) return fail("it cannot be read");
  if (file.size() > kAtOnce) {
    if (!adds_up(*bytes, file.size())) return fail("its sizes do not add up");
    const std::optional<std::string> rest = file.read(kAtOnce, file.size() - kAtOnce);
    if (!rest) return fail("it cannot be read");
    *bytes += *rest;
  }
  return decode(*bytes, defect);
}

}  // namespace tarry::cache
