// Operations on arrays, by their names in the Python array API standard. Calls record and check; nothing is computed.
//
// Operands are arrays or C++ numbers; dtypes promote as docs/reference/numerics.md says. float16 and bfloat16 compute
// in float32 and round once per operation. A section states what holds for all its functions. Shapes: operands
// broadcast as NumPy's do; one operand keeps its shape. Throws InvalidArgument, with the caller's file and line, where
// shapes do not broadcast, a dtype is not accepted, a number does not fit the dtype that it meets, operands are placed
// on different devices, or one is undefined.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

// ---- Arithmetic ----
// Dtypes: numbers, promoted; integers wrap; bool with bool throws (see logical_or).

/// a + b.
/// Example: `ta::add(ta::array({1, 2}), 10)` is `[11 12]`.
[[nodiscard]] TARRY_EXPORT Array add(const Operand& a, const Operand& b);
/// a - b.
/// Example: `ta::subtract(ta::array({1, 2}), 10)` is `[-9 -8]`.
[[nodiscard]] TARRY_EXPORT Array subtract(const Operand& a, const Operand& b);
/// a * b.
/// Example: `ta::multiply(ta::array({1, 2}), ta::array({3, 4}))` is `[3 8]`.
[[nodiscard]] TARRY_EXPORT Array multiply(const Operand& a, const Operand& b);
/// a / b, true division: correctly rounded.  Dtypes: floats; integers become floats first, as in sqrt.
/// Example: `ta::divide(ta::array({1, 2}), 4)` is `[0.25 0.5 ]`.
[[nodiscard]] TARRY_EXPORT Array divide(const Operand& a, const Operand& b);
/// floor(a / b).  Integers: x // 0 is 0, INT_MIN // -1 is INT_MIN.  Floats: of the exact quotient.
/// Example: `ta::floor_divide(ta::array({-7, 7}), 2)` is `[-4 3]`.
[[nodiscard]] TARRY_EXPORT Array floor_divide(const Operand& a, const Operand& b);
/// The rest of a after floor_divide, with the sign of b.  Integers: x % 0 is 0.  Floats: exact but for the last
/// addition.
/// Example: `ta::remainder(ta::array({-7, 7}), 3)` is `[2 1]`.
[[nodiscard]] TARRY_EXPORT Array remainder(const Operand& a, const Operand& b);
/// a to the power b.  Integers: a negative exponent gives 1 for a = 1, 1 or -1 for a = -1, else 0.  Floats: pow(x, 0)
/// and pow(1, y) are 1, NaN included; a negative base with an exponent that is not an integer gives NaN.
/// Example: `ta::pow(ta::array({2, 3}), 4)` is `[16 81]`.
[[nodiscard]] TARRY_EXPORT Array pow(const Operand& a, const Operand& b);
/// a * b + c, rounded once.
/// Example: `ta::fma(ta::array({2.0, 3.0}), 4, 1)` is `[ 9. 13.]`.
[[nodiscard]] TARRY_EXPORT Array fma(const Operand& a, const Operand& b, const Operand& c);
/// -x.  Unsigned integers wrap.
/// Example: `ta::negative(ta::array({1, -2}))` is `[-1 2]`.
[[nodiscard]] TARRY_EXPORT Array negative(const Array& x, Where where = std::source_location::current());
/// x itself.
/// Example: `ta::positive(ta::array({1, -2}))` is `[ 1 -2]`.
[[nodiscard]] TARRY_EXPORT Array positive(const Array& x, Where where = std::source_location::current());
/// |x|.  The smallest signed integer stays itself.
/// Example: `ta::abs(ta::array({1, -2}))` is `[1 2]`.
[[nodiscard]] TARRY_EXPORT Array abs(const Array& x, Where where = std::source_location::current());
/// -1, 0 or 1 by the sign of x.  Floats: 0 of both zeros, NaN stays.
/// Example: `ta::sign(ta::array({-2.5, 0.0, 7.0}))` is `[-1. 0. 1.]`.
[[nodiscard]] TARRY_EXPORT Array sign(const Array& x, Where where = std::source_location::current());
/// x * x.
/// Example: `ta::square(ta::array({1, -2}))` is `[1 4]`.
[[nodiscard]] TARRY_EXPORT Array square(const Array& x, Where where = std::source_location::current());
/// Remainder of the division that rounds towards zero: with the sign of a, exact.  x mod 0 is NaN, of integers what
/// remainder gives.
/// Example: `ta::fmod(ta::array({-7, 7}), 3)` is `[-1 1]`.
[[nodiscard]] TARRY_EXPORT Array fmod(const Operand& a, const Operand& b);
/// 1 / x, correctly rounded.  Dtypes: floats; integers become floats first, as in sqrt.
/// Example: `ta::reciprocal(ta::array({2.0, 4.0}))` is `[0.5 0.25]`.
[[nodiscard]] TARRY_EXPORT Array reciprocal(const Array& x, Where where = std::source_location::current());
/// The smaller; NaN where either is NaN; minimum(-0, +0) is -0.
/// Example: `ta::minimum(ta::array({1, 5}), 3)` is `[1 3]`.
[[nodiscard]] TARRY_EXPORT Array minimum(const Operand& a, const Operand& b);
/// The larger; NaN where either is NaN; maximum(-0, +0) is +0.
/// Example: `ta::maximum(ta::array({1, 5}), 3)` is `[3 5]`.
[[nodiscard]] TARRY_EXPORT Array maximum(const Operand& a, const Operand& b);
/// The smaller; of NaN and a number the number.
/// Example: `ta::fmin(ta::array({1.0, ta::nan}), 3)` is `[1. 3.]`.
[[nodiscard]] TARRY_EXPORT Array fmin(const Operand& a, const Operand& b);
/// The larger; of NaN and a number the number.
/// Example: `ta::fmax(ta::array({1.0, ta::nan}), 3)` is `[3. 3.]`.
[[nodiscard]] TARRY_EXPORT Array fmax(const Operand& a, const Operand& b);
/// minimum(maximum(x, lo), hi): hi where the bounds cross.  A bound left out does not bind.
/// Dtypes: x and the bounds promote together. A number beyond what the dtype holds is the nearest that it holds.
/// Example: `ta::clip(ta::array({-3, 5, 300}), 0, 255)` is `[ 0 5 255]`.
[[nodiscard]] TARRY_EXPORT Array clip(const Array& x, const std::optional<Operand>& lo = {},
                                      const std::optional<Operand>& hi = {},
                                      Where where = std::source_location::current());

