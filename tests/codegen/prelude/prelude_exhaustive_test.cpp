// Every op that is not a transcendental function, on every value or pair of values of the narrow types and on the edges
// of the wide ones, against references that share nothing with the prelude.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "tests/codegen/prelude/functions.h"
#include "tests/helpers/floor_quotient.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using test::call;
using test::equal_bits;

namespace {

using Wide = __int128_t;
using UnsignedWide = __uint128_t;
using Big = boost::multiprecision::cpp_int;

constexpr Op kBinary[] = {Op::Add,        Op::Subtract,         Op::Multiply,         Op::FloorDivide, Op::Remainder,
                          Op::Pow,        Op::Minimum,          Op::Maximum,          Op::BitwiseAnd,  Op::BitwiseOr,
                          Op::BitwiseXor, Op::BitwiseLeftShift, Op::BitwiseRightShift};
constexpr Op kUnary[] = {Op::Negative, Op::Abs,   Op::Sign,  Op::Square,       Op::Ceil,
                         Op::Floor,    Op::Round, Op::Trunc, Op::BitwiseInvert};
constexpr Op kCompare[] = {Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual};

template <class T>
T wrapped(Wide value) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value));
}

/// a^b modulo 2^64, the highest bit of b first.
Wide power(Wide a, Wide b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1;
  for (int bit = 63; bit >= 0; --bit) {
    result *= result;
    if ((b >> bit) % 2 != 0) result *= static_cast<std::uint64_t>(a);
  }
  return static_cast<Wide>(result);
}

template <class T>
Wide shifted(Op op, T a, T b) {
  const int count = b < 0 || Wide(b) > 64 ? 64 : static_cast<int>(b);
  Wide value = a;
  for (int i = 0; i < count; ++i)
    value = op == Op::BitwiseLeftShift ? Wide(wrapped<T>(value * 2)) : (value - (value & 1)) / 2;
  return value;
}

/// The result of an op before it wraps, by arithmetic on values.
template <class T>
Wide exact(Op op, T x, T y) {
  const Wide a = x, b = y;
  const Wide quotient = b == 0 ? 0 : a / b, rest = b == 0 ? 0 : a % b;
  const bool down = rest != 0 && (a < 0) != (b < 0);
  switch (op) {
    case Op::Add: return a + b;
    case Op::Subtract: return a - b;
    case Op::Multiply: return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
    case Op::FloorDivide: return down ? quotient - 1 : quotient;
    case Op::Remainder: return down ? rest + b : rest;
    case Op::Pow: return power(a, b);
    case Op::Minimum: return std::min(a, b);
    case Op::Maximum: return std::max(a, b);
    case Op::BitwiseAnd: return a & b;
    case Op::BitwiseOr: return a | b;
    case Op::BitwiseXor: return a ^ b;
    case Op::Negative: return -a;
    case Op::Abs: return a < 0 ? -a : a;
    case Op::Sign: return a < 0 ? -1 : a > 0 ? 1 : 0;
    case Op::Square: return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(a));
    case Op::BitwiseInvert: return -a - 1;
    case Op::Ceil:
    case Op::Floor:
    case Op::Round:
    case Op::Trunc: return a;
    default: return shifted(op, x, y);
  }
}

