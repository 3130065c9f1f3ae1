// Staged copies. The order against compute is kept by events; the host waits only for a slot of the ring.
#include "runtime/device/cuda/transfer.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>

#include "runtime/device/parallel.h"

namespace tarry::runtime {
namespace {

// Three upload slots: one being filled by the host, one being copied, one waiting. Two are enough for a download.
constexpr std::size_t kUploadSlots = 3;
constexpr std::size_t kDownloadSlots = 2;
constexpr std::size_t kSmallSlot = std::size_t{8} << 20, kLargeSlot = std::size_t{32} << 20;
constexpr std::size_t kLargeFrom = 4 * kLargeSlot;  // bytes of a copy
// Large uploads: a thread fills one slot while its other one is copied. A core reads 5 to 7 GB/s of a file that is in
// memory, so about ten of them keep a bus of 55 GB/s busy.
constexpr std::size_t kUploadPart = std::size_t{4} << 20, kMostUploadParts = 32;

}  // namespace

CudaStaging::CudaStaging(const CudaContext& context, cuda::Stream stream, std::size_t slots, std::size_t slot_bytes)
    : context_(context), stream_(stream), slot_bytes_(slot_bytes), slots_(slots) {
  for (Slot& slot : slots_) {
    void* memory = nullptr;
    context.call("cuMemHostAlloc", context.api().mem_host_alloc, &memory, slot_bytes_, 0U);
    slot.memory.reset({&context, memory});
    slot.done = context.make_event();
  }
}

CudaStaging::Piece CudaStaging::take(std::size_t bytes) {
  if (const Slot& slot = slots_[current_]; slot_bytes_ - slot.used < std::min(bytes, slot_bytes_)) {
    current_ = (current_ + 1) % slots_.size();
    wait(current_);
  }
  Slot& slot = slots_[current_];
  const Piece piece{static_cast<std::byte*>(slot.memory.get().object) + slot.used,
                    std::min(bytes, slot_bytes_ - slot.used), current_};
  slot.used = std::min(slot_bytes_, slot.used + (piece.bytes + graph::kBufferAlignment - 1) / graph::kBufferAlignment *
                                                    graph::kBufferAlignment);
  slot.state = State::Unrecorded;
  return piece;
}

void CudaStaging::enqueued(const Piece& piece) {
  Slot& slot = slots_[piece.slot];
  context_.call("cuEventRecord", context_.api().event_record, slot.done.get().object, stream_);
  slot.state = State::Recorded;
}

void CudaStaging::wait(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.state == State::Recorded) {
    context_.call("cuEventSynchronize", context_.api().event_synchronize, slot.done.get().object);
  } else if (slot.state == State::Unrecorded) {  // an error came between the copy and its event
    context_.call("cuStreamSynchronize", context_.api().stream_synchronize, stream_);
  }
  slot.state = State::Idle;
  slot.used = 0;
}

CudaUploader::CudaUploader(const CudaContext& context, cuda::Stream stream, std::size_t slots)
    : context_(context), stream_(stream), slots_(slots) {
  for (Slot& slot : slots_) {
    void* memory = nullptr;
    context.call("cuMemHostAlloc", context.api().mem_host_alloc, &memory, kUploadPart, 0U);
    slot.memory.reset({&context, memory});
    slot.done = context.make_event();
  }
}

