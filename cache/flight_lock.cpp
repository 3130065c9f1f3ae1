// FlightLock over flock(), which is released with the last descriptor of the open file: by exit, by a kill, by exec.
#include "cache/flight_lock.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fault.h"

namespace tarry::cache {

namespace {

// No links, and no waiting for a pipe that somebody left there.
constexpr int kOpenFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

/// True while `file` names the file that `descriptor` holds: its last owner may have removed it meanwhile.
bool is_current(int descriptor, const std::filesystem::path& file) {
  struct stat held{}, named{};
  return ::fstat(descriptor, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

bool is_regular(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

bool make_directory_of(const std::filesystem::path& file) {
  constexpr mode_t kPrivate = 0700;
  const std::filesystem::path directory = file.parent_path();
  std::error_code ignored;
  std::filesystem::create_directories(directory.parent_path(), ignored);
  return ::mkdir(directory.c_str(), kPrivate) == 0 || errno == EEXIST;
}

}  // namespace

FlightLock::FlightLock(std::filesystem::path file) : file_(std::move(file)) {
  if (support::fault::fails(support::fault::Site::File)) return;
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!open_file()) return;
    state_ = lock_file();
  } while (state_ == State::Held && !is_current(descriptor_, file_));
}

bool FlightLock::open_file() {
  const auto open_once = [&] { descriptor_ = ::open(file_.c_str(), kOpenFlags | O_CREAT, 0600); };
  open_once();
  if (descriptor_ < 0 && errno == ENOENT && make_directory_of(file_)) open_once();
  state_ = State::Missing;
  return descriptor_ >= 0;
}

FlightLock::State FlightLock::lock_file() {
  if (!is_regular(descriptor_)) return State::Missing;
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return State::Held;
  if (errno == EWOULDBLOCK) return State::Busy;
  ::unlink(file_.c_str());  // a file system without locks: nobody holds it
  return State::Missing;
}

FlightLock::~FlightLock() {
  if (descriptor_ < 0) return;
  if (state_ == State::Held) {
    if (is_current(descriptor_, file_)) ::unlink(file_.c_str());
    ::flock(descriptor_, LOCK_UN);  // a child that was forked meanwhile has a descriptor too
  }
  ::close(descriptor_);
}

Outcome wait_for_owner(const std::filesystem::path& file, std::chrono::steady_clock::duration patience) {
  constexpr std::chrono::milliseconds kLongestPause{16};  // of compiles that take 30 ms and more
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (std::chrono::milliseconds pause{1};; pause = std::min(2 * pause, kLongestPause)) {
    const int descriptor = ::open(file.c_str(), kOpenFlags);
    if (descriptor < 0) return Outcome::Ended;
    // Shared: those who wait do not take each other for the owner.
    const bool busy = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const bool current = is_current(descriptor, file);
    ::close(descriptor);
    if (!current) return Outcome::Ended;
    if (!busy) return Outcome::Abandoned;
    if (std::chrono::steady_clock::now() >= deadline) return Outcome::TimedOut;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tarry::cache
