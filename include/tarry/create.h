// Making arrays: from the user's memory, and from a rule.
#pragma once

#include <tarry/array.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tarry {
inline namespace v0 {

namespace detail {
/// Copies `count` elements row-major into a new array of `shape`.
[[nodiscard]] TARRY_EXPORT Array copy_in(const void* data, Dtype dtype, std::size_t count, const Shape& shape,
                                         Where where);
[[nodiscard]] TARRY_EXPORT Array copy_in(const std::vector<bool>& values, const Shape& shape, Where where);
/// As many elements as the shape has.
[[nodiscard]] TARRY_EXPORT Array copy_in(const void* data, Dtype dtype, const Shape& shape, Where where);
/// Strides in elements; null for row-major.
[[nodiscard]] TARRY_EXPORT Array borrow(const void* data, Dtype dtype, const Shape& shape,
                                        const std::vector<std::int64_t>* strides, Where where);
[[noreturn]] TARRY_EXPORT void throw_ragged(std::size_t expected, std::size_t found, Where where);

/// A type with the members of std::mdspan, and with a layout that has strides.
template <class M>
concept Mdspan = requires(const M& m) {
  typename M::value_type;
  requires M::is_always_strided();
  { m.rank() } -> std::convertible_to<std::size_t>;
  { m.extent(0) } -> std::convertible_to<std::int64_t>;
  { m.stride(0) } -> std::convertible_to<std::int64_t>;
  { m.accessor().access(m.data_handle(), 0) } -> std::convertible_to<typename M::value_type>;
};
}  // namespace detail

// ---- From memory ----
// All but borrow() copy the elements at the call.
// Dtypes: that of the C++ elements, int being int32 and double float64; T without a dtype does not compile.

/// An array of the given elements.
/// Shapes: (n,), or `shape`, whose product must be n.
/// Throws InvalidArgument where the product of `shape` is not the number of elements.
/// Example: `std::array a{1, 2, 3, 4}; ta::Array x = ta::asarray(std::span(a), {2, 2})`.
template <class T, std::size_t N>
[[nodiscard]] Array asarray(std::span<T, N> values, const Shape& shape, Where where = std::source_location::current()) {
  return detail::copy_in(values.data(), dtype_of<std::remove_cv_t<T>>, values.size(), shape, where);
}
template <class T, std::size_t N>
[[nodiscard]] Array asarray(std::span<T, N> values, Where where = std::source_location::current()) {
  return detail::copy_in(values.data(), dtype_of<std::remove_cv_t<T>>, values.size(), Shape(values.size()), where);
}
/// The elements that begin at `data`, as many as `shape` has, row-major.  Shapes: `shape`.
/// Throws InvalidArgument where data is null and the shape has elements.
/// Example: `ta::asarray(std::array{1, 2}.data(), {2})` is `[1 2]`.
template <class T>
[[nodiscard]] Array asarray(const T* data, const Shape& shape, Where where = std::source_location::current()) {
  return detail::copy_in(data, dtype_of<T>, shape, where);
}
/// The elements of a vector or a std::array.  Shapes: (n,), or `shape`, whose product must be n.
/// Throws InvalidArgument where the product of `shape` is not the number of elements.
/// Example: `ta::asarray(std::vector{1.5, 2.0})` is `[1.5 2. ]`.
template <class T>
[[nodiscard]] Array asarray(const std::vector<T>& values, Where where = std::source_location::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    return detail::copy_in(values, Shape(values.size()), where);
  } else {
    return detail::copy_in(values.data(), dtype_of<T>, values.size(), Shape(values.size()), where);
  }
}
template <class T>
[[nodiscard]] Array asarray(const std::vector<T>& values, const Shape& shape,
                            Where where = std::source_location::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    return detail::copy_in(values, shape, where);
  } else {
    return detail::copy_in(values.data(), dtype_of<T>, values.size(), shape, where);
  }
}
template <class T, std::size_t N>
[[nodiscard]] Array asarray(const std::array<T, N>& values, Where where = std::source_location::current()) {
  return detail::copy_in(values.data(), dtype_of<T>, N, Shape(N), where);
}
template <class T, std::size_t N>
[[nodiscard]] Array asarray(const std::array<T, N>& values, const Shape& shape,
                            Where where = std::source_location::current()) {
  return detail::copy_in(values.data(), dtype_of<T>, N, shape, where);
}
/// The elements of a std::mdspan, or of a type with its members.  Shapes: its extents.
/// Throws InvalidArgument for more than 16 dimensions.
/// Example: `auto copy = [](const auto& mdspan) { return ta::asarray(mdspan); }`.
template <detail::Mdspan M>
[[nodiscard]] Array asarray(const M& values, Where where = std::source_location::current()) {
  std::vector<std::int64_t> extents, at(values.rank());
  std::int64_t count = 1, offset = 0;
  for (std::size_t d = 0; d < values.rank(); ++d)
    count *= extents.emplace_back(static_cast<std::int64_t>(values.extent(d)));
  std::vector<typename M::value_type> flat;
  for (flat.reserve(static_cast<std::size_t>(count)); count > 0; --count) {
    flat.push_back(values.accessor().access(values.data_handle(), static_cast<std::size_t>(offset)));
    for (std::size_t d = values.rank(); d-- > 0;) {  // the next index in row-major order
      offset += static_cast<std::int64_t>(values.stride(d));
      if (++at[d] < extents[d]) break;
      offset -= extents[d] * static_cast<std::int64_t>(values.stride(d));
      at[d] = 0;
    }
  }
  return asarray(flat, Shape(std::move(extents)), where);
}
/// A 0-d array of the value's own dtype.  Shapes: ().  Throws OutOfMemory alone.
/// Example: `ta::asarray(2.5F)` is `2.5`.
template <detail::Number T>
[[nodiscard]] Array asarray(T value, Where where = std::source_location::current()) {
  return Array(value, where);
}

