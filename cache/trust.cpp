// reason_to_refuse: by owner, rights and volume.
#include "cache/trust.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

namespace tarry::cache {

namespace {

std::string last_message() { return std::generic_category().message(errno); }

bool is_immutable(const struct statvfs& volume) { return (volume.f_flag & ST_RDONLY) != 0; }

std::string reason(const struct stat& status, Access access) {
  const bool ours = status.st_uid == ::geteuid() || (access == Access::ReadOnly && status.st_uid == 0);
  if (!ours) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users can write to it";
  return "";
}

}  // namespace

std::string reason_to_refuse(const std::filesystem::path& directory, Access access) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return last_message();
  if (!S_ISDIR(status.st_mode)) return "it is not a directory";
  struct statvfs volume {};
  if (access == Access::ReadOnly && ::statvfs(directory.c_str(), &volume) == 0 && is_immutable(volume)) return "";
  return reason(status, access);
}

std::string reason_to_refuse_file(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return last_message();
  struct statvfs volume {};
  if (::fstatvfs(descriptor, &volume) == 0 && is_immutable(volume)) return "";
  return reason(status, Access::ReadOnly);
}

}  // namespace tarry::cache
