// WriteLock over flock() of a directory.
#include "cache/write_lock.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tarry::cache {

WriteLock::WriteLock(const support::Directory& directory, std::chrono::steady_clock::duration patience)
    : descriptor_(::openat(directory.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr std::chrono::milliseconds kLongestPause{16};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (std::chrono::milliseconds pause{1}; descriptor_ >= 0; pause = std::min(2 * pause, kLongestPause)) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    if (timed_out_ = std::chrono::steady_clock::now() >= deadline; timed_out_) return;
    std::this_thread::sleep_for(pause);
  }
}

WriteLock::~WriteLock() {
  if (descriptor_ < 0) return;
  ::flock(descriptor_, LOCK_UN);  // a child that was forked meanwhile has a descriptor too
  ::close(descriptor_);
}

}  // namespace tarry::cache
