// Views: other ways to index the same elements, where nothing moves; and joining and updating, where the parts are
// computed straight into the whole. x(...) and slice() stand in array.h and slice.h.
//
// Axes may be negative: counted from the last.
// Dtypes: any, kept.
// Throws InvalidArgument, with the caller's file and line, where an axis is out of range or named twice, or an array is
// undefined.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

namespace tarry {
inline namespace v0 {

// ---- Views ----

/// x repeated along new leading axes and axes of extent 1, up to `shape`.  Shapes: `shape`.
/// Throws InvalidArgument where the shape of x does not broadcast to it.
/// Example: `ta::broadcast_to(ta::array({1, 2}), {2, 2})` is `[[1 2] [1 2]]`.
[[nodiscard]] TARRY_EXPORT Array broadcast_to(const Array& x, const Shape& shape,
                                              Where where = std::source_location::current());
/// The arrays in the shape to which they broadcast.  Shapes: any that broadcast.
/// Throws InvalidArgument where there is no array or they do not.
/// Example: `ta::broadcast_arrays({ta::array({1, 2}), ta::array({{3}, {4}})})[1]` is `[[3 3] [4 4]]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> broadcast_arrays(std::span<const Array> arrays,
                                                               Where where = std::source_location::current());
[[nodiscard]] inline std::vector<Array> broadcast_arrays(std::initializer_list<Array> arrays,
                                                         Where where = std::source_location::current()) {
  return broadcast_arrays(std::span<const Array>(arrays.begin(), arrays.size()), where);
}
/// Axis d of the result is axis axes[d] of x.  Shapes: (n0, n1, ...) -> (n[axes[0]], n[axes[1]], ...).
/// Throws InvalidArgument unless `axes` names every axis of x once.
/// Example: `ta::permute_dims(ta::zeros({2, 3, 4}), {2, 0, 1}).shape()` is `(4, 2, 3)`.
[[nodiscard]] TARRY_EXPORT Array permute_dims(const Array& x, const Axes& axes,
                                              Where where = std::source_location::current());
/// The last two axes exchanged.  Shapes: (..., m, n) -> (..., n, m).  Throws InvalidArgument where x has fewer than
/// two. Example: `ta::matrix_transpose(ta::array({{1, 2}, {3, 4}}))` is `[[1 3] [2 4]]`.
[[nodiscard]] TARRY_EXPORT Array matrix_transpose(const Array& x, Where where = std::source_location::current());
/// A new axis of extent 1 at position `axis` of the result.  Shapes: (m, n) -> (1, m, n) for axis 0.
/// Example: `ta::expand_dims(ta::zeros({2, 3}), 1).shape()` is `(2, 1, 3)`.
[[nodiscard]] TARRY_EXPORT Array expand_dims(const Array& x, int axis = 0,
                                             Where where = std::source_location::current());
/// The axes, each of extent 1, removed; `{}` removes all of extent 1, a list without an element none.
/// Shapes: (m, 1, n) -> (m, n).  Throws InvalidArgument where an axis has another extent or is out of range.
/// Example: `ta::squeeze(ta::zeros({2, 1, 3}), 1).shape()` is `(2, 3)`.
[[nodiscard]] TARRY_EXPORT Array squeeze(const Array& x, const Axes& axes,
                                         Where where = std::source_location::current());
/// The order of elements along the axes reversed; `{}`: along all.  Shapes: that of x.
/// Example: `ta::flip(ta::array({1, 2, 3}))` is `[3 2 1]`.
[[nodiscard]] TARRY_EXPORT Array flip(const Array& x, const Axes& axes = {},
                                      Where where = std::source_location::current());
/// Axis source[i] of x becomes axis destination[i] of the result; the others keep their order.
/// Shapes: those of x, permuted.  Throws InvalidArgument unless both name as many axes, each once.
/// Example: `ta::moveaxis(ta::zeros({2, 3, 4}), 0, -1).shape()` is `(3, 4, 2)`.
[[nodiscard]] TARRY_EXPORT Array moveaxis(const Array& x, const Axes& source, const Axes& destination,
                                          Where where = std::source_location::current());
/// The elements of x, in row-major order, under another shape.
/// Shapes: `shape`, in which one extent may be -1: the extent that is left.
/// Throws InvalidArgument where the numbers of elements differ.
/// Example: `ta::reshape(ta::arange(6), {2, -1})` is `[[0 1 2] [3 4 5]]`.
[[nodiscard]] TARRY_EXPORT Array reshape(const Array& x, const Shape& shape,
                                         Where where = std::source_location::current());
/// The parts of x along an axis.  Shapes: (m, n) -> m arrays (n,) for axis 0.
/// Throws InvalidArgument for a 0-d x and for an axis that is out of range.
/// Example: `ta::unstack(ta::array({{1, 2}, {3, 4}}))[1]` is `[3 4]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> unstack(const Array& x, int axis = 0,
                                                      Where where = std::source_location::current());
