// The registry of backends: one per physical device, made on first use, never destroyed (arrays may outlive main).
#include "runtime/backend.h"

#include <array>
#include <mutex>

#include "runtime/engine.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

constexpr std::size_t kMaxGpus = 256;  // what Device::index can say

struct Registry {
  std::mutex mutex;
  std::unique_ptr<Backend> cpu;
  std::array<std::unique_ptr<Backend>, kMaxGpus> gpus;
};
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

}  // namespace

Backend& backend(Device device) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (device.kind != DeviceKind::Cuda) {
    if (!r.cpu) r.cpu = make_cpu_backend();
    return *r.cpu;
  }
  std::unique_ptr<Backend>& slot = r.gpus[device.index];
  if (!slot) slot = make_cuda_backend(device.index);
  return *slot;
}

void synchronize() {
  std::vector<Backend*> used;
  {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    for (const auto& gpu : r.gpus)
      if (gpu) used.push_back(gpu.get());
  }
  for (Backend* b : used) b->synchronize();
}

}  // namespace tarry::runtime
