// Functions that C kernels call for runs of elements (codegen/c/batched_calls.cpp): the bits of the interpreter
// whatever the length, and whatever passes through arrays.
#include <cmath>
#include <limits>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/sample_results.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using namespace ta::test;

namespace {

std::string text_of(const ta::Array& x, const char* level = "x86-64-v3") {
  const auto kernels = kernels_of(x, *ta::graph::find_target(level));
  REQUIRE(kernels.size() == 1);
  return kernels[0]->kernel;
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

ta::Array input(std::int64_t n) { return ta::asarray(ramp(static_cast<std::size_t>(n)), {n}) * 0.01f; }

ta::Array sum_of_exponentials(std::int64_t n) {
  const ta::Array x = input(n);
  ta::Array sum = x;
  for (int i = 1; i < 60; ++i) sum = sum + ta::exp(x * (-0.01f * static_cast<float>(i)));
  return sum;
}

/// Each step draws, and takes the root of what the step before has left.
ta::Array random_steps(std::int64_t n) {
  ta::random::Generator g(3);
  ta::Array price = ta::zeros({n}), variance = ta::full({n}, 0.04f);
  for (int i = 0; i < 16; ++i) {
    const ta::Array root = ta::sqrt(ta::maximum(variance, 0));
    price = price + root * ta::random::normal(g, {n}) - variance * 0.5f;
    variance = variance + root * ta::random::normal(g, {n}) * 0.1f;
  }
  return ta::exp(price);
}

/// Each step chooses by a logarithm that no step needs.
ta::Array choices(std::int64_t n) {
  ta::Array x = input(n), u = ta::abs(ta::sin(x));
  ta::evaluate(u);
  for (int i = 1; i < 40; ++i) {
    const ta::Array y = x + static_cast<float>(i) * 0.1f;
    x = ta::where(ta::log(u + static_cast<float>(i)) < y - x * x, y, x);
  }
  return x;
}

/// Bytes of the arrays for parts of a loop.
std::size_t bytes_of_arrays(const std::string& text) {
  std::size_t bytes = 0;
  for (const auto& [type, size] : {std::pair("float", 4), std::pair("double", 8), std::pair("tarry_u32", 4),
                                   std::pair("tarry_u64", 8), std::pair("tarry_u8", 1)})
    for (int k = 0; k < 100; ++k)
      if (text.find(std::string(type) + " part" + std::to_string(k) + "[") != std::string::npos)
        bytes += 256 * static_cast<std::size_t>(size);
  return bytes;
}

template <class T>
void check_compiled_is_interpreted(const std::function<std::vector<ta::Array>()>& record) {
  const ta::Scope placed(ta::cpu);
  std::vector<std::vector<T>> expected;
  {
    const Setting interpreted("TARRY_DISABLE", "compile");
    const std::vector<ta::Array> all = record();
    ta::evaluate(all);
    for (const ta::Array& x : all) expected.push_back(x.to_vector<T>());
  }
  const std::vector<ta::Array> all = record();
  ta::evaluate(all);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(same_bits(all[i].to_vector<T>(), expected[i]));
}

}  // namespace

TEST_CASE("runs: a function of what lies in memory goes from there to its place, with no loop around",
          "[codegen][cpu]") {
  const std::string text = text_of(ta::exp(ta::asarray(ramp(1000))));
  CHECK(count(text, "_run_") == 1);
  CHECK(count(text, "&a0[here]") == 1);
  CHECK(count(text, "&a1[here]") == 1);
  CHECK(count(text, "[i]") == 0);
}

TEST_CASE("runs: calls of a function of several values have one text", "[codegen][cpu]") {
  const ta::Array x = ta::asarray(ramp(1000));
  const auto kernels = kernels_of(ta::erf(x * 2.0f) + ta::erf(x - 1.0f), *ta::graph::find_target("x86-64-v3"));
  REQUIRE(kernels.size() == 1);
  CHECK(count(kernels[0]->kernel, "tarry_erf_f32_run_") == 2);
  int texts = 0;
  for (const auto& shared : kernels[0]->shared) texts += shared.name.starts_with("tarry_erf_f32_run_");
  CHECK(texts == 1);
}

TEST_CASE("runs: what is the same for all elements stays a parameter", "[codegen][cpu]") {
  const ta::Array x = ta::asarray(ramp(1000));
  CHECK(count(text_of(ta::pow(x, 2.5f)), "_run_") == 1);
  CHECK(count(text_of(x + ta::exp(ta::sum(x))), "_run_") <= 1);
}

TEST_CASE("runs: however many functions a point calls, its arrays fit on a small stack and none is written out",
          "[codegen][cpu]") {
  for (const ta::Array& x : {sum_of_exponentials(1000), random_steps(1000), choices(1000)})
    for (const auto& kernel : kernels_of(x, *ta::graph::find_target("x86-64-v3"))) {
      INFO(kernel->kernel);
      CHECK(bytes_of_arrays(kernel->kernel) <= 32768);
      CHECK(count(kernel->kernel, "tarry_exp_f32(") + count(kernel->kernel, "tarry_log_f32(") == 0);
    }
}

TEST_CASE("runs: where many values wait at once, parts are of fewer elements", "[codegen][cpu]") {
  // Steps whose states are all results, each of a power and an exponential of the one before.
  const auto states = [](std::int64_t n) {
    std::vector<ta::Array> all;
    ta::Array price = ta::astype(input(n), ta::float64) + 1.0, variance = ta::sin(price) + 1.5;
    for (int i = 0; i < 30; ++i) {
      variance = variance * ta::exp(ta::cos(price * 0.1) * 0.1);
      price = price + ta::sqrt(variance) * ta::pow(price, 0.9) * 0.01;
      all.push_back(price);
      all.push_back(variance);
    }
    return all;
  };
  const ta::graph::Target& target = *ta::graph::find_target("x86-64-v3");
  const ta::Array whole = ta::stack(states(2000));
  for (const auto& kernel : kernels_of(whole, target)) {
    INFO(kernel->kernel);
    CHECK(count(kernel->kernel, "tarry_pow_f64(") == 0);
  }
  check_compiled_is_interpreted<double>([&] { return states(777); });
}

TEST_CASE("runs: a step's words are drawn in that step", "[codegen][cpu]") {
  const std::string text = text_of(random_steps(1000));
  CHECK(count(text, "= tarry_fill_u32_") == 31);  // nobody reads the last step's variance
  CHECK(bytes_of_arrays(text) <= 12 * 256 * 4);
}

TEST_CASE("runs: an array serves one value after the other", "[codegen][cpu]") {
  check_compiled_is_interpreted<float>(
      [] { return std::vector<ta::Array>{sum_of_exponentials(700), random_steps(700), choices(700)}; });
}

TEST_CASE("runs: truth values that wait for a call are as wide as what they choose", "[codegen][cpu]") {
  const auto record = [](ta::Dtype dtype) {
    const ta::Array x = ta::astype(input(700), dtype), e = ta::exp(x), is_large = e > 30.0f;
    return ta::where(is_large, ta::exp(-ta::log(ta::where(is_large, e, x + 1.0f))), e);
  };
  for (const auto& [dtype, type] :
       {std::pair(ta::float32, "tarry_u32 part"), std::pair(ta::float64, "tarry_u64 part")}) {
    const std::string text = text_of(record(dtype));
    CHECK(count(text, type) == 1);
    CHECK(count(text, "tarry_u8 part") == 0);
  }
  check_compiled_is_interpreted<float>([&] { return std::vector<ta::Array>{record(ta::float32)}; });
  check_compiled_is_interpreted<double>([&] { return std::vector<ta::Array>{record(ta::float64)}; });
}

TEST_CASE("runs: the interpreter's bits for every length around that of a part", "[codegen][cpu]") {
  for (const std::int64_t n : {1, 2, 15, 17, 255, 256, 257, 511, 512, 513, 1000}) {
    INFO(n);
    check_compiled_is_interpreted<float>([n] {
      const ta::Array x = input(n), y = ta::log(x + 1.0f);
      return std::vector<ta::Array>{ta::exp(x), ta::sin(y) * ta::exp(-y) + ta::sqrt(x), ta::pow(x, y),
                                    ta::where(x > 1.0f, ta::tanh(y), ta::abs(y))};
    });
  }
}

TEST_CASE("runs: the interpreter's bits of float64, of rows and of what is kept between stages", "[codegen][cpu]") {
  for (const std::int64_t columns : {33, 300, 5000}) {
    INFO(columns);
    check_compiled_is_interpreted<double>([columns] {
      const ta::Array x = ta::astype(ta::reshape(input(3 * columns), {3, columns}), ta::float64);
      return std::vector<ta::Array>{ta::softmax(x, 1), ta::logsumexp(ta::sin(x), 1),
                                    ta::sum(ta::log(x) * ta::exp(-x), 1),
                                    ta::exp(x - ta::max(x, 1, {.keepdims = true})) + ta::log(x)};
    });
  }
}

namespace {

/// A value of long functions in the loops of each schedule, by its name in the schedule's kernels.
std::vector<std::pair<std::string, ta::Array>> heavy_in_each_schedule(ta::Dtype dtype, std::int64_t rows,
                                                                      std::int64_t columns) {
  const ta::Array x = ta::astype(ta::reshape(input(rows * columns), {rows, columns}), dtype);
  const ta::Array heavy = ta::exp(-x) * ta::sin(x), short_rows = ta::reshape(x, {columns, rows});
  const ta::Array pixels = ta::broadcast_to(ta::expand_dims(x, 2), {rows, columns, 3}) + ta::arange(3, dtype);
  const auto of_column = [](const ta::Array& y) { return ta::exp(-ta::log1p(y)); };
  return {
      {"sum over rows", ta::sum(heavy, 0)},
      {"sum over rows of what columns have", ta::sum(heavy * of_column(ta::abs(x(0))), 0)},
      {"functions of a sum over rows", of_column(ta::sum(heavy * heavy, 0))},
      {"softmax over rows", ta::exp(x - ta::log(ta::sum(ta::exp(x), 0, {.keepdims = true}))) * ta::sin(x)},
      {"short rows", ta::exp(short_rows - ta::tanh(ta::max(short_rows, 1, {.keepdims = true})))},
      {"running sums of rows", ta::exp(-ta::cumulative_sum(heavy, {.axis = 1}))},
      {"running sums of columns", ta::exp(-ta::cumulative_sum(heavy, {.axis = 0}))},
      {"transposed", ta::matrix_transpose(heavy) + ta::log(ta::reshape(x, {columns, rows}) + 1)},
      {"channels to planes", ta::permute_dims(ta::exp(-ta::sin(pixels)), {2, 0, 1})},
      {"rows and columns", ta::sum(heavy, 1) + ta::sum(ta::sum(heavy, 0))},
  };
}

}  // namespace

TEST_CASE("runs: the interpreter's bits in the loops of every schedule", "[codegen][cpu]") {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{5, 3}, {33, 70}, {3, 700}, {600, 9}})
    for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
      INFO(name(dtype) << ", " << rows << " rows of " << columns);
      check_compiled_is_interpreted<double>([&, rows = rows, columns = columns] {
        std::vector<ta::Array> all;
        for (const auto& [name, x] : heavy_in_each_schedule(dtype, rows, columns))
          all.push_back(ta::astype(x, ta::float64));
        return all;
      });
    }
}

