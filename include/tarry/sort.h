// Order: sorting, searching, sets and quantiles, by their names in the Python array API standard (2024.12) and NumPy.
//
// Sorts are stable in both directions: equal elements keep their order. Numbers come in their order, -0 before +0; NaNs
// come last in both directions, in the order in which they stood, with their bits; false comes before true. What finds
// equal elements (unique, searchsorted, isin) takes -0 for +0, and a NaN for equal to nothing. Results have the same
// bits on every device.
// Calls record and check; nothing is computed, but for the unique functions: how many elements are distinct is the
// extent of their results, so they evaluate x.
// Dtypes: any, kept; places are int64. Shapes: that of x.
// Throws InvalidArgument, with the caller's file and line, where an axis is out of range or an array is undefined.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <source_location>
#include <vector>

namespace tarry {
inline namespace v0 {

/// Options of sort and argsort.
struct SortOptions {
  int axis = -1;
  bool descending = false;
};

// ---- Sorting ----

/// The elements of x in order along an axis.
/// Example: `ta::sort(ta::array({3, 1, 2}), {.descending = true})` is `[3 2 1]`.
[[nodiscard]] TARRY_EXPORT Array sort(const Array& x, SortOptions options = {},
                                      Where where = std::source_location::current());
/// The places of the elements of x in order along an axis: take_along_axis(x, argsort(x)) is sort(x).
/// Example: `ta::argsort(ta::array({3, 1, 2}))` is `[1 2 0]`.
[[nodiscard]] TARRY_EXPORT Array argsort(const Array& x, SortOptions options = {},
                                         Where where = std::source_location::current());
/// Element k along the axis is the one that a sort puts there; before it are none that are larger, after it none that
/// are smaller.  Algorithm: all of x is sorted.  Throws InvalidArgument where k is out of range.
/// Example: `ta::partition(ta::array({3, 1, 2}), 1)` is `[1 2 3]`.
[[nodiscard]] TARRY_EXPORT Array partition(const Array& x, std::int64_t k, int axis = -1,
                                           Where where = std::source_location::current());

/// The result of topk.
struct TopK {
  Array values, indices;
};
/// Options of topk.
struct TopKOptions {
  int axis = -1;
  bool largest = true;  ///< else the smallest
};
/// The k largest elements along an axis, the largest first, and their places; of equal ones the first. NaNs come after
/// all numbers.
/// Shapes: x's, with k in place of the axis.  Throws InvalidArgument where the axis has fewer elements.
/// Example: `ta::topk(ta::array({3, 1, 2}), 2).values` is `[3 2]`.
[[nodiscard]] TARRY_EXPORT TopK topk(const Array& x, std::int64_t k, TopKOptions options = {},
                                     Where where = std::source_location::current());

// ---- Searching ----

/// The first or the last of the places at which a value could stand in a sorted array.
enum class Side : std::uint8_t { Left, Right };
/// Options of searchsorted.
struct SearchOptions {
  Side side = Side::Left;
  Array sorter = {};  ///< places that put the array in order, as argsort gives; undefined where it is in order
};
/// For each v of values the place i in `sorted`, of one dimension and ascending, before which v could be put: sorted[i
/// - 1] < v <= sorted[i], from the right sorted[i - 1] <= v < sorted[i]. A NaN is behind all numbers. Shapes: that of
/// values.  Dtypes: compared as they are; int64 results. Throws InvalidArgument where `sorted` or the sorter has not
/// one dimension, or the sorter another extent. Example: `ta::searchsorted(ta::array({1, 3, 5}), ta::array({3, 4}))` is
/// `[1 2]`.
[[nodiscard]] TARRY_EXPORT Array searchsorted(const Array& sorted, const Array& values,
                                              const SearchOptions& options = {},
                                              Where where = std::source_location::current());
/// Values of interp outside of the points.
struct InterpOptions {
  std::optional<double> left = {}, right = {};  ///< the value of the first and of the last point without them
};
/// The values at x of the line through the points (xp, fp).  Shapes: xp and fp are (n,), xp ascending; the result has
/// that of x.  Dtypes: numbers, promoted; floats, kept; integers give float64.
/// Throws InvalidArgument where xp and fp are not of one axis and as many, at least one, and for bool.
/// Algorithm: searchsorted, then fp[i] + (x - xp[i]) * slope.
/// Example: `ta::interp(ta::array({0.5, 9.0}), ta::array({0.0, 1.0}), ta::array({10.0, 20.0}))` is `[15. 20.]`.
[[nodiscard]] TARRY_EXPORT Array interp(const Array& x, const Array& xp, const Array& fp, InterpOptions options = {},
                                        Where where = std::source_location::current());
/// True where an element of x equals any element of `test`.  Shapes: that of x.  Dtypes: both are promoted; bool
/// results. Example: `ta::isin(ta::array({1, 2, 3}), ta::array({3, 1}))` is `[ True False True]`.
[[nodiscard]] TARRY_EXPORT Array isin(const Array& x, const Array& test, Where where = std::source_location::current());

// ---- Sets ----
// Shapes: one dimension, as long as there are distinct elements; inverse_indices have the shape of x.

/// The result of unique_all: the distinct elements in order; the place of the first of each in the flattened x; for
/// each element of x, in its shape, the place of its value; how often each is there.
struct UniqueAll {
  Array values, indices, inverse_indices, counts;
};
/// The result of unique_counts.
struct UniqueCounts {
  Array values, counts;
};
/// The result of unique_inverse.
struct UniqueInverse {
  Array values, inverse_indices;
};
/// The distinct elements of x in order, of one dimension, and where and how often they are. Each NaN is distinct.
/// Evaluates x.
/// Example: `ta::unique_all(ta::array({5, 2, 5})).indices` is `[1 0]`.
[[nodiscard]] TARRY_EXPORT UniqueAll unique_all(const Array& x, Where where = std::source_location::current());
/// The distinct elements of x and how often each is there. Evaluates x.
/// Example: `ta::unique_counts(ta::array({5, 2, 5})).counts` is `[1 2]`.
[[nodiscard]] TARRY_EXPORT UniqueCounts unique_counts(const Array& x, Where where = std::source_location::current());
/// The distinct elements of x and, for each element of x, the place of its value: take(values, inverse_indices) is x.
/// Evaluates x.
/// Example: `ta::unique_inverse(ta::array({5, 2, 5})).inverse_indices` is `[1 0 1]`.
[[nodiscard]] TARRY_EXPORT UniqueInverse unique_inverse(const Array& x, Where where = std::source_location::current());
/// The distinct elements of x in order. Evaluates x.
/// Example: `ta::unique_values(ta::array({5, 2, 5}))` is `[2 5]`.
[[nodiscard]] TARRY_EXPORT Array unique_values(const Array& x, Where where = std::source_location::current());

// ---- Quantiles ----

/// The quantile q of n sorted elements x: with h the place of q among 0..n-1, between the elements on both sides of h.
/// The first five have h = q (n - 1) and give x[floor h] + (h - floor h) (x[ceil h] - x[floor h]), the lower, the
/// higher, the mean of both, or the nearer (the even one of two). InvertedCdf gives the first element at which a share
/// q is reached. The last four interpolate at h = n q + a + q (1 - 2 a) - 1, with a = 1/2, 0, 1/3 and 3/8 (Hyndman and
/// Fan, 1996, 5, 6, 8 and 9).
enum class QuantileMethod : std::uint8_t {
  Linear,
  Lower,
  Higher,
  Midpoint,
  Nearest,
  InvertedCdf,
  Hazen,
  Weibull,
  MedianUnbiased,
  NormalUnbiased
};
/// Options of median, quantile and percentile.
struct QuantileOptions {
  std::optional<int> axis = {};  ///< all elements where left out
  QuantileMethod method = QuantileMethod::Linear;
  bool keepdims = false;
};
/// The middle element along an axis, or the mean of the two in the middle; NaN where any element is. `method` is not
/// used.
/// Shapes: the axis is removed, or kept with extent 1.  Dtypes: integers and bool become float64, floats are kept;
/// float16 and bfloat16 compute in float32.  Throws InvalidArgument where there is no element.
/// Example: `ta::median(ta::array({3, 1, 2}))` is `2.`.
[[nodiscard]] TARRY_EXPORT Array median(const Array& x, QuantileOptions options = {},
                                        Where where = std::source_location::current());
/// The element that a share q of all elements is at or below, as the method says; NaN where any element is.
/// Shapes, dtypes: as median.  Throws InvalidArgument where q is not within [0, 1] or there is no element.
/// Example: `ta::quantile(ta::array({0.0, 1.0, 4.0}), 0.75)` is `2.5`.
[[nodiscard]] TARRY_EXPORT Array quantile(const Array& x, double q, QuantileOptions options = {},
                                          Where where = std::source_location::current());
/// Several quantiles, along a new axis in front.
/// Example: `ta::quantile(ta::array({0.0, 1.0, 4.0}), {0.0, 1.0})` is `[0. 4.]`.
[[nodiscard]] TARRY_EXPORT Array quantile(const Array& x, const std::vector<double>& q, QuantileOptions options = {},
                                          Where where = std::source_location::current());
/// quantile(x, q / 100).
/// Example: `ta::percentile(ta::array({0.0, 1.0, 4.0}), 50)` is `1.`.
[[nodiscard]] TARRY_EXPORT Array percentile(const Array& x, double q, QuantileOptions options = {},
                                            Where where = std::source_location::current());
/// Several of them, along a new axis in front.
/// Example: `ta::percentile(ta::array({0.0, 1.0, 4.0}), {0.0, 100.0})` is `[0. 4.]`.
[[nodiscard]] TARRY_EXPORT Array percentile(const Array& x, const std::vector<double>& q, QuantileOptions options = {},
                                            Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
