// The primary context, its streams, the error rule, and the timeline of the compute stream.
#include "runtime/device/cuda/context.h"

#include <fmt/format.h>
#include <tarry/device.h>

#include <algorithm>
#include <array>
#include <thread>

#include "support/check.h"
#include "support/log.h"

namespace tarry::runtime {

using cuda::Result;

namespace {

/// The context that the innermost Current of this thread made current.
constinit thread_local const CudaContext* innermost = nullptr;

}  // namespace

void destroy_stream(Owned<cuda::Stream> s) noexcept {
  s.context->release("cuStreamDestroy", s.context->api().stream_destroy, s.object);
}
void destroy_event(Owned<cuda::Event> e) noexcept {
  e.context->release("cuEventDestroy", e.context->api().event_destroy, e.object);
}
void destroy_graph(Owned<cuda::Graph> g) noexcept {
  g.context->release("cuGraphDestroy", g.context->api().graph_destroy, g.object);
}
void destroy_graph_exec(Owned<cuda::GraphExec> g) noexcept {
  g.context->release("cuGraphExecDestroy", g.context->api().graph_exec_destroy, g.object);
}
void destroy_module(Owned<cuda::Module> m) noexcept {
  m.context->release("cuModuleUnload", m.context->api().module_unload, m.object);
}
void destroy_pinned(Owned<void*> p) noexcept {
  p.context->release("cuMemFreeHost", p.context->api().mem_free_host, p.object);
}
void destroy_block(Owned<cuda::DevicePointer> p) noexcept {
  p.context->release("cuMemFree", p.context->api().mem_free, p.object);
}

void CudaContext::destroy_primary(Primary p) noexcept {
  if (!cuda::forked()) (void)cuda::call(p.api->primary_ctx_release, p.device);
}

CudaContext::CudaContext(const cuda::DriverApi& api, int index) : api_(api), index_(index) {
  cuda::watch_for_fork();
  cuda::Ordinal device = 0;
  int major = 0;
  int minor = 0;
  call("cuDeviceGet", api_.device_get, &device, index);
  call("cuDeviceGetAttribute", api_.device_get_attribute, &major, cuda::DeviceAttribute::ComputeCapabilityMajor,
       device);
  call("cuDeviceGetAttribute", api_.device_get_attribute, &minor, cuda::DeviceAttribute::ComputeCapabilityMinor,
       device);
  compute_capability_ = 10 * major + minor;
  cuda::Context context = nullptr;
  call("cuDevicePrimaryCtxRetain", api_.primary_ctx_retain, &context, device);
  primary_.reset(Primary{&api_, device, context});
  const Current current(*this);
  compute_ = make_stream();
  in_ = make_stream();
  out_ = make_stream();
}

CudaContext::Current::Current(const CudaContext& context) : context_(context), outer_(innermost) {
  context.require_usable();
  if (outer_ == &context) return;
  context.call("cuCtxPushCurrent", context.api_.ctx_push_current, context.primary_.get().context);
  innermost = &context;
}
CudaContext::Current::~Current() {
  if (outer_ == &context_) return;
  innermost = outer_;
  context_.leave();
}

bool CudaContext::entered() const noexcept { return innermost == this && !cuda::forked(); }

bool CudaContext::enter_quietly() const noexcept {
  if (cuda::forked()) return false;
  const Result result = cuda::call(api_.ctx_push_current, primary_.get().context);
  if (result != Result::Success) log_failed_release("cuCtxPushCurrent", result);
  return result == Result::Success;
}

void CudaContext::leave() const noexcept {
  cuda::Context popped = nullptr;
  // Twice: the caller's context comes back even where the first attempt is refused.
  if (cuda::call(api_.ctx_pop_current, &popped) != Result::Success) (void)cuda::call(api_.ctx_pop_current, &popped);
}

void CudaContext::log_failed_release(const char* what, Result result) const noexcept {
  // After exit() has begun the driver is gone and has freed everything itself; in a lost context nothing can be freed.
  if (result == Result::Deinitialized || result == Result::ContextIsDestroyed || lost_.load()) return;
  try {
    support::log::info(fmt::format("cuda:{}: {} failed: {}", index_, what, cuda::describe(api_, result)));
  } catch (...) {  // out of host memory for the message: releasing must go on
  }
}

void CudaContext::require_usable() const {
  if (cuda::forked()) TARRY_THROW(DeviceError, "", Where{}, cuda::kForkedReason);
  if (!lost_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(lost_mutex_);
  TARRY_THROW(DeviceLost, "", Where{},
              fmt::format("cuda:{} was lost earlier in this process: {}", index_, lost_reason_));
}

void CudaContext::mark_lost(const std::string& reason) const {
  const std::lock_guard lock(lost_mutex_);
  if (lost_reason_.empty()) lost_reason_ = reason;
  lost_.store(true, std::memory_order_release);
}

void CudaContext::check(Result result, const std::string& what) const {
  if (result == Result::Success) return;
  const std::string message = fmt::format("{}: {}", what, cuda::describe(api_, result));
  if (result == Result::OutOfMemory) TARRY_THROW(OutOfMemory, "", Where{}, fmt::format("cuda:{}: {}", index_, message));
  if (cuda::is_sticky(result)) mark_lost(message);
  TARRY_THROW(DeviceError, "", Where{}, fmt::format("cuda:{}: {}", index_, message));
}

StreamHandle CudaContext::make_stream() const {
  cuda::Stream stream = nullptr;
  call("cuStreamCreate", api_.stream_create, &stream, cuda::kStreamNonBlocking);
  return StreamHandle({this, stream});
}

EventHandle CudaContext::make_event() const {
  cuda::Event event = nullptr;
  call("cuEventCreate", api_.event_create, &event, cuda::kEventDisableTiming);
  return EventHandle({this, event});
}

void CudaContext::synchronize() const {
  for (const cuda::Stream stream : {in(), compute(), out()}) {
    call("cuStreamSynchronize", api_.stream_synchronize, stream);
  }
}

std::uint64_t CudaTimeline::record() {
  const std::lock_guard lock(mutex_);
  return record_locked();
}

std::uint64_t CudaTimeline::mark(std::int64_t bytes) {
  constexpr std::int64_t kWorthAnEvent = std::int64_t{16} << 20;  // microseconds of work; an event takes 0.3
  constexpr std::int64_t kLeast = kWorthAnEvent / 64;             // of an evaluate, however small its arrays
  const std::int64_t work = std::max(bytes, kLeast);
  if (work_.fetch_add(work, std::memory_order_relaxed) + work >= kWorthAnEvent) return record();
  return position();
}

std::uint64_t CudaTimeline::record_locked() {
  const std::uint64_t state = state_.load(std::memory_order_acquire);
  if ((state & 1U) == 0 && recorded_ == state >> 1U) return recorded_;
  retire();
  if (spare_.empty()) make_spare_events();
  pending_.push_back({(state >> 1U) + (state & 1U), spare_.back()});
  // Counted before the event is recorded: work enqueued in between is covered and marks the timeline once more. Should
  // recording fail, a later event stands for this ticket.
  state_.exchange(pending_.back().ticket << 1U, std::memory_order_acq_rel);
  try {
    context_->call("cuEventRecord", context_->api().event_record, pending_.back().event->get().object,
                   context_->compute());
  } catch (...) {
    pending_.pop_back();
    throw;
  }
  spare_.pop_back();
  work_.store(0, std::memory_order_relaxed);
  return recorded_ = pending_.back().ticket;
}

void CudaTimeline::make_spare_events() {
  constexpr std::size_t kAtOnce = 8;  // a device that lags behind the program for a while does not make it allocate
  pending_.reserve(std::max(pending_.capacity(), pending_.size() + kAtOnce));
  spare_.reserve(pending_.capacity());
  for (std::size_t i = 0; i < kAtOnce; ++i)
    spare_.push_back(std::make_shared<const EventHandle>(context_->make_event()));
}

void CudaTimeline::retire() {
  std::size_t done = 0;
  for (; done < pending_.size(); ++done) {
    SharedEvent& event = pending_[done].event;
    const Result result = cuda::call(context_->api().event_query, event->get().object);
    if (result != Result::Success) {
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
      if (result == Result::NotReady) return;
      context_->check(result, "cuEventQuery");
    }
    // An event that a thread still waits for must not be recorded anew: that thread drops it.
    if (event.use_count() == 1) spare_.push_back(std::move(event));
    retired_ = pending_[done].ticket;
  }
  pending_.clear();
}

/// Work that somebody has waited for costs no driver call any more, nor does work before it.
void CudaTimeline::retire_until(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto first_left =
      std::find_if(pending_.begin(), pending_.end(), [&](const Point& point) { return point.ticket > ticket; });
  for (auto at = pending_.begin(); at != first_left; ++at)
    if (at->event.use_count() == 1) spare_.push_back(std::move(at->event));
  pending_.erase(pending_.begin(), first_left);
  retired_ = std::max(retired_, ticket);
}

CudaTimeline::Point CudaTimeline::point_of(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  TARRY_ASSERT(ticket <= position());
  while (ticket > recorded_) record_locked();
  if (ticket <= retired_) return {ticket, nullptr};
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), ticket,
                                   [](const Point& point, std::uint64_t t) { return point.ticket < t; });
  return *at;
}

