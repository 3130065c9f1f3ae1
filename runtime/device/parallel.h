// The one place that runs loops on several threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/function_ref.h"

namespace tarry::runtime {

/// Threads of the CPU device: TARRY_NUM_THREADS, else one per core this process may use.
int thread_count();

/// Calls body(lo, hi) on disjoint pieces that cover [0, count), each of at least `grain` where it can be; returns when
/// all are done. In the caller's thread where one piece is enough. `body` does not throw.
void parallel_for(std::int64_t count, std::int64_t grain, support::FunctionRef<void(std::int64_t, std::int64_t)> body);

/// Copies, or has `fill(to, at, bytes)` put bytes at `to`, on several threads where they are many.
void copy_in_parallel(void* to, const void* from, std::size_t bytes);
void fill_in_parallel(support::FunctionRef<void(void*, std::size_t, std::size_t)> fill, void* to, std::size_t at,
                      std::size_t bytes);

}  // namespace tarry::runtime
