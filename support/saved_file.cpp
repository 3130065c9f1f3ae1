// The file that a path means, and whether a new one may take its place.
#include "support/saved_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <random>
#include <string>
#include <utility>

#include "support/fault.h"
#include "support/file.h"
#include "support/last_error.h"

namespace tarry::support {

namespace fs = std::filesystem;

namespace {

/// The path behind all links at its end; nothing where that is not a place in a directory: a link of /proc leads to a
/// file that is open, whatever its name, and a chain without end to none.
std::optional<fs::path> behind_links(fs::path path) {
  constexpr int kMostLinks = 40;
  for (int followed = 0; followed < kMostLinks; ++followed) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(path, error))) return path;
    const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const fs::path real = fs::canonical(directory, error);
    if (error || real.native().starts_with("/proc/")) return std::nullopt;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return std::nullopt;
    path = real / target;
  }
  return std::nullopt;
}

/// True if a new file of this process differs from that one in its content alone.
bool may_be_replaced(const fs::path& path, const struct stat& status) {
  const bool own = status.st_uid == ::geteuid() && status.st_gid == ::getegid();
  return own && S_ISREG(status.st_mode) && status.st_nlink == 1 && ::listxattr(path.c_str(), nullptr, 0) <= 0;
}

/// Writing to a pipe that nobody reads is an error for this thread alone, not the end of the process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    ::sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) == 1) return;  // of somebody else
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~WithoutSigpipe() {
    if (!blocked_) return;
    const int error = errno;
    const timespec now{};
    while (::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool blocked_ = false;
};

}  // namespace

SavedFile::SavedFile(const fs::path& path) : path_(path) {
  const std::optional<fs::path> target = behind_links(path);
  if (!target) return;
  path_ = *target;
  const fs::path directory = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  struct stat status{};
  const bool there = ::lstat(path_.c_str(), &status) == 0;
  whole_ = !there || (may_be_replaced(path_, status) && ::access(directory.c_str(), W_OK | X_OK) == 0);
  if (there) rights_ = {status.st_gid, status.st_mode & 07777};
}

SavedFile::~SavedFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

std::error_code SavedFile::open() {
  if (fault::fails(fault::Site::File)) return std::make_error_code(std::errc::no_space_on_device);
  if (whole_) return open_temporary();
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
  return descriptor_ < 0 ? last_error() : std::error_code{};
}

std::error_code SavedFile::open_temporary() {
  if (rights_ && ::access(path_.c_str(), W_OK) != 0) return last_error();
  std::random_device noise;
  temporary_ = path_.string() + std::string(kTemporaryMark) + std::to_string(noise()) + std::to_string(noise());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights_ ? 0600 : 0666);
  if (descriptor_ < 0) return last_error();
  if (rights_ &&
      (::fchown(descriptor_, static_cast<uid_t>(-1), rights_->group) != 0 || ::fchmod(descriptor_, rights_->mode) != 0))
    return last_error();
  return {};
}

std::error_code SavedFile::write(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (!std::exchange(opened_, true))
    if (const std::error_code error = open()) return error;
  if (descriptor_ < 0) return std::make_error_code(std::errc::bad_file_descriptor);
  if (!whole_ && offset != end_) return std::make_error_code(std::errc::invalid_seek);
  if (fault::fails(fault::Site::File)) return std::make_error_code(std::errc::no_space_on_device);
  const WithoutSigpipe quiet;
  for (const auto* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written =
        whole_ ? ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset)) : ::write(descriptor_, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? last_error() : std::make_error_code(std::errc::no_space_on_device);
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  end_ = offset;
  return {};
}

std::error_code SavedFile::commit() {
  if (descriptor_ < 0) return std::make_error_code(std::errc::bad_file_descriptor);
  struct stat status{};
  std::error_code error;
  // In place it is cut last: whoever has mapped the old content finds something in every page meanwhile.
  const bool cut = !whole_ && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (cut && ::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) error = last_error();
  if (::close(std::exchange(descriptor_, -1)) != 0 && !error)
    error = last_error();  // network file systems report a full disk here
  if (!whole_) return error;
  if (!error && ::rename(temporary_.c_str(), path_.c_str()) != 0) error = last_error();
  if (error) ::unlink(temporary_.c_str());
  return error;
}

}  // namespace tarry::support
