// Handle<T, destroy>: sole owner of one foreign object. Nothing else in the runtime frees what CUDA or dlopen made.
#pragma once

#include <utility>

namespace tarry::runtime {

/// T is a small value whose default T{} means "nothing"; destroy(T) is called once for every other value and must not
/// throw.
template <class T, auto destroy>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(T value) noexcept : value_(value) {}
  Handle(Handle&& other) noexcept : value_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  [[nodiscard]] T get() const noexcept { return value_; }
  [[nodiscard]] T release() noexcept { return std::exchange(value_, T{}); }
  void reset(T value = T{}) noexcept {
    const T old = std::exchange(value_, value);
    if (!(old == T{})) destroy(old);
  }
  explicit operator bool() const noexcept { return !(value_ == T{}); }

 private:
  T value_{};
};

}  // namespace tarry::runtime
