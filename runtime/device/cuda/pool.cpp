// The pool: best fit among cached blocks, then the driver, then trim and the driver again.
#include "runtime/device/cuda/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/recycle.h"

namespace tarry::runtime {
namespace {

/// Integers become pointers here alone.
void* as_pointer(cuda::DevicePointer address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

}  // namespace

CudaBuffer::CudaBuffer(std::shared_ptr<CudaPool> pool, BlockHandle block, std::size_t block_bytes, std::size_t size,
                       std::uint64_t free_after)
    : Buffer(tarry::cuda(pool->timeline().context().index()), graph::Owner::Pool, as_pointer(block.get().object), size),
      pool_(std::move(pool)),
      block_(std::move(block)),
      block_bytes_(block_bytes),
      free_after_(free_after),
      taken_at_(pool_->timeline().position()) {}

CudaBuffer::~CudaBuffer() {
  if (cuda::forked()) {  // a thread that this child does not have may hold the locks
    (void)block_.release();
    return;
  }
  pool_->give_back({std::move(block_), block_bytes_, pool_->timeline().position()});
}

std::uint64_t CudaBuffer::order_before_write() const {
  const std::uint64_t now = pool_->timeline().position();
  return now == taken_at_ ? free_after_ : now;  // nothing was launched since: only the former owner's work counts
}

CudaPool::CudaPool(std::shared_ptr<CudaTimeline> timeline)
    : timeline_(std::move(timeline)), keeps_(!support::env::has_word("TARRY_DISABLE", "pool")) {}

std::size_t CudaPool::block_size(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, graph::kBufferAlignment);
  if (wanted > std::numeric_limits<std::size_t>::max() / 2) return wanted;  // no block is that large
  const std::size_t step = std::max(graph::kBufferAlignment, std::bit_floor(wanted) / 8);
  return (wanted + step - 1) / step * step;
}

std::size_t CudaPool::bin_of(std::size_t block_bytes) {
  const auto power = static_cast<std::size_t>(std::bit_width(block_bytes)) - 1;
  if (power < 11)
    return block_bytes / graph::kBufferAlignment;  // 1 to 7; from 2 KiB on eight sizes for each power of two
  return std::min(kBins - 1, 8 * (power - 10) + (block_bytes >> (power - 3)) - 8);
}

std::shared_ptr<CudaBuffer> CudaPool::allocate(std::size_t bytes) {
  const std::size_t needed = keeps_ ? block_size(bytes) : std::max<std::size_t>(bytes, 1);
  Block block;
  if (const std::vector<Block> aged = take_aged(needed); !aged.empty())
    timeline_->context().synchronize();  // their handles free them
  if (!take_cached(needed, block)) {
    if (!ask_driver(needed, block)) {
      trim();
      if (!ask_driver(needed, block)) throw_out_of_memory(bytes);
    }
  }
  const std::size_t block_bytes = block.bytes;
  try {
    return std::allocate_shared<CudaBuffer>(support::Recycler<CudaBuffer>(), shared_from_this(),
                                            std::move(block.handle), block_bytes, bytes, block.free_after);
  } catch (...) {  // no host memory for the owner; the block went back to the driver with its handle
    const std::lock_guard lock(mutex_);
    stats_.live -= block_bytes;
    throw;
  }
}

std::vector<CudaPool::Block> CudaPool::take_aged(std::size_t bytes) {
  std::vector<Block> aged;
  const std::lock_guard lock(mutex_);
  if (!clock_.passes(bytes, stats_.cached)) return aged;
  for (std::vector<Block>& blocks : cache_) {
    const auto young = std::ranges::find_if(blocks, [&](const Block& b) { return !clock_.is_old(b.idle_since); });
    aged.insert(aged.end(), std::make_move_iterator(blocks.begin()), std::make_move_iterator(young));
    const auto first = aged.end() - (young - blocks.begin());
    for (auto b = first; b != aged.end(); ++b) stats_.cached -= b->bytes;
    blocks.erase(blocks.begin(), young);
  }
  return aged;
}

void CudaPool::hand_out(std::size_t block_bytes) {
  ++stats_.requests;
  stats_.live += block_bytes;
  stats_.peak = std::max(stats_.peak, stats_.live);
}

bool CudaPool::take_cached(std::size_t bytes, Block& block) {
  const std::lock_guard lock(mutex_);
  if (stats_.cached == 0) return false;
  for (std::size_t bin = bin_of(bytes); bin < kBins; ++bin) {
    std::vector<Block>& blocks = cache_[bin];
    if (blocks.empty()) continue;
    if (blocks.back().bytes < bytes) return false;  // of the last bin, which holds every larger size
    // A larger block is worth more elsewhere. Where memory is short what is lost in it would count.
    const bool close = blocks.back().bytes <= bytes + bytes / 4 && stats_.live + blocks.back().bytes <= plenty_;
    if (blocks.back().bytes != bytes && !close) return false;
    block = std::move(blocks.back());
    blocks.pop_back();
    stats_.cached -= block.bytes;
    hand_out(block.bytes);
    return true;
  }
  return false;
}

/// Counted as live before the driver is asked: threads that ask at once see each other's bytes.
bool CudaPool::ask_driver(std::size_t bytes, Block& block) {
  {
    const std::lock_guard lock(mutex_);
    if (!limit_.allows(stats_.live + stats_.cached, bytes)) return false;
    stats_.live += bytes;
  }
  cuda::Result result = cuda::Result::OutOfMemory;
  cuda::DevicePointer address = 0;
  const CudaContext& context = timeline_->context();
  if (!support::fault::fails(support::fault::Site::Allocation))
    result = cuda::call(context.api().mem_alloc, &address, bytes);
  {
    const std::lock_guard lock(mutex_);
    stats_.live -= bytes;
    if (result == cuda::Result::Success) hand_out(bytes);
  }
  if (result == cuda::Result::OutOfMemory) return false;
  context.check(result, "cuMemAlloc");
  block = Block{BlockHandle({&context, address}), bytes, 0};
  allocations_.fetch_add(1, std::memory_order_relaxed);
  note_plenty();
  return true;
}

void CudaPool::note_plenty() {
  const CudaContext& context = timeline_->context();
  std::size_t free = 0, total = total_.load(std::memory_order_relaxed);
  if (total == 0 && cuda::call(context.api().mem_get_info, &free, &total) == cuda::Result::Success) total_ = total;
  plenty_ = std::min(total, limit_.bytes()) / 2;
}

void CudaPool::give_back(Block block) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.live -= block.bytes;
  try {
    if (!keeps_) {  // then its handle frees it, after the work that uses it
      const CudaContext::Current current(timeline_->context());
      timeline_->context().synchronize();
      return;
    }
    std::vector<Block>& blocks = cache_[bin_of(block.bytes)];
    const std::size_t bytes = block.bytes;
    block.idle_since = clock_.now();
    blocks.push_back(std::move(block));
    stats_.cached += bytes;
  } catch (...) {  // no host memory to remember it: the handle frees it
  }
}

void CudaPool::trim() {
  std::array<std::vector<Block>, kBins> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (stats_.cached == 0) return;
  }
  timeline_->context().synchronize();  // a block may still be in use by work enqueued before it came back
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(cache_);
    stats_.cached = 0;
  }
}

PoolStats CudaPool::stats() const {
  const std::lock_guard lock(mutex_);
  PoolStats now = stats_;
  now.allocations = allocations();
  now.limit = limit_.exists() ? limit_.bytes() : 0;
  return now;
}

void CudaPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.live;
}

void CudaPool::throw_out_of_memory(std::size_t bytes) const {
  const CudaContext& context = timeline_->context();
  std::size_t free = 0;
  std::size_t total = 0;
  const bool known = cuda::call(context.api().mem_get_info, &free, &total) == cuda::Result::Success;
  const PoolStats now = stats();
  std::string text = fmt::format("cuda:{} has no room for {}\n{}", context.index(), bytes_text(bytes),
                                 memory_table(now, bytes, "driver"));
  if (known) text += fmt::format("  free      {:>12}  of {} on the device\n", bytes_text(free), bytes_text(total));
  text += limit_.describe();
  TARRY_THROW(OutOfMemory, "", Where{}, text);
}

}  // namespace tarry::runtime
