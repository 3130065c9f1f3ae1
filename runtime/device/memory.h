// Shared by the pools of all devices: a limit, and the table of an allocation that failed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace tarry::runtime {

struct PoolStats {
  std::size_t live = 0;          ///< bytes in buffers that somebody holds
  std::size_t cached = 0;        ///< bytes kept by the pool for reuse
  std::size_t peak = 0;          ///< highest live
  std::size_t limit = 0;         ///< of live and cached together; 0: none
  std::int64_t allocations = 0;  ///< calls that had to ask the driver or the system
  std::int64_t requests = 0;     ///< allocate() calls
};

/// The most that a pool may hold. Thread-safe.
class MemoryLimit {
 public:
  void set(std::size_t bytes) { set_.store(bytes, std::memory_order_release); }  ///< 0: TARRY_MEMORY_LIMIT
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] bool exists() const { return bytes() != std::numeric_limits<std::size_t>::max(); }
  /// True if `more` bytes beyond `held` are allowed.
  [[nodiscard]] bool allows(std::size_t held, std::size_t more) const {
    const std::size_t most = bytes();
    return held <= most && more <= most - held;
  }
  [[nodiscard]] std::string describe() const;  ///< a line of the table, or ""

 private:
  std::atomic<std::size_t> set_{0};
};

/// How long a pool keeps what nobody asks for. Time is what it serves, in bytes: memory that was idle while the pool
/// served many times all that it caches costs less to get anew than the work in between took. Not thread-safe.
class IdleClock {
 public:
  /// A request passes. True now and then: what is old may go.
  bool passes(std::size_t bytes, std::size_t cached) {
    now_ += bytes + kRequest;
    most_ = std::max(most_, cached);
    if (now_ > turns_) {
      most_before_ = std::exchange(most_, cached);
      turns_ = now_ + most_idle();
    }
    if (now_ < next_) return false;
    next_ = now_ + most_idle() / 8;
    return true;
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] bool is_old(std::uint64_t since) const { return now_ - since > most_idle(); }

 private:
  static constexpr std::uint64_t kRequest = std::uint64_t{16}
                                            << 10;  // the least work that an evaluate is, as bytes moved
  static constexpr std::uint64_t kLittle = std::uint64_t{32} << 20;  // cached memory that never matters
  static constexpr std::uint64_t kTimes = 4;
  /// By the most that was cached lately: while an evaluate takes what it needs, less and less is.
  [[nodiscard]] std::uint64_t most_idle() const {
    return kTimes * std::max<std::uint64_t>({most_, most_before_, kLittle});
  }

  std::uint64_t now_ = 0, next_ = 0, turns_ = 0;
  std::size_t most_ = 0, most_before_ = 0;  ///< cached since the last turn, and between it and the one before
};

std::string bytes_text(std::size_t bytes);  ///< "1.50 MiB"
/// Lines for OutOfMemory: live, pinned by pending work, cached, requested. No lock of a pool is held.
std::string memory_table(const PoolStats& now, std::size_t requested, std::string_view cached_went);

}  // namespace tarry::runtime