// ---- Rounding ----
// Dtypes: floats, exact; integers come back as they are; bool throws.

/// The smallest integer that is not below x.
/// Example: `ta::ceil(ta::array({-1.5, 1.5}))` is `[-1. 2.]`.
[[nodiscard]] TARRY_EXPORT Array ceil(const Array& x, Where where = std::source_location::current());
/// The largest integer that is not above x.
/// Example: `ta::floor(ta::array({-1.5, 1.5}))` is `[-2. 1.]`.
[[nodiscard]] TARRY_EXPORT Array floor(const Array& x, Where where = std::source_location::current());
/// The nearest integer, the even one where two are equally near.
/// Example: `ta::round(ta::array({0.5, 1.5, 2.6}))` is `[0. 2. 3.]`.
[[nodiscard]] TARRY_EXPORT Array round(const Array& x, Where where = std::source_location::current());
/// The nearest number of `decimals` digits behind the point; of digits before it where that is negative. The even one
/// where two are equally near.  Dtypes: integers are rounded through float64 where `decimals` is negative.
/// Throws InvalidArgument also where |decimals| is above 308.
/// Algorithm: round(x * 10^decimals) / 10^decimals; x where that overflows.
/// Example: `ta::round(ta::array({1.234, 5.678}), 1)` is `[1.2 5.7]`.
[[nodiscard]] TARRY_EXPORT Array round(const Array& x, int decimals, Where where = std::source_location::current());
/// The nearest integer towards zero.
/// Example: `ta::trunc(ta::array({-1.5, 1.5}))` is `[-1. 1.]`.
[[nodiscard]] TARRY_EXPORT Array trunc(const Array& x, Where where = std::source_location::current());

// ---- Functions ----
// Error bounds and special values stand in docs/reference/numerics.md.
// Dtypes: floats; integers of 8 and 16 bits become float32 first, those of 32 and 64 bits float64; bool throws.

