// The oracle: elementwise functions, views and creation. Reductions are in oracle_reduce.cpp.
#include "tests/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "tests/oracle_values.h"
#include "tests/same_bits.h"

namespace tarry::fuzz {
namespace {

template <class T>
constexpr bool kFloating = std::is_floating_point_v<T>;

/// Truncates; NaN gives 0, the rest saturates. Every bound is exact in long double or compared as one.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (kFloating<From> && !kFloating<To>) {
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

template <class T>
T float_arithmetic(Function f, T a, T b) {
  const Wide<T> x = a, y = b;
  switch (f) {
    case Function::Add: return static_cast<T>(x + y);
    case Function::Subtract: return static_cast<T>(x - y);
    case Function::Multiply: return static_cast<T>(x * y);
    case Function::Divide: return static_cast<T>(x / y);
    case Function::FloorDivide: return std::floor(static_cast<T>(x / y));
    case Function::Remainder: {
      const T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(T{0}, b);
      return (rest < 0) != (b < 0) ? static_cast<T>(Wide<T>(rest) + y) : rest;
    }
    case Function::Minimum: return smaller(a, b);
    default: return larger(a, b);
  }
}

template <class T>
T integer_arithmetic(Function f, T a, T b) {
  const Wide<T> x = a, y = b;
  const Wide<T> quotient = y == 0 ? Wide<T>(0) : x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  switch (f) {
    case Function::Add: return static_cast<T>(x + y);
    case Function::Subtract: return static_cast<T>(x - y);
    case Function::Multiply: return static_cast<T>(x * y);
    case Function::FloorDivide: return static_cast<T>(quotient);
    case Function::Remainder: return y == 0 ? T{0} : static_cast<T>(x - quotient * y);
    case Function::Minimum: return smaller(a, b);
    default: return larger(a, b);
  }
}

template <class T>
bool compare(Function f, T a, T b) {
  switch (f) {
    case Function::Equal: return a == b;
    case Function::NotEqual: return a != b;
    case Function::Less: return a < b;
    case Function::LessEqual: return a <= b;
    case Function::Greater: return a > b;
    case Function::GreaterEqual: return a >= b;
    case Function::LogicalAnd: return a && b;
    default: return a || b;
  }
}
bool gives_bool(Function f) { return f >= Function::Equal && f <= Function::LogicalOr; }

template <class T>
T unary(Function f, T a) {
  if constexpr (std::is_same_v<T, bool>) {
    return !a;  // logical_not
  } else if constexpr (kFloating<T>) {
    if (f == Function::Negative) return std::copysign(a, std::signbit(a) ? T{1} : T{-1});
    return f == Function::Abs ? std::copysign(a, T{1}) : std::sqrt(a);  // IEEE 754: sqrt is correctly rounded
  } else {
    const Wide<T> x = a;
    return static_cast<T>(f == Function::Negative || x < 0 ? -x : x);
  }
}

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

Tensor elementwise(const Statement& s, std::span<const Tensor> values, Tensor result, Dtype computed) {
  const Extents& shape = result.type.shape;
  visit(computed, [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::vector<T>> x;
    const std::size_t first = s.function == Function::Where ? 1 : 0;
    for (std::size_t i = first; i < s.arguments.size(); ++i) x.push_back(operand<T>(s.arguments[i], values, shape));
    if (gives_bool(s.function)) {
      const auto out = result.as<bool>();
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = compare<T>(s.function, x[0][k], x[1][k]);
      return;
    }
    const auto out = result.as<T>();
    if (s.function == Function::Where) {
      const std::vector<std::uint8_t> condition = operand<std::uint8_t>(s.arguments[0], values, shape);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = condition[k] != 0 ? x[0][k] : x[1][k];
    } else if (x.size() == 1) {
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = unary<T>(s.function, x[0][k]);
    } else if constexpr (kFloating<T>) {
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = float_arithmetic(s.function, x[0][k], x[1][k]);
    } else if constexpr (!std::is_same_v<T, bool>) {
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = integer_arithmetic(s.function, x[0][k], x[1][k]);
    }
  });
  return result;
}

/// For every element of the view the number of the element of x that it shows.
std::vector<std::int64_t> view_indices(const Statement& s, const Extents& x, const Extents& shape) {
  const std::size_t rank = x.size();
  if (s.function == Function::BroadcastTo) return gather(x, shape);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = static_cast<std::int64_t>(k);
  if (s.function == Function::ExpandDims || s.function == Function::Squeeze) return indices;  // extents of 1 move nothing
  std::vector<std::size_t> from(rank);  // axis of x behind axis d of the view
  for (std::size_t d = 0; d < rank; ++d) from[d] = d;
  if (s.function == Function::MatrixTranspose) std::swap(from[rank - 1], from[rank - 2]);
  if (s.function == Function::PermuteDims)
    for (std::size_t d = 0; d < rank; ++d) from[d] = static_cast<std::size_t>(s.axes[d] < 0 ? s.axes[d] + static_cast<std::int64_t>(rank) : s.axes[d]);
  const Extents reversed = s.function == Function::Flip ? *normalised_axes(s.axes, rank) : Extents{};
  const Extents strides = row_major(x);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Extents at = coordinates(static_cast<std::int64_t>(k), shape);
    indices[k] = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const bool is_reversed = std::find(reversed.begin(), reversed.end(), static_cast<std::int64_t>(d)) != reversed.end();
      indices[k] += (is_reversed ? shape[d] - 1 - at[d] : at[d]) * strides[from[d]];
    }
  }
  return indices;
}

