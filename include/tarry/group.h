// Counting and grouping, by their names in NumPy and JAX: histograms, sums of segments, groups of rows.
//
// Everything is deterministic: counts are exact, and a floating sum adds the elements of a group in index order by the
// fixed tree of `sum` (docs/reference/numerics.md), so results have the same bits at every run and on every device.
// Groups are numbered by ids: integers from 0 on; a negative one counts from the end. An id that is out of range is an
// error of whoever reads the result, as for `take`.
// Calls record and check; nothing is computed, but for extents that depend on values: bincount, histograms without
// edges or a range, segment functions without a number of groups, and group_by evaluate their arguments.
// Throws InvalidArgument, with the caller's file and line, where dtypes or shapes are others than said, or an array is
// undefined.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

namespace tarry {
inline namespace v0 {

// ---- Counting ----

/// Options of bincount.
struct BincountOptions {
  Array weights = {};  ///< added up instead of counted, where defined
  std::int64_t minlength = 0;
};
/// How often each of 0, 1, ... is in x, of one dimension; the sum of the weights that stand beside it. Evaluates x.
/// Shapes: the largest element of x and one more, minlength at least.  Dtypes: x is integer or bool; counts are int64,
/// sums as those of `sum`.  Throws InvalidArgument where an element is negative. Example: `ta::bincount(ta::array({1,
/// 3, 1}))` is `[0 2 0 1]`.
[[nodiscard]] TARRY_EXPORT Array bincount(const Array& x, const BincountOptions& options = {},
                                          Where where = std::source_location::current());

/// Options of digitize.
struct DigitizeOptions {
  bool right = false;
};
/// For each element of x the number of edges below it: i where edges[i - 1] <= x < edges[i], or with `right` edges[i -
/// 1] < x <= edges[i]. Edges may descend, as the first and the last tell.
/// Shapes: that of x.  Dtypes: any, compared as they are; int64 results.
/// Example: `ta::digitize(ta::array({0.5, 2.0}), ta::array({0.0, 1.0, 2.0}))` is `[1 3]`.
[[nodiscard]] TARRY_EXPORT Array digitize(const Array& x, const Array& edges, DigitizeOptions options = {},
                                          Where where = std::source_location::current());

/// Options of histogram and histogramdd.
struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  ///< of equal bins; left out: from the smallest element to the
                                                        ///< largest. Not of histogramdd
  Array weights = {};                                   ///< added up instead of counted, where defined
  bool density = false;                                 ///< as a density, whose integral is 1
};
/// The result of histogram.
struct Histogram {
  Array counts, edges;
};
/// How many elements of x are in each of `bins` equal bins; the last bin has its right edge too. What is outside of the
/// range, or NaN, is in none. Without a range evaluates the smallest and the largest element.
/// Shapes: bins counts, one more edge.  Dtypes: counts are int64, sums of weights as those of `sum`, densities and
/// edges float64.  Throws InvalidArgument where bins is not positive, the range is not finite or descends, or
/// a bin would have no width. Example: `ta::histogram(ta::array({1.0, 2.0, 1.0}), 2).counts` is `[2 1]`.
[[nodiscard]] TARRY_EXPORT Histogram histogram(const Array& x, std::int64_t bins = 10,
                                               const HistogramOptions& options = {},
                                               Where where = std::source_location::current());
/// The same for bins between ascending edges, of one dimension.  Shapes: a count less than edges.
/// Dtypes: as above; the edges are kept.
/// Example: `ta::histogram(ta::array({1, 2, 1}), ta::array({0, 1, 2, 3})).counts` is `[0 2 1]`.
[[nodiscard]] TARRY_EXPORT Histogram histogram(const Array& x, const Array& edges, const HistogramOptions& options = {},
                                               Where where = std::source_location::current());

/// The result of histogramdd: counts along as many axes as there are columns, and the edges of each.
struct HistogramDd {
  Array counts;
  std::vector<Array> edges;
};
/// The histogram of the rows of x, of shape (n, columns), in bins between ascending edges of each column.
/// Shapes: counts have an axis for each column.  Dtypes: as histogram.
/// Example: `ta::histogramdd(ta::array({{0, 5}}), {ta::array({0, 1}), ta::array({4, 6})}).counts` is `[[1]]`.
[[nodiscard]] TARRY_EXPORT HistogramDd histogramdd(const Array& x, const std::vector<Array>& edges,
                                                   const HistogramOptions& options = {},
                                                   Where where = std::source_location::current());

// ---- Segments ----
// Shapes: x's, with the groups in place of the first axis.

/// Options of the segment functions.
struct SegmentOptions {
  std::optional<std::int64_t> groups = {};  ///< how many there are; left out: the largest id and one more, evaluated
  bool sorted = false;                      ///< the ids ascend: nothing is sorted
};
/// The sum of the rows of x that have the same id. x has a row for each id. Of no row: 0.
/// Dtypes: as sum.
/// Example: `ta::segment_sum(ta::array({1, 2, 4}), ta::array({1, 0, 1}))` is `[2 5]`.
[[nodiscard]] TARRY_EXPORT Array segment_sum(const Array& x, const Array& ids, SegmentOptions options = {},
                                             Where where = std::source_location::current());
/// The smallest element of each group, as min. Of none: the largest number there is, infinity for floats.
/// Dtypes: kept; of bool all and any, true of none.
/// Example: `ta::segment_min(ta::array({1, 2, 4}), ta::array({1, 0, 1}))` is `[2 1]`.
[[nodiscard]] TARRY_EXPORT Array segment_min(const Array& x, const Array& ids, SegmentOptions options = {},
                                             Where where = std::source_location::current());
/// The largest element of each group, as max. Of none: the smallest number there is.  Dtypes: kept.
/// Example: `ta::segment_max(ta::array({1, 2, 4}), ta::array({1, 0, 1}))` is `[2 4]`.
[[nodiscard]] TARRY_EXPORT Array segment_max(const Array& x, const Array& ids, SegmentOptions options = {},
                                             Where where = std::source_location::current());
/// The mean of each group. Of none: NaN.  Dtypes: as mean.
/// Example: `ta::segment_mean(ta::array({1, 2, 4}), ta::array({1, 0, 1}))` is `[2. 2.5]`.
[[nodiscard]] TARRY_EXPORT Array segment_mean(const Array& x, const Array& ids, SegmentOptions options = {},
                                              Where where = std::source_location::current());
/// The variance of each group, the mean squared deviation from its mean. Of none: NaN.  Dtypes: as var.
/// Example: `ta::segment_var(ta::array({1, 2, 4}), ta::array({1, 0, 1}))` is `[0. 2.25]`.
[[nodiscard]] TARRY_EXPORT Array segment_var(const Array& x, const Array& ids, SegmentOptions options = {},
                                             Where where = std::source_location::current());
/// How many ids name each group.  Dtypes: int64.
/// Example: `ta::segment_count(ta::array({1, 0, 1}))` is `[1 2]`.
[[nodiscard]] TARRY_EXPORT Array segment_count(const Array& ids, SegmentOptions options = {},
                                               Where where = std::source_location::current());

// ---- Groups of rows ----

/// A value of each group: of the elements of a column in its rows.
enum class Aggregate : std::uint8_t { Sum, Min, Max, Mean, Var, Count, First };
/// A column and what is asked of it.
struct Aggregated {
  Array column;
  Aggregate what = Aggregate::Sum;
};
/// The result of GroupBy::aggregate: the keys of each group, a column for each key, and a column for each aggregate.
struct Groups {
  std::vector<Array> keys, values;
};

/// Rows that are equal in all of their keys, in order of the first key, then the second, and so on. Keys are integers,
/// bools or floats of one dimension; NaN is a key, the last, and -0 is 0.
/// Example: `ta::group_by({ta::array({2, 1, 2})}).size()` is `2`.
class TARRY_EXPORT GroupBy {
 public:
  /// How many groups there are.
  [[nodiscard]] std::int64_t size() const noexcept { return count_; }
  /// The keys of the groups, and aggregates of columns, which are as long as the keys.
  [[nodiscard]] Groups aggregate(std::initializer_list<Aggregated> columns,
                                 Where where = std::source_location::current()) const;
  [[nodiscard]] Groups aggregate(std::span<const Aggregated> columns,
                                 Where where = std::source_location::current()) const;

 private:
  friend TARRY_EXPORT GroupBy group_by(std::span<const Array> keys, Where where);
  GroupBy() = default;
  std::vector<Array> keys_;
  Array order_, offsets_;
  std::int64_t count_ = 0;
};
/// Groups of rows by their keys. Evaluates the keys: how many groups there are is an extent.
/// Shapes: keys have one dimension and one extent.  Dtypes: any.
/// Throws InvalidArgument where there is no key, or keys are of several extents.
/// Example: `ta::group_by({ta::array({2, 1, 2})}).aggregate({{ta::array({1, 2, 3})}}).values[0]` is `[2 4]`.
[[nodiscard]] TARRY_EXPORT GroupBy group_by(std::span<const Array> keys, Where where = std::source_location::current());
[[nodiscard]] inline GroupBy group_by(std::initializer_list<Array> keys,
                                      Where where = std::source_location::current()) {
  return group_by(std::span(keys.begin(), keys.size()), where);
}

}  // namespace v0
}  // namespace tarry
