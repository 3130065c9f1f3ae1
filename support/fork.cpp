// The list of mutexes, and handlers that take them all. Threads take them in any order, so whoever takes all of them
// holds none while it waits for one.
#include "support/fork.h"

#include <pthread.h>
#include <time.h>

#include <new>

namespace tarry::support {

struct AtFork::List {
  std::mutex mutex;
  AtFork* newest = nullptr;
};

AtFork::List& AtFork::list() noexcept {
  static constinit List all;
  return all;
}

AtFork::AtFork(std::mutex& mutex) noexcept
    : mutex_(mutex.native_handle()), renew_([](void* m) { new (m) std::mutex; }), object_(&mutex) {
  enter();
}

// Unlocking would ask for the thread that locked it, whose number is another in the child.
AtFork::AtFork(std::recursive_mutex& mutex) noexcept
    : mutex_(mutex.native_handle()), renew_([](void* m) { new (m) std::recursive_mutex; }), object_(&mutex) {
  enter();
}

AtFork::AtFork(void (*child)(void*), void* object) noexcept : mutex_(nullptr), renew_(child), object_(object) {
  enter();
}

void AtFork::enter() noexcept {
  static const int once = pthread_atfork(prepare, in_parent, AtFork::in_child);
  static_cast<void>(once);
  const std::lock_guard lock(list().mutex);
  older_ = list().newest;
  if (older_ != nullptr) older_->newer_ = this;
  list().newest = this;
}

AtFork::~AtFork() {
  const std::lock_guard lock(list().mutex);
  (newer_ != nullptr ? newer_->older_ : list().newest) = older_;
  if (older_ != nullptr) older_->newer_ = newer_;
}

void AtFork::prepare() noexcept {
  constexpr long kPatience =
      5'000'000;  // nanoseconds; a mutex may be gone when its turn comes, so that the list stays locked
  for (;;) {
    list().mutex.lock();
    AtFork* busy = nullptr;
    for (AtFork* a = list().newest; a != nullptr && busy == nullptr; a = a->older_)
      if (a->mutex_ != nullptr && pthread_mutex_trylock(a->mutex_) != 0) busy = a;
    if (busy == nullptr) return;
    for (AtFork* a = list().newest; a != busy; a = a->older_)
      if (a->mutex_ != nullptr) pthread_mutex_unlock(a->mutex_);
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kPatience;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    if (pthread_mutex_timedlock(busy->mutex_, &until) == 0) pthread_mutex_unlock(busy->mutex_);
    list().mutex.unlock();
  }
}

void AtFork::in_parent() noexcept {
  for (AtFork* a = list().newest; a != nullptr; a = a->older_)
    if (a->mutex_ != nullptr) pthread_mutex_unlock(a->mutex_);
  list().mutex.unlock();
}

void AtFork::in_child() noexcept {
  for (AtFork* a = list().newest; a != nullptr; a = a->older_)
    if (a->mutex_ != nullptr) a->renew_(a->object_);
  new (&list().mutex) std::mutex;
  for (AtFork* a = list().newest; a != nullptr; a = a->older_)
    if (a->mutex_ == nullptr) a->renew_(a->object_);
}

}  // namespace tarry::support
