// Comparing results with double precision references, on all cores. Errors are relative to |want| + scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "bench/threads.h"
#include "bench/workloads.h"

namespace bench {

/// Stands for a value that rounding may put on either side of a branch.
inline constexpr double kUndecided = std::numeric_limits<double>::quiet_NaN();

/// The worst of many elements, and how many of them were undecided.
struct Worst {
  double error = 0;
  std::size_t undecided = 0;

  void see(double got, double want, double scale) {
    if (std::isnan(want)) {
      ++undecided;
      return;
    }
    const double e = std::abs(got - want) / (std::abs(want) + scale);
    error = std::isnan(e) ? HUGE_VAL : std::max(error, e);
  }
  static Worst of_both(const Worst& a, const Worst& b) {
    return {std::max(a.error, b.error), a.undecided + b.undecided};
  }

  /// Holds only where few elements were undecided and the result has as many elements as it should.
  [[nodiscard]] Accuracy accuracy(std::size_t got, std::size_t expected, double allowed) const {
    return {got == expected && undecided <= expected / 1000 ? error : HUGE_VAL, allowed};
  }
};

struct Tolerance {
  double allowed, scale = 0;
};

/// Every element against want(index).
template <class Want>
Accuracy compare(const tarry::Array& result, std::int64_t count, Tolerance t, const Want& want) {
  const auto got = result.host<float>();
  const auto n = static_cast<std::size_t>(count);
  const auto of_range = [&](std::size_t first, std::size_t last) {
    Worst worst;
    for (std::size_t i = first; i < last; ++i) worst.see(got[i], want(i), t.scale);
    return worst;
  };
  return fold_ranges(std::min(n, got.size()), Worst{}, of_range, Worst::of_both).accuracy(got.size(), n, t.allowed);
}

/// Every row of `width` elements against what of_row(row, want) writes to want[0 .. width).
template <class OfRow>
Accuracy compare_rows(const tarry::Array& result, std::int64_t rows, std::int64_t width, Tolerance t,
                      const OfRow& of_row) {
  const auto got = result.host<float>();
  const auto n = static_cast<std::size_t>(rows), w = static_cast<std::size_t>(width);
  if (got.size() != n * w) return {HUGE_VAL, t.allowed};
  const auto of_range = [&](std::size_t first, std::size_t last) {
    Worst worst;
    std::vector<double> want(w);
    for (std::size_t row = first; row < last; ++row) {
      of_row(row, want.data());
      for (std::size_t i = 0; i < w; ++i) worst.see(got[row * w + i], want[i], t.scale);
    }
    return worst;
  };
  return fold_ranges(n, Worst{}, of_range, Worst::of_both).accuracy(got.size(), n * w, t.allowed);
}

/// The only element against `want`.
inline Accuracy compare(const tarry::Array& result, Tolerance t, double want) {
  return compare(result, 1, t, [&](std::size_t) { return want; });
}

/// The sum of term(i) for i in [0, count).
template <class Term>
double total(std::size_t count, const Term& term) {
  const auto of_range = [&](std::size_t first, std::size_t last) {
    double s = 0;
    for (std::size_t i = first; i < last; ++i) s += term(i);
    return s;
  };
  return fold_ranges(count, 0.0, of_range, std::plus<>());
}

/// The worse of two: of a workload with several results.
inline Accuracy worse(const Accuracy& a, const Accuracy& b) {
  return a.error / a.allowed < b.error / b.allowed ? b : a;
}

}  // namespace bench