/// Square root, correctly rounded; NaN below zero, -0 stays.
/// Example: `ta::sqrt(ta::array({4, 9}))` is `[2. 3.]`.
[[nodiscard]] TARRY_EXPORT Array sqrt(const Array& x, Where where = std::source_location::current());
/// 1 / sqrt(x); inf at zero with the sign of the zero, NaN below.
/// Example: `ta::rsqrt(ta::array({4.0, 16.0}))` is `[0.5 0.25]`.
[[nodiscard]] TARRY_EXPORT Array rsqrt(const Array& x, Where where = std::source_location::current());
/// Cube root, with the sign of x.
/// Example: `ta::cbrt(ta::array({8.0, -27.0}))` is `[ 2. -3.]`.
[[nodiscard]] TARRY_EXPORT Array cbrt(const Array& x, Where where = std::source_location::current());
/// e to the power x.
/// Example: `ta::exp(ta::array({0.0, 1.0}))` is `[1. 2.71828183]`.
[[nodiscard]] TARRY_EXPORT Array exp(const Array& x, Where where = std::source_location::current());
/// exp(x) - 1, accurate near zero.
/// Example: `ta::expm1(ta::array({0.0, 1e-12}))` is `[0.e+00 1.e-12]`.
[[nodiscard]] TARRY_EXPORT Array expm1(const Array& x, Where where = std::source_location::current());
/// 2 to the power x.
/// Example: `ta::exp2(ta::array({0.0, 3.0}))` is `[1. 8.]`.
[[nodiscard]] TARRY_EXPORT Array exp2(const Array& x, Where where = std::source_location::current());
/// Natural logarithm; -inf at zero, NaN below.
/// Example: `ta::log(ta::array({1.0, 10.0}))` is `[0. 2.30258509]`.
[[nodiscard]] TARRY_EXPORT Array log(const Array& x, Where where = std::source_location::current());
/// log(1 + x), accurate near zero; -inf at -1, NaN below.
/// Example: `ta::log1p(ta::array({0.0, 1e-12}))` is `[0.e+00 1.e-12]`.
[[nodiscard]] TARRY_EXPORT Array log1p(const Array& x, Where where = std::source_location::current());
/// Logarithm to base 2; -inf at zero, NaN below.
/// Example: `ta::log2(ta::array({1, 8}))` is `[0. 3.]`.
[[nodiscard]] TARRY_EXPORT Array log2(const Array& x, Where where = std::source_location::current());
/// Logarithm to base 10; -inf at zero, NaN below.
/// Example: `ta::log10(ta::array({1, 1000}))` is `[0. 3.]`.
[[nodiscard]] TARRY_EXPORT Array log10(const Array& x, Where where = std::source_location::current());
/// Sine of x radians; the argument is reduced exactly, however large; NaN of infinities.
/// Example: `ta::sin(ta::array({0.0, ta::pi / 2}))` is `[0. 1.]`.
[[nodiscard]] TARRY_EXPORT Array sin(const Array& x, Where where = std::source_location::current());
/// Cosine of x radians; the argument is reduced exactly, however large; NaN of infinities.
/// Example: `ta::cos(ta::array({0.0, ta::pi}))` is `[ 1. -1.]`.
[[nodiscard]] TARRY_EXPORT Array cos(const Array& x, Where where = std::source_location::current());
/// Tangent of x radians; the argument is reduced exactly, however large; NaN of infinities.
/// Example: `ta::tan(ta::array({0.0, 1.0}))` is `[0. 1.55740772]`.
[[nodiscard]] TARRY_EXPORT Array tan(const Array& x, Where where = std::source_location::current());
/// Inverse sine, in [-pi/2, pi/2]; NaN beyond [-1, 1].
/// Example: `ta::asin(ta::array({0.0, 1.0}))` is `[0. 1.57079633]`.
[[nodiscard]] TARRY_EXPORT Array asin(const Array& x, Where where = std::source_location::current());
/// Inverse cosine, in [0, pi]; NaN beyond [-1, 1].
/// Example: `ta::acos(ta::array({0.0, 1.0}))` is `[1.57079633 0. ]`.
[[nodiscard]] TARRY_EXPORT Array acos(const Array& x, Where where = std::source_location::current());
/// Inverse tangent, in [-pi/2, pi/2].
/// Example: `ta::atan(ta::array({0.0, 1.0}))` is `[0. 0.78539816]`.
[[nodiscard]] TARRY_EXPORT Array atan(const Array& x, Where where = std::source_location::current());
/// x degrees in radians: x times pi / 180.
/// Example: `ta::deg2rad(ta::array({0.0, 180.0}))` is `[0. 3.14159265]`.
[[nodiscard]] TARRY_EXPORT Array deg2rad(const Array& x, Where where = std::source_location::current());
/// x radians in degrees: x times 180 / pi.
/// Example: `ta::rad2deg(ta::array({0.0, ta::pi}))` is `[ 0. 180.]`.
[[nodiscard]] TARRY_EXPORT Array rad2deg(const Array& x, Where where = std::source_location::current());
/// sin(pi x) / (pi x), 1 at zero.
/// Example: `ta::sinc(ta::array({0.0, 0.5}))` is `[1. 0.63661977]`.
[[nodiscard]] TARRY_EXPORT Array sinc(const Array& x, Where where = std::source_location::current());
/// 0 below zero, 1 above, and the second argument at zero; NaN of NaN.
/// Example: `ta::heaviside(ta::array({-1.0, 0.0, 2.0}), 0.5)` is `[0. 0.5 1. ]`.
[[nodiscard]] TARRY_EXPORT Array heaviside(const Operand& x, const Operand& at_zero);
/// Hyperbolic sine.
/// Example: `ta::sinh(ta::array({0.0, 1.0}))` is `[0. 1.17520119]`.
[[nodiscard]] TARRY_EXPORT Array sinh(const Array& x, Where where = std::source_location::current());
/// Hyperbolic cosine.
/// Example: `ta::cosh(ta::array({0.0, 1.0}))` is `[1. 1.54308063]`.
[[nodiscard]] TARRY_EXPORT Array cosh(const Array& x, Where where = std::source_location::current());
/// Hyperbolic tangent.
/// Example: `ta::tanh(ta::array({0.0, 1.0}))` is `[0. 0.76159416]`.
[[nodiscard]] TARRY_EXPORT Array tanh(const Array& x, Where where = std::source_location::current());
/// Inverse hyperbolic sine.
/// Example: `ta::asinh(ta::array({0.0, 1.0}))` is `[0. 0.88137359]`.
[[nodiscard]] TARRY_EXPORT Array asinh(const Array& x, Where where = std::source_location::current());
/// Inverse hyperbolic cosine; NaN below 1.
/// Example: `ta::acosh(ta::array({1.0, 2.0}))` is `[0. 1.3169579]`.
[[nodiscard]] TARRY_EXPORT Array acosh(const Array& x, Where where = std::source_location::current());
/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
/// Example: `ta::atanh(ta::array({0.0, 0.5}))` is `[0. 0.54930614]`.
[[nodiscard]] TARRY_EXPORT Array atanh(const Array& x, Where where = std::source_location::current());
/// Error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
/// Example: `ta::erf(ta::array({0.0, 1.0}))` is `[0. 0.84270079]`.
[[nodiscard]] TARRY_EXPORT Array erf(const Array& x, Where where = std::source_location::current());
/// 1 / (1 + exp(-x)), accurate down to the smallest results.
/// Example: `ta::sigmoid(ta::array({0.0, 2.0}))` is `[0.5 0.88079708]`.
[[nodiscard]] TARRY_EXPORT Array sigmoid(const Array& x, Where where = std::source_location::current());
/// The angle of the point (b, a) from the positive first axis, in [-pi, pi]: atan(a / b) in the right quadrant.
/// Example: `ta::atan2(ta::array({1.0, 1.0}), ta::array({1.0, -1.0}))` is `[0.78539816 2.35619449]`.
[[nodiscard]] TARRY_EXPORT Array atan2(const Operand& a, const Operand& b);
/// sqrt(a^2 + b^2) without overflow in between; inf where either is infinite, even beside NaN.
/// Example: `ta::hypot(ta::array({3.0, 5.0}), ta::array({4.0, 12.0}))` is `[ 5. 13.]`.
[[nodiscard]] TARRY_EXPORT Array hypot(const Operand& a, const Operand& b);
/// log(exp(a) + exp(b)) without overflow in between.
/// Example: `ta::logaddexp(ta::array({0.0, 1000.0}), 0)` is `[6.93147181e-01 1.00000000e+03]`.
[[nodiscard]] TARRY_EXPORT Array logaddexp(const Operand& a, const Operand& b);
/// The size of a with the sign of b; also of zeros and NaN.
/// Example: `ta::copysign(ta::array({1.0, 2.0}), -1)` is `[-1. -2.]`.
[[nodiscard]] TARRY_EXPORT Array copysign(const Operand& a, const Operand& b);
/// The next number after a in the direction of b.
/// Example: `ta::nextafter(ta::array({1.0F}), 2) > 1` is `[True]`.
[[nodiscard]] TARRY_EXPORT Array nextafter(const Operand& a, const Operand& b);

