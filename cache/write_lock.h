// One writer at a time among all processes that keep kernels in a directory, so that what they keep together stays
// below its size. The directory itself is locked, which leaves no file behind and ends with the process.
#pragma once

#include <chrono>

#include "support/directory.h"

namespace tarry::cache {

class WriteLock {
 public:
  /// Waits for `patience`. Where the directory cannot be locked, or its owner is stopped, the writer goes on without:
  /// then the size may be passed for a while, and nothing else depends on it.
  WriteLock(const support::Directory& directory, std::chrono::steady_clock::duration patience);
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;
  [[nodiscard]] bool timed_out() const { return timed_out_; }

 private:
  int descriptor_;
  bool timed_out_ = false;
};

}  // namespace tarry::cache
