// The engine's cuda:250: plans, NVRTC and the kernel cache are real, the driver is the test's, on host memory, and its
// kernels compute nothing.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/backend.h"
#include "tests/helpers/fake_driver.h"

namespace tarry::test {

inline constexpr Device kFakeGpu = cuda(250);

/// With a driver that finds every kernel. Kernel caches know a backend by its address, so neither is ever freed.
class FakeGpu {
 public:
  FakeGpu() : driver_(*new FakeDriver) {
    driver_.api.module_get_function = [](runtime::cuda::Function* function, runtime::cuda::Module module,
                                         const char* name) {
      const FakeDriver::Kernel nothing = [](const std::uint64_t*, unsigned, unsigned) {};
      const auto at = reinterpret_cast<FakeDriver*>(module)->kernels.try_emplace(name, nothing).first;
      *function = reinterpret_cast<runtime::cuda::Function>(&at->second);
      return FakeDriver::Result::Success;
    };
    runtime::exchange_backend(kFakeGpu, runtime::make_cuda_backend(driver_.api, kFakeGpu.index));
  }
  ~FakeGpu() {
    static auto& kept = *new std::vector<std::unique_ptr<runtime::Backend>>;
    kept.push_back(runtime::exchange_backend(kFakeGpu, nullptr));
  }
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;
  FakeDriver& driver() { return driver_; }

 private:
  FakeDriver& driver_;
};

}  // namespace tarry::test
