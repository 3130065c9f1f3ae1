// The prelude's functions against independent oracles, and the text of its sections.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tarry/error.h>

#include "tests/codegen/prelude/functions.h"
#include "tests/helpers/floor_quotient.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using test::call;
using test::equal_bits;

namespace {

/// docs/reference/numerics.md, with the C library's exact fmod.
template <class T>
T modulo_of_floats(T a, T b) {
  const T r = std::fmod(a, b);
  if (r == 0) return std::copysign(T(0), b);
  return std::signbit(r) != std::signbit(b) ? r + b : r;
}

template <class T>
T least(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// Checks every op on one pair; returns how many disagree.
template <class T>
int wrong_float_results(T a, T b) {
  int wrong = 0;
  wrong += !equal_bits(call<T>(Op::Add, a, b), a + b);
  wrong += !equal_bits(call<T>(Op::Subtract, a, b), a - b);
  wrong += !equal_bits(call<T>(Op::Multiply, a, b), a * b);
  wrong += !equal_bits(call<T>(Op::Divide, a, b), a / b);
  wrong += !equal_bits(call<T>(Op::FloorDivide, a, b), test::floor_quotient(a, b));
  wrong += !equal_bits(call<T>(Op::Remainder, a, b), modulo_of_floats(a, b));
  wrong += !equal_bits(call<T>(Op::Minimum, a, b), least(a, b));
  wrong += !equal_bits(call<T>(Op::Maximum, a, b), -least(-a, -b));
  wrong += !equal_bits(call<T>(Op::Negative, a), -a) + !equal_bits(call<T>(Op::Abs, a), std::fabs(a));
  wrong += !equal_bits(call<T>(Op::Sqrt, a), std::sqrt(a));
  wrong += call<bool>(Op::Equal, a, b) != (a == b);
  wrong += call<bool>(Op::NotEqual, a, b) != (a != b);
  wrong += call<bool>(Op::Less, a, b) != (a < b);
  wrong += call<bool>(Op::LessEqual, a, b) != (a <= b);
  wrong += call<bool>(Op::Greater, a, b) != (a > b);
  wrong += call<bool>(Op::GreaterEqual, a, b) != (a >= b);
  return wrong;
}

template <class T, class Bits>
int wrong_on_random_bits(int count) {
  std::mt19937_64 random(7);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const Bits bits[2] = {static_cast<Bits>(random()), static_cast<Bits>(random())};
    T v[2];
    std::memcpy(v, bits, sizeof v);
    wrong += wrong_float_results(v[0], v[1]);
  }
  return wrong;
}

/// Largest error of `op` in float64 ulps against long double, over `count` arguments that `argument` makes.
template <class Oracle, class Argument>
double worst_ulp64(Op op, Oracle oracle, Argument argument, int count) {
  const codegen::ScalarFunction function = codegen::scalar_function(op, Dtype::Float64, Dtype::Float64);
  std::mt19937_64 random(3);
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double x = argument(random);
    double y;
    function(&y, &x, nullptr, nullptr);
    const long double exact = oracle(static_cast<long double>(x));
    if (exact == 0 || std::isinf(static_cast<double>(exact))) continue;
    const int exponent = std::max(std::ilogb(exact), -1022);
    worst = std::max(worst, static_cast<double>(std::fabs(y - exact) / std::ldexp(1.0L, exponent - 52)));
  }
  return worst;
}

auto uniform(double low, double high) {
  return [=](std::mt19937_64& random) { return std::uniform_real_distribution<double>(low, high)(random); };
}
auto power(double low, double high) {
  return [=](std::mt19937_64& random) { return std::exp2(std::uniform_real_distribution<double>(low, high)(random)); };
}

}  // namespace