void CudaUploader::upload(cuda::DevicePointer to, const Backend::Fill& fill, std::size_t bytes) {
  const std::size_t parts = (bytes + kUploadPart - 1) / kUploadPart;
  std::atomic<std::size_t> next{0};  // in order, as files are read best
  std::exception_ptr failure;
  std::mutex failure_mutex;
  parallel_for(static_cast<std::int64_t>(parts), 1, [&](std::int64_t lo, std::int64_t hi) {
    try {
      const CudaContext::Current current(context_);
      for (; lo < hi; ++lo) {
        const std::size_t part = next.fetch_add(1, std::memory_order_relaxed), at = part * kUploadPart;
        upload_part(slots_[part % slots_.size()], to, fill, at, std::min(kUploadPart, bytes - at));
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

void CudaUploader::upload_part(Slot& slot, cuda::DevicePointer to, const Backend::Fill& fill, std::size_t at,
                               std::size_t bytes) {
  const std::lock_guard lock(slot.mutex);
  if (slot.copied) context_.call("cuEventSynchronize", context_.api().event_synchronize, slot.done.get().object);
  void* const memory = slot.memory.get().object;
  fill(memory, at, bytes);
  context_.call("cuMemcpyHtoDAsync", context_.api().memcpy_htod_async, to + at, static_cast<const void*>(memory), bytes,
                stream_);
  context_.call("cuEventRecord", context_.api().event_record, slot.done.get().object, stream_);
  slot.copied = true;
}

void CudaTransfers::upload(CudaBuffer& to, const Backend::Fill& fill, std::size_t bytes) {
  const CudaContext& context = timeline_->context();
  const std::lock_guard lock(in_mutex_);
  if (!arrived_) arrived_ = context.make_event();
  timeline_->order_after(context.in(), to.order_before_write());
  try {
    if (bytes < kLargeFrom) {
      upload_staged(to, fill, bytes);
    } else {
      if (!large_in_) {
        const auto slots = std::clamp<std::size_t>(2 * static_cast<std::size_t>(thread_count()), 2, kMostUploadParts);
        large_in_ = std::make_unique<CudaUploader>(context, context.in(), slots);
      }
      large_in_->upload(to.address(), fill, bytes);
    }
    context.call("cuEventRecord", context.api().event_record, arrived_.get().object, context.in());
    context.call("cuStreamWaitEvent", context.api().stream_wait_event, context.compute(), arrived_.get().object, 0U);
  } catch (...) {
    context.settle(context.in());  // the block may go to another owner now: no copy into it may be under way
    throw;
  }
  timeline_->touched();
}

void CudaTransfers::upload_staged(CudaBuffer& to, const Backend::Fill& fill, std::size_t bytes) {
  const CudaContext& context = timeline_->context();
  if (!in_) in_ = std::make_unique<CudaStaging>(context, context.in(), kUploadSlots, kSmallSlot);
  for (std::size_t done = 0; done < bytes;) {
    const CudaStaging::Piece piece = in_->take(bytes - done);
    fill_in_parallel(fill, piece.memory, done, piece.bytes);
    context.call("cuMemcpyHtoDAsync", context.api().memcpy_htod_async, to.address() + done,
                 static_cast<const void*>(piece.memory), piece.bytes, context.in());
    in_->enqueued(piece);
    done += piece.bytes;
  }
}

void CudaTransfers::download(void* to, cuda::DevicePointer from, std::size_t bytes, std::uint64_t ticket) {
  const CudaContext& context = timeline_->context();
  // Before the lock: a thread whose values are ready must not wait for another's.
  timeline_->wait(ticket, std::chrono::nanoseconds::max());
  const std::lock_guard lock(out_mutex_);
  const bool large = bytes >= kLargeFrom;
  std::unique_ptr<CudaStaging>& of_size = large ? large_out_ : out_;
  if (!of_size)
    of_size = std::make_unique<CudaStaging>(context, context.out(), kDownloadSlots, large ? kLargeSlot : kSmallSlot);
  CudaStaging& ring = *of_size;
  auto* target = static_cast<std::byte*>(to);
  struct Flight {
    CudaStaging::Piece piece;
    std::byte* target;
  };
  std::deque<Flight> flights;
  const auto land = [&] {
    const Flight flight = flights.front();
    ring.wait(flight.piece.slot);
    copy_in_parallel(flight.target, flight.piece.memory, flight.piece.bytes);
    flights.pop_front();
  };
  try {
    for (std::size_t done = 0; done < bytes;) {
      if (flights.size() == kDownloadSlots) land();
      const CudaStaging::Piece piece = ring.take(bytes - done);
      flights.push_back({piece, target + done});
      context.call("cuMemcpyDtoHAsync", context.api().memcpy_dtoh_async, static_cast<void*>(piece.memory), from + done,
                   piece.bytes, context.out());
      ring.enqueued(piece);
      done += piece.bytes;
    }
    while (!flights.empty()) land();
  } catch (...) {
    context.settle(context.out());  // the slots are written anew by the next download
    throw;
  }
}

}  // namespace tarry::runtime
