// CudaBackend: kernels as modules, launches on the compute stream, and what the machine has.
#include "runtime/device/cuda/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/compilers/toolchain.h"
#include "runtime/device/cuda/blas.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/pool.h"
#include "runtime/device/cuda/sequence.h"
#include "runtime/device/cuda/transfer.h"
#include "runtime/device/kernel_caches.h"
#include "support/check.h"
#include "support/env.h"

namespace tarry::runtime {
namespace {

/// One loaded image. Kernels that were compiled together share it.
struct LoadedModule {
  std::shared_ptr<const CudaContext> context;
  std::shared_ptr<const std::string> image;  // its address is the module's identity, so it has to stay
  ModuleHandle module;
};

struct CudaExecutable final : cache::Executable {
  std::shared_ptr<const LoadedModule> module;
  cuda::Function function = nullptr;
  bool exact = false;                        ///< machine code for the target's own architecture
  mutable std::atomic<int> shared_bytes{0};  ///< dynamic shared memory that it was allowed
};

/// TARRY_SYNC, read again only after an override.
bool sync_wanted() {
  static std::atomic<std::uint64_t> seen{std::numeric_limits<std::uint64_t>::max()};
  static std::atomic<bool> wanted{false};
  const std::uint64_t now = support::env::generation();
  if (seen.load(std::memory_order_acquire) != now) {
    wanted.store(support::env::flag("TARRY_SYNC"), std::memory_order_relaxed);
    seen.store(now, std::memory_order_release);
  }
  return wanted.load(std::memory_order_relaxed);
}

const graph::Target& target_of(const CudaContext& context) {
  const graph::Target* const target = graph::cuda_target(context.compute_capability());
  if (target == nullptr) {
    TARRY_THROW(DeviceError, "", Where{},
                fmt::format("cuda:{} has compute capability {}.{}; 7.5 or newer is needed", context.index(),
                            context.compute_capability() / 10, context.compute_capability() % 10));
  }
  return *target;
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(const cuda::DriverApi& api, int index, const cuda::BlasApi* blas)
      : context_(std::make_shared<const CudaContext>(api, index)),
        target_(target_of(*context_)),
        timeline_(std::make_shared<CudaTimeline>(context_)),
        pool_(std::make_shared<CudaPool>(timeline_)),
        transfers_(timeline_),
        blas_api_(blas) {}

  ~CudaBackend() override {
    // Work in flight may use memory and modules that go now.
    if (cuda::forked()) return;
    for (const cuda::Stream stream : {context_->in(), context_->compute(), context_->out()}) context_->settle(stream);
  }

  Device device() const override { return tarry::cuda(context_->index()); }
  const graph::Target& target() const override { return target_; }
  std::string options(graph::Mode mode) const override { return compile_options(target_, mode); }
  std::string compiler() const override { return compiler_of(target_); }

  std::shared_ptr<graph::Buffer> allocate(std::size_t bytes) override {
    const CudaContext::Current current(*context_);
    return pool_->allocate(bytes);
  }

  void* tickets(std::size_t count) override {
    const CudaContext::Current current(*context_);
    const std::lock_guard lock(tickets_mutex_);
    if (ticket_counts_.empty() || ticket_capacity_ < count) {
      constexpr std::size_t kFirst = 64 * 1024;
      const std::size_t capacity = std::max(kFirst, std::bit_ceil(count));
      std::shared_ptr<CudaBuffer> counts = pool_->allocate(capacity * sizeof(std::uint32_t));
      context_->call("cuMemsetD32Async", context_->api().memset_d32_async, counts->address(), 0U, capacity,
                     context_->compute());
      timeline_->touched();
      ticket_counts_.push_back(std::move(counts));  // plans may hold the address of an older one
      ticket_capacity_ = capacity;
    }
    return ticket_counts_.back()->data;
  }

  void upload(graph::Buffer& to, const void* from, std::size_t bytes) override {
    upload(
        to,
        [from](void* out, std::size_t at, std::size_t count) {
          std::memcpy(out, static_cast<const std::byte*>(from) + at, count);
        },
        bytes);
  }

  void upload(graph::Buffer& to, const Fill& fill, std::size_t bytes) override {
    TARRY_ASSERT(bytes <= to.bytes);
    if (bytes == 0) return;
    const CudaContext::Current current(*context_);
    transfers_.upload(cuda_buffer(to), fill, bytes);
    to.last_write = timeline_->position();
  }

  void download(void* to, const graph::Buffer& from, std::size_t offset, std::size_t bytes) override {
    TARRY_ASSERT(offset <= from.bytes && bytes <= from.bytes - offset);
    if (bytes == 0) return;
    const CudaContext::Current current(*context_);
    const std::uint64_t ticket = from.last_write != 0 ? from.last_write : timeline_->position();
    transfers_.download(to, address_of(from.data) + offset, bytes, ticket);
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    const CudaContext::Current current(*context_);
    context_->call("cuMemcpyDtoDAsync", context_->api().memcpy_dtod_async, address_of(to), address_of(from), bytes,
                   context_->compute());
    timeline_->touched();
  }

  std::optional<cache::Binary> compile(std::span<const cache::KernelRequest* const> requests) override {
    context_->require_usable();  // a compiler that a forked child inherits may wait for a thread that it lacks
    // A cubin runs on its major version of compute capability only; PTX on every newer one.
    const bool same_major = context_->compute_capability() / 10 == target_.level / 10;
    return compile_kernels(requests, target_, same_major ? ImageKind::Cubin : ImageKind::Ptx);
  }

  std::shared_ptr<cache::Executable> load(const cache::KernelRequest& request, const cache::Binary& binary) override {
    const CudaContext::Current current(*context_);
    auto executable = std::make_shared<CudaExecutable>();
    executable->module = module_of(binary);
    executable->exact = binary.image->starts_with(
        "\x7f"
        "ELF");
    context_->call("cuModuleGetFunction", context_->api().module_get_function, &executable->function,
                   executable->module->module.get().object, request.entry.c_str());
    return executable;
  }

  std::string library_missing(Dtype) override { return blas()->missing(); }
  std::shared_ptr<const LibraryCall> prepare(const MatmulSpec& spec) override { return CudaBlas::make(blas(), spec); }
  void run(const LibraryCall& call, const void* a, const void* b, void* result, void* workspace) override {
    const CudaContext::Current current(*context_);
    call.run(a, b, result, workspace);
    timeline_->touched();
    if (sync_wanted())
      context_->check(cuda::call(context_->api().stream_synchronize, context_->compute()), "a product by cuBLASLt");
  }

  void launch(const Launch& launch) override {
    const std::int64_t grid = launch.geometry.grid();
    if (grid == 0) return;
    constexpr std::int64_t kGridLimit = std::numeric_limits<std::int32_t>::max();  // of gridDim.x
    TARRY_ASSERT(grid > 0 && grid <= kGridLimit);
    const CudaContext::Current current(*context_);
    const auto& executable = static_cast<const CudaExecutable&>(*launch.executable);
    allow_shared(executable, launch.source->shared_bytes);
    std::size_t bytes = launch.parameters.size_bytes();
    void* extra[] = {
        reinterpret_cast<void*>(cuda::kLaunchParamBufferPointer), const_cast<std::uint64_t*>(launch.parameters.data()),
        reinterpret_cast<void*>(cuda::kLaunchParamBufferSize), &bytes, reinterpret_cast<void*>(cuda::kLaunchParamEnd)};
    const auto blocks = static_cast<unsigned>(grid), threads = static_cast<unsigned>(launch.source->threads);
    const auto shared = static_cast<unsigned>(launch.source->shared_bytes);
    cuda::Result result{};
    if (launch.large && launch.source->waits && launch.source->cluster == 1 && executable.exact &&
        overlaps_launches()) {
      cuda::LaunchAttribute early{cuda::LaunchAttributeId::ProgrammaticStreamSerialization, 0, 1, {}};
      const cuda::LaunchConfig config{blocks, 1, 1, threads, 1, 1, shared, context_->compute(), &early, 1};
      result = cuda::call(context_->api().launch_kernel_ex, &config, executable.function, nullptr, extra);
    } else {
      result = cuda::call(context_->api().launch_kernel, executable.function, blocks, 1U, 1U, threads, 1U, 1U, shared,
                          context_->compute(), nullptr, extra);
    }
    if (result != cuda::Result::Success) {
      context_->check(result, fmt::format("cuLaunchKernel({}, {} blocks of {} threads, {} bytes of parameters)",
                                          launch.source->entry, grid, launch.source->threads, bytes));
    }
    timeline_->touched();
    if (sync_wanted()) {
      context_->check(cuda::call(context_->api().stream_synchronize, context_->compute()),
                      fmt::format("kernel {}", launch.source->entry));
    }
  }

  cache::Loaded own_kernel(const cache::KernelRequest& request, std::span<const std::string> options) override {
    context_->require_usable();
    const auto compiled = [&](std::span<const cache::KernelRequest* const> one) -> std::optional<cache::Binary> {
      const bool same_major = context_->compute_capability() / 10 == target_.level / 10;
      NvrtcImage image = nvrtc_compile_own(*static_cast<const std::string*>(one.front()->user), target_, options,
                                           same_major ? ImageKind::Cubin : ImageKind::Ptx);
      return cache::Binary{std::make_shared<const std::string>(std::move(image.bytes)), std::move(image.compiler),
                           std::move(image.log)};
    };
    const cache::Maker maker{
        compiled, [this](const cache::KernelRequest& r, const cache::Binary& image) { return load(r, image); },
        [this] { return compiler(); }};
    return kernel_cache(*this).get({&request, 1}, maker).front();
  }

  void launch(const OwnLaunch& launch) override {
    const CudaContext::Current current(*context_);
    const auto& executable = static_cast<const CudaExecutable&>(*launch.executable);
    allow_shared(executable, static_cast<int>(launch.shared_bytes));
    std::size_t bytes = launch.parameters.size_bytes();
    void* extra[] = {
        reinterpret_cast<void*>(cuda::kLaunchParamBufferPointer), const_cast<std::uint64_t*>(launch.parameters.data()),
        reinterpret_cast<void*>(cuda::kLaunchParamBufferSize), &bytes, reinterpret_cast<void*>(cuda::kLaunchParamEnd)};
    const auto [x, y, z] = launch.grid;
    const auto [threads_x, threads_y, threads_z] = launch.block;
    const std::string what = fmt::format("cuLaunchKernel({}, ({}, {}, {}) blocks of ({}, {}, {}) threads)", launch.name,
                                         x, y, z, threads_x, threads_y, threads_z);
    context_->check(
        cuda::call(context_->api().launch_kernel, executable.function, x, y, z, threads_x, threads_y, threads_z,
                   static_cast<unsigned>(launch.shared_bytes), context_->compute(), nullptr, extra),
        what);
    timeline_->touched();
    if (sync_wanted()) context_->check(cuda::call(context_->api().stream_synchronize, context_->compute()), what);
  }

  bool launch_waits() const override { return sync_wanted(); }
  bool overlaps_launches() const override { return target_.level >= 90 && context_->api().has_graphs; }
  void within(const std::function<void()>& body) override {
    const CudaContext::Current current(*context_);
    body();
  }

  std::unique_ptr<Sequence> sequence(std::span<const Launch> launches) override {
    const CudaContext::Current current(*context_);
    std::vector<CudaSequence::Kernel> kernels;
    for (const Launch& l : launches) {
      const auto& executable = static_cast<const CudaExecutable&>(*l.executable);
      allow_shared(executable, l.source->shared_bytes);
      kernels.push_back({executable.function, static_cast<unsigned>(l.geometry.grid()),
                         static_cast<unsigned>(l.source->threads), static_cast<unsigned>(l.source->shared_bytes),
                         l.parameters});
    }
    return CudaSequence::make(timeline_, kernels);
  }

  std::uint64_t record() override {
    const CudaContext::Current current(*context_);
    return timeline_->record();
  }
  std::uint64_t mark(std::int64_t bytes) override {
    const CudaContext::Current current(*context_);
    return timeline_->mark(bytes);
  }

  bool wait(std::uint64_t ticket, std::chrono::nanoseconds deadline) override {
    const CudaContext::Current current(*context_);
    return timeline_->wait(ticket, deadline);
  }

  void synchronize() override {
    const CudaContext::Current current(*context_);
    context_->synchronize();
  }

  [[nodiscard]] std::size_t room() const override {
    const std::size_t limited = Backend::room();
    if (limited != SIZE_MAX) return limited;
    const CudaContext::Current current(*context_);
    std::size_t free = 0, total = 0;
    const bool known = context_->accepts("cuMemGetInfo", context_->api().mem_get_info, &free, &total);
    return known ? free + pool_->stats().cached : SIZE_MAX;
  }
  void wait_for(void* stream) override {
    const CudaContext::Current current(*context_);
    const EventHandle reached = context_->make_event();
    context_->call("cuEventRecord", context_->api().event_record, reached.get().object,
                   static_cast<cuda::Stream>(stream));
    context_->call("cuStreamWaitEvent", context_->api().stream_wait_event, context_->compute(), reached.get().object,
                   0U);
    timeline_->touched();
  }
  void let_wait(void* stream, std::uint64_t ticket) override {
    const CudaContext::Current current(*context_);
    timeline_->order_after(static_cast<cuda::Stream>(stream), ticket);
  }
  void use_stream(void* stream) override {
    const CudaContext::Current current(*context_);
    const std::uint64_t before = timeline_->record();
    context_->compute_on(static_cast<cuda::Stream>(stream));
    timeline_->order_after(context_->compute(), before);
  }
  void* stream() const override { return context_->compute(); }

  PoolStats memory() const override { return pool_->stats(); }
  std::int64_t allocations() const override { return pool_->allocations(); }

  void trim() override {
    const CudaContext::Current current(*context_);
    pool_->trim();
  }
  void reset_peak() override { pool_->reset_peak(); }
  std::size_t limit() const override { return pool_->limit().bytes(); }
  void limit_memory(std::size_t bytes) override { pool_->limit().set(bytes); }

 private:
  static CudaBuffer& cuda_buffer(graph::Buffer& buffer) {
    auto* const own = dynamic_cast<CudaBuffer*>(&buffer);
    TARRY_ASSERT(own != nullptr);
    return *own;
  }
  static cuda::DevicePointer address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

  std::shared_ptr<const CudaBlas> blas() {
    std::call_once(blas_opened_, [this] { blas_ = std::make_shared<const CudaBlas>(context_, blas_api_); });
    return blas_;
  }

  /// Asked for once: with what the function declares itself it may be more than the usual 48 KiB.
  void allow_shared(const CudaExecutable& executable, int bytes) {
    if (bytes <= executable.shared_bytes.load(std::memory_order_relaxed)) return;
    context_->call("cuFuncSetAttribute", context_->api().func_set_attribute, executable.function,
                   cuda::FunctionAttribute::MaxDynamicSharedSizeBytes, bytes);
    executable.shared_bytes.store(bytes, std::memory_order_relaxed);
  }

  std::shared_ptr<const LoadedModule> module_of(const cache::Binary& binary) {
    TARRY_ASSERT(binary.image != nullptr);
    const std::lock_guard lock(modules_mutex_);
    std::weak_ptr<const LoadedModule>& known = modules_[binary.image.get()];
    if (auto module = known.lock()) return module;
    char log[2048] = "";
    cuda::JitOption options[] = {cuda::JitOption::ErrorLogBuffer, cuda::JitOption::ErrorLogBufferSizeBytes};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    cuda::Module object = nullptr;
    const cuda::Result result = cuda::call(context_->api().module_load_data, &object,
                                           static_cast<const void*>(binary.image->data()), 2U, options, values);
    if (result != cuda::Result::Success) context_->check(result, load_failure(result, binary, log));
    auto module = std::make_shared<LoadedModule>();
    module->context = context_;
    module->image = binary.image;
    module->module.reset({context_.get(), object});
    known = module;
    if (modules_.size() > 2 * live_modules_) forget_unloaded();
    return module;
  }

  /// Drops the entries of modules that are gone, at a cost that stays constant per load.
  void forget_unloaded() {
    std::erase_if(modules_, [](const auto& entry) { return entry.second.expired(); });
    live_modules_ = std::max<std::size_t>(modules_.size(), 64);
  }

  static std::string load_failure(cuda::Result result, const cache::Binary& binary, const char* log) {
    std::string what = fmt::format("cuModuleLoadDataEx of an image made by {}", binary.compiler);
    if (result == cuda::Result::UnsupportedPtxVersion || result == cuda::Result::InvalidImage ||
        result == cuda::Result::NoBinaryForGpu) {
      const int version = cuda::driver().version;
      what += fmt::format(
          " (the driver supports CUDA {}.{}; an NVRTC that is newer needs a newer driver, or set "
          "TARRY_NVRTC to an older one)",
          version / 1000, version % 1000 / 10);
    }
    return *log == '\0' ? what : fmt::format("{} [{}]", what, log);
  }

  const std::shared_ptr<const CudaContext> context_;
  const graph::Target& target_;
  const std::shared_ptr<CudaTimeline> timeline_;
  const std::shared_ptr<CudaPool> pool_;
  CudaTransfers transfers_;

  const cuda::BlasApi* const blas_api_;
  std::once_flag blas_opened_;
  std::shared_ptr<const CudaBlas> blas_;

  std::mutex tickets_mutex_;
  std::vector<std::shared_ptr<CudaBuffer>> ticket_counts_;
  std::size_t ticket_capacity_ = 0;

  std::mutex modules_mutex_;
  std::unordered_map<const std::string*, std::weak_ptr<const LoadedModule>> modules_;
  std::size_t live_modules_ = 64;
};

cuda::Result compute_capability(const cuda::DriverApi& api, int index, int& capability) {
  cuda::Ordinal device = 0;
  int major = 0;
  int minor = 0;
  cuda::Result result = cuda::call(api.device_get, &device, index);
  const auto query = [&](cuda::DeviceAttribute attribute, int* value) {
    if (result == cuda::Result::Success) result = cuda::call(api.device_get_attribute, value, attribute, device);
  };
  query(cuda::DeviceAttribute::ComputeCapabilityMajor, &major);
  query(cuda::DeviceAttribute::ComputeCapabilityMinor, &minor);
  capability = 10 * major + minor;
  return result;
}

/// Number of devices of the driver, or 0 and the reason where not one of them can be used.
int count_devices(std::string& reason) {
  const cuda::DriverState state = cuda::driver();
  reason = state.reason;
  if (state.api == nullptr) return 0;
  int count = 0;
  const cuda::Result result = cuda::call(state.api->device_get_count, &count);
  if (result != cuda::Result::Success) {
    reason = "cuDeviceGetCount: " + cuda::describe(*state.api, result);
    return 0;
  }
  for (int i = 0; i < count; ++i) {
    int capability = 0;
    const cuda::Result query = compute_capability(*state.api, i, capability);
    if (query != cuda::Result::Success) {
      reason = fmt::format("cuda:{}: {}", i, cuda::describe(*state.api, query));
    } else if (graph::cuda_target(capability) != nullptr) {
      reason.clear();
      return count;
    } else {
      reason = "no GPU of this machine has compute capability 7.5 or newer";
    }
  }
  if (count == 0) reason = "the NVIDIA driver works but shows no GPU; check CUDA_VISIBLE_DEVICES";
  return 0;
}

std::string describe_device(const cuda::DriverApi& api, int index) {
  cuda::Ordinal device = 0;
  char name[128] = "";
  int capability = 0;
  std::size_t memory = 0;
  cuda::Result result = compute_capability(api, index, capability);
  const auto then = [&result](auto entry, auto... arguments) {
    if (result == cuda::Result::Success) result = cuda::call(entry, arguments...);
  };
  then(api.device_get, &device, index);
  then(api.device_get_name, static_cast<char*>(name), static_cast<int>(sizeof name), device);
  then(api.device_total_mem, &memory, device);
  if (result != cuda::Result::Success) return fmt::format("cuda:{}: {}", index, cuda::describe(api, result));
  const graph::Target* const target = graph::cuda_target(capability);
  return fmt::format("cuda:{}: {}, compute capability {}.{}, {:.1f} GiB, kernels for {}", index, name, capability / 10,
                     capability % 10, static_cast<double>(memory) / (1024.0 * 1024.0 * 1024.0),
                     target != nullptr ? target->name : "nothing: 7.5 or newer is needed");
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const cuda::DriverApi& api, int index, const cuda::BlasApi* blas) {
  return std::make_unique<CudaBackend>(api, index, blas);
}

std::unique_ptr<Backend> make_cuda_backend(int index) {
  std::string reason;
  const int count = count_devices(reason);
  if (index >= 0 && index < count) return make_cuda_backend(*cuda::driver().api, index);
  if (count > 0) reason = fmt::format("this machine has {} CUDA device{}", count, count == 1 ? "" : "s");
  TARRY_THROW(DeviceError, "", Where{}, fmt::format("cuda:{} cannot be used: {}", index, reason));
}

int cuda_device_count() noexcept {
  try {
    std::string reason;
    return count_devices(reason);
  } catch (...) {
    return 0;
  }
}

std::string cuda_unavailable_reason() {
  std::string reason;
  count_devices(reason);
  return reason;
}

std::vector<std::string> describe_cuda() {
  std::vector<std::string> lines;
  std::string reason;
  const int count = count_devices(reason);
  const cuda::DriverState state = cuda::driver();
  if (count == 0) {
    lines.push_back("cuda: none: " + reason);
  } else {
    lines.push_back(fmt::format("cuda: driver for CUDA {}.{}", state.version / 1000, state.version % 1000 / 10));
    for (int i = 0; i < count; ++i) lines.push_back(describe_device(*state.api, i));
  }
  const std::string no_nvrtc = nvrtc_unavailable_reason();
  lines.push_back(no_nvrtc.empty() ? fmt::format("nvrtc: {} ({})", nvrtc_compiler(), nvrtc_location())
                                   : "nvrtc: none: " + no_nvrtc);
  return lines;
}

}  // namespace tarry::runtime
