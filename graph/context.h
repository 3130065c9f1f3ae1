// Context: what Scope sets for its thread, which recording reads at every call.
#pragma once

#include <cstdint>

#include <tarry/device.h>
#include <tarry/dtype.h>

#include "graph/op.h"

namespace tarry::graph {

/// Most that may wait: nodes, and bytes of memory that only they keep; 0 bytes: by the memory limit.
struct Budget {
  std::int64_t nodes = 50'000;
  std::int64_t bytes = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};

struct Context {
  Mode mode = Mode::Strict;
  Device device{};  ///< for new arrays
  Budget budget{};  ///< for what waits to be evaluated
  Dtype default_float = float32;
};

inline Context& context() noexcept {
  static thread_local constinit Context current;
  return current;
}

}  // namespace tarry::graph
