// The replaced operators and their counters.
#include "tests/helpers/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace tarry::test {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
thread_local constinit std::int64_t made = 0, asked_for = 0, first_failure = kNever;
thread_local constinit bool lasts_on = false;

}  // namespace

std::int64_t allocations_here() noexcept { return made; }
std::int64_t allocated_bytes_here() noexcept { return asked_for; }

FailingAllocation::FailingAllocation(std::int64_t k, Lasts lasts) noexcept {
  first_failure = made + k;
  lasts_on = lasts == Lasts::On;
}
FailingAllocation::~FailingAllocation() { first_failure = kNever; }
bool FailingAllocation::reached() const noexcept { return made > first_failure; }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

/// Never inlined: g++ would take malloc and free for mismatched partners of new and delete.
[[gnu::noinline]] void* allocate(std::size_t bytes, std::size_t alignment) {
  const std::int64_t number = made++;
  asked_for += static_cast<std::int64_t>(bytes);
  if (number == first_failure || (lasts_on && number > first_failure)) throw std::bad_alloc();
  if (bytes == 0) bytes = 1;
  void* const memory = alignment <= alignof(std::max_align_t)
                           ? std::malloc(bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
#endif

}  // namespace tarry::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::noinline]] void* operator new(std::size_t bytes) { return tarry::test::allocate(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tarry::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