Tensor view(const Statement& s, const Tensor& x, Tensor result) {
  const std::vector<std::int64_t> indices = view_indices(s, x.type.shape, result.type.shape);
  const std::size_t size = itemsize(x.type.dtype);
  for (std::size_t k = 0; k < indices.size(); ++k)
    std::copy_n(x.bytes.data() + static_cast<std::size_t>(indices[k]) * size, size, result.bytes.data() + k * size);
  return result;
}

template <class T>
T created(const Statement& s, std::int64_t k, const Extents& shape) {
  const auto scalar = [&](std::size_t i) { return s.arguments[i].scalar; };
  const auto index = static_cast<double>(k);
  switch (s.function) {
    case Function::Full: return convert<T>(scalar(0));
    case Function::FullLike: return convert<T>(scalar(1));
    case Function::Ones:
    case Function::OnesLike: return static_cast<T>(1);
    case Function::Arange:
      if (scalar(0).is_integer() && scalar(1).is_integer() && scalar(2).is_integer())
        return convert<T>(scalar(0).as_int() + k * scalar(2).as_int());
      return convert<T>(index * scalar(2).to_double() + scalar(0).to_double());
    case Function::Linspace: {
      const double first = scalar(0).to_double(), last = scalar(1).to_double();
      if (s.flag && k == shape[0] - 1 && k > 0) return convert<T>(last);
      const std::int64_t intervals = s.flag ? shape[0] - 1 : shape[0];
      const double step = intervals > 0 ? (last - first) / static_cast<double>(intervals) : 0;
      return convert<T>(index * step + first);
    }
    case Function::Eye: return static_cast<T>(k % shape[1] == k / shape[1] + static_cast<std::int64_t>(s.number) ? 1 : 0);
    default: return T{};
  }
}

Tensor create(const Statement& s, Tensor result) {
  visit(result.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto out = result.as<T>();
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = created<T>(s, static_cast<std::int64_t>(k), result.type.shape);
  });
  return result;
}

Tensor cast(const Tensor& x, Tensor result) {
  visit(result.type.dtype, [&](auto to) {
    const auto out = result.as<decltype(to)>();
    visit(x.type.dtype, [&](auto from) {
      const auto in = x.as<decltype(from)>();
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = convert<decltype(to)>(in[k]);
    });
  });
  return result;
}

long double transcendental(Function f, long double x) {
  return f == Function::Exp ? std::exp(x) : f == Function::Log ? std::log(x) : std::erf(x);
}

