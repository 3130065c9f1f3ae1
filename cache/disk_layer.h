// One directory of cached kernels, "ab/ab01...ef.kernel" by hash. Safe for any number of processes without locks: files
// appear by rename, whatever cannot be used is a miss, and nothing here throws for a reason of the file system. Owner
// and rights of directories and files are asked again at each use, of what is open.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>

#include "cache/layer.h"
#include "cache/sweep.h"
#include "support/fork.h"
#include "support/hash.h"
#include "support/trust.h"

namespace tarry::cache {

class DiskLayer final : public Layer {
 public:
  /// `capacity` in bytes bounds a ReadWrite layer; 0 is no limit.
  DiskLayer(std::filesystem::path root, Access access, std::uint64_t capacity = 0);
  /// The same of a directory that is open.
  DiskLayer(std::filesystem::path root, support::Directory directory, Access access, std::uint64_t capacity);

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
  using DirectoryPtr = std::shared_ptr<const support::Directory>;
  /// Null where it cannot or must not be used.
  DirectoryPtr open_root(support::Refusal& why) const;
  std::optional<support::Directory> open_bucket(const support::Directory& root, const support::Hash128& hash,
                                                support::Missing missing, support::Refusal& why) const;
  std::optional<Entry> read_entry_file(const support::Directory& bucket, const std::string& name,
                                       std::error_code& error);
  Written write_file(const support::Directory& root, const support::Directory& bucket, const std::string& name,
                     const std::string& bytes);
  bool make_room(const support::Directory& root, std::uint64_t bytes, Written& written);
  void warn(const support::Refusal& why) const;

  std::filesystem::path root_;
  Access access_;
  std::uint64_t capacity_;
  mutable support::Mutex open_mutex_;
  mutable DirectoryPtr open_;  // stays open: whoever takes its place at its path is not read
  mutable std::atomic<bool> warned_{false};

  support::Mutex write_mutex_;  // two threads must not choose the same slot; guards all below
  Census census_;
  bool swept_ = false;    // the first write sweeps: the directory may be over a new, lower limit
  bool stalled_ = false;  // the last lock was waited for in vain
};

}  // namespace tarry::cache
