// Operations on arrays, by their names in the Python array API standard. Calls record and check; nothing is computed.
//
// Operands are arrays or C++ numbers; shapes broadcast as NumPy's do and dtypes promote as docs/numerics.md says.
// Every function throws InvalidArgument, with the caller's file and line, where shapes do not broadcast, a dtype is not
// accepted, a number does not fit the dtype it meets, operands are placed on different devices, or one is undefined.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

namespace tarry {
inline namespace v0 {

// ---- Arithmetic. Dtypes: numbers; bool with bool throws (see logical_or). Integers wrap. ----

/// a + b.
[[nodiscard]] TARRY_EXPORT Array add(const Operand& a, const Operand& b);
/// a - b.
[[nodiscard]] TARRY_EXPORT Array subtract(const Operand& a, const Operand& b);
/// a * b.
[[nodiscard]] TARRY_EXPORT Array multiply(const Operand& a, const Operand& b);
/// a / b, true division: correctly rounded.  Dtypes: integers become float32 first.
[[nodiscard]] TARRY_EXPORT Array divide(const Operand& a, const Operand& b);
/// floor(a / b).  Integers: x // 0 is 0, INT_MIN // -1 is INT_MIN.  Floats: the division is rounded first.
[[nodiscard]] TARRY_EXPORT Array floor_divide(const Operand& a, const Operand& b);
/// What is left of a after floor_divide, with the sign of b.  Integers: x % 0 is 0.  Floats: exact but for the last
/// addition.
[[nodiscard]] TARRY_EXPORT Array remainder(const Operand& a, const Operand& b);
/// -x.
[[nodiscard]] TARRY_EXPORT Array negative(const Array& x, std::source_location where = std::source_location::current());
/// |x|.  The smallest signed integer stays itself.
[[nodiscard]] TARRY_EXPORT Array abs(const Array& x, std::source_location where = std::source_location::current());
/// The smaller; NaN where either is NaN; minimum(-0, +0) is -0.
[[nodiscard]] TARRY_EXPORT Array minimum(const Operand& a, const Operand& b);
/// The larger; NaN where either is NaN; maximum(-0, +0) is +0.
[[nodiscard]] TARRY_EXPORT Array maximum(const Operand& a, const Operand& b);

// ---- Functions. Dtypes: integers become float32 first; bool throws. Error bounds: docs/numerics.md. ----

/// Square root, correctly rounded; NaN below zero, -0 stays.
[[nodiscard]] TARRY_EXPORT Array sqrt(const Array& x, std::source_location where = std::source_location::current());
/// e to the power x.
[[nodiscard]] TARRY_EXPORT Array exp(const Array& x, std::source_location where = std::source_location::current());
/// Natural logarithm; -inf at zero, NaN below.
[[nodiscard]] TARRY_EXPORT Array log(const Array& x, std::source_location where = std::source_location::current());
/// Error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
[[nodiscard]] TARRY_EXPORT Array erf(const Array& x, std::source_location where = std::source_location::current());

// ---- Comparisons. Dtypes: promoted, then compared; the result is bool. Anything compared with NaN is false but !=.
// ----

/// a == b; also of bools.
[[nodiscard]] TARRY_EXPORT Array equal(const Operand& a, const Operand& b);
/// a != b; also of bools.
[[nodiscard]] TARRY_EXPORT Array not_equal(const Operand& a, const Operand& b);
/// a < b.
[[nodiscard]] TARRY_EXPORT Array less(const Operand& a, const Operand& b);
/// a <= b.
[[nodiscard]] TARRY_EXPORT Array less_equal(const Operand& a, const Operand& b);
/// a > b.
[[nodiscard]] TARRY_EXPORT Array greater(const Operand& a, const Operand& b);
/// a >= b.
[[nodiscard]] TARRY_EXPORT Array greater_equal(const Operand& a, const Operand& b);

// ---- Logic. Dtypes: bool only. ----

/// True where both are.
[[nodiscard]] TARRY_EXPORT Array logical_and(const Operand& a, const Operand& b);
/// True where either is.
[[nodiscard]] TARRY_EXPORT Array logical_or(const Operand& a, const Operand& b);
/// True where x is false.
[[nodiscard]] TARRY_EXPORT Array logical_not(const Array& x,
                                             std::source_location where = std::source_location::current());

// ---- Selection and conversion. ----

/// a where the condition is true, else b; moves bits and never computes.
/// Shapes: all three broadcast.  Dtypes: the condition is bool; a and b promote, also bool with bool.
[[nodiscard]] TARRY_EXPORT Array where(const Operand& condition, const Operand& a, const Operand& b);
/// x converted to another dtype.  Floats truncate to integers and saturate, NaN gives 0; anything but 0 is true.
[[nodiscard]] TARRY_EXPORT Array astype(const Array& x, Dtype dtype,
                                        std::source_location where = std::source_location::current());

// ---- Reductions. The axes are removed, or kept with extent 1. The order of combination is fixed (docs/numerics.md),
// so results have the same bits for every layout, schedule and device. An axis out of range or named twice throws. ----

struct ReduceOptions {
  bool keepdims = false;  ///< keep reduced axes with extent 1
};
struct SumOptions {
  bool keepdims = false;
  std::optional<Dtype> dtype = {};  ///< convert to this first and sum in it
};
struct MomentOptions {
  bool keepdims = false;
  double correction = 0;  ///< the divisor is N - correction: 1 for the unbiased estimate
};

/// Sum of x.  Dtypes: bool and signed integers sum in int64, unsigned ones in uint64, floats in themselves.
/// The sum of nothing is 0.  NaN propagates.
/// Algorithm: fixed pairwise tree; error at most (2 + log2 n) eps sum|x| (Higham, SIAM J. Sci. Comput. 14(4), 1993).
[[nodiscard]] TARRY_EXPORT Array sum(const Array& x, const Axes& axes = {}, SumOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Smallest element.  Dtypes: numbers, kept.  NaN propagates; -0 is below +0.  Throws where a reduced axis is empty.
[[nodiscard]] TARRY_EXPORT Array min(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Largest element.  Dtypes: numbers, kept.  NaN propagates; +0 is above -0.  Throws where a reduced axis is empty.
[[nodiscard]] TARRY_EXPORT Array max(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Arithmetic mean: sum / n.  Dtypes: floats, kept; integers and bool give float64.  The mean of nothing is NaN.
[[nodiscard]] TARRY_EXPORT Array mean(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                      std::source_location where = std::source_location::current());
/// Variance: the sum of squared deviations from the mean over N - correction; NaN where that is not positive.
/// Dtypes: floats, kept; integers and bool give float64.
/// Algorithm: x is read once; moments about the first element merge pairwise (Chan, Golub, LeVeque, STAN-CS-79-773).
[[nodiscard]] TARRY_EXPORT Array var(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                     std::source_location where = std::source_location::current());
/// Standard deviation: the square root of var.
[[nodiscard]] TARRY_EXPORT Array std(const Array& x, const Axes& axes = {}, MomentOptions options = {},
                                     std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
