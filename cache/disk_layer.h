// One directory of cached kernels, "ab/ab01...ef.kernel" by hash. Safe for any number of processes without locks: files
// appear by rename, whatever cannot be used is a miss, and nothing here throws for a reason of the file system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>

#include "cache/layer.h"
#include "support/hash.h"

namespace tarry::cache {

class DiskLayer final : public Layer {
 public:
  /// `capacity` in bytes bounds a ReadWrite layer; 0 is no limit.
  DiskLayer(std::filesystem::path root, Access access, std::uint64_t capacity = 0);

  /// Damaged files met on the way are removed from a ReadWrite layer.
  std::optional<Entry> read(const std::string& material) override;
  void discard(const std::string& material) override;
  Written write(const Entry& entry) override;
  void visit(const Visitor& visitor) override;
  [[nodiscard]] std::filesystem::path lock_file(const std::string& material) const override;
  [[nodiscard]] Contents contents() const override;
  [[nodiscard]] Access access() const override { return access_; }
  [[nodiscard]] const std::filesystem::path& path() const override { return root_; }

 private:
  [[nodiscard]] std::filesystem::path path_of(const support::Hash128& hash, int slot) const;
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

/// Removes least recently used entries until the others fit into `capacity` bytes, and temporaries and locks that a
/// killed process left. Other files are not touched and not counted. Returns the number of entries removed.
std::int64_t sweep(const std::filesystem::path& root, std::uint64_t capacity);

}  // namespace tarry::cache