bool CudaTimeline::wait(std::uint64_t ticket, std::chrono::nanoseconds deadline) {
  Point point = point_of(ticket);
  if (!point.event) return true;
  if (!wait_for(point.event->get().object, deadline)) return false;
  point.event.reset();  // so that it can be recorded anew
  retire_until(point.ticket);
  return true;
}

bool CudaTimeline::wait_for(cuda::Event event, std::chrono::nanoseconds deadline) const {
  using Clock = std::chrono::steady_clock;
  const cuda::DriverApi& api = context_->api();
  constexpr std::chrono::hours kForever{24 * 365};
  if (deadline >= kForever) {
    context_->call("cuEventSynchronize", api.event_synchronize, event);
    return true;
  }
  const Clock::time_point end = Clock::now() + deadline;
  std::chrono::microseconds pause{1};
  while (true) {
    const Result result = cuda::call(api.event_query, event);
    if (result != Result::NotReady) {
      context_->check(result, "cuEventQuery");
      return true;
    }
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(2 * pause, std::chrono::milliseconds(1));
  }
}

void CudaTimeline::order_after(cuda::Stream stream, std::uint64_t ticket) {
  if (const SharedEvent event = point_of(ticket).event) {
    context_->call("cuStreamWaitEvent", context_->api().stream_wait_event, stream, event->get().object, 0U);
  }
}

}  // namespace tarry::runtime
