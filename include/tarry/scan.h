// Scans: running sums, products and extremes, by their names in the Python array API standard (2024.12). Calls record
// and check; nothing is computed.
//
// Element k along the axis depends on the elements 0..k alone. The order of combination is fixed
// (docs/reference/numerics.md), so results have the same bits for every layout, schedule and device. float16 and
// bfloat16 accumulate in float32 and round once at the end.
// Shapes: that of x, one longer along the axis with include_initial.
// Throws InvalidArgument, with the caller's file and line, where x has no dimension, the axis is out of range, or is
// left out and x has several, options.dtype is bool, or x is undefined.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

/// Options of cumulative_sum and cumulative_prod.
struct ScanOptions {
  std::optional<int> axis = {};     ///< needed where the array has several dimensions
  std::optional<Dtype> dtype = {};  ///< convert to this first and compute in it
  bool include_initial = false;     ///< begin with the value of no element: the axis becomes one longer
  bool reverse = false;             ///< from the last element to the first: element k depends on those from k on
};
/// Options of cumulative_min and cumulative_max.
struct RunningOptions {
  std::optional<int> axis = {};  ///< needed where the array has several dimensions
  bool reverse = false;          ///< from the last element to the first
};

/// Running sums of x along an axis. NaN propagates to all that follows. The initial value is 0.
/// Dtypes: bool and signed integers sum in int64, unsigned ones in uint64, floats are kept; integers wrap.
/// Algorithm: down-sweep of a fixed tree (Blelloch, CMU-CS-90-190, 1990); error at most max(11, 2 log2 n) eps sum|x|.
/// Example: `ta::cumulative_sum(ta::array({1, 2, 3}))` is `[1 3 6]`.
[[nodiscard]] TARRY_EXPORT Array cumulative_sum(const Array& x, ScanOptions options = {},
                                                Where where = std::source_location::current());
/// Running products of x along an axis, in the order of cumulative_sum. NaN propagates to all that follows. The initial
/// value is 1.  Dtypes: as cumulative_sum.
/// Example: `ta::cumulative_prod(ta::array({2, 3}), {.include_initial = true})` is `[1 2 6]`.
[[nodiscard]] TARRY_EXPORT Array cumulative_prod(const Array& x, ScanOptions options = {},
                                                 Where where = std::source_location::current());

/// The smallest of the elements so far along an axis. NaN propagates to all that follows; -0 is below +0.
/// Shapes: that of x.  Dtypes: any, kept.
/// Throws InvalidArgument where x has no dimension, the axis is out of range, or is left out and x has several, or x is
/// undefined.  Example: `ta::cumulative_min(ta::array({3, 1, 2}))` is `[3 1 1]`.
[[nodiscard]] TARRY_EXPORT Array cumulative_min(const Array& x, RunningOptions options = {},
                                                Where where = std::source_location::current());
/// The largest of the elements so far along an axis. NaN propagates to all that follows; +0 is above -0.
/// Shapes: that of x.  Dtypes: any, kept.
/// Throws InvalidArgument where x has no dimension, the axis is out of range, or is left out and x has several, or x is
/// undefined.  Example: `ta::cumulative_max(ta::array({1, 3, 2}), {.reverse = true})` is `[3 3 2]`.
[[nodiscard]] TARRY_EXPORT Array cumulative_max(const Array& x, RunningOptions options = {},
                                                Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
