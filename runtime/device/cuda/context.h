// CudaContext: one device's primary context and streams, and the one place where driver errors become exceptions.
// CudaTimeline: numbered points on the compute stream that can be waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device/cuda/api.h"
#include "runtime/device/handle.h"

namespace tarry::runtime {

class CudaContext;

/// A driver object and the context it lives in.
template <class T>
struct Owned {
  const CudaContext* context = nullptr;
  T object{};
  friend bool operator==(const Owned&, const Owned&) = default;
};
void destroy_stream(Owned<cuda::Stream> s) noexcept;
void destroy_event(Owned<cuda::Event> e) noexcept;
void destroy_module(Owned<cuda::Module> m) noexcept;
void destroy_pinned(Owned<void*> p) noexcept;
void destroy_block(Owned<cuda::DevicePointer> p) noexcept;
void destroy_graph(Owned<cuda::Graph> g) noexcept;
void destroy_graph_exec(Owned<cuda::GraphExec> g) noexcept;
using GraphHandle = Handle<Owned<cuda::Graph>, destroy_graph>;
using GraphExecHandle = Handle<Owned<cuda::GraphExec>, destroy_graph_exec>;
using StreamHandle = Handle<Owned<cuda::Stream>, destroy_stream>;
using EventHandle = Handle<Owned<cuda::Event>, destroy_event>;
using ModuleHandle = Handle<Owned<cuda::Module>, destroy_module>;
using PinnedHandle = Handle<Owned<void*>, destroy_pinned>;
using BlockHandle = Handle<Owned<cuda::DevicePointer>, destroy_block>;

class CudaContext {
 public:
  /// Retains the primary context of device `index` and makes the streams. Throws DeviceError.
  CudaContext(const cuda::DriverApi& api, int index);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  [[nodiscard]] const cuda::DriverApi& api() const noexcept { return api_; }
  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] int compute_capability() const noexcept { return compute_capability_; }
  [[nodiscard]] cuda::Stream compute() const noexcept {
    const cuda::Stream others = others_.load(std::memory_order_acquire);
    return others != nullptr ? others : compute_.get().object;
  }
  /// A stream of other code for compute(), or null for its own. The caller keeps the order of work.
  void compute_on(cuda::Stream others) const noexcept { others_.store(others, std::memory_order_release); }
  [[nodiscard]] cuda::Stream in() const noexcept { return in_.get().object; }
  [[nodiscard]] cuda::Stream out() const noexcept { return out_.get().object; }

  /// Makes the context current for a scope; the caller's current context is left as found. Every public entry point
  /// holds one; within another of the same context it costs no driver call. Throws DeviceLost after a sticky error and
  /// DeviceError in a forked child, before any driver call.
  class [[nodiscard]] Current {
   public:
    explicit Current(const CudaContext& context);
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current();

   private:
    const CudaContext& context_;
    const CudaContext* const outer_;  // of the scope around this one
  };

  /// The answer of a call that may be refused; throws DeviceError where the context is lost by it.
  template <class... P, class... A>
  bool accepts(const char* what, cuda::Result (*entry)(P...), A... arguments) const {
    const cuda::Result result = cuda::call(entry, arguments...);
    if (cuda::is_sticky(result)) check(result, what);
    return result == cuda::Result::Success;
  }

  /// Throws DeviceError (or OutOfMemory) unless `result` is a success. A sticky error marks the context lost.
  void check(cuda::Result result, const std::string& what) const;

  template <class... P, class... A>
  void call(const char* what, cuda::Result (*entry)(P...), A... arguments) const {
    const cuda::Result result = cuda::call(entry, arguments...);
    if (result != cuda::Result::Success) check(result, what);
  }

  /// For destructors: makes the context current, calls, logs what fails. Silent once the driver is gone.
  template <class... P, class... A>
  void release(const char* what, cuda::Result (*entry)(P...), A... arguments) const noexcept {
    const bool inside = entered();
    if (!inside && !enter_quietly()) return;
    const cuda::Result result = cuda::call(entry, arguments...);
    if (!inside) leave();
    if (result != cuda::Result::Success) log_failed_release(what, result);
  }

