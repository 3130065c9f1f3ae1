// Directory: a directory that is open. What is done in it is done by name, one step deep and through no link, whatever
// takes its place at its path meanwhile.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "support/file.h"

namespace tarry::support {

class Directory {
 public:
  /// The directory at `path`, wherever its links lead; nullopt where there is none, and then `why` says why.
  static std::optional<Directory> open(const std::filesystem::path& path, std::error_code& why);
  ~Directory();
  Directory(Directory&& other) noexcept;
  Directory& operator=(Directory&& other) noexcept;

  /// For fstat and the *at calls; it cannot be read.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// The system's answer about it; nullopt where it was removed, or where somebody closed our descriptor.
  [[nodiscard]] std::optional<struct stat> status() const;
  /// The system's answer when it was opened.
  [[nodiscard]] const struct stat& opened() const { return opened_; }

  [[nodiscard]] std::optional<Directory> open_directory(const std::string& name, std::error_code& why) const;
  /// nullopt where it cannot be opened; then `why` says what the system says, nothing where it is no regular file.
  [[nodiscard]] std::optional<OpenFile> open_file(const std::string& name, std::error_code& why) const;
  /// Nothing where there is one already.
  [[nodiscard]] std::error_code make_directory(const std::string& name, mode_t mode) const;
  /// As write_file_atomically.
  [[nodiscard]] std::error_code write_file(const std::string& name, std::string_view content) const;
  [[nodiscard]] std::error_code remove_file(const std::string& name) const;

  /// Calls visit(name) for all that is in it, as far as it can be read.
  void list(const std::function<void(const std::string&)>& visit) const;
  /// The answer about `name`, which may be a link; nullopt where there is none.
  [[nodiscard]] std::optional<struct stat> status_of(const std::string& name) const;

 private:
  explicit Directory(int descriptor);
  int descriptor_;
  struct stat opened_{};
};

}  // namespace tarry::support
