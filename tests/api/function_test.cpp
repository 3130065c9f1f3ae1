// Functions from text: the bits of the same operations, C's conversions, paths that part, loops, and mistakes shown.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <tarry/function.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

template <class T>
std::vector<T> samples() {
  std::vector<T> v;
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) v.push_back(static_cast<T>(std::uniform_real_distribution<double>(-40, 40)(random)));
  for (const int edge : {0, 1, 2, 3, 7, 100}) v.push_back(static_cast<T>(edge));
  return v;
}

/// A function of one array has the values of a C++ function of each element.
template <class T, class R, class F>
void check_function(const ta::function& f, F expected) {
  in_every_way([&] {
    const std::vector<T> x = samples<T>();
    const ta::Array y = f(ta::asarray(x));
    REQUIRE(y.dtype() == ta::dtype_of<R>);
    const auto got = y.template to_vector<R>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(f.text() << " of " << x[i]);
      REQUIRE(same_bits<R>(got[i], static_cast<R>(expected(x[i]))));
    }
  });
}

std::string mistake(const std::string& parameters, const std::string& body) {
  try {
    const ta::function f("f", parameters, body);
  } catch (const ta::InvalidArgument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

bool shows(const std::string& message, const std::string& part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("function: a formula has the bits and the kernel of the same operations", "[function]") {
  in_every_way(
      [] {
        const ta::function soft("soft", "(float x, float a)", "return x > a ? x - a : x < -a ? x + a : 0.f;");
        const ta::Array x = ta::asarray(samples<float>()), a = 3.0f + ta::abs(x) * 0.1f;
        const ta::Array by_text = soft(x * 2.0f, a) + 1.0f;
        const ta::Counters counters = ta::evaluate(by_text).counters();
        CHECK(counters.kernels == 1);
        CHECK(counters.bytes_read + counters.bytes_written == counters.bytes_lower_bound);
        const ta::Array y = x * 2.0f;
        const ta::Array by_ops = ta::where(y > a, y - a, ta::where(y < -a, y + a, 0.0f)) + 1.0f;
        const auto got = by_text.to_vector<float>(), expected = by_ops.to_vector<float>();
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits<float>(got[i], expected[i]));
      },
      {"compile"});
}

TEST_CASE("function: a name and the ops it stands for share one kernel", "[function]") {
  const ta::Array x = ta::asarray(samples<float>());
  const ta::function f("f", "(float x)", "return exp(x) * 2.0f + 1.0f;");
  ta::evaluate(ta::exp(x) * 2.0f + 1.0f);
  CHECK(ta::evaluate(f(x)).counters().compiles == 0);
}

TEST_CASE("function: integers divide and shift as in C", "[function]") {
  check_function<std::int32_t, std::int32_t>(ta::function("f", "(int x)", "return x / 7;"),
                                             [](int x) { return x / 7; });
  check_function<std::int32_t, std::int32_t>(ta::function("f", "(int x)", "return x % -7;"),
                                             [](int x) { return x % -7; });
  check_function<std::int8_t, std::int32_t>(ta::function("f", "(int8_t x)", "return x * 100 + 1;"),
                                            [](std::int8_t x) { return x * 100 + 1; });
  check_function<std::int8_t, std::int8_t>(ta::function("f", "(int8_t x) -> int8_t", "return x * 100;"),
                                           [](std::int8_t x) { return static_cast<std::int8_t>(x * 100); });
  check_function<std::uint8_t, std::uint32_t>(ta::function("f", "(uint8_t x)", "return (x << 3u) ^ 5u | 0x100u;"),
                                              [](std::uint8_t x) { return ((std::uint32_t{x} << 3U) ^ 5U) | 0x100U; });
  check_function<std::int64_t, std::uint64_t>(ta::function("f", "(long x)", "return x + 1ul;"),
                                              [](std::int64_t x) { return static_cast<std::uint64_t>(x) + 1U; });
  check_function<std::int32_t, bool>(ta::function("f", "(int x)", "return x > 0 && !(x & 1);"),
                                     [](int x) { return x > 0 && (x & 1) == 0; });
}

TEST_CASE("function: a real number takes the type of what it meets, an integer is an int", "[function]") {
  check_function<float, float>(ta::function("f", "(float x)", "return x * (1.0 / 3) + 0.1;"),
                               [](float x) { return x * static_cast<float>(1.0 / 3) + 0.1f; });
  check_function<double, double>(ta::function("f", "(double x)", "return 0.1f * x;"),
                                 [](double x) { return static_cast<double>(0.1f) * x; });
  check_function<std::int32_t, double>(ta::function("f", "(int x)", "return x * 0.5;"), [](int x) { return x * 0.5; });
  check_function<float, float>(ta::function("f", "(float x)", "return 2 * x - (int)x;"),
                               [](float x) { return 2 * x - static_cast<float>(static_cast<int>(x)); });
}

TEST_CASE("function: T is the type of what is given", "[function]") {
  const ta::function twice("twice", "(T x, T y)", "T both = x + y; return both * T(2);");
  CHECK(twice(ta::array({1.5}), ta::array({1.0F})).dtype() == ta::float64);
  CHECK(twice(ta::array({1, 2}), ta::array({3, 4})).to_vector<int>() == std::vector<int>{8, 12});
  CHECK(twice(ta::array({1.5F}), 2).item<float>() == 7.0F);
}

TEST_CASE("function: paths that part meet again, and may end early", "[function]") {
  const ta::function f("clamp_odd", "(double x)", R"(
    double y = x;
    if (x < 0) {
      y = -x;
      if (x < -30) return -1;   // leaves
    } else if (x > 30)
      return 30.0;
    y += 0.5;
    return floor(y);
  )");
  check_function<double, double>(f, [](double x) {
    if (x < -30) return -1.0;
    if (x > 30) return 30.0;
    return std::floor(std::fabs(x) + 0.5);
  });
}

// clang-format off
/// Statements of C, and of a text.
#define BRANCHES \
  if (x > 0) { \
    if (y > 0) return 1; \
    x = x - 5; \
  } else { \
    if (y < -1) return 2; \
    if (y > 1) { \
      if (x > -2) return 3; \
      return 4; \
    } \
    y = y + x; \
  } \
  if (x + y > 0) return 5; \
  if (x < y) x = y; \
  for (int i = 0; i < 4; i = i + 1) { \
    if (x == y + i) return 6 + i; \
    if (y == -3) break; \
    if (x < -4) { \
      if (y == 0) return 70; \
      continue; \
    } \
    x = x - 1; \
  } \
  if (x > -3) return x * 10 + y; \
  return x * 100 - y;
// clang-format on
#define text_of(...) text_of_expanded(__VA_ARGS__)
#define text_of_expanded(...) #__VA_ARGS__

TEST_CASE("function: returns from within branches of branches, and in loops behind them", "[function]") {
  const auto reference = [](int x, int y) { BRANCHES };
  const ta::function f("branches", "(int x, int y)", text_of(BRANCHES));
  std::vector<int> xs, ys, expected;
  for (int x = -9; x <= 9; ++x)
    for (int y = -9; y <= 9; ++y) {
      xs.push_back(x);
      ys.push_back(y);
      expected.push_back(reference(x, y));
    }
  in_every_way([&] { CHECK(f(ta::asarray(xs), ta::asarray(ys)).to_vector<int>() == expected); });
}

TEST_CASE("function: what is returned on all paths has one type", "[function]") {
  check_function<float, float>(ta::function("f", "(float x)", "if (x > 3) return 1; if (x > 0) return 0.5; return x;"),
                               [](float x) { return x > 3   ? 1.0f
                                                    : x > 0 ? 0.5f
                                                            : x; });
  check_function<float, float>(ta::function("f", "(float x)", "return x > 0 ? 0.5 : 1.5;"),
                               [](float x) { return x > 0 ? 0.5f : 1.5f; });
  check_function<float, double>(ta::function("f", "(float x) -> double", "if (x > 0) return x; return 0.1;"),
                                [](float x) { return x > 0 ? static_cast<double>(x) : 0.1; });
}

TEST_CASE("function: results have the shape of all arguments, whichever of them they use", "[function]") {
  in_every_way([] {
    const ta::Array column = ta::reshape(ta::arange(3), {3, 1}), row = ta::arange(4);
    const ta::Array first = ta::function("first", "(T x, T y)", "return x;")(column, row);
    CHECK(ta::array_equal(first, ta::broadcast_to(column, {3, 4})).item<bool>());
    CHECK(ta::array_equal(ta::function("one", "(float x)", "return 1.f;")(ta::zeros({2, 3})), ta::ones({2, 3}))
              .item<bool>());
    const auto both = ta::function("both", "(T x, T y) -> (T a, int n)", "a = y; n = 7;").all(column, row);
    CHECK(both[0].shape() == ta::Shape{3, 4});
    CHECK(both[1].shape() == ta::Shape{3, 4});
    CHECK(ta::function("two", "(float x)", "return 2.f;")(1.0F).shape() == ta::Shape{});
  });
}

TEST_CASE("function: several results have names", "[function]") {
  in_every_way(
      [] {
        const ta::function polar("polar", "(double x, double y) -> (double r, double phi)", R"(
      r = sqrt(x * x + y * y);
      if (r == 0) { phi = 0; return; }
      phi = atan2(y, x);
    )");
        const std::vector<ta::Array> both = polar.all(ta::array({3.0, 0.0}), ta::array({4.0, 0.0}));
        REQUIRE(both.size() == 2);
        CHECK(ta::evaluate(both).counters().kernels == 1);
        CHECK(both[0].to_vector<double>() == std::vector<double>{5, 0});
        CHECK(both[1].to_vector<double>()[1] == 0);
        CHECK(std::fabs(both[1].to_vector<double>()[0] - std::atan2(4.0, 3.0)) < 1e-15);
      },
      {"compile"});
}

TEST_CASE("function: a loop runs until each element is done, in one kernel", "[function][loop]") {
  const ta::function collatz("collatz", "(int64_t n)", R"(
    int64_t steps = 0;
    while (n > 1) {
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
      steps++;
    }
    return steps;
  )");
  in_every_way([&] {
    const ta::Array steps = collatz(ta::arange(1, 50));
    CHECK(ta::evaluate(steps).counters().kernels == 1);
    const auto got = steps.to_vector<std::int64_t>();
    for (std::int64_t i = 1; i < 50; ++i) {
      std::int64_t n = i, expected = 0;
      for (; n > 1; ++expected) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
      CHECK(got[static_cast<std::size_t>(i - 1)] == expected);
    }
  });
}

TEST_CASE("function: for with break, continue and return", "[function][loop]") {
  const ta::function f("f", "(int x)", R"(
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
      if (i == x) continue;
      if (sum > 60) break;
      sum += i;
      if (sum == 10) return -x;
    }
    return sum;
  )");
  check_function<std::int32_t, std::int32_t>(f, [](int x) {
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
      if (i == x) continue;
      if (sum > 60) break;
      sum += i;
      if (sum == 10) return -x;
    }
    return sum;
  });
}

