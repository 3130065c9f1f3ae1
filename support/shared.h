// The object that detail::Shared owns.
#pragma once

#include <atomic>
#include <cstdint>

#include <tarry/shared.h>

namespace tarry {
inline namespace v0 {
namespace detail {

class Shared::Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

 private:
  friend class Shared;
  mutable std::atomic<std::uint32_t> owners_{1};
};

}  // namespace detail
}  // namespace v0
}  // namespace tarry