// ---- Bits ----
// Dtypes: integers, promoted; bool where the function says so.

/// Bits set in both; of bools logical_and.
/// Example: `ta::bitwise_and(ta::array({6, 5}), 3)` is `[2 1]`.
[[nodiscard]] TARRY_EXPORT Array bitwise_and(const Operand& a, const Operand& b);
/// Bits set in either; of bools logical_or.
/// Example: `ta::bitwise_or(ta::array({6, 5}), 3)` is `[7 7]`.
[[nodiscard]] TARRY_EXPORT Array bitwise_or(const Operand& a, const Operand& b);
/// Bits set in one of both; of bools logical_xor.
/// Example: `ta::bitwise_xor(ta::array({6, 5}), 3)` is `[5 6]`.
[[nodiscard]] TARRY_EXPORT Array bitwise_xor(const Operand& a, const Operand& b);
/// Every bit flipped; of bools logical_not.
/// Example: `ta::bitwise_invert(ta::array({0, 5}))` is `[-1 -6]`.
[[nodiscard]] TARRY_EXPORT Array bitwise_invert(const Array& x, Where where = std::source_location::current());
/// a shifted up by b bits.  A count that is negative or not below the width gives 0.
/// Example: `ta::bitwise_left_shift(ta::array({1, 3}), 4)` is `[16 48]`.
[[nodiscard]] TARRY_EXPORT Array bitwise_left_shift(const Operand& a, const Operand& b);
/// a shifted down by b bits, filled with the sign.  A count that is negative or not below the width gives 0, of a
/// negative number -1.
/// Example: `ta::bitwise_right_shift(ta::array({16, -16}), 2)` is `[ 4 -4]`.
[[nodiscard]] TARRY_EXPORT Array bitwise_right_shift(const Operand& a, const Operand& b);

