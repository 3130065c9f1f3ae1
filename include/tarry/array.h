// Array: the handle that users hold, and how values get in and out of it.
#pragma once

#include <tarry/device.h>
#include <tarry/dtype.h>
#include <tarry/error.h>
#include <tarry/export.h>
#include <tarry/shape.h>
#include <tarry/shared.h>
#include <tarry/slice.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tarry {

namespace graph {
struct Node;
}  // namespace graph

inline namespace v0 {

class Array;
class Operand;
class Printed;
class RowIterator;
template <class T>
class Host;

// The functions that the operators of Array record; ops.h describes them.
TARRY_EXPORT Array add(const Operand& a, const Operand& b);
TARRY_EXPORT Array subtract(const Operand& a, const Operand& b);
TARRY_EXPORT Array multiply(const Operand& a, const Operand& b);
TARRY_EXPORT Array divide(const Operand& a, const Operand& b);
TARRY_EXPORT Array remainder(const Operand& a, const Operand& b);
TARRY_EXPORT Array bitwise_and(const Operand& a, const Operand& b);
TARRY_EXPORT Array bitwise_or(const Operand& a, const Operand& b);
TARRY_EXPORT Array bitwise_xor(const Operand& a, const Operand& b);
TARRY_EXPORT Array bitwise_left_shift(const Operand& a, const Operand& b);
TARRY_EXPORT Array bitwise_right_shift(const Operand& a, const Operand& b);
TARRY_EXPORT Array equal(const Operand& a, const Operand& b);
TARRY_EXPORT Array not_equal(const Operand& a, const Operand& b);
TARRY_EXPORT Array less(const Operand& a, const Operand& b);
TARRY_EXPORT Array less_equal(const Operand& a, const Operand& b);
TARRY_EXPORT Array greater(const Operand& a, const Operand& b);
TARRY_EXPORT Array greater_equal(const Operand& a, const Operand& b);

namespace detail {
struct ArrayAccess;
/// Elements in host memory and what keeps them there.
struct HostData {
  Shared owner;
  const void* data;
};
struct use_logical_and;  // named by the compiler's message where somebody writes x && y
struct use_logical_or;
TARRY_EXPORT void retain(graph::Node* node) noexcept;
TARRY_EXPORT void release(graph::Node* node) noexcept;
TARRY_EXPORT Array negative(const Operand& x);
TARRY_EXPORT Array bitwise_invert(const Operand& x);
}  // namespace detail

/// An argument of an operation: an array or a C++ number, with the location in the user's program where it was passed.
/// Holds a pointer to the array: meant for parameters only.
class Operand {
 public:
  Operand(const Array& x, Where where = std::source_location::current()) noexcept  // NOLINT
      : array_(&x), where_(where) {}
  Operand(Array&& x, Where where = std::source_location::current()) noexcept  // NOLINT
      : array_(&x), temporary_(&x), where_(where) {}
  template <detail::Number T>
  Operand(T value, Where where = std::source_location::current()) noexcept  // NOLINT
      : scalar_(value), where_(where) {}
  /// A copy does not give the array away.
  Operand(const Operand& o) noexcept : array_(o.array_), scalar_(o.scalar_), where_(o.where_) {}
  Operand& operator=(const Operand& o) noexcept {
    array_ = o.array_;
    temporary_ = given_ = nullptr;
    scalar_ = o.scalar_;
    where_ = o.where_;
    return *this;
  }

  [[nodiscard]] const Array* array() const noexcept { return array_; }  ///< null for a number
  [[nodiscard]] Scalar scalar() const noexcept { return scalar_; }
  [[nodiscard]] Where where() const noexcept { return where_; }

  /// The last use of this operand: what it is passed to may move from the array if that is a temporary.
  [[nodiscard]] const Operand& give() noexcept {
    given_ = temporary_;
    return *this;
  }
  [[nodiscard]] Array* given() const noexcept { return given_; }

 private:
  const Array* array_ = nullptr;
  Array *temporary_ = nullptr, *given_ = nullptr;
  Scalar scalar_ = 0;
  Where where_;
};

/// An n-dimensional array of one dtype whose values are computed when they are needed. A handle: copying it costs one
/// counter, values never change, and updating one handle (`x += 1`) leaves every other one as it was.
/// Default-constructed and moved-from arrays are undefined: every use but repr(), copying and assigning throws
/// InvalidArgument. Distinct handles may be used from any threads, also where they share work.
/// Example: `ta::array({1, 2}) + 1` is `[2 3]`.
class TARRY_EXPORT Array {
 public:
  // ---- Properties ----
  // Throws InvalidArgument, with the caller's file and line, for an undefined array.

  Array() = default;
  /// A 0-d array of the value's own dtype. Unlike a bare scalar it is not weak.
  /// Shapes: ().  Dtypes: that of the value: `Array(2.0)` is float64.  Throws OutOfMemory alone.
  /// Example: `ta::Array(2.0) + ta::Array(1)` is `3.`.
  template <detail::Number T>
  explicit Array(T value, Where where = std::source_location::current()) : Array(Scalar(value), dtype_of<T>, where) {}
  Array(const Array& other) noexcept : node_(other.node_), output_(other.output_) {
    if (node_ != nullptr) detail::retain(node_);
  }
  Array(Array&& other) noexcept : node_(std::exchange(other.node_, nullptr)), output_(other.output_) {}
  Array& operator=(Array other) & noexcept {
    std::swap(node_, other.node_);
    std::swap(output_, other.output_);
    return *this;
  }
  Array& operator=(Array other) && = delete;  ///< `x(i) = v`: write x.set({i}, v)
  ~Array() {
    if (node_ != nullptr) detail::release(node_);
  }

  /// False for default-constructed and moved-from arrays.  Example: `ta::Array().is_defined()` is `false`.
  [[nodiscard]] bool is_defined() const noexcept { return node_ != nullptr; }
  /// The extents, outermost first.  Example: `ta::zeros({3, 4}).shape()` is `(3, 4)`.
  [[nodiscard]] Shape shape(Where where = std::source_location::current()) const;
  /// Number of axes.  Example: `ta::zeros({3, 4}).ndim()` is `2`.
  [[nodiscard]] int ndim(Where where = std::source_location::current()) const;
  /// Number of elements.  Example: `ta::zeros({3, 4}).size()` is `12`.
  [[nodiscard]] std::int64_t size(Where where = std::source_location::current()) const;
  /// Element type.  Example: `ta::zeros({3, 4}).dtype()` is `float32`.
  [[nodiscard]] Dtype dtype(Where where = std::source_location::current()) const;
  /// Where the array was placed explicitly, or where its values are once they were computed; else unplaced: the array
  /// meets those of any device, and to_device() takes this for an answer too.
  /// Example: `ta::array({1, 2}).device()` is `unplaced`.
  [[nodiscard]] Device device(Where where = std::source_location::current()) const;
  /// True once values exist; never evaluates and never waits.  Example: `(ta::array({1, 2}) + 1).is_evaluated()` is
  /// `false`.
  [[nodiscard]] bool is_evaluated(Where where = std::source_location::current()) const;
  /// One line without evaluating: "Array(float32, (3, 4), lazy: add at main.cpp:12)". An undefined array says so.
  /// Throws OutOfMemory alone.  Example: `ta::Array().repr()` is `Array(undefined)`.
  [[nodiscard]] std::string repr(Where where = std::source_location::current()) const;

  // ---- Values ----
  // Evaluates and waits; see evaluate() for what that throws.

  /// All elements in row-major order. Throws InvalidArgument where T is not the array's dtype, and what evaluate()
  /// throws. Example: `ta::array({1, 2}).to_vector<int>().size()` is `2`.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector(Where where = std::source_location::current()) const {
    if constexpr (std::is_same_v<T, bool>) {
      return to_bools(where);
    } else {
      std::vector<T> values(expect("to_vector", dtype_of<T>, where));
      read(values.data(), where);
      return values;
    }
  }
  /// The value of an array of one element. Throws InvalidArgument for another size or dtype, and what evaluate()
  /// throws. Example: `ta::sum(ta::array({1.5F, 2.0F})).item<float>()` is `3.5`.
  template <class T>
  [[nodiscard]] T item(Where where = std::source_location::current()) const {
    expect("item", dtype_of<T>, 1, where);
    T value{};
    read(&value, where);
    return value;
  }
  /// Copies all elements in row-major order. Throws InvalidArgument where T is not the array's dtype or the span has
  /// another number of elements, and what evaluate() throws.
  /// Example: `std::vector<int> v(2); ta::array({1, 2}).copy_to(std::span(v))`.
  template <class T>
  void copy_to(std::span<T> destination, Where where = std::source_location::current()) const {
    expect("copy_to", dtype_of<T>, static_cast<std::int64_t>(destination.size()), where);
    read(destination.data(), where);
  }
  /// The elements in host memory, without a copy where they are there already; valid while the guard lives.
  /// Throws InvalidArgument where T is not the array's dtype, and what evaluate() throws.
  /// Example: `ta::array({1, 2}).host<int>()[1]` is `2`.
  template <class T>
  [[nodiscard]] Host<T> host(Where where = std::source_location::current()) const;
  /// True where the only element is not zero. A conversion cannot be told where it stands: errors have the location
  /// where the array was recorded. Throws InvalidArgument unless size() is 1, and what evaluate() throws. Example:
  /// `bool(ta::all(ta::array({1, 2}) > 0))` is `true`.
  [[nodiscard]] explicit operator bool() const;
  /// Prints as NumPy does: more than 1,000 elements are summarised with "...". Of a lazy array that is summarised only
  /// the elements shown are evaluated and copied. Shapes, Dtypes: any. Throws what evaluate() throws.
  /// Example: `ta::array({{1.0, 2.5}, {3.0, 4.0}})` is `[[1. 2.5] [3. 4. ]]`.
  friend TARRY_EXPORT std::ostream& operator<<(std::ostream& out, const Printed& x);

  // ---- Parts and updates ----

  /// Part of x, as in NumPy: `x(0)`, `x(slice(1, -1), slice(none, none, 2))`, `x(ellipsis, 2)`, `x(newaxis)`. Nothing
  /// moves.
  /// Shapes: an integer drops its axis and may count from the end, a slice keeps it, newaxis inserts one; axes that are
  /// not named stay whole.  Dtypes: x's.
  /// Arrays of integers read any elements, as in NumPy: `x(i)` has x(i[p]) at p, `x(i, j)` the elements x(i[p], j[p]).
  /// They broadcast to one shape, which stands where they do, or in front where a slice is between them. Out of range:
  /// see index.h. A bool array is a mask of as many axes as it has: the coordinates of its true elements, one array for
  /// each axis. Their number is a shape: what needs it evaluates the mask. x(mask) alone, and maps of it, do not.
  /// Throws InvalidArgument for an integer outside its axis, more indices than axes, a second ellipsis, a step of 0,
  /// arrays that are neither integers nor bool or do not broadcast, or a mask of another shape than its axes.
  /// Example: `ta::array({{1, 2, 3}, {4, 5, 6}})(ta::slice(), -1)` is `[3 6]`.
  template <std::convertible_to<Index>... Rest>
  [[nodiscard]] Array operator()(Index first, Rest... rest) const {
    const Index indices[] = {first, rest...};
    return at(indices, 1 + sizeof...(rest));
  }
  /// The parts x(0), x(1), ... along the first axis, none of them computed yet: `for (Array row : x)`.
  /// Throws InvalidArgument for a 0-d array.
  /// Example: `for (ta::Array row : ta::array({{1, 2}, {3, 4}})) std::cout << row`.
  [[nodiscard]] RowIterator begin(Where where = std::source_location::current()) const;
  [[nodiscard]] RowIterator end(Where where = std::source_location::current()) const;

  /// Rebinds this handle to x with other elements in x(box...): `x.set({slice(1, -1), 0}, v)`. Other handles keep the
  /// old values. Where nothing else holds those, the elements are written into the same memory. Where arrays name an
  /// element several times it takes the last value, in row-major order of the indices. Shapes: v broadcasts to that of
  /// x(box...).  Dtypes: x's is kept; a number must fit it, an array must promote to it. Throws InvalidArgument as
  /// x(box...) does, and for a v of another shape or dtype.
  /// Example: `ta::Array x = ta::zeros({3}); x.set({ta::slice(1, 3)}, 1)`.
  Array& set(std::initializer_list<Index> box, const Operand& v) &;
  Array& set(std::initializer_list<Index> box, const Operand& v) && = delete;
  /// Integers name elements of the first axis, as x(which) does. A bool array is a mask: the elements where it is true
  /// become those of v. Shapes: a mask broadcasts to that of x, or has x's first axes; v broadcasts to that of x, or
  /// has a row for each true element, in order: whoever reads the result gets InvalidArgument where it has more or
  /// fewer. Dtypes: as above. Throws InvalidArgument where mask or v does not fit x. Example: `ta::Array x =
  /// ta::arange(3); x.set(x > 1, 0)`.
  Array& set(const Array& which, const Operand& v) &;
  Array& set(const Array& which, const Operand& v) && = delete;
  /// As set, of x(box...) + v, in x's dtype. Where arrays name an element several times, every value is added: floats
  /// by the tree of `sum` in the order of the indices, and then to the old element.  Shapes, Dtypes: as set; not of
  /// bool. Throws InvalidArgument as set does. Example: `ta::Array x = ta::zeros({3}); x.add({0}, 1)`.
  Array& add(std::initializer_list<Index> box, const Operand& v) &;
  Array& add(std::initializer_list<Index> box, const Operand& v) && = delete;
  Array& add(const Array& which, const Operand& v) &;
  Array& add(const Array& which, const Operand& v) && = delete;
  /// As add, of x(box...) * v. Shapes: as add.  Dtypes: as add. Throws InvalidArgument as add does.
  /// Example: `ta::Array x = ta::ones({3}); x.multiply({0}, 2)`.
  Array& multiply(std::initializer_list<Index> box, const Operand& v) &;
  Array& multiply(std::initializer_list<Index> box, const Operand& v) && = delete;
  Array& multiply(const Array& which, const Operand& v) &;
  Array& multiply(const Array& which, const Operand& v) && = delete;
  /// As add, of the smaller of x(box...) and v. Shapes: as add.  Dtypes: as add. Throws InvalidArgument as add does.
  /// Example: `ta::Array x = ta::ones({3}); x.minimum({0}, 0)`.
  Array& minimum(std::initializer_list<Index> box, const Operand& v) &;
  Array& minimum(std::initializer_list<Index> box, const Operand& v) && = delete;
  Array& minimum(const Array& which, const Operand& v) &;
  Array& minimum(const Array& which, const Operand& v) && = delete;
  /// As add, of the larger of x(box...) and v. Shapes: as add.  Dtypes: as add. Throws InvalidArgument as add does.
  /// Example: `ta::Array x = ta::ones({3}); x.maximum({0}, 2)`.
  Array& maximum(std::initializer_list<Index> box, const Operand& v) &;
  Array& maximum(std::initializer_list<Index> box, const Operand& v) && = delete;
  Array& maximum(const Array& which, const Operand& v) &;
  Array& maximum(const Array& which, const Operand& v) && = delete;

  /// Announces that the borrowed memory of x is about to change: what was recorded from it is evaluated first, others
  /// who hold the array get a copy of the old elements, and from now on this handle reads the memory as it will be.
  /// Shapes, Dtypes: any. Throws InvalidArgument for an array that is not borrowed, and what evaluate() throws; then
  /// nothing has changed.
  /// Example: `float v[2] = {1, 2}; ta::Array x = ta::borrow(v, {2}); x.touch(); v[0] = 3`.
  Array& touch(Where where = std::source_location::current()) &;
  Array& touch(Where where = std::source_location::current()) && = delete;

  // ---- Operators ----

  /// Operators record the function of the same meaning in ops.h, with the user's file and line. `/` is true division
  /// and `%` takes the sign of the divisor. `& | ^ ~ << >>` work on bits, and on bools as logic. Comparisons give
  /// arrays of bool. Shapes, Dtypes: as those functions. Throws InvalidArgument as those functions do. Example:
  /// `ta::array({1, 2}) / 2` is `[0.5 1. ]`.
  [[nodiscard]] friend Array operator+(Operand a, Operand b) { return v0::add(a.give(), b.give()); }
  [[nodiscard]] friend Array operator-(Operand a, Operand b) { return subtract(a.give(), b.give()); }
  [[nodiscard]] friend Array operator*(Operand a, Operand b) { return v0::multiply(a.give(), b.give()); }
  [[nodiscard]] friend Array operator/(Operand a, Operand b) { return divide(a.give(), b.give()); }
  [[nodiscard]] friend Array operator%(Operand a, Operand b) { return remainder(a.give(), b.give()); }
  [[nodiscard]] friend Array operator-(Operand x) { return detail::negative(x.give()); }
  [[nodiscard]] friend Array operator&(Operand a, Operand b) { return bitwise_and(a.give(), b.give()); }
  [[nodiscard]] friend Array operator|(Operand a, Operand b) { return bitwise_or(a.give(), b.give()); }
  [[nodiscard]] friend Array operator^(Operand a, Operand b) { return bitwise_xor(a.give(), b.give()); }
  [[nodiscard]] friend Array operator<<(Operand a, Operand b) { return bitwise_left_shift(a.give(), b.give()); }
  [[nodiscard]] friend Array operator>>(Operand a, Operand b) { return bitwise_right_shift(a.give(), b.give()); }
  [[nodiscard]] friend Array operator~(Operand x) { return detail::bitwise_invert(x.give()); }
  [[nodiscard]] friend Array operator==(Operand a, Operand b) { return equal(a.give(), b.give()); }
  [[nodiscard]] friend Array operator!=(Operand a, Operand b) { return not_equal(a.give(), b.give()); }
  [[nodiscard]] friend Array operator<(Operand a, Operand b) { return less(a.give(), b.give()); }
  [[nodiscard]] friend Array operator<=(Operand a, Operand b) { return less_equal(a.give(), b.give()); }
  [[nodiscard]] friend Array operator>(Operand a, Operand b) { return greater(a.give(), b.give()); }
  [[nodiscard]] friend Array operator>=(Operand a, Operand b) { return greater_equal(a.give(), b.give()); }
  /// && and || cannot be elementwise and short-circuit: use logical_and, logical_or.
  friend detail::use_logical_and operator&&(const Array& a, const Array& b) = delete;
  template <class T>
  friend detail::use_logical_and operator&&(const Array& a, const T& b) = delete;
  template <class T>
  friend detail::use_logical_and operator&&(const T& a, const Array& b) = delete;
  friend detail::use_logical_or operator||(const Array& a, const Array& b) = delete;
  template <class T>
  friend detail::use_logical_or operator||(const Array& a, const T& b) = delete;
  template <class T>
  friend detail::use_logical_or operator||(const T& a, const Array& b) = delete;

  /// Rebinds this handle to the result. Shapes, Dtypes: x's are kept. Throws InvalidArgument where shape or dtype would
  /// change; then write x = x + y.
  /// Example: `ta::Array x = ta::zeros({3}); x += 1`.
  Array& operator+=(const Operand& b) &;
  Array& operator-=(const Operand& b) &;
  Array& operator*=(const Operand& b) &;
  Array& operator/=(const Operand& b) &;
  Array& operator%=(const Operand& b) &;
  Array& operator&=(const Operand& b) &;
  Array& operator|=(const Operand& b) &;
  Array& operator^=(const Operand& b) &;
  Array& operator<<=(const Operand& b) &;
  Array& operator>>=(const Operand& b) &;
  Array& operator+=(const Operand& b) && = delete;
  Array& operator-=(const Operand& b) && = delete;
  Array& operator*=(const Operand& b) && = delete;
  Array& operator/=(const Operand& b) && = delete;
  Array& operator%=(const Operand& b) && = delete;
  Array& operator&=(const Operand& b) && = delete;
  Array& operator|=(const Operand& b) && = delete;
  Array& operator^=(const Operand& b) && = delete;
  Array& operator<<=(const Operand& b) && = delete;
  Array& operator>>=(const Operand& b) && = delete;

 private:
  friend struct detail::ArrayAccess;
  template <class T>
  friend class Host;
  Array(graph::Node* adopted, std::uint32_t output) noexcept : node_(adopted), output_(output) {}
  Array(Scalar value, Dtype dtype, Where where);

  [[nodiscard]] Array at(const Index* indices, std::size_t count) const;
  Array& rebind(Array result, const char* symbol, Where where);
  std::size_t expect(const char* function, Dtype dtype, Where where) const;  // returns the number of elements
  void expect(const char* function, Dtype dtype, std::int64_t size, Where where) const;
  void read(void* destination, Where where) const;
  [[nodiscard]] std::vector<bool> to_bools(Where where) const;
  [[nodiscard]] detail::HostData host_data(Where where) const;

  graph::Node* node_ = nullptr;
  std::uint32_t output_ = 0;
};