template <class T>
bool compared(Op op, T a, T b) {
  switch (op) {
    case Op::Equal: return a == b;
    case Op::NotEqual: return a != b;
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    case Op::Greater: return a > b;
    default: return a >= b;
  }
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
int wrong_integers(const std::vector<T>& lefts, const std::vector<T>& rights) {
  int wrong = 0;
  for (const Op op : kUnary) {
    const codegen::ScalarFunction function = codegen::scalar_function(op, dtype_of<T>, dtype_of<T>);
    for (const T a : lefts) {
      T got;
      function(&got, &a, nullptr, nullptr);
      wrong += got != wrapped<T>(exact<T>(op, a, 0));
    }
  }
  for (const Op op : kBinary) {
    const codegen::ScalarFunction function = codegen::scalar_function(op, dtype_of<T>, dtype_of<T>);
    for (const T a : lefts)
      for (const T b : rights) {
        T got;
        function(&got, &a, &b, nullptr);
        wrong += got != wrapped<T>(exact(op, a, b));
      }
  }
  for (const Op op : kCompare) {
    const codegen::ScalarFunction function = codegen::scalar_function(op, dtype_of<T>, Dtype::Bool);
    for (const T a : lefts)
      for (const T b : rights) {
        unsigned char got = 2;
        function(&got, &a, &b, nullptr);
        wrong += got != static_cast<unsigned char>(compared(op, a, b));
      }
  }
  for (const T a : lefts) {
    wrong += !call<bool>(Op::Isfinite, a) + call<bool>(Op::Isinf, a) + call<bool>(Op::Isnan, a);
    wrong += call<bool>(Op::Signbit, a) != (a < 0);
    for (const T c : {T(0), T(1), T(-1), lefts.front(), lefts.back()})
      wrong += call<T>(Op::Fma, a, c, a) != wrapped<T>(exact(Op::Add, wrapped<T>(exact(Op::Multiply, a, c)), a));
  }
  return wrong;
}

template <class T>
int wrong_on_all_pairs() {
  return wrong_integers(all_values<T>(), all_values<T>());
}
template <class T>
int wrong_on_edges() {
  return wrong_integers(edges<T>(), edges<T>());
}

// 16-bit floats.

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

/// The neighbour of a towards b, by counting the numbers in order.
template <class T>
T stepped(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (std::isnan(x) || std::isnan(y)) return T(NAN);
  if (x == y) return b;
  const int size = a.bits & 0x7fff, place = (a.bits & 0x8000 ? -size : size) + (y > x ? 1 : -1);
  const bool minus = place < 0 || (place == 0 && (a.bits & 0x8000) != 0);
  return T::from_bits(static_cast<std::uint16_t>(std::abs(place) | (minus ? 0x8000 : 0)));
}

template <class F>
F least(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<F>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// Exact: float64 tells the quotients of 11 bits from the integers beside them.
double exact_floor_quotient(double a, double b) { return std::floor(a / b); }
/// In float32, which 16-bit floats round once more.
float modulo(float a, float b) {
  const float r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0f, b);
  return std::signbit(r) != std::signbit(b) ? r + b : r;
}

template <class T>
int wrong_half_pair(T a, T b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  const auto f = static_cast<float>(a), g = static_cast<float>(b);
  int wrong = 0;
  // float64 holds the exact result of + - * or more than twice the bits of it.
  wrong += !equal_bits(call<T>(Op::Add, a, b), T(x + y)) + !equal_bits(call<T>(Op::Subtract, a, b), T(x - y));
  wrong += !equal_bits(call<T>(Op::Multiply, a, b), T(x * y)) + !equal_bits(call<T>(Op::Divide, a, b), T(x / y));
  wrong += !equal_bits(call<T>(Op::FloorDivide, a, b), T(exact_floor_quotient(x, y)));
  wrong += !equal_bits(call<T>(Op::Remainder, a, b), T(modulo(f, g)));
  wrong += !equal_bits(call<T>(Op::Minimum, a, b), T(least(f, g))) +
           !equal_bits(call<T>(Op::Maximum, a, b), T(-least(-f, -g)));
  wrong += !equal_bits(call<T>(Op::Nextafter, a, b), stepped(a, b));
  wrong += call<T>(Op::Copysign, a, b).bits != ((a.bits & 0x7fff) | (b.bits & 0x8000));
  for (const Op op : kCompare) wrong += call<bool>(op, a, b) != compared(op, f, g);
  return wrong;
}

template <class T>
int wrong_half_pairs(int count) {
  int wrong = 0;
  for (const T a : all_halves<T>())
    for (const T b : special_halves<T>()) wrong += wrong_half_pair(a, b);
  std::mt19937 random(5);
  for (int i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    wrong += wrong_half_pair(T::from_bits(static_cast<std::uint16_t>(bits)),
                             T::from_bits(static_cast<std::uint16_t>(bits >> 16)));
  }
  return wrong;
}

template <class T>
int wrong_half(T a) {
  const auto x = static_cast<double>(a);
  const std::uint16_t size = a.bits & 0x7fff;
  int wrong = 0;
  wrong += call<T>(Op::Negative, a).bits != (a.bits ^ 0x8000) || call<T>(Op::Abs, a).bits != size;
  wrong += !equal_bits(call<T>(Op::Sign, a), T(x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x));
  wrong += !equal_bits(call<T>(Op::Square, a), T(x * x)) + !equal_bits(call<T>(Op::Reciprocal, a), T(1 / x));
  wrong += !equal_bits(call<T>(Op::Sqrt, a), T(std::sqrt(x)));
  wrong += !equal_bits(call<T>(Op::Ceil, a), T(std::ceil(x))) + !equal_bits(call<T>(Op::Floor, a), T(std::floor(x)));
  wrong +=
      !equal_bits(call<T>(Op::Round, a), T(std::nearbyint(x))) + !equal_bits(call<T>(Op::Trunc, a), T(std::trunc(x)));
  wrong += call<bool>(Op::Isfinite, a) != std::isfinite(x) || call<bool>(Op::Isinf, a) != std::isinf(x);
  wrong += call<bool>(Op::Isnan, a) != std::isnan(x) || call<bool>(Op::Signbit, a) != ((a.bits & 0x8000) != 0);
  for (const Op op : {Op::Exp, Op::Log, Op::Erf})
    wrong += !equal_bits(call<T>(op, a), T(call<float>(op, static_cast<float>(a))));
  return wrong;
}

template <class T>
int wrong_on_all_halves() {
  int wrong = 0;
  for (const T a : all_halves<T>()) wrong += wrong_half(a);
  return wrong;
}

/// value 2^-scale as a float64 that rounds to any type of at most 24 bits as the exact value does.
double shortened(const Big& value, int scale) {
  if (value == 0) return 0;
  const Big size = abs(value);
  const int drop = std::max(0, static_cast<int>(msb(size)) - 50);
  Big kept = size >> drop;
  if ((kept << drop) != size) kept |= 1;
  const double result = std::ldexp(kept.convert_to<double>(), drop - scale);
  return value < 0 ? -result : result;
}

constexpr int kScale = 140;  // every 16-bit float is an integer times 2^-140

template <class T>
Big scaled(T x) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  const Big mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + kScale;
  return shift >= 0 ? Big(mantissa << shift) : Big(mantissa / (Big(1) << -shift));
}

