// Views: other ways to index the same elements, where nothing moves; and joining and updating, where the parts are
// computed straight into the whole. x(...) and slice() stand in array.h and slice.h.
//
// Axes may be negative: counted from the last. Every function throws InvalidArgument, with the caller's file and line,
// where an axis is out of range or named twice, or an array is undefined.
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

// ---- Views. ----

/// x repeated along new leading axes and axes of extent 1, up to `shape`.
[[nodiscard]] TARRY_EXPORT Array broadcast_to(const Array& x, const Shape& shape,
                                              std::source_location where = std::source_location::current());
/// Axis d of the result is axis axes[d] of x.  Throws unless `axes` names every axis of x once.
[[nodiscard]] TARRY_EXPORT Array permute_dims(const Array& x, const Axes& axes,
                                              std::source_location where = std::source_location::current());
/// The last two axes exchanged.  Shapes: (..., m, n) -> (..., n, m); at least 2-d.
[[nodiscard]] TARRY_EXPORT Array matrix_transpose(const Array& x,
                                                  std::source_location where = std::source_location::current());
/// A new axis of extent 1 at position `axis` of the result.
[[nodiscard]] TARRY_EXPORT Array expand_dims(const Array& x, int axis = 0,
                                             std::source_location where = std::source_location::current());
/// The axes, each of extent 1, removed; `{}` removes all of extent 1, a list without an element none.  Throws where an
/// axis has another extent.
[[nodiscard]] TARRY_EXPORT Array squeeze(const Array& x, const Axes& axes,
                                         std::source_location where = std::source_location::current());
/// The order of elements along the axes reversed; `{}`: along all.
[[nodiscard]] TARRY_EXPORT Array flip(const Array& x, const Axes& axes = {},
                                      std::source_location where = std::source_location::current());
/// Axis source[i] of x becomes axis destination[i] of the result; the others keep their order.
/// Throws unless both name as many axes.
[[nodiscard]] TARRY_EXPORT Array moveaxis(const Array& x, const Axes& source, const Axes& destination,
                                          std::source_location where = std::source_location::current());
/// The elements of x, in row-major order, under another shape. One extent may be -1: what is left.
/// Throws where the numbers of elements differ.
[[nodiscard]] TARRY_EXPORT Array reshape(const Array& x, const Shape& shape,
                                         std::source_location where = std::source_location::current());
/// The parts of x along an axis, without that axis.
[[nodiscard]] TARRY_EXPORT std::vector<Array> unstack(const Array& x, int axis = 0,
                                                      std::source_location where = std::source_location::current());
/// Each element `repeats` times in a row along the axis; without an axis, of the flattened x.
/// Throws where repeats is negative.
[[nodiscard]] TARRY_EXPORT Array repeat(const Array& x, std::int64_t repeats, std::optional<int> axis = {},
                                        std::source_location where = std::source_location::current());
/// x as often as `repetitions` says along each axis; the shorter of x's shape and `repetitions` is filled up with ones
/// in front.  Throws where one is negative.
[[nodiscard]] TARRY_EXPORT Array tile(const Array& x, const Shape& repetitions,
                                      std::source_location where = std::source_location::current());

// ---- Joining. ----

/// The arrays one after the other along an axis; without an axis (`none`), their elements as one 1-d array.
/// Shapes: equal but for that axis.  Dtypes: promoted, also bool with bool.
/// Throws where there is no array, a 0-d one has to have an axis, shapes differ or dtypes do not promote.
[[nodiscard]] TARRY_EXPORT Array concat(std::span<const Array> arrays, std::optional<int> axis = 0,
                                        std::source_location where = std::source_location::current());
[[nodiscard]] inline Array concat(std::initializer_list<Array> arrays, std::optional<int> axis = 0,
                                  std::source_location where = std::source_location::current()) {
  return concat(std::span<const Array>(arrays.begin(), arrays.size()), axis, where);
}
/// The arrays, all of one shape, along a new axis at position `axis` of the result.  Dtypes: promoted.
[[nodiscard]] TARRY_EXPORT Array stack(std::span<const Array> arrays, int axis = 0,
                                       std::source_location where = std::source_location::current());
[[nodiscard]] inline Array stack(std::initializer_list<Array> arrays, int axis = 0,
                                 std::source_location where = std::source_location::current()) {
  return stack(std::span<const Array>(arrays.begin(), arrays.size()), axis, where);
}
/// Elements moved forward by `shift` along each of the axes, those at the end coming in at the front; `{}`: along
/// the flattened x.
[[nodiscard]] TARRY_EXPORT Array roll(const Array& x, std::int64_t shift, const Axes& axes = {},
                                      std::source_location where = std::source_location::current());
/// By shifts[i] along axes[i].  Throws unless there are as many of both.
[[nodiscard]] TARRY_EXPORT Array roll(const Array& x, std::initializer_list<std::int64_t> shifts, const Axes& axes,
                                      std::source_location where = std::source_location::current());

// ---- Updating without rebinding a handle; see Array::set and Array::add. ----

/// x with the elements of v in x(box...).
[[nodiscard]] TARRY_EXPORT Array with_set(const Array& x, std::initializer_list<Index> box, const Operand& v);
/// x with the elements of v where `mask` is true.
[[nodiscard]] TARRY_EXPORT Array with_set(const Array& x, const Array& mask, const Operand& v);
/// x with v added to x(box...).
[[nodiscard]] TARRY_EXPORT Array with_add(const Array& x, std::initializer_list<Index> box, const Operand& v);

/// x on another device: the same values, placed there. Nothing is copied before an evaluate needs it, and then once;
/// where x is lazy and placed on yet another device, it is evaluated there first. A device that is not there is found
/// by evaluating or reading. On the device of an array that was never placed x is as free as that: it meets arrays of
/// any device, and its values stay where they are. Shapes, Dtypes: those of x.
[[nodiscard]] TARRY_EXPORT Array to_device(const Array& x, Device device,
                                           std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
