// Recurrences with names: tridiagonal systems, linear recurrences and filters. Each goes along an axis as scan does
// (tarry/loop.h), one thread a lane, and computes what makes its arguments on the way. Calls record and check; nothing
// is computed.
// Dtypes: the arguments' common floating one; float64 for integers and bool.
// Throws InvalidArgument, with the caller's file and line, where an axis is out of range, extents along it differ,
// shapes do not broadcast, or an array is undefined.
#pragma once

#include <tarry/array.h>

#include <initializer_list>
#include <source_location>
#include <span>

namespace tarry {
inline namespace v0 {

/// Options of functions that go along one axis.
struct AlongOptions {
  int axis = -1;
};

/// The solution x of a tridiagonal system for each lane: lower[k] x[k-1] + diagonal[k] x[k] + upper[k] x[k+1] =
/// right[k]. lower[0] and upper[n-1] are not read.
/// Shapes: all have the axis, and broadcast.
/// Algorithm: elimination without pivoting (L. H. Thomas, 1949): stable for systems that are diagonally dominant or
/// positive definite; division by a pivot of 0 gives inf or NaN.
/// Example: `ta::tridiagonal_solve(ta::array({0.0, 1.0}), ta::array({2.0, 3.0}), ta::array({1.0, 0.0}), ta::array({5.0,
/// 10.0}))` is `[1. 3.]`.
[[nodiscard]] TARRY_EXPORT Array tridiagonal_solve(const Array& lower, const Array& diagonal, const Array& upper,
                                                   const Array& right, AlongOptions options = {},
                                                   Where where = std::source_location::current());

/// The same with two diagonals on each side: lower2[k] x[k-2] + lower[k] x[k-1] + diagonal[k] x[k] + upper[k] x[k+1] +
/// upper2[k] x[k+2] = right[k]. What would lie outside of the matrix is not read.
/// Shapes: all have the axis, and broadcast.
/// Algorithm: elimination without pivoting (S. S. Askar, A. A. Karawia, Mathematical Problems in Engineering, 2015,
/// 232456), with the conditions of tridiagonal_solve.
/// Example: `ta::pentadiagonal_solve(ta::zeros({3}), ta::zeros({3}), ta::full({3}, 2.0), ta::zeros({3}),
/// ta::array({1.0, 0.0, 0.0}), ta::array({5.0, 4.0, 2.0}))` is `[2. 2. 1.]`.
[[nodiscard]] TARRY_EXPORT Array pentadiagonal_solve(const Array& lower2, const Array& lower, const Array& diagonal,
                                                     const Array& upper, const Array& upper2, const Array& right,
                                                     AlongOptions options = {},
                                                     Where where = std::source_location::current());

/// Options of linear_recurrence.
struct RecurrenceOptions {
  int axis = -1;
  bool reverse = false;  ///< from the last element to the first
  Array initial = {};    ///< the value before the first element; undefined: 0
};
/// x[k] = a[k] x[k-1] + b[k] along an axis.
/// Shapes: a and b have the axis, and broadcast; initial has the other axes.
/// Example: `ta::linear_recurrence(ta::array({0.5, 0.5, 2.0}), ta::array({1.0, 1.0, 1.0}))` is `[1. 1.5 4. ]`.
[[nodiscard]] TARRY_EXPORT Array linear_recurrence(const Array& a, const Array& b,
                                                   const RecurrenceOptions& options = {},
                                                   Where where = std::source_location::current());

/// The exponentially weighted mean along an axis: y[0] = x[0], y[k] = y[k-1] + alpha (x[k] - y[k-1]).
/// Shapes: that of x.  Throws InvalidArgument where alpha is not within 0 and 1.
/// Example: `ta::ewma(ta::array({1.0, 3.0, 5.0}), 0.5)` is `[1. 2. 3.5]`.
[[nodiscard]] TARRY_EXPORT Array ewma(const Array& x, double alpha, AlongOptions options = {},
                                      Where where = std::source_location::current());

/// x through the digital filter with the transfer function (b[0] + b[1] z^-1 + ...) / (a[0] + a[1] z^-1 + ...): a[0]
/// y[k] = b[0] x[k] + b[1] x[k-1] + ... - a[1] y[k-1] - ..., from rest.
/// Shapes: that of x.  Algorithm: direct form II transposed (Oppenheim, Schafer, Discrete-Time Signal Processing, 6.3).
/// Throws InvalidArgument where b or a is empty, or a[0] is 0.
/// Example: `ta::lfilter(std::vector{0.5, 0.5}, std::vector{1.0}, ta::array({2.0, 4.0, 8.0}))` is `[1. 3. 6.]`.
[[nodiscard]] TARRY_EXPORT Array lfilter(std::span<const double> b, std::span<const double> a, const Array& x,
                                         AlongOptions options = {}, Where where = std::source_location::current());
/// The same, of lists of numbers.  Shapes, Dtypes: as above.  Throws InvalidArgument as above.
/// Example: `ta::lfilter({1.0}, {1.0, -1.0}, ta::array({2.0, 4.0, 8.0}))` is `[ 2. 6. 14.]`.
[[nodiscard]] inline Array lfilter(std::initializer_list<double> b, std::initializer_list<double> a, const Array& x,
                                   AlongOptions options = {}, Where where = std::source_location::current()) {
  return lfilter(std::span(b.begin(), b.size()), std::span(a.begin(), a.size()), x, options, where);
}

}  // namespace v0
}  // namespace tarry
