// The error bounds of the elementary functions on all inputs of 16 bits, and of float32 with one argument: a stratified
// sample always, all 2^32 on demand. logaddexp where it cancels, against numbers of 200 bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <future>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "tests/codegen/prelude/functions.h"
#include "tests/helpers/elementary.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using test::call;

namespace {

struct Outcome {
  double worst = 0.5;  ///< ulps: rounding alone costs half
  double a = 0, b = 0;
};

const Outcome& worse(const Outcome& a, const Outcome& b) { return a.worst < b.worst ? b : a; }

std::vector<Op> unary_functions() {
  std::vector<Op> ops(std::begin(test::kUnaryFunctions), std::end(test::kUnaryFunctions));
  ops.push_back(Op::Sqrt);
  return ops;
}

Outcome sweep(Op op, std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  const codegen::ScalarFunction function = codegen::scalar_function(op, Dtype::Float32, Dtype::Float32);
  Outcome outcome;
  for (std::uint64_t bits = first; bits < last; bits += step) {
    const std::uint32_t low = static_cast<std::uint32_t>(bits);
    float x, y;
    std::memcpy(&x, &low, sizeof x);
    function(&y, &x, nullptr, nullptr);
    const double exact = test::exact_function(op, static_cast<double>(x));
    if (test::equal_bits(y, static_cast<float>(exact))) continue;  // most of them
    const double error = test::error_in_ulps(y, exact);
    if (error > outcome.worst) outcome = {error, static_cast<double>(x), 0};
  }
  return outcome;
}

/// Every `step`-th of all bit patterns, as many of them per thread as the machine has threads.
Outcome sweep_all(Op op, std::uint64_t step) {
  const std::uint64_t samples = ((std::uint64_t{1} << 32) - 1) / step + 1,
                      parts = std::max(2U, std::thread::hardware_concurrency());
  std::vector<std::future<Outcome>> running;
  for (std::uint64_t k = 0; k < parts; ++k) {
    const std::uint64_t first = samples * k / parts * step, last = samples * (k + 1) / parts * step;
    running.push_back(std::async(std::launch::async, [=] { return sweep(op, first, last, step); }));
  }
  Outcome worst;
  for (std::future<Outcome>& part : running) worst = worse(worst, part.get());
  return worst;
}

void check_all_functions(std::uint64_t step) {
  for (const Op op : unary_functions()) {
    const Outcome outcome = sweep_all(op, step);
    INFO(graph::info(op).name << ": " << outcome.worst << " ulp at " << outcome.a);
    CHECK(outcome.worst <= test::published_ulps<float>(op));
    if (step == 1)
      WARN(graph::info(op).name << " float32 " << outcome.worst);  // for the table of docs/reference/numerics.md
  }
}

/// Errors of a 16-bit float's function on all first arguments; binary functions take every `b` with each.
template <class T>
Outcome sweep_16(Op op, const std::vector<T>& b) {
  Outcome outcome;
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const T a = T::from_bits(static_cast<std::uint16_t>(bits));
    for (const T& other : b) {
      const T got = graph::info(op).arity == 2 ? call<T>(op, a, other) : call<T>(op, a);
      const double exact = test::exact_function(op, static_cast<double>(a), static_cast<double>(other));
      if (test::equal_bits(got, T(exact))) continue;
      const double error = test::error_beyond(op, got, exact);
      if (error > outcome.worst) outcome = {error, static_cast<double>(a), static_cast<double>(other)};
    }
  }
  return outcome;
}

/// Special values, both ends of the range and `count` random numbers.
template <class T>
std::vector<T> partners(int count) {
  std::vector<T> values;
  for (const double x : test::special_floats<double>()) values.push_back(T(x));
  std::mt19937 random(23);
  for (int i = 0; i < count; ++i) values.push_back(T::from_bits(static_cast<std::uint16_t>(random())));
  return values;
}

template <class T>
Outcome sweep_16(Op op, int partner_count) {
  return sweep_16<T>(op, graph::info(op).arity == 2 ? partners<T>(partner_count) : std::vector<T>(1));
}

/// log(exp(a) + exp(b)) to 200 bits.
using Number =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<200, boost::multiprecision::digit_base_2>>;
Number exact_logaddexp(double a, double b) { return log(exp(Number(a)) + exp(Number(b))); }

/// Pairs for which exp(a) + exp(b) is 1 but for the rounding of b and a few steps.
template <class T>
Outcome worst_cancellation(int count) {
  std::mt19937_64 random(29);
  Outcome outcome{0, 0, 0};
  for (int i = 0; i < count; ++i) {
    const double power = std::uniform_real_distribution<double>(i % 2 == 0 ? -1 : -60, 0)(random);
    const T a = static_cast<T>(-0.6931 * std::exp2(power));
    T b = static_cast<T>(std::log(-std::expm1(static_cast<double>(a))));
    for (std::uint64_t steps = random() % 4; steps > 0; --steps) b = std::nextafter(b, T(i % 4 < 2 ? 0 : -1000));
    const Number exact = exact_logaddexp(static_cast<double>(a), static_cast<double>(b));
    const T got = call<T>(Op::Logaddexp, a, b);
    const double miss = static_cast<double>(abs(Number(got) - exact));
    const double ulp = std::ldexp(1.0, std::ilogb(static_cast<double>(exact)) - (test::Format<T>::digits - 1));
    const double error = miss <= test::published_absolute<T>(Op::Logaddexp) ? 0 : miss / ulp;
    if (error > outcome.worst) outcome = {error, static_cast<double>(a), static_cast<double>(b)};
  }
  return outcome;
}

}  // namespace

TEST_CASE("prelude: float32 functions keep the published error bound on every 8191st input", "[codegen][prelude]") {
  check_all_functions(8191);
}

TEST_CASE("prelude: float32 functions keep the published error bound on all inputs", "[codegen][prelude][.slow]") {
  check_all_functions(1);
}

TEMPLATE_TEST_CASE("prelude: functions of 16-bit floats are rounded once on all inputs", "[codegen][prelude]", Half,
                   BFloat16) {
  std::vector<Op> ops = unary_functions();
  ops.insert(ops.end(), std::begin(test::kBinaryFunctions), std::end(test::kBinaryFunctions));
  for (const Op op : ops) {
    const Outcome outcome = sweep_16<TestType>(op, 4);
    INFO(graph::info(op).name << ": " << outcome.worst << " ulp at " << outcome.a << ", " << outcome.b);
    CHECK(outcome.worst <= test::published_ulps<TestType>(op));
  }
}

TEMPLATE_TEST_CASE("prelude: logaddexp keeps its bounds where it cancels", "[codegen][prelude]", float, double) {
  const Outcome outcome = worst_cancellation<TestType>(2'000);
  INFO(outcome.worst << " ulp at " << outcome.a << ", " << outcome.b);
  CHECK(outcome.worst <= test::published_ulps<TestType>(Op::Logaddexp));
}
