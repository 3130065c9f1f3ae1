// CudaTransfers: copies between host and device through pinned memory, on streams of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/backend.h"
#include "runtime/cuda_context.h"
#include "runtime/cuda_pool.h"

namespace tarry::runtime {

/// A ring of pinned buffers. A slot is written anew only after its last copy is done.
class CudaStaging {
 public:
  CudaStaging(const CudaContext& context, cuda::Stream stream, std::size_t slots, std::size_t slot_bytes);

  struct Piece {
    std::byte* memory;
    std::size_t bytes;  ///< at most as many as asked for
    std::size_t slot;
  };
  /// Room for up to `bytes`; pieces smaller than a slot share one.
  Piece take(std::size_t bytes);
  /// The copy from or to the piece was enqueued on the stream.
  void enqueued(const Piece& piece);
  /// Blocks until that copy and all before it in the slot are done.
  void wait(std::size_t slot);

 private:
  enum class State { Idle, Recorded, Unrecorded };
  struct Slot {
    PinnedHandle memory;
    EventHandle done;
    State state = State::Idle;
    std::size_t used = 0;
  };
  const CudaContext& context_;
  const cuda::Stream stream_;
  const std::size_t slot_bytes_;
  std::vector<Slot> slots_;
  std::size_t current_ = 0;
};

/// Thread-safe; the context must be current.
class CudaTransfers {
 public:
  explicit CudaTransfers(std::shared_ptr<CudaTimeline> timeline) : timeline_(std::move(timeline)) {}

  /// What `fill` reads may change as soon as this returns. Work enqueued on the compute stream from now on sees the new
  /// contents; earlier work still sees the old ones.
  void upload(CudaBuffer& to, const Backend::Fill& fill, std::size_t bytes);
  /// Blocks until the bytes that are valid after `ticket` are in `to`.
  void download(void* to, cuda::DevicePointer from, std::size_t bytes, std::uint64_t ticket);

 private:
  /// One ring for copies of all sizes, and one for large ones: waking threads to fill a slot takes time that small slots
  /// do not make up for, and large slots are not worth being made for small copies.
  struct Rings {
    std::unique_ptr<CudaStaging> small, large;
  };
  CudaStaging& ring_of(Rings& rings, std::size_t bytes, cuda::Stream stream, std::size_t slots) const;

  const std::shared_ptr<CudaTimeline> timeline_;
  std::mutex in_mutex_, out_mutex_;
  Rings in_, out_;
  EventHandle arrived_;
};

}  // namespace tarry::runtime
