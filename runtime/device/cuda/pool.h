// CudaPool: device memory that is kept for reuse, in the order of the compute stream.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/storage.h"
#include "runtime/device/backend.h"
#include "runtime/device/cuda/context.h"

namespace tarry::runtime {

/// Device memory from a CudaPool, to which it returns when destroyed.
///
/// The next owner may write it from the compute stream at once, since everything that used it was enqueued there
/// before. Another stream has to wait for order_before_write().
class CudaBuffer final : public graph::Buffer {
 public:
  CudaBuffer(std::shared_ptr<class CudaPool> pool, BlockHandle block, std::size_t block_bytes, std::size_t size,
             std::uint64_t free_after);
  ~CudaBuffer() override;

  [[nodiscard]] cuda::DevicePointer address() const noexcept { return block_.get().object; }
  /// The ticket after which a stream other than compute may write.
  [[nodiscard]] std::uint64_t order_before_write() const;

 private:
  const std::shared_ptr<CudaPool> pool_;
  BlockHandle block_;
  const std::size_t block_bytes_;
  const std::uint64_t free_after_;  // ticket that covers the former owner's work
  const std::uint64_t taken_at_;    // position of the timeline when this owner got it
};

/// Thread-safe. Buffers keep their pool and its context alive, so they may outlive the backend.
class CudaPool : public std::enable_shared_from_this<CudaPool> {
 public:
  /// TARRY_DISABLE=pool, read here, keeps no block: each buffer is an allocation of just its size, for tools that look
  /// for accesses past its end or after its life.
  explicit CudaPool(std::shared_ptr<CudaTimeline> timeline);

  /// At least `bytes`, aligned to 256. A failing allocation returns the cache to the driver and tries once more.
  /// Throws OutOfMemory with a table of where the memory is. The context must be current.
  std::shared_ptr<CudaBuffer> allocate(std::size_t bytes);
  /// Waits for the device and returns every cached block. The context must be current.
  void trim();
  void reset_peak();
  [[nodiscard]] MemoryLimit& limit() { return limit_; }
  [[nodiscard]] PoolStats stats() const;
  [[nodiscard]] std::int64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  [[nodiscard]] CudaTimeline& timeline() const noexcept { return *timeline_; }

  /// Size of the block that serves a request: of a geometric series, so that equal needs meet equal blocks. At most
  /// 12.5 % and 256 bytes are lost.
  static std::size_t block_size(std::size_t bytes);

 private:
  friend class CudaBuffer;
  struct Block {
    BlockHandle handle;
    std::size_t bytes = 0;
    std::uint64_t free_after = 0;
    std::uint64_t idle_since = 0;  // of the clock
  };

  std::vector<Block> take_aged(std::size_t bytes);  // what may go
  bool take_cached(std::size_t bytes, Block& block);
  void hand_out(std::size_t block_bytes);  // mutex_ held
  bool ask_driver(std::size_t bytes, Block& block);
  void note_plenty();
  void give_back(Block block) noexcept;
  [[noreturn]] void throw_out_of_memory(std::size_t bytes) const;

  const std::shared_ptr<CudaTimeline> timeline_;
  const bool keeps_;  // blocks for reuse
  mutable std::mutex mutex_;
  static constexpr std::size_t kBins = 8 * 55;  // sizes that block_size() gives
  static std::size_t bin_of(std::size_t block_bytes);
  std::array<std::vector<Block>, kBins> cache_;  // by size, the longest idle first
  IdleClock clock_;
  PoolStats stats_;  // but for allocations and the limit
  MemoryLimit limit_;
  std::atomic<std::size_t> total_{0};   // of the device
  std::atomic<std::size_t> plenty_{0};  // up to which blocks may be larger than asked for
  std::atomic<std::int64_t> allocations_{0};
};

}  // namespace tarry::runtime