/// An array in a stream, with the place in the user's program. Meant for parameters only.
class Printed {
 public:
  Printed(const Array& x, Where where = std::source_location::current()) noexcept  // NOLINT
      : array_(&x), where_(where) {}
  [[nodiscard]] const Array& array() const noexcept { return *array_; }
  [[nodiscard]] Where where() const noexcept { return where_; }

 private:
  const Array* array_;
  Where where_;
};

/// Iterates over the parts of an array along its first axis. The array must stay where it is meanwhile.
/// Example: `for (ta::Array row : ta::zeros({3, 4})) std::cout << row`.
class RowIterator {
 public:
  using value_type = Array;
  using difference_type = std::ptrdiff_t;

  RowIterator() = default;
  RowIterator(const Array& x, std::int64_t row, Where where) noexcept : x_(&x), row_(row), where_(where) {}
  [[nodiscard]] Array operator*() const { return (*x_)(Index(row_, where_)); }
  RowIterator& operator++() noexcept {
    ++row_;
    return *this;
  }
  RowIterator operator++(int) noexcept { return {*x_, row_++, where_}; }
  friend bool operator==(const RowIterator& a, const RowIterator& b) noexcept { return a.row_ == b.row_; }

 private:
  const Array* x_ = nullptr;
  std::int64_t row_ = 0;
  Where where_;
};

/// Read-only elements of an evaluated array in host memory, row-major; keeps them alive.
/// Example: `for (int v : ta::array({1, 2}).host<int>().span()) std::cout << v`.
template <class T>
class Host {
 public:
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(data_.data); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }

 private:
  friend class Array;
  Host(detail::HostData data, std::size_t size) : data_(std::move(data)), size_(size) {}
  detail::HostData data_;
  std::size_t size_;
};

template <class T>
Host<T> Array::host(Where where) const {
  const std::size_t count = expect("host", dtype_of<T>, where);
  return Host<T>(host_data(where), count);
}

}  // namespace v0
}  // namespace tarry
