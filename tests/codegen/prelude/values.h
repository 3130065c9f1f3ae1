// Values to give to the prelude's functions, and integers that hold what comes out exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "tests/codegen/prelude/functions.h"

namespace tarry::test::prelude {

using Wide = __int128_t;
using UnsignedWide = __uint128_t;
using Big = boost::multiprecision::cpp_int;

template <class T>
T wrapped(Wide value) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value));
}

/// value 2^-scale as a float64 that rounds to any type of at most 24 bits as the exact value does.
inline double shortened(const Big& value, int scale) {
  if (value == 0) return 0;
  const Big size = abs(value);
  const int drop = std::max(0, static_cast<int>(msb(size)) - 50);
  Big kept = size >> drop;
  if ((kept << drop) != size) kept |= 1;
  const double result = std::ldexp(kept.convert_to<double>(), drop - scale);
  return value < 0 ? -result : result;
}

template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (Wide v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v)
    values.push_back(static_cast<T>(v));
  return values;
}

/// Everything within 2 of a power of two or 0, both signs, and all shift counts around the width.
template <class T>
std::vector<T> edges() {
  std::vector<T> values;
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); ++shift)
    for (Wide around = -2; around <= 2; ++around)
      for (Wide sign : {-1, 1}) values.push_back(wrapped<T>(sign * ((Wide(1) << shift) + around)));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <class T>
std::vector<T> all_halves() {
  std::vector<T> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) values.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  return values;
}

/// Both signs of 0, the smallest and largest denormal and normal, 1, 1.5, 3, infinity and NaN.
template <class T>
std::vector<T> special_halves() {
  const int fraction = std::is_same_v<T, Half> ? 10 : 7;
  const auto one = T(1.0).bits, infinity = T(INFINITY).bits, normal = static_cast<std::uint16_t>(1 << fraction);
  std::vector<T> values;
  for (const int size : {0,
                         1,
                         2,
                         3,
                         normal - 1,
                         +normal,
                         normal + 1,
                         one - 1,
                         +one,
                         one + 1,
                         T(1.5).bits + 0,
                         T(2.5).bits + 0,
                         T(3.0).bits + 0,
                         T(7.0).bits + 0,
                         infinity - 2,
                         infinity - 1,
                         +infinity,
                         infinity + 1,
                         infinity + normal / 2,
                         0x7fff})
    for (const int sign : {0, 0x8000}) values.push_back(T::from_bits(static_cast<std::uint16_t>(sign | size)));
  return values;
}

/// Random integers of every length, so that sticky bits of all weights occur, and the edges.
template <class T>
std::vector<T> integer_values() {
  std::vector<T> values = edges<T>();
  std::mt19937_64 random(17);
  for (int i = 0; i < 20'000; ++i)
    values.push_back(static_cast<T>(static_cast<T>(random()) >> (random() % (8 * sizeof(T)))));
  for (int i = 0; i < 20'000; ++i)  // few leading bits and one far below
    values.push_back(static_cast<T>((static_cast<T>(random() % 8192) << (random() % (8 * sizeof(T)))) +
                                    static_cast<T>(random() % 3) - 1));
  return values;
}

/// Specials, random bits, the neighbours of every 16-bit float and of the point half way to the next, and of integers.
template <class T, class Bits>
std::vector<T> float_values() {
  std::vector<T> values = test::special_floats<T>();
  std::mt19937_64 random(19);
  for (int i = 0; i < 20'000; ++i) {
    const Bits bits = static_cast<Bits>(random());
    T value;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  const auto around = [&](T x) {
    values.insert(values.end(), {x, std::nextafter(x, T(INFINITY)), std::nextafter(x, T(-INFINITY))});
  };
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    const double pairs[2][2] = {
        {static_cast<double>(Half::from_bits(low)), static_cast<double>(Half::from_bits(high))},
        {static_cast<double>(BFloat16::from_bits(low)), static_cast<double>(BFloat16::from_bits(high))}};
    for (const auto& pair : pairs) {
      around(static_cast<T>(pair[0]));
      around(static_cast<T>(pair[0] / 2 + pair[1] / 2));
    }
  }
  for (const std::int64_t i : edges<std::int64_t>()) {
    around(static_cast<T>(i));
    around(static_cast<T>(i) + T(0.5));
  }
  for (const std::uint64_t i : edges<std::uint64_t>()) around(static_cast<T>(i));
  around(T(65520));
  around(T(0x1.ffp127));
  return values;
}

}  // namespace tarry::test::prelude
