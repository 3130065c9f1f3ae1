// The files of a cache directory. Other processes may add and remove files at the same moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "support/directory.h"

namespace tarry::cache {

enum class FileKind : std::uint8_t { Entry, Temporary, Lock };

struct CacheFile {
  std::string bucket, name;  ///< "ab" and the name in it
  FileKind kind{};
  std::uint64_t size = 0;
  std::chrono::microseconds used{};               ///< since 1970
  const support::Directory* directory = nullptr;  ///< that it is in, for the time of the call
};

using FileVisitor = std::function<void(const CacheFile&)>;

/// Calls `visit` for the entries, temporaries and locks below `root`, as far as they can be read; other files are not
/// ours. Follows no links.
void walk(const support::Directory& root, const FileVisitor& visit);
void walk(const std::filesystem::path& root, const FileVisitor& visit);

/// True for names that a directory of entries may have.
bool is_bucket_name(const std::string& name);
/// The same for one bucket.
void walk_bucket(const support::Directory& root, const std::string& bucket, const FileVisitor& visit);

/// Removes temporaries and locks that a killed process left below `root`; true where `file` was one.
bool remove_stale(const std::filesystem::path& root, const CacheFile& file);

}  // namespace tarry::cache
