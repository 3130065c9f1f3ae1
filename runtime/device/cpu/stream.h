// Stores of large results past the caches. A plain store reads its line of memory before it writes it; where results
// are larger than the last-level cache that read is a third of the traffic of a copy, and what they push out is lost
// besides. Kernels know nothing of it: they write a piece into a buffer that stays in the core's cache, from where it
// goes to memory.
#pragma once

#include <cstdint>

#include "runtime/device/backend.h"

namespace tarry::runtime {

using CpuEntry = void (*)(const void* parameters, std::int64_t lo, std::int64_t hi);

/// True if the stores of a launch go past the caches: they are dense (codegen::DenseStores) or tiled
/// (codegen::TiledStores), and no smaller than the last level.
bool streams(const Launch& launch);

/// Runs a launch so, on threads that take at least `grain` work items each. The memory is as after running `entry`
/// plainly.
void run_streamed(CpuEntry entry, const Launch& launch, std::int64_t grain);

/// Launches of this process so far whose stores went past the caches.
std::int64_t streamed_launches();

/// As if the last-level cache had so many bytes; for tests. Negative: what the machine has.
void set_last_level_cache(std::int64_t bytes);

}  // namespace tarry::runtime
