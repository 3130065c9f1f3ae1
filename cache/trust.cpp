// reason_to_refuse and open_directory: by owner, rights and volume.
#include "cache/trust.h"

#include <cerrno>

#include <unistd.h>

namespace tarry::cache {

std::string reason_to_refuse(int descriptor, Access access) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::generic_category().message(errno);
  return reason_to_refuse(status, descriptor, access);
}

std::string reason_to_refuse(const struct stat& status, int descriptor, Access access) {
  std::string reason = support::reason_to_distrust(status);
  if (access == Access::ReadOnly) return reason.empty() || support::is_immutable(descriptor) ? "" : reason;
  // Root's directory in our place is nobody's danger, but neither ours to fill.
  return reason.empty() && status.st_uid != ::geteuid() ? "it belongs to another user" : reason;
}

std::optional<support::Directory> open_directory(const std::filesystem::path& path, Access access,
                                                 support::Refusal& why) {
  const bool make = access == Access::ReadWrite;
  const auto place = support::find_place(path, make ? support::Missing::Make : support::Missing::Leave, why);
  if (!place) return std::nullopt;
  constexpr mode_t kPrivate = 0700;
  std::error_code making;
  if (make) making = place->directory.make_directory(place->name, kPrivate);
  std::optional<support::Directory> found = place->directory.open_directory(place->name, why.error);
  if (!found && making) why.error = making;
  if (found) why.reason = reason_to_refuse(found->opened(), found->descriptor(), access);
  return why.reason.empty() ? std::move(found) : std::nullopt;
}

std::optional<support::OpenFile> open_bundle_file(const std::filesystem::path& path, support::Refusal& why) {
  const auto place = support::find_place(path, support::Missing::Leave, why);
  if (!place) return std::nullopt;
  std::optional<support::OpenFile> file = place->directory.open_file(place->name, why.error);
  if (!file && !why.error) why.reason = "it is no regular file";
  if (file) why.reason = reason_to_refuse(file->descriptor(), Access::ReadOnly);
  return why.reason.empty() ? std::move(file) : std::nullopt;
}

}  // namespace tarry::cache
