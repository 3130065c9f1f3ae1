// Scope: settings for everything that this thread records while it lives.
#pragma once

#include <tarry/device.h>
#include <tarry/dtype.h>
#include <tarry/error.h>
#include <tarry/export.h>

#include <cstdint>
#include <limits>
#include <source_location>

namespace tarry {
inline namespace v0 {

/// How exactly recorded operations are computed (docs/reference/numerics.md).
enum class Numerics : std::uint8_t {
  Strict,   ///< the default: the same bits however operations are fused, scheduled or laid out
  Relaxed,  ///< contraction and approximations allowed; still the same bits at every run
};
inline constexpr Numerics strict = Numerics::Strict, relaxed = Numerics::Relaxed;

/// How much a thread may record without evaluating. An operation that finds it exceeded evaluates what waits first, in
/// portions of whole rounds where a loop recorded it, so that they share one plan. It never throws for what that meets:
/// the arrays stay lazy, and the error comes from the next evaluate() or read.
struct Budget {
  std::int64_t operations = 50'000;
  /// Bytes of evaluated arrays that nothing but waiting work keeps. 0: a quarter of TARRY_MEMORY_LIMIT or of the lowest
  /// limit set by set_memory_limit(), and 2 GiB without a limit.
  std::int64_t bytes = 0;
  /// Nothing is evaluated but by evaluate() and by reading.
  static constexpr Budget unlimited() {
    return {std::numeric_limits<std::int64_t>::max() / 4, std::numeric_limits<std::int64_t>::max() / 4};
  }
};

/// While it lives, operations that this thread records use the given numerics, or new arrays that this thread makes are
/// placed on the given device, or it may record without evaluating what the given budget says, or floats whose dtype
/// nothing else decides are of the given one. Scopes nest; destroy them in reverse order (locals do). Costs a few
/// words, no lock.
///
///     ta::Scope s{ta::relaxed};
///     ta::Array y = ta::exp(ta::zeros({3})) * 2 + 1;  // may use fma
///
/// Example: `ta::Scope s{ta::Budget::unlimited()}`.
class TARRY_EXPORT Scope {
 public:
  [[nodiscard]] explicit Scope(Numerics numerics) noexcept;
  /// Placement is explicit: arrays placed on different devices do not mix. `Device{}` ends an outer scope's placement.
  [[nodiscard]] explicit Scope(Device device) noexcept;
  [[nodiscard]] explicit Scope(Budget budget) noexcept;
  /// The default float: what zeros(), ones(), eye(), random numbers and a linspace() of integers are without a dtype,
  /// and the least that integers and bools become beside a floating number. Throws InvalidArgument for anything but
  /// float32 and float64.
  [[nodiscard]] explicit Scope(Dtype default_float, Where where = std::source_location::current());
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Scope() noexcept;
  Numerics numerics_;  // of the enclosing scope
  Device device_;
  Budget budget_;
  Dtype default_float_;
};

}  // namespace v0
}  // namespace tarry
