// Every float32 function of one argument against the C library in double: a stratified sample always, all 2^32 inputs on
// demand.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/elementary.h"
#include "tests/prelude_functions.h"
#include "tests/test.h"

using namespace tarry;
using graph::Op;

namespace {

struct Outcome {
  double worst = 0;  ///< ulps
  float at = 0;
};

Outcome sweep(Op op, std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  const codegen::ScalarFunction function = codegen::scalar_function(op, Dtype::Float32, Dtype::Float32);
  Outcome outcome;
  for (std::uint64_t bits = first; bits < last; bits += step) {
    const std::uint32_t low = static_cast<std::uint32_t>(bits);
    float x, y;
    std::memcpy(&x, &low, sizeof x);
    function(&y, &x, nullptr, nullptr);
    const double error = test::error_in_ulps(y, test::exact_function(op, static_cast<double>(x)));
    if (error > outcome.worst) outcome = {error, x};
  }
  return outcome;
}

/// The upper half of the bit patterns is the negative numbers: one half per thread.
Outcome sweep_all(Op op, std::uint64_t step) {
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  Outcome negative;
  std::thread other([&] { negative = sweep(op, half, 2 * half, step); });
  const Outcome positive = sweep(op, 0, half, step);
  other.join();
  return negative.worst > positive.worst ? negative : positive;
}

void check_all_functions(std::uint64_t step) {
  std::vector<Op> ops(std::begin(test::kUnaryFunctions), std::end(test::kUnaryFunctions));
  ops.push_back(Op::Sqrt);
  for (const Op op : ops) {
    const Outcome outcome = sweep_all(op, step);
    INFO(graph::info(op).name << ": " << outcome.worst << " ulp at " << outcome.at);
    CHECK(outcome.worst <= test::published_ulps<float>(op));
  }
}

}  // namespace

TEST_CASE("prelude: float32 functions keep the published error bound on every 8191st input", "[codegen][prelude]") {
  check_all_functions(8191);
}

TEST_CASE("prelude: float32 functions keep the published error bound on all inputs", "[codegen][prelude][.slow]") {
  check_all_functions(1);
}
