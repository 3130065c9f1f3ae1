// The library at work while Python goes on.
#pragma once

#include <nanobind/nanobind.h>
#include <tarry/progress.h>

namespace tarry::python {

namespace nb = nanobind;

/// Between two chunks of an evaluate that streams: the program's callable sees how far it is, and an interrupt of the
/// user, or whatever the callable throws, ends it.
struct BetweenChunks {
  void operator()(const Progress& progress) const;
};
extern BetweenChunks between_chunks;

/// Python's other threads run while it lives. Around all that evaluates.
class Unlocked {
 public:
  Unlocked() : progress_(between_chunks) {}

 private:
  nb::gil_scoped_release released_;
  OnProgress progress_;
};

}  // namespace tarry::python
