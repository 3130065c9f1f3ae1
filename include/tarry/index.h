// Indexing by arrays: elements at places that are computed, by their names in the Python array API standard (2024.12).
// x(indices) stands in array.h. Calls record and check shapes and dtypes; an index is looked at when it is used.
//
// An index counts from the start of its axis, a negative one from its end. The indices may be computed by the same
// kernel that reads with them, and what is cheap is computed at the place where it is read.
// Out of range: nothing is read out of bounds. Evaluating succeeds; whoever reads an array that depends on such an
// index gets InvalidArgument, which names the function, the index, its place among the indices, the axis, its extent
// and the line of the call. Indices whose elements nobody needs are looked at or not. What does not fit in memory is
// worked off in parts, and evaluate() itself may throw then, without the place. Dtypes: x's is kept; indices are
// integers. Throws InvalidArgument, with the caller's file and line, where indices are no integers, an axis is out of
// range, something is taken from an axis without elements, or an array is undefined.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {

/// The meaning of an index that is out of range: an error; the remainder by the extent; the first or the last element,
/// and then negative indices are out of range too.
enum class Bounds : std::uint8_t { Error, Wrap, Clip };

/// The elements of x at `indices` along an axis. Without an axis of the flattened x.
/// Shapes: x's, with the shape of the indices in place of the axis.
/// Example: `ta::take(ta::array({10, 20, 30}), ta::array({2, 0, -1}))` is `[30 10 30]`.
[[nodiscard]] TARRY_EXPORT Array take(const Array& x, const Array& indices, std::optional<int> axis = {},
                                      Bounds bounds = Bounds::Error,
                                      std::source_location where = std::source_location::current());
/// Element p of the result is the element of x at indices[p] along the axis, and at p along the others: what argsort
/// and argmax give picks the elements that it is about.
/// Shapes: that of the indices, which has as many axes as x; the two broadcast but for the axis.
/// Throws InvalidArgument where they do not.
/// Example: `ta::take_along_axis(ta::array({{1, 2}, {3, 4}}), ta::array({{1}, {0}}))` is `[[2] [3]]`.
[[nodiscard]] TARRY_EXPORT Array take_along_axis(const Array& x, const Array& indices, int axis = -1,
                                                 Bounds bounds = Bounds::Error,
                                                 std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
