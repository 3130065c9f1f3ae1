// Readings of each thread in a list.
#include "runtime/evaluate/reading.h"

#include <mutex>

#include "graph/node.h"

namespace tarry::runtime {
namespace {

/// Storages that this thread reads, innermost first.
thread_local constinit const Reading* innermost = nullptr;

}  // namespace

Reading::Reading(graph::Storage& s) : storage_(s), outer_(innermost) {
  {
    const std::lock_guard lock(graph::engine_mutex());
    s.readers.fetch_add(1, std::memory_order_relaxed);
  }
  try {
    if (s.check) s.check->use();
  } catch (...) {
    s.readers.fetch_sub(1, std::memory_order_release);
    throw;
  }
  innermost = this;
}

Reading::~Reading() {
  innermost = outer_;
  storage_.readers.fetch_sub(1, std::memory_order_release);
}

bool Reading::is_here(const graph::Storage& s) noexcept {
  const Reading* r = innermost;
  while (r != nullptr && &r->storage_ != &s) r = r->outer_;
  return r != nullptr;
}

}  // namespace tarry::runtime
