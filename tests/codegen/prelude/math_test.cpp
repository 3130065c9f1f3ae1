// The elementary functions: error bounds, special values, symmetries and exact cases, in the library's own copy of the
// prelude and, through the public functions, on every device.
#include <tarry/tarry.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/codegen/prelude/functions.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/elementary.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using test::call;
using test::equal_bits;

namespace {

bool is_binary(Op op) { return graph::info(op).arity == 2; }

std::vector<Op> all_functions() {
  std::vector<Op> ops;
  for (const Op op : test::kUnaryFunctions) ops.push_back(op);
  for (const Op op : test::kBinaryFunctions) ops.push_back(op);
  return ops;
}

template <class T>
struct Arguments {
  T a = 0, b = 0;
};

/// Arguments that meet every path of a function: of ordinary size, of every exponent, near 1 and in narrow bands around
/// where reductions change; for pow also exponents that reach every power of two.
template <class T>
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  Arguments<T> next(Op op) {
    using Limits = std::numeric_limits<T>;
    const int least = Limits::min_exponent - Limits::digits, most = Limits::max_exponent;
    Arguments<T> x;
    switch (random_() % 5) {
      case 0: x = {uniform(-20, 20), uniform(-20, 20)}; break;
      case 1: x = {any_size(least, most), any_size(least, most)}; break;
      case 2: x = {any_size(-12, 12), any_size(-12, 12)}; break;
      case 3: x = {1 + any_size(-Limits::digits, -1), uniform(-2, 2)}; break;
      default: x = {uniform(-750, 750), uniform(-750, 750)}; break;
    }
    if (op == Op::Pow && random_() % 4 != 0) x.a = std::fabs(x.a);
    if (op == Op::Pow && random_() % 2 == 0) x.b = uniform(-1.1, 1.1) * T(most) / std::log2(std::fabs(x.a));
    if (op == Op::Pow && random_() % 8 == 0) x.b = std::floor(uniform(-40, 40));
    if (op == Op::Atan2 && random_() % 2 == 0) x.b = x.a * any_size(-4, 4);
    return x;
  }

 private:
  T uniform(double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(random_));
  }
  T any_size(double low, double high) {
    const double power = std::uniform_real_distribution<double>(low, high)(random_);
    const T size = static_cast<T>(std::exp2(static_cast<long double>(power)));
    return random_() % 2 == 0 ? size : -size;
  }
  std::mt19937_64 random_;
};

template <class T>
T compute(Op op, Arguments<T> x) {
  return is_binary(op) ? call<T>(op, x.a, x.b) : call<T>(op, x.a);
}

template <class T>
long double exact(Op op, Arguments<T> x) {
  return test::exact_function<long double>(op, static_cast<long double>(x.a), static_cast<long double>(x.b));
}

/// Where logaddexp cancels the reference is too coarse for float64: tests/codegen/prelude/prelude_sweep_test.cpp has a
/// finer one.
template <class T>
bool measurable(Op op, Arguments<T> x, long double value) {
  return op != Op::Logaddexp || std::is_same_v<T, float> || !(std::fabs(value) < std::fmax(x.a, x.b) * -0x1p-6L);
}

struct Worst {
  double ulps = 0;
  double a = 0, b = 0;
};

template <class T>
Worst worst_error(Op op, int count) {
  Sampler<T> sampler(17 + static_cast<std::uint64_t>(op));
  Worst worst;
  for (int i = 0; i < count; ++i) {
    const Arguments<T> x = sampler.next(op);
    const long double value = exact(op, x);
    if (!measurable(op, x, value)) continue;
    const double error = test::error_beyond(op, compute(op, x), value);
    if (error > worst.ulps) worst = {error, static_cast<double>(x.a), static_cast<double>(x.b)};
  }
  return worst;
}

template <class T>
Worst check_bound(Op op, int count) {
  const Worst worst = worst_error<T>(op, count);
  INFO(graph::info(op).name << ": " << worst.ulps << " ulp at " << worst.a << ", " << worst.b);
  CHECK(worst.ulps <= test::published_ulps<T>(op));
  return worst;
}