/// Each element `repeats` times in a row along the axis; without an axis, of the flattened x.
/// Shapes: (m, n) -> (m * repeats, n) for axis 0.  Throws InvalidArgument where repeats is negative or the axis out of
/// range.
/// Example: `ta::repeat(ta::array({1, 2}), 2)` is `[1 1 2 2]`.
[[nodiscard]] TARRY_EXPORT Array repeat(const Array& x, std::int64_t repeats, std::optional<int> axis = {},
                                        Where where = std::source_location::current());
/// x as often as `repetitions` says along each axis.
/// Shapes: (m, n) -> (m * repetitions[0], n * repetitions[1]); the shorter of x's shape and `repetitions` is filled up
/// with ones in front.  Throws InvalidArgument where a repetition is negative.
/// Example: `ta::tile(ta::array({1, 2}), 2)` is `[1 2 1 2]`.
[[nodiscard]] TARRY_EXPORT Array tile(const Array& x, const Shape& repetitions,
                                      Where where = std::source_location::current());

// ---- Joining ----

/// The arrays one after the other along an axis; without an axis (`none`), their elements as one 1-d array.
/// Shapes: equal but for that axis.  Dtypes: promoted, also bool with bool.
/// Throws InvalidArgument where there is no array, a 0-d one has to have an axis, shapes differ or dtypes do not
/// promote. Example: `ta::concat({ta::array({1, 2}), ta::array({3})})` is `[1 2 3]`.
[[nodiscard]] TARRY_EXPORT Array concat(std::span<const Array> arrays, std::optional<int> axis = 0,
                                        Where where = std::source_location::current());
[[nodiscard]] inline Array concat(std::initializer_list<Array> arrays, std::optional<int> axis = 0,
                                  Where where = std::source_location::current()) {
  return concat(std::span<const Array>(arrays.begin(), arrays.size()), axis, where);
}
/// The arrays along a new axis at position `axis` of the result.
/// Shapes: all equal; k arrays (m, n) -> (k, m, n) for axis 0.  Dtypes: promoted.
/// Throws InvalidArgument where there is no array, shapes differ or dtypes do not promote.
/// Example: `ta::stack({ta::array({1, 2}), ta::array({3, 4})})` is `[[1 2] [3 4]]`.
[[nodiscard]] TARRY_EXPORT Array stack(std::span<const Array> arrays, int axis = 0,
                                       Where where = std::source_location::current());
[[nodiscard]] inline Array stack(std::initializer_list<Array> arrays, int axis = 0,
                                 Where where = std::source_location::current()) {
  return stack(std::span<const Array>(arrays.begin(), arrays.size()), axis, where);
}
/// Elements moved forward by `shift` along each of the axes, those at the end coming in at the front; `{}`: along
/// the flattened x.  Shapes: that of x.
/// Example: `ta::roll(ta::array({1, 2, 3}), 1)` is `[3 1 2]`.
[[nodiscard]] TARRY_EXPORT Array roll(const Array& x, std::int64_t shift, const Axes& axes = {},
                                      Where where = std::source_location::current());
/// Elements moved forward by shifts[i] along axes[i].  Shapes: that of x.
/// Throws InvalidArgument unless there are as many shifts as axes.
/// Example: `ta::roll(ta::array({{1, 2}, {3, 4}}), {1, 1}, {0, 1})` is `[[4 3] [2 1]]`.
[[nodiscard]] TARRY_EXPORT Array roll(const Array& x, std::initializer_list<std::int64_t> shifts, const Axes& axes,
                                      Where where = std::source_location::current());