template <class T>
T fma_of(T a, T b, T c) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b), z = static_cast<double>(c);
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return T(x * y + z);
  const Big sum = scaled(a) * scaled(b) + (scaled(c) << kScale);
  return sum == 0 ? T(x * y + z) : T(shortened(sum, 2 * kScale));
}

template <class T>
int wrong_half_fma(int count) {
  int wrong = 0;
  const auto check = [&](T a, T b, T c) { wrong += !equal_bits(call<T>(Op::Fma, a, b, c), fma_of(a, b, c)); };
  for (const T a : special_halves<T>())
    for (const T b : special_halves<T>())
      for (const T c : special_halves<T>()) check(a, b, c);
  std::mt19937_64 random(9);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const T a = T::from_bits(static_cast<std::uint16_t>(bits)),
            b = T::from_bits(static_cast<std::uint16_t>(bits >> 16));
    check(a, b, T::from_bits(static_cast<std::uint16_t>(bits >> 32)));
    // An addend some steps of its last bit around the product or half of it, so that much cancels and ties are near.
    const T near = T((bits >> 48) % 2 != 0 ? -static_cast<double>(a) * static_cast<double>(b)
                                           : std::ldexp(static_cast<double>(a) * static_cast<double>(b),
                                                        static_cast<int>(bits >> 58) - 32));
    check(a, b, near);
    check(a, b, T::from_bits(static_cast<std::uint16_t>(near.bits + (bits >> 52) % 8)));
  }
  return wrong;
}