/// Annex F of C, for what the C library does not have: the limits of the definition.
template <class T>
int wrong_on_specials(Op op) {
  int wrong = 0;
  const std::vector<T> values = test::special_floats<T>();
  for (const T a : values)
    for (const T b : is_binary(op) ? values : std::vector<T>{0}) {
      const Arguments<T> x = {a, b};
      const long double value = exact(op, x);
      if (measurable(op, x, value) && test::error_beyond(op, compute(op, x), value) > test::published_ulps<T>(op)) {
        ++wrong;
        UNSCOPED_INFO(graph::info(op).name << "(" << a << ", " << b << ") gave " << compute(op, x));
      }
    }
  return wrong;
}

Array apply(Op op, const Array& a, const Array& b) {
  switch (op) {
#define TARRY_FUNCTION(ENUM, NAME) \
  case Op::ENUM: return NAME(a);
#include "tests/helpers/functions.def"
    case Op::Pow: return pow(a, b);
    case Op::Atan2: return atan2(a, b);
    case Op::Hypot: return hypot(a, b);
    default: return logaddexp(a, b);
  }
}

template <class T>
void check_on_device(int count) {
  for (const Op op : all_functions()) {
    Sampler<T> sampler(5);
    std::vector<T> a, b;
    for (const T x : test::special_floats<T>())
      for (const T y : test::special_floats<T>()) a.push_back(x), b.push_back(y);
    for (int i = 0; i < count; ++i) {
      const Arguments<T> x = sampler.next(op);
      a.push_back(x.a), b.push_back(x.b);
    }
    const std::vector<T> got = apply(op, asarray(a), asarray(b)).template to_vector<T>();
    Worst worst;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Arguments<T> x = {a[i], b[i]};
      const long double value = exact(op, x);
      const double error = measurable(op, x, value) ? test::error_beyond(op, got[i], value) : 0;
      if (error > worst.ulps) worst = {error, static_cast<double>(x.a), static_cast<double>(x.b)};
    }
    INFO(graph::info(op).name << ": " << worst.ulps << " ulp at " << worst.a << ", " << worst.b);
    CHECK(worst.ulps <= test::published_ulps<T>(op));
  }
}

}  // namespace