  [[nodiscard]] EventHandle make_event() const;

  /// Throws DeviceError in a forked child, DeviceLost where the device was lost.
  void require_usable() const;
  /// Waits for the three streams.
  void synchronize() const;
  /// Waits for one stream after a failure, so that nothing is in flight; ignores what it says.
  void settle(cuda::Stream stream) const noexcept { (void)cuda::call(api_.stream_synchronize, stream); }

 private:
  struct Primary {
    const cuda::DriverApi* api = nullptr;
    cuda::Ordinal device = 0;
    cuda::Context context = nullptr;
    friend bool operator==(const Primary&, const Primary&) = default;
  };
  static void destroy_primary(Primary p) noexcept;

  bool entered() const noexcept;  // within a Current of this thread, in a process that may use the driver
  bool enter_quietly() const noexcept;
  void leave() const noexcept;
  void log_failed_release(const char* what, cuda::Result result) const noexcept;
  void mark_lost(const std::string& reason) const;
  StreamHandle make_stream() const;

  const cuda::DriverApi& api_;
  const int index_;
  int compute_capability_ = 0;
  mutable std::atomic<bool> lost_{false};
  mutable std::atomic<cuda::Stream> others_{nullptr};
  mutable std::mutex lost_mutex_;
  mutable std::string lost_reason_;
  Handle<Primary, destroy_primary> primary_;  // released after the streams
  StreamHandle compute_, in_, out_;
};

/// Ticket t is complete when everything enqueued on the compute stream before t was recorded is. A ticket is given out
/// at no cost; its event is recorded when somebody waits for it, or once the work that it covers is worth one.
/// Thread-safe.
class CudaTimeline {
 public:
  explicit CudaTimeline(std::shared_ptr<const CudaContext> context) : context_(std::move(context)) {}
  [[nodiscard]] const CudaContext& context() const noexcept { return *context_; }

  /// Something was enqueued on the compute stream; called after the enqueueing.
  void touched() noexcept { state_.fetch_or(1, std::memory_order_acq_rel); }
  /// The ticket that covers everything enqueued so far; perhaps not recorded yet.
  [[nodiscard]] std::uint64_t position() const noexcept {
    const std::uint64_t state = state_.load(std::memory_order_acquire);
    return (state >> 1U) + (state & 1U);
  }
  /// The same, recorded. No driver call where nothing was enqueued since the last one.
  std::uint64_t record();
  /// position(), recorded where the kernels enqueued since the last record have moved some megabytes.
  std::uint64_t mark(std::int64_t bytes);
  /// Blocks until `ticket` is complete, or until the deadline passed: then false.
  bool wait(std::uint64_t ticket, std::chrono::nanoseconds deadline);
  /// Lets `stream` go on only after `ticket`; does not block.
  void order_after(cuda::Stream stream, std::uint64_t ticket);

 private:
  using SharedEvent = std::shared_ptr<const EventHandle>;
  struct Point {
    std::uint64_t ticket;
    SharedEvent event;
  };
  std::uint64_t record_locked();
  Point point_of(std::uint64_t ticket);  // no event where it is complete
  void retire();
  void retire_until(std::uint64_t ticket);
  bool wait_for(cuda::Event event, std::chrono::nanoseconds deadline) const;
  void make_spare_events();

  const std::shared_ptr<const CudaContext> context_;
  std::atomic<std::uint64_t> state_{0};  // twice the newest ticket whose event was asked for, + 1 after later work
  std::atomic<std::int64_t> work_{0};    // bytes moved since the last record
  std::mutex mutex_;
  std::uint64_t recorded_ = 0, retired_ = 0;  // newest ticket with an event; newest known to be complete
  std::vector<Point> pending_;                // in order of tickets; those not known to be complete
  std::vector<SharedEvent> spare_;
};

}  // namespace tarry::runtime
