// Many runs, in no order: their elements come together first, bucket by bucket of neighbouring runs, so that what is
// written lies near.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "codegen/cuda/routine.h"
#include "runtime/device/cpu/lines.h"
#include "runtime/device/cpu/run_folds.h"
#include "runtime/device/parallel.h"
#include "support/floating_point.h"

namespace tarry::runtime {

/// `begins` gets where each cell begins, by the counts of its elements, and where the last one ends; a count of a part
/// becomes the place of that part's first element.
inline void begin_cells(std::int64_t* counts, std::int64_t cells, std::int64_t parts, std::int64_t* begins) {
  std::int64_t sum = 0;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    begins[cell] = sum;
    for (std::int64_t p = 0; p < parts; ++p) sum += std::exchange(counts[p * cells + cell], sum);
  }
  begins[cells] = sum;
}

/// Every part of the row counts its own elements, so it knows where they go, and the elements of a run keep their
/// order. What is in no run has no place.
template <class T, class Number, class Make>
class BucketedRuns {
 public:
  BucketedRuns(const codegen::RoutineSpec& spec, const Number* numbers, void* scratch, const Make& make)
      : spec_(spec), numbers_(numbers), make_(make), memory_(spec, scratch) {}

  void fold(const T* x, T* to) const {
    bring_together(x);
    const std::int64_t count = codegen::buckets(spec_), jobs = codegen::bucket_jobs(spec_);
    if (codegen::runs_of_bucket(spec_) == 1) {
      constexpr std::int64_t kGrain = 4096;
      const std::int64_t length = std::max<std::int64_t>(1, spec_.n / spec_.m);
      return parallel_for(count, std::max<std::int64_t>(1, kGrain / length), [&](std::int64_t lo, std::int64_t hi) {
        const support::DefaultFloatingPoint state;
        for (std::int64_t run = lo; run < hi; ++run)
          to[run] = fold_of(memory_.values + memory_.begins[run], memory_.begins[run + 1] - memory_.begins[run], make_);
      });
    }
    parallel_for(jobs, 1, [&](std::int64_t lo, std::int64_t hi) {
      const support::DefaultFloatingPoint state;
      for (std::int64_t job = lo; job < hi; ++job)
        for (std::int64_t b = count * job / jobs; b < count * (job + 1) / jobs; ++b)
          fold_bucket(b, memory_.near + job * codegen::near_elements(spec_), to);
    });
  }

 private:
  using Fold = decltype(std::declval<const Make&>()(T{}));
  using InBucket = codegen::NumberInBucket;
  static constexpr std::int64_t kStaged = codegen::kStagedElements;