TEST_CASE("function: do runs its body at least once", "[function][loop]") {
  const ta::function f("f", "(int x)", "int n = 0; do { x -= 5; n += 1; } while (x > 0); return n;");
  check_function<std::int32_t, std::int32_t>(f, [](int x) {
    int n = 0;
    do {
      x -= 5;
      n += 1;
    } while (x > 0);
    return n;
  });
}

TEST_CASE("function: compositions have the bits of the functions of their names", "[function]") {
  in_every_way([] {
    const ta::Array x = ta::linspace(-3.0, 3.0, 41), y = ta::flip(x) + 0.5;
    const auto is = [&](const char* text, const ta::Array& expected) {
      const ta::Array found = ta::function("f", "(double x, double y)", std::string("return ") + text + ";")(x, y);
      INFO(text);
      CHECK(ta::array_equal(found, expected, {.equal_nan = true}).item<bool>());
    };
    is("cbrt(x)", ta::cbrt(x));
    is("clip(x, -1.0, y)", ta::clip(x, -1.0, y));
    is("deg2rad(x)", ta::deg2rad(x));
    is("exp2(x)", ta::exp2(x));
    is("fmod(x, y)", ta::fmod(x, y));
    is("heaviside(x, y)", ta::heaviside(x, y));
    is("rad2deg(x)", ta::rad2deg(x));
    is("sinc(x)", ta::sinc(x));
    is("cbrtf(x)", ta::cbrt(ta::astype(x, ta::float32)));
  });
}

