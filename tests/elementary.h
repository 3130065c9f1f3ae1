// The elementary functions as the C library has them in a wider type, which ours are measured against.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "graph/op.h"

namespace tarry::test {

inline constexpr graph::Op kUnaryFunctions[] = {
    graph::Op::Rsqrt, graph::Op::Exp,   graph::Op::Expm1, graph::Op::Log,   graph::Op::Log1p, graph::Op::Log2,
    graph::Op::Log10, graph::Op::Sin,   graph::Op::Cos,   graph::Op::Tan,   graph::Op::Asin,  graph::Op::Acos,
    graph::Op::Atan,  graph::Op::Sinh,  graph::Op::Cosh,  graph::Op::Tanh,  graph::Op::Asinh, graph::Op::Acosh,
    graph::Op::Atanh, graph::Op::Erf,   graph::Op::Sigmoid};
inline constexpr graph::Op kBinaryFunctions[] = {graph::Op::Pow, graph::Op::Atan2, graph::Op::Hypot, graph::Op::Logaddexp};

/// log(exp(a) + exp(b)); loses relative accuracy where that sum is near 1.
template <class R> R add_exponents(R a, R b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return a + std::log(R(2));
  return std::fmax(a, b) + std::log1p(std::exp(std::fmin(a, b) - std::fmax(a, b)));
}

/// The function's value in R, nearly correctly rounded; unary functions ignore b.
template <class R> R exact_function(graph::Op op, R a, R b = 0) {
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

/// How far `got` is from `exact` in units of T's last place there; infinity where one is NaN, infinite or a signed zero and
/// the other is not. Beyond the largest T an infinity is as good as the power of two that would follow it.
template <class T, class R> double error_in_ulps(T got, R exact) {
  using Limits = std::numeric_limits<T>;
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : wrong;
  if (std::isinf(exact)) return static_cast<R>(got) == exact ? 0 : wrong;
  if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : wrong;
  const R end = std::ldexp(R(1), Limits::max_exponent);
  const R a = std::clamp(static_cast<R>(got), -end, end), b = std::clamp(exact, -end, end);
  const int exponent = std::clamp(std::ilogb(b), Limits::min_exponent - 1, Limits::max_exponent - 1);
  return static_cast<double>(std::fabs(a - b) / std::ldexp(R(1), exponent - (Limits::digits - 1)));
}

/// The published bound; correctly rounded functions are given what a reference in a wider type may err.
template <class T> double published_ulps(graph::Op op) {
  const graph::OpInfo& row = graph::info(op);
  const double bound = std::is_same_v<T, float> ? row.ulp32 : row.ulp64;
  return bound == 0 ? 0.5 + 0x1p-9 : bound;
}

}  // namespace tarry::test
