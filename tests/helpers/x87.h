// The x87 stack, whose registers are those of MMX: whoever leaves one in use makes the caller's long doubles NaN.
#pragma once

#include <cstdint>

namespace tarry::test {

/// True if all registers of the x87 stack are free; true where there is none.
inline bool free_x87() {
#if defined(__x86_64__)
  struct {
    std::uint32_t control, status, tags, rest[4];
  } environment;
  asm volatile("fnstenv %0\n\tfldenv %0" : "=m"(environment) : : "memory");
  return (environment.tags & 0xffff) == 0xffff;
#else
  return true;
#endif
}

}  // namespace tarry::test
