// File functions over POSIX calls: they need O_EXCL, exact error codes and no locale.
#include "support/file.h"

#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/descriptor.h"
#include "support/fault.h"
#include "support/hash.h"
#include "support/last_error.h"

namespace tarry::support {

namespace fs = std::filesystem;

namespace {

/// 16 hex digits. Process ids would clash between containers that share a directory.
std::string random_name() {
  Hash128 noise;
  if (::getrandom(&noise.lo, sizeof noise.lo, 0) != static_cast<ssize_t>(sizeof noise.lo)) {
    noise.lo = static_cast<std::uint64_t>(::getpid()) << 32 ^ reinterpret_cast<std::uintptr_t>(&noise);
  }
  return noise.hex().substr(16);
}

std::error_code write_all(int fd, std::string_view content) {
  const FileSizeGuard guard;
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    if (written == 0) return std::make_error_code(std::errc::no_space_on_device);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// The regular file at `path`, as seen from `directory`, and its size, or no descriptor.
Descriptor open_regular(int directory, const fs::path& path, int flags, std::uint64_t& size, std::error_code& error) {
  error.clear();
  if (fault::fails(fault::Site::File)) {
    error = std::make_error_code(std::errc::io_error);
    return Descriptor(-1);
  }
  // O_NONBLOCK: opening a pipe that somebody left here must not hang.
  Descriptor file(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) {
    error = last_error();
    return Descriptor(-1);
  }
  if (!S_ISREG(status.st_mode)) return Descriptor(-1);
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

}  // namespace

std::optional<std::string> read_file(const fs::path& path, std::error_code* why) {
  std::error_code ignored;
  std::error_code& error = why != nullptr ? *why : ignored;
  std::uint64_t expected = 0;
  const Descriptor file = open_regular(AT_FDCWD, path, 0, expected, error);
  if (!file) return std::nullopt;
  std::string content(static_cast<std::size_t>(expected) + 1, '\0');  // one more, to see the end in one call
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error = last_error();
      return std::nullopt;
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size == content.size()) content.resize(2 * size);  // files of /proc tell no size
  }
  content.resize(size);
  return content;
}

std::optional<OpenFile> OpenFile::open(const fs::path& path, std::error_code* why) {
  return open_at(AT_FDCWD, path, 0, why);
}

std::optional<OpenFile> OpenFile::open_at(int directory, const fs::path& path, int flags, std::error_code* why) {
  std::error_code ignored;
  std::uint64_t size = 0;
  Descriptor file = open_regular(directory, path, flags, size, why != nullptr ? *why : ignored);
  if (!file) return std::nullopt;
  return OpenFile(file.release(), size);
}

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::string> OpenFile::read(std::uint64_t offset, std::uint64_t size) const {
  if (fault::fails(fault::Site::File) || offset > size_ || size > size_ - offset) return std::nullopt;
  std::string content(static_cast<std::size_t>(size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got =
        ::pread(descriptor_, content.data() + done, content.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;  // 0: somebody cut the file
    done += static_cast<std::size_t>(got);
  }
  return content;
}

std::optional<NewFile> NewFile::create(const fs::path& path, std::error_code& why) {
  return create_at(AT_FDCWD, path, why);
}

std::optional<NewFile> NewFile::create_at(int directory, const fs::path& path, std::error_code& why) {
  if (fault::fails(fault::Site::File)) {
    why = std::make_error_code(std::errc::no_space_on_device);
    return std::nullopt;
  }
  fs::path temporary = path.string() + std::string(kTemporaryMark) + random_name();
  Descriptor file(::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) {
    why = last_error();
    return std::nullopt;
  }
  return NewFile(directory, file.release(), path, std::move(temporary));
}

NewFile::NewFile(NewFile&& other) noexcept
    : directory_(other.directory_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlinkat(directory_, temporary_.c_str(), 0);
}

std::error_code NewFile::write(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (fault::fails(fault::Site::File)) return std::make_error_code(std::errc::no_space_on_device);
  const FileSizeGuard guard;
  for (const auto* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    if (written == 0) return std::make_error_code(std::errc::no_space_on_device);
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  return {};
}

std::error_code NewFile::commit() {
  std::error_code error;
  if (::close(std::exchange(descriptor_, -1)) != 0)
    error = last_error();  // network file systems report a full disk here
  if (!error && ::renameat(directory_, temporary_.c_str(), directory_, path_.c_str()) != 0) error = last_error();
  if (error) ::unlinkat(directory_, temporary_.c_str(), 0);
  return error;
}

std::error_code write_file_atomically(const fs::path& path, std::string_view content) {
  std::error_code error;
  std::optional<NewFile> file = NewFile::create(path, error);
  if (!file) return error;
  error = file->write(0, content.data(), content.size());
  return error ? error : file->commit();
}

std::error_code append_to_file(const fs::path& path, std::string_view content) {
  if (fault::fails(fault::Site::File)) return std::make_error_code(std::errc::no_space_on_device);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return last_error();
  const std::error_code error = write_all(file.get(), content);
  const std::error_code closing = file.close();
  return error ? error : closing;
}

FileSizeGuard::FileSizeGuard() noexcept {
  struct rlimit limit{};
  limited_ = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (!limited_) return;
  sigset_t signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &signal, &before_);
}

FileSizeGuard::~FileSizeGuard() {
  if (!limited_) return;
  sigset_t signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  const timespec none{};
  if (sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&signal, nullptr, &none);  // it came to this thread: take it
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace tarry::support
