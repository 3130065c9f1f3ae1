// Size classes, huge pages and accounting of host memory.
#include "runtime/device/cpu/host_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/format.h>

#include "support/check.h"
#include "support/fault.h"
#include "support/recycle.h"

namespace tarry::runtime {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kHugeFrom = 2 * kHugePage;
constexpr std::size_t kLargest = std::size_t{1} << 57;  // no address space is larger

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Eight classes per power of two: at most 1/8 is wasted, and sizes near each other share memory.
std::size_t size_class(std::size_t bytes) {
  const std::size_t step = std::max(graph::kBufferAlignment, std::bit_floor(std::max<std::size_t>(bytes, 1)) / 8);
  return round_up(std::max<std::size_t>(bytes, 1), step);
}

void* system_allocate(std::size_t size) {
  void* data = nullptr;
  if (posix_memalign(&data, size < kHugeFrom ? graph::kBufferAlignment : kHugePage, size) != 0) return nullptr;
  if (size >= kHugeFrom)
    madvise(data, size, MADV_HUGEPAGE);  // advice: without it the memory is as good, only slower to touch
  return data;
}

}  // namespace

class HostPool::PoolBuffer final : public graph::Buffer {
 public:
  PoolBuffer(std::shared_ptr<HostPool> pool, void* memory, std::size_t usable, std::size_t size)
      : Buffer(cpu, graph::Owner::Pool, memory, usable), pool_(std::move(pool)), size_(size) {}
  ~PoolBuffer() override { pool_->give(data, bytes, size_); }

 private:
  std::shared_ptr<HostPool> pool_;
  std::size_t size_;
};

void* HostPool::take(std::size_t bytes, std::size_t size) {
  {
    const std::lock_guard lock(mutex_);
    ++stats_.requests;
    if (clock_.passes(bytes, stats_.cached)) free_aged();
    if (auto bin = free_.find(size); bin != free_.end() && !bin->second.empty()) {
      void* const data = bin->second.back().data;
      bin->second.pop_back();
      stats_.cached -= size;
      stats_.live += bytes;
      stats_.peak = std::max(stats_.peak, stats_.live);
      return data;
    }
  }
  const bool refused = bytes > kLargest || support::fault::fails(support::fault::Site::Allocation);
  void* data = refused ? nullptr : ask_system(bytes, size);
  if (!data && !refused) {
    trim();
    data = ask_system(bytes, size);
  }
  if (!data)
    TARRY_THROW(OutOfMemory, "", Where{},
                fmt::format("no host memory for {}\n{}{}", bytes_text(bytes), memory_table(stats(), bytes, "system"),
                            limit_.describe()));
  return data;
}

/// Counted as live before the system is asked: threads that ask at once see each other's bytes.
void* HostPool::ask_system(std::size_t bytes, std::size_t size) {
  {
    const std::lock_guard lock(mutex_);
    if (!limit_.allows(stats_.live + stats_.cached, bytes)) return nullptr;
    stats_.live += bytes;
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  void* const data = system_allocate(size);
  const std::lock_guard lock(mutex_);
  if (data == nullptr) {
    stats_.live -= bytes;
  } else {
    stats_.peak = std::max(stats_.peak, stats_.live);
  }
  return data;
}

std::shared_ptr<graph::Buffer> HostPool::allocate(const std::shared_ptr<HostPool>& pool, std::size_t bytes) {
  const std::size_t size = bytes > kLargest ? bytes : size_class(bytes);
  void* const data = pool->take(bytes, size);
  try {
    return std::allocate_shared<PoolBuffer>(support::Recycler<PoolBuffer>(), pool, data, bytes, size);
  } catch (...) {
    pool->give(data, bytes, size);
    throw;
  }
}

void HostPool::give(void* data, std::size_t bytes, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.live -= bytes;
  try {
    free_[size].push_back({data, clock_.now()});
    stats_.cached += size;
  } catch (...) {
    std::free(data);
  }
}

void HostPool::free_aged() noexcept {
  for (auto& [size, bin] : free_) {
    const auto young = std::ranges::find_if(bin, [this](const Idle& idle) { return !clock_.is_old(idle.since); });
    for (auto idle = bin.begin(); idle != young; ++idle) std::free(idle->data);
    stats_.cached -= static_cast<std::size_t>(young - bin.begin()) * size;
    bin.erase(bin.begin(), young);
  }
}

PoolStats HostPool::stats() const {
  const std::lock_guard lock(mutex_);
  PoolStats now = stats_;
  now.allocations = allocations();
  now.limit = limit_.exists() ? limit_.bytes() : 0;
  return now;
}

void HostPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.live;
}

void HostPool::trim() noexcept {
  std::map<std::size_t, std::vector<Idle>> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(free_);
    stats_.cached = 0;
  }
  for (const auto& bin : dropped)
    for (const Idle& idle : bin.second) std::free(idle.data);
}

}  // namespace tarry::runtime
