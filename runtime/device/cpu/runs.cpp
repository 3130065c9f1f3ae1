// Searchsorted, Bincount and the Segment ops on the CPU.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/device/cpu/order_key.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry::runtime {
namespace {

using codegen::RoutineSpec;
using graph::Op;

// ---------------------------------------------------------------- searching

template <class Key>
void search(const RoutineSpec& spec, std::span<void* const> operands) {
  using Bits = typename Key::Bits;
  const auto* const sorted = static_cast<const Bits*>(operands[0]);
  const auto* const x = static_cast<const Bits*>(operands[1]);
  auto* const to = static_cast<std::int64_t*>(operands[2]);
  constexpr std::int64_t kGrain = 1024, kNear = 64;
  parallel_for(spec.m, kGrain, [&](std::int64_t lo, std::int64_t hi) {
    Bits last = 0;
    std::int64_t place = 0;  // of it
    bool near = false;       // to the place before
    for (std::int64_t i = lo; i < hi; ++i) {
      const Bits key = Key::merging(x[i]);
      const auto behind = [&](std::int64_t at) {
        const Bits there = Key::merging(sorted[at]);
        return spec.reversed() ? there <= key : there < key;
      };
      // The place is one of low .. low + left.
      std::int64_t low = 0, left = spec.n;
      if (near && key >= last) {  // what is looked for ascends: in steps from there on
        low = place;
        left = spec.n - place;
        std::int64_t step = 1;
        for (; step <= left && behind(low + step - 1); step *= 2) {
          low += step;
          left -= step;
        }
        left = std::min(left, step - 1);
      }
      while (left > 0) {
        const std::int64_t half = left / 2;
        const bool later = behind(low + half);
        low = later ? low + half + 1 : low;
        left = later ? left - half - 1 : half;
      }
      near = low >= place && low - place < kNear;
      last = key;
      place = low;
      to[i] = low;
    }
  });
}

// ---------------------------------------------------------------- runs, by tree R

/// Sums, of what wraps in unsigned integers.
template <class T>
struct Adding {
  using State = T;
  State first(T x) const { return x; }
  State next(State s, T x) const { return s + x; }
  State join(State a, State b) const { return a + b; }
  T result(State s, std::int64_t) const { return s; }
  static T nothing() { return 0; }
};

/// Products, likewise.
template <class T>
struct Multiplying : Adding<T> {
  T next(T s, T x) const { return s * x; }
  T join(T a, T b) const { return a * b; }
  static T nothing() { return 1; }
};

template <class T>
T lesser(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <class T, T (*kBetter)(T, T)>
struct Choosing {
  using State = T;
  State first(T x) const { return x; }
  State next(State s, T x) const { return kBetter(s, x); }
  State join(State a, State b) const { return kBetter(a, b); }
  T result(State s, std::int64_t) const { return s; }
  /// The end of the range that no element changes.
  static T nothing() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity)
      return kBetter == &lesser<T> ? Limits::infinity() : -Limits::infinity();
    else
      return kBetter == &lesser<T> ? Limits::max() : Limits::lowest();
  }
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

constexpr std::int64_t kLanes = 32, kBlock = 128;

template <class T, class Fold>
typename Fold::State fold_block(const T* x, std::int64_t n, const Fold& fold) {
  typename Fold::State lanes[kLanes];
  const std::int64_t present = std::min(n, kLanes);
  for (std::int64_t l = 0; l < present; ++l) lanes[l] = fold.first(x[l]);
  for (std::int64_t row = kLanes; row < n; row += kLanes)
    for (std::int64_t l = 0; l < std::min(kLanes, n - row); ++l) lanes[l] = fold.next(lanes[l], x[row + l]);
  for (std::int64_t d = kLanes / 2; d > 0; d /= 2)
    for (std::int64_t l = 0; l < d && l + d < present; ++l) lanes[l] = fold.join(lanes[l], lanes[l + d]);
  return lanes[0];
}

template <class T, class Fold>
typename Fold::State fold_run(const T* x, std::int64_t n, const Fold& fold) {
  if (n <= kLanes) {
    typename Fold::State s = fold.first(x[0]);
    for (std::int64_t k = 1; k < n; ++k) s = fold.next(s, x[k]);
    return s;
  }
  typename Fold::State subtrees[64];  // of 2^level blocks
  int levels = 0;
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  for (std::int64_t b = 0; b < blocks; ++b) {
    typename Fold::State s = fold_block(x + b * kBlock, std::min(kBlock, n - b * kBlock), fold);
    for (std::int64_t bits = b; bits % 2 != 0; bits /= 2) s = fold.join(subtrees[--levels], s);
    subtrees[levels++] = s;
  }
  typename Fold::State s = subtrees[levels - 1];
  for (int level = levels - 1; level-- > 0;) s = fold.join(subtrees[level], s);
  return s;
}

/// The runs between offsets, in each of several rows.
template <class T, class Make>
void fold_between(const RoutineSpec& spec, std::int64_t rows, const T* x, const std::int64_t* offsets, T* to,
                  const Make& make) {
  constexpr std::int64_t kGrain = 4096;
  const std::int64_t length = std::max<std::int64_t>(1, spec.n / spec.m);
  parallel_for(rows * spec.m, std::max<std::int64_t>(1, kGrain / length), [&](std::int64_t lo, std::int64_t hi) {
    const support::DefaultFloatingPoint state;
    std::int64_t g = lo % spec.m;
    const T* row = x + lo / spec.m * spec.n;
    for (std::int64_t run = lo; run < hi; ++run, ++g) {
      if (g == spec.m) {
        g = 0;
        row += spec.n;
      }
      const std::int64_t from = offsets[g], n = offsets[g + 1] - from;
      const T* const first = row + from;
      if (n <= 0) {
        to[run] = decltype(make(*first))::nothing();
        continue;
      }
      const auto fold = make(*first);
      to[run] = fold.result(fold_run(first, n, fold), n);
    }
  });
}

/// The elements of each run beside each other, in their order: every part of a row counts its own, so it knows where
/// they go. `runs`: by element; what is none of them has no place. `counts`: a table for each part.
template <class T>
void bring_together(const RoutineSpec& spec, const T* x, const std::int64_t* runs, std::int64_t* counts,
                    std::int64_t* offsets, T* to) {
  const std::int64_t parts = std::min<std::int64_t>(codegen::counting_parts(spec), thread_count());
  const auto in_parts = [&](const auto& body) {
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p) {
        std::int64_t* const own = counts + p * spec.m;
        const std::int64_t until = spec.n * (p + 1) / parts;
        for (std::int64_t i = spec.n * p / parts; i < until; ++i)
          if (static_cast<std::uint64_t>(runs[i]) < static_cast<std::uint64_t>(spec.m)) body(own[runs[i]], i);
      }
    });
  };
  std::memset(counts, 0, static_cast<std::size_t>(parts * spec.m) * sizeof *counts);
  in_parts([](std::int64_t& count, std::int64_t) { ++count; });
  std::int64_t sum = 0;
  for (std::int64_t run = 0; run < spec.m; ++run) {
    offsets[run] = sum;
    for (std::int64_t p = 0; p < parts; ++p) sum += std::exchange(counts[p * spec.m + run], sum);
  }
  offsets[spec.m] = sum;
  in_parts([&](std::int64_t& next, std::int64_t i) { to[next++] = x[i]; });
}

