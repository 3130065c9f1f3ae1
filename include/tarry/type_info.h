// Facts about dtypes that programs ask for when they run, by their names in the Python array API standard.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>

namespace tarry {
inline namespace v0 {

/// Limits of a floating dtype; of a complex one those of its parts.
struct FloatInfo {
  int bits;                ///< of one element
  double eps;              ///< from 1 to the next number
  double max, min;         ///< the largest finite number, and its negative
  double smallest_normal;  ///< the least positive number of full precision
  Dtype dtype;             ///< that the limits are of: float32 for complex64
};
/// Limits of an integer dtype.
struct IntegerInfo {
  int bits;
  std::int64_t min;
  std::uint64_t max;
  Dtype dtype;
};

/// The limits of a floating dtype.  Throws InvalidArgument for bool and integers.
/// Example: `ta::finfo(ta::float32).bits` is `32`.
[[nodiscard]] TARRY_EXPORT FloatInfo finfo(Dtype dtype, Where where = std::source_location::current());
/// The limits of an integer dtype.  Throws InvalidArgument for other dtypes.
/// Example: `ta::iinfo(ta::uint8).max` is `255`.
[[nodiscard]] TARRY_EXPORT IntegerInfo iinfo(Dtype dtype, Where where = std::source_location::current());

/// True where the dtype is of a kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
/// "complex floating" or "numeric".  Throws InvalidArgument for another word.
/// Example: `ta::isdtype(ta::int8, "integral")` is `true`.
[[nodiscard]] TARRY_EXPORT bool isdtype(Dtype dtype, std::string_view kind,
                                        Where where = std::source_location::current());
/// True where promotion takes `from` to `to`, so that no value is lost but for the digits of integers in floats.
/// Throws nothing.  Example: `ta::can_cast(ta::float64, ta::float32)` is `false`.
[[nodiscard]] TARRY_EXPORT bool can_cast(Dtype from, Dtype to) noexcept;

/// An argument of result_type: a dtype, that of an array, or a number, which is weak.
/// Example: `const ta::TypeOperand one = 1, like = ta::zeros({3}); (void)one, (void)like`.
class TypeOperand {
 public:
  TypeOperand(Dtype dtype) noexcept : dtype_(dtype) {}    // NOLINT: conversion wanted
  TypeOperand(const Array& x) : dtype_(x.dtype()) {}      // NOLINT: conversion wanted
  TypeOperand(Scalar value) noexcept : scalar_(value) {}  // NOLINT: conversion wanted
  template <detail::Number T>
  TypeOperand(T value) noexcept : scalar_(value) {}                             // NOLINT: conversion wanted
  [[nodiscard]] std::optional<Dtype> dtype() const noexcept { return dtype_; }  ///< none for a number
  [[nodiscard]] Scalar scalar() const noexcept { return scalar_; }

 private:
  std::optional<Dtype> dtype_;
  Scalar scalar_ = 0;
};
/// The dtype that an operation on all of them computes in (docs/reference/numerics.md, "Promotion").
/// Throws InvalidArgument for none, and for uint64 with a signed integer.
/// Example: `ta::result_type(std::vector<ta::TypeOperand>{ta::int8, 1.5})` is `float32`.
[[nodiscard]] TARRY_EXPORT Dtype result_type(std::span<const TypeOperand> values,
                                             Where where = std::source_location::current());

/// The dtype of an array API name.  Throws InvalidArgument for a name that no dtype has.
/// Example: `ta::dtype_named("float32")` is `float32`.
[[nodiscard]] TARRY_EXPORT Dtype dtype_named(std::string_view name, Where where = std::source_location::current());
/// The dtype of floats that nothing else decides: float32, unless a Scope says float64.
/// Throws nothing.  Example: `ta::default_float()` is `float32`.
[[nodiscard]] TARRY_EXPORT Dtype default_float() noexcept;

}  // namespace v0
}  // namespace tarry
