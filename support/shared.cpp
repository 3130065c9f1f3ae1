// detail::Shared.
#include "support/shared.h"

namespace tarry {
inline namespace v0 {
namespace detail {

Shared::Shared(const Shared& other) noexcept : object_(other.object_) {
  if (object_ != nullptr) object_->owners_.fetch_add(1, std::memory_order_relaxed);
}

Shared::~Shared() {
  if (object_ != nullptr && object_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object_;
}

}  // namespace detail
}  // namespace v0
}  // namespace tarry