TEST_CASE("function: fmin passes over NaN, min does not", "[function]") {
  const ta::Array x = ta::array({std::numeric_limits<double>::quiet_NaN(), 2.0});
  CHECK(ta::function("f", "(double x)", "return fmin(x, 3.0);")(x).to_vector<double>() == std::vector<double>{3, 2});
  CHECK(std::isnan(ta::function("f", "(double x)", "return min(x, 3.0);")(x).to_vector<double>()[0]));
}

TEST_CASE("function: a mistake shows its line and the place in it", "[function][errors]") {
  CHECK(shows(mistake("(float x)", "float y = x;\nreturn y + z;"),
              "'z' is not declared (line 2):\n  return y + z;\n             ^"));
  CHECK(shows(mistake("(float x)", "return x +;"), "a value is expected here:\n  return x +;\n            ^"));
  CHECK(shows(mistake("(float x)", "return x"), "';' is expected here"));
  CHECK(shows(mistake("(float x)", "return nosuch(x);"), "there is no function 'nosuch'"));
  CHECK(shows(mistake("(float x)", "return sin(x, x);"), "'sin' takes 1 arguments, not 2"));
  CHECK(shows(mistake("(float x)", "return x % 2;"), "'%' takes integers"));
  CHECK(shows(mistake("(float x)", "if (x > 0) return x;"), "an end without a return"));
  CHECK(shows(mistake("(float x)", "x + 1;"), "an assignment is expected here"));
  CHECK(shows(mistake("(float x)", "return x @ 2;"), "this sign has no meaning here"));
  CHECK(shows(mistake("(float)", "return 1;"), "a name is expected here"));
  CHECK(shows(mistake("(float x)", "break; return x;"), "there is no loop here"));
  CHECK(shows(mistake("(int x)", "while (x > 0) { while (x > 1) x -= 1; } return x;"), "a loop inside a loop"));
  CHECK(shows(mistake("(float x) -> (float y)", "if (x > 0) return 1; y = x;"), "assigned, not returned"));
}

