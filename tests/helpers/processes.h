// Child processes that share this test's memory as it was, and a counter that all of them see.
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/helpers/test.h"

namespace tarry::test {

/// Runs body in a child, which leaves without running this process's exit handlers.
template <class Body>
pid_t start_child(const Body& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  bool good = false;
  try {
    good = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a child threw: %s\n", error.what());
  }
  ::_exit(good ? 0 : 1);
}

/// The status as the shell gives it: 128 + signal where killed.
inline int wait_child(pid_t child) {
  int status = 0;
  REQUIRE(child > 0);
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// A number that children of this process count up too.
class SharedCounter {
 public:
  SharedCounter() {
    void* const page = ::mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::runtime_error("no shared page");
    value_ = new (page) Value(0);
  }
  ~SharedCounter() { ::munmap(value_, sizeof(Value)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  void add(int by = 1) { *value_ += by; }
  [[nodiscard]] int value() const { return *value_; }

 private:
  using Value = std::atomic<int>;
  static_assert(Value::is_always_lock_free);
  Value* value_;
};

}  // namespace tarry::test