TEST_CASE("runs: no schedule writes out long functions beside arithmetic", "[codegen][cpu]") {
  for (const auto& [name, x] : heavy_in_each_schedule(ta::float64, 300, 200))
    for (const auto& kernel : kernels_of(x, *ta::graph::find_target("x86-64-v3"))) {
      INFO(name << "\n" << kernel->kernel);
      for (const char* function : {"tarry_exp_f64(", "tarry_sin_f64(", "tarry_log_f64(", "tarry_log1p_f64("})
        CHECK(count(kernel->kernel, function) == 0);
    }
}

TEST_CASE("runs: several results may take the memory of what they are computed from", "[codegen][cpu]") {
  const auto record = [] {
    ta::Array x = input(700);
    ta::evaluate(x);
    std::vector<ta::Array> all{ta::exp(x), ta::log(x), ta::cos(x) + x};
    x = ta::Array();
    return all;
  };
  check_compiled_is_interpreted<float>(record);
}

TEST_CASE("runs: words are drawn and functions called in the same parts", "[codegen][cpu]") {
  check_compiled_is_interpreted<float>([] {
    ta::random::Generator g(3);
    const ta::Array u = ta::random::uniform(g, {1000}), n = ta::random::normal(g, {1000});
    return std::vector<ta::Array>{ta::log(u + 1.0f) + u, ta::exp(n) * u, ta::random::exponential(g, {1000})};
  });
}

