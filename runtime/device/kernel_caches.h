// The kernel caches of the process: one per backend, since an executable belongs to its device.
#pragma once

#include <string>
#include <vector>

#include "cache/kernel_cache.h"
#include "runtime/device/backend.h"

namespace tarry::runtime {

/// Made on first use and never destroyed, as backends are.
cache::KernelCache& kernel_cache(const Backend& backend);

cache::CacheStats cache_stats();  ///< of all of them
std::string describe(const cache::CacheStats& stats);
std::vector<CacheMiss> cache_misses();  ///< of all of them, explained

}  // namespace tarry::runtime
