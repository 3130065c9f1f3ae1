// UTF-8, read byte by byte.
#include "support/printable.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace tarry::support {
namespace {

/// Bytes of the character that `text` begins with where it is well formed and no control character; else 0.
std::size_t shown(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000, control = code < 0xa0;
  return code >= kLeast[size] && code <= 0x10ffff && !surrogate && !control ? size : 0;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t size = shown(text);
    if (size == 0 && kept.find(text.front()) != std::string_view::npos) size = 1;
    if (size > 0) {
      out += text.substr(0, size);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      size = 1;
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace tarry::support