TEST_CASE("runs: slices, steps, reversed and repeated operands go through arrays", "[codegen][cpu]") {
  check_compiled_is_interpreted<float>([] {
    const ta::Array x = input(1200), m = ta::reshape(x, {30, 40});
    return std::vector<ta::Array>{ta::exp(x(ta::slice(ta::none, ta::none, -1))), ta::log(x(ta::slice(1, ta::none, 3))),
                                  ta::sin(m(ta::slice(), ta::slice(3, 20)) * m(ta::slice(), ta::slice(0, 1))),
                                  ta::atan2(m, m(0)), ta::erf(ta::matrix_transpose(m))};
  });
}

TEST_CASE("choices: vectors of a loop take what the interpreter takes, with NaNs and zeros of both signs",
          "[codegen][cpu]") {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {1, 3, 15, 16, 17, 100, 1000})
      check_compiled_is_interpreted<T>([n] {
        std::vector<T> a, b;
        const T values[] = {T(0),
                            T(-0.0),
                            T(1),
                            T(-1),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity()};
        for (std::int64_t i = 0; i < n; ++i) {
          a.push_back(values[i % 7]);
          b.push_back(values[i / 7 % 7]);
        }
        const ta::Array x = ta::asarray(a), y = ta::asarray(b);
        return std::vector<ta::Array>{ta::where(x < y, x, y), ta::where(x <= y, x + y, ta::abs(y)),
                                      ta::where(x > y, x * y, -x), ta::where(x >= y, y - x, x),
                                      ta::where(x > T(0), ta::where(y < T(1), x, T(2)), ta::square(y))};
      });
  };
  check(0.0f);
  check(0.0);
}

TEST_CASE("choices: a loop with vectors of 64 bytes compares into masks, others into vectors", "[codegen][cpu]") {
  const ta::Array x = ta::asarray(ramp(1000));
  const ta::Array y = ta::where(x > 2.0f, x * 0.5f, x);
  CHECK(count(text_of(y, "x86-64-v4"), "TARRY_CHOOSE(ps") == 1);
  CHECK(count(text_of(y, "x86-64-v4"), "cmpps512_mask") == 1);
  CHECK(count(text_of(y, "x86-64-v3"), "TARRY_CHOOSE(ps") == 0);
  CHECK(count(text_of(y, "x86-64-v3"), "const places") == 1);
}
