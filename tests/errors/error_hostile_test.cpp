// Whatever is passed: every public function returns an array that can be described and planned, or throws an Error that
// names the call. Nothing else leaves it.
#include <algorithm>
#include <limits>
#include <sstream>

#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::Array;
using ta::Axes;
using ta::Operand;
using ta::Shape;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

std::vector<Array> arrays() {
  std::vector<Array> all = {Array(),
                            ta::zeros({}),
                            ta::zeros({0}),
                            ta::zeros({2, 3}),
                            ta::zeros({3, 1, 0}),
                            ta::zeros(std::vector<std::int64_t>(16, 1)),
                            ta::zeros({kHuge}, ta::float64),
                            ta::zeros({INT64_MAX}, ta::bool_),
                            ta::zeros({0, kHuge}, ta::int8),
                            ta::zeros({2, kHuge - 1}, ta::float16)};
  for (int d = 0; d < ta::kDtypeCount; ++d) {
    if (const auto dtype = static_cast<ta::Dtype>(d); ta::info(dtype).available) all.push_back(ta::ones({3}, dtype));
  }
  const ta::Scope far(ta::cuda(255));
  all.push_back(ta::ones({3}));
  return all;
}

const std::vector<std::int64_t> kAxes = {INT64_MIN, -18, -17, -3, -2, -1, 0, 1, 2, 15, 16, 17, INT64_MAX};
const std::vector<Shape> kShapes = {{},
                                    {0},
                                    {1},
                                    {-1},
                                    {3},
                                    {-2},
                                    {6},
                                    {2, 3},
                                    {3, -1},
                                    {-1, -1},
                                    {0, -1},
                                    {kHuge},
                                    {kHuge, 4},
                                    {INT64_MIN},
                                    {INT64_MAX, INT64_MAX},
                                    Shape(std::vector<std::int64_t>(16, 1)),
                                    Shape(std::vector<std::int64_t>(17, 1)),
                                    Shape(std::vector<std::int64_t>(100, 0))};
const std::vector<double> kNumbers = {0.0,
                                      -1.0,
                                      0.5,
                                      1e30,
                                      1e300,
                                      -1e300,
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};

int calls = 0, refused = 0;

void look_at(const Array& x) {
  REQUIRE(x.is_defined());
  CHECK(x.ndim() == static_cast<int>(x.shape().size()));
  CHECK(x.size() >= 0);
  CHECK(x.repr().starts_with("Array("));
}
void look_at(const std::vector<Array>& parts) {
  for (const Array& x : parts) look_at(x);
}

bool has_huge_axis(const Array& x) {
  return x.is_defined() && std::ranges::any_of(x.shape(), [](auto n) { return n > 16; });
}

/// Calls, and looks at what comes back.
template <class F>
void attempt(const char* what, F&& call) {
  INFO(what);
  ++calls;
  try {
    look_at(call());
  } catch (const ta::InvalidArgument& e) {
    ++refused;
    const std::string message = e.what();
    CHECK_THAT(message, Catch::StartsWith("[") && Catch::EndsWith(")") &&
                            (Catch::Contains("error_hostile_test.cpp:") || Catch::Contains("ops.def:")));
    CHECK_FALSE(e.op().empty());
  } catch (const std::exception& e) {
    FAIL_CHECK("threw " << e.what());
  }
}
#define ATTEMPT(...) attempt(#__VA_ARGS__, [&] { return __VA_ARGS__; })

}  // namespace

TEST_CASE("error: elementwise operations refuse what they cannot take, and nothing else happens", "[errors]") {
  const std::vector<Array> all = arrays();
  for (const Array& x : all) {
    INFO(x.repr());
#define UNARY(F) ATTEMPT(ta::F(x))
    UNARY(negative), UNARY(positive), UNARY(abs), UNARY(sign), UNARY(square), UNARY(reciprocal), UNARY(ceil),
        UNARY(floor), UNARY(round), UNARY(trunc), UNARY(sqrt), UNARY(bitwise_invert), UNARY(isfinite), UNARY(isinf),
        UNARY(isnan), UNARY(signbit), UNARY(logical_not), UNARY(zeros_like), UNARY(ones_like), UNARY(matrix_transpose),
        UNARY(argmin), UNARY(argmax), UNARY(sum), UNARY(prod), UNARY(count_nonzero), UNARY(min), UNARY(max), UNARY(any),
        UNARY(all), UNARY(mean), UNARY(var), UNARY(std), UNARY(logsumexp), UNARY(softmax), UNARY(flip), UNARY(clip);
#define TARRY_FUNCTION(ENUM, NAME) UNARY(NAME);
#include "tests/helpers/functions.def"
#undef UNARY
    for (int d = 0; d <= ta::kDtypeCount; ++d) {
      const auto dtype = static_cast<ta::Dtype>(d);
      ATTEMPT(ta::astype(x, dtype));
      ATTEMPT(ta::sum(x, {}, {.dtype = dtype}));
      ATTEMPT(ta::full_like(x, 1, dtype));
    }
    for (const double number : kNumbers) {
      ATTEMPT(x + number);
      ATTEMPT(number / x);
      ATTEMPT(ta::clip(x, number, -number));
      ATTEMPT(ta::isclose(x, number, {.rtol = number}));
      ATTEMPT(ta::full_like(x, number));
      ATTEMPT(ta::var(x, {}, {.correction = number}));
      ATTEMPT(x << static_cast<int>(std::clamp(number, -9.0, 9.0)));
    }
  }
  CHECK(refused > calls / 20);
  CHECK(refused < calls);
}

