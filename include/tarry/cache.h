// Counters of this process's kernel cache, and why it had to compile (docs/reference/cache.md).
#pragma once

#include <tarry/error.h>
#include <tarry/export.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace tarry {
inline namespace v0 {

/// Counted since the process began, over all devices. With TARRY_LOG=info they are logged when it ends.
struct CacheCounters {
  std::int64_t memory_hits = 0;       ///< kernels that this process had loaded already
  std::int64_t disk_hits = 0;         ///< kernels loaded from a directory or bundle
  std::int64_t compiles = 0;          ///< kernels compiled
  std::int64_t compile_batches = 0;   ///< calls of a compiler, each with up to 8 kernels
  std::int64_t load_failures = 0;     ///< binaries that the device did not take; those from disk are compiled again
  std::int64_t write_failures = 0;    ///< kernels that could not be kept on disk
  std::int64_t evicted = 0;           ///< entries removed to stay below TARRY_CACHE_SIZE
  std::int64_t foreign_compiler = 0;  ///< disk hits made by another compiler version than the one here
};
/// The counters of this process.  Throws OutOfMemory alone.  Example: `std::cout << ta::cache_counters().compiles`.
[[nodiscard]] TARRY_EXPORT CacheCounters cache_counters(Where where = std::source_location::current());

/// A kernel that no directory and no bundle could give, and the entry that came nearest.
struct CacheMiss {
  std::string kernel;  ///< its symbol
  std::string key;     ///< 32 hexadecimal digits: its file is named after it
  std::string target;  ///< "sm_90", "x86-64-v3"
  /// The part that differs: "format", "target", "mode", "options", "text" (the first of these that does), "compiler"
  /// where only that does, "image" where the entry was right but did not load. Empty where there is nothing to compare
  /// with.
  std::string component;
  std::string nearest;      ///< key of the nearest entry, or empty
  std::string explanation;  ///< all of it as a sentence
};
/// The latest misses, at most 64 of each device, oldest first. Looks through all entries on disk: for diagnosis.
/// Throws OutOfMemory alone.  Example: `for (const auto& m : ta::cache_misses()) std::cout << m.explanation`.
[[nodiscard]] TARRY_EXPORT std::vector<CacheMiss> cache_misses(Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
