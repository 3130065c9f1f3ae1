// The lesser or greater of two numbers, with the bits of minimum and maximum in kernels.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tarry::runtime {

enum class Extreme : std::uint8_t { Least, Most };

/// a where all bits of `which` are set, b where none is: a choice that a compiler leaves without a branch.
template <class Bits>
Bits pick(Bits which, Bits a, Bits b) {
  return static_cast<Bits>(b ^ ((a ^ b) & which));
}

/// NaN is both, and of zeros -0 is the lesser.
template <Extreme kWhich, class T>
T choose(T a, T b) {
  constexpr bool kLeast = kWhich == Extreme::Least;
  const bool is_first = kLeast ? a < b : a > b;
  const auto all_if = [](auto condition) { return static_cast<decltype(condition)>(0 - condition); };
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto p = std::bit_cast<Bits>(a), q = std::bit_cast<Bits>(b);
    Bits better = pick(all_if(Bits{is_first}), p, q);
    better = pick(all_if(Bits{a == b}), kLeast ? p | q : p & q, better);
    return std::bit_cast<T>(pick(all_if(Bits{a != a}), p, better));
  } else {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(pick(all_if(Bits{is_first}), static_cast<Bits>(a), static_cast<Bits>(b)));
  }
}

}  // namespace tarry::runtime