TEST_CASE("prelude: the documented integer corners", "[codegen][prelude]") {
  const std::int32_t least = INT32_MIN;
  CHECK(call<std::int32_t>(Op::FloorDivide, 7, 0) == 0);
  CHECK(call<std::int32_t>(Op::Remainder, 7, 0) == 0);
  CHECK(call<std::int32_t>(Op::FloorDivide, least, -1) == least);
  CHECK(call<std::int32_t>(Op::Remainder, least, -1) == 0);
  CHECK(call<std::int32_t>(Op::Abs, least) == least);
  CHECK(call<std::int32_t>(Op::FloorDivide, -7, 2) == -4);
  CHECK(call<std::int32_t>(Op::Remainder, -7, 2) == 1);
  CHECK(call<std::int32_t>(Op::Remainder, 7, -2) == -1);
  CHECK(call<std::uint32_t>(Op::Negative, 1u) == UINT32_MAX);
  CHECK(call<std::uint16_t>(Op::Multiply, std::uint16_t{0xffff}, std::uint16_t{0xffff}) == 1);
  for (const std::int32_t count : {32, 33, INT32_MAX, -1, least}) {
    CHECK(call<std::int32_t>(Op::BitwiseLeftShift, -3, count) == 0);
    CHECK(call<std::int32_t>(Op::BitwiseRightShift, -3, count) == -1);
    CHECK(call<std::int32_t>(Op::BitwiseRightShift, 3, count) == 0);
  }
  CHECK(call<std::uint32_t>(Op::BitwiseRightShift, UINT32_MAX, 32u) == 0);
  CHECK(call<std::int32_t>(Op::Pow, 2, 31) == least);
  CHECK(call<std::int32_t>(Op::Pow, 0, 0) == 1);
  CHECK(call<std::int32_t>(Op::Pow, 0, -1) == 0);
  CHECK(call<std::int32_t>(Op::Pow, 2, -1) == 0);
  CHECK(call<std::int32_t>(Op::Pow, -1, -3) == -1);
  CHECK(call<std::int32_t>(Op::Pow, -1, least) == 1);
}

