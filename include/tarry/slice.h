// The indices between the parentheses of x(...): integers, slices, ellipsis, newaxis and arrays.
#pragma once

#include <tarry/error.h>
#include <tarry/shape.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>

namespace tarry {
inline namespace v0 {

class Array;

/// An open end of a slice: `slice(none, none, -1)`. std::nullopt means the same.
inline constexpr std::nullopt_t none = std::nullopt;

/// One end or the step of a slice: an integer, or open. Meant for parameters only.
class Bound {
 public:
  constexpr Bound(std::nullopt_t) noexcept {}  // NOLINT: conversion wanted
  template <detail::Integer T>
  constexpr Bound(T value) noexcept  // NOLINT: conversion wanted
      : value_(std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : INT64_MAX) {}
  [[nodiscard]] constexpr std::optional<std::int64_t> value() const noexcept { return value_; }

 private:
  std::optional<std::int64_t> value_;
};

/// A range of positions along one axis, as in Python: start, start + step, ... before stop. Negative ends count from
/// the end of the axis, ends beyond it are cut, open ends and a left-out step are the whole axis with step 1 (a
/// negative step goes backwards from the last position). A step of 0 throws where the slice is used.
struct Slice {
  Bound start = none, stop = none, step = none;
};
/// The whole axis; the positions before `stop`; those from `start`, every `step`-th, before `stop`.
/// Example: `ta::arange(6)(ta::slice(1, ta::none, 2))` is `[1 3 5]`.
[[nodiscard]] constexpr Slice slice() noexcept { return {}; }
[[nodiscard]] constexpr Slice slice(Bound stop) noexcept { return {none, stop, none}; }
[[nodiscard]] constexpr Slice slice(Bound start, Bound stop, Bound step = none) noexcept { return {start, stop, step}; }

/// As many full axes as are left: `x(ellipsis, 2)` is column 2 of the last axis.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};
/// A new axis of extent 1: `x(slice(), newaxis)`.
struct Newaxis {};
inline constexpr Newaxis newaxis{};

/// One index, with the location in the user's program where it was written. Meant for parameters only.
class Index {
 public:
  enum class Kind : std::uint8_t { At, Slice, Ellipsis, Newaxis, Array };

  template <detail::Integer T>
  Index(T at, Where where = std::source_location::current()) noexcept  // NOLINT: conversion wanted
      : kind_(Kind::At), start_(*Bound(at).value()), where_(where) {}
  Index(Slice s, Where where = std::source_location::current()) noexcept  // NOLINT: conversion wanted
      : kind_(Kind::Slice),
        has_start_(s.start.value().has_value()),
        has_stop_(s.stop.value().has_value()),
        has_step_(s.step.value().has_value()),
        start_(s.start.value().value_or(0)),
        stop_(s.stop.value().value_or(0)),
        step_(s.step.value().value_or(0)),
        where_(where) {}
  Index(Ellipsis, Where where = std::source_location::current()) noexcept  // NOLINT: conversion wanted
      : kind_(Kind::Ellipsis), where_(where) {}
  Index(Newaxis, Where where = std::source_location::current()) noexcept  // NOLINT: conversion wanted
      : kind_(Kind::Newaxis), where_(where) {}
  Index(const v0::Array& indices, Where where = std::source_location::current()) noexcept  // NOLINT
      : kind_(Kind::Array), array_(&indices), where_(where) {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::int64_t at() const noexcept { return start_; }          ///< of Kind::At
  [[nodiscard]] const v0::Array& array() const noexcept { return *array_; }  ///< of Kind::Array
  [[nodiscard]] Slice slice() const noexcept {                               ///< of Kind::Slice
    return {bound(has_start_, start_), bound(has_stop_, stop_), bound(has_step_, step_)};
  }
  [[nodiscard]] Where where() const noexcept { return where_; }

 private:
  static Bound bound(bool has, std::int64_t value) noexcept { return has ? Bound(value) : Bound(none); }

  Kind kind_;
  bool has_start_ = false, has_stop_ = false, has_step_ = false;  // side by side: a Slice is half as large again
  std::int64_t start_ = 0, stop_ = 0, step_ = 0;
  const v0::Array* array_ = nullptr;
  Where where_;
};

}  // namespace v0
}  // namespace tarry
