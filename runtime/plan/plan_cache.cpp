// PlanCache.
#include "runtime/plan/plan_cache.h"

#include <algorithm>
#include <cstring>

namespace tarry::runtime {
namespace {

std::uint64_t hash_of(PlanCache::Key key) {
  return support::hash_bytes(key.data(), key.size() * sizeof(std::uint64_t)).lo;
}

bool equal(PlanCache::Key a, PlanCache::Key b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

std::shared_ptr<const CompiledPlan> PlanCache::find(Key key) {
  const std::lock_guard lock(mutex_);
  // A loop comes back to its few plans: comparing with those costs less than a hash, and most others differ at once.
  constexpr int kRecent = 4;
  int looked_at = 0;
  for (Place it = entries_.begin(); it != entries_.end() && looked_at < kRecent; ++it, ++looked_at) {
    if (!equal(it->key, key)) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return it->plan;
  }
  const std::uint64_t hash = hash_of(key);
  const auto [begin, end] = places_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (!equal(it->second->key, key)) continue;
    entries_.splice(entries_.begin(), entries_, it->second);
    return it->second->plan;
  }
  return nullptr;
}

void PlanCache::insert(Key key, std::shared_ptr<const CompiledPlan> plan) {
  if (plan->steps.size() > max_steps_ / 4) return;
  const std::uint64_t hash = hash_of(key);
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = places_.equal_range(hash);
  if (const auto at = std::find_if(begin, end, [&](const auto& p) { return equal(p.second->key, key); }); at != end) {
    if (plan->dispatch && !at->second->plan->dispatch) at->second->plan = std::move(plan);  // it can run now
    return;
  }
  steps_ += plan->steps.size();
  entries_.push_front({{key.begin(), key.end()}, hash, std::move(plan)});
  places_.emplace(hash, entries_.begin());
  evict();
}

void PlanCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  places_.clear();
  steps_ = 0;
}

bool PlanCache::forget_half() {
  std::list<Entry> forgotten;  // destroyed outside the lock: kernels are unloaded
  const std::lock_guard lock(mutex_);
  for (std::size_t left = (entries_.size() + 1) / 2; left > 0; --left) take_last(forgotten);
  return !forgotten.empty();
}

void PlanCache::take_last(std::list<Entry>& to) {
  const Place last = std::prev(entries_.end());
  const auto [begin, end] = places_.equal_range(last->hash);
  places_.erase(std::find_if(begin, end, [&](const auto& p) { return p.second == last; }));
  steps_ -= last->plan->steps.size();
  to.splice(to.end(), entries_, last);
}

void PlanCache::evict() {
  std::list<Entry> evicted;
  while (entries_.size() > max_plans_ || steps_ > max_steps_) take_last(evicted);
}

}  // namespace tarry::runtime