TEST_CASE("error: operations on two arrays refuse what does not go together", "[errors]") {
  const std::vector<Array> all = arrays();
  for (const Array& a : all) {
    for (const Array& b : all) {
      INFO(a.repr() << " and " << b.repr());
#define BINARY(F) ATTEMPT(ta::F(a, b))
      BINARY(add), BINARY(divide), BINARY(remainder), BINARY(pow), BINARY(minimum), BINARY(hypot), BINARY(nextafter),
          BINARY(bitwise_and), BINARY(bitwise_left_shift), BINARY(less), BINARY(equal), BINARY(logical_or),
          BINARY(allclose), BINARY(array_equal);
#undef BINARY
      ATTEMPT(ta::where(a, b, 0));
      ATTEMPT(ta::where(b, 1, a));
      ATTEMPT(ta::fma(a, b, a));
      ATTEMPT(ta::clip(a, b, 1));
      ATTEMPT(ta::concat({a, b}));
      ATTEMPT(ta::concat({a, b}, ta::none));
      ATTEMPT(ta::stack({a, b}));
      ATTEMPT(ta::with_set(a, b, 1));
      ATTEMPT(ta::with_set(a, {0}, b));
      ATTEMPT(ta::with_add(a, {ta::slice()}, b));
      ATTEMPT([&] {
        Array x = a;
        return x += b;
      }());
      ATTEMPT([&] {
        Array x = a;
        return x.set(b, a);
      }());
    }
  }
}

TEST_CASE("error: axes, shapes and indices that mean nothing are refused", "[errors]") {
  for (const Array& x : arrays()) {
    INFO(x.repr());
    for (const std::int64_t axis : kAxes) {
      INFO("axis " << axis);
      const int narrow = static_cast<int>(std::clamp<std::int64_t>(axis, INT32_MIN, INT32_MAX));
      ATTEMPT(ta::sum(x, axis));
      ATTEMPT(ta::max(x, {axis, 0}));
      ATTEMPT(ta::std(x, axis, {.keepdims = true}));
      ATTEMPT(ta::logsumexp(x, {axis, axis}));
      ATTEMPT(ta::argmax(x, narrow));
      ATTEMPT(ta::softmax(x, narrow));
      ATTEMPT(ta::expand_dims(x, narrow));
      ATTEMPT(ta::squeeze(x, axis));
      ATTEMPT(ta::flip(x, axis));
      ATTEMPT(ta::permute_dims(x, {axis, 0}));
      ATTEMPT(ta::moveaxis(x, axis, 0));
      ATTEMPT(ta::moveaxis(x, 0, axis));
      ATTEMPT(ta::roll(x, axis));
      ATTEMPT(ta::roll(x, axis, axis));
      ATTEMPT(ta::roll(x, {axis}, axis));
      ATTEMPT(ta::repeat(x, axis));
      ATTEMPT(ta::repeat(x, 2, narrow));
      ATTEMPT(ta::repeat(x, axis, 0));
      ATTEMPT(ta::concat({x, x}, narrow));
      ATTEMPT(ta::stack({x, x}, narrow));
      if (!has_huge_axis(x)) ATTEMPT(ta::unstack(x, narrow));  // else it would make that many arrays
      ATTEMPT(x(axis));
      ATTEMPT(x(0, axis));
      ATTEMPT(x(ta::ellipsis, axis, ta::newaxis));
      ATTEMPT(x(ta::slice(axis)));
      ATTEMPT(x(ta::slice(axis, ta::none, axis)));
      ATTEMPT(x(ta::slice(ta::none, axis, -1)));
      ATTEMPT(ta::with_set(x, {axis}, 1));
      ATTEMPT(ta::with_add(x, {ta::slice(ta::none, ta::none, axis)}, 1));
      ATTEMPT(ta::with_set(x, {ta::slice(axis, ta::none, -2)}, x));
    }
    for (const Shape& shape : kShapes) {
      INFO("shape " << shape.str());
      ATTEMPT(ta::broadcast_to(x, shape));
      ATTEMPT(ta::reshape(x, shape));
      ATTEMPT(ta::tile(x, shape));
      ATTEMPT(ta::permute_dims(x, shape.vector()));
      ATTEMPT(ta::moveaxis(x, shape.vector(), shape.vector()));
    }
  }
}

