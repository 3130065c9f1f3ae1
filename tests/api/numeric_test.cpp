// Compositions with NumPy's names against libm and loops: numbers, curves, norms and inverse powers of matrices.
#include <tarry/dynamic.h>
#include <tarry/linalg.h>
#include <tarry/ops.h>
#include <tarry/sort.h>
#include <tarry/windows.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::test::in_every_way;

namespace {

using Numbers = std::vector<double>;

const Numbers kSamples = {-7.25, -3.0, -0.5, -0.0, 0.0, 0.3, 1.0, 2.5, 8.0, 27.0, 1e-200, 1e200};

template <class T>
bool is_same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

Numbers values(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

void check_near(const ta::Array& x, const Numbers& expected, double tolerance = 1e-14) {
  const Numbers found = values(x);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i << ": " << found[i] << ", not " << expected[i]);
    if (std::isfinite(expected[i]))
      CHECK(std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i])));
    else
      CHECK((std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i]));
  }
}

template <class F>
Numbers each(F f) {
  Numbers made;
  for (const double x : kSamples) made.push_back(f(x));
  return made;
}

}  // namespace

TEST_CASE("pow: a number as the exponent keeps the special values and the bound", "[numeric]") {
  const double inf = ta::inf, exponents[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, 0.5, 1.5, -0.5, -1.5, 0.25};
  Numbers samples = {0.0, -0.0, 1.0, -1.0, inf, -inf, std::nan(""), 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308};
  for (int e = -1020; e <= 1020; e += 17) samples.push_back(std::ldexp(e % 2 == 0 ? -1.37 : 1.61, e));
  in_every_way([&] {
    const ta::Array x = ta::asarray(samples);
    for (const double y : exponents) {
      const Numbers found = values(ta::pow(x, y));
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const double wanted = std::pow(samples[i], y);
        INFO(samples[i] << " to " << y << " is " << found[i] << ", not " << wanted);
        CHECK(std::isnan(found[i]) == std::isnan(wanted));
        if (std::isnan(wanted)) continue;
        CHECK(std::signbit(found[i]) == std::signbit(wanted));
        const double bound = std::max(4.5 * 0x1p-52 * std::abs(wanted), 0x1p-1073);
        CHECK((found[i] == wanted || std::abs(found[i] - wanted) <= bound));
      }
    }
  });
}

TEST_CASE("sin, cos and tan: an angle has the same bits beside near and far ones, and alone", "[numeric]") {
  for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
    for (const std::size_t count : {3, 9, 40, 300}) {
      Numbers angles;
      for (std::size_t i = 0; i < count; ++i) angles.push_back(0.37 * static_cast<double>(i) - 20);
      const Numbers near = angles;
      Numbers far = angles;
      far[count / 2] = 3e9, far.back() = ta::inf, far.front() = 1048576;
      for (const auto& f :
           {+[](const ta::Array& x) { return ta::sin(x); }, +[](const ta::Array& x) { return ta::cos(x); },
            +[](const ta::Array& x) { return ta::tan(x); }}) {
        const Numbers of_near = values(f(ta::astype(ta::asarray(near), dtype)));
        const Numbers of_far = values(f(ta::astype(ta::asarray(far), dtype)));
        for (std::size_t i = 1; i + 1 < count; ++i)
          if (i != count / 2) CHECK(of_near[i] == of_far[i]);
        const Numbers alone = values(f(ta::astype(ta::asarray(Numbers{far[count / 2]}), dtype)));
        CHECK(alone[0] == of_far[count / 2]);
        CHECK(std::isnan(of_far.back()));
      }
    }
  }
}

TEST_CASE("divide: a quotient by a number is the rounded one, of zeros and denormals and when the number changes",
          "[numeric]") {
  Numbers samples = {0.0, -0.0, 1.0, -1.0, ta::inf, -ta::inf, std::nan(""), 5e-324, -1.5e-323, 1.7e308, -1.7e308};
  for (int e = -1074; e <= 1020; e += 3) samples.push_back(std::ldexp(e % 2 == 0 ? -1.37 : 1.5, e));
  std::vector<float> few;
  for (int e = -149; e <= 127; ++e) few.push_back(std::ldexp(e % 2 == 0 ? -1.5F : 1.2F, e));
  in_every_way([&] {
    const ta::Array x = ta::asarray(samples), y = ta::asarray(few);
    for (const double by : {6.0, -0.1, 3e9, 1e-300, 0.0}) {
      const Numbers found = values(x / by);
      const auto found_few = (y / static_cast<float>(by)).to_vector<float>();
      for (std::size_t i = 0; i < samples.size(); ++i) {
        INFO(samples[i] << " / " << by);
        CHECK(is_same(found[i], samples[i] / by));
      }
      for (std::size_t i = 0; i < few.size(); ++i) {
        INFO(few[i] << " / " << by);
        CHECK(is_same(found_few[i], few[i] / static_cast<float>(by)));
      }
    }
  });
}

