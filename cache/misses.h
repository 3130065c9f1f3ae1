// The latest kernels that no disk layer held, and why. Remembering is cheap; explaining looks through the layers.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <tarry/cache.h>

#include "cache/layer.h"
#include "cache/memory_layer.h"
#include "support/fork.h"

namespace tarry::cache {

struct Miss {
  MaterialPtr material;
  std::string name;       ///< symbol of the kernel
  std::string component;  ///< "compiler" or "image" where an entry of this very key was refused, else empty
  std::string cause;      ///< then: why, as a sentence
};

std::vector<CacheMiss> explain(std::span<const Miss> misses, std::span<Layer* const> layers);

class MissLog {
 public:
  void add(Miss miss) {
    constexpr std::size_t kMost = 64;
    const std::lock_guard lock(mutex_);
    misses_.push_back(std::move(miss));
    if (misses_.size() > kMost) misses_.pop_front();
  }
  [[nodiscard]] std::vector<Miss> latest() const {
    const std::lock_guard lock(mutex_);
    return {misses_.begin(), misses_.end()};
  }

 private:
  mutable support::Mutex mutex_;
  std::deque<Miss> misses_;
};

}  // namespace tarry::cache
