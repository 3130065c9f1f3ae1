// KernelKey: everything that can change a kernel's binary, as canonical bytes and as people write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/hash.h"

namespace tarry::cache {

inline constexpr std::uint32_t kFormatVersion = 1;

/// Everything that can change a binary. Stored with the entry and compared, not only hashed.
struct KernelKey {
  std::string text;                            ///< complete source of the kernel
  std::string options;                         ///< compiler options
  std::string target;                          ///< "sm_90", "x86-64-v3"
  std::string mode;                            ///< "strict", "relaxed"
  [[nodiscard]] std::string material() const;  ///< canonical bytes of all of it and the format version
  [[nodiscard]] support::Hash128 hash() const;
};

/// The contents of KernelKey::material().
struct KeyFields {
  std::string_view format, target, mode, options, text;
};
/// The key as people write it: 32 hexadecimal digits, the hash of the material.
std::string key_of(std::string_view material);
/// Views into `material`; nullopt for bytes that no version of material() made.
std::optional<KeyFields> parse_material(std::string_view material);

}  // namespace tarry::cache
