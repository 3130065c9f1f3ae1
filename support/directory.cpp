// Directory over the *at calls. A descriptor of O_PATH needs no right to read the directory.
#include "support/directory.h"

#include <cerrno>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "support/last_error.h"

namespace tarry::support {

namespace {

constexpr int kOpenFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

}  // namespace

Directory::Directory(int descriptor) : descriptor_(descriptor) {
  if (::fstat(descriptor_, &opened_) != 0) opened_ = {};
}

std::optional<Directory> Directory::open(const std::filesystem::path& path, std::error_code& why) {
  const int descriptor = ::open(path.c_str(), kOpenFlags);
  if (descriptor >= 0) return Directory(descriptor);
  why = last_error();
  return std::nullopt;
}

Directory::~Directory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Directory::Directory(Directory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), opened_(other.opened_) {}

Directory& Directory::operator=(Directory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(opened_, other.opened_);
  return *this;
}

std::optional<struct stat> Directory::status() const {
  struct stat status{};
  const bool same =
      ::fstat(descriptor_, &status) == 0 && status.st_dev == opened_.st_dev && status.st_ino == opened_.st_ino;
  if (!same || status.st_nlink == 0) return std::nullopt;
  return status;
}

std::optional<Directory> Directory::open_directory(const std::string& name, std::error_code& why) const {
  const int descriptor = ::openat(descriptor_, name.c_str(), kOpenFlags | O_NOFOLLOW);
  if (descriptor >= 0) return Directory(descriptor);
  why = last_error();
  return std::nullopt;
}

std::optional<OpenFile> Directory::open_file(const std::string& name, std::error_code& why) const {
  return OpenFile::open_at(descriptor_, name, O_NOFOLLOW, &why);
}

std::error_code Directory::make_directory(const std::string& name, mode_t mode) const {
  if (::mkdirat(descriptor_, name.c_str(), mode) == 0 || errno == EEXIST) return {};
  return last_error();
}

std::error_code Directory::write_file(const std::string& name, std::string_view content) const {
  std::error_code error;
  std::optional<NewFile> file = NewFile::create_at(descriptor_, name, error);
  if (!file) return error;
  error = file->write(0, content.data(), content.size());
  return error ? error : file->commit();
}

std::error_code Directory::remove_file(const std::string& name) const {
  return ::unlinkat(descriptor_, name.c_str(), 0) == 0 ? std::error_code{} : last_error();
}

void Directory::list(const std::function<void(const std::string&)>& visit) const {
  const int descriptor = ::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  DIR* const entries = ::fdopendir(descriptor);
  if (entries == nullptr) {
    ::close(descriptor);
    return;
  }
  struct Closing {
    DIR* entries;
    ~Closing() { ::closedir(entries); }
  } const closing{entries};
  while (const dirent* const entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") visit(name);
  }
}

std::optional<struct stat> Directory::status_of(const std::string& name) const {
  struct stat status{};
  if (::fstatat(descriptor_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return status;
}

}  // namespace tarry::support
