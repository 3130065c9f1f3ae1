// The registry of kernel caches, what all of them did, and the log line that says so when the process ends.
#include "runtime/device/kernel_caches.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

#include "support/fork.h"
#include "support/log.h"

namespace tarry::runtime {

namespace {

struct CacheRegistry {
  support::Mutex mutex;
  std::map<const Backend*, std::unique_ptr<cache::KernelCache>> caches;
};
CacheRegistry& cache_registry() {
  static auto* r = new CacheRegistry;
  return *r;
}

std::vector<const cache::KernelCache*> all_caches() {
  const std::lock_guard lock(cache_registry().mutex);
  std::vector<const cache::KernelCache*> all;
  for (const auto& [backend, cache] : cache_registry().caches) all.push_back(cache.get());
  return all;
}

struct LogAtExit {
  ~LogAtExit() {
    try {
      if (support::log::enabled(support::log::Level::Info))
        support::log::info("kernel cache: " + describe(cache_stats()));
    } catch (const std::bad_alloc&) {  // no memory for the line
    }
  }
};

}  // namespace

cache::KernelCache& kernel_cache(const Backend& backend) {
  static const LogAtExit log_at_exit;
  const std::lock_guard lock(cache_registry().mutex);
  std::unique_ptr<cache::KernelCache>& slot = cache_registry().caches[&backend];
  if (!slot) slot = std::make_unique<cache::KernelCache>();
  return *slot;
}

cache::CacheStats cache_stats() {
  cache::CacheStats sum;
  for (const cache::KernelCache* cache : all_caches()) {
    const cache::CacheStats s = cache->stats();
    sum.memory_hits += s.memory_hits;
    sum.disk_hits += s.disk_hits;
    sum.compiles += s.compiles;
    sum.compile_batches += s.compile_batches;
    sum.load_failures += s.load_failures;
    sum.write_failures += s.write_failures;
    sum.evicted += s.evicted;
    sum.foreign_compiler += s.foreign_compiler;
  }
  return sum;
}

std::string describe(const cache::CacheStats& s) {
  return fmt::format(
      "{} memory hits, {} disk hits, {} compiled in {} batches, {} load failures, {} write failures, {} evicted, "
      "{} by a foreign compiler",
      s.memory_hits, s.disk_hits, s.compiles, s.compile_batches, s.load_failures, s.write_failures, s.evicted,
      s.foreign_compiler);
}

std::vector<CacheMiss> cache_misses() {
  std::vector<CacheMiss> all;
  for (const cache::KernelCache* cache : all_caches())
    for (CacheMiss& miss : cache->misses()) all.push_back(std::move(miss));
  return all;
}

}  // namespace tarry::runtime
