// MXCSR of x86-64, FPCR of aarch64.
#include "support/floating_point.h"

namespace tarry::support {

#if defined(__x86_64__)
// Reading the state costs far less than writing it.
DefaultFloatingPoint::DefaultFloatingPoint() noexcept : saved_(__builtin_ia32_stmxcsr()) {
  constexpr unsigned kReset = 0x1f80;  // all exceptions masked, round to nearest, no FTZ, no DAZ
  if (saved_ != kReset) __builtin_ia32_ldmxcsr(kReset);
}
DefaultFloatingPoint::~DefaultFloatingPoint() {
  if (__builtin_ia32_stmxcsr() != saved_) __builtin_ia32_ldmxcsr(static_cast<unsigned>(saved_));
}
#elif defined(__aarch64__)
DefaultFloatingPoint::DefaultFloatingPoint() noexcept {
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
}
DefaultFloatingPoint::~DefaultFloatingPoint() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
#error "the floating-point state of this architecture is not known"
#endif

}  // namespace tarry::support
