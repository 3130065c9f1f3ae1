// One directory of cached kernels, "ab/ab01...ef.kernel" by hash. Safe for any number of processes without locks: files
// appear by rename, whatever cannot be used is a miss, and nothing here throws for a reason of the file system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>

#include "cache/entry_format.h"
#include "support/hash.h"

namespace tarry::cache {

enum class Access { ReadWrite, ReadOnly };

class DiskLayer {
 public:
  /// `capacity` in bytes bounds a ReadWrite layer; 0 is no limit.
  DiskLayer(std::filesystem::path root, Access access, std::uint64_t capacity = 0);

  /// The entry of this key material. Damaged files met on the way are removed from a ReadWrite layer.
  std::optional<Entry> read(const std::string& material);
  /// Removes the entry: its image did not load. ReadOnly: does nothing.
  void discard(const std::string& material);

  struct Written {
    std::error_code error;
    std::int64_t evicted = 0;  ///< entries removed to stay below the capacity
  };
  Written write(const Entry& entry);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] Access access() const { return access_; }

 private:
  [[nodiscard]] std::filesystem::path path(const support::Hash128& hash, int slot) const;
  std::error_code write_file(const std::filesystem::path& file, const std::string& bytes);
  std::int64_t evict_after(std::uint64_t bytes_written);

  std::filesystem::path root_;
  Access access_;
  std::uint64_t capacity_;
  std::mutex write_mutex_;  // two threads must not choose the same slot
  std::uint64_t unswept_bytes_;  ///< written by us since the last sweep; guarded by write_mutex_
};

/// Makes `directory` (mode 0700) and its parents.
std::error_code make_private_directory(const std::filesystem::path& directory);

/// Why code in `directory` must not be executed: somebody else could have put it there. "" where it is safe.
std::string reason_to_refuse(const std::filesystem::path& directory, Access access);

/// Removes least recently used entries until the others fit into `capacity` bytes, and temporaries that a killed
/// process left. Other files are not touched and not counted. Returns the number of entries removed.
std::int64_t sweep(const std::filesystem::path& root, std::uint64_t capacity);

}  // namespace tarry::cache