/// An array written out, one, two or three levels deep.
/// Shapes: (n,), (rows, columns) or (blocks, rows, columns).
/// Throws InvalidArgument where rows differ in length.
/// Example: `ta::array({{1, 2}, {3, 4}})` is `[[1 2] [3 4]]`.
template <detail::Number T>
[[nodiscard]] Array array(std::initializer_list<T> values, Where where = std::source_location::current()) {
  return detail::copy_in(values.begin(), dtype_of<T>, values.size(), Shape(values.size()), where);
}
template <detail::Number T>
[[nodiscard]] Array array(std::initializer_list<std::initializer_list<T>> rows,
                          Where where = std::source_location::current()) {
  const std::size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
  std::vector<T> flat;
  if constexpr (std::is_same_v<T, bool>) flat.reserve(rows.size() * width);
  for (const auto& row : rows) {
    if (row.size() != width) detail::throw_ragged(width, row.size(), where);
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return asarray(flat, Shape(rows.size(), width), where);
}
template <detail::Number T>
[[nodiscard]] Array array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks,
                          Where where = std::source_location::current()) {
  const std::size_t height = blocks.size() == 0 ? 0 : blocks.begin()->size();
  const std::size_t width = height == 0 ? 0 : blocks.begin()->begin()->size();
  std::vector<T> flat;
  for (const auto& rows : blocks) {
    if (rows.size() != height) detail::throw_ragged(height, rows.size(), where);
    for (const auto& row : rows) {
      if (row.size() != width) detail::throw_ragged(width, row.size(), where);
      flat.insert(flat.end(), row.begin(), row.end());
    }
  }
  return asarray(flat, Shape(blocks.size(), height, width), where);
}

/// An array that reads the caller's memory, without a copy. The memory must stay valid and unchanged until everything
/// recorded from the array is evaluated, or until x.touch() announces a change; it is never written.
/// Shapes: `shape`; element (i, j, ...) is data[i * strides[0] + j * strides[1] + ...]. Strides count elements and may
/// be zero or negative; without them the elements are row-major.
/// Throws InvalidArgument where shape and strides differ in length or the reach of the strides passes int64.
/// Example: `static float v[] = {1, 2, 3, 4}; ta::Array transposed = ta::borrow(v, {2, 2}, {1, 2})`.
template <class T>
[[nodiscard]] Array borrow(const T* data, const Shape& shape, Where where = std::source_location::current()) {
  return detail::borrow(data, dtype_of<T>, shape, nullptr, where);
}
template <class T>
[[nodiscard]] Array borrow(const T* data, const Shape& shape, const std::vector<std::int64_t>& strides,
                           Where where = std::source_location::current()) {
  return detail::borrow(data, dtype_of<T>, shape, &strides, where);
}

