// Folds of runs by tree R (docs/reference/numerics.md), of elements that lie one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/device/cpu/extreme.h"
#include "runtime/device/parallel.h"
#include "support/floating_point.h"

namespace tarry::runtime {

/// Sums, of what wraps in unsigned integers.
template <class T>
struct Adding {
  using State = T;
  static constexpr bool kInAnyOrder = std::is_integral_v<T>;
  State first(T x) const { return x; }
  State next(State s, T x) const { return s + x; }
  State join(State a, State b) const { return a + b; }
  T result(State s, std::int64_t) const { return s; }
  static T nothing() { return 0; }
  /// The state that the first element replaces by its own bits.
  static T neutral() { return -T{0}; }
};

/// Products, likewise.
template <class T>
struct Multiplying : Adding<T> {
  T next(T s, T x) const { return s * x; }
  T join(T a, T b) const { return a * b; }
  static T nothing() { return 1; }
  static T neutral() { return 1; }
};

/// Minima and maxima.
template <class T, Extreme kWhich>
struct Choosing {
  using State = T;
  static constexpr bool kInAnyOrder = true;
  State first(T x) const { return x; }
  State next(State s, T x) const { return choose<kWhich>(s, x); }
  State join(State a, State b) const { return choose<kWhich>(a, b); }
  T result(State s, std::int64_t) const { return s; }
  /// The end of the range that no element changes.
  static T nothing() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity)
      return kWhich == Extreme::Least ? Limits::infinity() : -Limits::infinity();
    else
      return kWhich == Extreme::Least ? Limits::max() : Limits::lowest();
  }
  static T neutral() { return nothing(); }
};

/// docs/reference/numerics.md, "Composite reductions".
template <class T>
struct Deviating {
  struct State {
    T mean, m2;
    std::int64_t count;
  };
  T only, shift;
  explicit Deviating(T x) : only(x), shift(x - x == 0 ? x : 0) {}
  State first(T x) const { return {x - shift, 0, 1}; }
  State next(State s, T x) const {
    const T y = x - shift, d = y - s.mean;
    const T mean = s.mean + d * (T{1} / static_cast<T>(s.count + 1));
    return {mean, s.m2 + d * (y - mean), s.count + 1};
  }
  State join(State a, State b) const {
    const T w = static_cast<T>(b.count) / static_cast<T>(a.count + b.count), d = b.mean - a.mean;
    return {a.mean + d * w, (a.m2 + b.m2) + (d * d) * (static_cast<T>(a.count) * w), a.count + b.count};
  }
  T result(State s, std::int64_t n) const { return n == 1 ? only - only : s.m2; }
  static T nothing() { return 0; }
};

inline constexpr std::int64_t kLanes = 32, kBlock = 128;

/// One element in each lane, or in the first of them.
template <class T, class Fold>
typename Fold::State fold_short_block(const T* x, std::int64_t n, const Fold& fold) {
  typename Fold::State lanes[kLanes];
  for (std::int64_t l = 0; l < n; ++l) lanes[l] = fold.first(x[l]);
  for (std::int64_t d = kLanes / 2; d > 0; d /= 2)
    for (std::int64_t l = 0; l < d && l + d < n; ++l) lanes[l] = fold.join(lanes[l], lanes[l + d]);
  return lanes[0];
}

/// The loops over all lanes have a length that a compiler knows, for vectors.
template <class T, class Fold>
typename Fold::State fold_block(const T* x, std::int64_t n, const Fold& fold) {
  if (n < kLanes) return fold_short_block(x, n, fold);
  typename Fold::State lanes[kLanes];
  for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = fold.first(x[l]);
  std::int64_t row = kLanes;
  for (; row + kLanes <= n; row += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = fold.next(lanes[l], x[row + l]);
  for (std::int64_t l = 0; row + l < n; ++l) lanes[l] = fold.next(lanes[l], x[row + l]);
  const auto halve = [&]<std::int64_t kLeft>(std::integral_constant<std::int64_t, kLeft>) {
    for (std::int64_t l = 0; l < kLeft; ++l) lanes[l] = fold.join(lanes[l], lanes[l + kLeft]);
  };
  halve(std::integral_constant<std::int64_t, 16>());
  halve(std::integral_constant<std::int64_t, 8>());
  halve(std::integral_constant<std::int64_t, 4>());
  halve(std::integral_constant<std::int64_t, 2>());
  return fold.join(lanes[0], lanes[1]);
}

/// Subtrees of a run in order, as the bits of how many units of `Fold::State` they cover: equal neighbours are one.
template <class Fold>
class Subtrees {
 public:
  Subtrees(const Fold& fold, typename Fold::State first) : fold_(fold) { states_[0] = first; }
  /// The subtree of the next unit.
  void push(typename Fold::State s) {
    for (std::int64_t bits = units_++; bits % 2 != 0; bits /= 2) s = fold_.join(states_[--levels_], s);
    states_[levels_++] = s;
  }
  /// All of them.
  typename Fold::State joined() const {
    typename Fold::State s = states_[levels_ - 1];
    for (int level = levels_ - 1; level-- > 0;) s = fold_.join(states_[level], s);
    return s;
  }

 private:
  const Fold& fold_;
  typename Fold::State states_[64];
  int levels_ = 1;
  std::int64_t units_ = 1;
};

/// Blocks of a run that begin with one that an aligned subtree begins with.
template <class T, class Fold>
typename Fold::State fold_blocks(const T* x, std::int64_t n, const Fold& fold) {
  Subtrees<Fold> subtrees(fold, fold_block(x, std::min(kBlock, n), fold));
  for (std::int64_t from = kBlock; from < n; from += kBlock)
    subtrees.push(fold_block(x + from, std::min(kBlock, n - from), fold));
  return subtrees.joined();
}

template <class T, class Fold>
typename Fold::State fold_run(const T* x, std::int64_t n, const Fold& fold) {
  if (n > kLanes) return fold_blocks(x, n, fold);
  typename Fold::State s = fold.first(x[0]);
  for (std::int64_t k = 1; k < n; ++k) s = fold.next(s, x[k]);
  return s;
}

/// A run that begins at `first`.
template <class T, class Make>
T fold_of(const T* first, std::int64_t n, const Make& make) {
  if (n <= 0) return decltype(make(*first))::nothing();
  const auto fold = make(*first);
  return fold.result(fold_run(first, n, fold), n);
}

/// Runs that are folded by all threads, chunk by chunk: a chunk is an aligned subtree.
inline constexpr std::int64_t kChunk = 64 * kBlock, kLongRun = 8 * kChunk;

/// The same of a long run. `chunks` has room for a state of each chunk.
template <class T, class Make>
T fold_long(const T* first, std::int64_t n, const Make& make, void* chunks) {
  const auto fold = make(*first);
  using Fold = std::remove_const_t<decltype(fold)>;
  auto* const states = static_cast<typename Fold::State*>(chunks);
  const std::int64_t count = (n + kChunk - 1) / kChunk;
  parallel_for(count, 1, [&](std::int64_t lo, std::int64_t hi) {
    const support::DefaultFloatingPoint state;
    for (std::int64_t c = lo; c < hi; ++c)
      states[c] = fold_blocks(first + c * kChunk, std::min(kChunk, n - c * kChunk), fold);
  });
  const support::DefaultFloatingPoint state;
  Subtrees<Fold> subtrees(fold, states[0]);
  for (std::int64_t c = 1; c < count; ++c) subtrees.push(states[c]);
  return fold.result(subtrees.joined(), n);
}

}  // namespace tarry::runtime
