// KernelCache: from key material to a loaded executable: memory LRU, single flight per kernel, disk layers.
// Knows bytes, not nodes and not devices.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <tarry/cache.h>

#include "cache/types.h"

namespace tarry::cache {

using CacheStats = CacheCounters;

class KernelCache {
 public:
  explicit KernelCache(std::size_t memory_capacity = 4096);
  ~KernelCache();
  /// One Loaded per request, in order. Kernels that no layer holds compile on all cores at once, in batches of at most
  /// 8 where there are more kernels than cores; the same kernel asked for by many threads compiles once.
  std::vector<Loaded> get(std::span<const KernelRequest> requests, const Maker& maker);
  /// The same of what memory and disk hold; the others are Hit::None, and nothing is compiled, thrown or noted for
  /// them.
  std::vector<Loaded> find(std::span<const KernelRequest> requests, const Maker& maker);
  [[nodiscard]] CacheStats stats() const;
  /// The latest kernels that no disk layer held, explained by what is in the layers now.
  [[nodiscard]] std::vector<CacheMiss> misses() const;
  void clear_memory();  ///< forgets loaded kernels (tests)
 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::cache
