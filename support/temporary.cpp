// Temporary directories over POSIX calls.
#include "support/temporary.h"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/descriptor.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/fork.h"
#include "support/log.h"
#include "support/trust.h"

namespace tarry::support {

namespace fs = std::filesystem;

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
