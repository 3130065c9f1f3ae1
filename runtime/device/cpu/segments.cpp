// The Segment ops on the CPU: folds of runs by tree R. Elements by the numbers of their runs are brought together
// first; where the runs are many, bucket by bucket of neighbouring runs, so that what is written lies near.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/device/cpu/extreme.h"
#include "runtime/device/cpu/numbers.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry::runtime {
namespace {

using codegen::RoutineSpec;
using graph::Op;

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

constexpr std::int64_t kLanes = 32, kBlock = 128;
constexpr std::int64_t kMostParts = 64;

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

/// A run that begins at `first`.
template <class T, class Make>
T fold_of(const T* first, std::int64_t n, const Make& make) {
  if (n <= 0) return decltype(make(*first))::nothing();
  const auto fold = make(*first);
  return fold.result(fold_run(first, n, fold), n);
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
      to[run] = fold_of(row + offsets[g], offsets[g + 1] - offsets[g], make);
    }
  });
}

// ---------------------------------------------------------------- elements by the numbers of their runs

/// `begins` gets where each cell begins, by the counts of its elements, and where the last one ends; a count of a part
/// becomes the place of that part's first element.
void begin_cells(std::int64_t* counts, std::int64_t cells, std::int64_t parts, std::int64_t* begins) {
  std::int64_t sum = 0;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    begins[cell] = sum;
    for (std::int64_t p = 0; p < parts; ++p) sum += std::exchange(counts[p * cells + cell], sum);
  }
  begins[cells] = sum;
}

/// One row by the numbers of its runs. Every part of the row counts its own elements, so it knows where they go, and
/// the elements of a run keep their order. What is in no run has no place.
template <class T, class Number, class Make>
class ByNumber {
 public:
  ByNumber(const RoutineSpec& spec, const Number* runs, void* scratch, const Make& make)
      : spec_(spec), memory_(spec, scratch), runs_(runs), make_(make) {}

  void fold(const T* x, T* to) const {
    if constexpr (requires { Fold::neutral(); })
      if (Fold::kInAnyOrder ? fold_in_any_order(x, to) : fold_short(x, to)) return;
    const std::int64_t per = codegen::runs_of_bucket(spec_);
    if (per == 1) {
      move(memory_.offsets, 0,
           [x, to = memory_.together](std::int64_t place, std::int64_t i, std::uint64_t) { to[place] = x[i]; });
      return fold_between(spec_, 1, memory_.together, memory_.offsets, to, make_);
    }
    const int shift = std::countr_zero(static_cast<std::uint64_t>(per));
    const auto within = static_cast<std::uint64_t>(per - 1);
    move(memory_.buckets, shift,
         [x, within, values = memory_.values, numbers = memory_.numbers](std::int64_t place, std::int64_t i,
                                                                         std::uint64_t run) {
           values[place] = x[i];
           numbers[place] = static_cast<codegen::NumberInBucket>(run & within);
         });
    const std::int64_t count = codegen::buckets(spec_), jobs = codegen::bucket_jobs(spec_);
    parallel_for(jobs, 1, [&](std::int64_t lo, std::int64_t hi) {
      const support::DefaultFloatingPoint state;
      for (std::int64_t job = lo; job < hi; ++job)
        for (std::int64_t b = count * job / jobs; b < count * (job + 1) / jobs; ++b)
          fold_bucket(b, per, memory_.together + job * codegen::near_elements(spec_), to);
    });
  }

