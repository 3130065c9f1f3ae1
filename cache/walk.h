// The files of a cache directory. Other processes may add and remove files at the same moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace tarry::cache {

enum class FileKind : std::uint8_t { Entry, Temporary, Lock };

struct CacheFile {
  std::filesystem::path path;
  FileKind kind{};
  std::uint64_t size = 0;
  std::filesystem::file_time_type used;
};

/// Calls `visit` for the entries, temporaries and locks below `root`, as far as they can be read; other files are not ours.
void walk(const std::filesystem::path& root, const std::function<void(const CacheFile&)>& visit);

/// Removes temporaries and locks that a killed process left; true where `file` was one.
bool remove_stale(const CacheFile& file);

}  // namespace tarry::cache