/// Distance of got from the true value in units of the last place of T at the true value.
template <class T>
long double ulps(T got, long double exact) {
  using Limits = std::numeric_limits<T>;
  const auto overflow = std::ldexp(1.0L, Limits::max_exponent);
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0.0L : INFINITY;
  if (std::isinf(exact)) return static_cast<long double>(got) == exact ? 0.0L : INFINITY;  // a pole: log(0), exp(inf)
  const long double size = std::min(std::fabs(exact), overflow);
  const int exponent = size == 0 ? Limits::min_exponent : std::clamp(std::ilogb(size), Limits::min_exponent - 1, Limits::max_exponent - 1);
  const long double value = std::isinf(got) ? std::copysign(overflow, static_cast<long double>(got)) : static_cast<long double>(got);
  const long double clamped = std::copysign(size, exact);
  return std::fabs(value - clamped) / std::ldexp(1.0L, exponent - Limits::digits + 1);
}

std::string judge_ulps(const Statement& s, std::span<const Tensor> values, const Tensor& got, int bound) {
  std::string problem;
  visit(got.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kFloating<T>) {
      const std::vector<T> x = operand<T>(s.arguments[0], values, got.type.shape);
      const auto out = got.as<T>();
      for (std::size_t k = 0; k < out.size() && problem.empty(); ++k) {
        const long double exact = transcendental(s.function, static_cast<long double>(x[k]));
        const long double distance = ulps(out[k], exact);
        const bool sign_of_zero = x[k] == 0 && s.function == Function::Erf && !test::same_bits(out[k], x[k]);
        if (distance <= static_cast<long double>(bound) && !sign_of_zero) continue;
        char message[160];
        std::snprintf(message, sizeof message, "element %zu: %s(%a) gave %a, %.3Lf ulp from %.21La; bound %d", k, name(s.function),
                      static_cast<double>(x[k]), static_cast<double>(out[k]), distance, exact, bound);
        problem = message;
      }
    }
  });
  return problem;
}

template <class T>
std::string element_text(T v) {
  char digits[48];
  if constexpr (kFloating<T>) std::snprintf(digits, sizeof digits, "%a", static_cast<double>(v));
  else std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(v));
  return digits;
}

std::string text(const Type& t) {
  std::string s = std::string(tarry::name(t.dtype)) + " (";
  for (const std::int64_t extent : t.shape) s += std::to_string(extent) + ",";
  return s + ")";
}

}  // namespace

Extents row_major(const Extents& shape) {
  Extents strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

Extents coordinates(std::int64_t k, const Extents& shape) {
  Extents at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; k /= shape[d]) at[d] = k % shape[d];
  return at;
}

std::vector<std::int64_t> gather(const Extents& from, const Extents& shape) {
  const Extents strides = row_major(from);
  const std::size_t lead = shape.size() - from.size();
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t k = 0; k < indices.size(); ++k) {
    auto rest = static_cast<std::int64_t>(k);
    for (std::size_t d = shape.size(); d-- > lead; rest /= shape[d])
      if (from[d - lead] != 1) indices[k] += rest % shape[d] * strides[d - lead];
  }
  return indices;
}

Tensor converted(const Tensor& x, Dtype dtype) { return cast(x, Tensor({dtype, x.type.shape})); }

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.type != expected.type) return text(got.type) + " instead of " + text(expected.type);
  return visit(got.type.dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    const auto a = got.as<T>(), b = expected.as<T>();
    const auto at = test::first_difference(a, b);
    if (!at) return "";
    return "element " + std::to_string(*at) + " of " + text(got.type) + ": " + element_text(a[*at]) + " instead of " + element_text(b[*at]);
  });
}

std::string judge(const Statement& s, std::span<const Tensor> values, const Tensor& got) {
  std::vector<Type> types;
  for (const Tensor& v : values) types.push_back(v.type);
  const std::optional<Type> type = infer(s, types);
  if (!type) return "the statement should have thrown";
  if (got.type != *type) return text(got.type) + " instead of " + text(*type);
  const auto x = [&]() -> const Tensor& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  switch (family(s.function)) {
    case Family::Astype: return difference(got, cast(x(), Tensor(*type)));
    case Family::View: return difference(got, view(s, x(), Tensor(*type)));
    case Family::Create: return difference(got, create(s, Tensor(*type)));
    case Family::Reduce: return judge_reduction(s, x(), got);
    default: break;
  }
  const int bound = ulp_bound(s.function, type->dtype);
  if (bound > 0) return judge_ulps(s, values, got, bound);
  return difference(got, elementwise(s, values, Tensor(*type), *compute_dtype(s, types)));
}

}  // namespace tarry::fuzz
