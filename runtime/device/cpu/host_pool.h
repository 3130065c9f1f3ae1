// A caching pool of host memory: fresh pages cost more than the kernels that fill them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/storage.h"
#include "runtime/device/backend.h"
#include "support/fork.h"

namespace tarry::runtime {

class HostPool {
 public:
  HostPool() = default;
  ~HostPool() { trim(); }
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  /// At least `bytes`, 256-byte aligned; large ones on huge pages. Statistics and limit count what was asked for: pages
  /// that nobody touches take no memory. The buffer keeps the pool alive. Throws OutOfMemory.
  static std::shared_ptr<graph::Buffer> allocate(const std::shared_ptr<HostPool>& pool, std::size_t bytes);
  [[nodiscard]] PoolStats stats() const;
  [[nodiscard]] std::int64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  void trim() noexcept;  ///< returns cached memory to the system
  void reset_peak();
  [[nodiscard]] MemoryLimit& limit() { return limit_; }

 private:
  class PoolBuffer;
  struct Idle {
    void* data;
    std::uint64_t since;  // of the clock
  };
  void* take(std::size_t bytes, std::size_t size);
  void* ask_system(std::size_t bytes, std::size_t size);
  void give(void* data, std::size_t bytes, std::size_t size) noexcept;
  void free_aged() noexcept;

  mutable support::Mutex mutex_;
  std::map<std::size_t, std::vector<Idle>> free_;  // by size class, the longest idle first
  IdleClock clock_;
  PoolStats stats_;  // but for allocations and the limit
  MemoryLimit limit_;
  std::atomic<std::int64_t> allocations_{0};
};

}  // namespace tarry::runtime