// ---- From a rule ----
// No memory: the elements are computed inside the kernels that use them.
// Shapes: `shape`.
// Throws InvalidArgument, with the caller's file and line, for a negative extent, more than 2^63 - 1 elements, or a
// dtype that has no operations yet.

/// Every element is `value`.  Dtypes: `dtype`, else that of `value`: bool, int64 for integers, float64 for double,
/// float32 for float. Throws InvalidArgument where `value` does not fit `dtype`, or for a negative extent.
/// Example: `ta::full({2, 2}, 7)` is `[[7 7] [7 7]]`.
[[nodiscard]] TARRY_EXPORT Array full(const Shape& shape, Scalar value, std::optional<Dtype> dtype = {},
                                      Where where = std::source_location::current());
/// Zeros.  Dtypes: `dtype`, else the default float: float32, unless a Scope says float64.
/// Example: `ta::zeros({3})` is `[0. 0. 0.]`.
[[nodiscard]] TARRY_EXPORT Array zeros(const Shape& shape, std::optional<Dtype> dtype = {},
                                       Where where = std::source_location::current());
/// Ones.  Dtypes: as zeros.
/// Example: `ta::ones({3}, ta::int32)` is `[1 1 1]`.
[[nodiscard]] TARRY_EXPORT Array ones(const Shape& shape, std::optional<Dtype> dtype = {},
                                      Where where = std::source_location::current());

/// An array whose elements nobody relies on: zeros, for which no memory is taken before something is written.
/// Dtypes: as zeros.  Example: `ta::empty({2, 3}).shape()` is `(2, 3)`.
[[nodiscard]] TARRY_EXPORT Array empty(const Shape& shape, std::optional<Dtype> dtype = {},
                                       Where where = std::source_location::current());
/// As empty, with the shape of x.  Shapes: that of x.  Dtypes: `dtype`, else that of x.
/// Throws InvalidArgument where x is undefined.
/// Example: `ta::empty_like(ta::array({1, 2})).dtype()` is `int32`.
[[nodiscard]] TARRY_EXPORT Array empty_like(const Array& x, std::optional<Dtype> dtype = {},
                                            Where where = std::source_location::current());

/// As full, zeros and ones, with the shape of x.  Shapes: that of x.  Dtypes: `dtype`, else that of x.
/// Throws InvalidArgument where `value` does not fit the dtype, or x is undefined.
/// Example: `ta::full_like(ta::array({1, 2}), 7)` is `[7 7]`.
[[nodiscard]] TARRY_EXPORT Array full_like(const Array& x, Scalar value, std::optional<Dtype> dtype = {},
                                           Where where = std::source_location::current());
[[nodiscard]] TARRY_EXPORT Array zeros_like(const Array& x, std::optional<Dtype> dtype = {},
                                            Where where = std::source_location::current());
[[nodiscard]] TARRY_EXPORT Array ones_like(const Array& x, std::optional<Dtype> dtype = {},
                                           Where where = std::source_location::current());

/// start + i * step for i = 0 .. n - 1, n = ceil((stop - start) / step), none where that is not positive.
/// Shapes: (n,).  Dtypes: `dtype`; else int64 where all arguments are integers, else that of the widest floating
/// argument. Integer arguments are counted and computed exactly; others in float64, each element rounded once to the
/// dtype. Throws InvalidArgument where step is 0, an argument is not finite or is a bool, the dtype is bool, or an
/// integer dtype is asked for with a floating argument or with elements that it does not hold.
/// Example: `ta::arange(1, 2, 0.25)` is `[1. 1.25 1.5 1.75]`.
[[nodiscard]] TARRY_EXPORT Array arange(Scalar start, Scalar stop, Scalar step = 1, std::optional<Dtype> dtype = {},
                                        Where where = std::source_location::current());
/// arange(0, stop, 1).  Shapes: (n,).  Dtypes: as arange.
/// Throws InvalidArgument where stop is not finite, is a bool or does not fit the dtype.
/// Example: `ta::arange(4)` is `[0 1 2 3]`.
[[nodiscard]] TARRY_EXPORT Array arange(Scalar stop, std::optional<Dtype> dtype = {},
                                        Where where = std::source_location::current());

