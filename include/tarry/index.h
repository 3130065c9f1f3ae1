// Indexing by arrays: elements at places that are computed, by their names in the Python array API standard (2024.12)
// and in NumPy. x(indices), x(mask) and set, add and the like with arrays stand in array.h. Calls record and check
// shapes and dtypes; an index is looked at when it is used.
//
// An index counts from the start of its axis, a negative one from its end. The indices may be computed by the same
// kernel that reads with them, and what is cheap is computed at the place where it is read.
// Out of range: nothing is read out of bounds. Evaluating succeeds; whoever reads an array that depends on such an
// index gets InvalidArgument, which names the function, the index, its place among the indices, the axis, its extent
// and the line of the call. Indices whose elements nobody needs are looked at or not. What does not fit in memory is
// worked off in parts, and evaluate() itself may throw then, without the location. Dtypes: x's is kept; indices are
// integers. Throws InvalidArgument, with the caller's file and line, where indices are no integers, an axis is out of
// range, something is taken from an axis without elements, or an array is undefined.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

namespace tarry {
inline namespace v0 {

/// The meaning of an index that is out of range: an error; the remainder by the extent; the first or the last element,
/// and then negative indices are out of range too.
enum class Bounds : std::uint8_t { Error, Wrap, Clip };

/// The elements of x at `indices` along an axis. Without an axis of the flattened x.
/// Shapes: x's, with the shape of the indices in place of the axis.
/// Example: `ta::take(ta::array({10, 20, 30}), ta::array({2, 0, -1}))` is `[30 10 30]`.
[[nodiscard]] TARRY_EXPORT Array take(const Array& x, const Array& indices, std::optional<int> axis = {},
                                      Bounds bounds = Bounds::Error, Where where = std::source_location::current());
/// Element p of the result is the element of x at indices[p] along the axis, and at p along the others: what argsort
/// and argmax give picks the elements that it is about.
/// Shapes: that of the indices, which has as many axes as x; the two broadcast but for the axis.
/// Throws InvalidArgument where they do not.
/// Example: `ta::take_along_axis(ta::array({{1, 2}, {3, 4}}), ta::array({{1}, {0}}))` is `[[2] [3]]`.
[[nodiscard]] TARRY_EXPORT Array take_along_axis(const Array& x, const Array& indices, int axis = -1,
                                                 Bounds bounds = Bounds::Error,
                                                 Where where = std::source_location::current());

// ---- Writing ----
// Where indices name an element several times, numerics.md says what it becomes: the last value in row-major order of
// the indices, or all of them joined. Elements without an index stay as they are.

/// The effect of a value on the element that it is put to.
enum class Put : std::uint8_t { Set, Add, Multiply, Minimum, Maximum };
/// Options of put and put_along_axis.
struct PutOptions {
  Put how = Put::Set;
  Bounds bounds = Bounds::Error;
};

/// x with values at `indices` of the flattened x.
/// Shapes: that of x; values broadcast to that of the indices.
/// Throws InvalidArgument where they do not, or do not fit x's dtype.
/// Example: `ta::put(ta::zeros({4}), ta::array({1, -1}), 5)` is `[0. 5. 0. 5.]`.
[[nodiscard]] TARRY_EXPORT Array put(const Array& x, const Array& indices, const Operand& values,
                                     PutOptions options = {}, Where where = std::source_location::current());
/// x with value p at indices[p] along the axis, and at p along the others.
/// Shapes: that of x; indices have as many axes as x, and the two broadcast but for the axis; values broadcast to that.
/// Throws InvalidArgument where they do not, or values do not fit x's dtype.
/// Example: `ta::put_along_axis(ta::array({{1, 2}, {3, 4}}), ta::array({{1}, {0}}), 9)` is `[[1 9] [9 4]]`.
[[nodiscard]] TARRY_EXPORT Array put_along_axis(const Array& x, const Array& indices, const Operand& values,
                                                int axis = -1, PutOptions options = {},
                                                Where where = std::source_location::current());

// ---- Masks ----
// The number of true elements is a shape, so these calls evaluate their operands and wait for it. What is recorded from
// their results is lazy as ever. What is not 0 counts as true, NaN too.

/// The coordinates of the elements that are true, in row-major order: an int64 array for each axis of x.
/// Shapes: (true elements).  Throws InvalidArgument for a 0-d array, and what evaluate() throws.
/// Example: `ta::nonzero(ta::array({3, 0, 5}))[0]` is `[0 2]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> nonzero(const Array& x, Where where = std::source_location::current());
/// nonzero(condition).  Shapes: (true elements).  Throws as nonzero.
/// Example: `ta::where(ta::array({1, 2, 3}) > 1)[0]` is `[1 2]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> where(const Array& condition,
                                                    Where where = std::source_location::current());
/// The coordinates of the elements that are true, one row each.  Shapes: (true elements, axes of x).
/// Throws what evaluate() throws.
/// Example: `ta::argwhere(ta::array({{0, 1}, {1, 0}}))` is `[[0 1] [1 0]]`.
[[nodiscard]] TARRY_EXPORT Array argwhere(const Array& x, Where where = std::source_location::current());
/// The places of the elements that are true in the flattened x. Shapes: (true elements). Throws what evaluate() throws.
/// Example: `ta::flatnonzero(ta::array({{0, 1}, {1, 0}}))` is `[1 2]`.
[[nodiscard]] TARRY_EXPORT Array flatnonzero(const Array& x, Where where = std::source_location::current());
/// The parts of x along an axis, without one the elements of the flattened x, where `condition` is true.
/// Shapes: condition is 1-d and no longer than the axis.
/// Throws InvalidArgument where it is not, and what evaluate() throws.
/// Example: `ta::compress(ta::array({true, false, true}), ta::array({1, 2, 3}))` is `[1 3]`.
[[nodiscard]] TARRY_EXPORT Array compress(const Array& condition, const Array& x, std::optional<int> axis = {},
                                          Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
