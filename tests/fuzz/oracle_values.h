// Shared by the parts of the oracle: wide types, index arithmetic, conversion.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {

__extension__ typedef __int128 Int128;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;  // 113 bits where there is no __float128
#endif

/// Truncates; NaN gives 0, the rest saturates. Floats round once, to nearest even; integers wrap.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kHalf<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (kHalf<To> && std::is_integral_v<From>) {
    // To odd in float64 first: a 64-bit integer has more bits than it, and then rounds once.
    auto wide = static_cast<double>(x);
    if (static_cast<long double>(wide) != static_cast<long double>(x)) {
      std::int64_t bits = std::bit_cast<std::int64_t>(wide);
      const bool away = std::fabs(static_cast<long double>(wide)) > std::fabs(static_cast<long double>(x));
      bits = (away ? bits - 1 : bits) | 1;
      wide = std::bit_cast<double>(bits);
    }
    return To(wide);
  } else if constexpr (kHalf<To>) {
    return To(static_cast<double>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const auto wide = static_cast<long double>(x);
    if (wide != wide) return 0;
    if (wide <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (wide >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);  // integers wrap (C++20), floats round to nearest
  }
}

template <class T>
T convert(Scalar s) {
  switch (s.kind()) {
    case Scalar::Kind::Float: return convert<T>(s.as_float());
    case Scalar::Kind::UInt: return convert<T>(s.as_uint());
    default: return convert<T>(s.as_int());
  }
}

/// At least 2p + 2 bits for + - * / of p-bit floats, so that rounding twice is rounding once (Figueroa 1995); no
/// overflow for integers.
template <class T>
using Wide =
    std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<std::is_same_v<T, double>, Quad, Int128>>;

/// The lesser and the greater of two numbers: a NaN where one is, and -0 below +0.
template <class T>
T lesser(T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? a : b;
  return b < a ? b : a;
}
template <class T>
T greater(T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

Extents row_major(const Extents& shape);
Extents coordinates(std::int64_t k, const Extents& shape);
/// For every element of `shape` the number of the element of `from` that broadcasting puts there.
std::vector<std::int64_t> gather(const Extents& from, const Extents& shape);
Tensor converted(const Tensor& x, Dtype dtype);

/// An argument in the dtype the function computes in, repeated over `shape`.
template <class T>
std::vector<T> operand(const Argument& a, std::span<const Tensor> values, const Extents& shape) {
  const auto count = static_cast<std::size_t>(count_of(shape));
  std::vector<T> result(count);
  if (a.value < 0) {
    std::fill(result.begin(), result.end(), convert<T>(a.scalar));
    return result;
  }
  const Tensor& x = values[static_cast<std::size_t>(a.value)];
  const std::vector<std::int64_t> from = gather(x.type.shape, shape);
  visit(x.type.dtype, [&](auto zero) {
    const auto elements = x.as<decltype(zero)>();
    for (std::size_t k = 0; k < count; ++k) result[k] = convert<T>(elements[static_cast<std::size_t>(from[k])]);
  });
  return result;
}

/// The elements of an elementwise function of ulp bound 0 that computes in `computed`.
Tensor elementwise(const Statement& s, std::span<const Tensor> values, Tensor result, Dtype computed);
/// Those of any other within `bound` ulps, or what is wrong.
std::string judge_ulps(const Statement& s, std::span<const Tensor> values, const Tensor& got, Dtype computed,
                       int bound);
/// The element of an axis of `extent` that an index takes: wrapped or clipped.
std::int64_t place_of(const Tensor& indices, std::int64_t k, std::int64_t extent, bool clip);
/// x with what the indices put there.
Tensor with_puts(const Statement& s, std::span<const Tensor> values, Tensor result);
/// The elements of scans, searches, segments and functions that a user wrote.
Tensor line_values(const Statement& s, std::span<const Tensor> values, const Type& type);
std::string judge_reduction(const Statement& s, const Tensor& x, const Tensor& got);

}  // namespace tarry::test::fuzz
