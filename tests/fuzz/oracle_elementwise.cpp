// The oracle for elementwise functions: one element at a time in higher precision, rounded once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "graph/op.h"
#include "tests/fuzz/oracle_values.h"
#include "tests/helpers/elementary.h"
#include "tests/helpers/floor_quotient.h"
#include "tests/helpers/same_bits.h"

namespace tarry::test::fuzz {
namespace {

template <class T>
constexpr bool kFloating = std::is_floating_point_v<T>;

template <class T>
T smaller(T a, T b) {
  if constexpr (kFloating<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
  if constexpr (kFloating<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

/// The result for a and b in the dtype itself, not in the one it computes in.
template <class T>
T next_after(T a, T b) {
  if constexpr (kHalf<T>) {
    const auto x = static_cast<float>(a), y = static_cast<float>(b);
    if (x != x || y != y) return T(NAN);
    if (x == y) return b;
    if (x == 0) return T::from_bits(static_cast<std::uint16_t>((b.bits & 0x8000) | 1));
    const bool grows = (x < y) == (x > 0);
    return T::from_bits(static_cast<std::uint16_t>(grows ? a.bits + 1 : a.bits - 1));
  } else {
    return std::nextafter(a, b);
  }
}

template <class T>
T float_binary(Function f, T a, T b) {
  const Wide<T> x = a, y = b;
  switch (f) {
    case Function::Add: return static_cast<T>(x + y);
    case Function::Subtract: return static_cast<T>(x - y);
    case Function::Multiply: return static_cast<T>(x * y);
    case Function::Divide: return static_cast<T>(x / y);
    case Function::FloorDivide: return test::floor_quotient(a, b);
    case Function::Remainder: {
      const T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(T{0}, b);
      return (rest < 0) != (b < 0) ? static_cast<T>(Wide<T>(rest) + y) : rest;
    }
    case Function::Copysign: return std::copysign(a, std::isnan(b) ? T{0} : b);  // fuzz/program.cpp, number_of
    case Function::Minimum: return smaller(a, b);
    default: return larger(a, b);
  }
}

/// a to the power b modulo 2^64; a negative b truncates the true value.
std::uint64_t integer_power(Int128 a, Int128 b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : ~std::uint64_t{0}) : 0;
  std::uint64_t result = 1;
  for (auto base = static_cast<std::uint64_t>(a); b > 0; b /= 2, base *= base)
    if (b % 2 == 1) result *= base;
  return result;
}

template <class T>
T integer_binary(Function f, T a, T b) {
  const Int128 x = a, y = b;
  const Int128 quotient = y == 0 ? Int128(0) : x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  const bool past = y < 0 || y >= std::numeric_limits<std::make_unsigned_t<T>>::digits;
  switch (f) {
    case Function::Add: return static_cast<T>(x + y);
    case Function::Subtract: return static_cast<T>(x - y);
    case Function::Multiply: return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    case Function::FloorDivide: return static_cast<T>(quotient);
    case Function::Remainder: return y == 0 ? T{0} : static_cast<T>(x - quotient * y);
    case Function::Pow: return static_cast<T>(integer_power(x, y));
    case Function::BitwiseAnd: return static_cast<T>(x & y);
    case Function::BitwiseOr: return static_cast<T>(x | y);
    case Function::BitwiseXor: return static_cast<T>(x ^ y);
    case Function::LeftShift: return past ? T{0} : static_cast<T>(static_cast<std::uint64_t>(a) << static_cast<int>(b));
    case Function::RightShift: return past ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> static_cast<int>(b));
    case Function::Minimum: return smaller(a, b);
    default: return larger(a, b);
  }
}

bool bool_binary(Function f, bool a, bool b) {
  switch (f) {
    case Function::BitwiseAnd: return a && b;
    case Function::BitwiseOr: return a || b;
    default: return a != b;  // bitwise_xor
  }
}

bool compare(Function f, Quad a, Quad b) {
  switch (f) {
    case Function::Equal: return a == b;
    case Function::NotEqual: return a != b;
    case Function::Less: return a < b;
    case Function::LessEqual: return a <= b;
    case Function::Greater: return a > b;
    case Function::GreaterEqual: return a >= b;
    case Function::LogicalAnd: return a != 0 && b != 0;
    case Function::LogicalXor: return a != b;
    default: return a != 0 || b != 0;
  }
}
bool compares(Function f) { return f >= Function::Equal && f <= Function::LogicalXor; }
bool classifies(Function f) { return f >= Function::Isfinite && f <= Function::LogicalNot; }

template <class T>
bool classify(Function f, T a) {
  if constexpr (kFloating<T>) {
    if (f == Function::Isfinite) return std::isfinite(a);
    if (f == Function::Isinf) return std::isinf(a);
    return f == Function::Isnan ? std::isnan(a) : std::signbit(a) && !std::isnan(a);
  } else {
    if (f == Function::LogicalNot) return a == T{};
    return f == Function::Isfinite || (f == Function::Signbit && a < T{});
  }
}

template <class T>
T float_unary(Function f, T a) {
  switch (f) {
    case Function::Negative: return std::copysign(a, std::signbit(a) ? T{1} : T{-1});
    case Function::Abs: return std::copysign(a, T{1});
    case Function::Sign: return a > 0 ? T{1} : a < 0 ? T{-1} : a == 0 ? T{0} : a;
    case Function::Square: return static_cast<T>(Wide<T>(a) * Wide<T>(a));
    case Function::Reciprocal: return static_cast<T>(Wide<T>(1) / Wide<T>(a));
    case Function::Ceil: return std::ceil(a);
    case Function::Floor: return std::floor(a);
    case Function::Round: return std::nearbyint(a);  // the tests run with round to nearest even
    case Function::Trunc: return std::trunc(a);
    case Function::Sqrt: return std::sqrt(a);  // IEEE 754: correctly rounded
    default: return a;                         // positive
  }
}

template <class T>
T integer_unary(Function f, T a) {
  const Int128 x = a;
  switch (f) {
    case Function::Negative: return static_cast<T>(-x);
    case Function::Abs: return static_cast<T>(x < 0 ? -x : x);
    case Function::Sign: return static_cast<T>(x > 0 ? 1 : x < 0 ? -1 : 0);
    case Function::Square: return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
    case Function::BitwiseInvert: return static_cast<T>(~x);
    default: return a;  // positive and the roundings
  }
}

/// a * b + c, rounded once.
template <class T>
T fused(T a, T b, T c) {
  if constexpr (std::is_same_v<T, bool>) {
    return a;
  } else if constexpr (kHalf<T>) {
    // The exact sum is sum + error in 113 bits each; to odd in float64, then once.
    const Quad product = Quad(static_cast<float>(a)) * Quad(static_cast<float>(b)),
               addend = Quad(static_cast<float>(c));
    const Quad sum = product + addend, part = sum - product, error = (product - (sum - part)) + (addend - part);
    auto wide = static_cast<double>(sum);
    if (std::isfinite(wide) && (Quad(wide) != sum || error != 0)) {
      std::int64_t bits = std::bit_cast<std::int64_t>(wide);
      const bool above = Quad(wide) > sum || (Quad(wide) == sum && error < 0);
      if (above == (wide > 0)) --bits;
      wide = std::bit_cast<double>(bits | 1);
    }
    return T(wide);
  } else if constexpr (kFloating<T>) {
    return std::fma(a, b, c);
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b) +
                          static_cast<std::uint64_t>(c));
  }
}

/// minimum(maximum(x, low), high).
template <class C>
C clipped(C x, C low, C high) {
  return smaller(larger(x, low), high);
}

template <class T, class C>
T binary(Function f, C a, C b) {
  if constexpr (kFloating<C>)
    return narrowed<T>(float_binary(f, a, b));
  else if constexpr (std::is_same_v<C, bool>)
    return bool_binary(f, a, b);
  else
    return integer_binary(f, a, b);
}

template <class T, class C>
T unary(Function f, C a) {
  if constexpr (kFloating<C>)
    return narrowed<T>(float_unary(f, a));
  else if constexpr (std::is_same_v<C, bool>)
    return !a;  // bitwise_invert
  else
    return integer_unary(f, a);
}

/// Every float64 beyond 2^63 is even. Said here because C libraries miss it for -infinity and -2^63.
long double power(long double x, long double y) { return std::pow(std::fabs(y) >= 0x1p63L ? std::fabs(x) : x, y); }

/// The functions of ulp bound above 0 in long double, correctly rounded for all that matters here.
long double transcendental(Function f, long double x, long double y) {
  if (f == Function::Pow) return power(x, y);
  if (f == Function::Logaddexp && x != y) return std::max(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
  const auto op = std::find(std::begin(graph::kOpNames), std::end(graph::kOpNames), name(f));
  return exact_function(static_cast<graph::Op>(op - std::begin(graph::kOpNames)), x, y);
}

/// Distance of got from the true value in units of the last place of T at the true value.
template <class T>
long double ulps(T got, long double exact) {
  using Limits = std::numeric_limits<T>;
  const auto overflow = std::ldexp(1.0L, Limits::max_exponent);
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0.0L : INFINITY;
  if (std::isinf(exact)) return static_cast<long double>(got) == exact ? 0.0L : INFINITY;  // a pole: log(0), exp(inf)
  const long double size = std::min(std::fabs(exact), overflow);
  const int exponent = size == 0 ? Limits::min_exponent
                                 : std::clamp(std::ilogb(size), Limits::min_exponent - 1, Limits::max_exponent - 1);
  const long double value =
      std::isinf(got) ? std::copysign(overflow, static_cast<long double>(got)) : static_cast<long double>(got);
  const long double clamped = std::copysign(size, exact);
  return std::fabs(value - clamped) / std::ldexp(1.0L, exponent - Limits::digits + 1);
}

/// True if `got`, a 16-bit float, is what a float32 within `bound` ulps of `exact` rounds to.
template <class T>
bool rounds_from(T got, long double exact, int bound) {
  const auto g = static_cast<float>(got);
  if (std::isnan(exact)) return std::isnan(g);
  if (std::isnan(g)) return false;
  const long double size = std::fabs(exact);
  const int exponent = size == 0 || std::isinf(size) ? 0 : std::max(std::ilogb(size), -126);
  const long double slack =
      std::isinf(size) || size == 0 ? 0 : static_cast<long double>(bound) * std::ldexp(1.0L, exponent - 23);
  const auto low = static_cast<float>(T(static_cast<double>(exact - slack))),
             high = static_cast<float>(T(static_cast<double>(exact + slack)));
  return g >= low && g <= high;
}

/// A number as it is, unless it is a fraction beside floats that it rounds among.
Quad exact(Scalar s, const Argument& other, std::span<const Tensor> values) {
  if (s.is_integer()) return s.kind() == Scalar::Kind::UInt ? Quad(s.as_uint()) : Quad(s.as_int());
  if (s.kind() == Scalar::Kind::Bool || other.value < 0) return Quad(s.to_double());
  const Dtype beside = values[static_cast<std::size_t>(other.value)].type.dtype;
  if (!is_floating(beside) || !fits(s, beside)) return Quad(s.to_double());
  return visit(beside, [&](auto zero) { return Quad(convert<double>(convert<decltype(zero)>(s))); });
}

/// The values of an argument, exactly, repeated over `shape`.
std::vector<Quad> exact_operand(const Argument& a, const Argument& other, std::span<const Tensor> values,
                                const Extents& shape) {
  if (a.value < 0) return std::vector<Quad>(static_cast<std::size_t>(count_of(shape)), exact(a.scalar, other, values));
  const Tensor& x = values[static_cast<std::size_t>(a.value)];
  std::vector<Quad> result;
  visit(x.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto elements = x.as<T>();
    for (const std::int64_t k : gather(x.type.shape, shape))
      result.push_back(Quad(Computed<T>(elements[static_cast<std::size_t>(k)])));
  });
  return result;
}

Tensor compared(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const Argument &a = s.arguments[0], &b = s.arguments[1];
  const std::vector<Quad> x = exact_operand(a, b, values, result.type.shape),
                          y = exact_operand(b, a, values, result.type.shape);
  const auto out = result.as<bool>();
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = compare(s.function, x[k], y[k]);
  return result;
}

/// A bound of clip: the nearest number that T has.
template <class T>
void clamp_bound(const Argument& bound, std::vector<T>& values) {
  if (bound.value >= 0 || fits(bound.scalar, dtype_of<T>)) return;
  const bool low = bound.scalar.to_double() < 0;
  T end{};
  if constexpr (kHalf<T>)
    end = T::from_bits(std::is_same_v<T, Half> ? 0x7bff : 0x7f7f);
  else
    end = low && std::is_integral_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  if constexpr (kHalf<T>)
    end.bits = static_cast<std::uint16_t>(end.bits | (low ? 0x8000 : 0));
  else if constexpr (kFloating<T>)
    end = low ? -end : end;
  std::fill(values.begin(), values.end(), end);
}

}  // namespace

