// RunLease: what one evaluate works on, lent from a few that are kept, so that what repeats allocates nothing.
#pragma once

#include <array>
#include <atomic>

#include "runtime/evaluate/dispatch.h"

namespace tarry::runtime {

/// A Run for one evaluate; its memory serves the next.
class RunLease {
 public:
  RunLease() {
    for (auto& idle : idle_runs)
      if ((run_ = idle.exchange(nullptr, std::memory_order_acquire)) != nullptr) return;
    run_ = new Run;
  }
  ~RunLease() {
    run_->clear();
    for (auto& idle : idle_runs) {
      Run* none = nullptr;
      if (idle.compare_exchange_strong(none, run_, std::memory_order_release, std::memory_order_relaxed)) return;
    }
    delete run_;
  }
  RunLease(const RunLease&) = delete;
  RunLease& operator=(const RunLease&) = delete;
  Run& operator*() const { return *run_; }
  Run* operator->() const { return run_; }

 private:
  /// Never destroyed: arrays in static storage may be evaluated and dropped at exit.
  static inline constinit std::array<std::atomic<Run*>, 8> idle_runs{};
  Run* run_ = nullptr;
};

}  // namespace tarry::runtime