// ---- Updating ----
// Array::set, add, multiply, minimum and maximum without rebinding a handle.
// Shapes: that of x; v broadcasts to x(box...).  Dtypes: x's is kept; a number must fit it, an array must promote to
// it. Throws InvalidArgument as x(box...) does, and for a v of another shape or dtype.

/// x with the elements of v in x(box...).
/// Example: `ta::with_set(ta::array({1, 2, 3}), {0}, 9)` is `[9 2 3]`.
[[nodiscard]] TARRY_EXPORT Array with_set(const Array& x, std::initializer_list<Index> box, const Operand& v);
/// x with the elements of v where the mask `which` is true, or at the indices `which`: as Array::set.
/// Example: `ta::with_set(ta::arange(3), ta::arange(3) > 1, 9)` is `[0 1 9]`.
[[nodiscard]] TARRY_EXPORT Array with_set(const Array& x, const Array& which, const Operand& v);
/// x with v added to x(box...).
/// Example: `ta::with_add(ta::array({1, 2, 3}), {ta::slice(1, 3)}, 10)` is `[ 1 12 13]`.
[[nodiscard]] TARRY_EXPORT Array with_add(const Array& x, std::initializer_list<Index> box, const Operand& v);
/// x with v added where the mask `which` is true, or at the indices `which`: as Array::add.
/// Example: `ta::with_add(ta::zeros({3}), ta::array({2, 0, 2}), 1)` is `[1. 0. 2.]`.
[[nodiscard]] TARRY_EXPORT Array with_add(const Array& x, const Array& which, const Operand& v);
/// x with x(box...) multiplied by v.
/// Example: `ta::with_multiply(ta::array({1, 2, 3}), {ta::slice(1, 3)}, 10)` is `[ 1 20 30]`.
[[nodiscard]] TARRY_EXPORT Array with_multiply(const Array& x, std::initializer_list<Index> box, const Operand& v);
/// The same where the mask `which` is true, or at the indices `which`: as Array::multiply.
/// Example: `ta::with_multiply(ta::array({3, 3}), ta::array({1, 1}), 2)` is `[ 3 12]`.
[[nodiscard]] TARRY_EXPORT Array with_multiply(const Array& x, const Array& which, const Operand& v);
/// x with the smaller of x(box...) and v.
/// Example: `ta::with_minimum(ta::array({1, 2, 3}), {ta::slice(1, 3)}, 2)` is `[1 2 2]`.
[[nodiscard]] TARRY_EXPORT Array with_minimum(const Array& x, std::initializer_list<Index> box, const Operand& v);
/// The same where the mask `which` is true, or at the indices `which`: as Array::minimum.
/// Example: `ta::with_minimum(ta::array({3, 3}), ta::array({1, 1}), 2)` is `[3 2]`.
[[nodiscard]] TARRY_EXPORT Array with_minimum(const Array& x, const Array& which, const Operand& v);
/// x with the larger of x(box...) and v.
/// Example: `ta::with_maximum(ta::array({1, 2, 3}), {ta::slice(0, 2)}, 2)` is `[2 2 3]`.
[[nodiscard]] TARRY_EXPORT Array with_maximum(const Array& x, std::initializer_list<Index> box, const Operand& v);
/// The same where the mask `which` is true, or at the indices `which`: as Array::maximum.
/// Example: `ta::with_maximum(ta::array({3, 3}), ta::array({1, 1}), 2)` is `[3 3]`.
[[nodiscard]] TARRY_EXPORT Array with_maximum(const Array& x, const Array& which, const Operand& v);

// ---- Placement ----

/// x on another device: the same values, placed there. Nothing is copied before an evaluate needs it, and then once;
/// where x is lazy and placed on yet another device, it is evaluated there first. A device that is not there is found
/// by evaluating or reading. On the device of an array that was never placed x is as free as that: it meets arrays of
/// any device, and its values stay where they are. Shapes, Dtypes: those of x. Throws InvalidArgument for an undefined
/// x. Example: `ta::to_device(ta::array({1, 2}), ta::cpu).device()` is `cpu`.
[[nodiscard]] TARRY_EXPORT Array to_device(const Array& x, Device device,
                                           Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
