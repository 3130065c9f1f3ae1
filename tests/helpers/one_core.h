// A test whose batches must not depend on the machine: kernels compile in one batch for each core.
#pragma once

#include <sched.h>

#include <stdexcept>

namespace tarry::test {

/// While it lives, the calling thread and those that it starts run on the core that it is on.
class OneCore {
 public:
  OneCore() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof all_, &all_) != 0 || sched_setaffinity(0, sizeof one, &one) != 0)
      throw std::runtime_error("cannot choose a core");
  }
  ~OneCore() { sched_setaffinity(0, sizeof all_, &all_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t all_{};
};

}  // namespace tarry::test