 private:
  /// Calls put(place, i, run) for every element, whose cell is its run's number without the lowest bits.
  template <class Put>
  void move(std::int64_t* begins, int shift, const Put& put) const {
    const std::int64_t cells = ((spec_.m - 1) >> shift) + 1;
    const std::int64_t parts = std::min<std::int64_t>(codegen::counting_parts(spec_), thread_count());
    std::memset(memory_.counts, 0, static_cast<std::size_t>(parts * cells) * sizeof *memory_.counts);
    const auto in_parts = [&](const auto& body) {
      parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
        const auto put_one = body;  // in registers, as all that the loop reads
        const Number* const runs = runs_;
        const auto m = static_cast<std::uint64_t>(spec_.m);
        const int bits = shift;
        for (std::int64_t p = lo; p < hi; ++p) {
          std::int64_t* const own = memory_.counts + p * cells;
          const std::int64_t until = spec_.n * (p + 1) / parts;
          for (std::int64_t i = spec_.n * p / parts; i < until; ++i) {
            const auto run = static_cast<std::uint64_t>(runs[i]);
            if (run < m) put_one(own[run >> bits], i, run);
          }
        }
      });
    };
    in_parts([](std::int64_t& count, std::int64_t, std::uint64_t) { ++count; });
    begin_cells(memory_.counts, cells, parts, begins);
    in_parts([put](std::int64_t& next, std::int64_t i, std::uint64_t run) { put(next++, i, run); });
  }

  /// Elements taken one after the other from `from` to `until`, each where its run's state is.
  void take(const T* x, std::int64_t from, std::int64_t until, T* states) const {
    const Fold fold = make_(T{});
    const Number* const runs = runs_;
    const auto m = static_cast<std::uint64_t>(spec_.m);
    for (std::int64_t i = from; i < until; ++i)
      if (const auto run = static_cast<std::uint64_t>(runs[i]); run < m) states[run] = fold.next(states[run], x[i]);
  }

  /// States of its own for each part of the elements, where these are many to a run; else one part, of whole numbers,
  /// where few cores would bring them together no faster.
  bool fold_in_any_order(const T* x, T* to) const {
    constexpr std::int64_t kFewToRun = 4, kFewCores = 4;
    const std::int64_t n = spec_.n, m = spec_.m, most = n / kFewToRun / m;
    if (most < 2 && (thread_count() > kFewCores || !std::is_integral_v<T>)) return false;
    const std::int64_t parts = std::clamp<std::int64_t>(std::min<std::int64_t>(most, thread_count()), 1, kMostParts);
    const auto states = [&](std::int64_t p) { return p == 0 ? to : memory_.together + (p - 1) * m; };
    const Fold fold = make_(T{});
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      const support::DefaultFloatingPoint state;
      for (std::int64_t p = lo; p < hi; ++p) {
        std::fill_n(states(p), m, Fold::neutral());
        take(x, n * p / parts, n * (p + 1) / parts, states(p));
      }
    });
    const support::DefaultFloatingPoint state;
    for (std::int64_t p = 1; p < parts; ++p)
      for (std::int64_t run = 0; run < m; ++run) to[run] = fold.join(to[run], states(p)[run]);
    return true;
  }

  /// Runs that tree R folds one element after the other, where their states fit into a cache and few cores would bring
  /// their elements together no faster. Bytes count these; none may have more than such a run.
  bool fold_short(const T* x, T* to) const {
    constexpr std::int64_t kFewToRun = 16, kFewCores = 4, kMostRuns = 1 << 16;
    constexpr std::uint8_t kMany = 255;
    const std::int64_t n = spec_.n, m = spec_.m;
    if (n > kFewToRun * m || m > kMostRuns || thread_count() > kFewCores) return false;
    const std::int64_t parts = std::min<std::int64_t>(thread_count(), kFewCores);  // an offset has room for as many
    auto* const counts = reinterpret_cast<std::uint8_t*>(memory_.offsets);
    std::memset(counts, 0, static_cast<std::size_t>(parts * m));
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p) {
        std::uint8_t* const own = counts + p * m;
        for (std::int64_t i = n * p / parts; i < n * (p + 1) / parts; ++i)
          if (const auto run = static_cast<std::uint64_t>(runs_[i]); run < static_cast<std::uint64_t>(m))
            if (own[run] != kMany) ++own[run];
      }
    });
    int longest = 0;
    for (std::int64_t run = 0; run < m; ++run) {
      int count = 0;
      for (std::int64_t p = 0; p < parts; ++p) count += counts[p * m + run];
      counts[run] = static_cast<std::uint8_t>(std::min<int>(count, kMany));
      longest = std::max(longest, count);
    }
    if (longest > kLanes) return false;
    const support::DefaultFloatingPoint state;
    std::fill_n(to, m, Fold::neutral());
    take(x, 0, n, to);
    for (std::int64_t run = 0; run < m; ++run) to[run] = counts[run] == 0 ? Fold::nothing() : to[run];
    return true;
  }

  /// Where few elements are in a bucket, they come together in memory of the job's, which stays in its cache.
  void fold_bucket(std::int64_t bucket, std::int64_t per, T* near, T* to) const {
    const std::int64_t from = memory_.buckets[bucket], n = memory_.buckets[bucket + 1] - from;
    const std::int64_t first_run = bucket * per, runs = std::min(per, spec_.m - first_run);
    const T* const values = memory_.values + from;
    const codegen::NumberInBucket* const numbers = memory_.numbers + from;
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
  void fold_short_runs(const T* values, const codegen::NumberInBucket* numbers, std::int64_t n,
                       const std::int64_t* counts, std::int64_t runs, T* to) const {
    const Fold fold = make_(T{});
    std::fill_n(to, runs, Fold::neutral());
    for (std::int64_t i = 0; i < n; ++i) to[numbers[i]] = fold.next(to[numbers[i]], values[i]);
    for (std::int64_t run = 0; run < runs; ++run) to[run] = counts[run] == 0 ? Fold::nothing() : to[run];
  }

  /// The parts of the scratch memory, in the order in which host_scratch() counts them.
  struct Memory {
    Memory(const RoutineSpec& spec, void* scratch) {
      offsets = static_cast<std::int64_t*>(scratch);
      buckets = offsets + spec.m + 1;
      counts = buckets + codegen::buckets(spec) + 1;
      together = reinterpret_cast<T*>(counts + codegen::counting_parts(spec) * codegen::buckets(spec));
      values = together + codegen::bucket_jobs(spec) * codegen::near_elements(spec);
      far = values + spec.n;
      numbers = reinterpret_cast<codegen::NumberInBucket*>(far + spec.n);
    }
    std::int64_t *offsets, *buckets, *counts;
    T* together;      ///< of runs: all elements, or of buckets so many for each job, then
    T *values, *far;  ///< those of buckets one after the other, and where those of large ones come together
    codegen::NumberInBucket* numbers;
  };

  using Fold = decltype(std::declval<const Make&>()(T{}));

  const RoutineSpec& spec_;
  const Memory memory_;
  const Number* const runs_;
  const Make& make_;
};

