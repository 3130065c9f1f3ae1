// Searchsorted and Bincount on the CPU.
#include <algorithm>

#include "runtime/device/cpu/ascending_runs.h"
#include "runtime/device/cpu/numbers.h"
#include "runtime/device/cpu/order_key.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using codegen::RoutineSpec;
using graph::Op;

/// Where elements stand among sorted ones: behind those that are less, reversed also behind those that are equal.
template <class Key, bool kReversed>
class Search {
 public:
  explicit Search(const RoutineSpec& spec, std::span<void* const> operands)
      : sorted_(static_cast<const Bits*>(operands[0])),
        x_(static_cast<const Bits*>(operands[1])),
        to_(static_cast<std::int64_t*>(operands[2])),
        n_(spec.n) {}

  /// Elements in no order are looked for together, since each waits for memory; where they ascend and neighbours stand
  /// near each other, the place before is a better beginning.
  void run(std::int64_t lo, std::int64_t hi) const {
    bool near = false;
    for (; lo + kTogether <= hi; lo += kTogether) {
      if (near && ascends(lo)) {
        from_the_last(lo, lo + kTogether);
      } else {
        together(lo);
      }
      near = std::abs(to_[lo + kTogether - 1] - to_[lo]) < kTogether * kNear;
    }
    for (; lo < hi; ++lo) to_[lo] = behind(0, n_, key(x_[lo]));
  }

 private:
  using Bits = typename Key::Bits;
  using Ordered = typename Key::Ordered;
  static constexpr std::int64_t kTogether = 16, kNear = 8;

  static Ordered key(Bits x) { return Key::ordered(x); }
  /// Neither is NaN where they are floats.
  static bool comes_before(Ordered there, Ordered key) { return kReversed ? there <= key : there < key; }
  [[nodiscard]] bool is_before(std::int64_t at, Ordered sought) const {
    const Ordered there = key(sorted_[at]);
    if (sought != sought) return kReversed || there == there;
    return comes_before(there, sought);
  }

  [[nodiscard]] bool ascends(std::int64_t i) const {
    bool does = key(x_[i - 1]) <= key(x_[i]);
    for (std::int64_t l = 1; l < kTogether; ++l) does &= key(x_[i + l - 1]) <= key(x_[i + l]);
    return does;
  }

  /// The place of one element among sorted_[low .. low + left].
  [[nodiscard]] std::int64_t behind(std::int64_t low, std::int64_t left, Ordered sought) const {
    while (left > 0) {
      const std::int64_t half = left / 2;
      const bool later = is_before(low + half, sought);
      low = later ? low + half + 1 : low;
      left = later ? left - half - 1 : half;
    }
    return low;
  }

  void from_the_last(std::int64_t lo, std::int64_t hi) const {
    for (std::int64_t i = lo; i < hi; ++i) {
      const Ordered sought = key(x_[i]);
      std::int64_t low = to_[i - 1], left = n_ - low, step = 1;
      for (; step <= left && is_before(low + step - 1, sought); step *= 2) {
        low += step;
        left -= step;
      }
      to_[i] = behind(low, std::min(left, step - 1), sought);
    }
  }

  void together(std::int64_t i) const {
    Ordered sought[kTogether];
    std::int64_t low[kTogether];
    bool has_nan = false;
    for (std::int64_t l = 0; l < kTogether; ++l) {
      sought[l] = key(x_[i + l]);
      low[l] = 0;
      has_nan |= sought[l] != sought[l];
    }
    if (has_nan) {
      for (std::int64_t l = 0; l < kTogether; ++l) to_[i + l] = behind(0, n_, sought[l]);
      return;
    }
    // The place is one of low .. low + left, without a branch that values decide.
    std::int64_t left = n_;
    for (; left > 1; left -= left / 2) {
      const std::int64_t half = left / 2;
      for (std::int64_t l = 0; l < kTogether; ++l)
        low[l] += comes_before(key(sorted_[low[l] + half - 1]), sought[l]) ? half : 0;
    }
    for (std::int64_t l = 0; l < kTogether; ++l)
      to_[i + l] = low[l] + (left == 1 && comes_before(key(sorted_[low[l]]), sought[l]) ? 1 : 0);
  }

  const Bits* const sorted_;
  const Bits* const x_;
  std::int64_t* const to_;
  const std::int64_t n_;
};

