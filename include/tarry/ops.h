// Operations on arrays, by their names in the Python array API standard. Calls record and check; nothing is computed.
//
// Operands are arrays or C++ numbers; shapes broadcast as NumPy's do and dtypes promote as docs/reference/numerics.md
// says. float16 and bfloat16 compute in float32 and round once per operation. Every function throws InvalidArgument,
// with the caller's file and line, where shapes do not broadcast, a dtype is not accepted, a number does not fit the
// dtype it meets, operands are placed on different devices, or one is undefined.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

// ---- Arithmetic. Dtypes: numbers; bool with bool throws (see logical_or). Integers wrap. ----

/// a + b.
[[nodiscard]] TARRY_EXPORT Array add(const Operand& a, const Operand& b);
/// a - b.
[[nodiscard]] TARRY_EXPORT Array subtract(const Operand& a, const Operand& b);
/// a * b.
[[nodiscard]] TARRY_EXPORT Array multiply(const Operand& a, const Operand& b);
/// a / b, true division: correctly rounded.  Dtypes: floats; integers become floats first, as in sqrt.
[[nodiscard]] TARRY_EXPORT Array divide(const Operand& a, const Operand& b);
/// floor(a / b).  Integers: x // 0 is 0, INT_MIN // -1 is INT_MIN.  Floats: of the exact quotient.
[[nodiscard]] TARRY_EXPORT Array floor_divide(const Operand& a, const Operand& b);
/// What is left of a after floor_divide, with the sign of b.  Integers: x % 0 is 0.  Floats: exact but for the last
/// addition.
[[nodiscard]] TARRY_EXPORT Array remainder(const Operand& a, const Operand& b);
/// a to the power b.  Integers: a negative exponent gives 1 for a = 1, 1 or -1 for a = -1, else 0.  Floats: pow(x, 0)
/// and pow(1, y) are 1, NaN included; a negative base with an exponent that is not an integer gives NaN.
[[nodiscard]] TARRY_EXPORT Array pow(const Operand& a, const Operand& b);
/// a * b + c, rounded once.
[[nodiscard]] TARRY_EXPORT Array fma(const Operand& a, const Operand& b, const Operand& c);
/// -x.  Unsigned integers wrap.
[[nodiscard]] TARRY_EXPORT Array negative(const Array& x, std::source_location where = std::source_location::current());
/// x itself.
[[nodiscard]] TARRY_EXPORT Array positive(const Array& x, std::source_location where = std::source_location::current());
/// |x|.  The smallest signed integer stays itself.
[[nodiscard]] TARRY_EXPORT Array abs(const Array& x, std::source_location where = std::source_location::current());
/// -1, 0 or 1 by the sign of x.  Floats: 0 of both zeros, NaN stays.
[[nodiscard]] TARRY_EXPORT Array sign(const Array& x, std::source_location where = std::source_location::current());
/// x * x.
[[nodiscard]] TARRY_EXPORT Array square(const Array& x, std::source_location where = std::source_location::current());
/// 1 / x, correctly rounded.  Dtypes: floats; integers become floats first, as in sqrt.
[[nodiscard]] TARRY_EXPORT Array reciprocal(const Array& x,
                                            std::source_location where = std::source_location::current());
/// The smaller; NaN where either is NaN; minimum(-0, +0) is -0.
[[nodiscard]] TARRY_EXPORT Array minimum(const Operand& a, const Operand& b);
/// The larger; NaN where either is NaN; maximum(-0, +0) is +0.
[[nodiscard]] TARRY_EXPORT Array maximum(const Operand& a, const Operand& b);
/// minimum(maximum(x, lo), hi): hi where the bounds cross.  A bound left out does not bind.
/// Dtypes: x and the bounds promote together. A number beyond what the dtype holds is the nearest that it holds.
[[nodiscard]] TARRY_EXPORT Array clip(const Array& x, const std::optional<Operand>& lo = {},
                                      const std::optional<Operand>& hi = {},
                                      std::source_location where = std::source_location::current());

// ---- Rounding. Dtypes: floats, exact; integers come back as they are; bool throws. ----

/// The smallest integer that is not below x.
[[nodiscard]] TARRY_EXPORT Array ceil(const Array& x, std::source_location where = std::source_location::current());
/// The largest integer that is not above x.
[[nodiscard]] TARRY_EXPORT Array floor(const Array& x, std::source_location where = std::source_location::current());
/// The nearest integer, the even one where two are equally near.
[[nodiscard]] TARRY_EXPORT Array round(const Array& x, std::source_location where = std::source_location::current());
/// The nearest integer towards zero.
[[nodiscard]] TARRY_EXPORT Array trunc(const Array& x, std::source_location where = std::source_location::current());