template <class T, class Make>
void fold_runs(const RoutineSpec& spec, std::span<void* const> operands, void* scratch, const Make& make) {
  const auto* const x = static_cast<const T*>(operands[0]);
  auto* const to = static_cast<T*>(operands[2]);
  if (!spec.reversed())
    return fold_between(spec, spec.rows, x, static_cast<const std::int64_t*>(operands[1]), to, make);
  with_numbers(spec.numbers, [&](auto number) {
    using Number = decltype(number);
    const ByNumber<T, Number, Make> row(spec, static_cast<const Number*>(operands[1]), scratch, make);
    for (std::int64_t r = 0; r < spec.rows; ++r) row.fold(x + r * spec.n, to + r * spec.m);
  });
}

template <class T>
void fold_values(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Wrapping = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (spec.op) {
    case Op::SegmentSum: return fold_runs<Wrapping>(spec, operands, scratch, [](auto) { return Adding<Wrapping>(); });
    case Op::SegmentProd:
      return fold_runs<Wrapping>(spec, operands, scratch, [](auto) { return Multiplying<Wrapping>(); });
    case Op::SegmentMin: return fold_runs<T>(spec, operands, scratch, [](T) { return Choosing<T, Extreme::Least>(); });
    case Op::SegmentMax: return fold_runs<T>(spec, operands, scratch, [](T) { return Choosing<T, Extreme::Most>(); });
    default:
      if constexpr (std::is_floating_point_v<T>) {
        fold_runs<T>(spec, operands, scratch, [](T first) { return Deviating<T>(first); });
      }
  }
}

}  // namespace

void fold_runs_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  switch (spec.dtype) {
    case Dtype::Int64: return fold_values<std::int64_t>(spec, operands, scratch);
    case Dtype::UInt64: return fold_values<std::uint64_t>(spec, operands, scratch);
    case Dtype::Float32: return fold_values<float>(spec, operands, scratch);
    default: TARRY_ASSERT(spec.dtype == Dtype::Float64); return fold_values<double>(spec, operands, scratch);
  }
}

}  // namespace tarry::runtime
