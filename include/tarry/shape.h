// Shape, Axes and Scalar: the small values that operations take beside arrays.
#pragma once

#include <tarry/dtype.h>
#include <tarry/export.h>
#include <tarry/half.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tarry {
inline namespace v0 {

namespace detail {
template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
concept Number = std::is_arithmetic_v<T> || is_half<T>;
}  // namespace detail

/// Extents of an array, outermost first: `Shape{3, 4}`, `{3, 4}` where a Shape is wanted, or one integer. `{}` is 0-d.
/// Extents are checked by the operation that takes them: none negative, at most 16, product within int64.
/// Example: `ta::Shape{3, 4}` is `(3, 4)`.
class Shape {
 public:
  Shape() = default;
  template <detail::Integer... T>
    requires(sizeof...(T) > 0)
  Shape(T... extents) : extents_{static_cast<std::int64_t>(extents)...} {}    // NOLINT: conversion wanted
  Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}  // NOLINT: conversion wanted

  [[nodiscard]] std::size_t size() const noexcept { return extents_.size(); }
  [[nodiscard]] bool empty() const noexcept { return extents_.empty(); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return extents_[i]; }
  [[nodiscard]] const std::int64_t* data() const noexcept { return extents_.data(); }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return extents_.data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept { return extents_.data() + extents_.size(); }
  [[nodiscard]] const std::vector<std::int64_t>& vector() const noexcept { return extents_; }
  [[nodiscard]] TARRY_EXPORT std::string str() const;  ///< "(3, 4)", "(5,)", "()"
  friend bool operator==(const Shape& a, const Shape& b) { return a.extents_ == b.extents_; }

 private:
  std::vector<std::int64_t> extents_;
};

/// The axes that an operation works on: one integer, or a list. Negative axes count from the last. `{}`, as an axis
/// that is left out: all of them. A list without an element, `Axes(std::vector<std::int64_t>())`: none, so that a
/// program may compute its axes.  Example: `ta::sum(ta::ones({2, 3}), {0, -1})` is `6.`.
class Axes {
 public:
  Axes() = default;
  template <detail::Integer T>
  Axes(T axis) : Axes(std::vector<std::int64_t>{static_cast<std::int64_t>(axis)}) {}  // NOLINT: conversion wanted
  Axes(std::initializer_list<std::int64_t> axes)
      : Axes(std::vector<std::int64_t>(axes)) {}                                 // NOLINT: conversion wanted
  Axes(std::vector<std::int64_t> axes) : all_(false), axes_(std::move(axes)) {}  // NOLINT: conversion wanted
  Axes(bool) = delete;  ///< `sum(x, true)`: keepdims is an option, `sum(x, {}, {.keepdims = true})`

  [[nodiscard]] bool all() const noexcept { return all_; }
  [[nodiscard]] const std::vector<std::int64_t>& vector() const noexcept {
    return axes_;
  }  ///< empty where all() is true

 private:
  bool all_ = true;
  std::vector<std::int64_t> axes_;
};

/// A C++ number whose dtype is still open: bool, integer or floating. Beside an array it takes the array's dtype
/// (docs/reference/numerics.md, "Promotion"); alone it is bool, int64 or, floating, of its own type.
/// Example: `ta::full({2}, ta::Scalar(1.5F)).dtype()` is `float32`.
class Scalar {
 public:
  enum class Kind : std::uint8_t { Bool, Int, UInt, Float };

  template <detail::Number T>
  constexpr Scalar(T value) noexcept {  // NOLINT: conversion wanted
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::Bool;
      int_ = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T> || detail::is_half<T>) {
      kind_ = Kind::Float;
      if constexpr (std::is_same_v<T, float>)
        float_ = detail::widen_to_64(value);
      else
        float_ = static_cast<double>(value);
      if constexpr (sizeof(T) < sizeof(double)) floating_ = dtype_of<std::remove_cv_t<T>>;
    } else if constexpr (std::is_signed_v<T>) {
      kind_ = Kind::Int;
      int_ = value;
    } else {
      kind_ = Kind::UInt;
      uint_ = value;
    }
  }

  [[nodiscard]] constexpr Kind kind() const noexcept { return kind_; }
  [[nodiscard]] constexpr bool is_integer() const noexcept { return kind_ == Kind::Int || kind_ == Kind::UInt; }
  [[nodiscard]] constexpr std::int64_t as_int() const noexcept { return int_; }     ///< of Bool and Int
  [[nodiscard]] constexpr std::uint64_t as_uint() const noexcept { return uint_; }  ///< of UInt
  [[nodiscard]] constexpr double as_float() const noexcept { return float_; }       ///< of Float

  /// The value as float64, whatever the kind.
  [[nodiscard]] constexpr double to_double() const noexcept {
    if (kind_ == Kind::Float) return float_;
    return kind_ == Kind::UInt ? static_cast<double>(uint_) : static_cast<double>(int_);
  }
  /// The dtype of a scalar that stands alone: bool, int64, or that of the floating type that it came as.
  [[nodiscard]] constexpr Dtype default_dtype() const noexcept {
    if (kind_ == Kind::Bool) return bool_;
    return kind_ == Kind::Float ? floating_ : int64;
  }

 private:
  Kind kind_ = Kind::Int;
  Dtype floating_ = float64;
  union {
    std::int64_t int_ = 0;
    std::uint64_t uint_;
    double float_;
  };
};

}  // namespace v0
}  // namespace tarry
