// Files as the cache and the compilers need them: whole reads, atomic writes, temporary directories. Every function
// asks fault::fails(Site::File) first.
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tarry::support {

/// The content of a regular file, or nullopt where it cannot be read to its end (also for directories and pipes); then
/// `why` says what the system says, nothing where it is no regular file.
std::optional<std::string> read_file(const std::filesystem::path& path, std::error_code* why = nullptr);

/// A regular file that stays open to read pieces of it: whatever takes its place at its path meanwhile, this one is
/// read.
class OpenFile {
 public:
  /// nullopt where it cannot be opened; then `why` says what the system says, nothing where it is no regular file.
  static std::optional<OpenFile> open(const std::filesystem::path& path, std::error_code* why = nullptr);
  /// The same as seen from an open directory, with further `flags` of openat.
  static std::optional<OpenFile> open_at(int directory, const std::filesystem::path& path, int flags,
                                         std::error_code* why);
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  /// The `size` bytes from `offset` on, or nullopt where they are not there or cannot be read. Thread-safe.
  [[nodiscard]] std::optional<std::string> read(std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }  ///< when it was opened
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  OpenFile(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_;
  std::uint64_t size_;
};

/// A file that is written in pieces and appears whole: a unique temporary beside `path` until it is committed.
class NewFile {
 public:
  /// nullopt where it cannot be made; then `why` says why.
  static std::optional<NewFile> create(const std::filesystem::path& path, std::error_code& why);
  /// The same as seen from a directory that stays open meanwhile.
  static std::optional<NewFile> create_at(int directory, const std::filesystem::path& path, std::error_code& why);
  ~NewFile();  ///< removes what was not committed
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  /// Thread-safe.
  std::error_code write(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Renames it over `path`.
  std::error_code commit();

 private:
  NewFile(int directory, int descriptor, std::filesystem::path path, std::filesystem::path temporary)
      : directory_(directory), descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)) {}
  int directory_, descriptor_;
  std::filesystem::path path_, temporary_;
};

/// Writes a unique temporary beside `path` and renames it over `path`: readers see the old file, the new one or none,
/// never a part. Leaves no temporary behind where it fails; the error says why.
std::error_code write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Adds `content` to the end of the file in one write, so that lines of several processes stay whole; makes the file
/// where there is none.
std::error_code append_to_file(const std::filesystem::path& path, std::string_view content);

/// Part of the name of every temporary of write_file_atomically: "<file>.tmp-<16 hex digits>".
inline constexpr std::string_view kTemporaryMark = ".tmp-";

/// While it lives, writing past the limit of a file's size (RLIMIT_FSIZE) is an error and not a signal that ends the
/// process.
class FileSizeGuard {
 public:
  FileSizeGuard() noexcept;
  ~FileSizeGuard();
  FileSizeGuard(const FileSizeGuard&) = delete;
  FileSizeGuard& operator=(const FileSizeGuard&) = delete;

 private:
  bool limited_ = false;
  sigset_t before_{};
};

}  // namespace tarry::support
