// same_bits: what the tests mean by "bit for bit". Equal bits, where any NaN equals any NaN.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <tarry/shape.h>

namespace tarry::test {

/// True where a and b have the same bits, or are both NaN: arithmetic leaves sign and payload of a NaN open.
template <class T>
  requires std::is_arithmetic_v<T> || detail::is_half<T>
bool same_bits(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
  } else if constexpr (detail::is_half<T>) {
    const auto x = static_cast<float>(a), y = static_cast<float>(b);
    return a.bits == b.bits || (x != x && y != y);
  } else {
    static_assert(std::integral<T>, "no bits to compare are defined for this type");
    return a == b;
  }
}

/// The first index at which two ranges of equal length differ, or nullopt; where lengths differ, the shorter one's.
template <class T>
std::optional<std::size_t> first_difference(std::span<const T> a, std::span<const T> b) {
  const std::size_t common = a.size() < b.size() ? a.size() : b.size();
  for (std::size_t i = 0; i < common; ++i) {
    if (!same_bits(a[i], b[i])) return i;
  }
  if (a.size() != b.size()) return common;
  return std::nullopt;
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return !first_difference(a, b);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a == b;
  } else {
    return same_bits(std::span<const T>(a), std::span<const T>(b));
  }
}

}  // namespace tarry::test
