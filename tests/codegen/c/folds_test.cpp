// Short loops of C kernels, whose steps many points take side by side (codegen/c/folds.cpp): the bits of the
// interpreter whatever the number of points and of steps.
#include <functional>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/sample_results.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using namespace ta::test;

namespace {

using Program = std::function<ta::Array(std::int64_t, std::int64_t)>;

ta::Array input(const ta::Shape& shape, ta::Dtype dtype = ta::float32) {
  std::vector<float> values(static_cast<std::size_t>(ta::zeros(shape).size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 23) - 7;
  return ta::astype(ta::asarray(values, shape), dtype);
}

ta::Array log_sum(std::int64_t n, std::int64_t e) {
  const ta::Array x = input({n, e}) * 0.1f;
  return ta::log(ta::sum(ta::exp(x - ta::max(x, -1, {.keepdims = true})), -1));
}

const std::pair<const char*, Program> kPrograms[] = {
    {"loops that read what others give", [](auto n, auto e) { return ta::mean(log_sum(n, e)); }},
    {"functions of a point after its loop", [](auto n, auto e) { return ta::sin(log_sum(n, e)) + log_sum(n, e); }},
    {"along the first axis", [](auto n, auto e) { return ta::sum(ta::sqrt(ta::abs(ta::sum(input({e, n}), 0)))); }},
    {"products and extremes of integers",
     [](auto n, auto e) {
       const ta::Array x = input({n, e}, ta::int32), y = input({n}, ta::int32);
       return ta::sum(ta::prod(x, -1) % 91 + ta::min(x + ta::expand_dims(y, 1), -1) * y);
     }},
    {"two folds of a loop",
     [](auto n, auto e) {
       const ta::Array x = input({n, e}, ta::float64);
       return ta::max(ta::sum(x, -1) / (ta::max(x, -1) + 8.0));
     }},
    {"a place beside its row",
     [](auto n, auto e) {
       const ta::Array x = input({n, e}), i = ta::remainder(ta::arange(n), e);
       return ta::sum(log_sum(n, e) - ta::squeeze(ta::take_along_axis(x, ta::expand_dims(i, 1), 1), 1));
     }},
    {"computed places, one behind the other",
     [](auto n, auto e) {
       const ta::Array x = input({e, e}), i = ta::remainder(ta::arange(n) * 7, e), j = ta::remainder(i * i + 1, e);
       const ta::Array far = ta::remainder(ta::astype(ta::floor(x(i, j)), ta::int64), e);
       return x(i, j) * 2.0f - x(far, j) + x(far, ta::remainder(far + j, e)) * ta::astype(i, ta::float32);
     }},
    {"places that a truth value chooses between",
     [](auto n, auto e) {
       const ta::Array x = input({e, e}, ta::float64), at = ta::arange(n), y = input({n}, ta::float64);
       const ta::Array i = ta::remainder(at * 7, e), j = ta::remainder(at * at, e);
       return ta::where(y > 3.0, x(i, j) * y, x(j, i) - y);
     }},
    {"rows at computed places, which are stored first",
     [](auto n, auto e) {
       const ta::Array i = ta::remainder(ta::arange(n) * 11 + 3, e);
       return input({e, 3})(ta::remainder(i * i, e)) * 0.5f;
     }},
    {"computed places in a sum, and a loop beside them",
     [](auto n, auto e) {
       const ta::Array x = input({n, e}), i = ta::remainder(ta::arange(n) * 5, n), j = ta::remainder(i, e);
       return ta::sum(x(i, j) * log_sum(n, e));
     }},
    {"boxes around",
     [](auto n, auto e) {
       const ta::Array x = ta::pad(input({n, e}), {{2, 3}, {1, 1}});
       return ta::sum(ta::abs(ta::sum(x * 0.5f, -1)) + ta::exp(ta::max(-x, -1)));
     }},
    {"draws",
     [](auto n, auto e) {
       ta::random::Generator g(5);
       const ta::Array d = ta::random::normal(g, {n});
       return ta::sum(d * ta::sum(ta::exp(ta::expand_dims(d, 1) * input({1, e}) * 0.01f), -1));
     }},
};

}  // namespace

TEST_CASE("folds: points side by side have the interpreter's bits", "[codegen][cpu][folds]") {
  const ta::Scope placed(ta::cpu);
  for (const auto& [name, program] : kPrograms)
    for (const std::int64_t steps : {2, 7, 32})
      for (const std::int64_t points : {1, 3, 63, 64, 65, 300}) {
        INFO(name << ", " << points << " points of " << steps << " steps");
        std::vector<double> expected;
        {
          const Setting interpreted("TARRY_DISABLE", "compile");
          expected = ta::astype(program(points, steps), ta::float64).to_vector<double>();
        }
        CHECK(same_bits(ta::astype(program(points, steps), ta::float64).to_vector<double>(), expected));
      }
}

TEST_CASE("folds: functions in a loop are called for all points of a strip, what lies apart is read before",
          "[codegen][cpu][folds]") {
  const auto kernels = kernels_of(ta::mean(log_sum(4000, 10)), *ta::graph::find_target("x86-64-v3"));
  REQUIRE(kernels.size() == 1);
  const std::string& text = kernels[0]->kernel;
  INFO(text);
  CHECK(text.find("tarry_exp_f32_run_") != std::string::npos);
  CHECK(text.find("tarry_exp_f32(") == std::string::npos);
  CHECK(text.find("high = length - low < 64") != std::string::npos);
}

TEST_CASE("folds: places are looked at together, and one by one where one is beyond its axis",
          "[codegen][cpu][folds]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = input({20, 20}), at = ta::arange(400);
  const auto taken = [&](const ta::Array& rows) { return x(rows * 1, ta::remainder(at * 3, 20)); };
  const auto kernels = kernels_of(taken(ta::floor_divide(at, 20)), *ta::graph::find_target("x86-64-v3"));
  CHECK(kernels.back()->kernel.find("if (beyond)") != std::string::npos);
  const auto plain =
      kernels_of(x(ta::asarray(std::vector<std::int64_t>{3, 0, 19})) + 1.0f, *ta::graph::find_target("x86-64-v3"));
  CHECK(plain.back()->kernel.find("if (beyond)") == std::string::npos);
  for (const std::int64_t first : {0, 63, 64, 131, 399}) {
    const ta::Array rows = ta::where(at < first, ta::remainder(at, 20), 20 + at);
    const std::string place = "index " + std::to_string(20 + first) + " at (" + std::to_string(first) + ",)";
    CHECK_THROWS_WITH(taken(rows).to_vector<float>(), Catch::Contains(place));
    CHECK_THROWS_WITH(x(rows * 1).to_vector<float>(), Catch::Contains(place));
  }
}

TEST_CASE("folds: truth values of a strip are as wide as the other values", "[codegen][cpu][folds]") {
  const auto record = [](ta::Dtype dtype) {
    const ta::Array x = input({30, 30}, dtype), at = ta::arange(700), y = input({700}, dtype);
    ta::evaluate(x, y);
    const ta::Array i = ta::remainder(at, 30), j = ta::remainder(at * at, 30);
    return ta::where(y > 3.0f, x(i, j) * y, x(j, i) - y);
  };
  for (const auto& [dtype, type] :
       {std::pair(ta::float32, "tarry_u32 strip"), std::pair(ta::float64, "tarry_u64 strip")}) {
    const std::string text = kernels_of(record(dtype), *ta::graph::find_target("x86-64-v4")).back()->kernel;
    INFO(text);
    CHECK(text.find(type) != std::string::npos);
    CHECK(text.find("tarry_u8 strip") == std::string::npos);
  }
}

TEST_CASE("folds: strips of many loops are short, and fit on a small stack", "[codegen][cpu][folds]") {
  ta::Array all = ta::zeros({4000}, ta::float64);
  for (int k = 1; k <= 70; ++k)
    all = all + ta::sqrt(ta::sum(ta::square(input({4000, 9}, ta::float64) - static_cast<double>(k)), -1));
  int shorter = 0;
  for (const auto& kernel : kernels_of(ta::sum(all), *ta::graph::find_target("x86-64-v3"))) {
    const std::string& text = kernel->kernel;
    INFO(text);
    for (const int points : {64, 16}) {
      int arrays = 0;
      for (std::size_t at = 0; (at = text.find("double strip", at)) != std::string::npos; ++at)
        arrays += text.find("[" + std::to_string(points) + "];", at) == text.find('[', at) ? 1 : 0;
      CHECK(arrays * points * 8 <= 8192);
      shorter += points == 16 && arrays > 0 ? 1 : 0;
    }
  }
  CHECK(shorter > 0);
}