  void bring_together(const T* x) const {
    const std::int64_t parts = std::min<std::int64_t>(codegen::counting_parts(spec_), thread_count());
    const std::int64_t cells = codegen::words_apart(codegen::buckets(spec_));
    std::memset(memory_.counts, 0, static_cast<std::size_t>(parts * cells) * sizeof *memory_.counts);
    const auto in_parts = [&](const auto& body) {
      parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
        for (std::int64_t p = lo; p < hi; ++p) body(p, spec_.n * p / parts, spec_.n * (p + 1) / parts);
      });
    };
    in_parts(
        [&](std::int64_t p, std::int64_t from, std::int64_t until) { count(memory_.counts + p * cells, from, until); });
    begin_cells(memory_.counts, cells, parts, memory_.begins);
    in_parts([&](std::int64_t p, std::int64_t from, std::int64_t until) {
      if (spec_.n <= codegen::kInCache) return place(x, memory_.counts + p * cells, from, until);
      place_staged(x, p, from, until);
    });
  }

  void count(std::int64_t* counts, std::int64_t from, std::int64_t until) const {
    const auto m = static_cast<std::uint64_t>(spec_.m);
    const int shift = std::countr_zero(static_cast<std::uint64_t>(codegen::runs_of_bucket(spec_)));
    const Number* const numbers = numbers_;
    for (std::int64_t i = from; i < until; ++i)
      if (const auto run = static_cast<std::uint64_t>(numbers[i]); run < m) ++counts[run >> shift];
  }

  void place(const T* x, std::int64_t* next, std::int64_t from, std::int64_t until) const {
    const auto m = static_cast<std::uint64_t>(spec_.m),
               per = static_cast<std::uint64_t>(codegen::runs_of_bucket(spec_));
    const int shift = std::countr_zero(per);
    const Number* const numbers = numbers_;
    T* const values = memory_.values;
    InBucket* const within = memory_.numbers;
    if (per == 1) {
      for (std::int64_t i = from; i < until; ++i)
        if (const auto run = static_cast<std::uint64_t>(numbers[i]); run < m) values[next[run]++] = x[i];
      return;
    }
    for (std::int64_t i = from; i < until; ++i) {
      const auto run = static_cast<std::uint64_t>(numbers[i]);
      if (run >= m) continue;
      const std::int64_t at = next[run >> shift]++;
      values[at] = x[i];
      within[at] = static_cast<InBucket>(run & (per - 1));
    }
  }

  /// Elements are staged in memory that stays in a cache: as many as make whole lines go to a bucket together.
  void place_staged(const T* x, std::int64_t p, std::int64_t from, std::int64_t until) const {
    const std::int64_t cells = codegen::words_apart(codegen::buckets(spec_));
    const auto m = static_cast<std::uint64_t>(spec_.m),
               per = static_cast<std::uint64_t>(codegen::runs_of_bucket(spec_));
    const int shift = std::countr_zero(per);
    const Number* const numbers = numbers_;
    std::int64_t *const next = memory_.counts + p * cells, *const first = memory_.firsts + p * cells;
    T* const values = memory_.staged_values + p * cells * kStaged;
    InBucket* const within = memory_.staged_numbers + p * cells * kStaged;
    T* const all_values = memory_.values;
    InBucket* const all_numbers = memory_.numbers;
    std::copy_n(next, cells, first);
    for (std::int64_t i = from; i < until; ++i) {
      const auto run = static_cast<std::uint64_t>(numbers[i]);
      if (run >= m) continue;
      const std::uint64_t cell = run >> shift;
      const std::int64_t at = next[cell]++;
      T* const staged = values + cell * kStaged;
      InBucket* const staged_numbers = within + cell * kStaged;
      const std::uint64_t slot = static_cast<std::uint64_t>(at) % kStaged;
      if (slot == 0) {  // the elements of the line before are in the cache by now
        const std::int64_t line = at - kStaged;
        if (line >= first[cell]) [[likely]] {
          store_lines<kStaged * sizeof(T)>(all_values + line, staged);
          store_lines<kStaged * sizeof(InBucket)>(all_numbers + line, staged_numbers);
        } else {
          unstage(staged, staged_numbers, first[cell], at);
        }
      }
      staged[slot] = x[i];
      staged_numbers[slot] = static_cast<InBucket>(run & (per - 1));
    }
    for (std::int64_t cell = 0; cell < cells; ++cell)
      unstage(values + cell * kStaged, within + cell * kStaged,
              std::max(first[cell], (next[cell] - 1) / kStaged * kStaged), next[cell]);
    finish_lines();
  }

  void unstage(const T* values, const InBucket* within, std::int64_t from, std::int64_t until) const {
    if (from >= until) return;
    std::copy_n(values + from % kStaged, until - from, memory_.values + from);
    std::copy_n(within + from % kStaged, until - from, memory_.numbers + from);
  }

  /// Where few elements are in a bucket, they come together in memory of the job's, which stays in its cache.
  void fold_bucket(std::int64_t bucket, T* near, T* to) const {
    const std::int64_t per = codegen::runs_of_bucket(spec_);
    const std::int64_t from = memory_.begins[bucket], n = memory_.begins[bucket + 1] - from;
    const std::int64_t first_run = bucket * per, runs = std::min(per, spec_.m - first_run);
    const T* const values = memory_.values + from;
    const InBucket* const numbers = memory_.numbers + from;
    T* const together = n <= codegen::near_elements(spec_) ? near : memory_.far + from;
    std::int64_t* const next = memory_.offsets + first_run;
    std::memset(next, 0, static_cast<std::size_t>(runs) * sizeof *next);
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < n; ++i) longest = std::max(longest, ++next[numbers[i]]);
    if constexpr (requires { Fold::neutral(); })
      if (longest <= kLanes) return fold_short_runs(values, numbers, n, next, runs, to + first_run);
    std::int64_t sum = 0;
    for (std::int64_t run = 0; run < runs; ++run) sum += std::exchange(next[run], sum);
    for (std::int64_t i = 0; i < n; ++i) together[next[numbers[i]]++] = values[i];
    for (std::int64_t run = 0, first = 0; run < runs; first = next[run++])
      to[first_run + run] = fold_of(together + first, next[run] - first, make_);
  }

  /// Runs that tree R folds one element after the other need not come together.
  void fold_short_runs(const T* values, const InBucket* numbers, std::int64_t n, const std::int64_t* counts,
                       std::int64_t runs, T* to) const {
    const Fold fold = make_(T{});
    std::fill_n(to, runs, Fold::neutral());
    for (std::int64_t i = 0; i < n; ++i) to[numbers[i]] = fold.next(to[numbers[i]], values[i]);
    for (std::int64_t run = 0; run < runs; ++run) to[run] = counts[run] == 0 ? Fold::nothing() : to[run];
  }

  /// The parts of the scratch memory, in the order in which codegen::bucketed_bytes() counts them.
  struct Memory {
    Memory(const codegen::RoutineSpec& spec, void* scratch) {
      const std::int64_t cells = codegen::words_apart(codegen::buckets(spec)), parts = codegen::counting_parts(spec);
      codegen::ScratchArrays memory(scratch);
      values = memory.take<T>(spec.n);
      numbers = memory.take<InBucket>(spec.n);
      far = memory.take<T>(spec.n);
      near = memory.take<T>(codegen::bucket_jobs(spec) * codegen::near_elements(spec));
      const std::int64_t staged = spec.n <= codegen::kInCache ? 0 : parts * cells * kStaged;
      staged_values = memory.take<T>(staged);
      staged_numbers = memory.take<InBucket>(staged);
      counts = memory.take<std::int64_t>(parts * cells);
      firsts = memory.take<std::int64_t>(parts * cells);
      begins = memory.take<std::int64_t>(cells + 1);
      offsets = memory.take<std::int64_t>(spec.m);
    }
    T* values;          ///< of buckets one after the other
    InBucket* numbers;  ///< of the runs of these elements
    T *far, *near;      ///< where those of a large bucket come together, and of small ones for each job
    T* staged_values;   ///< of each part and bucket
    InBucket* staged_numbers;
    std::int64_t *counts, *firsts;  ///< of each part and bucket: the places of the next element and of the first one
    std::int64_t *begins, *offsets;
  };

  const codegen::RoutineSpec& spec_;
  const Number* const numbers_;
  const Make& make_;
  const Memory memory_;
};

}  // namespace tarry::runtime
