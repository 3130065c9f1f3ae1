// Arrays with values: in from memory, out to memory, printed.
#include <tarry/tarry.h>

#include <array>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/helpers/test.h"

using namespace tarry;

namespace {

std::string printed(const Array& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

std::vector<float> floats(const Array& x) { return x.to_vector<float>(); }
std::vector<std::int64_t> integers(const Array& x) { return x.to_vector<std::int64_t>(); }

/// The members of a std::mdspan of two dimensions with a strided layout.
struct Matrix {
  using value_type = float;
  struct Accessor {
    const float& access(const float* first, std::size_t i) const { return first[i]; }
  };
  const float* data;
  std::array<std::int64_t, 2> extents, strides;
  static constexpr bool is_always_strided() { return true; }
  static constexpr std::size_t rank() { return 2; }
  std::int64_t extent(std::size_t d) const { return extents[d]; }
  std::int64_t stride(std::size_t d) const { return strides[d]; }
  const float* data_handle() const { return data; }
  Accessor accessor() const { return {}; }
};

}  // namespace

TEST_CASE("array: asarray takes what has the members of mdspan", "[array]") {
  const std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const Array rows = asarray(Matrix{memory.data(), {2, 3}, {3, 1}}),
              columns = asarray(Matrix{memory.data(), {3, 2}, {1, 3}});
  CHECK(rows.shape() == Shape{2, 3});
  CHECK(rows.to_vector<float>() == memory);
  CHECK(columns.shape() == Shape{3, 2});
  CHECK(columns.to_vector<float>() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(asarray(Matrix{memory.data(), {0, 3}, {3, 1}}).shape() == Shape{0, 3});
}

TEST_CASE("array: asarray copies at the call", "[array]") {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const Array x = asarray(values), matrix = asarray(values, {2, 3}), part = asarray(std::span(values).first(2));
  values.assign(6, 0.0F);
  CHECK(floats(x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(matrix.shape() == Shape{2, 3});
  CHECK(floats(matrix) == floats(x));
  CHECK(floats(part) == std::vector<float>{1, 2});
  CHECK(asarray(std::array<double, 2>{1, 2}).to_vector<double>() == std::vector<double>{1, 2});
  CHECK(asarray(std::vector<bool>{true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(asarray(std::vector<float>{}).shape() == Shape{0});
  CHECK(x.is_evaluated());
  CHECK(x.device() == Device{});
  CHECK_THROWS_WITH(asarray(values, {2, 2}), Catch::Contains("[asarray] 6 elements do not fill float32 (2, 2)"));
}

TEST_CASE("array: nested braces give shape and dtype", "[array]") {
  const Array x = array({{1, 2}, {3, 4}, {5, 6}});
  CHECK(x.shape() == Shape{3, 2});
  CHECK(name(x.dtype()) == "int32");
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  CHECK(array({{{1.0}, {2.0}}}).shape() == Shape{1, 2, 1});
  CHECK(array({true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(array({{true}, {false}}).shape() == Shape{2, 1});
  CHECK_THROWS_WITH(array({{1, 2}, {3}}), Catch::Contains("[array] rows differ in length: 2 and 1"));
}

TEST_CASE("array: what is read must be asked for by its dtype and size", "[array]") {
  const Array x = array({1.0F, 2.0F});
  CHECK_THROWS_WITH(x.to_vector<double>(), Catch::Contains("[to_vector] the array is float32, not float64") &&
                                               Catch::Contains("array_test.cpp"));
  CHECK_THROWS_WITH(x.item<float>(), Catch::Contains("[item] float32 (2,) has 2 elements, not 1"));
  CHECK_THROWS_WITH(x.host<int>(), Catch::Contains("[host] the array is float32, not int32"));
  CHECK_THROWS_WITH(bool(x), Catch::Contains("[bool] float32 (2,) has no single truth value"));
  CHECK_THROWS_WITH(Array().to_vector<float>(), Catch::Contains("undefined"));
  std::array<float, 3> three{};
  CHECK_THROWS_WITH(x.copy_to(std::span<float>(three)),
                    Catch::Contains("[copy_to] float32 (2,) has 2 elements, not 3"));
}

TEST_CASE("array: item, copy_to, host and bool read values", "[array]") {
  const Array x = array({1.0F, 2.0F});
  std::array<float, 2> two{};
  x.copy_to(std::span<float>(two));
  CHECK(two == std::array<float, 2>{1, 2});
  const Host<float> guard = x.host<float>();
  CHECK(guard.size() == 2);
  CHECK(guard.span()[1] == 2.0F);
  CHECK(array({7}).item<int>() == 7);
  CHECK(bool(array({2})));
  CHECK_FALSE(bool(array({0})));
  CHECK_FALSE(bool(array({-0.0})));
  CHECK(bool(array({std::numeric_limits<double>::quiet_NaN()})));
}

TEST_CASE("array: borrowed memory is read through any strides", "[array]") {
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  const float* data = values.data();
  CHECK(floats(borrow(data, {2, 3}) + 0) == values);
  CHECK(floats(borrow(data, {3, 2}, {1, 3}) + 0) == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(floats(borrow(data + 5, {6}, {-1}) + 0) == std::vector<float>{5, 4, 3, 2, 1, 0});
  CHECK(floats(borrow(data + 3, {2, 2}, {0, -2}) + 0) == std::vector<float>{3, 1, 3, 1});
  CHECK(floats(borrow(data + 5, {2}, {-5})) == std::vector<float>{5, 0});
  CHECK(borrow<float>(nullptr, {0}).size() == 0);
  CHECK_THROWS_WITH(borrow(data, {2, 3}, {3}), Catch::Contains("[borrow] 1 strides for shape (2, 3)"));
  CHECK_THROWS_WITH(borrow(data, {2}, {std::numeric_limits<std::int64_t>::max()}),
                    Catch::Contains("[borrow] the strides of shape (2,) reach"));
  CHECK_THROWS_WITH(borrow<float>(nullptr, {1}), Catch::Contains("[borrow] no memory for float32 (1,)"));
}

TEST_CASE("array: generators give the values of the standard", "[array]") {
  CHECK(integers(arange(5)) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(integers(arange(7, 0, -3)) == std::vector<std::int64_t>{7, 4, 1});
  CHECK(floats(arange(0, 1, 0.1, float32)) ==
        std::vector<float>{0.0F, 0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F});
  CHECK(arange(0, 1, 0.25).to_vector<double>() == std::vector<double>{0, 0.25, 0.5, 0.75});
  CHECK(floats(linspace(0, 1, 5)) == std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1});
  CHECK(floats(linspace(0, 1, 4, {.endpoint = false})) == std::vector<float>{0, 0.25F, 0.5F, 0.75F});
  CHECK(floats(linspace(3, 5, 1)) == std::vector<float>{3});
  CHECK(floats(eye(2)) == std::vector<float>{1, 0, 0, 1});
  CHECK(floats(eye(2, {.columns = 3, .k = 1})) == std::vector<float>{0, 1, 0, 0, 0, 1});
  CHECK(floats(eye(2, {.k = std::numeric_limits<std::int64_t>::max()})) == std::vector<float>{0, 0, 0, 0});
  CHECK(floats(full({2}, 2.5F)) == std::vector<float>{2.5F, 2.5F});
  CHECK(zeros({2}, bool_).to_vector<bool>() == std::vector<bool>{false, false});
}

TEST_CASE("array: elementwise operations, views and selection", "[array]") {
  const Array x = array({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}}), row = array({10.0F, 20.0F, 30.0F});
  CHECK(floats(x + row) == std::vector<float>{11, 22, 33, 14, 25, 36});
  CHECK(floats(1 - x) == std::vector<float>{0, -1, -2, -3, -4, -5});
  CHECK((array({7, -7}) / 2).to_vector<double>() == std::vector<double>{3.5, -3.5});
  CHECK((array({7, -7}) % 3).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2});
  CHECK(floor_divide(array({7, -7}), 2).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, -4});
  CHECK(floats(where(x > 3, x, 0)) == std::vector<float>{0, 0, 0, 4, 5, 6});
  CHECK(floats(matrix_transpose(x)) == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(floats(flip(x, 1)) == std::vector<float>{3, 2, 1, 6, 5, 4});
  CHECK(floats(flip(matrix_transpose(x), 0)) == std::vector<float>{3, 6, 2, 5, 1, 4});
  CHECK((x == 2).to_vector<bool>() == std::vector<bool>{false, true, false, false, false, false});
  Array y = x, before = x;
  y += 1;
  CHECK(floats(y) == std::vector<float>{2, 3, 4, 5, 6, 7});
  CHECK(floats(before) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("array: reductions", "[array]") {
  const Array x = array({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}});
  CHECK(sum(x).item<float>() == 21);
  CHECK(floats(sum(x, 0)) == std::vector<float>{5, 7, 9});
  CHECK(sum(x, 1, {.keepdims = true}).shape() == Shape{2, 1});
  CHECK(floats(x - mean(x, 1, {.keepdims = true})) == std::vector<float>{-1, 0, 1, -1, 0, 1});
  CHECK(max(x).item<float>() == 6);
  CHECK(floats(min(x, -1)) == std::vector<float>{1, 4});
  CHECK(sum(x > 2).item<std::int64_t>() == 4);
  CHECK(mean(array({1, 2})).item<double>() == 1.5);
  CHECK(var(array({1.0, 2.0, 3.0, 4.0})).item<double>() == 1.25);
  CHECK(var(array({1.0, 3.0}), {}, {.correction = 1}).item<double>() == 2.0);
  CHECK(tarry::std(array({1.0, 3.0})).item<double>() == 1.0);
  CHECK(var(Array(2.0)).item<double>() == 0.0);
  CHECK(sum(zeros({0})).item<float>() == 0);
  const float empty_mean = mean(zeros({0})).item<float>(), empty_var = var(zeros({0})).item<float>();
  CHECK(empty_mean != empty_mean);
  CHECK(empty_var != empty_var);
}

TEST_CASE("array: evaluate keeps values and marks arrays as evaluated", "[array]") {
  const Array x = array({1.0F, 2.0F}), a = x * 2, b = a + 1;
  CHECK_FALSE(a.is_evaluated());
  const Report report = evaluate(a, b);
  CHECK(a.is_evaluated());
  CHECK(b.is_evaluated());
  CHECK(report.counters().nodes > 0);
  CHECK_THAT(a.repr(), Catch::EndsWith("evaluated)"));
  CHECK(floats(b) == std::vector<float>{3, 5});
  const std::vector<Array> more{x - 1, x + 1};
  evaluate(more);
  CHECK(more[1].is_evaluated());
  CHECK_THROWS_WITH(evaluate(Array()), Catch::Contains("[evaluate]") && Catch::Contains("array_test.cpp"));
}

TEST_CASE("array: prints as NumPy does", "[array]") {
  const float quiet = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const struct {
    Array x;
    const char* expected;
  } rows[] = {
      {array({1.0F, 2.5F, -3.25F}), "[ 1.    2.5  -3.25]"},
      {array({0.1F, 0.2F}), "[0.1 0.2]"},
      {array({1.0, 1.0 / 3}), "[1.         0.33333333]"},
      {array({quiet, 1.0F, -infinite}), "[ nan   1. -inf]"},
      {array({1e10, 1.5}), "[1.0e+10 1.5e+00]"},
      {array({0.00001, 0.0}), "[1.e-05 0.e+00]"},
      {array({1, -20, 300}), "[  1 -20 300]"},
      {array({true, false}), "[ True False]"},
      {array({{1, 2}, {3, 4}}), "[[1 2]\n [3 4]]"},
      {array({{{1, 2}}, {{3, 4}}}), "[[[1 2]]\n\n [[3 4]]]"},
      {asarray(std::vector<float>{}), "[]"},
  };
  for (const auto& row : rows) CHECK(printed(row.x) == row.expected);
  std::vector<std::int64_t> many(1001);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i);
  CHECK(printed(asarray(many)) == "[   0    1    2 ...  998  999 1000]");
  many.resize(1000);
  CHECK_THAT(printed(asarray(many)), Catch::Contains(" 499 500 ") && Catch::Contains("\n"));
  many.assign(2002, 7);
  CHECK(printed(asarray(many, {2, 1001})) == "[[7 7 7 ... 7 7 7]\n [7 7 7 ... 7 7 7]]");
  CHECK(printed(Array(2.5)) == "2.5");
}
