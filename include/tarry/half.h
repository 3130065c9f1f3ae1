// Half and BFloat16: the 16-bit floats of the array API as C++ element types. Storage and exact conversion only;
// arithmetic belongs to arrays.
#pragma once

#include <concepts>
#include <cstdint>

namespace tarry {
inline namespace v0 {

namespace detail {

/// `value` rounded once, to nearest even, to a float of 1 sign, `exponent` and `fraction` bits. NaNs keep their sign
/// and the high bits of their payload and become quiet.
constexpr std::uint16_t round_to_16(double value, int exponent, int fraction) noexcept {
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
  const std::uint64_t size = bits & 0x7fffffffffffffffu;
  const auto infinity = static_cast<std::uint16_t>(((1u << exponent) - 1) << fraction);
  if (size > 0x7ff0000000000000u)
    return static_cast<std::uint16_t>(sign | infinity | 1u << (fraction - 1) |
                                      ((size & 0xfffffffffffffu) >> (52 - fraction)));
  const int bias = (1 << (exponent - 1)) - 1;
  const int power = static_cast<int>(size >> 52) - 1023;
  if (power > bias) return static_cast<std::uint16_t>(sign | infinity);
  if (power < -bias - fraction) return sign;  // below half of the smallest denormal
  const std::uint64_t mantissa = (size & 0xfffffffffffffu) | 0x10000000000000u;
  const int low = power < 1 - bias ? 1 - bias - power : 0;  // bits that a denormal loses
  const int drop = 52 - fraction + low;
  const std::uint64_t kept = mantissa >> drop, rest = mantissa & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rounded = kept + ((rest > half || (rest == half && (kept & 1) != 0)) ? 1 : 0);
  const std::uint64_t base = low != 0 ? 0 : static_cast<std::uint64_t>(power + bias - 1) << fraction;
  return static_cast<std::uint16_t>(sign | (base + rounded));  // a carry moves into the exponent, up to infinity
}

constexpr float widen_from_16(std::uint16_t bits, int exponent, int fraction) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 15) << 31;
  const std::uint32_t size = bits & 0x7fffu;
  const std::uint32_t field = size >> fraction, low = size & ((1u << fraction) - 1);
  const int bias = (1 << (exponent - 1)) - 1;
  if (field == (1u << exponent) - 1) return __builtin_bit_cast(float, sign | 0x7f800000u | low << (23 - fraction));
  if (field != 0) {
    const auto power = static_cast<std::uint32_t>(static_cast<int>(field) - bias + 127);
    return __builtin_bit_cast(float, sign | power << 23 | low << (23 - fraction));
  }
  if (exponent == 8) return __builtin_bit_cast(float, sign | low << (23 - fraction));  // denormal in float32 as well
  const float unit = __builtin_bit_cast(float, static_cast<std::uint32_t>(127 + 1 - bias - fraction) << 23);
  const float value = static_cast<float>(low) * unit;
  return sign != 0 ? -value : value;
}

/// Exact in every floating-point state: where the caller flushes denormals, a conversion takes them for zeros.
constexpr double widen_to_64(float value) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  if ((bits & 0x7f800000u) != 0) return value;
  const double size = static_cast<double>(bits & 0x007fffffu) * 0x1p-149;
  return bits >> 31 != 0 ? -size : size;
}

}  // namespace detail

/// IEEE binary16: 11 significant bits, largest value 65504.
struct Half {
  std::uint16_t bits = 0;
  constexpr Half() noexcept = default;
  constexpr explicit Half(double value) noexcept : bits(detail::round_to_16(value, 5, 10)) {}
  constexpr explicit Half(std::same_as<float> auto value) noexcept : Half(detail::widen_to_64(value)) {}
  [[nodiscard]] static constexpr Half from_bits(std::uint16_t bits) noexcept {
    Half h;
    h.bits = bits;
    return h;
  }
  constexpr explicit operator float() const noexcept { return detail::widen_from_16(bits, 5, 10); }
  constexpr explicit operator double() const noexcept { return detail::widen_to_64(static_cast<float>(*this)); }
};

/// The upper half of a float32: 8 significant bits, the range of float32.
struct BFloat16 {
  std::uint16_t bits = 0;
  constexpr BFloat16() noexcept = default;
  constexpr explicit BFloat16(double value) noexcept : bits(detail::round_to_16(value, 8, 7)) {}
  constexpr explicit BFloat16(std::same_as<float> auto value) noexcept : BFloat16(detail::widen_to_64(value)) {}
  [[nodiscard]] static constexpr BFloat16 from_bits(std::uint16_t bits) noexcept {
    BFloat16 b;
    b.bits = bits;
    return b;
  }
  constexpr explicit operator float() const noexcept { return detail::widen_from_16(bits, 8, 7); }
  constexpr explicit operator double() const noexcept { return detail::widen_to_64(static_cast<float>(*this)); }
};

}  // namespace v0
}  // namespace tarry
