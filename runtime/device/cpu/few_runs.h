// Few runs of many elements, in no order: each run has a block of tree R that fills up while the elements are read
// once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "codegen/cuda/routine.h"
#include "runtime/device/cpu/numbers.h"
#include "runtime/device/cpu/run_folds.h"
#include "runtime/device/parallel.h"
#include "support/floating_point.h"

namespace tarry::runtime {

/// The elements are read in parts, each by one thread. A count tells where among those of its run each part's first
/// element stands; so what fills a block is known, and the block that two parts share is put together at the end.
template <class T, class Number, class Make>
class FewRuns {
 public:
  FewRuns(const codegen::RoutineSpec& spec, const Number* numbers, void* scratch, const Make& make)
      : n_(spec.n),
        m_(spec.m),
        parts_(std::min<std::int64_t>(codegen::filling_parts(spec), thread_count())),
        numbers_(numbers),
        make_(make) {
    codegen::ScratchArrays memory(scratch);
    ranks_ = memory.take<std::int64_t>((parts_ + 1) * m_);
    blocks_ = memory.take<std::int64_t>(m_ + 1);
    next_ = memory.take<std::int64_t>(parts_ * codegen::words_apart(m_));
    states_ = memory.take<T>(codegen::blocks_of_runs(spec));
    filling_ = memory.take<T>(parts_ * m_ * kBlock);
    begun_ = memory.take<T>(parts_ * m_ * kBlock);
  }

  void fold(const T* x, T* to) const {
    count();
    parallel_for(parts_, 1, [&](std::int64_t lo, std::int64_t hi) {
      const support::DefaultFloatingPoint state;
      for (std::int64_t p = lo; p < hi; ++p) fill_blocks(x, p);
    });
    constexpr std::int64_t kGrain = 64;
    parallel_for(m_, kGrain, [&](std::int64_t lo, std::int64_t hi) {
      const support::DefaultFloatingPoint state;
      for (std::int64_t run = lo; run < hi; ++run) to[run] = finish(run);
    });
  }

 private:
  using Fold = decltype(std::declval<const Make&>()(T{}));

  [[nodiscard]] std::int64_t part(std::int64_t p) const { return n_ * p / parts_; }
  /// How many elements of a run are in front of a part.
  [[nodiscard]] std::int64_t rank(std::int64_t p, std::int64_t run) const { return ranks_[p * m_ + run]; }

  void count() const {
    parallel_for(parts_, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p)
        runtime::count(numbers_ + part(p), part(p + 1) - part(p), ranks_ + (p + 1) * m_, m_);
    });
    std::memset(ranks_, 0, static_cast<std::size_t>(m_) * sizeof *ranks_);
    for (std::int64_t p = 0; p < parts_; ++p)
      for (std::int64_t run = 0; run < m_; ++run) ranks_[(p + 1) * m_ + run] += rank(p, run);
    blocks_[0] = 0;
    for (std::int64_t run = 0; run < m_; ++run)
      blocks_[run + 1] = blocks_[run] + (rank(parts_, run) + kBlock - 1) / kBlock;
  }

  [[nodiscard]] T* filling(std::int64_t p, std::int64_t run) const { return filling_ + (p * m_ + run) * kBlock; }
  /// The elements of a part in a block that the part before began.
  [[nodiscard]] T* begun(std::int64_t p, std::int64_t run) const { return begun_ + (p * m_ + run) * kBlock; }

  void fill_blocks(const T* x, std::int64_t p) const {
    constexpr auto kLength = static_cast<std::uint64_t>(kBlock);
    const auto m = static_cast<std::uint64_t>(m_);
    const Number* const numbers = numbers_;
    T* const elements = filling(p, 0);
    std::int64_t* const next = next_ + p * codegen::words_apart(m_);
    std::copy_n(ranks_ + p * m_, m_, next);
    const std::int64_t until = part(p + 1);
    for (std::int64_t i = part(p); i < until; ++i) {
      const auto run = static_cast<std::uint64_t>(numbers[i]);
      if (run >= m) continue;
      const auto rank = static_cast<std::uint64_t>(next[run]++), place = rank % kLength;
      elements[run * kLength + place] = x[i];
      if (place == kLength - 1)
        finish_block(p, static_cast<std::int64_t>(run), static_cast<std::int64_t>(rank / kLength));
    }
  }

  void finish_block(std::int64_t p, std::int64_t run, std::int64_t block) const {
    const std::int64_t before = rank(p, run) - block * kBlock;
    if (before > 0) {
      std::copy(filling(p, run) + before, filling(p, run) + kBlock, begun(p, run) + before);
    } else {
      states_[blocks_[run] + block] = fold_block(filling(p, run), kBlock, make_(T{}));
    }
  }

  /// Blocks that parts share, and the last one, and the tree of all of them.
  T finish(std::int64_t run) const {
    const Fold fold = make_(T{});
    const std::int64_t n = rank(parts_, run);
    if (n == 0) return Fold::nothing();
    T* const states = states_ + blocks_[run];
    T block[kBlock];
    for (std::int64_t p = 0; p < parts_; ++p) {
      const std::int64_t first = rank(p, run), last = rank(p + 1, run), begin = first % kBlock, end = last % kBlock;
      if (first / kBlock == last / kBlock) {
        std::copy(filling(p, run) + begin, filling(p, run) + end, block + begin);
        continue;
      }
      if (begin > 0) {
        std::copy(begun(p, run) + begin, begun(p, run) + kBlock, block + begin);
        states[first / kBlock] = fold_block(block, kBlock, fold);
      }
      std::copy_n(filling(p, run), end, block);
    }
    if (n <= kLanes) return fold_run(block, n, fold);
    if (n % kBlock != 0) states[n / kBlock] = fold_block(block, n % kBlock, fold);
    Subtrees<Fold> subtrees(fold, states[0]);
    for (std::int64_t b = 1; b < (n + kBlock - 1) / kBlock; ++b) subtrees.push(states[b]);
    return subtrees.joined();
  }

  const std::int64_t n_, m_, parts_;
  const Number* const numbers_;
  const Make& make_;
  std::int64_t* ranks_;   ///< of each part and run: the elements in front of it; behind the last part all of a run's
  std::int64_t* blocks_;  ///< of each run: its first block among all
  std::int64_t* next_;    ///< of each part and run: the elements in front of the next one
  T* states_;             ///< of blocks
  T *filling_, *begun_;   ///< of each part and run: elements of a block
};

}  // namespace tarry::runtime