// ---- Functions. Dtypes: integers of 8 and 16 bits become float32 first, those of 32 and 64 bits float64; bool throws.
// Error bounds and special values: docs/reference/numerics.md. ----

/// Square root, correctly rounded; NaN below zero, -0 stays.
[[nodiscard]] TARRY_EXPORT Array sqrt(const Array& x, std::source_location where = std::source_location::current());
/// 1 / sqrt(x); inf at zero with the sign of the zero, NaN below.
[[nodiscard]] TARRY_EXPORT Array rsqrt(const Array& x, std::source_location where = std::source_location::current());
/// e to the power x.
[[nodiscard]] TARRY_EXPORT Array exp(const Array& x, std::source_location where = std::source_location::current());
/// exp(x) - 1, accurate near zero.
[[nodiscard]] TARRY_EXPORT Array expm1(const Array& x, std::source_location where = std::source_location::current());
/// Natural logarithm; -inf at zero, NaN below.
[[nodiscard]] TARRY_EXPORT Array log(const Array& x, std::source_location where = std::source_location::current());
/// log(1 + x), accurate near zero; -inf at -1, NaN below.
[[nodiscard]] TARRY_EXPORT Array log1p(const Array& x, std::source_location where = std::source_location::current());
/// Logarithm to base 2; -inf at zero, NaN below.
[[nodiscard]] TARRY_EXPORT Array log2(const Array& x, std::source_location where = std::source_location::current());
/// Logarithm to base 10; -inf at zero, NaN below.
[[nodiscard]] TARRY_EXPORT Array log10(const Array& x, std::source_location where = std::source_location::current());
/// Sine of x radians; the argument is reduced exactly, however large; NaN of infinities.
[[nodiscard]] TARRY_EXPORT Array sin(const Array& x, std::source_location where = std::source_location::current());
/// Cosine of x radians; the argument is reduced exactly, however large; NaN of infinities.
[[nodiscard]] TARRY_EXPORT Array cos(const Array& x, std::source_location where = std::source_location::current());
/// Tangent of x radians; the argument is reduced exactly, however large; NaN of infinities.
[[nodiscard]] TARRY_EXPORT Array tan(const Array& x, std::source_location where = std::source_location::current());
/// Inverse sine, in [-pi/2, pi/2]; NaN beyond [-1, 1].
[[nodiscard]] TARRY_EXPORT Array asin(const Array& x, std::source_location where = std::source_location::current());
/// Inverse cosine, in [0, pi]; NaN beyond [-1, 1].
[[nodiscard]] TARRY_EXPORT Array acos(const Array& x, std::source_location where = std::source_location::current());
/// Inverse tangent, in [-pi/2, pi/2].
[[nodiscard]] TARRY_EXPORT Array atan(const Array& x, std::source_location where = std::source_location::current());
/// Hyperbolic sine.
[[nodiscard]] TARRY_EXPORT Array sinh(const Array& x, std::source_location where = std::source_location::current());
/// Hyperbolic cosine.
[[nodiscard]] TARRY_EXPORT Array cosh(const Array& x, std::source_location where = std::source_location::current());
/// Hyperbolic tangent.
[[nodiscard]] TARRY_EXPORT Array tanh(const Array& x, std::source_location where = std::source_location::current());
/// Inverse hyperbolic sine.
[[nodiscard]] TARRY_EXPORT Array asinh(const Array& x, std::source_location where = std::source_location::current());
/// Inverse hyperbolic cosine; NaN below 1.
[[nodiscard]] TARRY_EXPORT Array acosh(const Array& x, std::source_location where = std::source_location::current());
/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
[[nodiscard]] TARRY_EXPORT Array atanh(const Array& x, std::source_location where = std::source_location::current());
/// Error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
[[nodiscard]] TARRY_EXPORT Array erf(const Array& x, std::source_location where = std::source_location::current());
/// 1 / (1 + exp(-x)), accurate down to the smallest results.
[[nodiscard]] TARRY_EXPORT Array sigmoid(const Array& x, std::source_location where = std::source_location::current());
/// The angle of the point (b, a) from the positive first axis, in [-pi, pi]: atan(a / b) in the right quadrant.
[[nodiscard]] TARRY_EXPORT Array atan2(const Operand& a, const Operand& b);
/// sqrt(a^2 + b^2) without overflow in between; inf where either is infinite, even beside NaN.
[[nodiscard]] TARRY_EXPORT Array hypot(const Operand& a, const Operand& b);
/// log(exp(a) + exp(b)) without overflow in between.
[[nodiscard]] TARRY_EXPORT Array logaddexp(const Operand& a, const Operand& b);
/// The size of a with the sign of b; also of zeros and NaN.
[[nodiscard]] TARRY_EXPORT Array copysign(const Operand& a, const Operand& b);
/// The next number after a in the direction of b.
[[nodiscard]] TARRY_EXPORT Array nextafter(const Operand& a, const Operand& b);

