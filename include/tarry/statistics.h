// Statistics that are made of reductions: reductions that pass over NaN, weighted means, covariances. Calls record and
// check; nothing is computed.
//
// Shapes: the reduced axes are removed, or kept with extent 1; `{}` reduces all, a list without an element none.
// Throws InvalidArgument, with the caller's file and line, where an axis is out of range or named twice, a dtype is not
// accepted, or an array is undefined.
#pragma once

#include <tarry/array.h>
#include <tarry/reduce.h>

#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

// ---- Without NaN ----
// The functions of reduce.h over the elements that are not NaN; integers and bool have none. Dtypes: as those.

/// Sum of the elements that are not NaN; 0 where there is none.
/// Example: `ta::nansum(ta::array({1.0, ta::nan, 2.0}))` is `3.`.
[[nodiscard]] TARRY_EXPORT Array nansum(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                        Where where = std::source_location::current());
/// Product of the elements that are not NaN; 1 where there is none.
/// Example: `ta::nanprod(ta::array({3.0, ta::nan, 2.0}))` is `6.`.
[[nodiscard]] TARRY_EXPORT Array nanprod(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                         Where where = std::source_location::current());
/// Smallest of the elements that are not NaN; NaN where all are.
/// Throws InvalidArgument where a reduced axis is empty, or an axis is out of range or named twice.
/// Example: `ta::nanmin(ta::array({3.0, ta::nan, 2.0}))` is `2.`.
[[nodiscard]] TARRY_EXPORT Array nanmin(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                        Where where = std::source_location::current());
/// Largest of the elements that are not NaN; NaN where all are.
/// Throws InvalidArgument where a reduced axis is empty, or an axis is out of range or named twice.
/// Example: `ta::nanmax(ta::array({3.0, ta::nan, 2.0}))` is `3.`.
[[nodiscard]] TARRY_EXPORT Array nanmax(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                        Where where = std::source_location::current());
/// Mean of the elements that are not NaN; NaN where all are.
/// Example: `ta::nanmean(ta::array({1.0, ta::nan, 2.0}))` is `1.5`.
[[nodiscard]] TARRY_EXPORT Array nanmean(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                         Where where = std::source_location::current());
/// Variance of the elements that are not NaN: their squared deviations from nanmean, over their number - correction;
/// NaN where that is not positive.
/// Example: `ta::nanvar(ta::array({1.0, ta::nan, 3.0}))` is `1.`.
[[nodiscard]] TARRY_EXPORT Array nanvar(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                        Where where = std::source_location::current());
/// Standard deviation of the elements that are not NaN: the square root of nanvar.
/// Example: `ta::nanstd(ta::array({1.0, ta::nan, 3.0}))` is `1.`.
[[nodiscard]] TARRY_EXPORT Array nanstd(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                        Where where = std::source_location::current());

// ---- Ranges and means ----

/// Largest element - smallest element. NaN propagates; integers wrap.  Dtypes: numbers, kept.
/// Throws InvalidArgument where a reduced axis is empty, for bool, or where an axis is out of range or named twice.
/// Example: `ta::ptp(ta::array({3, 9, 5}))` is `6`.
[[nodiscard]] TARRY_EXPORT Array ptp(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     Where where = std::source_location::current());
/// Weighted mean: sum(x * weights) / sum(weights).  Shapes: weights have x's shape, or one axis, that of the only axis
/// that is reduced.  Dtypes: promoted; floats, kept; integers and bool give float64.
/// Throws InvalidArgument where weights have another shape, or an axis is out of range or named twice.
/// Example: `ta::average(ta::array({1.0, 2.0}), ta::array({3.0, 1.0}))` is `1.25`.
[[nodiscard]] TARRY_EXPORT Array average(const Array& x, const Array& weights, const Axes& axes = {},
                                         ReduceOptions options = {}, Where where = std::source_location::current());

// ---- Covariances ----
// Dtypes: floats, kept; integers and bool give float64.

/// Options of cov.
struct CovarianceOptions {
  bool variables_in_rows = true;  ///< false: a column is a variable
  double correction = 1;          ///< the divisor is N - correction
};
/// Covariances of variables, each a row of observations: of every two rows the mean product of their deviations from
/// their means; NaN where N - correction is not positive.
/// Shapes: (variables, observations) -> (variables, variables); of one variable, or (observations,), a 0-d variance.
/// Throws InvalidArgument where x has more than two axes, or none.  Algorithm: a product of matrices (see matmul).
/// Example: `ta::cov(ta::array({{1.0, 2.0, 3.0}, {3.0, 2.0, 1.0}}))` is `[[ 1. -1.] [-1. 1.]]`.
[[nodiscard]] TARRY_EXPORT Array cov(const Array& x, CovarianceOptions options = {},
                                     Where where = std::source_location::current());
/// Options of corrcoef.
struct CorrelationOptions {
  bool variables_in_rows = true;  ///< false: a column is a variable
};
/// Correlations of variables: cov over the product of both standard deviations, cut to [-1, 1].
/// Shapes: as cov.  Throws InvalidArgument where x has more than two axes, or none.
/// Example: `ta::corrcoef(ta::array({{1.0, 2.0, 3.0}, {3.0, 2.0, 1.0}}))` is `[[ 1. -1.] [-1. 1.]]`.
[[nodiscard]] TARRY_EXPORT Array corrcoef(const Array& x, CorrelationOptions options = {},
                                          Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
