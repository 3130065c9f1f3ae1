// Backend: everything a device must do for the engine. CpuBackend and CudaBackend implement it; nothing else of the
// runtime knows which one it talks to.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/device.h>

#include "cache/kernel_cache.h"
#include "codegen/cuda/routine.h"
#include "codegen/render/kernel_source.h"
#include "graph/storage.h"
#include "graph/target.h"
#include "runtime/device/library_call.h"
#include "runtime/device/memory.h"

namespace tarry::runtime {

/// One kernel launch. `parameters` are the packed words of codegen::pack_parameters.
struct Launch {
  const cache::Executable* executable;
  const codegen::KernelSource* source;
  std::span<const std::uint64_t> parameters;
  codegen::Geometry geometry;
  bool large = false;  ///< it moves kLargeLaunch bytes or more
};

/// A launch of a kernel of the user's.
struct OwnLaunch {
  const cache::Executable* executable;
  std::string_view name;
  std::array<unsigned, 3> grid, block;
  std::size_t shared_bytes;
  std::span<const std::uint64_t> parameters;
};

/// Work that takes a GPU longer than a launch takes the host, whatever the way.
inline constexpr std::int64_t kLargeLaunch = std::int64_t{32} << 20;

/// Launches that repeat, made ready once (a CUDA graph).
class Sequence {
 public:
  virtual ~Sequence() = default;
  /// Enqueues all of them with these parameter words, those of one launch after another. False where the device
  /// refuses; then nothing was enqueued. Throws DeviceError. Not thread-safe.
  virtual bool replay(std::span<const std::uint64_t> words) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// Tells backends of one process apart, also those of one device: kernels of one do not run on another.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }
  [[nodiscard]] virtual Device device() const = 0;
  [[nodiscard]] virtual const graph::Target& target() const = 0;
  [[nodiscard]] virtual std::string options(graph::Mode mode) const = 0;  ///< compiler options: part of the cache key
  [[nodiscard]] virtual std::string compiler() const = 0;                 ///< name and version, "" where none

  /// At least `bytes` (256-byte aligned); from the pool where possible. Throws OutOfMemory.
  virtual std::shared_ptr<graph::Buffer> allocate(std::size_t bytes) = 0;
  /// Zeroed u32 counters for last-block-done reductions; kernels leave them zero. Null on the CPU.
  virtual void* tickets(std::size_t count) = 0;
  virtual void upload(graph::Buffer& to, const void* from, std::size_t bytes) = 0;  ///< enqueued in stream order
  /// The same for bytes that `fill` puts where it is told, from `at` on; on several threads at once.
  using Fill = std::function<void(void* to, std::size_t at, std::size_t bytes)>;
  virtual void upload(graph::Buffer& to, const Fill& fill, std::size_t bytes) = 0;
  virtual void download(void* to, const graph::Buffer& from, std::size_t offset, std::size_t bytes) = 0;  ///< waits

  /// Bytes from one address of the device to another; enqueued in stream order.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  /// nullopt where no kernel can be compiled here and the interpreter can run them; a warning says why.
  virtual std::optional<cache::Binary> compile(std::span<const cache::KernelRequest* const> requests) = 0;
  virtual std::shared_ptr<cache::Executable> load(const cache::KernelRequest& request, const cache::Binary& binary) = 0;

  /// Why the device has no library for products of a dtype, or "".
  [[nodiscard]] virtual std::string library_missing(Dtype) { return "the device has no library"; }
  /// A product that can be run many times. Asked for only where nothing is missing.
  virtual std::shared_ptr<const LibraryCall> prepare(const MatmulSpec& spec) {
    (void)spec;
    return nullptr;
  }
  virtual void run(const LibraryCall& call, const void* a, const void* b, void* result, void* workspace) {
    call.run(a, b, result, workspace);
  }

  /// A routine as code of this library, where it is no kernels. `operands`: its inputs, then its result.
  virtual void run(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);

