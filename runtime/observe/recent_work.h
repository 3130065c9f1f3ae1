// The latest evaluates of each GPU: a fault there shows at some later call, which did not cause it.
#pragma once

#include <tarry/device.h>
#include <tarry/error.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/plan/compiled_plan.h"
#include "support/fork.h"

namespace tarry::runtime {

/// Thread-safe.
class RecentWork {
 public:
  void add(Device device, Where where, std::shared_ptr<const CompiledPlan> plan);
  /// "; latest work on cuda:0: evaluate at main.cpp:9 (add_f32_map_5d2f91c0), ...", newest first; "" where there is
  /// none.
  [[nodiscard]] std::string describe(Device device) const;

 private:
  struct Entry {
    Device device;
    Where where;
    std::shared_ptr<const CompiledPlan> plan;
  };
  mutable support::Mutex mutex_;
  std::array<Entry, 8> entries_;  // a ring
  std::size_t next_ = 0;
};

}  // namespace tarry::runtime