TEST_CASE("pow: a number and an array of it give one dtype, and the same integers", "[numeric]") {
  const ta::Scope placed(ta::cpu);
  for (const ta::Dtype dtype : {ta::int8, ta::uint8, ta::int32, ta::uint64, ta::float16, ta::bfloat16, ta::float32}) {
    const ta::Array x = ta::astype(ta::array({1, 2, 3, 7, 11, 100}), dtype);
    for (const double y : {1.0, 2.0, 3.0, 5.0, 0.5, -1.0, -2.0}) {
      const ta::Array one = ta::pow(x, y), all = ta::pow(x, ta::full({6}, y, one.dtype()));
      INFO(name(dtype) << " to " << y);
      CHECK(one.dtype() == all.dtype());
      check_near(one, values(all), 4 * std::max(1e-15, std::pow(2.0, dtype == ta::bfloat16 ? -8 : -11)));
      if (!ta::is_integral(dtype) || y < 1) continue;
      const ta::Array whole = ta::pow(x, static_cast<int>(y));
      CHECK(whole.dtype() == dtype);
      CHECK(values(whole) == values(ta::pow(x, ta::full({6}, static_cast<int>(y), dtype))));
    }
  }
}

TEST_CASE("pow: small whole exponents and halves cost no pow", "[numeric]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(kSamples);
  const auto text = [&](double y) {
    const ta::Array power = ta::pow(x, y);
    return to_string(ta::test::snapshot_of({&power}).graph);
  };
  for (const double y : {2.0, 3.0, 5.0, 6.0, 7.0, 8.0, 0.5, -0.5, -1.5, -2.0, -3.0, -4.0})
    CHECK(text(y).find("pow") == std::string::npos);
  for (const double y : {0.3, 9.0, -5.0}) CHECK(text(y).find("pow") != std::string::npos);
}

TEST_CASE("fmod: exact, with the sign of the dividend, also of integers at the ends of their range", "[numeric]") {
  in_every_way([] {
    const ta::Array x = ta::asarray(kSamples);
    for (const double by : {0.3, -0.3, 3.0, 1e-3, ta::inf}) {
      INFO("by " << by);
      CHECK(values(ta::fmod(x, by)) == each([&](double a) { return std::fmod(a, by); }));
    }
    const std::vector<std::int8_t> whole = {-128, -7, -1, 0, 1, 7, 127};
    for (const int by : {-128, -3, -1, 1, 3, 127}) {
      Numbers expected;
      for (const int a : whole) expected.push_back(a % by);
      CHECK(values(ta::fmod(ta::asarray(whole), by)) == expected);
    }
  });
}

TEST_CASE("fmax, fmin: a number rather than NaN", "[numeric]") {
  in_every_way([] {
    const ta::Array x = ta::array({1.0, ta::nan, ta::nan, 4.0}), y = ta::array({2.0, 2.0, ta::nan, ta::nan});
    check_near(ta::fmax(x, y), {2, 2, ta::nan, 4});
    check_near(ta::fmin(x, y), {1, 2, ta::nan, 4});
    CHECK(values(ta::fmax(ta::array({1, 5}), 3)) == Numbers{3, 5});
  });
}

TEST_CASE("round: to digits, the even one in the middle; what overflows stays", "[numeric]") {
  in_every_way([] {
    const ta::Array x = ta::array({0.125, 2.675, -1.5, 1e308, ta::inf, ta::nan});
    check_near(ta::round(x, 2), {0.12, 2.68, -1.5, 1e308, ta::inf, ta::nan});
    CHECK(values(ta::round(ta::array({1250, 1350, -1250}), -2)) == Numbers{1200, 1400, -1200});
    CHECK(ta::round(ta::array({1250}), -2).dtype() == ta::int32);
    CHECK(values(ta::round(ta::array({5, 7}), 3)) == Numbers{5, 7});
    CHECK(ta::round(ta::astype(x, ta::float16), 1).dtype() == ta::float16);
  });
}

