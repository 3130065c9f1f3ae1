// Scope: settings for everything that this thread records while it lives.
#pragma once

#include <tarry/device.h>
#include <tarry/export.h>

#include <cstdint>

namespace tarry {
inline namespace v0 {

/// How exactly recorded operations are computed (docs/numerics.md).
enum class Numerics : std::uint8_t {
  Strict,   ///< the default: the same bits however operations are fused, scheduled or laid out
  Relaxed,  ///< contraction and approximations allowed; still the same bits at every run
};
inline constexpr Numerics strict = Numerics::Strict, relaxed = Numerics::Relaxed;

/// While it lives, operations that this thread records use the given numerics, or new arrays that this thread makes are
/// placed on the given device. Scopes nest; destroy them in reverse order (locals do). Costs two words, no lock.
///
///     ta::Scope s{ta::relaxed};
///     ta::Array y = ta::exp(x) * z + w;  // may use fma
class TARRY_EXPORT Scope {
 public:
  [[nodiscard]] explicit Scope(Numerics numerics) noexcept;
  /// Placement is explicit: arrays placed on different devices do not mix. `Device{}` ends an outer scope's placement.
  [[nodiscard]] explicit Scope(Device device) noexcept;
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Numerics numerics_;  // of the enclosing scope
  Device device_;
};

}  // namespace v0
}  // namespace tarry
