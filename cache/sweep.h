// The size of a directory of entries, and how it is held below a limit.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "support/directory.h"

namespace tarry::cache {

struct Swept {
  std::int64_t removed = 0;  ///< entries
  std::uint64_t left = 0;    ///< bytes of those that stay
};

/// Removes least recently used entries until the others fit into `capacity` bytes, and temporaries and locks that a
/// killed process left. Other files are not touched and not counted. `path` names `root`.
Swept sweep(const support::Directory& root, const std::filesystem::path& path, std::uint64_t capacity);
/// The same of the directory at `path`; returns the number of entries removed.
std::int64_t sweep(const std::filesystem::path& path, std::uint64_t capacity);

/// Counts the bytes of all entries and temporaries. Of a directory that has not changed since the last time it looks at
/// no file, so counting before each write costs a call per directory.
class Census {
 public:
  std::uint64_t count(const support::Directory& root);

 private:
  struct Bucket {
    timespec changed{};
    bool settled = false;  ///< a change after the last look would have shown in `changed`
    std::uint64_t bytes = 0;
  };
  std::map<std::string, Bucket> buckets_;
};

}  // namespace tarry::cache
