// CudaTransfers: copies between host and device through pinned memory, on streams of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/pool.h"

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

/// Pinned slots for uploads of many bytes. Threads fill and enqueue slots side by side, none waits for another's.
class CudaUploader {
 public:
  CudaUploader(const CudaContext& context, cuda::Stream stream, std::size_t slots);
  /// Everything is enqueued on the stream when this returns, in any order. Throws what `fill` or the driver does.
  void upload(cuda::DevicePointer to, const Backend::Fill& fill, std::size_t bytes);

 private:
  struct Slot {
    std::mutex mutex;  ///< of the thread that fills it
    PinnedHandle memory;
    EventHandle done;
    bool copied = false;  ///< by work that `done` follows
  };
  void upload_part(Slot& slot, cuda::DevicePointer to, const Backend::Fill& fill, std::size_t at, std::size_t bytes);

  const CudaContext& context_;
  const cuda::Stream stream_;
  std::vector<Slot> slots_;
};

/// Thread-safe; the context must be current.
class CudaTransfers {
 public:
  explicit CudaTransfers(std::shared_ptr<CudaTimeline> timeline) : timeline_(std::move(timeline)) {}

  /// Memory that `fill` reads may change as soon as this returns. Work enqueued on the compute stream from now on sees
  /// the new contents; earlier work still sees the old ones.
  void upload(CudaBuffer& to, const Backend::Fill& fill, std::size_t bytes);
  /// Blocks until the bytes that are valid after `ticket` are in `to`.
  void download(void* to, cuda::DevicePointer from, std::size_t bytes, std::uint64_t ticket);

 private:
  void upload_staged(CudaBuffer& to, const Backend::Fill& fill, std::size_t bytes);

  const std::shared_ptr<CudaTimeline> timeline_;
  std::mutex in_mutex_, out_mutex_;
  // Memory for large copies is made when the first one comes.
  std::unique_ptr<CudaStaging> in_, out_, large_out_;
  std::unique_ptr<CudaUploader> large_in_;
  EventHandle arrived_;
};

}  // namespace tarry::runtime
