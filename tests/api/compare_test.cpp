// Comparisons of every dtype with every other and with C++ numbers, against the exact values.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

using namespace tarry;

namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Exact;  // holds every number of every dtype
#else
using Exact = long double;
#endif

constexpr const char* kOps[] = {"==", "!=", "<", "<=", ">", ">="};
constexpr int kOpCount = 6;

bool exactly(int op, Exact a, Exact b) {
  switch (op) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    default: return a >= b;
  }
}

Array recorded(int op, const Operand& a, const Operand& b) {
  switch (op) {
    case 0: return equal(a, b);
    case 1: return not_equal(a, b);
    case 2: return less(a, b);
    case 3: return less_equal(a, b);
    case 4: return greater(a, b);
    default: return greater_equal(a, b);
  }
}

/// Elements of one dtype, and what they are exactly.
struct Column {
  Array array;
  std::vector<Exact> values;
};

template <class T>
Column column(const std::vector<T>& elements) {
  Column c{asarray(elements), {}};
  for (const T& e : elements) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      c.values.push_back(Exact(static_cast<float>(e)));
    else
      c.values.push_back(Exact(e));
  }
  return c;
}

template <class T>
Column integers() {
  using L = std::numeric_limits<T>;
  std::vector<T> v{L::min(), static_cast<T>(L::min() + 1), 0, 1, 100, static_cast<T>(L::max() - 1), L::max()};
  if constexpr (std::is_signed_v<T>) v.push_back(-1);
  for (const std::int64_t edge : {16777216LL, 9007199254740992LL, 65536LL, 2048LL}) {
    for (const std::int64_t e : {edge - 1, edge, edge + 1, -edge - 1})
      if (std::in_range<T>(e)) v.push_back(static_cast<T>(e));
  }
  return column(v);
}

constexpr double kFractions[] = {0.0,
                                 0.5,
                                 1.0,
                                 99.999999999999986,
                                 100.0,
                                 127.5,
                                 255.0,
                                 255.5,
                                 256.0,
                                 2048.0,
                                 65535.0,
                                 65504.5,
                                 16777215.0,
                                 16777216.0,
                                 16777216.5,
                                 0x1p31,
                                 0x1p32,
                                 0x1p53,
                                 0x1.fffffffffffffp62,
                                 0x1p63,
                                 0x1.fffffffffffffp63,
                                 0x1p64,
                                 1e300,
                                 1e-310,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};

template <class T>
Column floats() {
  std::vector<T> v;
  for (const double x : kFractions) {
    v.push_back(static_cast<T>(x));
    v.push_back(static_cast<T>(-x));
  }
  return column(v);
}

std::vector<Column> columns() {
  return {integers<std::int8_t>(),  integers<std::int16_t>(),  integers<std::int32_t>(),  integers<std::int64_t>(),
          integers<std::uint8_t>(), integers<std::uint16_t>(), integers<std::uint32_t>(), integers<std::uint64_t>(),
          floats<Half>(),           floats<BFloat16>(),        floats<float>(),           floats<double>()};
}

/// The first pair that got another answer than the exact one.
std::string wrong(int op, const Column& a, const Column& b, const std::vector<bool>& got) {
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    for (std::size_t k = 0; k < b.values.size(); ++k) {
      if (got[i * b.values.size() + k] == exactly(op, a.values[i], b.values[k])) continue;
      return std::string(name(a.array.dtype())) + " " + std::to_string(static_cast<double>(a.values[i])) + " " +
             kOps[op] + " " + std::string(name(b.array.dtype())) + " " +
             std::to_string(static_cast<double>(b.values[k])) + " gave " +
             (got[i * b.values.size() + k] ? "true" : "false");
    }
  }
  return "";
}

}  // namespace

namespace {

void check_arrays() {
  const std::vector<Column> all = columns();
  for (const Column& a : all) {
    std::vector<Array> answers;  // evaluated together
    for (const Column& b : all) {
      for (int op = 0; op < kOpCount; ++op) answers.push_back(recorded(op, a.array(slice(), newaxis), b.array));
    }
    evaluate(answers);
    for (std::size_t n = 0; n < answers.size(); ++n) {
      CHECK(wrong(static_cast<int>(n) % kOpCount, a, all[n / kOpCount], answers[n].to_vector<bool>()) == "");
    }
  }
}

}  // namespace

TEST_CASE("compare: arrays of every two dtypes compare exactly", "[graph][compare][promotion]") {
  test::on_every_device([](Device) { check_arrays(); });
}

TEST_CASE("compare: the interpreter compares arrays of every two dtypes exactly", "[graph][compare][promotion]") {
  const test::Setting interpreted("TARRY_DISABLE", "compile");
  const Scope placed(cpu);
  check_arrays();
}

namespace {

/// x op v and v op x for every op, against the exact value of v.
template <class T>
void check_number(const Column& x, T v, Exact value) {
  std::vector<Array> answers;
  for (int op = 0; op < kOpCount; ++op) {
    answers.push_back(recorded(op, x.array, v));
    answers.push_back(recorded(op, v, x.array));
  }
  evaluate(answers);
  const Column number{zeros({}, int8), {value}};
  for (int op = 0; op < kOpCount; ++op) {
    INFO("a number, " << static_cast<double>(value));
    CHECK(wrong(op, x, number, answers[static_cast<std::size_t>(2 * op)].template to_vector<bool>()) == "");
    CHECK(wrong(op, number, x, answers[static_cast<std::size_t>(2 * op + 1)].template to_vector<bool>()) == "");
  }
}

}  // namespace

