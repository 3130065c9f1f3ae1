// The library at work while Python goes on.
#pragma once

#include <nanobind/nanobind.h>
#include <tarry/progress.h>

#include <utility>

namespace tarry::python {

namespace nb = nanobind;

/// Python's other threads run while it lives. A thread that would come back when the interpreter has begun to end stays
/// where it is: Python would unwind it through frames of C++, which ends the process with an error.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()), outer_(std::exchange(free, true)) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// True if this thread is inside of one.
  static bool here() { return free; }

 private:
  friend class WithGil;
  static inline thread_local bool free = false;
  PyThreadState* const state_;
  const bool outer_;
};

/// Python code may run, in a thread that the library works in.
class WithGil {
 public:
  WithGil() : outer_(std::exchange(WithoutGil::free, false)) {}
  ~WithGil() { WithoutGil::free = outer_; }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  const nb::gil_scoped_acquire held_;
  const bool outer_;
};
/// Tells threads, when Python's atexit runs, that the interpreter ends.
void watch_end();
/// Lets Python go on while a call waits for the number of elements that a mask selects.
void wait_unlocked();

/// Between two chunks of an evaluate that streams, or rounds of a loop over a whole array: the program's callable sees
/// how far it is, and an interrupt of the user, or whatever the callable throws, ends it.
struct BetweenChunks {
  void operator()(const Progress& progress) const;
};
extern BetweenChunks between_chunks;

/// Around all that evaluates.
class Unlocked {
 public:
  Unlocked() : progress_(between_chunks) {}

 private:
  WithoutGil released_;
  OnProgress progress_;
};

}  // namespace tarry::python
