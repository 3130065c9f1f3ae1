// PlanCache: plans by canonical key, least recently used out first. A hit is confirmed by comparing the whole key.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/plan/compiled_plan.h"
#include "support/fork.h"
#include "support/hash.h"

namespace tarry::runtime {

class PlanCache {
 public:
  /// Bounded by plans and by their steps, since a plan of a very long chain is large.
  explicit PlanCache(std::size_t plans = 4096, std::size_t steps = 65536) : max_plans_(plans), max_steps_(steps) {}
  using Key = std::span<const std::uint64_t>;
  std::shared_ptr<const CompiledPlan> find(Key key);
  void insert(Key key, std::shared_ptr<const CompiledPlan> plan);
  void clear();
  /// The least recently used half goes. False where there was none.
  bool forget_half();

 private:
  struct Entry {
    std::vector<std::uint64_t> key;
    std::uint64_t hash;
    std::shared_ptr<const CompiledPlan> plan;
  };
  using Place = std::list<Entry>::iterator;
  void take_last(std::list<Entry>& to);
  void evict();

  support::Mutex mutex_;
  std::size_t max_plans_, max_steps_, steps_ = 0;
  std::list<Entry> entries_;  // most recent first
  std::unordered_multimap<std::uint64_t, Place> places_;
};

/// Forgets half of the plans that the engine keeps, as forget_half(). Evaluate defines it.
bool forget_half_of_plans();

}  // namespace tarry::runtime