TEST_CASE("compare: arrays of integers compare exactly with every number", "[graph][compare][promotion]") {
  const std::vector<Column> all = columns();
  for (const Column& x : all) {
    if (is_floating(x.array.dtype())) continue;
    for (const double v : kFractions) {
      check_number(x, v, Exact(v));
      check_number(x, -v, Exact(-v));
    }
    check_number(x, 0.1F, Exact(0.1F));
    check_number(x, Half(100.0), Exact(100));
  }
}

TEST_CASE("compare: arrays of every dtype compare exactly with every integer", "[graph][compare][promotion]") {
  for (const Column& x : columns()) {
    for (const std::int64_t v :
         {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{127},
          std::int64_t{128}, std::int64_t{256}, std::int64_t{257}, std::int64_t{2049}, std::int64_t{65505},
          std::int64_t{65536}, std::int64_t{16777217}, std::int64_t{9007199254740993}, INT64_MAX})
      check_number(x, v, Exact(v));
    check_number(x, UINT64_MAX, Exact(UINT64_MAX));
    check_number(x, true, Exact(1));
  }
}

TEST_CASE("compare: a fraction beside floats rounds to their dtype, and past their range it stays beyond",
          "[graph][compare]") {
  const Array x = asarray(std::vector<float>{0.1F, INFINITY, -INFINITY, NAN, std::numeric_limits<float>::max()});
  CHECK((x == 0.1).to_vector<bool>() == std::vector<bool>{true, false, false, false, false});
  CHECK((x < 1e300).to_vector<bool>() == std::vector<bool>{true, false, true, false, true});
  CHECK((x <= -1e300).to_vector<bool>() == std::vector<bool>{false, false, true, false, false});
  CHECK((x > 1e300).to_vector<bool>() == std::vector<bool>{false, true, false, false, false});
  CHECK((1e300 >= x).to_vector<bool>() == std::vector<bool>{true, false, true, false, true});
  CHECK((x != 1e300).to_vector<bool>() == std::vector<bool>{true, true, true, true, true});
}

TEST_CASE("compare: bools equal 0 and 1 and nothing else", "[graph][compare]") {
  const Array b = asarray(std::vector<bool>{false, true});
  CHECK((b == 1).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK((b == 1.0000000000000002).to_vector<bool>() == std::vector<bool>{false, false});
  CHECK((b < 256).to_vector<bool>() == std::vector<bool>{true, true});
  CHECK((b >= 1e-300).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK((b == asarray(std::vector<float>{-0.0F, 1.0F})).to_vector<bool>() == std::vector<bool>{true, true});
}

TEST_CASE("compare: numbers compare with numbers", "[graph][compare]") {
  CHECK(equal(16777217, 16777216.0F).item<bool>() == false);
  CHECK(less(-1, 18446744073709551615ULL).item<bool>());
  CHECK(greater_equal(0.5, 1).item<bool>() == false);
  CHECK(less(9007199254740993, 9007199254740992.0).item<bool>() == false);
}

TEST_CASE("compare: array_equal, isclose and allclose take what equal takes", "[graph][compare]") {
  const Array u = asarray(std::vector<std::uint64_t>{0, UINT64_MAX}), s = asarray(std::vector<std::int64_t>{0, -1});
  const Array n = asarray(std::vector<std::int32_t>{16777217}), f = asarray(std::vector<float>{16777216.0F});
  CHECK_FALSE(array_equal(u, s).item<bool>());
  CHECK_FALSE(array_equal(n, f).item<bool>());
  CHECK(array_equal(f, asarray(std::vector<std::int64_t>{16777216}), {.equal_nan = true}).item<bool>());
  CHECK(array_equal(Array(NAN), std::nan(""), {.equal_nan = true}).item<bool>());
  CHECK(isclose(u, s).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(isclose(ones({1}, uint8), -1).item<bool>() == false);
  CHECK(allclose(ones({2}, int8), 1.0).item<bool>());
}

TEST_CASE("compare: numbers beyond the dtype answer without the elements, on the operand's place and shape",
          "[graph][compare]") {
  const Array x = broadcast_to(asarray(std::vector<std::uint8_t>{0, 255}), {3, 2});
  const Array above = x > -1, none = x == 0.5;
  CHECK(above.shape() == Shape(3, 2));
  CHECK(all(above).item<bool>());
  CHECK_FALSE(any(none).item<bool>());
  CHECK(sum(where(x < 256, x, 0)).item<std::uint64_t>() == 765);
}

TEST_CASE("compare: bounds of clip past the dtype are its ends", "[graph][compare]") {
  const Array u = asarray(std::vector<std::uint8_t>{0, 7, 255});
  CHECK(clip(u, -5, 4550).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 7, 255});
  CHECK(clip(u, {}, -1).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 0, 0});
  CHECK(clip(u, 1LL << 40).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{255, 255, 255});
  CHECK(clip(u, 0.5, 100.5).to_vector<float>() == std::vector<float>{0.5F, 7, 100.5F});
  CHECK(clip(asarray(std::vector<std::int64_t>{-5, 5}), UINT64_MAX).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{INT64_MAX, INT64_MAX});
  CHECK(clip(asarray(std::vector<float>{INFINITY, -1.0F}), -1e300, 1e300).to_vector<float>() ==
        std::vector<float>{std::numeric_limits<float>::max(), -1.0F});
  CHECK(clip(asarray(std::vector<Half>{Half(INFINITY)}), 0, 100000).item<Half>().bits == 0x7bff);
  CHECK(clip(zeros({1}), -INFINITY, INFINITY).item<float>() == 0);
}
