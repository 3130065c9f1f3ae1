// KernelKey: the canonical bytes that identify a kernel, and back.
#include <charconv>

#include "cache/kernel_key.h"

namespace tarry::cache {

namespace {

/// Name, length, value: no value can imitate another field, and a dump stays readable.
void append_field(std::string& bytes, const char* name, const std::string& value) {
  bytes += name;
  bytes += ' ';
  bytes += std::to_string(value.size());
  bytes += '\n';
  bytes += value;
  bytes += '\n';
}

/// The value of the field that `bytes` begin with, which is cut off; nullopt where it is another field or cut short.
std::optional<std::string_view> take_field(std::string_view& bytes, std::string_view name) {
  const std::size_t line = bytes.find('\n');
  if (line == std::string_view::npos || !bytes.starts_with(name) || line <= name.size() || bytes[name.size()] != ' ') {
    return std::nullopt;
  }
  const std::string_view digits = bytes.substr(name.size() + 1, line - name.size() - 1);
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const std::string_view rest = bytes.substr(line + 1);
  if (error != std::errc{} || end != digits.data() + digits.size() || size >= rest.size() || rest[size] != '\n') {
    return std::nullopt;
  }
  bytes = rest.substr(size + 1);
  return rest.substr(0, size);
}

}  // namespace

std::string KernelKey::material() const {
  std::string bytes;
  bytes.reserve(text.size() + options.size() + target.size() + mode.size() + 96);
  append_field(bytes, "format", std::to_string(kFormatVersion));
  append_field(bytes, "target", target);
  append_field(bytes, "mode", mode);
  append_field(bytes, "options", options);
  append_field(bytes, "text", text);
  return bytes;
}

std::optional<KeyFields> parse_material(std::string_view material) {
  const auto format = take_field(material, "format"), target = take_field(material, "target");
  const auto mode = take_field(material, "mode"), options = take_field(material, "options");
  const auto text = take_field(material, "text");
  if (!format || !target || !mode || !options || !text || !material.empty()) return std::nullopt;
  return KeyFields{*format, *target, *mode, *options, *text};
}

std::string key_of(std::string_view material) { return support::hash_bytes(material).hex(); }

support::Hash128 KernelKey::hash() const { return support::hash_bytes(material()); }

}  // namespace tarry::cache