// ---- Comparisons ----
// Integers of any two dtypes, and integers with floats, compare exactly, whatever either of them can hold: a uint8
// array > -1 is true. Floats promote first; a floating number beside an array of floats rounds to its dtype. Anything
// compared with NaN is false but !=. Dtypes: numbers; the result is bool.

/// a == b; also of bools.
/// Example: `ta::equal(ta::array({1, 2, 3}), 2)` is `[False True False]`.
[[nodiscard]] TARRY_EXPORT Array equal(const Operand& a, const Operand& b);
/// a != b; also of bools.
/// Example: `ta::not_equal(ta::array({1, 2, 3}), 2)` is `[ True False True]`.
[[nodiscard]] TARRY_EXPORT Array not_equal(const Operand& a, const Operand& b);
/// a < b.
/// Example: `ta::less(ta::array({1, 2, 3}), 2)` is `[ True False False]`.
[[nodiscard]] TARRY_EXPORT Array less(const Operand& a, const Operand& b);
/// a <= b.
/// Example: `ta::less_equal(ta::array({1, 2, 3}), 2)` is `[ True True False]`.
[[nodiscard]] TARRY_EXPORT Array less_equal(const Operand& a, const Operand& b);
/// a > b.
/// Example: `ta::greater(ta::array({1, 2, 3}), 2)` is `[False False True]`.
[[nodiscard]] TARRY_EXPORT Array greater(const Operand& a, const Operand& b);
/// a >= b.
/// Example: `ta::greater_equal(ta::array({1, 2, 3}), 2)` is `[False True True]`.
[[nodiscard]] TARRY_EXPORT Array greater_equal(const Operand& a, const Operand& b);

// ---- Classification ----
// Dtypes: numbers; the result is bool. Integers are finite.

/// True where x is neither infinite nor NaN.
/// Example: `ta::isfinite(ta::array({1.0, ta::inf, ta::nan}))` is `[ True False False]`.
[[nodiscard]] TARRY_EXPORT Array isfinite(const Array& x, Where where = std::source_location::current());
/// True where x is infinite.
/// Example: `ta::isinf(ta::array({1.0, ta::inf, ta::nan}))` is `[False True False]`.
[[nodiscard]] TARRY_EXPORT Array isinf(const Array& x, Where where = std::source_location::current());
/// True where x is NaN.
/// Example: `ta::isnan(ta::array({1.0, ta::inf, ta::nan}))` is `[False False True]`.
[[nodiscard]] TARRY_EXPORT Array isnan(const Array& x, Where where = std::source_location::current());
/// True where the sign bit is set: below zero, at -0 and where a NaN has it.
/// Example: `ta::signbit(ta::array({1.0, -0.0, -2.0}))` is `[False True True]`.
[[nodiscard]] TARRY_EXPORT Array signbit(const Array& x, Where where = std::source_location::current());