TEST_CASE("error: making arrays refuses what is no array", "[errors]") {
  const std::vector<float> values(6);
  for (const Shape& shape : kShapes) {
    INFO("shape " << shape.str());
    for (int d = 0; d <= ta::kDtypeCount; ++d) {
      const auto dtype = static_cast<ta::Dtype>(d);
      ATTEMPT(ta::zeros(shape, dtype));
      ATTEMPT(ta::full(shape, 200, dtype));
      ATTEMPT(ta::full(shape, 0.5, dtype));
    }
    ATTEMPT(ta::asarray(values, shape));
    ATTEMPT(ta::borrow<float>(nullptr, shape));
    ATTEMPT(ta::borrow(values.data(), shape, std::vector<std::int64_t>(shape.size(), 0)));
    ATTEMPT(ta::borrow(values.data(), shape, std::vector<std::int64_t>(shape.size(), INT64_MIN)));
    ATTEMPT(ta::borrow(values.data(), shape, {1}));
    for (const std::int64_t k : kAxes) {
      ATTEMPT(ta::eye(k, {.columns = shape.empty() ? k : shape[0], .k = k}));
      ATTEMPT(ta::linspace(0, k, shape.empty() ? k : shape[0]));
    }
  }
  for (const double start : kNumbers) {
    for (const double step : kNumbers) {
      for (int d = 0; d <= ta::kDtypeCount; ++d) ATTEMPT(ta::arange(start, 10, step, static_cast<ta::Dtype>(d)));
      ATTEMPT(ta::linspace(start, step, 5));
    }
  }
  for (const std::int64_t start : kAxes) {
    for (const std::int64_t step : kAxes) {
      for (int d = 0; d <= ta::kDtypeCount; ++d) ATTEMPT(ta::arange(start, 10, step, static_cast<ta::Dtype>(d)));
    }
  }
}

TEST_CASE("error: moved-from arrays, plans and reports can still be asked", "[errors]") {
  Array x = ta::ones({3});
  ta::Plan plan = ta::plan(x);
  const ta::Plan plan_now = std::move(plan);
  CHECK(plan.counters().kernels == 0);
  CHECK((plan.unfused().empty() && plan.sources().empty()));
  CHECK(plan.str() == "plan: moved from\n");
  const ta::Report report;
  CHECK((report.counters().launches == 0 && report.unfused().empty() && report.seconds().compile == 0));
  const Array y = std::move(x);
  CHECK_FALSE(x.is_defined());
  CHECK(x.repr() == "Array(undefined)");
  x = y;
  CHECK(x.shape() == Shape(3));
}

TEST_CASE("error: what is too large for any memory is refused before it is planned", "[errors]") {
  const ta::Scope on_cpu(ta::cpu);
  const Array row = ta::astype(ta::arange(kHuge), ta::float64), plane = ta::ones({2, kHuge - 1}, ta::float16);
  const std::vector<Array> results = {row + 1,
                                      ta::flip(row) * row,
                                      plane + plane,
                                      ta::sum(plane, 0),
                                      ta::reshape(plane + 1, {kHuge - 1, 2}) * 2,
                                      ta::concat({row(ta::slice(kHuge / 2)), row(ta::slice(kHuge / 2))}),
                                      ta::with_set(row, {ta::slice(ta::none, ta::none, 3)}, 1),
                                      ta::repeat(row(ta::slice(kHuge / 4)), 3) + 0,
                                      row};
  for (const Array& x : results) {
    INFO(x.repr());
    CHECK_THROWS_AS(ta::plan(x), ta::OutOfMemory);
    CHECK_THROWS_AS(ta::plan_for("sm_90", x), ta::OutOfMemory);
    CHECK_THROWS_AS(ta::evaluate(x), ta::OutOfMemory);
    CHECK_FALSE(x.is_evaluated());
    CHECK_THROWS_AS(x.host<double>(), ta::Error);
    CHECK_THROWS_AS(std::ostringstream() << x, ta::OutOfMemory);
  }
}