/// Pairs and triples whose sums cancel, tie or leave the normal range, next to random bits.
template <class T, class Bits>
int wrong_fma(int count) {
  std::mt19937_64 random(13);
  std::vector<T> special = test::special_floats<T>();
  int wrong = 0;
  const auto check = [&](T a, T b, T c) { wrong += !equal_bits(call<T>(Op::Fma, a, b, c), std::fma(a, b, c)); };
  for (const T a : special)
    for (const T b : special)
      for (const T c : special) check(a, b, c);
  const auto any = [&] {
    const Bits bits = static_cast<Bits>(random());
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  for (int i = 0; i < count; ++i) {
    const T a = any(), b = any();
    check(a, b, any());
    const T ordinary = std::ldexp(T(1) + T(random() >> 12) * T(0x1p-52), static_cast<int>(random() % 8));
    const T few = T(1 + random() % 4096), other = T(1 + random() % 4096);
    check(ordinary, few, -ordinary * few);  // the rounding error of a product
    check(few, ordinary, std::ldexp(other, static_cast<int>(random() % 128) - 64));
    const int low = std::numeric_limits<T>::min_exponent - static_cast<int>(random() % 40);
    check(std::ldexp(ordinary, low), std::ldexp(few, -6), std::ldexp(other, low - 20));  // denormal results
    check(std::ldexp(few, low / 2), std::ldexp(other, low - low / 2), T(0) * -few);
    check(special[random() % special.size()], ordinary, any());
  }
  return wrong;
}

// Casts.

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || test::is_16_bit_float<T>;

/// long double holds every value of every type.
template <class T>
long double value_of(T x) {
  if constexpr (test::is_16_bit_float<T>)
    return static_cast<long double>(static_cast<double>(x));
  else
    return static_cast<long double>(x);
}

template <class To>
To converted(long double x, bool integral) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (test::is_16_bit_float<To>) {
    if (std::isnan(x) || std::isinf(x) || x == 0) return To(static_cast<double>(x));
    int exponent = 0;
    const long double fraction = std::frexp(x, &exponent);
    const double sticky = shortened(Big(static_cast<__int128_t>(std::ldexp(fraction, 64))), 0);
    return To(std::ldexp(sticky, exponent - 64));
  } else if constexpr (is_float<To>) {
    return static_cast<To>(x);
  } else if (integral) {
    return wrapped<To>(static_cast<Wide>(x));
  } else {
    if (std::isnan(x)) return 0;
    return static_cast<To>(
        std::clamp<long double>(std::trunc(x), std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
  }
}

template <class To, class From>
int wrong_casts_to(const std::vector<From>& values) {
  int wrong = 0;
  for (const From x : values) wrong += !equal_bits(call<To>(Op::Cast, x), converted<To>(value_of(x), !is_float<From>));
  return wrong;
}

template <class From>
int wrong_casts(const std::vector<From>& values) {
  return wrong_casts_to<bool>(values) + wrong_casts_to<std::int8_t>(values) + wrong_casts_to<std::int16_t>(values) +
         wrong_casts_to<std::int32_t>(values) + wrong_casts_to<std::int64_t>(values) +
         wrong_casts_to<std::uint8_t>(values) + wrong_casts_to<std::uint16_t>(values) +
         wrong_casts_to<std::uint32_t>(values) + wrong_casts_to<std::uint64_t>(values) + wrong_casts_to<Half>(values) +
         wrong_casts_to<BFloat16>(values) + wrong_casts_to<float>(values) + wrong_casts_to<double>(values);
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

template <class T>
int wrong_float_pair(T a, T b) {
  int wrong = 0;
  wrong += !equal_bits(call<T>(Op::Copysign, a, b), std::copysign(a, b)) && !std::isnan(a);
  wrong += !equal_bits(call<T>(Op::Nextafter, a, b), std::nextafter(a, b));
  wrong += !equal_bits(call<T>(Op::FloorDivide, a, b), test::floor_quotient(a, b));
  return wrong;
}

template <class T>
int wrong_float(T a) {
  int wrong = 0;
  wrong += !equal_bits(call<T>(Op::Ceil, a), std::ceil(a)) + !equal_bits(call<T>(Op::Floor, a), std::floor(a));
  wrong += !equal_bits(call<T>(Op::Round, a), std::nearbyint(a)) + !equal_bits(call<T>(Op::Trunc, a), std::trunc(a));
  wrong += !equal_bits(call<T>(Op::Square, a), a * a) + !equal_bits(call<T>(Op::Reciprocal, a), 1 / a);
  wrong += !equal_bits(call<T>(Op::Sign, a), a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a);
  wrong += call<bool>(Op::Isfinite, a) != std::isfinite(a) || call<bool>(Op::Isinf, a) != std::isinf(a);
  wrong += call<bool>(Op::Isnan, a) != std::isnan(a) || call<bool>(Op::Signbit, a) != std::signbit(a);
  return wrong;
}

template <class T, class Bits>
int wrong_floats() {
  int wrong = 0;
  for (const T a : float_values<T, Bits>()) wrong += wrong_float(a);
  for (const T a : test::special_floats<T>())
    for (const T b : test::special_floats<T>()) wrong += wrong_float_pair(a, b);
  std::mt19937_64 random(23);
  for (int i = 0; i < 50'000; ++i) {
    const Bits bits[2] = {static_cast<Bits>(random()), static_cast<Bits>(random())};
    T v[2];
    std::memcpy(v, bits, sizeof v);
    wrong += wrong_float_pair(v[0], v[1]);
  }
  return wrong;
}

/// Forms that graph/passes/simplify.cpp takes for x itself, or for another form of it. NaN may change its payload, as
/// everywhere.
template <class T>
int wrong_rules() {
  const T zero(0.0), minus_zero(-0.0), one(1.0);
  int wrong = 0;
  for (const T x : all_halves<T>()) {
    const T negated = call<T>(Op::Negative, x), size = call<T>(Op::Abs, x);
    for (const T same :
         {call<T>(Op::Add, x, minus_zero), call<T>(Op::Add, minus_zero, x), call<T>(Op::Subtract, x, zero),
          call<T>(Op::Multiply, x, one), call<T>(Op::Multiply, one, x), call<T>(Op::Divide, x, one),
          call<T>(Op::Negative, negated), call<T>(Op::Minimum, x, x), call<T>(Op::Maximum, x, x)})
      wrong += !equal_bits(same, x);
    wrong += !equal_bits(call<T>(Op::Abs, size), size) + !equal_bits(call<T>(Op::Abs, negated), size);
  }
  return wrong;
}

}  // namespace

TEST_CASE("prelude: every pair of 8-bit integers gives what exact arithmetic wraps to", "[codegen][prelude]") {
  CHECK(wrong_on_all_pairs<std::int8_t>() == 0);
  CHECK(wrong_on_all_pairs<std::uint8_t>() == 0);
}

TEST_CASE("prelude: integers of every width wrap, divide and shift as documented at every edge", "[codegen][prelude]") {
  CHECK(wrong_on_edges<std::int16_t>() == 0);
  CHECK(wrong_on_edges<std::int32_t>() == 0);
  CHECK(wrong_on_edges<std::int64_t>() == 0);
  CHECK(wrong_on_edges<std::uint16_t>() == 0);
  CHECK(wrong_on_edges<std::uint32_t>() == 0);
  CHECK(wrong_on_edges<std::uint64_t>() == 0);
}

TEST_CASE("prelude: bools stay 0 or 1 under every op they take", "[codegen][prelude]") {
  for (const bool a : {false, true}) {
    CHECK(call<bool>(Op::BitwiseInvert, a) == !a);
    CHECK_FALSE(call<bool>(Op::Signbit, a));
    CHECK(call<bool>(Op::Isfinite, a));
    for (const bool b : {false, true}) {
      CHECK(call<bool>(Op::LogicalXor, a, b) == (a != b));
      CHECK(call<bool>(Op::BitwiseXor, a, b) == (a != b));
      CHECK(call<bool>(Op::BitwiseAnd, a, b) == (a && b));
      CHECK(call<bool>(Op::BitwiseOr, a, b) == (a || b));
    }
  }
}

TEST_CASE("prelude: every float16 and bfloat16 goes through every op of one operand", "[codegen][prelude]") {
  CHECK(wrong_on_all_halves<Half>() == 0);
  CHECK(wrong_on_all_halves<BFloat16>() == 0);
}

TEST_CASE("prelude: 16-bit floats are correctly rounded against special and random partners", "[codegen][prelude]") {
  CHECK(wrong_half_pairs<Half>(1'000'000) == 0);
  CHECK(wrong_half_pairs<BFloat16>(1'000'000) == 0);
}

TEST_CASE("prelude: the rules of strict mode keep every 16-bit float", "[codegen][prelude]") {
  CHECK(wrong_rules<Half>() == 0);
  CHECK(wrong_rules<BFloat16>() == 0);
  CHECK_FALSE(equal_bits(call<Half>(Op::Add, Half(-0.0), Half(0.0)), Half(-0.0)));  // why x + 0 stays
}

TEST_CASE("prelude: fma of 16-bit floats rounds once", "[codegen][prelude]") {
  CHECK(wrong_half_fma<Half>(50'000) == 0);
  CHECK(wrong_half_fma<BFloat16>(50'000) == 0);
}

TEST_CASE("prelude: fma rounds once with and without the instruction", "[codegen][prelude]") {
  CHECK(wrong_fma<float, std::uint32_t>(200'000) == 0);
  CHECK(wrong_fma<double, std::uint64_t>(200'000) == 0);
}

TEST_CASE("prelude: floats round, step and are classified as the C library says", "[codegen][prelude]") {
  CHECK(wrong_floats<float, std::uint32_t>() == 0);
  CHECK(wrong_floats<double, std::uint64_t>() == 0);
}

TEST_CASE("prelude: every value of up to 16 bits converts to every dtype", "[codegen][prelude]") {
  CHECK(wrong_casts<bool>({false, true}) == 0);
  CHECK(wrong_casts(all_values<std::int8_t>()) == 0);
  CHECK(wrong_casts(all_values<std::uint8_t>()) == 0);
  CHECK(wrong_casts(all_values<std::int16_t>()) == 0);
  CHECK(wrong_casts(all_values<std::uint16_t>()) == 0);
  CHECK(wrong_casts(all_halves<Half>()) == 0);
  CHECK(wrong_casts(all_halves<BFloat16>()) == 0);
}

TEST_CASE("prelude: wide values convert to every dtype with one rounding", "[codegen][prelude]") {
  CHECK(wrong_casts(integer_values<std::int32_t>()) == 0);
  CHECK(wrong_casts(integer_values<std::uint32_t>()) == 0);
  CHECK(wrong_casts(integer_values<std::int64_t>()) == 0);
  CHECK(wrong_casts(integer_values<std::uint64_t>()) == 0);
  CHECK(wrong_casts(float_values<float, std::uint32_t>()) == 0);
  CHECK(wrong_casts(float_values<double, std::uint64_t>()) == 0);
}
