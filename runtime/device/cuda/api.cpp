// Finds the driver: dlopen, dlsym, cuInit, and an explanation where one of them fails.
#include "runtime/device/cuda/api.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <optional>

#include <fmt/format.h>

namespace tarry::runtime::cuda {
namespace {

std::atomic<bool> forked_after_init{false};

template <class F>
bool resolve_entry(void* library, const char* symbol, F& entry) {
  entry = reinterpret_cast<F>(dlsym(library, symbol));
  return entry != nullptr;
}

std::string resolve(void* library, DriverApi& api) {
#define TARRY_RESOLVE(member, symbol, parameters) \
  if (!resolve_entry(library, #symbol, api.member)) return #symbol;
  TARRY_CUDA_DRIVER_ENTRIES(TARRY_RESOLVE)
#undef TARRY_RESOLVE
  api.has_graphs = true;
#define TARRY_RESOLVE(member, symbol, parameters) api.has_graphs &= resolve_entry(library, #symbol, api.member);
  TARRY_CUDA_GRAPH_ENTRIES(TARRY_RESOLVE)
#undef TARRY_RESOLVE
  return {};
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string remedy(Result result) {
  switch (result) {
    case Result::NoDevice:
      return "no NVIDIA GPU is visible; check nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, --gpus";
    case Result::StubLibrary:
      return "the libcuda.so.1 found is the toolkit's stub; take its folder off LD_LIBRARY_PATH";
    case Result::SystemDriverMismatch:
      return "kernel module and libcuda.so.1 are of different versions; reload the module or reboot";
    case Result::CompatNotSupportedOnDevice:
      return "the CUDA forward-compatibility libcuda does not support this GPU; use the driver's own";
    default: return "check nvidia-smi and the permissions of /dev/nvidia*";
  }
}

/// The answers of dlopen and dlsym; settled once, since a library does not appear in a running process.
struct DriverLibrary {
  DriverApi api;
  std::string reason;
  int version = 0;
};

const DriverLibrary& library() {
  static const DriverLibrary* const found = [] {
    auto* result = new DriverLibrary;  // lives until the process ends: buffers of static arrays are freed very late
    void* const handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      result->reason = fmt::format(
          "the NVIDIA driver library cannot be loaded ({}); install the NVIDIA driver or put "
          "the folder of libcuda.so.1 on the loader path",
          why != nullptr ? why : "libcuda.so.1");
      return result;
    }
    const std::string missing = resolve(handle, result->api);
    if (result->api.driver_get_version != nullptr) (void)result->api.driver_get_version(&result->version);
    if (!missing.empty()) {
      result->reason = fmt::format("the NVIDIA driver is too old: libcuda.so.1 (CUDA {}) lacks {}; CUDA 11.2 is needed",
                                   version_text(result->version), missing);
    }
    return result;
  }();
  return *found;
}

}  // namespace

void watch_for_fork() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forked_after_init.store(true, std::memory_order_relaxed); });
  (void)registered;
}

bool forked() noexcept { return forked_after_init.load(std::memory_order_relaxed); }

DriverState driver() {
  const DriverLibrary& found = library();
  if (!found.reason.empty()) return {nullptr, found.reason, found.version};
  if (forked()) return {nullptr, kForkedReason, found.version};
  static std::mutex mutex;
  static std::optional<Result> initialised;
  const std::lock_guard lock(mutex);
  if (!initialised) {
    const Result result = call(found.api.init, 0U);
    // A refusal of the operating system may pass; every other answer stays the same for the life of the process.
    if (result == Result::OperatingSystem) return {nullptr, "cuInit: " + describe(found.api, result), found.version};
    if (result == Result::Success) watch_for_fork();
    initialised = result;
  }
  if (*initialised == Result::Success) return {&found.api, {}, found.version};
  return {nullptr, fmt::format("cuInit: {}; {}", describe(found.api, *initialised), remedy(*initialised)),
          found.version};
}

std::string describe(const DriverApi& api, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.get_error_name == nullptr || api.get_error_name(result, &name) != Result::Success) name = nullptr;
  if (api.get_error_string == nullptr || api.get_error_string(result, &text) != Result::Success) text = nullptr;
  return fmt::format("{} ({}): {}", name != nullptr ? name : "CUDA error", static_cast<unsigned>(result),
                     text != nullptr ? text : "no description");
}

bool is_sticky(Result result) noexcept {
  switch (result) {
    case Result::EccUncorrectable:
    case Result::NvlinkUncorrectable:
    case Result::Contained:
    case Result::IllegalAddress:
    case Result::LaunchTimeout:
    case Result::ContextIsDestroyed:
    case Result::Assert:
    case Result::HardwareStackError:
    case Result::IllegalInstruction:
    case Result::MisalignedAddress:
    case Result::InvalidAddressSpace:
    case Result::InvalidPc:
    case Result::LaunchFailed:
    case Result::TensorMemoryLeak:
    case Result::ExternalDevice:
    case Result::Unknown: return true;
    default: return false;
  }
}

}  // namespace tarry::runtime::cuda