TEST_CASE("functions of one number are those of libm", "[numeric]") {
  in_every_way([] {
    const ta::Array x = ta::asarray(kSamples);
    check_near(ta::cbrt(x), each([](double a) { return std::cbrt(a); }), 1e-15);
    CHECK(std::signbit(values(ta::cbrt(x))[3]));
    check_near(ta::cbrt(ta::array({ta::inf, -ta::inf, ta::nan})), {ta::inf, -ta::inf, ta::nan});
    check_near(ta::exp2(x), each([](double a) { return std::exp2(a); }));
    check_near(ta::deg2rad(x), each([](double a) { return a * (ta::pi / 180); }));
    check_near(ta::rad2deg(x), each([](double a) { return a * (180 / ta::pi); }));
    check_near(ta::sinc(ta::array({0.0, 0.5, -1.5})), {1, 2 / ta::pi, -2 / (3 * ta::pi)});
    check_near(ta::heaviside(ta::array({-1.0, 0.0, 3.0, ta::nan}), 0.5), {0, 0.5, 1, ta::nan});
    for (const ta::Dtype dtype : {ta::float16, ta::bfloat16, ta::float32})
      CHECK(ta::cbrt(ta::ones({2}, dtype)).dtype() == dtype);
    CHECK(ta::exp2(ta::ones({2}, ta::int32)).dtype() == ta::float64);
  });
}

TEST_CASE("nan_to_num: the limits of the dtype, or the numbers that are given", "[numeric]") {
  in_every_way([] {
    const ta::Array x = ta::array({1.0F, static_cast<float>(ta::nan), static_cast<float>(ta::inf), -INFINITY});
    const double most = std::numeric_limits<float>::max();
    CHECK(values(ta::nan_to_num(x)) == Numbers{1, 0, most, -most});
    CHECK(values(ta::nan_to_num(x, {.nan = 7, .posinf = 8, .neginf = 9})) == Numbers{1, 7, 8, 9});
    CHECK(values(ta::nan_to_num(ta::array({true, false}))) == Numbers{1, 0});
  });
}

TEST_CASE("interp: lines between points, the ends outside", "[numeric]") {
  in_every_way([] {
    const ta::Array xp = ta::array({0.0, 1.0, 3.0}), fp = ta::array({10.0, 20.0, 0.0});
    const ta::Array x = ta::array({{-1.0, 0.0, 0.5}, {1.0, 2.0, 3.0}, {4.0, ta::nan, 2.5}});
    check_near(ta::interp(x, xp, fp), {10, 10, 15, 20, 10, 0, 0, ta::nan, 5});
    check_near(ta::interp(x, xp, fp, {.left = -1, .right = -2}), {-1, 10, 15, 20, 10, 0, -2, ta::nan, 5});
    check_near(ta::interp(ta::array({-1.0, 2.0, 5.0}), ta::array({2.0}), ta::array({7.0})), {7, 7, 7});
    CHECK(ta::interp(ta::array({1}), ta::array({0, 2}), ta::array({0, 1})).dtype() == ta::float64);
  });
}

TEST_CASE("gradient, trapezoid: even and uneven steps, along any axis", "[numeric]") {
  in_every_way([] {
    const ta::Array y = ta::array({{1.0, 4.0, 9.0, 16.0}, {0.0, 1.0, 0.0, 1.0}});
    check_near(ta::gradient(y), {3, 4, 6, 7, 1, 0, 0, 1});
    check_near(ta::gradient(y, {.axis = 0, .spacing = 0.5}), {-2, -6, -18, -30, -2, -6, -18, -30});
    const ta::Array x = ta::array({0.0, 1.0, 3.0, 4.0});
    check_near(ta::gradient(ta::square(x), x), {1, 2, 6, 7});
    check_near(ta::gradient(ta::array({1.0, 3.0}), ta::array({0.0, 4.0})), {0.5, 0.5});
    check_near(ta::trapezoid(y), {21.5, 1.5});
    check_near(ta::trapezoid(y, {.axis = 0, .spacing = 2}), {1, 5, 9, 17});
    check_near(ta::trapezoid(y, x), {2.5 + 13 + 12.5, 0.5 + 1 + 0.5});
    check_near(ta::trapezoid(ta::ones({3, 1})), {0, 0, 0});
  });
}

TEST_CASE("correlate: a convolution with the second array reversed", "[numeric][windows]") {
  in_every_way([] {
    const ta::Array a = ta::array({1, 2, 3, 4}), v = ta::array({1, 10});
    CHECK(values(ta::correlate(a, v)) == Numbers{10, 21, 32, 43, 4});
    CHECK(values(ta::correlate(a, v, ta::Convolution::Valid)) == Numbers{21, 32, 43});
    CHECK(values(ta::correlate(v, a)) == Numbers{4, 43, 32, 21, 10});
  });
}

