// Which directories and files code may be loaded from: it is executed, so nobody else may have put it there.
#pragma once

#include <optional>
#include <string>

#include "cache/layer.h"
#include "support/trust.h"

namespace tarry::cache {

/// Why what is open must not hold our code: somebody else could have written it. "" where it may. What is written
/// belongs to this user; what is only read may be root's too, or anybody's on a volume that is mounted read-only.
std::string reason_to_refuse(int descriptor, Access access);
/// The same where its status is known.
std::string reason_to_refuse(const struct stat& status, int descriptor, Access access);

/// The directory at `path`, looked at on all of the way. nullopt where there is none or it must not be used.
/// ReadWrite: it and its parents are made where they are missing.
std::optional<support::Directory> open_directory(const std::filesystem::path& path, Access access,
                                                 support::Refusal& why);

/// The same of a bundle.
std::optional<support::OpenFile> open_bundle_file(const std::filesystem::path& path, support::Refusal& why);

}  // namespace tarry::cache
