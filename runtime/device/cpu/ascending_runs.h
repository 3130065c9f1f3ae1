// Runs whose numbers ascend already: they are folded where they stand.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/device/cpu/run_folds.h"
#include "runtime/device/parallel.h"
#include "support/floating_point.h"

namespace tarry::runtime {

/// True if no number is less than the one before it. Numbers in no order are found out at once.
template <class Number>
bool ascend(const Number* numbers, std::int64_t n) {
  constexpr std::int64_t kStep = 4096, kGrain = 64;
  const auto steps_ascend = [&](std::int64_t from) {
    const std::int64_t until = std::min(n - 1, from + kStep);
    bool does = true;
    for (std::int64_t i = from; i < until; ++i) does &= numbers[i] <= numbers[i + 1];
    return does;
  };
  if (n < 2) return true;
  if (!steps_ascend(0)) return false;
  std::atomic<bool> all{true};
  parallel_for((n - 1 + kStep - 1) / kStep, kGrain, [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t s = lo; s < hi && all.load(std::memory_order_relaxed); ++s)
      if (!steps_ascend(s * kStep)) all.store(false, std::memory_order_relaxed);
  });
  return all.load();
}

/// The runs 0 .. m-1 of n elements whose numbers ascend; greater numbers name no run.
template <class T, class Number, class Make>
class AscendingRuns {
 public:
  AscendingRuns(const Number* numbers, std::int64_t n, std::int64_t m, const Make& make)
      : numbers_(numbers), n_(std::partition_point(numbers, numbers + n, in_run(m)) - numbers), m_(m), make_(make) {}

  /// `chunks` has room for the states of fold_long().
  void fold(const T* x, T* to, void* chunks) const {
    constexpr std::int64_t kPiece = 1 << 14;
    parallel_for((n_ + kPiece - 1) / kPiece, 1, [&](std::int64_t lo, std::int64_t hi) {
      const support::DefaultFloatingPoint state;
      for (std::int64_t p = lo; p < hi; ++p) fold_piece(x, p * kPiece, std::min(n_, (p + 1) * kPiece), to);
    });
    const std::int64_t last = n_ == 0 ? -1 : number(n_ - 1);
    parallel_for(m_ - 1 - last, kPiece, [&](std::int64_t lo, std::int64_t hi) {
      std::fill(to + last + 1 + lo, to + last + 1 + hi, Fold::nothing());
    });
    fold_long_runs(x, to, chunks);
  }

 private:
  using Fold = decltype(std::declval<const Make&>()(T{}));

  static auto in_run(std::int64_t m) {
    return [m](Number number) { return static_cast<std::uint64_t>(number) < static_cast<std::uint64_t>(m); };
  }
  [[nodiscard]] std::int64_t number(std::int64_t i) const { return static_cast<std::int64_t>(numbers_[i]); }
  [[nodiscard]] std::int64_t begin_of_run(std::int64_t i) const {
    return std::lower_bound(numbers_, numbers_ + i, numbers_[i]) - numbers_;
  }
  /// Where the run of element i ends, looked for in steps that double.
  [[nodiscard]] std::int64_t end_of_run(std::int64_t i) const {
    std::int64_t step = 1;
    while (i + step < n_ && numbers_[i + step] == numbers_[i]) {
      i += step;
      step *= 2;
    }
    const Number* const until = numbers_ + std::min(n_, i + step);
    return std::upper_bound(numbers_ + i, until, numbers_[i]) - numbers_;
  }

  /// One after the other, each on all threads.
  void fold_long_runs(const T* x, T* to, void* chunks) const {
    constexpr std::int64_t kApart = kLongRun / 2;  // some two places so far apart lie in each long run
    for (std::int64_t i = 0; i + kApart < n_; i += kApart) {
      if (numbers_[i] != numbers_[i + kApart]) continue;
      const std::int64_t first = begin_of_run(i), last = end_of_run(i);
      if (last - first >= kLongRun) to[number(i)] = fold_long(x + first, last - first, make_, chunks);
      i = (last - 1) / kApart * kApart;
    }
  }

  /// The runs that begin within [from, until), and those of nothing in front of them.
  void fold_piece(const T* x, std::int64_t from, std::int64_t until, T* to) const {
    if (from > 0 && numbers_[from] == numbers_[from - 1]) from = end_of_run(from);
    if (from >= until) return;
    const std::int64_t end = end_of_run(until - 1), before = from == 0 ? -1 : number(from - 1);
    std::fill(to + before + 1, to + number(until - 1) + 1, Fold::nothing());
    if constexpr (requires { Fold::neutral(); }) return fold_elements(x, from, end, to);
    for (std::int64_t i = from, next; i < end; i = next) {
      next = end_of_run(i);
      if (next - i < kLongRun) to[number(i)] = fold_of(x + i, next - i, make_);
    }
  }

  /// Whole runs, without a branch at the end of a short one: a run's result is stored with each of its elements.
  void fold_elements(const T* x, std::int64_t from, std::int64_t end, T* to) const {
    const Fold fold = make_(T{});
    const Number* const numbers = numbers_;
    Number run = numbers[from];
    std::int64_t first = from;
    T sum = Fold::neutral();
    for (std::int64_t i = from; i < end; ++i) {
      const Number next = numbers[i];
      const bool same = next == run;
      run = next;
      first = same ? first : i;
      sum = fold.next(same ? sum : Fold::neutral(), x[i]);
      to[run] = sum;
      if (i - first < kLanes) continue;
      const std::int64_t last = end_of_run(i);
      if (last - first < kLongRun) to[run] = fold_of(x + first, last - first, make_);
      i = last - 1;
    }
  }

  const Number* const numbers_;
  const std::int64_t n_, m_;
  const Make& make_;
};

}  // namespace tarry::runtime
