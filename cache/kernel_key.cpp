// KernelKey: the canonical bytes that identify a kernel.
#include "cache/kernel_cache.h"

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

support::Hash128 KernelKey::hash() const { return support::hash_bytes(material()); }

}  // namespace tarry::cache
