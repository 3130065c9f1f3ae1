// Shared ownership for handles, as std::shared_ptr has it: <memory> would add a third to what <tarry/tarry.h> costs a
// compiler.
#pragma once

#include <utility>

#include <tarry/export.h>

namespace tarry {
inline namespace v0 {
namespace detail {

/// One owner of an object that only the library sees. Threads may own the same object.
class TARRY_EXPORT Shared {
 public:
  class Object;  ///< counts its owners

  Shared() noexcept = default;
  explicit Shared(const Object* fresh) noexcept : object_(fresh) {}  ///< the first owner of an object made by new
  Shared(const Shared& other) noexcept;
  Shared(Shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Shared();
  [[nodiscard]] const Object* get() const noexcept { return object_; }

 private:
  const Object* object_ = nullptr;
};

}  // namespace detail
}  // namespace v0
}  // namespace tarry
