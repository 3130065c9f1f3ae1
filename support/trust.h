// Who could have put there what a path leads to: owners and rights, asked of what is open and not of a name.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "support/directory.h"

namespace tarry::support {

/// Where a path leads: an open directory, and a name in it that is no link.
struct Place {
  Directory directory;
  std::string name;
};

/// The treatment of missing directories on the way.
enum class Missing : std::uint8_t { Leave, Make };

/// Why something was not opened.
struct Refusal {
  std::error_code error;  ///< what the system says; otherwise
  std::string reason;     ///< who could have written or replaced it
  [[nodiscard]] std::string text() const { return error ? error.message() : reason; }
};

/// Follows a path from the root, each directory and link by descriptor. nullopt where it ends before its last
/// name, or where anybody but this user and root could make it lead elsewhere.
std::optional<Place> find_place(const std::filesystem::path& path, Missing missing, Refusal& why);

/// Why others could replace what this user makes in a directory, or "".
std::string reason_to_avoid(const std::filesystem::path& directory);

/// True if an owner is this user, or root, who can do everything anyway.
bool is_trusted(uid_t owner);

/// Why other users can have written what is open, or can replace what is in it where it is a directory; "" where they
/// cannot.
std::string reason_to_distrust(const struct stat& status);

/// True where what is open lies on a volume that is mounted read-only.
bool is_immutable(int descriptor);

}  // namespace tarry::support
