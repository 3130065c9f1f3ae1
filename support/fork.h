// Locks across fork(): a child finds every lock of the library free, although it has none of the threads that may have
// held one.
#pragma once

#include <mutex>

namespace tarry::support {

/// While it lives, fork() waits until nobody holds the mutex, and the child has a new one.
class AtFork {
 public:
  explicit AtFork(std::mutex& mutex) noexcept;
  explicit AtFork(std::recursive_mutex& mutex) noexcept;
  /// `child(object)` runs in the child before fork() returns there, where all mutexes are free.
  AtFork(void (*child)(void*), void* object) noexcept;
  AtFork(const AtFork&) = delete;
  AtFork& operator=(const AtFork&) = delete;
  ~AtFork();

 private:
  struct List;
  static List& list() noexcept;
  void enter() noexcept;
  static void prepare() noexcept;
  static void in_parent() noexcept;
  static void in_child() noexcept;

  pthread_mutex_t* const mutex_;
  void (*const renew_)(void*);  // in the child
  void* const object_;
  AtFork *older_ = nullptr, *newer_ = nullptr;
};

/// A mutex that a forked child finds free. For members; a constinit one has an AtFork beside it.
class Mutex : public std::mutex {
 private:
  AtFork at_fork_{*this};
};

}  // namespace tarry::support
