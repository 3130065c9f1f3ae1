// A file at a path that a user names, written as any program writes it: through links, into pipes and devices, and with
// the owner, mode and further names that it had.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

namespace tarry::support {

class SavedFile {
 public:
  /// Looks at `path` and touches nothing.
  explicit SavedFile(const std::filesystem::path& path);
  SavedFile(const SavedFile&) = delete;
  SavedFile& operator=(const SavedFile&) = delete;
  ~SavedFile();

  /// True if it appears with commit(), and pieces may come in any order. Else writing replaces what is there, from the
  /// first byte on to the last: a new file cannot take the place of a pipe, of a device, of a file of another owner, of
  /// one with several names or rights beyond its mode, or where the directory is not writable.
  [[nodiscard]] bool appears_whole() const { return whole_; }
  std::error_code write(std::uint64_t offset, const void* data, std::size_t bytes);
  std::error_code commit();

 private:
  std::error_code open();
  std::error_code open_temporary();

  std::filesystem::path path_;  // what it is known as once every link is followed
  struct Rights {
    unsigned group, mode;
  };
  bool whole_ = false, opened_ = false;
  std::optional<Rights> rights_;     // of the file that is there
  std::filesystem::path temporary_;  // where it is until it is whole
  int descriptor_ = -1;
  std::uint64_t end_ = 0;  // of what was written, where it does not appear whole
};

}  // namespace tarry::support
