// Promotion: the table of all dtype pairs, and what operations make of it.
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/test.h"

using namespace tarry;

namespace {

// Written by hand from the array API standard (signed, unsigned, floating and complex blocks, int with uint) and, where
// it is silent, from docs/reference/numerics.md. Columns in the order of the rows; "-" throws.
const char* const kNames[kDtypeCount] = {"b",   "i8",  "i16", "i32", "i64", "u8",  "u16", "u32",
                                         "u64", "f16", "bf",  "f32", "f64", "c64", "c128"};
const char* const kTable[kDtypeCount][kDtypeCount] = {
    /* b    */ {"b", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i8   */ {"i8", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i16  */ {"i16", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i32  */ {"i32", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i64  */ {"i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u8   */ {"u8", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u16  */
    {"u16", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u32  */
    {"u32", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u64  */ {"u64", "-", "-", "-", "-", "u64", "u64", "u64", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* f16  */
    {"f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f32", "f32", "f64", "c64", "c128"},
    /* bf   */ {"bf", "bf", "bf", "bf", "bf", "bf", "bf", "bf", "bf", "f32", "bf", "f32", "f64", "c64", "c128"},
    /* f32  */
    {"f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f64", "c64", "c128"},
    /* f64  */
    {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128"},
    /* c64  */
    {"c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c128", "c64", "c128"},
    /* c128 */
    {"c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128",
     "c128"},
};

std::string promoted(Dtype a, Dtype b) {
  try {
    return kNames[static_cast<int>(result_type(a, b))];
  } catch (const InvalidArgument&) {
    return "-";
  }
}

}  // namespace

TEST_CASE("promotion: every pair of dtypes gives what the table says, in both orders", "[graph][promotion]") {
  for (int a = 0; a < kDtypeCount; ++a) {
    for (int b = 0; b < kDtypeCount; ++b) {
      INFO(kNames[a] << " with " << kNames[b]);
      CHECK(promoted(static_cast<Dtype>(a), static_cast<Dtype>(b)) == kTable[a][b]);
    }
  }
}

namespace {

constexpr int kAvailable = 13;  // all but complex

/// Name of the dtype that `f` records, "-" where it throws InvalidArgument.
template <class F>
std::string recorded(F f) {
  try {
    return kNames[static_cast<int>(f().dtype())];
  } catch (const InvalidArgument&) {
    return "-";
  }
}

bool names_integer(const std::string& dtype) { return dtype[0] == 'i' || dtype[0] == 'u'; }

/// The dtype of a bool or an integer that is divided or meets a fraction: 8 and 16 bits fit float32.
std::string fraction_of(const std::string& dtype) {
  const bool narrow = dtype == "b" || dtype == "i8" || dtype == "i16" || dtype == "u8" || dtype == "u16";
  return narrow ? "f32" : names_integer(dtype) ? "f64" : dtype;
}

}  // namespace

TEST_CASE("promotion: operations on every pair of arrays compute in the table's dtype", "[graph][promotion]") {
  const auto array = [](int d) { return zeros({2}, static_cast<Dtype>(d)); };
  for (int a = 0; a < kAvailable; ++a) {
    for (int b = 0; b < kAvailable; ++b) {
      INFO(kNames[a] << " with " << kNames[b]);
      const Array x = array(a), y = array(b), condition = zeros({2}, bool_);
      const std::string any = kTable[a][b];
      const bool throws = any == "-", both_bool = any == "b", integers = names_integer(any);
      const std::string number = both_bool ? "-" : any;
      CHECK(recorded([&] { return x + y; }) == number);
      CHECK(recorded([&] { return pow(x, y); }) == number);
      CHECK(recorded([&] { return clip(x, y); }) == number);
      CHECK(recorded([&] { return x / y; }) == (integers ? fraction_of(any) : number));
      CHECK(recorded([&] { return atan2(x, y); }) == (integers ? fraction_of(any) : number));
      CHECK(recorded([&] { return x == y; }) == "b");
      CHECK(recorded([&] { return x < y; }) == (both_bool ? "-" : "b"));
      CHECK(recorded([&] { return x & y; }) == (integers || both_bool ? any : "-"));
      CHECK(recorded([&] { return x << y; }) == (integers ? any : "-"));
      CHECK(recorded([&] { return logical_xor(x, y); }) == (both_bool ? "b" : "-"));
      CHECK(recorded([&] { return where(condition, x, y); }) == any);
      CHECK(recorded([&] { return isclose(x, y); }) == "b");
      CHECK((throws || recorded([&] { return concat({x, y}, 0); }) == any));
    }
  }
}

TEST_CASE("promotion: functions of every dtype give what their rule says", "[graph][promotion]") {
  for (int d = 0; d < kAvailable; ++d) {
    const std::string own = kNames[d];
    INFO(own);
    const Array x = zeros({2}, static_cast<Dtype>(d));
    const bool truth = own == "b", integer = names_integer(own);
    const std::string number = truth ? "-" : own, floating = truth ? "-" : fraction_of(own);
    const std::string wide = own[0] == 'u'      ? "u64"
                             : integer || truth ? "i64"
                                                : own,
                      statistic = integer || truth ? "f64" : own;
    CHECK(recorded([&] { return -x; }) == number);
    CHECK(recorded([&] { return positive(x); }) == number);
    CHECK(recorded([&] { return floor(x); }) == number);
    CHECK(recorded([&] { return sqrt(x); }) == floating);
    CHECK(recorded([&] { return sigmoid(x); }) == floating);
    CHECK(recorded([&] { return isnan(x); }) == (truth ? "-" : "b"));
    CHECK(recorded([&] { return ~x; }) == (integer || truth ? own : "-"));
    CHECK(recorded([&] { return logical_not(x); }) == (truth ? "b" : "-"));
    CHECK(recorded([&] { return sum(x); }) == wide);
    CHECK(recorded([&] { return prod(x); }) == wide);
    CHECK(recorded([&] { return max(x); }) == own);
    CHECK(recorded([&] { return argmin(x); }) == "i64");
    CHECK(recorded([&] { return any(x); }) == "b");
    CHECK(recorded([&] { return count_nonzero(x); }) == "i64");
    CHECK(recorded([&] { return mean(x); }) == statistic);
    CHECK(recorded([&] { return tarry::std(x); }) == statistic);
    CHECK(recorded([&] { return logsumexp(x); }) == floating);
    CHECK(recorded([&] { return softmax(x); }) == floating);
    for (int to = 0; to < kAvailable; ++to) {
      const auto dtype = static_cast<Dtype>(to);
      CHECK(recorded([&] { return astype(x, dtype); }) == kNames[to]);
      CHECK(recorded([&] { return sum(x, {}, {.dtype = dtype}); }) == (dtype == bool_ ? "-" : kNames[to]));
    }
  }
}

TEST_CASE("promotion: a number of every kind meets an array of every dtype as the table says", "[graph][promotion]") {
  for (int d = 0; d < kAvailable; ++d) {
    const std::string own = kNames[d];
    INFO(own);
    const Array x = zeros({2}, static_cast<Dtype>(d));
    const bool truth = own == "b", integer = names_integer(own);
    CHECK(recorded([&] { return where(x == x, x, true); }) == own);
    CHECK(recorded([&] { return x + true; }) == (truth ? "-" : own));
    CHECK(recorded([&] { return x + 1; }) == (truth ? "i64" : own));
    CHECK(recorded([&] { return 1U + x; }) == (truth ? "i64" : own));
    CHECK(recorded([&] { return x + 1.5; }) == fraction_of(own));
    CHECK(recorded([&] { return 1.5F + x; }) == fraction_of(own));
    CHECK(recorded([&] { return x + Half(1.5); }) == fraction_of(own));
    CHECK(recorded([&] { return where(x == x, x, 0.5); }) == fraction_of(own));
    CHECK(recorded([&] { return maximum(0.5F, x); }) == fraction_of(own));
    CHECK(recorded([&] { return clip(x, 0.5, 1); }) == fraction_of(own));
    CHECK(recorded([&] { return x / 2; }) == (truth ? "f64" : fraction_of(own)));
    CHECK(recorded([&] { return x / 2.5F; }) == fraction_of(own));
    CHECK(recorded([&] { return pow(x, 2); }) == (truth ? "i64" : own));
    CHECK(recorded([&] { return x - 1; }) == (truth ? "i64" : own));
    CHECK(recorded([&] { return x + (-1); }) == (own[0] == 'u' ? "-" : truth ? "i64" : own));
    CHECK(recorded([&] { return x < 0.5; }) == "b");
    CHECK(recorded([&] { return x >= -1; }) == "b");
    CHECK(recorded([&] { return full_like(x, 1); }) == own);
    CHECK(recorded([&] { return full_like(x, 1.0); }) == (truth || integer ? "-" : own));
  }
}

TEST_CASE("promotion: numbers among themselves, and arrays made of numbers, keep their types", "[graph][promotion]") {
  const Array b = zeros({2}, bool_);
  const struct {
    const char* name;
    Array made;
    Dtype expected;
  } rows[] = {
      {"full(0.1)", full({3}, 0.1), float64},
      {"full(0.1f)", full({3}, 0.1F), float32},
      {"full(Half)", full({3}, Half(0.1)), float16},
      {"full(BFloat16)", full({}, BFloat16(0.1)), bfloat16},
      {"full(1)", full({3}, 1), int64},
      {"full(uint8_t)", full({3}, std::uint8_t{1}), int64},
      {"full(true)", full({3}, true), bool_},
      {"Array(0.1)", Array(0.1), float64},
      {"arange(4)", arange(4), int64},
      {"arange(0.0, 1.0, 0.1)", arange(0.0, 1.0, 0.1), float64},
      {"arange(0, 1, 0.1)", arange(0, 1, 0.1), float64},
      {"arange(0, 1.0f, 0.1f)", arange(0, 1.0F, 0.1F), float32},
      {"arange(0.0f, 1.0f, 0.1)", arange(0.0F, 1.0F, 0.1), float64},
      {"linspace(0.0, 1.0, 5)", linspace(0.0, 1.0, 5), float64},
      {"linspace(0.0f, 1.0f, 5)", linspace(0.0F, 1.0F, 5), float32},
      {"linspace(0, 1.0, 5)", linspace(0, 1.0, 5), float64},
      {"linspace(0, 1, 5)", linspace(0, 1, 5), float32},
      {"zeros", zeros({2}), float32},
      {"eye", eye(2), float32},
      {"maximum(0.1, 0.2)", maximum(0.1, 0.2), float64},
      {"maximum(0.1f, 0.2f)", maximum(0.1F, 0.2F), float32},
      {"maximum(1, 0.2f)", maximum(1, 0.2F), float32},
      {"add(1, 2u)", add(1, 2U), int64},
      {"divide(1, 3)", divide(1, 3), float64},
      {"where(b, 1.0, 2)", where(b, 1.0, 2), float64},
      {"where(b, 1.0f, 2.0f)", where(b, 1.0F, 2.0F), float32},
      {"where(b, true, 2)", where(b, true, 2), int64},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(name(row.made.dtype()) == name(row.expected));
  }
  CHECK(full({1}, 0.1).item<double>() == 0.1);
  CHECK(linspace(0.0, 0.3, 2)(1).item<double>() == 0.3);
}

TEST_CASE("promotion: a scope says what floats are whose dtype nothing else decides", "[graph][promotion]") {
  const Array i8 = zeros({2}, int8), f = zeros({2});
  random::Generator g(1);
  {
    const Scope scope(float64);
    const Array b = zeros({2}, bool_);
    for (const Array& x :
         {zeros({2}), ones({2}), eye(2), linspace(0, 1, 3), random::uniform(g, {2}), random::normal(g, {2}),
          random::exponential(g, {2}), i8 / 3, i8 * 0.5, sqrt(i8), b * 0.5, where(b, i8, 0.5)}) {
      CHECK(name(x.dtype()) == "float64");
    }
    CHECK((f * 0.5).dtype() == float32);
    CHECK(full({2}, 0.5F).dtype() == float32);
    CHECK(zeros_like(f).dtype() == float32);
    {
      const Scope inner(float32);
      CHECK(zeros({2}).dtype() == float32);
    }
    CHECK(zeros({2}).dtype() == float64);
  }
  CHECK(zeros({2}).dtype() == float32);
  CHECK_THROWS_WITH(Scope(float16), Catch::Contains("[Scope] the default float is float32 or float64, not float16"));
  CHECK(zeros({2}).dtype() == float32);
}

TEST_CASE("promotion: digits of integers do not vanish where they are divided", "[graph][promotion]") {
  const Array ms = asarray(std::vector<std::int64_t>{1732600000123, 16777217000}),
              n = asarray(std::vector<std::int32_t>{16777217, -2147483647});
  CHECK((ms / 1000).to_vector<double>() == std::vector<double>{1732600000.123, 16777217});
  CHECK((ms * 0.001)(1).item<double>() == 16777217000 * 0.001);
  CHECK((n / 1).to_vector<double>() == std::vector<double>{16777217, -2147483647});
  CHECK(sqrt(square(astype(n, int64)))(0).item<double>() == 16777217);
  CHECK(where(n > 0, n, 0.5).to_vector<double>() == std::vector<double>{16777217, 0.5});
  CHECK((asarray(std::vector<std::uint16_t>{65535}) / 2).item<float>() == 32767.5F);
}

TEST_CASE("promotion: the order of three arrays does not matter", "[graph][promotion]") {
  const Array i = zeros({2}, int8), u = zeros({2}, uint64), f = zeros({2}, float16), g = zeros({2}, bfloat16);
  CHECK(fma(i, u, f).dtype() == float16);
  CHECK(fma(f, i, u).dtype() == float16);
  CHECK(clip(i, f, g).dtype() == float32);
  CHECK_THROWS_WITH(fma(zeros({2}, uint8), i, u), Catch::Contains("[fma] no integer dtype holds both"));
}

TEST_CASE("promotion: the elements of C++ 16-bit floats have their dtypes", "[graph][promotion]") {
  CHECK(array({Half(1.0), Half(2.0)}).dtype() == float16);
  CHECK(asarray(std::vector<BFloat16>(3)).dtype() == bfloat16);
  CHECK(Array(Half(0.5)).dtype() == float16);
  CHECK(array({Half(1.0), Half(65504.0)}).to_vector<Half>()[1].bits == 0x7bff);
  CHECK(Array(BFloat16(-2.5)).item<BFloat16>().bits == 0xc020);
  CHECK_THROWS_WITH(Array(Half(1.0)).item<float>(), Catch::Contains("the array is float16, not float32"));
  CHECK_FALSE(static_cast<bool>(Array(Half(-0.0))));
}

TEST_CASE("promotion: uint64 with a signed dtype names astype", "[graph][promotion]") {
  CHECK_THROWS_WITH(result_type(uint64, int8), Catch::Contains("int8 and uint64") && Catch::Contains("astype"));
  const Array u = zeros({2}, uint64), i = zeros({2}, int32);
  std::string text;
  int line = 0;
  try {
    line = __LINE__, (void)(u * i);
  } catch (const InvalidArgument& error) {
    text = error.what();
  }
  CHECK_THAT(text, Catch::Contains("[multiply] no integer dtype holds both int32 and uint64") &&
                       Catch::Contains("promotion_test.cpp:" + std::to_string(line)));
}

TEST_CASE("promotion: a number takes the dtype of the array beside it", "[graph][promotion]") {
  const Array b = zeros({2}, bool_), i = zeros({2}, int32), l = zeros({2}, int64), f = zeros({2}),
              d = zeros({2}, float64);
  const struct {
    const char* name;
    Array result;
    Dtype expected;
  } rows[] = {
      {"int32 + 1", i + 1, int32},
      {"int32 + true", i + true, int32},
      {"int32 + 1.5", i + 1.5, float64},
      {"int64 * 0.5f", l * 0.5F, float64},
      {"float32 + 1", f + 1, float32},
      {"float32 + 0.1", f + 0.1, float32},
      {"float64 + 0.1f", d + 0.1F, float64},
      {"1u - float64", 1U - d, float64},
      {"bool + 1", b + 1, int64},
      {"bool * 2.0", b * 2.0, float32},
      {"int32 / 2", i / 2, float64},
      {"int64 / int64", l / l, float64},
      {"int32 / float64", i / d, float64},
      {"int32 + int64", i + l, int64},
      {"int64 + float32", l + f, float32},
      {"bool + int32", b + i, int32},
      {"int32 % 3", i % 3, int32},
      {"sqrt(int64)", sqrt(l), float64},
      {"exp(float64)", exp(d), float64},
      {"int32 < 2.5", i < 2.5, bool_},
      {"bool == true", b == true, bool_},
      {"bool == 0.5", b == 0.5, bool_},
      {"where(b, 1, 2)", where(b, 1, 2), int64},
      {"where(b, i, 0.5)", where(b, i, 0.5), float64},
      {"where(b, b, true)", where(b, b, true), bool_},
      {"where(b, d, f)", where(b, d, f), float64},
      {"minimum(f, 3)", minimum(f, 3), float32},
      {"a 0-d array is not weak", f + Array(1.0), float64},
      {"a 0-d int64 array is not weak", i + Array(std::int64_t{1}), int64},
      {"sum of bool", sum(b), int64},
      {"sum of int32", sum(i), int64},
      {"sum of float32", sum(f), float32},
      {"sum in float64", sum(f, {}, {.dtype = float64}), float64},
      {"max of int32", max(i), int32},
      {"mean of int32", mean(i), float64},
      {"mean of float32", mean(f), float32},
      {"std of bool", tarry::std(b), float64},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(name(row.result.dtype()) == name(row.expected));
  }
}

TEST_CASE("promotion: a number that does not fit throws at the call", "[graph][promotion]") {
  const Array b = zeros({2}, bool_), i = zeros({2}, int32), l = zeros({2}, int64), f = zeros({2});
  CHECK_THROWS_WITH(i + 2147483648LL, Catch::Contains("[add] the number 2147483648 does not fit int32"));
  CHECK_NOTHROW(i + 2147483647);
  CHECK_NOTHROW(i - 2147483648LL * 0);
  CHECK_NOTHROW(i / 2147483648LL);  // computed in float64
  CHECK_THROWS_WITH(l + 9223372036854775808ULL, Catch::Contains("does not fit int64"));
  CHECK_THROWS_WITH(f * 1e300, Catch::Contains("[multiply] the number 1e+300 does not fit float32"));
  CHECK_NOTHROW(f * std::numeric_limits<double>::infinity());
  CHECK_NOTHROW(f * 1e-300);
  CHECK_THROWS_WITH(zeros({2}, uint8) + 256, Catch::Contains("[add] the number 256 does not fit uint8"));
  CHECK_THROWS_WITH(zeros({2}, int8) * -129, Catch::Contains("[multiply] the number -129 does not fit int8"));
  CHECK_THROWS_WITH(
      maximum(zeros({2}, uint32), -1),
      Catch::Contains("[maximum] the number -1 does not fit uint32; a dtype that holds it is wanted (see astype)"));
  CHECK_THROWS_WITH(zeros({2}, float16) + 65520, Catch::Contains("[add] the number 65520 does not fit float16"));
  CHECK_NOTHROW(zeros({2}, float16) + 65519);
  CHECK_THROWS_WITH(zeros({2}, bfloat16) * 1e39, Catch::Contains("does not fit bfloat16"));
  CHECK_NOTHROW(zeros({2}, uint64) + 18446744073709551615ULL);
  CHECK_THROWS_AS(full({2}, 0.5, int32), InvalidArgument);
  CHECK_THROWS_AS(full({2}, 2, bool_), InvalidArgument);
}

TEST_CASE("promotion: bools are told which logical operation was meant", "[graph][promotion]") {
  const Array b = zeros({2}, bool_);
  CHECK_THROWS_WITH(b + b, Catch::Contains("[add]") && Catch::Contains("logical_or"));
  CHECK_THROWS_WITH(b + true, Catch::Contains("logical_or"));
  CHECK_THROWS_WITH(b * b, Catch::Contains("[multiply]") && Catch::Contains("logical_and"));
  CHECK_THROWS_WITH(b - b, Catch::Contains("not_equal"));
  CHECK_THROWS_WITH(-b, Catch::Contains("[negative]") && Catch::Contains("logical_not"));
  CHECK_THROWS_WITH(exp(b), Catch::Contains("[exp] takes numbers, not bool"));
  CHECK_THROWS_WITH(b / b, Catch::Contains("[divide] takes numbers"));
  CHECK_THROWS_WITH(b < b, Catch::Contains("[less]"));
  CHECK_THROWS_WITH(logical_and(zeros({2}), b), Catch::Contains("[logical_and] takes bool, not float32"));
  CHECK_THROWS_WITH(clip(b, true), Catch::Contains("[clip] takes numbers, not bool"));
  CHECK_THROWS_WITH(b << 1.5, Catch::Contains("[bitwise_left_shift] takes integers, not float32"));
  CHECK_THROWS_WITH(b << b, Catch::Contains("[bitwise_left_shift] takes integers, not bool"));
  CHECK_THROWS_WITH(zeros({2}) & 1, Catch::Contains("[bitwise_and] takes integers and bool, not float32"));
  CHECK_THROWS_WITH(prod(b, {}, {.dtype = bool_}),
                    Catch::Contains("[prod] cannot compute bool (2,) in bool; see any and all"));
  CHECK_THROWS_WITH(softmax(b), Catch::Contains("[softmax] takes numbers, not bool"));
  CHECK_THROWS_WITH(positive(b), Catch::Contains("[positive] takes numbers, not bool"));
  CHECK_THROWS_WITH(where(zeros({2}), 1, 2), Catch::Contains("[where] the condition is float32, not bool"));
}

TEST_CASE("promotion: a dtype without kernels is named at the call", "[graph][promotion]") {
  const Array f = zeros({2});
  CHECK_THROWS_WITH(astype(f, complex64), Catch::Contains("[astype] dtype complex64 is not available"));
  CHECK_THROWS_WITH(zeros({2}, complex128), Catch::Contains("[zeros] dtype complex128 is not available"));
  CHECK_THROWS_WITH(sum(f, {}, {.dtype = complex64}), Catch::Contains("[sum] dtype complex64 is not available"));
  CHECK_THROWS_WITH(arange(3, complex64), Catch::Contains("[arange] dtype complex64 is not available"));
}
