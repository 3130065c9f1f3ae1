// float32 exp, log, erf and sqrt against the C library in double: a stratified sample always, all 2^32 inputs on demand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>

#include "tests/prelude_functions.h"
#include "tests/test.h"

using namespace tarry;
using graph::Op;

namespace {

struct Outcome {
  double worst = 0;          ///< ulps
  float at = 0;
  std::int64_t misfits = 0;  ///< results of another kind: NaN, infinity or the sign of zero
};

/// Spacing of float32 at a value that double holds far more exactly.
double ulp_at(double exact) { return std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23); }

void compare(float x, float got, double exact, Outcome& outcome) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(nearest) || std::isinf(nearest) || exact == 0) {
    outcome.misfits += !test::equal_bits(got, nearest);
    return;
  }
  const double error = std::fabs(static_cast<double>(got) - exact) / ulp_at(exact);
  if (!(error <= outcome.worst)) {
    outcome.worst = error;
    outcome.at = x;
  }
}

Outcome sweep(Op op, double (*exact)(double), std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  const codegen::ScalarFunction function = codegen::scalar_function(op, Dtype::Float32, Dtype::Float32);
  Outcome outcome;
  for (std::uint64_t bits = first; bits < last; bits += step) {
    const std::uint32_t low = static_cast<std::uint32_t>(bits);
    float x, y;
    std::memcpy(&x, &low, sizeof x);
    function(&y, &x, nullptr, nullptr);
    compare(x, y, exact(static_cast<double>(x)), outcome);
  }
  return outcome;
}

/// The upper half of the bit patterns is the negative numbers: one half per thread.
Outcome sweep_all(Op op, double (*exact)(double), std::uint64_t step) {
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  Outcome negative;
  std::thread other([&] { negative = sweep(op, exact, half, 2 * half, step); });
  Outcome positive = sweep(op, exact, 0, half, step);
  other.join();
  positive.misfits += negative.misfits;
  if (negative.worst > positive.worst) {
    positive.worst = negative.worst;
    positive.at = negative.at;
  }
  return positive;
}

void check_all_functions(std::uint64_t step) {
  const struct { Op op; double (*exact)(double); } rows[] = {
      {Op::Exp, std::exp}, {Op::Log, std::log}, {Op::Erf, std::erf}, {Op::Sqrt, std::sqrt}};
  for (const auto& row : rows) {
    const Outcome outcome = sweep_all(row.op, row.exact, step);
    // A bound of 0 means correctly rounded; the double oracle of a rounded square root allows a hair over half an ulp.
    const double bound = std::max(graph::info(row.op).ulp32, 0.5 + 0x1p-20);
    INFO(graph::info(row.op).name << ": " << outcome.worst << " ulp at " << outcome.at);
    CHECK(outcome.worst <= bound);
    CHECK(outcome.misfits == 0);
  }
}

}  // namespace

TEST_CASE("prelude: float32 functions keep the published error bound on every 1021st input", "[codegen][prelude]") {
  check_all_functions(1021);
}

TEST_CASE("prelude: float32 functions keep the published error bound on all inputs", "[codegen][prelude][.slow]") {
  check_all_functions(1);
}