TEST_CASE("prelude: quotients of 32 bits are exact beside multiples of every size", "[codegen][prelude]") {
  std::mt19937_64 random(5);
  int wrong = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto divisor = std::max(1u, static_cast<std::uint32_t>(random()) >> random() % 32);
    const std::uint32_t multiple = static_cast<std::uint32_t>(random()) / divisor * divisor;
    for (const std::uint32_t a : {multiple - 1, multiple, multiple + 1, UINT32_MAX}) {
      wrong += call<std::uint32_t>(Op::FloorDivide, a, divisor) != a / divisor;
      wrong += call<std::uint32_t>(Op::Remainder, a, divisor) != a % divisor;
      const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(divisor);
      const std::int64_t floored = (std::int64_t{x} - (std::int64_t{x} % y + y) % y) / y;
      if (y > 0) wrong += call<std::int32_t>(Op::FloorDivide, x, y) != floored;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("prelude: float arithmetic is exact on all pairs of special values", "[codegen][prelude]") {
  int wrong = 0;
  for (float a : test::special_floats<float>())
    for (float b : test::special_floats<float>()) wrong += wrong_float_results(a, b);
  for (double a : test::special_floats<double>())
    for (double b : test::special_floats<double>()) wrong += wrong_float_results(a, b);
  CHECK(wrong == 0);
}

TEST_CASE("prelude: float arithmetic is exact on random bits", "[codegen][prelude]") {
  CHECK(wrong_on_random_bits<float, std::uint32_t>(100'000) == 0);
  CHECK(wrong_on_random_bits<double, std::uint64_t>(20'000) == 0);
}

TEST_CASE("prelude: casts wrap, truncate, saturate, round once and map NaN to 0", "[codegen][prelude]") {
  CHECK(call<std::int32_t>(Op::Cast, std::int64_t{0x1'8000'0001}) == std::int32_t(0x80000001));
  CHECK(call<std::uint8_t>(Op::Cast, std::int32_t{-1}) == 255);
  CHECK(call<std::uint8_t>(Op::Cast, -1.0f) == 0);
  CHECK(call<std::int8_t>(Op::Cast, -1e30f) == -128);
  CHECK(call<std::uint64_t>(Op::Cast, std::nan("")) == 0);
  CHECK(call<std::uint64_t>(Op::Cast, 1e300) == UINT64_MAX);
  CHECK(call<std::uint16_t>(Op::Cast, Half(INFINITY)) == 65535);
  CHECK(call<float>(Op::Cast, 1e300) == INFINITY);
  CHECK(call<Half>(Op::Cast, 65519.999).bits == Half(65504).bits);
  CHECK(call<Half>(Op::Cast, 65520.0f).bits == Half(INFINITY).bits);
  CHECK(call<Half>(Op::Cast, 1 + 0x1p-11 + 0x1p-40).bits == Half::from_bits(0x3c01).bits);  // by float32 it would be 1
  CHECK(call<BFloat16>(Op::Cast, (std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1).bits ==
        BFloat16(0x1.02p40).bits);
  CHECK(call<bool>(Op::Cast, std::nanf("")));
  CHECK(call<bool>(Op::Cast, Half::from_bits(1)));
  CHECK_FALSE(call<bool>(Op::Cast, BFloat16(-0.0)));
  CHECK(call<double>(Op::Cast, true) == 1.0);
}

TEST_CASE("prelude: where moves every bit and bool ops stay 0 or 1", "[codegen][prelude]") {
  const std::uint64_t signalling = 0x7ff4'0000'0000'0001, other = 42;
  const bool yes = true, no = false;
  const auto where = codegen::scalar_function(Op::Where, Dtype::Bool, Dtype::Float64);
  std::uint64_t out = 0;
  where(&out, &yes, &signalling, &other);
  CHECK(out == signalling);
  where(&out, &no, &other, &signalling);
  CHECK(out == signalling);
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      CHECK(call<bool>(Op::LogicalAnd, a, b) == (a && b));
      CHECK(call<bool>(Op::LogicalOr, a, b) == (a || b));
      CHECK(call<bool>(Op::Less, a, b) == (a < b));
      CHECK(call<bool>(Op::Minimum, a, b) == std::min(a, b));
      CHECK(call<bool>(Op::Maximum, a, b) == std::max(a, b));
    }
  CHECK(call<bool>(Op::LogicalNot, false));
}

TEMPLATE_TEST_CASE("prelude: exp, log and erf have their limits at the edges", "[codegen][prelude]", float, double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::max();
  CHECK(equal_bits(call<T>(Op::Exp, inf), inf));
  CHECK(equal_bits(call<T>(Op::Exp, -inf), T(0)));
  CHECK(equal_bits(call<T>(Op::Exp, most), inf));
  CHECK(equal_bits(call<T>(Op::Exp, -most), T(0)));
  CHECK(equal_bits(call<T>(Op::Exp, T(-0.0)), T(1)));
  CHECK(equal_bits(call<T>(Op::Exp, tiny), T(1)));
  CHECK(equal_bits(call<T>(Op::Exp, std::log(most)), std::exp(std::log(most))));
  CHECK(
      equal_bits(call<T>(Op::Exp, std::nextafter(std::log(most), inf)), std::exp(std::nextafter(std::log(most), inf))));
  CHECK(equal_bits(call<T>(Op::Log, T(0)), -inf));
  CHECK(equal_bits(call<T>(Op::Log, T(-0.0)), -inf));
  CHECK(equal_bits(call<T>(Op::Log, T(1)), T(0)));
  CHECK(equal_bits(call<T>(Op::Log, inf), inf));
  CHECK(equal_bits(call<T>(Op::Log, -inf), nan));
  CHECK(equal_bits(call<T>(Op::Log, -tiny), nan));
  CHECK(equal_bits(call<T>(Op::Log, tiny), std::log(tiny)));
  CHECK(equal_bits(call<T>(Op::Erf, inf), T(1)));
  CHECK(equal_bits(call<T>(Op::Erf, -inf), T(-1)));
  CHECK(equal_bits(call<T>(Op::Erf, T(-0.0)), T(-0.0)));
  CHECK(equal_bits(call<T>(Op::Erf, -tiny), std::erf(-tiny)));
  for (Op op : {Op::Exp, Op::Log, Op::Erf, Op::Sqrt}) CHECK(equal_bits(call<T>(op, nan), nan));
}

TEST_CASE("prelude: float64 functions keep the published error bound", "[codegen][prelude]") {
  const auto exp = [](long double x) { return std::exp(x); };
  const auto log = [](long double x) { return std::log(x); };
  const auto erf = [](long double x) { return std::erf(x); };
  const int count = 200'000;
  CHECK(worst_ulp64(Op::Exp, exp, uniform(-1, 1), count) <= graph::info(Op::Exp).ulp64);
  CHECK(worst_ulp64(Op::Exp, exp, uniform(-745, 709), count) <= graph::info(Op::Exp).ulp64);
  CHECK(worst_ulp64(Op::Log, log, uniform(0.5, 2), count) <= graph::info(Op::Log).ulp64);
  CHECK(worst_ulp64(Op::Log, log, power(-1074, 1023), count) <= graph::info(Op::Log).ulp64);
  CHECK(worst_ulp64(Op::Erf, erf, uniform(-1, 1.5), count) <= graph::info(Op::Erf).ulp64);
  CHECK(worst_ulp64(Op::Erf, erf, uniform(1, 6.5), count) <= graph::info(Op::Erf).ulp64);
  CHECK(worst_ulp64(Op::Erf, erf, power(-1074, 0), count) <= graph::info(Op::Erf).ulp64);
}

TEST_CASE("prelude: an op is infix where C means the same, else a call", "[codegen][prelude]") {
  const std::vector<std::string> one = {"a"}, two = {"a", "b"}, three = {"c", "a", "b"};
  CHECK(codegen::expression(Op::Add, Dtype::Float32, Dtype::Float32, two) == "a + b");
  CHECK(codegen::expression(Op::Negative, Dtype::Float64, Dtype::Float64, one) == "tarry_negative_f64(a)");
  CHECK(codegen::expression(Op::Less, Dtype::Int64, Dtype::Bool, two) == "a < b");
  CHECK(codegen::expression(Op::Add, Dtype::Int32, Dtype::Int32, two) == "tarry_add_i32(a, b)");
  CHECK(codegen::expression(Op::Negative, Dtype::Int64, Dtype::Int64, one) == "tarry_negative_i64(a)");
  CHECK(codegen::expression(Op::Where, Dtype::Bool, Dtype::Float32, three) == "tarry_where_f32(c, a, b)");
  CHECK(codegen::expression(Op::Cast, Dtype::Int32, Dtype::Float32, one) == "tarry_astype_i32_f32(a)");
  CHECK(codegen::c_type(Dtype::Bool) == "tarry_u8");
  CHECK(codegen::c_type(Dtype::Int64) == "tarry_i64");
  CHECK(codegen::expression(Op::Add, Dtype::Float16, Dtype::Float16, two) == "tarry_add_f16(a, b)");
  CHECK(codegen::expression(Op::Less, Dtype::BFloat16, Dtype::Bool, two) == "tarry_less_bf16(a, b)");
  CHECK(codegen::c_type(Dtype::BFloat16) == "tarry_bf16");
}

TEST_CASE("prelude: a kernel gets the sections it needs, each once and in order", "[codegen][prelude]") {
  const std::vector<std::string> functions = {"tarry_erf_f32", "tarry_exp_f32", "tarry_add_i32"};
  const std::vector<std::string> expected = {"core", "integer", "integer_i32", "exp_parts_f32", "exp_f32", "erf_f32"};
  CHECK(codegen::prelude_sections(functions) == expected);
  const std::vector<std::string> half = {"tarry_exp_bf16"};  // a section with two names defines both
  const std::vector<std::string> half_expected = {"core",          "convert_f16", "convert_bf16", "half_function",
                                                  "exp_parts_f32", "exp_f32",     "exp_f16"};
  CHECK(codegen::prelude_sections(half) == half_expected);
  CHECK(codegen::prelude_sections({}) == std::vector<std::string>{"core"});
  const std::vector<std::string> unknown = {"tarry_frobnicate_f32"};
  CHECK_THROWS_AS(codegen::prelude_sections(unknown), InternalError);
  CHECK_THROWS_AS(codegen::scalar_function(Op::Exp, Dtype::Int32, Dtype::Int32), InternalError);
}

TEST_CASE("prelude: each dialect sees its own branch only", "[codegen][prelude]") {
  const std::vector<std::string> sections = {"exp_f32"};
  const std::string c = codegen::prelude_text(sections, codegen::Dialect::C);
  const std::string cuda = codegen::prelude_text(sections, codegen::Dialect::Cuda);
  CHECK(c.find("__device__") == std::string::npos);
  CHECK(c.find("expf(") == std::string::npos);
  CHECK(cuda.find("union") == std::string::npos);
  CHECK(cuda.find("return expf(x);") != std::string::npos);
  CHECK(cuda.find("#if") == std::string::npos);
  // Other conditionals are the compiler's.
  const std::vector<std::string> fma = {"fma_f32"};
  CHECK(codegen::prelude_text(fma, codegen::Dialect::C).find("#if defined(__FMA__)") != std::string::npos);
  CHECK(codegen::prelude_text(fma, codegen::Dialect::Cuda).find("#if") == std::string::npos);
}

TEST_CASE("prelude: every row of the op table has its function and its section", "[codegen][prelude]") {
  for (const test::PreludeFunction& f : test::every_prelude_function()) {
    INFO(f.name());
    const std::vector<std::string> names = {f.name()};
    CHECK_NOTHROW(codegen::scalar_function(f.op, f.input, f.output));
    CHECK_NOTHROW(codegen::prelude_sections(names));
  }
}