/// Options of linspace.
struct LinspaceOptions {
  bool endpoint = true;  ///< true: stop is the last element
  std::optional<Dtype> dtype = {};
};
/// `count` evenly spaced numbers from start to stop. With the endpoint the last element is exactly stop.
/// Shapes: (count,).  Dtypes: floating only: `dtype`, else that of start and stop, the default float where both are
/// integers. Computed in float64, each element rounded once to the dtype. Throws InvalidArgument where count is
/// negative, start or stop is not finite, or the dtype is not floating.
/// Example: `ta::linspace(0.0, 1.0, 5)` is `[0. 0.25 0.5 0.75 1. ]`.
[[nodiscard]] TARRY_EXPORT Array linspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options = {},
                                          Where where = std::source_location::current());

/// Options of logspace.
struct LogspaceOptions {
  bool endpoint = true;  ///< true: the power of stop is the last element
  double base = 10;
  std::optional<Dtype> dtype = {};
};
/// Numbers whose exponents are evenly spaced: base to the power of linspace(start, stop, count).
/// Shapes: (count,).  Dtypes: as linspace.  Throws InvalidArgument as linspace does, and where base is not positive.
/// Example: `ta::logspace(0.0, 2.0, 3)` is `[ 1. 10. 100.]`.
[[nodiscard]] TARRY_EXPORT Array logspace(Scalar start, Scalar stop, std::int64_t count, LogspaceOptions options = {},
                                          Where where = std::source_location::current());
/// `count` numbers from start to stop, each the one before it times the same factor. With the endpoint the last element
/// is exactly stop.  Shapes: (count,).  Dtypes: as linspace.
/// Throws InvalidArgument as linspace does, and where start or stop is 0 or their signs differ.
/// Example: `ta::geomspace(1.0, 8.0, 4)` is `[1. 2. 4. 8.]`.
[[nodiscard]] TARRY_EXPORT Array geomspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options = {},
                                           Where where = std::source_location::current());

/// Options of eye.
struct EyeOptions {
  std::int64_t columns = -1;  ///< -1: as many as rows
  std::int64_t k = 0;         ///< the diagonal of ones; positive is above the main one
  std::optional<Dtype> dtype = {};
};
/// Ones on the k-th diagonal, zeros elsewhere.  Shapes: (rows, columns).  Dtypes: as zeros.
/// Throws InvalidArgument for negative rows, and for negative columns but -1.
/// Example: `ta::eye(2)` is `[[1. 0.] [0. 1.]]`.
[[nodiscard]] TARRY_EXPORT Array eye(std::int64_t rows, EyeOptions options = {},
                                     Where where = std::source_location::current());

// ---- Coordinates and triangles ----
// No memory, as above.
// Dtypes: any, kept.
// Throws InvalidArgument, with the caller's file and line, where an array is undefined.

/// The meaning of the first two axes of a grid: IJ: those of the first two arrays; XY: exchanged, as in a picture.
enum class GridOrder : std::uint8_t { XY, IJ };
/// The coordinates of a grid: array i of the result is arrays[i] along one axis and the same along all others.
/// Shapes: (m,), (n,), (k,) give arrays (n, m, k), with IJ (m, n, k). A 0-d array is one coordinate.
/// Throws InvalidArgument where there is no array, or more than 16, or one has several axes.
/// Example: `ta::meshgrid({ta::array({1, 2}), ta::array({3, 4})})[1]` is `[[3 3] [4 4]]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> meshgrid(std::span<const Array> arrays, GridOrder order = GridOrder::XY,
                                                       Where where = std::source_location::current());
[[nodiscard]] inline std::vector<Array> meshgrid(std::initializer_list<Array> arrays, GridOrder order = GridOrder::XY,
                                                 Where where = std::source_location::current()) {
  return meshgrid(std::span<const Array>(arrays.begin(), arrays.size()), order, where);
}
/// x on and below the k-th diagonal of its last two axes, 0 above it.  Shapes: that of x, (..., m, n).
/// Throws InvalidArgument where x has fewer than two axes.
/// Example: `ta::tril(ta::array({{1, 2}, {3, 4}}))` is `[[1 0] [3 4]]`.
[[nodiscard]] TARRY_EXPORT Array tril(const Array& x, std::int64_t k = 0,
                                      Where where = std::source_location::current());
/// x on and above the k-th diagonal of its last two axes, 0 below it.  Shapes: that of x, (..., m, n).
/// Throws InvalidArgument where x has fewer than two axes.
/// Example: `ta::triu(ta::array({{1, 2}, {3, 4}}))` is `[[1 2] [0 4]]`.
[[nodiscard]] TARRY_EXPORT Array triu(const Array& x, std::int64_t k = 0,
                                      Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
