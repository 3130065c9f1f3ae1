// The floating-point state that everything computes under, whatever the caller's is.
#pragma once

#include <cstdint>

namespace tarry::support {

/// Round to nearest even, denormals kept, exceptions masked, while it lives; then what was there before, flags
/// included. Not inline: a compiler may move arithmetic across an instruction that sets the state, but not across a
/// call.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() noexcept;
  ~DefaultFloatingPoint();
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::uint64_t saved_;
};

}  // namespace tarry::support