TEST_CASE("function: nesting without end is refused", "[function][errors]") {
  const std::string deep(100'000, '(');
  CHECK(shows(mistake("(float x)", "return " + deep + "x;"), "nested too deeply"));
  CHECK(shows(mistake("(float x)", "return " + std::string(100'000, '!') + "x;"), "nested too deeply"));
  CHECK(mistake("(float x)", "return " + deep + "x;").size() < 400);
  CHECK(shows(mistake("(float x)", "return x + " + std::string(90, ' ') + "z;"), " z;\n"));
}

TEST_CASE("function: wrong arguments are named", "[function][errors]") {
  const ta::function f("soft", "(float x, float a)", "return x - a;");
  const auto message = [&](auto&&... arguments) -> std::string {
    try {
      (void)f(arguments...);
    } catch (const ta::InvalidArgument& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  CHECK(shows(message(ta::array({1.0})), "1 arguments for soft(float x, float a)"));
  CHECK(shows(message(ta::array({1.0}), 2), "argument 'x' of soft(float x, float a) is float64 (1,); convert it"));
  CHECK(shows(message(ta::zeros({3}), ta::zeros({4})), "function_test.cpp"));
  const ta::function both("both", "(float x) -> (float a, float b)", "a = x; b = x;");
  try {
    (void)both(ta::zeros({2}));
    FAIL("one of two results");
  } catch (const ta::InvalidArgument& e) {
    CHECK(shows(e.what(), "2 results: call all()"));
  }
}

TEST_CASE("function: no lanes give no elements", "[function]") {
  const ta::function f("f", "(float x)", "int i = 0; while (x > 1) { x /= 2; i++; } return i;");
  CHECK(f(ta::zeros({0, 3})).shape() == std::vector<std::int64_t>{0, 3});
  CHECK(f(ta::zeros({0, 3})).to_vector<int>().empty());
}
