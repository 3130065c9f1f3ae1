// The Segment ops on the CPU: folds of runs by tree R, between offsets or by the number of each element's run.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "runtime/device/cpu/ascending_runs.h"
#include "runtime/device/cpu/few_runs.h"
#include "runtime/device/cpu/numbers.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/cpu/run_buckets.h"
#include "runtime/device/cpu/run_folds.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry::runtime {
namespace {

using codegen::RoutineSpec;
using graph::Op;

constexpr std::int64_t kMostParts = 64;

/// The runs between offsets, in each of several rows. Long ones wait until the others are done, each for all threads.
template <class T, class Make>
void fold_between(const RoutineSpec& spec, std::span<void* const> operands, void* scratch, const Make& make) {
  constexpr std::int64_t kGrain = 4096;
  const auto* const x = static_cast<const T*>(operands[0]);
  const auto* const offsets = static_cast<const std::int64_t*>(operands[1]);
  auto* const to = static_cast<T*>(operands[2]);
  const std::int64_t length = std::max<std::int64_t>(1, spec.n / spec.m);
  std::atomic<bool> some_are_long{false};
  parallel_for(spec.rows * spec.m, std::max<std::int64_t>(1, kGrain / length), [&](std::int64_t lo, std::int64_t hi) {
    const support::DefaultFloatingPoint state;
    std::int64_t g = lo % spec.m;
    const T* row = x + lo / spec.m * spec.n;
    for (std::int64_t run = lo; run < hi; ++run, ++g) {
      if (g == spec.m) {
        g = 0;
        row += spec.n;
      }
      const std::int64_t n = offsets[g + 1] - offsets[g];
      if (n < kLongRun) [[likely]]
        to[run] = fold_of(row + offsets[g], n, make);
      else
        some_are_long.store(true, std::memory_order_relaxed);
    }
  });
  if (!some_are_long.load()) return;
  for (std::int64_t g = 0; g < spec.m; ++g)
    if (const std::int64_t n = offsets[g + 1] - offsets[g]; n >= kLongRun)
      for (std::int64_t r = 0; r < spec.rows; ++r)
        to[r * spec.m + g] = fold_long(x + r * spec.n + offsets[g], n, make, scratch);
}

// ---------------------------------------------------------------- elements by the numbers of their runs

/// One row whose numbers do not ascend, in the way that suits its length and the runs. What is in no run is left out.
template <class T, class Number, class Make>
class ByNumber {
 public:
  ByNumber(const RoutineSpec& spec, const Number* runs, void* scratch, const Make& make)
      : spec_(spec), scratch_(scratch), runs_(runs), make_(make) {}

  void fold(const T* x, T* to) const {
    if constexpr (requires { Fold::neutral(); }) {
      if constexpr (Fold::kInAnyOrder) {
        if (fold_in_any_order(x, to)) return;
      } else {
        if (codegen::filling_parts(spec_) > 0)
          return FewRuns<T, Number, Make>(spec_, runs_, scratch_, make_).fold(x, to);
        if (fold_short(x, to)) return;
      }
    }
    BucketedRuns<T, Number, Make>(spec_, runs_, scratch_, make_).fold(x, to);
  }

 private:
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
    const auto states = [&](std::int64_t p) { return p == 0 ? to : static_cast<T*>(scratch_) + (p - 1) * m; };
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
    auto* const counts = reinterpret_cast<std::uint8_t*>(scratch_);
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

  using Fold = decltype(std::declval<const Make&>()(T{}));

  const RoutineSpec& spec_;
  void* const scratch_;
  const Number* const runs_;
  const Make& make_;
};

template <class T, class Make>
void fold_runs(const RoutineSpec& spec, std::span<void* const> operands, void* scratch, const Make& make) {
  if (!spec.reversed()) return fold_between<T>(spec, operands, scratch, make);
  const auto* const x = static_cast<const T*>(operands[0]);
  auto* const to = static_cast<T*>(operands[2]);
  with_numbers(spec.numbers, [&](auto number) {
    using Number = decltype(number);
    const auto* const numbers = static_cast<const Number*>(operands[1]);
    if (ascend(numbers, spec.n)) {
      const AscendingRuns<T, Number, Make> row(numbers, spec.n, spec.m, make);
      for (std::int64_t r = 0; r < spec.rows; ++r) row.fold(x + r * spec.n, to + r * spec.m, scratch);
      return;
    }
    const ByNumber<T, Number, Make> row(spec, numbers, scratch, make);
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
