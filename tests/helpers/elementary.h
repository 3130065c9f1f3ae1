// The elementary functions as the C library has them in a wider type, which ours are measured against.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <tarry/half.h>

#include "graph/op.h"

namespace tarry::test {

inline constexpr graph::Op kUnaryFunctions[] = {
#define TARRY_FUNCTION(ENUM, NAME) graph::Op::ENUM,
#include "tests/helpers/functions.def"
};
inline constexpr graph::Op kBinaryFunctions[] = {graph::Op::Pow, graph::Op::Atan2, graph::Op::Hypot,
                                                 graph::Op::Logaddexp};

/// log(exp(a) + exp(b)). Near 0 it is as good as its terms: an absolute error of an ulp of 1, not a relative one.
template <class R>
R add_exponents(R a, R b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return a + std::log(R(2));
  const R most = std::fmax(a, b), least = std::fmin(a, b);
  if (most < 0 && most > R(-0.7)) return std::log1p(std::expm1(most) + std::exp(least));
  return most + std::log1p(std::exp(least - most));
}

/// The function's value in R, nearly correctly rounded; unary functions ignore b.
template <class R>
R exact_function(graph::Op op, R a, R b = 0) {
  using graph::Op;
  switch (op) {
    case Op::Sqrt: return std::sqrt(a);
    case Op::Rsqrt: return 1 / std::sqrt(a);
    case Op::Exp: return std::exp(a);
    case Op::Expm1: return std::expm1(a);
    case Op::Log: return std::log(a);
    case Op::Log1p: return std::log1p(a);
    case Op::Log2: return std::log2(a);
    case Op::Log10: return std::log10(a);
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Tan: return std::tan(a);
    case Op::Asin: return std::asin(a);
    case Op::Acos: return std::acos(a);
    case Op::Atan: return std::atan(a);
    case Op::Sinh: return std::sinh(a);
    case Op::Cosh: return std::cosh(a);
    case Op::Tanh: return std::tanh(a);
    case Op::Asinh: return std::asinh(a);
    case Op::Acosh: return std::acosh(a);
    case Op::Atanh: return std::atanh(a);
    case Op::Erf: return std::erf(a);
    case Op::Sigmoid: return a < 0 ? std::exp(a) / (1 + std::exp(a)) : 1 / (1 + std::exp(-a));
    case Op::Pow: return std::pow(a, b);
    case Op::Atan2: return std::atan2(a, b);
    case Op::Hypot: return std::hypot(a, b);
    case Op::Logaddexp: return add_exponents(a, b);
    default: return std::numeric_limits<R>::quiet_NaN();
  }
}

/// The format of a float: its precision, and the range of exponents as std::numeric_limits counts them.
template <class T>
struct Format {
  using Value = T;  ///< a C++ number that holds it
  static constexpr int digits = std::numeric_limits<T>::digits;
  static constexpr int min_exponent = std::numeric_limits<T>::min_exponent,
                       max_exponent = std::numeric_limits<T>::max_exponent;
};
template <>
struct Format<Half> {
  using Value = float;
  static constexpr int digits = 11, min_exponent = -13, max_exponent = 16;
};
template <>
struct Format<BFloat16> {
  using Value = float;
  static constexpr int digits = 8, min_exponent = -125, max_exponent = 128;
};

/// How far `got` is from `exact` in units of T's last place there; infinity where one is NaN, infinite or a signed zero
/// and the other is not. Beyond the largest T an infinity is as good as the power of two that would follow it.
template <class T, class R>
double error_in_ulps(T got, R exact) {
  const R value = static_cast<R>(static_cast<typename Format<T>::Value>(got));
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(value) || std::isnan(exact)) return std::isnan(value) && std::isnan(exact) ? 0 : wrong;
  if (std::isinf(exact)) return value == exact ? 0 : wrong;
  if (exact == 0) return value == 0 && std::signbit(value) == std::signbit(exact) ? 0 : wrong;
  const R end = std::ldexp(R(1), Format<T>::max_exponent);
  const R a = std::clamp(value, -end, end), b = std::clamp(exact, -end, end);
  const int exponent = std::clamp(std::ilogb(b), Format<T>::min_exponent - 1, Format<T>::max_exponent - 1);
  return static_cast<double>(std::fabs(a - b) / std::ldexp(R(1), exponent - (Format<T>::digits - 1)));
}

/// The published bound; correctly rounded functions are given what a reference in a wider type may err. A 16-bit float
/// is the rounded float32, whose ulp is 2^-13 or 2^-16 of its own, or twice that beside a power of two.
template <class T>
double published_ulps(graph::Op op) {
  const graph::OpInfo& row = graph::info(op);
  const double bound = std::is_same_v<T, double> ? row.ulp64 : row.ulp32;
  if (Format<T>::digits < 24) return 0.5 + std::fmax(bound, 0.5) * std::ldexp(1.0, Format<T>::digits - 23);
  return bound == 0 ? 0.5 + 0x1p-9 : bound;
}

/// The absolute error that is allowed where it is larger: logaddexp cancels where exp(a) + exp(b) is near 1.
template <class T>
double published_absolute(graph::Op op) {
  if (op != graph::Op::Logaddexp) return 0;
  return std::is_same_v<T, double> ? 0x1p-100 : 0x1p-51;
}

/// error_in_ulps, or 0 within the published absolute error.
template <class T, class R>
double error_beyond(graph::Op op, T got, R exact) {
  const R allowed = published_absolute<T>(op), value = static_cast<R>(static_cast<typename Format<T>::Value>(got));
  return allowed > 0 && std::fabs(value - exact) <= allowed ? 0 : error_in_ulps(got, exact);
}

}  // namespace tarry::test