TEST_CASE("math: float64 functions keep the published error bound", "[codegen][math]") {
  for (const Op op : all_functions()) check_bound<double>(op, 40'000);
}

TEST_CASE("math: float32 functions keep the published error bound", "[codegen][math]") {
  for (const Op op : all_functions()) check_bound<float>(op, 20'000);
}

// Prints what the table of docs/reference/numerics.md has. float32 functions of one argument are measured on all of
// theirs, in tests/codegen/prelude/prelude_sweep_test.cpp.
TEST_CASE("math: functions keep the published error bound on ten million arguments", "[codegen][math][.slow]") {
  for (const Op op : all_functions()) {
    const Worst worst = check_bound<double>(op, 10'000'000);
    WARN(graph::info(op).name << " float64 " << worst.ulps);
    if (is_binary(op)) WARN(graph::info(op).name << " float32 " << check_bound<float>(op, 10'000'000).ulps);
  }
}

TEMPLATE_TEST_CASE("math: all pairs of special values give what Annex F of C says", "[codegen][math]", float, double) {
  for (const Op op : all_functions()) {
    INFO(graph::info(op).name);
    CHECK(wrong_on_specials<TestType>(op) == 0);
  }
}

TEMPLATE_TEST_CASE("math: the documented special cases", "[codegen][math]", float, double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(), zero = 0, one = 1;
  const T pi = static_cast<T>(3.141592653589793238L);
  const struct {
    Op op;
    T a, b, expected;
  } rows[] = {
      {Op::Pow, nan, zero, one},       {Op::Pow, one, nan, one},
      {Op::Pow, -one, inf, one},       {Op::Pow, -one, -inf, one},
      {Op::Pow, -inf, 3, -inf},        {Op::Pow, -inf, -3, -zero},
      {Op::Pow, -inf, 2, inf},         {Op::Pow, -zero, 3, -zero},
      {Op::Pow, -zero, -3, -inf},      {Op::Pow, -zero, -2, inf},
      {Op::Pow, -zero, T(2.5), zero},  {Op::Pow, -2, 3, -8},
      {Op::Pow, -2, T(0.5), nan},      {Op::Pow, T(0.5), -inf, inf},
      {Op::Pow, 2, -inf, zero},        {Op::Pow, -2, inf, inf},
      {Op::Pow, nan, 1, nan},          {Op::Pow, 2, nan, nan},
      {Op::Atan2, zero, -zero, pi},    {Op::Atan2, -zero, -zero, -pi},
      {Op::Atan2, -zero, one, -zero},  {Op::Atan2, zero, one, zero},
      {Op::Atan2, one, zero, pi / 2},  {Op::Atan2, -one, -zero, -pi / 2},
      {Op::Atan2, inf, inf, pi / 4},   {Op::Atan2, one, -inf, pi},
      {Op::Atan2, -one, inf, -zero},   {Op::Atan2, nan, one, nan},
      {Op::Atan2, -inf, one, -pi / 2}, {Op::Hypot, inf, nan, inf},
      {Op::Hypot, nan, -inf, inf},     {Op::Hypot, nan, one, nan},
      {Op::Hypot, 3, -4, 5},           {Op::Logaddexp, -inf, -inf, -inf},
      {Op::Logaddexp, inf, inf, inf},  {Op::Logaddexp, inf, -inf, inf},
      {Op::Logaddexp, -inf, 7, 7},     {Op::Logaddexp, nan, inf, nan},
      {Op::Logaddexp, -inf, nan, nan}, {Op::Log1p, -one, 0, -inf},
      {Op::Log1p, -2, 0, nan},         {Op::Log1p, -zero, 0, -zero},
      {Op::Expm1, -zero, 0, -zero},    {Op::Expm1, -inf, 0, -one},
      {Op::Expm1, inf, 0, inf},        {Op::Log2, zero, 0, -inf},
      {Op::Log10, -one, 0, nan},       {Op::Log2, 8, 0, 3},
      {Op::Log10, 1000, 0, 3},         {Op::Sin, -zero, 0, -zero},
      {Op::Tan, -zero, 0, -zero},      {Op::Sin, inf, 0, nan},
      {Op::Cos, -inf, 0, nan},         {Op::Tan, inf, 0, nan},
      {Op::Cos, zero, 0, one},         {Op::Asin, -zero, 0, -zero},
      {Op::Asin, T(1.5), 0, nan},      {Op::Asin, one, 0, pi / 2},
      {Op::Acos, one, 0, zero},        {Op::Acos, -one, 0, pi},
      {Op::Acos, -2, 0, nan},          {Op::Atan, inf, 0, pi / 2},
      {Op::Atan, -zero, 0, -zero},     {Op::Sinh, -zero, 0, -zero},
      {Op::Sinh, -inf, 0, -inf},       {Op::Cosh, -inf, 0, inf},
      {Op::Tanh, -zero, 0, -zero},     {Op::Tanh, -inf, 0, -one},
      {Op::Asinh, -zero, 0, -zero},    {Op::Asinh, -inf, 0, -inf},
      {Op::Acosh, T(0.5), 0, nan},     {Op::Acosh, -inf, 0, nan},
      {Op::Acosh, one, 0, zero},       {Op::Atanh, one, 0, inf},
      {Op::Atanh, -one, 0, -inf},      {Op::Atanh, 2, 0, nan},
      {Op::Atanh, -zero, 0, -zero},    {Op::Sigmoid, -inf, 0, zero},
      {Op::Sigmoid, inf, 0, one},      {Op::Sigmoid, zero, 0, T(0.5)},
      {Op::Rsqrt, zero, 0, inf},       {Op::Rsqrt, -zero, 0, -inf},
      {Op::Rsqrt, inf, 0, zero},       {Op::Rsqrt, -one, 0, nan},
      {Op::Rsqrt, 4, 0, T(0.5)},
  };
  for (const auto& row : rows) {
    const T got = compute<T>(row.op, {row.a, row.b});
    INFO(graph::info(row.op).name << "(" << row.a << ", " << row.b << ") gave " << got << ", not " << row.expected);
    CHECK(equal_bits(got, row.expected));
  }
}

TEMPLATE_TEST_CASE("math: functions keep their symmetries to the bit", "[codegen][math]", float, double) {
  Sampler<TestType> sampler(3);
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const TestType x = sampler.next(Op::Sin).a;
    for (const Op op : {Op::Sin, Op::Tan, Op::Asin, Op::Atan, Op::Sinh, Op::Tanh, Op::Asinh, Op::Atanh, Op::Erf})
      wrong += !equal_bits(call<TestType>(op, -x), -call<TestType>(op, x));
    for (const Op op : {Op::Cos, Op::Cosh}) wrong += !equal_bits(call<TestType>(op, -x), call<TestType>(op, x));
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("math: powers of the base have integers for logarithms", "[codegen][math]", float, double) {
  using T = TestType;
  const int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  for (int k = least; k < std::numeric_limits<T>::max_exponent; ++k) {
    REQUIRE(call<T>(Op::Log2, std::ldexp(T(1), k)) == T(k));
    REQUIRE(call<T>(Op::Pow, T(2), T(k)) == std::ldexp(T(1), k));
  }
  T power = 1;  // of ten, exact up to 10^10 and 10^22
  for (int k = 0; k <= (std::is_same_v<T, float> ? 10 : 22); ++k, power *= 10) {
    CHECK(call<T>(Op::Log10, power) == T(k));
    CHECK(call<T>(Op::Pow, T(10), T(k)) == power);
  }
}

// Values computed with 4000 bits; the first argument is the float64 nearest to a multiple of pi/2.
TEST_CASE("math: huge angles are reduced exactly", "[codegen][math]") {
  const struct {
    double x, sine, cosine, tangent;
  } rows[] = {
      {0x1.6ac5b262ca1ffp+849, 1.0, -0x1.14ae72e6ba22fp-61, -0x1.d9ba9a7975636p+60},
      {0x1.921fb54442d18p+0, 1.0, 0x1.1a62633145c07p-54, 0x1.d02967c31cdb5p+53},
      {1e22, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1, -0x1.a0f79c1b6b257p+0},
      {0x1p+1023, 0x1.205248cbdb760p-1, -0x1.a719f26c232bfp-1, -0x1.5ce6b4c0d02a3p-1},
      {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1, -0x1.4530cfe729484p-8},
      {0x1.8p+21, 0x1.b1b5424bc5333p-1, 0x1.101af9abdc530p-1, 0x1.9809a8d048ae0p+0},
      {0x1.921fb54442d18p+20, -0x1.1a62633145c07p-34, 1.0, -0x1.1a62633145c07p-34},
      {0x1.921fb54442d18p+19, -0x1.1a62633145c07p-35, 1.0, -0x1.1a62633145c07p-35},
  };
  for (const auto& row : rows) {
    INFO(row.x);
    CHECK(test::error_in_ulps(call<double>(Op::Sin, row.x), static_cast<long double>(row.sine)) <= 2);
    CHECK(test::error_in_ulps(call<double>(Op::Cos, row.x), static_cast<long double>(row.cosine)) <= 2);
    CHECK(test::error_in_ulps(call<double>(Op::Tan, row.x), static_cast<long double>(row.tangent)) <= 4);
  }
}

// exp(a) + exp(b) is 1 but for the rounding of b: values computed with 4000 bits.
TEST_CASE("math: logaddexp keeps its accuracy where it cancels", "[codegen][math]") {
  const struct {
    double a, b, expected;
  } rows[] = {
      {-0x1p-1, -0x1.dd91afe787e66p-1, 0x1.6e4aea5aadfcfp-58},
      {-0x1.62e42fefa39efp-1, -0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
      {-0x1p-2, -0x1.82399c009f4d7p+0, -0x1.8e95789074166p-56},
      {-0x1.0624dd2f1a9fcp-10, -0x1.ba20da932c33ep+2, -0x1.68d6a8f6819dap-63},
      {-0x1.b7cdfd9d7bdbbp-34, -0x1.7069e2aa2e155p+4, -0x1.47986e9cdd517p-83},
      {-0x1.999999999999ap-5, -0x1.82a3f11ee3cf1p+1, -0x1.33346a90ce099p-57},
  };
  for (const auto& row : rows) {
    INFO(row.a << ", " << row.b);
    CHECK(test::error_in_ulps(call<double>(Op::Logaddexp, row.a, row.b), static_cast<long double>(row.expected)) <= 4);
    CHECK(test::error_in_ulps(call<double>(Op::Logaddexp, row.b, row.a), static_cast<long double>(row.expected)) <= 4);
  }
}

TEST_CASE("math: every device keeps the published bounds and special cases", "[math]") {
  test::on_every_device([](Device) {
    check_on_device<float>(50'000);
    check_on_device<double>(50'000);
  });
}
