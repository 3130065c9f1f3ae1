// encode and decode of cache entries. decode trusts no size before it has checked it.
#include "cache/entry_format.h"

#include <array>
#include <cstdint>

#include "cache/kernel_cache.h"
#include "support/hash.h"

namespace tarry::cache {

namespace {

constexpr std::string_view kMagic = "TARRYKRN";
constexpr std::size_t kChecksumSize = 16;

constexpr std::array<std::string Entry::*, 5> kParts{&Entry::material, &Entry::compiler, &Entry::name, &Entry::log,
                                                     &Entry::image};

void append_integer(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
}

std::string checksum(std::string_view bytes) {
  const support::Hash128 sum = support::checksum_bytes(bytes);
  std::string text;
  append_integer(text, sum.lo, 8);
  append_integer(text, sum.hi, 8);
  return text;
}

/// Cuts pieces off the front; once a piece is missing, every later one is too.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::optional<std::string_view> take(std::uint64_t size) {
    if (size > bytes_.size()) return std::nullopt;
    const std::string_view piece = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return piece;
  }
  std::optional<std::uint64_t> integer(std::size_t size) {
    const auto piece = take(size);
    if (!piece) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>((*piece)[i])} << (8 * i);
    return value;
  }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
 private:
  std::string_view bytes_;
};

}  // namespace

std::string encode(const Entry& entry) {
  std::string bytes(kMagic);
  append_integer(bytes, kFormatVersion, 4);
  for (const auto part : kParts) append_integer(bytes, (entry.*part).size(), 8);
  for (const auto part : kParts) bytes += entry.*part;
  bytes += checksum(bytes);
  return bytes;
}

std::optional<Entry> decode(std::string_view bytes) {
  if (bytes.size() < kChecksumSize) return std::nullopt;
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksumSize);
  Reader reader(body);
  if (reader.take(kMagic.size()) != kMagic || reader.integer(4) != kFormatVersion) return std::nullopt;
  if (checksum(body) != bytes.substr(body.size())) return std::nullopt;
  std::array<std::uint64_t, kParts.size()> sizes{};
  for (std::uint64_t& size : sizes) {
    const auto value = reader.integer(8);
    if (!value) return std::nullopt;
    size = *value;
  }
  Entry entry;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const auto part = reader.take(sizes[i]);
    if (!part) return std::nullopt;
    entry.*kParts[i] = *part;
  }
  if (!reader.at_end()) return std::nullopt;
  return entry;
}

}  // namespace tarry::cache
