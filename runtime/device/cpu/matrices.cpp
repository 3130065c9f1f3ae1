// Systems and factors of matrices on the CPU: each by one thread, in memory of its own.
#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

#include "codegen/prelude/core.h"
// Behind it, since that has its types.
#include "codegen/cuda/matrix_text.h"

using codegen::RoutineSpec;
using graph::Op;

/// Elements of memory for a small matrix.
constexpr std::size_t kSmallWork =
    (codegen::kSmallMatrix + 1) * 2 * codegen::kSmallMatrix + 2 * codegen::kSmallMatrix + 1;

/// A thread that has a matrix for itself.
struct Alone {
  static constexpr int lane = 0, lanes = 1, part = 0, parts = 1, thread = 0, threads = 1;
  static void sync() {}
  static bool any(bool x) { return x; }
  template <class T>
  static T most(T x) {
    return x;
  }
  template <class T>
  static int largest(T, int at) {
    return at;
  }
};

template <class T>
void run_matrix(const RoutineSpec& spec, std::span<void* const> operands, std::int64_t job, T* work) {
  const auto n = static_cast<int>(spec.n), ld = n | 1;
  const std::int64_t columns = codegen::host_columns(spec), tiles = (spec.m + columns - 1) / columns;
  const std::int64_t matrix = job / tiles, first = job % tiles * columns;
  const auto count = static_cast<int>(std::min(spec.m - first, columns));
  const T* const a = static_cast<const T*>(operands[0]) + matrix * spec.n * spec.n;
  T* const to = static_cast<T*>(operands.back());
  constexpr Alone g;
  switch (spec.op) {
    case Op::Solve: {
      const T* const b = static_cast<const T*>(operands[1]) + matrix * spec.n * spec.m;
      return solve(g, a, b, to + matrix * spec.n * spec.m, work, ld, n, spec.m, first, count);
    }
    case Op::Inverse: return solve<T>(g, a, nullptr, to + matrix * spec.n * spec.n, work, ld, n, spec.m, first, count);
    case Op::Pivots: return pivots(g, a, to + matrix * spec.n, work, ld, n);
    case Op::Cholesky: return cholesky(g, a, to + matrix * spec.n * spec.n, work, ld, n);
    default: return eigh(g, a, to + matrix * (spec.n + 1) * spec.n, work, ld, n);
  }
}

template <class T>
void run_small_matrices(const RoutineSpec& spec, std::span<void* const> operands, std::int64_t from, std::int64_t to) {
  T work[kSmallWork];
  for (std::int64_t job = from; job < to; ++job) run_matrix(spec, operands, job, work);
}

template <class T>
void run_matrices(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  constexpr std::int64_t kWorth = std::int64_t{1} << 15;  // operations of a thread
  const std::int64_t jobs = codegen::host_jobs(spec);
  if (spec.n <= codegen::kSmallMatrix) {
    const std::int64_t grain = std::max<std::int64_t>(1, kWorth / (spec.n * spec.n * spec.n));
    return parallel_for(jobs, grain,
                        [&](std::int64_t from, std::int64_t to) { run_small_matrices<T>(spec, operands, from, to); });
  }
  const std::int64_t parts = codegen::host_parts(spec);
  const std::int64_t each = codegen::matrix_work(spec, codegen::host_columns(spec));
  parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t part = lo; part < hi; ++part)
      for (std::int64_t job = part; job < jobs; job += parts)
        run_matrix(spec, operands, job, static_cast<T*>(scratch) + part * each);
  });
}

}  // namespace

void run_matrices_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (spec.dtype == float32) return run_matrices<float>(spec, operands, scratch);
  TARRY_ASSERT(spec.dtype == float64);
  run_matrices<double>(spec, operands, scratch);
}

}  // namespace tarry::runtime
