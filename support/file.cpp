// File functions over POSIX calls: they need O_EXCL, exact error codes and no locale.
#include "support/file.h"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/fork.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/trust.h"

namespace tarry::support {

namespace fs = std::filesystem;

namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  /// Network file systems report a full disk here.
  std::error_code close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 ? std::error_code{} : last_error();
  }

 private:
  int fd_;
};

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

namespace {

/// The directory that $TMPDIR names comes first. Absolute: compilers take "-o" for an option, and the host may go
/// elsewhere.
std::vector<fs::path> temporary_bases() {
  std::vector<fs::path> bases;
  std::error_code error;
  if (const auto named = env::system("TMPDIR")) bases.push_back(fs::absolute(*named, error));
  if (error) bases.clear();
  bases.emplace_back("/tmp");
  bases.emplace_back("/var/tmp");
  // Nobody else may replace what a compiler is about to read and has written.
  std::erase_if(bases, [](const fs::path& base) {
    const std::string reason = reason_to_avoid(base);
    if (!reason.empty())
      log::warn_once(base.string() + " is not used for temporary files (TMPDIR may name another directory): " + reason);
    return !reason.empty();
  });
  return bases;
}

[[noreturn]] void no_temporary_directory(const std::error_code& why) {
  TARRY_THROW(CompileError, "", Where{},
              "cannot make a temporary directory in " + env::system("TMPDIR").value_or("/tmp") + ": " + why.message() +
                  "; set TMPDIR to a writable directory");
}

constexpr std::string_view kWorkPrefix = "tarry-work-";

fs::path make_directory(std::string_view prefix) {
  if (fault::fails(fault::Site::File)) no_temporary_directory(std::make_error_code(std::errc::no_space_on_device));
  std::error_code why;
  for (const fs::path& base : temporary_bases()) {
    std::string pattern = (base / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) != nullptr) return pattern;
    if (!why) why = last_error();
  }
  no_temporary_directory(why);
}

/// A descriptor that holds the lock of a directory of ours, or -1; then `held` says whether another has the lock.
Descriptor lock_directory(const fs::path& directory, bool& held) {
  Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  const bool ours = opened && ::fstat(opened.get(), &status) == 0 && status.st_uid == ::geteuid();
  const bool locked = ours && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0;
  held = ours && !locked && errno == EWOULDBLOCK;
  if (!locked) return Descriptor(-1);
  // Whoever held it may have removed it meanwhile.
  return ::fstat(opened.get(), &status) == 0 && status.st_nlink > 0 ? std::move(opened) : Descriptor(-1);
}

/// Removes what processes that were killed left in `base`. Once per process and base.
void sweep_once(const fs::path& base) {
  static auto& mutex = *new Mutex;
  static auto& swept = *new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!swept.insert(base.string()).second) return;
  }
  // Not with a directory_iterator: libstdc++'s ends the process where memory runs out.
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(base.c_str()), ::closedir);
  while (const dirent* const entry = directory ? ::readdir(directory.get()) : nullptr) {
    if (!std::string_view(entry->d_name).starts_with(kWorkPrefix)) continue;
    std::error_code ignored;
    bool held = false;
    if (const Descriptor lock = lock_directory(base / entry->d_name, held))
      fs::remove_all(base / entry->d_name, ignored);
  }
}

}  // namespace

fs::path unique_temporary_dir() { return make_directory("tarry-"); }

fs::path lasting_temporary_dir(std::string_view name) {
  for (const fs::path& base : temporary_bases()) {
    fs::path directory = base / (std::string(name) + "-" + std::to_string(::geteuid()));
    (void)::mkdir(directory.c_str(), 0700);
    struct stat status{};
    // Somebody else may have been there first.
    if (::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
        (status.st_mode & 077) == 0)
      return directory;
  }
  return unique_temporary_dir();
}

ScopedTemporaryDirectory::ScopedTemporaryDirectory() {
  constexpr int kTries = 8;  // a sweep may come between making and locking
  for (int i = 0; i < kTries && lock_ < 0; ++i) {
    path_ = make_directory(kWorkPrefix);
    sweep_once(path_.parent_path());
    bool held = false;  // by the sweep of another process, which is about to remove it
    lock_ = lock_directory(path_, held).release();
    std::error_code error;
    if (lock_ < 0 && !held && fs::exists(path_, error)) return;  // no descriptor left, or a file system without locks
  }
  if (lock_ < 0) no_temporary_directory(std::make_error_code(std::errc::resource_unavailable_try_again));
}

ScopedTemporaryDirectory::~ScopedTemporaryDirectory() {
  try {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  } catch (const std::bad_alloc&) {  // no memory to walk through it
  }
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace tarry::support