Tensor elementwise(const Statement& s, std::span<const Tensor> values, Tensor result, Dtype computed) {
  const Extents& shape = result.type.shape;
  const Function f = s.function;
  if (compares(f)) return compared(s, values, std::move(result));
  visit(computed, [&](auto zero) {
    using T = decltype(zero);
    using C = Computed<T>;
    std::vector<std::vector<T>> raw;
    for (std::size_t i = f == Function::Where ? 1 : 0; i < s.arguments.size(); ++i)
      raw.push_back(operand<T>(s.arguments[i], values, shape));
    for (std::size_t i = 1; i < raw.size() && f == Function::Clip; ++i) clamp_bound(s.arguments[i], raw[i]);
    const auto x = [&raw](std::size_t i, std::size_t k) { return convert<C>(T(raw[i][k])); };
    if (classifies(f)) {
      const auto out = result.as<bool>();
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = classify<C>(f, x(0, k));
      return;
    }
    const auto out = result.as<T>();
    if (f == Function::Where) {
      const std::vector<std::uint8_t> condition = operand<std::uint8_t>(s.arguments[0], values, shape);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = condition[k] != 0 ? raw[0][k] : raw[1][k];
      return;
    }
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (f == Function::Clip)
        out[k] = narrowed<T>(clipped<C>(x(0, k), x(1, k), x(2, k)));
      else if (f == Function::Fma)
        out[k] = fused<T>(raw[0][k], raw[1][k], raw[2][k]);
      else if (raw.size() == 1)
        out[k] = unary<T, C>(f, x(0, k));
      else if (f != Function::Nextafter)
        out[k] = binary<T, C>(f, x(0, k), x(1, k));
      else if constexpr (kFloating<T> || kHalf<T>)
        out[k] = next_after<T>(raw[0][k], raw[1][k]);
    }
  });
  return result;
}

