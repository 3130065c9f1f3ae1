// Temporary directories: below $TMPDIR or where nobody else may replace what compilers read; swept after killed
// processes.
#pragma once

#include <filesystem>
#include <string_view>

namespace tarry::support {

/// A new directory (mode 0700) below $TMPDIR or, where that is none or others could replace what is there, /tmp or
/// /var/tmp; its path is absolute. It stays. Throws CompileError naming TMPDIR: compilers work there.
std::filesystem::path unique_temporary_dir();
/// The directory of that name for the files of this user that others come back to; made where there is none.
std::filesystem::path lasting_temporary_dir(std::string_view name);

/// A temporary directory that is removed with all it holds. While it lives it is locked: what a killed process left is
/// known by its lock being free, and removed by the next process that needs such a directory.
class ScopedTemporaryDirectory {
 public:
  ScopedTemporaryDirectory();
  ~ScopedTemporaryDirectory();
  ScopedTemporaryDirectory(const ScopedTemporaryDirectory&) = delete;
  ScopedTemporaryDirectory& operator=(const ScopedTemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace tarry::support