TEST_CASE("matrix_norm: of columns, of rows and of all elements", "[numeric][products]") {
  using enum ta::MatrixNorm;
  in_every_way([] {
    const ta::Array x = ta::array({{{1.0, -2.0, 2.0}, {0.0, 4.0, 0.0}}});
    const auto norm = [&](ta::MatrixNorm ord) { return values(ta::matrix_norm(x, {.ord = ord})); };
    CHECK(norm(Frobenius) == Numbers{5});
    CHECK(norm(Columns) == Numbers{6});
    CHECK(norm(Rows) == Numbers{5});
    CHECK(norm(SmallestColumn) == Numbers{1});
    CHECK(norm(SmallestRow) == Numbers{4});
    CHECK(ta::matrix_norm(x, {.keepdims = true, .ord = Rows}).shape() == ta::Shape{1, 1, 1});
  });
}

TEST_CASE("matrix_power: negative powers are those of the inverse", "[numeric][products]") {
  in_every_way([] {
    const ta::Array x = ta::array({{2.0, 1.0}, {0.0, 4.0}});
    check_near(ta::matmul(ta::matrix_power(x, -3), ta::matrix_power(x, 3)), {1, 0, 0, 1});
    check_near(ta::matrix_power(x, -1), values(ta::linalg::inv(x)));
    CHECK(ta::matrix_power(ta::array({{2, 0}, {0, 4}}), -2).dtype() == ta::float64);
  });
}

TEST_CASE("update: joins values with the elements that indices name", "[numeric]") {
  in_every_way([] {
    const ta::Array places = ta::array({0, 2, 2});
    const auto updated = [&](ta::Put how) {
      ta::Array x = ta::array({1.0, 2.0, 3.0});
      ta::update(x, std::vector<ta::Index>{places}, ta::array({5.0, 2.0, 4.0}), how);
      return values(x);
    };
    CHECK(updated(ta::Put::Set) == Numbers{5, 2, 4});
    CHECK(updated(ta::Put::Add) == Numbers{6, 2, 9});
    CHECK(updated(ta::Put::Multiply) == Numbers{5, 2, 24});
    CHECK(updated(ta::Put::Minimum) == Numbers{1, 2, 2});
    CHECK(updated(ta::Put::Maximum) == Numbers{5, 2, 4});
  });
}

TEST_CASE("svdvals, matrix_rank, pinv: of wide, tall and singular matrices, in stacks", "[numeric][factors]") {
  in_every_way([] {
    const ta::Array wide = ta::array({{3.0, 0.0, 0.0}, {0.0, -4.0, 0.0}});
    check_near(ta::linalg::svdvals(wide), {4, 3});
    check_near(ta::linalg::svdvals(ta::stack({wide, wide * 2})), {4, 3, 8, 6});
    check_near(ta::linalg::pinv(wide), {1.0 / 3, 0, 0, -0.25, 0, 0});
    const ta::Array single = ta::array({{1.0, 2.0}, {2.0, 4.0}, {0.0, 0.0}});  // of rank 1
    check_near(ta::linalg::svdvals(single), {5, 0});
    check_near(ta::linalg::pinv(single), {0.04, 0.08, 0, 0.08, 0.16, 0}, 1e-13);
    CHECK(values(ta::linalg::matrix_rank(ta::stack({single, single + ta::eye(3, {.columns = 2})}))) == Numbers{1, 2});
    CHECK(values(ta::linalg::matrix_rank(wide, {.rtol = 0.8})) == Numbers{1});
    CHECK(values(ta::linalg::matrix_rank(ta::zeros({0, 3}))) == Numbers{0});
    const ta::Array pair = ta::stack({wide, wide}), tolerances = ta::array({0.5, 0.9});
    CHECK(values(ta::linalg::matrix_rank(pair, {.rtols = tolerances})) == Numbers{2, 1});
    check_near(ta::linalg::pinv(pair, {.rtols = tolerances})(1), {0, 0, 0, -0.25, 0, 0});
    check_near(ta::linalg::pinv(pair, {.rtols = ta::full({}, 0.9)})(0), {0, 0, 0, -0.25, 0, 0});
    CHECK(ta::linalg::svdvals(ta::zeros({2, 0, 3})).shape() == ta::Shape{2, 0});
    CHECK(ta::linalg::pinv(ta::zeros({2, 0, 3})).shape() == ta::Shape{2, 3, 0});
    CHECK(ta::linalg::svdvals(ta::ones({2, 2}, ta::float16)).dtype() == ta::float16);
    CHECK(ta::linalg::pinv(ta::array({{2, 0}, {0, 4}})).dtype() == ta::float64);
    check_near(ta::matrix_norm(wide, {.ord = ta::MatrixNorm::Spectral}), {4});
    check_near(ta::matrix_norm(wide, {.ord = ta::MatrixNorm::SmallestSingular}), {3});
    check_near(ta::matrix_norm(wide, {.keepdims = true, .ord = ta::MatrixNorm::Nuclear}), {7});
  });
}
