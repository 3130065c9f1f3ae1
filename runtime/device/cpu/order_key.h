// Keys of elements for sorting and searching: unsigned integers that order as the elements do (numerics.md, "Places").
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tarry/dtype.h>

namespace tarry::runtime {

enum class KeyKind : std::uint8_t { Unsigned, Signed, Float };

/// Elements of `Bits`, whose infinity has the bits kInfinity where they are floats. NaNs are all equal and last in both
/// directions; the bits themselves are what moves, so that a NaN keeps its payload.
/// `Number` is the type in which the processor compares them; Bits where it has none.
template <class B, KeyKind kKind, B kInfinity, class Number = B>
struct OrderKey {
  using Bits = B;
  using Ordered = Number;
  static constexpr Bits kTop = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  static constexpr Bits kLast = std::numeric_limits<Bits>::max();

  static Bits rising(Bits x) {
    if constexpr (kKind == KeyKind::Signed) return static_cast<Bits>(x ^ kTop);
    if constexpr (kKind == KeyKind::Unsigned) return x;
    return static_cast<Bits>(turned(x) | nan_mask(x));
  }
  static Bits falling(Bits x) {
    if constexpr (kKind != KeyKind::Float) return static_cast<Bits>(~rising(x));
    return static_cast<Bits>(~turned(x) | nan_mask(x));
  }
  /// The element that has a key, which is not NaN's.
  static Bits of_rising(Bits key) {
    if constexpr (kKind == KeyKind::Unsigned) return key;
    if constexpr (kKind == KeyKind::Signed) return static_cast<Bits>(key ^ kTop);
    return static_cast<Bits>(key & kTop ? key & static_cast<Bits>(~kTop) : ~key);
  }
  static Bits of_falling(Bits key) { return of_rising(static_cast<Bits>(~key)); }
  /// True of the keys that NaNs share.
  static bool is_nan(Bits key) { return kKind == KeyKind::Float && key == kLast; }
  /// A value that compares as the element does: -0 equals +0. NaN equals nothing in the processor's own types, and is
  /// last of all in the others.
  static Ordered ordered(Bits x) {
    if constexpr (kKind == KeyKind::Float && std::is_same_v<Bits, Ordered>)
      return rising(x == kTop ? Bits{0} : x);
    else
      return std::bit_cast<Ordered>(x);
  }

 private:
  // Without branches, which the signs of elements in no order would mislead.
  static Bits all_if(bool condition) { return static_cast<Bits>(Bits{0} - static_cast<Bits>(condition)); }
  /// A float as an integer of its order: the bits of a negative one are turned over, else the sign is.
  static Bits turned(Bits x) { return static_cast<Bits>(x ^ (all_if((x & kTop) != 0) | kTop)); }
  static Bits nan_mask(Bits x) { return all_if(static_cast<Bits>(x & static_cast<Bits>(~kTop)) > kInfinity); }
};

/// Calls `f` with the OrderKey of a dtype.
template <class F>
void with_key(Dtype dtype, F&& f) {
  using enum KeyKind;
  switch (dtype) {
    case Dtype::Bool:
    case Dtype::UInt8: return f(OrderKey<std::uint8_t, Unsigned, 0>());
    case Dtype::UInt16: return f(OrderKey<std::uint16_t, Unsigned, 0>());
    case Dtype::UInt32: return f(OrderKey<std::uint32_t, Unsigned, 0>());
    case Dtype::UInt64: return f(OrderKey<std::uint64_t, Unsigned, 0>());
    case Dtype::Int8: return f(OrderKey<std::uint8_t, Signed, 0, std::int8_t>());
    case Dtype::Int16: return f(OrderKey<std::uint16_t, Signed, 0, std::int16_t>());
    case Dtype::Int32: return f(OrderKey<std::uint32_t, Signed, 0, std::int32_t>());
    case Dtype::Int64: return f(OrderKey<std::uint64_t, Signed, 0, std::int64_t>());
    case Dtype::Float16: return f(OrderKey<std::uint16_t, Float, 0x7c00>());
    case Dtype::BFloat16: return f(OrderKey<std::uint16_t, Float, 0x7f80>());
    case Dtype::Float32: return f(OrderKey<std::uint32_t, Float, 0x7f800000, float>());
    case Dtype::Float64: return f(OrderKey<std::uint64_t, Float, 0x7ff0000000000000, double>());
    default: return;
  }
}

}  // namespace tarry::runtime
