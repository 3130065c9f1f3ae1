// Reductions, by their names in the Python array API standard. Calls record and check; nothing is computed.
//
// The order of combination is fixed (docs/reference/numerics.md), so results have the same bits for every layout,
// schedule and device. float16 and bfloat16 accumulate in float32 and round once at the end.
// Shapes: the reduced axes are removed, or kept with extent 1; `{}` reduces all, a list without an element none.
// Throws InvalidArgument, with the caller's file and line, where an axis is out of range or named twice, a dtype is not
// accepted, or the array is undefined.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

/// Options of min, max, argmin, argmax, any, all, count_nonzero, mean and logsumexp.
struct ReduceOptions {
  bool keepdims = false;  ///< keep reduced axes with extent 1
};
/// Options of sum and prod.
struct SumOptions {
  bool keepdims = false;
  std::optional<Dtype> dtype = {};  ///< convert to this first and compute in it
};
/// Options of var and std.
struct MomentOptions {
  bool keepdims = false;
  double correction = 0;  ///< the divisor is N - correction: 1 for the unbiased estimate
};

// ---- Sums and products ----

/// Sum of x. The sum of nothing is 0. NaN propagates.
/// Dtypes: bool and signed integers sum in int64, unsigned ones in uint64, floats are kept.
/// Algorithm: fixed pairwise tree; error at most (2 + log2 n) eps sum|x| (Higham, SIAM J. Sci. Comput. 14(4), 1993).
/// Example: `ta::sum(ta::array({{1, 2}, {3, 4}}), 0)` is `[4 6]`.
[[nodiscard]] TARRY_EXPORT Array sum(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                     Where where = std::source_location::current());
/// Product of x, in the order of sum. The product of nothing is 1. NaN propagates.  Dtypes: as sum; integers wrap.
/// Example: `ta::prod(ta::array({{1, 2}, {3, 4}}), 1)` is `[ 2 12]`.
[[nodiscard]] TARRY_EXPORT Array prod(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                      Where where = std::source_location::current());
/// The number of elements that are not 0. NaN is not 0.  Dtypes: any; the result is int64.
/// Example: `ta::count_nonzero(ta::array({3, 0, 5}))` is `2`.
[[nodiscard]] TARRY_EXPORT Array count_nonzero(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                               Where where = std::source_location::current());

// ---- Extremes ----

/// Smallest element. NaN propagates; -0 is below +0.  Dtypes: any, kept; false is below true.
/// Throws InvalidArgument where a reduced axis is empty, or an axis is out of range or named twice.
/// Example: `ta::min(ta::array({{1, 2}, {3, 0}}), 1)` is `[1 0]`.
[[nodiscard]] TARRY_EXPORT Array min(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     Where where = std::source_location::current());
/// Largest element. NaN propagates; +0 is above -0.  Dtypes: any, kept; true is above false.
/// Throws InvalidArgument where a reduced axis is empty, or an axis is out of range or named twice.
/// Example: `ta::max(ta::array({{1, 2}, {3, 0}}), 1)` is `[2 3]`.
[[nodiscard]] TARRY_EXPORT Array max(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     Where where = std::source_location::current());
/// Index of the smallest element along `axis`, or in the row-major order of the whole array: the first of equal
/// elements (-0 equals +0), and of NaNs, which come before all else.
/// Shapes: the axis is removed, or kept with extent 1; without an axis the result is 0-d.  Dtypes: any; the result is
/// int64.  Throws InvalidArgument where there is no element or the axis is out of range.
/// Example: `ta::argmin(ta::array({3, 1, 2}))` is `1`.
[[nodiscard]] TARRY_EXPORT Array argmin(const Array& x, std::optional<int> axis = {}, ReduceOptions options = {},
                                        Where where = std::source_location::current());
/// Index of the largest element along `axis`, or in the row-major order of the whole array: the first of equal elements
/// (-0 equals +0), and of NaNs, which come before all else.
/// Shapes: the axis is removed, or kept with extent 1; without an axis the result is 0-d.  Dtypes: any; the result is
/// int64.  Throws InvalidArgument where there is no element or the axis is out of range.
/// Example: `ta::argmax(ta::array({{1, 2}, {3, 0}}), 1)` is `[1 0]`.
[[nodiscard]] TARRY_EXPORT Array argmax(const Array& x, std::optional<int> axis = {}, ReduceOptions options = {},
                                        Where where = std::source_location::current());

// ---- Logic ----
// Dtypes: any; an element is true where it is not 0; the result is bool.

/// True where an element is true; false of nothing.
/// Example: `ta::any(ta::array({0, 0, 2}))` is `True`.
[[nodiscard]] TARRY_EXPORT Array any(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     Where where = std::source_location::current());
/// True where all elements are true; true of nothing.
/// Example: `ta::all(ta::array({0, 0, 2}))` is `False`.
[[nodiscard]] TARRY_EXPORT Array all(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     Where where = std::source_location::current());

// ---- Statistics ----
// Dtypes: floats, kept; integers and bool give float64.

/// Arithmetic mean: sum / n.  The mean of nothing is NaN.
/// Example: `ta::mean(ta::array({1, 2, 4, 5}))` is `3.`.
[[nodiscard]] TARRY_EXPORT Array mean(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                      Where where = std::source_location::current());
/// Variance: the sum of squared deviations from the mean over N - correction; NaN where that is not positive.
/// Algorithm: x is read once; moments about the first element merge pairwise (Chan, Golub, LeVeque, STAN-CS-79-773).
/// Example: `ta::var(ta::array({1.0, 3.0}), {}, {.correction = 1})` is `2.`.
[[nodiscard]] TARRY_EXPORT Array var(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                     Where where = std::source_location::current());
/// Standard deviation: the square root of var.
/// Example: `ta::std(ta::array({1.0, 3.0}))` is `1.`.
[[nodiscard]] TARRY_EXPORT Array std(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                     Where where = std::source_location::current());

// ---- Exponentials ----
// Dtypes: floats, kept; integers of 8 and 16 bits become float32 first, those of 32 and 64 bits float64; bool throws.

/// log(sum(exp(x))), without overflow in between: the maximum is taken out first.
/// -inf of nothing and of nothing but -inf; inf beside inf; NaN propagates.
/// Example: `ta::logsumexp(ta::array({1000.0, 1000.0}))` is `1000.69314718`.
[[nodiscard]] TARRY_EXPORT Array logsumexp(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                           Where where = std::source_location::current());
/// exp(x - max) / sum(exp(x - max)) along `axis`: positive numbers that sum to 1.  Shapes: that of x.
/// A row with NaN or inf, or of nothing but -inf, is NaN.
/// Example: `ta::softmax(ta::array({0.0, 0.0, 1000.0}))` is `[0. 0. 1.]`.
[[nodiscard]] TARRY_EXPORT Array softmax(const Array& x, int axis = -1, Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
