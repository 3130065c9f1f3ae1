// KernelHistory: what stands behind kernel_history().
#pragma once

#include <tarry/device.h>
#include <tarry/error.h>
#include <tarry/history.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tarry::graph {
struct Snapshot;
}

namespace tarry::runtime {

struct CompiledPlan;

/// Sums over the launches of one kernel. Plans share it with the history; a launch adds to it without a lock.
class KernelSums {
 public:
  void launched(std::int64_t bytes_read, std::int64_t bytes_written) {
    launches.fetch_add(1, std::memory_order_relaxed);
    read.fetch_add(bytes_read, std::memory_order_relaxed);
    written.fetch_add(bytes_written, std::memory_order_relaxed);
  }
  void ran(std::chrono::nanoseconds time) {
    measured.fetch_add(1, std::memory_order_relaxed);
    nanoseconds.fetch_add(time.count(), std::memory_order_relaxed);
  }
  void interpreted_too() { interpreted.fetch_add(1, std::memory_order_relaxed); }
  std::atomic<std::int64_t> launches{0}, interpreted{0}, read{0}, written{0}, measured{0}, nanoseconds{0};
};

/// "compiled", "disk", "memory", "interpreted", "called".
std::string_view name(KernelHit hit);

/// Code of the user's on one device: a host_function, or a cuda_kernel, which has a key.
struct OwnCode {
  std::string name;
  Where recorded;
  Device device;
  std::string target;
  std::string key;
  KernelHit hit = KernelHit::Called;
  double compile_seconds = 0;
  [[nodiscard]] std::string line() const;  ///< "scale at main.cpp:9"
};
std::shared_ptr<KernelSums> enter_history(const OwnCode& code);

/// Enters the kernels of a new plan: each of its steps gets the sums to add to.
void enter_history(CompiledPlan& plan, const graph::Snapshot& snapshot, Device device);

}  // namespace tarry::runtime