template <class T, class Make>
void fold_runs(const RoutineSpec& spec, std::span<void* const> operands, void* scratch, const Make& make) {
  const auto* const x = static_cast<const T*>(operands[0]);
  const auto* const runs = static_cast<const std::int64_t*>(operands[1]);
  auto* const to = static_cast<T*>(operands[2]);
  if (!spec.reversed()) return fold_between(spec, spec.rows, x, runs, to, make);
  auto* const offsets = static_cast<std::int64_t*>(scratch);
  std::int64_t* const counts = offsets + spec.m + 1;
  auto* const together = reinterpret_cast<T*>(counts + codegen::counting_parts(spec) * spec.m);
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    bring_together(spec, x + row * spec.n, runs, counts, offsets, together);
    fold_between(spec, 1, together, offsets, to + row * spec.m, make);
  }
}

template <class T>
void fold_values(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Wrapping = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (spec.op) {
    case Op::SegmentSum: return fold_runs<Wrapping>(spec, operands, scratch, [](auto) { return Adding<Wrapping>(); });
    case Op::SegmentProd:
      return fold_runs<Wrapping>(spec, operands, scratch, [](auto) { return Multiplying<Wrapping>(); });
    case Op::SegmentMin: return fold_runs<T>(spec, operands, scratch, [](T) { return Choosing<T, &lesser<T>>(); });
    case Op::SegmentMax: return fold_runs<T>(spec, operands, scratch, [](T) { return Choosing<T, &greater<T>>(); });
    default:
      if constexpr (std::is_floating_point_v<T>) {
        fold_runs<T>(spec, operands, scratch, [](T first) { return Deviating<T>(first); });
      }
  }
}

}  // namespace

void search_on_host(const RoutineSpec& spec, std::span<void* const> operands) {
  with_key(spec.dtype, [&](auto key) { search<decltype(key)>(spec, operands); });
}

void count_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  const auto* const ids = static_cast<const std::int64_t*>(operands[0]);
  auto* const to = static_cast<std::int64_t*>(operands[1]);
  const auto bins = static_cast<std::uint64_t>(spec.m);
  const auto count = [&](std::int64_t* counts, std::int64_t from, std::int64_t until) {
    std::memset(counts, 0, bins * sizeof *counts);
    for (std::int64_t i = from; i < until; ++i)
      if (static_cast<std::uint64_t>(ids[i]) < bins) ++counts[ids[i]];
  };
  const std::int64_t parts = codegen::counting_parts(spec);
  if (parts == 1) return count(to, 0, spec.n);
  auto* const tables = static_cast<std::int64_t*>(scratch);
  parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t p = lo; p < hi; ++p) count(tables + p * spec.m, spec.n * p / parts, spec.n * (p + 1) / parts);
  });
  for (std::int64_t b = 0; b < spec.m; ++b) {
    to[b] = 0;
    for (std::int64_t p = 0; p < parts; ++p) to[b] += tables[p * spec.m + b];
  }
}

void fold_runs_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  switch (spec.dtype) {
    case Dtype::Int64: return fold_values<std::int64_t>(spec, operands, scratch);
    case Dtype::UInt64: return fold_values<std::uint64_t>(spec, operands, scratch);
    case Dtype::Float32: return fold_values<float>(spec, operands, scratch);
    default: TARRY_ASSERT(spec.dtype == Dtype::Float64); return fold_values<double>(spec, operands, scratch);
  }
}

void run_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (graph::is_sort(spec.op)) return sort_on_host(spec, operands, scratch);
  if (graph::is_segments(spec.op)) return fold_runs_on_host(spec, operands, scratch);
  if (graph::is_scatter(spec.op)) return scatter_on_host(spec, operands);
  if (graph::is_matrices(spec.op)) return run_matrices_on_host(spec, operands, scratch);
  if (spec.op == Op::Compact) return compact_on_host(spec, operands, scratch);
  if (spec.op == Op::Searchsorted) return search_on_host(spec, operands);
  TARRY_ASSERT(spec.op == Op::Bincount);
  count_on_host(spec, operands, scratch);
}

}  // namespace tarry::runtime
