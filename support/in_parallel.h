// A loop whose turns run on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

#include "support/floating_point.h"

namespace tarry::support {

/// Cores that this thread, and those that it starts, may run on.
inline std::size_t all_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

/// Calls work(0) .. work(count - 1) on up to `threads` threads, this one among them, and alone where no other can be
/// had. Throws what the first call that threw did; no further one begins then.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto loop = [&] {
    const DefaultFloatingPoint state;
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      while (helpers.size() + 1 < std::min(count, threads)) helpers.emplace_back(loop);
    } catch (const std::exception&) {  // no further thread to be had, or no memory for one
    }
    loop();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tarry::support