std::string judge_ulps(const Statement& s, std::span<const Tensor> values, const Tensor& got, Dtype computed,
                       int bound) {
  std::string problem;
  visit(computed, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kFloating<T> || kHalf<T>) {
      const std::vector<T> x = operand<T>(s.arguments[0], values, got.type.shape);
      const std::vector<T> y = s.arguments.size() > 1 ? operand<T>(s.arguments[1], values, got.type.shape) : x;
      const auto out = got.as<T>();
      for (std::size_t k = 0; k < out.size() && problem.empty(); ++k) {
        const auto a = static_cast<long double>(convert<double>(T(x[k]))),
                   b = static_cast<long double>(convert<double>(T(y[k])));
        const long double exact = transcendental(s.function, a, b);
        const auto value = convert<double>(T(out[k]));
        // Zeros have the sign that the true result has, where it is a zero.
        const bool wrong_zero = exact == 0 && value == 0 && std::signbit(value) != std::signbit(exact);
        long double distance = 0;
        if constexpr (kFloating<T>)
          distance = ulps(out[k], exact);
        else
          distance = rounds_from(T(out[k]), exact, bound) ? 0.0L : INFINITY;
        // logaddexp cancels where exp(a) + exp(b) is near 1: there its bound is absolute, and long double resolves no
        // more.
        const long double allowed = s.function != Function::Logaddexp ? 0.0L : sizeof(T) == 8 ? 0x1p-62L : 0x1p-51L;
        const bool near = allowed > 0 && std::fabs(static_cast<long double>(value) - exact) <= allowed;
        if ((near || distance <= static_cast<long double>(bound)) && !wrong_zero) continue;
        char message[200];
        std::snprintf(message, sizeof message, "element %zu: %s(%La, %La) gave %a, %.3Lf ulp from %.21La; bound %d", k,
                      name(s.function), a, b, value, distance, exact, bound);
        problem = message;
      }
    }
  });
  return problem;
}

}  // namespace tarry::test::fuzz