/// Where each of 0 .. m-1 begins among ascending numbers. Each piece of these writes the places between its own numbers
/// and the one before.
template <class Number>
void begin_numbers(const Number* numbers, std::int64_t n, std::int64_t* to, std::int64_t m) {
  constexpr std::int64_t kPiece = 1 << 14;
  const auto within = [m](Number number) { return std::min(static_cast<std::int64_t>(number), m - 1); };
  parallel_for((n + kPiece - 1) / kPiece, 1, [&](std::int64_t lo, std::int64_t hi) {
    const Number *const from = numbers + lo * kPiece, *const until = numbers + std::min(n, hi * kPiece);
    const std::int64_t last = within(until[-1]);
    const std::int64_t last_begins =
        std::partition_point(from, until, [&](Number number) { return within(number) < last; }) - numbers;
    std::int64_t k = lo == 0 ? 0 : std::max<std::int64_t>(within(from[-1]) + 1, 0);
    for (std::int64_t i = lo * kPiece; i < last_begins && k < last; ++i) {
      const std::int64_t number = within(numbers[i]);
      to[k] = i;  // without a branch at the next number
      k += k <= number ? 1 : 0;
      for (; k <= number; ++k) to[k] = i;
    }
    for (; k <= last; ++k) to[k] = last_begins;
  });
  std::fill(to + std::max<std::int64_t>(within(numbers[n - 1]) + 1, 0), to + m, n);
}

/// True if it did: what is looked for are the numbers 0 .. m-1, and few elements are equal.
template <class Number>
bool search_numbers(const RoutineSpec& spec, std::span<void* const> operands) {
  constexpr std::int64_t kFewEqual = 16;
  if (spec.n == 0 || spec.n > kFewEqual * spec.m || spec.m > kFewEqual * spec.n || spec.reversed()) return false;
  const auto *const numbers = static_cast<const Number*>(operands[0]), *const x =
                                                                           static_cast<const Number*>(operands[1]);
  for (std::int64_t k = 0; k < spec.m; ++k)
    if (static_cast<std::int64_t>(x[k]) != k) return false;
  if (!ascend(numbers, spec.n)) return false;
  begin_numbers(numbers, spec.n, static_cast<std::int64_t*>(operands[2]), spec.m);
  return true;
}

template <class Key>
void search(const RoutineSpec& spec, std::span<void* const> operands) {
  constexpr std::int64_t kGrain = 1024;
  parallel_for(spec.m, kGrain, [&](std::int64_t lo, std::int64_t hi) {
    if (spec.reversed()) return Search<Key, true>(spec, operands).run(lo, hi);
    Search<Key, false>(spec, operands).run(lo, hi);
  });
}

}  // namespace

void search_on_host(const RoutineSpec& spec, std::span<void* const> operands) {
  if (names_numbers(spec.dtype)) {
    bool found = false;
    with_numbers(spec.dtype, [&](auto number) { found = search_numbers<decltype(number)>(spec, operands); });
    if (found) return;
  }
  with_key(spec.dtype, [&](auto key) { search<decltype(key)>(spec, operands); });
}

void count_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  with_numbers(spec.dtype, [&](auto number) {
    const auto* const ids = static_cast<const decltype(number)*>(operands[0]);
    auto* const to = static_cast<std::int64_t*>(operands[1]);
    const std::int64_t parts = codegen::counting_parts(spec);
    if (parts == 1) return count(ids, spec.n, to, spec.m);
    auto* const tables = static_cast<std::int64_t*>(scratch);
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p) {
        const std::int64_t from = spec.n * p / parts;
        count(ids + from, spec.n * (p + 1) / parts - from, tables + p * spec.m, spec.m);
      }
    });
    for (std::int64_t b = 0; b < spec.m; ++b) {
      to[b] = 0;
      for (std::int64_t p = 0; p < parts; ++p) to[b] += tables[p * spec.m + b];
    }
  });
}

void run_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (graph::is_sort(spec.op)) return sort_on_host(spec, operands, scratch);
  if (graph::is_segments(spec.op)) return fold_runs_on_host(spec, operands, scratch);
  if (graph::is_scatter(spec.op)) return scatter_on_host(spec, operands, scratch);
  if (graph::is_matrices(spec.op)) return run_matrices_on_host(spec, operands, scratch);
  if (spec.op == Op::Compact) return compact_on_host(spec, operands, scratch);
  if (spec.op == Op::Searchsorted) return search_on_host(spec, operands);
  TARRY_ASSERT(spec.op == Op::Bincount);
  count_on_host(spec, operands, scratch);
}

}  // namespace tarry::runtime
