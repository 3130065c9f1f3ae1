// What the pools of all devices share: a limit, and the table of an allocation that failed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tarry::runtime {

struct MemoryStats {
  std::size_t live = 0;      ///< bytes in buffers that somebody holds
  std::size_t cached = 0;    ///< bytes kept by the pool for reuse
  std::size_t peak = 0;      ///< highest live
  std::size_t limit = 0;     ///< of live and cached together; 0: none
  std::int64_t allocations = 0;  ///< calls that had to ask the driver or the system
  std::int64_t requests = 0;     ///< allocate() calls
};

/// The most that a pool may hold. Thread-safe.
class MemoryLimit {
 public:
  void set(std::size_t bytes) { set_.store(bytes, std::memory_order_release); }  ///< 0: TARRY_MEMORY_LIMIT
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] bool exists() const { return bytes() != std::numeric_limits<std::size_t>::max(); }
  /// Whether `more` bytes beyond `held` are allowed.
  [[nodiscard]] bool allows(std::size_t held, std::size_t more) const {
    const std::size_t most = bytes();
    return held <= most && more <= most - held;
  }
  [[nodiscard]] std::string describe() const;  ///< a line of the table, or ""

 private:
  std::atomic<std::size_t> set_{0};
};

std::string bytes_text(std::size_t bytes);  ///< "1.50 MiB"
/// Lines for OutOfMemory: live, pinned by pending work, cached, requested. No lock of a pool is held.
std::string memory_table(const MemoryStats& now, std::size_t requested, std::string_view cached_went);

}  // namespace tarry::runtime
