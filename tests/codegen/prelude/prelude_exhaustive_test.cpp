// Every op that is not a transcendental function, on every value or pair of values of the narrow types and on the edges
// of the wide ones, against references that share nothing with the prelude.
#include "tests/codegen/prelude/values.h"
#include "tests/helpers/floor_quotient.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using namespace test::prelude;
using test::call;
using test::equal_bits;

namespace {

constexpr Op kBinary[] = {Op::Add,        Op::Subtract,         Op::Multiply,         Op::FloorDivide, Op::Remainder,
                          Op::Pow,        Op::Minimum,          Op::Maximum,          Op::BitwiseAnd,  Op::BitwiseOr,
                          Op::BitwiseXor, Op::BitwiseLeftShift, Op::BitwiseRightShift};
constexpr Op kUnary[] = {Op::Negative, Op::Abs,   Op::Sign,  Op::Square,       Op::Ceil,
                         Op::Floor,    Op::Round, Op::Trunc, Op::BitwiseInvert};
constexpr Op kCompare[] = {Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual};

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

// Wider ones.

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

TEST_CASE("prelude: floats round, step and are classified as the C library says", "[codegen][prelude]") {
  CHECK(wrong_floats<float, std::uint32_t>() == 0);
  CHECK(wrong_floats<double, std::uint64_t>() == 0);
}
