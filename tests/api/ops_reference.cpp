// The definitions behind judge().
#include "tests/api/ops_reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "tests/helpers/elementary.h"
#include "tests/helpers/test.h"

namespace tarry::test {
namespace {

using graph::Op;
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideBits;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;  // 113 bits where there is no __float128
#endif

// ---- Formats and exact conversions. ----

struct FloatFormat {
  int precision, least, greatest;  ///< bits of the significand; exponents of the least and the greatest normal numbers
};
FloatFormat format_of(Dtype d) {
  switch (d) {
    case Dtype::Float16: return {11, -14, 15};
    case Dtype::BFloat16: return {8, -126, 127};
    case Dtype::Float32: return {24, -126, 127};
    default: return {53, -1022, 1023};
  }
}

int width_of(Dtype d) { return static_cast<int>(8 * itemsize(d)); }
bool is_signed(Dtype d) { return info(d).kind == DtypeKind::Int; }
std::uint64_t mask_of(Dtype d) { return ~std::uint64_t{0} >> (64 - width_of(d)); }
std::uint64_t sign_of(Dtype d) { return std::uint64_t{1} << (width_of(d) - 1); }

Quad power_of_two(int e) { return std::ldexp(1.0L, e); }
Quad size_of(Quad x) { return x < 0 ? -x : x; }
bool is_nan(Quad x) { return x != x; }
bool is_finite(Quad x) { return x - x == 0; }
bool is_negative(Quad x) { return std::signbit(static_cast<long double>(x)); }

/// The exponent of x, which is finite and not 0: 2^e <= |x| < 2^(e + 1).
int exponent(Quad x) {
  int e = 0;
  std::frexp(static_cast<long double>(x), &e);
  return size_of(x) < power_of_two(e - 1) ? e - 2 : e - 1;  // the conversion may have rounded up to the next power
}

/// Distance of neighbours at x.
Quad spacing(Quad x, FloatFormat f) {
  return power_of_two((x == 0 ? f.least : std::max(exponent(x), f.least)) - f.precision + 1);
}

/// To the nearest number of the format, ties to even.
Quad rounded(Quad x, Dtype to) {
  if (x == 0 || !is_finite(x)) return x;
  const FloatFormat f = format_of(to);
  const Quad infinity = INFINITY, step = spacing(x, f), scaled = size_of(x) / step;
  if (exponent(x) > f.greatest) return x < 0 ? -infinity : infinity;
  const auto whole = static_cast<std::uint64_t>(scaled);
  const Quad rest = scaled - static_cast<Quad>(whole);
  const std::uint64_t even = whole + (rest > 0.5L || (rest == 0.5L && whole % 2 != 0) ? 1 : 0);
  const Quad result = static_cast<Quad>(even) * step;
  if (result >= power_of_two(f.greatest + 1)) return x < 0 ? -infinity : infinity;
  return x < 0 ? -result : result;
}

Wide integer(Cell c) {
  const bool negative = is_signed(c.dtype) && (c.bits & sign_of(c.dtype)) != 0;
  return negative ? static_cast<Wide>(c.bits) - (static_cast<Wide>(mask_of(c.dtype)) + 1) : static_cast<Wide>(c.bits);
}
Cell wrapped(Wide value, Dtype d) { return {d, static_cast<std::uint64_t>(value) & mask_of(d)}; }
Cell truth(bool value) { return {bool_, value ? std::uint64_t{1} : std::uint64_t{0}}; }

/// The value of a cell, exactly.
Quad number(Cell c) {
  if (!is_floating(c.dtype)) return static_cast<Quad>(integer(c));
  const FloatFormat f = format_of(c.dtype);
  const int fraction = f.precision - 1;
  const std::uint64_t low = c.bits & ((std::uint64_t{1} << fraction) - 1);
  const auto field = static_cast<int>((c.bits & ~sign_of(c.dtype)) >> fraction);
  Quad size = 0;
  if (field == f.greatest - f.least + 2) {
    size = low == 0 ? INFINITY : NAN;
  } else if (field == 0) {
    size = static_cast<Quad>(low) * power_of_two(f.least - fraction);
  } else {
    size = static_cast<Quad>(low | std::uint64_t{1} << fraction) * power_of_two(f.least + field - 1 - fraction);
  }
  return (c.bits & sign_of(c.dtype)) != 0 ? -size : size;
}

/// The cell of a number of the format.
Cell cell(Quad x, Dtype d) {
  const FloatFormat f = format_of(d);
  const int fraction = f.precision - 1;
  const auto top = static_cast<std::uint64_t>(f.greatest - f.least + 2) << fraction;
  const std::uint64_t sign = is_negative(x) ? sign_of(d) : 0;
  if (is_nan(x)) return {d, top | std::uint64_t{1} << (fraction - 1)};
  if (!is_finite(x)) return {d, sign | top};
  if (x == 0) return {d, sign};
  const auto units = static_cast<std::uint64_t>(size_of(x) / spacing(x, f));  // exact
  const bool denormal = exponent(x) < f.least;
  const auto field = static_cast<std::uint64_t>(denormal ? 0 : exponent(x) - f.least + 1);
  return {d, sign | field << fraction | (units & ((std::uint64_t{1} << fraction) - 1))};
}
Cell nearest(Quad x, Dtype d) { return cell(rounded(x, d), d); }

/// The dtype that operations on 16-bit floats compute in.
Dtype computing(Dtype d) { return is_floating(d) && itemsize(d) == 2 ? float32 : d; }

// ---- Integers and bool. ----

Wide power(Wide base, Wide exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1, square = static_cast<std::uint64_t>(base);
  for (auto left = static_cast<std::uint64_t>(exponent); left != 0; left >>= 1, square *= square) {
    if ((left & 1) != 0) result *= square;
  }
  return static_cast<Wide>(result);
}

Wide floored(Wide a, Wide b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Wide shifted(Op op, Wide a, Wide b, int width) {
  const bool past = b < 0 || b >= width;
  if (op == Op::BitwiseLeftShift) return past ? 0 : static_cast<Wide>(static_cast<WideBits>(a) << static_cast<int>(b));
  return a >> (past ? 100 : static_cast<int>(b));
}

std::optional<Wide> of_integers(Op op, Wide a, Wide b, Wide c, Dtype d) {
  const auto product = [](Wide x, Wide y) {
    return static_cast<Wide>(static_cast<WideBits>(x) * static_cast<WideBits>(y));
  };
  switch (op) {
    case Op::Add: return a + b;
    case Op::Subtract: return a - b;
    case Op::Multiply: return product(a, b);
    case Op::FloorDivide: return floored(a, b);
    case Op::Remainder: return b == 0 ? 0 : a - product(floored(a, b), b);
    case Op::Pow: return power(a, b);
    case Op::Fma: return static_cast<Wide>(static_cast<WideBits>(product(a, b)) + static_cast<WideBits>(c));
    case Op::Negative: return -a;
    case Op::Positive: return a;
    case Op::Abs: return a < 0 ? -a : a;
    case Op::Sign: return (a > 0) - (a < 0);
    case Op::Square: return product(a, a);
    case Op::Minimum: return std::min(a, b);
    case Op::Maximum: return std::max(a, b);
    case Op::Clip: return std::min(std::max(a, b), c);
    case Op::Ceil:
    case Op::Floor:
    case Op::Round:
    case Op::Trunc: return a;
    case Op::BitwiseAnd: return a & b;
    case Op::BitwiseOr: return a | b;
    case Op::BitwiseXor: return a ^ b;
    case Op::BitwiseInvert: return d == bool_ ? 1 - a : ~a;
    case Op::BitwiseLeftShift:
    case Op::BitwiseRightShift: return shifted(op, a, b, width_of(d));
    case Op::LogicalAnd: return a & b;
    case Op::LogicalOr: return a | b;
    case Op::LogicalXor: return a ^ b;
    case Op::LogicalNot: return 1 - a;
    default: return {};
  }
}

// ---- Comparison and classification, of every dtype. ----

std::optional<bool> asked(Op op, Cell x, Cell y) {
  const Quad a = number(x), b = number(y);
  switch (op) {
    case Op::Equal: return a == b;
    case Op::NotEqual: return a != b;
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    case Op::Greater: return a > b;
    case Op::GreaterEqual: return a >= b;
    case Op::Isfinite: return is_finite(a);
    case Op::Isinf: return !is_finite(a) && !is_nan(a);
    case Op::Isnan: return is_nan(a);
    case Op::Signbit: return is_floating(x.dtype) ? (x.bits & sign_of(x.dtype)) != 0 : a < 0;
    default: return {};
  }
}

bool close(Cell x, Cell y) {
  const Dtype d = is_floating(x.dtype) ? computing(x.dtype) : float64;
  const Quad a = rounded(number(x), d), b = rounded(number(y), d);
  if (a == b) return true;
  const Quad distance = size_of(rounded(a - b, d));
  const Quad share = rounded(rounded(static_cast<Quad>(1e-5), d) * size_of(b), d);
  return is_finite(distance) && distance <= rounded(rounded(static_cast<Quad>(1e-8), d) + share, d);
}

Cell converted(Cell x, Dtype to) {
  const Quad value = number(x);
  if (to == bool_) return truth(value != 0);
  if (is_floating(to)) return is_nan(value) ? cell(value, to) : nearest(value, to);
  if (!is_floating(x.dtype)) return wrapped(integer(x), to);
  if (is_nan(value)) return wrapped(0, to);
  const Wide high = static_cast<Wide>(is_signed(to) ? sign_of(to) - 1 : mask_of(to)),
             low = is_signed(to) ? -high - 1 : 0;
  if (value >= static_cast<Quad>(high)) return wrapped(high, to);
  return wrapped(value <= static_cast<Quad>(low) ? low : static_cast<Wide>(value), to);
}

// ---- Floats: operations that are exact or rounded once. ----

Cell smaller(Cell x, Cell y) {
  const Quad a = number(x), b = number(y);
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? x : y;
  if (a == b) return {x.dtype, x.bits | y.bits};  // of two zeros the one with the sign
  return a < b ? x : y;
}
Cell larger(Cell x, Cell y) {
  const Quad a = number(x), b = number(y);
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? x : y;
  if (a == b) return {x.dtype, x.bits & y.bits};
  return a < b ? y : x;
}

/// a * b + c with an odd last bit where it is not exact: rounding that is rounding the exact value.
Quad sticky_fma(Quad a, Quad b, Quad c) {
  const Quad product = a * b, sum = product + c;
  if (!is_finite(sum)) return sum;
  const Quad part = sum - product, error = (product - (sum - part)) + (c - part);
  auto bits = std::bit_cast<WideBits>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return std::bit_cast<Quad>(bits);
}

Quad modulo(Quad a, Quad b, Dtype d) {
  const Quad r = std::fmod(static_cast<long double>(a), static_cast<long double>(b));  // exact
  if (is_nan(r)) return r;
  if (r == 0) return is_negative(b) ? static_cast<Quad>(-0.0L) : static_cast<Quad>(0.0L);
  return is_negative(r) != is_negative(b) ? rounded(r + b, d) : r;
}

/// That of the rounded quotient, less one where its product with b, which is exact here, lies beyond a.
Quad floor_quotient(Quad a, Quad b, Dtype d) {
  const Quad floored = std::floor(static_cast<long double>(rounded(a / b, d))), product = floored * b;
  return (b > 0 && product > a) || (b < 0 && product < a) ? floored - 1 : floored;
}

Cell neighbour(Cell x, Cell towards) {
  const Quad a = number(x), b = number(towards);
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? x : towards;
  if (a == b) return towards;
  const std::uint64_t sign = sign_of(x.dtype);
  if (a == 0) return {x.dtype, (towards.bits & sign) | 1};
  const bool outwards = (b > a) == (a > 0);
  return {x.dtype, outwards ? x.bits + 1 : x.bits - 1};
}

/// Operations on bits.
std::optional<Cell> of_bits(Op op, Cell x, Cell y, Cell z) {
  const std::uint64_t sign = sign_of(x.dtype);
  switch (op) {
    case Op::Negative: return Cell{x.dtype, x.bits ^ sign};
    case Op::Positive: return x;
    case Op::Abs: return Cell{x.dtype, x.bits & ~sign};
    case Op::Copysign: return Cell{x.dtype, (x.bits & ~sign) | (y.bits & sign)};
    case Op::Nextafter: return neighbour(x, y);
    case Op::Minimum: return smaller(x, y);
    case Op::Maximum: return larger(x, y);
    case Op::Clip: return smaller(larger(x, y), z);
    default: return {};
  }
}

/// Operations that round once in `d`.
std::optional<Quad> of_floats(Op op, Quad a, Quad b, Quad c, Dtype d) {
  const auto x = static_cast<long double>(a);
  switch (op) {
    case Op::Add: return a + b;
    case Op::Subtract: return a - b;
    case Op::Multiply: return a * b;
    case Op::Divide: return a / b;
    case Op::FloorDivide: return floor_quotient(a, b, d);
    case Op::Remainder: return modulo(a, b, d);
    case Op::Fma: return sticky_fma(a, b, c);
    case Op::Sign: return is_nan(a) ? a : a == 0 ? Quad(0) : a < 0 ? Quad(-1) : Quad(1);
    case Op::Square: return a * a;
    case Op::Reciprocal: return 1 / a;
    case Op::Ceil: return std::ceil(x);
    case Op::Floor: return std::floor(x);
    case Op::Round: return std::rint(x);
    case Op::Trunc: return std::trunc(x);
    case Op::Sqrt:
      return std::sqrt(static_cast<double>(a));  // by IEEE 754 correctly rounded, and wide enough for float32
    default: return {};
  }
}

// ---- Elementary functions. ----

long double add_logarithms(long double a, long double b) {
  if (a == b) return a + std::log(2.0L);
  const long double high = std::fmax(a, b), low = std::fmin(a, b);
  return std::isnan(a + b) && !std::isinf(a) ? a + b : high + std::log1p(std::exp(low - high));
}

std::optional<long double> of_function(Op op, long double a, long double b) {
  if (op == Op::Logaddexp) return add_logarithms(a, b);
  if (graph::info(op).form == graph::OpForm::Function) return exact_function(op, a);
  return std::find(std::begin(kBinaryFunctions), std::end(kBinaryFunctions), op) == std::end(kBinaryFunctions)
             ? std::nullopt
             : std::optional(exact_function(op, a, b));
}

/// True if `got` is within `ulps` of `exact` in the format that `got`'s dtype computes in, then rounded to it.
bool within(double ulps, long double exact, Cell got) {
  const Quad value = number(got);
  if (std::isnan(exact) || is_nan(value)) return std::isnan(exact) && is_nan(value);
  if (exact == 0) return value == 0 && is_negative(value) == std::signbit(exact);
  const FloatFormat f = format_of(computing(got.dtype));
  const Quad end = power_of_two(f.greatest + 1);
  const Quad centre = std::clamp<Quad>(exact, -end, end);
  const Quad reach =
      (ulps + 0.01) * spacing(size_of(centre) == end ? end / 2 : centre, f);  // 0.01: long double's error
  Quad low = centre - reach, high = centre + reach;
  if (itemsize(got.dtype) == 2) return rounded(low, got.dtype) <= value && value <= rounded(high, got.dtype);
  const Quad clamped = std::clamp<Quad>(value, -end, end);
  return low <= clamped && clamped <= high;
}

std::string complaint(Cell got, const std::string& expected) { return to_string(got) + " instead of " + expected; }

std::string exactly(Cell expected, Cell got) {
  return same_bits(expected, got) ? "" : complaint(got, to_string(expected));
}

}  // namespace

bool same_bits(Cell a, Cell b) {
  if (a.dtype != b.dtype) return false;
  return a.bits == b.bits || (is_floating(a.dtype) && is_nan(number(a)) && is_nan(number(b)));
}

std::string to_string(Cell c) {
  char text[64];
  std::snprintf(text, sizeof text, "%.20Lg (%s 0x%llx)", static_cast<long double>(number(c)), info(c.dtype).name,
                static_cast<unsigned long long>(c.bits));
  return text;
}

std::string judge(Op op, std::span<const Cell> inputs, Cell got) {
  const auto input = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : inputs[0]; };
  if (op == Op::Where) return exactly(input(0).bits != 0 ? input(1) : input(2), got);
  if (op == Op::Cast) return exactly(converted(input(0), got.dtype), got);
  if (op == Op::Isclose) return exactly(truth(close(input(0), input(1))), got);
  std::array<Cell, 3> x = {input(0), input(1), input(2)};
  if (graph::info(op).rule == graph::DtypeRule::Float) {
    for (Cell& c : x) c = is_floating(c.dtype) ? c : converted(c, itemsize(c.dtype) > 2 ? float64 : float32);
  }
  if (const auto answer = asked(op, x[0], x[1])) return exactly(truth(*answer), got);
  if (!is_floating(x[0].dtype)) {
    const auto value = of_integers(op, integer(x[0]), integer(x[1]), integer(x[2]), x[0].dtype);
    if (value) return exactly(wrapped(*value, x[0].dtype), got);
  } else {
    if (const auto bits = of_bits(op, x[0], x[1], x[2])) return exactly(*bits, got);
    const Dtype d = computing(x[0].dtype);
    if (const auto value = of_floats(op, number(x[0]), number(x[1]), number(x[2]), d)) {
      return exactly(nearest(op == Op::Fma ? *value : rounded(*value, d), got.dtype), got);
    }
    const auto a = static_cast<long double>(number(x[0])), b = static_cast<long double>(number(x[1]));
    if (const auto value = of_function(op, a, b)) {
      const double bound = d == float64 ? graph::info(op).ulp64 : graph::info(op).ulp32;
      if (within(bound, *value, got)) return "";
      char text[48];
      std::snprintf(text, sizeof text, "%.20Lg", *value);
      return complaint(got, text);
    }
  }
  FAIL("tests/api/ops_reference.cpp does not define " << graph::name(op));
  return "";
}

std::vector<Cell> telling_values(Dtype dtype, std::size_t count) {
  std::vector<Cell> values;
  std::mt19937_64 random(static_cast<unsigned>(dtype) + 1);
  if (is_floating(dtype)) {
    const FloatFormat f = format_of(dtype);
    const Quad most = (2 - power_of_two(1 - f.precision)) * power_of_two(f.greatest);
    const Quad least = power_of_two(f.least), tiny = power_of_two(f.least - f.precision + 1);
    for (const Quad size :
         {Quad(0), Quad(1), Quad(0.5L), Quad(2.5L), most, least, tiny, least - tiny, Quad(INFINITY)}) {
      values.push_back(nearest(size, dtype));
      values.push_back({dtype, values.back().bits | sign_of(dtype)});
    }
    for (const long double v : {2.0L, -3.0L, 1e-3L, -1.5L, 1.5707963267948966L, 100.0L, -88.0L, 3e4L, 0.999L, -0.3L}) {
      values.push_back(nearest(v, dtype));
    }
    values.push_back(cell(NAN, dtype));
    std::uniform_real_distribution<double> near(-4, 4);
    while (values.size() < count) {
      values.push_back(values.size() % 3 == 0 ? Cell{dtype, random() & mask_of(dtype)} : nearest(near(random), dtype));
    }
  } else if (dtype == bool_) {
    while (values.size() < count) values.push_back(truth(values.size() % 2 != 0));
  } else {
    const Wide width = width_of(dtype);
    for (const Wide v :
         {Wide(0), Wide(1), Wide(2), Wide(3), Wide(-1), Wide(-2), Wide(7), Wide(100), width - 1, width, width + 1}) {
      values.push_back(wrapped(v, dtype));
    }
    for (const Wide v : {Wide(-1), Wide(0), Wide(1)})
      values.push_back(wrapped(static_cast<Wide>(sign_of(dtype)) + v, dtype));
    while (values.size() < count) values.push_back(wrapped(static_cast<Wide>(random() >> (random() % 64)), dtype));
  }
  values.resize(count);
  return values;
}

}  // namespace tarry::test