// ---- Bits. Dtypes: integers, and bool where it says so; integers promote. ----

/// Bits set in both; of bools logical_and.
[[nodiscard]] TARRY_EXPORT Array bitwise_and(const Operand& a, const Operand& b);
/// Bits set in either; of bools logical_or.
[[nodiscard]] TARRY_EXPORT Array bitwise_or(const Operand& a, const Operand& b);
/// Bits set in one of both; of bools logical_xor.
[[nodiscard]] TARRY_EXPORT Array bitwise_xor(const Operand& a, const Operand& b);
/// Every bit flipped; of bools logical_not.
[[nodiscard]] TARRY_EXPORT Array bitwise_invert(const Array& x,
                                                std::source_location where = std::source_location::current());
/// a shifted up by b bits.  A count that is negative or not below the width gives 0.
[[nodiscard]] TARRY_EXPORT Array bitwise_left_shift(const Operand& a, const Operand& b);
/// a shifted down by b bits, filled with the sign.  A count that is negative or not below the width gives 0, of a
/// negative number -1.
[[nodiscard]] TARRY_EXPORT Array bitwise_right_shift(const Operand& a, const Operand& b);

// ---- Comparisons. Dtypes: numbers; the result is bool. Integers of any two dtypes, and integers with floats, compare
// exactly, whatever either of them can hold: a uint8 array > -1 is true. Floats promote first; a floating number beside
// an array of floats rounds to its dtype. Anything compared with NaN is false but !=. ----

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

// ---- Classification. Dtypes: numbers; the result is bool. Integers are finite. ----

/// True where x is neither infinite nor NaN.
[[nodiscard]] TARRY_EXPORT Array isfinite(const Array& x, std::source_location where = std::source_location::current());
/// True where x is infinite.
[[nodiscard]] TARRY_EXPORT Array isinf(const Array& x, std::source_location where = std::source_location::current());
/// True where x is NaN.
[[nodiscard]] TARRY_EXPORT Array isnan(const Array& x, std::source_location where = std::source_location::current());
/// True where the sign bit is set: below zero, at -0 and where a NaN has it.
[[nodiscard]] TARRY_EXPORT Array signbit(const Array& x, std::source_location where = std::source_location::current());

// ---- Logic. Dtypes: bool only. ----

/// True where both are.
[[nodiscard]] TARRY_EXPORT Array logical_and(const Operand& a, const Operand& b);
/// True where either is.
[[nodiscard]] TARRY_EXPORT Array logical_or(const Operand& a, const Operand& b);
/// True where one is and the other is not.
[[nodiscard]] TARRY_EXPORT Array logical_xor(const Operand& a, const Operand& b);
/// True where x is false.
[[nodiscard]] TARRY_EXPORT Array logical_not(const Array& x,
                                             std::source_location where = std::source_location::current());

// ---- Selection and conversion. ----

/// a where the condition is true, else b; moves bits and never computes.
/// Shapes: all three broadcast.  Dtypes: the condition is bool; a and b promote, also bool with bool.
[[nodiscard]] TARRY_EXPORT Array where(const Operand& condition, const Operand& a, const Operand& b);
/// x converted to another dtype; x itself where it has that one.  Rounds once, to nearest even.  Integers wrap.  Floats
/// truncate to integers and saturate, NaN gives 0; anything but 0 is true.
[[nodiscard]] TARRY_EXPORT Array astype(const Array& x, Dtype dtype,
                                        std::source_location where = std::source_location::current());

// ---- Closeness. Dtypes: numbers and bools, promoted; integers and bools compare in float64, float16 and bfloat16 in
// float32. ----

struct CloseOptions {
  double rtol = 1e-5;      ///< relative to |b|
  double atol = 1e-8;      ///< absolute
  bool equal_nan = false;  ///< whether NaN is close to NaN
};
struct EqualOptions {
  bool equal_nan = false;  ///< whether NaN equals NaN
};

/// True where |a - b| <= atol + rtol * |b|.  Infinities are close to their equals alone.  The result is bool.
[[nodiscard]] TARRY_EXPORT Array isclose(const Operand& a, const Operand& b, CloseOptions options = {});
/// Whether isclose holds everywhere.  Shapes: a and b broadcast; the result is a 0-d bool; true of nothing.
[[nodiscard]] TARRY_EXPORT Array allclose(const Operand& a, const Operand& b, CloseOptions options = {});
/// Whether a and b have the same shape and equal elements, compared as `equal` does.  The result is a 0-d bool; shapes
/// that differ give false.
[[nodiscard]] TARRY_EXPORT Array array_equal(const Operand& a, const Operand& b, EqualOptions options = {});

}  // namespace v0
}  // namespace tarry
