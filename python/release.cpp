// Memory of Python's objects that the library gives back on any thread, released where the GIL is held.
#include "python/memory.h"

#include <mutex>
#include <utility>
#include <vector>

namespace tarry::python {
namespace {

struct Released {
  void (*release)(void*);
  void* context;
};

struct Queue {
  std::mutex mutex;
  std::vector<Released> waiting;
};
Queue& queue() {
  static auto& made = *new Queue();  // arrays outlive what destructors of statics would end
  return made;
}

int drain(void*) {
  std::vector<Released> taken;
  {
    const std::lock_guard lock(queue().mutex);
    taken = std::exchange(queue().waiting, {});
  }
  for (const Released& each : taken) each.release(each.context);
  return 0;
}

}  // namespace

void release_later(void (*release)(void*), void* context) noexcept {
  if (Py_IsInitialized() == 0) return;  // the process ends, and its memory with it
  bool first = false;
  try {
    const std::lock_guard lock(queue().mutex);
    first = queue().waiting.empty();
    queue().waiting.push_back({release, context});
  } catch (const std::bad_alloc&) {
    return;  // never released, which is the lesser harm
  }
  if (first) Py_AddPendingCall(&drain, nullptr);  // where its list is full, the next one asks again
}

}  // namespace tarry::python
