// The registry of backends: one per physical device, made on first use, never destroyed (arrays may outlive main).
#include "runtime/device/backend.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "support/check.h"
#include "support/env.h"
#include "support/fork.h"

namespace tarry::runtime {
namespace {

constexpr std::size_t kMaxGpus = 256;  // what Device::index can say

struct BackendRegistry {
  std::recursive_mutex mutex;  // a log sink that is told while a backend is made may evaluate
  support::AtFork at_fork{mutex};
  std::unique_ptr<Backend> cpu;
  std::array<std::unique_ptr<Backend>, kMaxGpus> gpus;
  std::unique_ptr<Backend>& slot(Device device) { return device.kind == DeviceKind::Cuda ? gpus[device.index] : cpu; }
};
BackendRegistry& backend_registry() {
  static auto* r = new BackendRegistry;
  return *r;
}

}  // namespace

std::uint64_t Backend::next_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::size_t memory_limit() {
  static std::atomic<std::uint64_t> known{0}, limit{0};  // generation + 1 in which the limit was read
  const std::uint64_t generation = support::env::generation() + 1;
  if (known.load(std::memory_order_acquire) != generation) {
    limit.store(support::env::bytes("TARRY_MEMORY_LIMIT", SIZE_MAX), std::memory_order_relaxed);
    known.store(generation, std::memory_order_release);
  }
  return limit.load(std::memory_order_relaxed);
}

std::size_t Backend::room() const {
  const std::size_t limit = this->limit();
  if (limit == SIZE_MAX) return limit;
  const std::size_t live = memory().live;
  return limit > live ? limit - live : 0;
}

Backend& backend(Device device) {
  BackendRegistry& r = backend_registry();
  const std::lock_guard lock(r.mutex);
  std::unique_ptr<Backend>& slot = r.slot(device);
  if (!slot) {
    std::unique_ptr<Backend> made =
        device.kind == DeviceKind::Cuda ? make_cuda_backend(device.index) : make_cpu_backend();
    if (!slot) slot = std::move(made);
  }
  return *slot;
}

std::unique_ptr<Backend> exchange_backend(Device device, std::unique_ptr<Backend> b) {
  BackendRegistry& r = backend_registry();
  const std::lock_guard lock(r.mutex);
  return std::exchange(r.slot(device), std::move(b));
}

void synchronize() {
  std::vector<Backend*> used;
  {
    BackendRegistry& r = backend_registry();
    const std::lock_guard lock(r.mutex);
    for (const auto& gpu : r.gpus)
      if (gpu) used.push_back(gpu.get());
  }
  for (Backend* b : used) b->synchronize();
}

cache::Loaded Backend::own_kernel(const cache::KernelRequest&, std::span<const std::string>) {
  TARRY_ASSERT(target().is_cuda());
  return {};
}
void Backend::launch(const OwnLaunch&) { TARRY_ASSERT(target().is_cuda()); }

void Backend::run(const codegen::RoutineSpec&, std::span<void* const>, void*) {
  TARRY_ASSERT(false && "routines of this device are kernels");
}

}  // namespace tarry::runtime