// ---- Logic ----
// Dtypes: bool only.

/// True where both are.
/// Example: `ta::logical_and(ta::array({true, false}), true)` is `[ True False]`.
[[nodiscard]] TARRY_EXPORT Array logical_and(const Operand& a, const Operand& b);
/// True where either is.
/// Example: `ta::logical_or(ta::array({true, false}), true)` is `[True True]`.
[[nodiscard]] TARRY_EXPORT Array logical_or(const Operand& a, const Operand& b);
/// True where one is and the other is not.
/// Example: `ta::logical_xor(ta::array({true, false}), true)` is `[False True]`.
[[nodiscard]] TARRY_EXPORT Array logical_xor(const Operand& a, const Operand& b);
/// True where x is false.
/// Example: `ta::logical_not(ta::array({true, false}))` is `[False True]`.
[[nodiscard]] TARRY_EXPORT Array logical_not(const Array& x, Where where = std::source_location::current());

// ---- Selection and conversion ----

/// a where the condition is true, else b; moves bits and never computes.
/// Shapes: all three broadcast.  Dtypes: the condition is bool; a and b promote, also bool with bool.
/// Example: `ta::where(ta::array({true, false}), ta::array({1, 2}), 0)` is `[1 0]`.
[[nodiscard]] TARRY_EXPORT Array where(const Operand& condition, const Operand& a, const Operand& b);
/// Numbers that nan_to_num puts in the place of NaN and the infinities.
struct NumberOptions {
  double nan = 0;
  std::optional<double> posinf = {}, neginf = {};  ///< the largest and the smallest number of the dtype without them
};
/// x with numbers for NaN and the infinities.  Dtypes: any, kept; integers and bool have none.
/// Throws InvalidArgument also where a number does not fit the dtype.
/// Example: `ta::nan_to_num(ta::array({1.0, ta::nan, ta::inf}), {.posinf = 9})` is `[1. 0. 9.]`.
[[nodiscard]] TARRY_EXPORT Array nan_to_num(const Array& x, NumberOptions options = {},
                                            Where where = std::source_location::current());
/// x converted to another dtype; x itself where it has that one.
/// Dtypes: any to any. A float rounds once, to nearest even. Integers wrap. Floats truncate to integers and saturate,
/// NaN gives 0; anything but 0 is true.
/// Example: `ta::astype(ta::array({1.9, -1.9}), ta::int32)` is `[ 1 -1]`.
[[nodiscard]] TARRY_EXPORT Array astype(const Array& x, Dtype dtype, Where where = std::source_location::current());

// ---- Closeness ----
// Dtypes: numbers and bools, promoted; the result is bool. Integers and bools compare in float64, float16 and bfloat16
// in float32.

/// The tolerances of isclose and allclose.
struct CloseOptions {
  double rtol = 1e-5;      ///< relative to |b|
  double atol = 1e-8;      ///< absolute
  bool equal_nan = false;  ///< true: NaN is close to NaN
};
/// How array_equal takes NaN.
struct EqualOptions {
  bool equal_nan = false;  ///< true: NaN equals NaN
};

/// True where |a - b| <= atol + rtol * |b|.  Infinities are close to their equals alone.
/// Example: `ta::isclose(ta::array({1.0, 2.0}), ta::array({1.0 + 1e-9, 2.1}))` is `[ True False]`.
[[nodiscard]] TARRY_EXPORT Array isclose(const Operand& a, const Operand& b, CloseOptions options = {});
/// True where isclose holds everywhere; true of nothing.  Shapes: a and b broadcast; the result is 0-d.
/// Example: `ta::allclose(ta::array({1.0, 2.0}), ta::array({1.0 + 1e-9, 2.1}))` is `False`.
[[nodiscard]] TARRY_EXPORT Array allclose(const Operand& a, const Operand& b, CloseOptions options = {});
/// True where a and b have the same shape and equal elements, compared as `equal` does.
/// Shapes: any; shapes that differ give false; the result is 0-d.
/// Example: `ta::array_equal(ta::array({1, 2}), ta::array({1, 2}))` is `True`.
[[nodiscard]] TARRY_EXPORT Array array_equal(const Operand& a, const Operand& b, EqualOptions options = {});

}  // namespace v0
}  // namespace tarry
