// The library at work while Python goes on.
#pragma once

#include <nanobind/nanobind.h>
#include <tarry/progress.h>

namespace tarry::python {

namespace nb = nanobind;

/// Python's other threads run while it lives. A thread that would come back when the interpreter has begun to end stays
/// where it is: Python would unwind it through frames of C++, which ends the process with an error.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* const state_;
};
/// Tells threads, when Python's atexit runs, that the interpreter ends.
void watch_end();

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
