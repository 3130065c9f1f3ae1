// Reductions, by their names in the Python array API standard. Calls record and check; nothing is computed.
//
// The axes are removed, or kept with extent 1; `{}` reduces all, a list without an element none. The order of
// combination is fixed (docs/reference/numerics.md), so results have the same bits for every layout, schedule and
// device. float16 and bfloat16 accumulate in float32 and round once at the end. Every function throws InvalidArgument,
// with the caller's file and line, where an axis is out of range or named twice, a dtype is not accepted, or the array
// is undefined.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

struct ReduceOptions {
  bool keepdims = false;  ///< keep reduced axes with extent 1
};
struct SumOptions {
  bool keepdims = false;
  std::optional<Dtype> dtype = {};  ///< convert to this first and compute in it
};
struct MomentOptions {
  bool keepdims = false;
  double correction = 0;  ///< the divisor is N - correction: 1 for the unbiased estimate
};

// ---- Sums and products. ----

/// Sum of x.  Dtypes: bool and signed integers sum in int64, unsigned ones in uint64, floats are kept.
/// The sum of nothing is 0.  NaN propagates.
/// Algorithm: fixed pairwise tree; error at most (2 + log2 n) eps sum|x| (Higham, SIAM J. Sci. Comput. 14(4), 1993).
[[nodiscard]] TARRY_EXPORT Array sum(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Product of x, in the order of sum.  Dtypes: as sum; integers wrap.  The product of nothing is 1.  NaN propagates.
[[nodiscard]] TARRY_EXPORT Array prod(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                      std::source_location where = std::source_location::current());
/// How many elements are not 0, as int64.  Dtypes: any.  NaN is not 0.
[[nodiscard]] TARRY_EXPORT Array count_nonzero(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                               std::source_location where = std::source_location::current());

// ---- Extremes. ----

/// Smallest element.  Dtypes: any, kept; false is below true.  NaN propagates; -0 is below +0.  Throws where a reduced
/// axis is empty.
[[nodiscard]] TARRY_EXPORT Array min(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Largest element.  Dtypes: any, kept.  NaN propagates; +0 is above -0.  Throws where a reduced axis is empty.
[[nodiscard]] TARRY_EXPORT Array max(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Index of the smallest element along `axis`, or in the row-major order of the whole array, as int64.
/// Dtypes: any.  The first of equal elements (-0 equals +0), and of NaNs, which come before all else.  Throws where
/// there is no element.
[[nodiscard]] TARRY_EXPORT Array argmin(const Array& x, std::optional<int> axis = {}, ReduceOptions options = {},
                                        std::source_location where = std::source_location::current());
/// Index of the largest element, as argmin.
[[nodiscard]] TARRY_EXPORT Array argmax(const Array& x, std::optional<int> axis = {}, ReduceOptions options = {},
                                        std::source_location where = std::source_location::current());

// ---- Logic. Dtypes: any; an element is true where it is not 0; the result is bool. ----

/// Whether any element is true; false of nothing.
[[nodiscard]] TARRY_EXPORT Array any(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Whether all elements are true; true of nothing.
[[nodiscard]] TARRY_EXPORT Array all(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     std::source_location where = std::source_location::current());

// ---- Statistics. Dtypes: floats, kept; integers and bool give float64. ----

/// Arithmetic mean: sum / n.  The mean of nothing is NaN.
[[nodiscard]] TARRY_EXPORT Array mean(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                      std::source_location where = std::source_location::current());
/// Variance: the sum of squared deviations from the mean over N - correction; NaN where that is not positive.
/// Algorithm: x is read once; moments about the first element merge pairwise (Chan, Golub, LeVeque, STAN-CS-79-773).
[[nodiscard]] TARRY_EXPORT Array var(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Standard deviation: the square root of var.
[[nodiscard]] TARRY_EXPORT Array std(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                     std::source_location where = std::source_location::current());

// ---- Exponentials. Dtypes: floats, kept; integers become float32 or
// float64 first, as in ops.h; bool throws. ----

/// log(sum(exp(x))), without overflow in between: the maximum is taken out first.
/// -inf of nothing and of nothing but -inf; inf beside inf; NaN propagates.
[[nodiscard]] TARRY_EXPORT Array logsumexp(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                           std::source_location where = std::source_location::current());
/// exp(x - max) / sum(exp(x - max)) along `axis`: positive numbers that sum to 1.  Shapes: that of x.
/// A row with NaN or inf, or of nothing but -inf, is NaN.
[[nodiscard]] TARRY_EXPORT Array softmax(const Array& x, int axis = -1,
                                         std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
