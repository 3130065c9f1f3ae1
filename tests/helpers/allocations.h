// operator new of the test program: it counts, and fails where a test wants it to.
#pragma once

#include <cstdint>

namespace tarry::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kOwnAllocations = false;  // sanitizers have operators of their own
#else
inline constexpr bool kOwnAllocations = true;
#endif

/// Calls of operator new by this thread so far.
std::int64_t allocations_here() noexcept;
/// Bytes that they asked for.
std::int64_t allocated_bytes_here() noexcept;

/// While it lives, the k-th call of operator new in this thread fails (k from 0), or that and all later ones.
class FailingAllocation {
 public:
  enum class Lasts : std::uint8_t { Once, On };
  explicit FailingAllocation(std::int64_t k, Lasts lasts = Lasts::Once) noexcept;
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  [[nodiscard]] bool reached() const noexcept;
};

}  // namespace tarry::test
