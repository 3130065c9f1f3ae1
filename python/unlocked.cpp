// Threads that come back to an interpreter which ends.
#include "python/unlocked.h"

#include <tarry/evaluate.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace tarry::python {
namespace {

std::atomic<bool> ending = false;
std::atomic<int> returning = 0;  // threads that wait for the GIL
std::thread::id ender;           // the thread that ends the interpreter

void end() {
  ender = std::this_thread::get_id();
  ending = true;
  const nb::gil_scoped_release released;
  while (returning > 0) std::this_thread::yield();  // they saw that nothing ends, and must have the GIL before it does
}

}  // namespace

WithoutGil::~WithoutGil() {
  ++returning;
  if (ending && std::this_thread::get_id() != ender) {
    --returning;
    for (;;) ::pause();
  }
  PyEval_RestoreThread(state_);
  free = outer_;
  --returning;
}

void wait_unlocked() {
  detail::wait_in([](void (*work)(void*), void* state) {
    if (WithoutGil::here()) return work(state);
    const Unlocked unlocked;
    work(state);
  });
}

void watch_end() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end)); }

}  // namespace tarry::python
