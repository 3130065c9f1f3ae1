// Views: other ways to index the same elements; nothing moves. Axes may be negative: counted from the last.
//
// Every function throws InvalidArgument, with the caller's file and line, where an axis is out of range or named twice, or
// an array is undefined.
#pragma once

#include <tarry/array.h>

#include <source_location>

namespace tarry {
inline namespace v0 {


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
/// The axes, each of extent 1, removed; `{}` removes all of extent 1.  Throws where an axis has another extent.
[[nodiscard]] TARRY_EXPORT Array squeeze(const Array& x, const Axes& axes,
                                         std::source_location where = std::source_location::current());
/// The order of elements along the axes reversed.
[[nodiscard]] TARRY_EXPORT Array flip(const Array& x, const Axes& axes = {},
                                      std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