  /// A kernel of the user's; `request.user` is its text, a std::string. Only a GPU is asked. Throws CompileError.
  virtual cache::Loaded own_kernel(const cache::KernelRequest& request, std::span<const std::string> options);
  virtual void launch(const OwnLaunch& launch);

  /// Calls `body`; what it asks of this backend costs less than outside.
  virtual void within(const std::function<void()>& body) { body(); }
  virtual void launch(const Launch& launch) = 0;
  /// The launches as one, or nullptr where the device has no such thing, refuses, or waits for each launch.
  virtual std::unique_ptr<Sequence> sequence(std::span<const Launch> launches) {
    (void)launches;
    return nullptr;
  }
  /// True if a large kernel that waits by itself may start while the one before it ends.
  [[nodiscard]] virtual bool overlaps_launches() const { return false; }
  /// True if launch returns when the kernel is done, so that its time can be taken around it.
  [[nodiscard]] virtual bool launch_waits() const { return false; }
  /// A ticket for everything enqueued so far; 0 where work is done when launch returns.
  virtual std::uint64_t record() = 0;
  /// The same for an evaluate whose kernels moved that many bytes, at less cost: a wait for it may wait for what
  /// follows too.
  virtual std::uint64_t mark(std::int64_t bytes) {
    (void)bytes;
    return record();
  }
  /// The only blocking wait. Throws DeviceError; false where the deadline passed first.
  virtual bool wait(std::uint64_t ticket, std::chrono::nanoseconds deadline) = 0;
  virtual void synchronize() = 0;

  /// Streams of other code, on a GPU. Work enqueued on the device from now on comes after what is enqueued on `stream`.
  virtual void wait_for(void* stream) { (void)stream; }
  /// Work enqueued on `stream` from now on comes after `ticket`.
  virtual void let_wait(void* stream, std::uint64_t ticket) { (void)stream, (void)ticket; }
  /// Kernels run on `stream` from now on, after what was enqueued before; null: on the device's own.
  virtual void use_stream(void* stream) { (void)stream; }
  [[nodiscard]] virtual void* stream() const { return nullptr; }

  virtual PoolStats memory() const = 0;
  /// Most that may be live and cached together: what limit_memory() was told, else memory_limit().
  [[nodiscard]] virtual std::size_t limit() const = 0;
  virtual void limit_memory(std::size_t bytes) = 0;  ///< 0: memory_limit()
  /// Bytes of new memory that there is room for under the limit, or else on the device; SIZE_MAX: who knows.
  [[nodiscard]] virtual std::size_t room() const;
  /// The same as memory(), without a lock.
  virtual std::int64_t allocations() const { return memory().allocations; }
  virtual void trim() = 0;  ///< returns cached memory
  virtual void reset_peak() = 0;

 private:
  static std::uint64_t next_serial() noexcept;
  const std::uint64_t serial_ = next_serial();
};

/// TARRY_MEMORY_LIMIT, of each device; SIZE_MAX where there is none. Costs no lock.
std::size_t memory_limit();

/// The backend of `device`; made on first use. Throws DeviceError saying why a GPU cannot be used.
Backend& backend(Device device);
/// Puts `b` where backend(device) will find it and returns what was there: tests run the engine on a driver of theirs.
std::unique_ptr<Backend> exchange_backend(Device device, std::unique_ptr<Backend> b);
/// The device of work that names none: default_device(), whose errors have no place yet.
Device unplaced_device();
/// Waits for all devices that have been used.
void synchronize();
std::unique_ptr<Backend> make_cpu_backend();
/// Throws DeviceError with the reason (no libcuda, no device, driver too old, ...).
std::unique_ptr<Backend> make_cuda_backend(int index);
int cuda_device_count() noexcept;       ///< 0 where CUDA cannot be used
std::string cuda_unavailable_reason();  ///< "" where it can
/// Lines for `tarry info`: driver and devices, or why there are none, and NVRTC, or why there is none.
std::vector<std::string> describe_cuda();

}  // namespace tarry::runtime
