// Windows and borders: arrays that are longer than what they are made of, and what neighbours make of each other. Calls
// record and check; nothing is computed, and nothing is stored that a kernel can read from where it is.
//
// Axes may be negative: counted from the last.
// Throws InvalidArgument, with the caller's file and line, where an axis is out of range or named twice, the result has
// more than 2^63 - 1 elements, or an array is undefined.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <utility>
#include <vector>

namespace tarry {
inline namespace v0 {

/// The elements that pad puts around an array of [1 2 3]: Constant: PadOptions::value; Edge: 1 1 [1 2 3] 3 3; Reflect:
/// 3 2 [1 2 3] 2 1; Symmetric: 2 1 [1 2 3] 3 2; Wrap: 2 3 [1 2 3] 1 2.
enum class Pad : std::uint8_t { Constant, Edge, Reflect, Symmetric, Wrap };

/// The elements that pad adds before and after each axis: one number, (before, after) for every axis, or a pair for
/// each axis.  Example: `ta::PadWidths{{1, 1}, {0, 2}}.pairs().size()` is `2`.
class PadWidths {
 public:
  template <detail::Integer T>
  PadWidths(T width) : PadWidths(std::int64_t{width}, std::int64_t{width}) {}  // NOLINT: conversion wanted
  PadWidths(std::int64_t before, std::int64_t after) : every_axis_(true), pairs_{{before, after}} {}
  PadWidths(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  PadWidths(std::vector<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(std::move(pairs)) {}  // NOLINT

  /// True: the only pair is that of every axis.
  [[nodiscard]] bool every_axis() const noexcept { return every_axis_; }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs() const noexcept { return pairs_; }

 private:
  bool every_axis_ = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;
};

// ---- Borders ----

/// x with elements around it.  Shapes: (m, n) -> (before + m + after, before + n + after).
/// Dtypes: any, kept; a value must fit it.
/// Throws InvalidArgument where a width is negative, there are neither one nor as many pairs as axes, or an axis
/// without elements is to be continued by its own. Example: `ta::pad(ta::array({1, 2, 3}), {1, 2}, ta::Pad::Reflect)`
/// is `[2 1 2 3 2 1]`.
[[nodiscard]] TARRY_EXPORT Array pad(const Array& x, const PadWidths& widths, Pad mode = Pad::Constant,
                                     Scalar value = 0, Where where = std::source_location::current());

// ---- Windows ----

/// Every window of `lengths` elements along the axes; `{}`: all axes. The windows' own axes come last.
/// Shapes: (m, n) -> (m, n - length + 1, length) for axis 1.  Dtypes: any, kept.
/// Throws InvalidArgument unless there is a length for each axis, between 1 and its extent.
/// Example: `ta::sliding_window_view(ta::array({1, 2, 3, 4}), 3, 0)` is `[[1 2 3] [2 3 4]]`.
[[nodiscard]] TARRY_EXPORT Array sliding_window_view(const Array& x, const Shape& lengths, const Axes& axes = {},
                                                     Where where = std::source_location::current());

/// Options of diff.
struct DiffOptions {
  int axis = -1;
  std::int64_t n = 1;                         ///< how often differences are taken
  Array prepend = Array(), append = Array();  ///< put before and after x first; a 0-d one is one element
};
/// Differences of neighbours along an axis: x(1) - x(0), x(2) - x(1), ...
/// Shapes: the axis is n shorter, at least 0.  Dtypes: numbers, promoted with what is put before and after; integers
/// wrap.  Throws InvalidArgument where x is 0-d, n is negative, for bool, or where `prepend` or `append` does not fit.
/// Example: `ta::diff(ta::array({1, 4, 9, 16}), {.n = 2})` is `[2 2]`.
[[nodiscard]] TARRY_EXPORT Array diff(const Array& x, const DiffOptions& options = {},
                                      Where where = std::source_location::current());

/// Options of gradient and trapezoid.
struct GradientOptions {
  int axis = -1;
  double spacing = 1;  ///< the distance of neighbours
};
/// Slopes of a curve along an axis: differences of both neighbours, at the ends of the one that is there.
/// Shapes: that of y.  Dtypes: floats, kept; integers give float64.
/// Throws InvalidArgument where y has fewer than two points along the axis, the axis is out of range, or for bool.
/// Example: `ta::gradient(ta::array({1.0, 4.0, 9.0}))` is `[3. 4. 5.]`.
[[nodiscard]] TARRY_EXPORT Array gradient(const Array& y, GradientOptions options = {},
                                          Where where = std::source_location::current());
/// Slopes of a curve whose points lie at x, exact for parabolas but at the ends.  Shapes: x is (n,), along the axis of
/// y, or has y's shape.  Dtypes: both are promoted.  Throws InvalidArgument as gradient does, and where x does not fit.
/// Example: `ta::gradient(ta::array({1.0, 4.0, 16.0}), ta::array({1.0, 2.0, 4.0}))` is `[3. 4. 6.]`.
[[nodiscard]] TARRY_EXPORT Array gradient(const Array& y, const Array& x, int axis = -1,
                                          Where where = std::source_location::current());
/// The area below a curve along an axis: sums of (y(i) + y(i + 1)) / 2 times the step.  Shapes: the axis is removed.
/// Dtypes: floats, kept; integers give float64.
/// Throws InvalidArgument where y has no point along the axis, the axis is out of range, or for bool.
/// Example: `ta::trapezoid(ta::array({1.0, 2.0, 3.0}))` is `4.`.
[[nodiscard]] TARRY_EXPORT Array trapezoid(const Array& y, GradientOptions options = {},
                                           Where where = std::source_location::current());
/// The area below a curve whose points lie at x.  Shapes: x is (n,), along the axis of y, or has y's shape.
/// Dtypes: both are promoted.  Throws InvalidArgument as trapezoid does, and where x does not fit.
/// Example: `ta::trapezoid(ta::array({1.0, 2.0, 3.0}), ta::array({0.0, 2.0, 4.0}))` is `8.`.
[[nodiscard]] TARRY_EXPORT Array trapezoid(const Array& y, const Array& x, int axis = -1,
                                           Where where = std::source_location::current());

/// The part of a convolution that is kept: all of it; as many elements as the longer array, from its middle; those for
/// which the arrays cover each other.
enum class Convolution : std::uint8_t { Full, Same, Valid };
/// Sums of a(i) * v(k - i).  Shapes: (m,) and (n,) -> (m + n - 1,); Same: (max(m, n),); Valid: (max - min + 1,).
/// Dtypes: numbers, promoted; the result has that dtype. float16 and bfloat16 sum in float32 and round once.
/// Throws InvalidArgument where an array has not one axis, or no elements, or for bool.  Algorithm: direct, each
/// element the sum of its products as `sum` computes it, in the order of the longer array; meant for a short v.
/// Example: `ta::convolve(ta::array({1, 2, 3}), ta::array({1, 10}))` is `[ 1 12 23 30]`.
[[nodiscard]] TARRY_EXPORT Array convolve(const Array& a, const Array& v, Convolution mode = Convolution::Full,
                                          Where where = std::source_location::current());
/// Sums of a(i + k) * v(i): convolve with v reversed.  Shapes, Dtypes: as convolve; NumPy's usual mode is Valid.
/// Throws InvalidArgument as convolve does.
/// Example: `ta::correlate(ta::array({1, 2, 3}), ta::array({1, 10}))` is `[10 21 32 3]`.
[[nodiscard]] TARRY_EXPORT Array correlate(const Array& a, const Array& v, Convolution mode = Convolution::Full,
                                           Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
