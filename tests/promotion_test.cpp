// Promotion: the table of all dtype pairs, and what operations make of it.
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "tests/test.h"

using namespace tarry;

namespace {

// Written by hand from the array API standard (signed, unsigned, floating and complex blocks, int with uint) and, where
// it is silent, from docs/numerics.md. Columns in the order of the rows; "-" throws.
const char* const kNames[kDtypeCount] = {"b", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"};
const char* const kTable[kDtypeCount][kDtypeCount] = {
    /* b    */ {"b", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i8   */ {"i8", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i16  */ {"i16", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i32  */ {"i32", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* i64  */ {"i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "-", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u8   */ {"u8", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u16  */ {"u16", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u32  */ {"u32", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* u64  */ {"u64", "-", "-", "-", "-", "u64", "u64", "u64", "u64", "f16", "bf", "f32", "f64", "c64", "c128"},
    /* f16  */ {"f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f32", "f32", "f64", "c64", "c128"},
    /* bf   */ {"bf", "bf", "bf", "bf", "bf", "bf", "bf", "bf", "bf", "f32", "bf", "f32", "f64", "c64", "c128"},
    /* f32  */ {"f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f64", "c64", "c128"},
    /* f64  */ {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128"},
    /* c64  */ {"c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c128", "c64", "c128"},
    /* c128 */ {"c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128"},
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

TEST_CASE("promotion: uint64 with a signed dtype names astype", "[graph][promotion]") {
  CHECK_THROWS_WITH(result_type(uint64, int8), Catch::Contains("int8 and uint64") && Catch::Contains("astype"));
}

TEST_CASE("promotion: a number takes the dtype of the array beside it", "[graph][promotion]") {
  const Array b = zeros({2}, bool_), i = zeros({2}, int32), l = zeros({2}, int64), f = zeros({2}), d = zeros({2}, float64);
  const struct {
    const char* name;
    Array result;
    Dtype expected;
  } rows[] = {
      {"int32 + 1", i + 1, int32},           {"int32 + true", i + true, int32},
      {"int32 + 1.5", i + 1.5, float32},     {"int64 * 0.5f", l * 0.5F, float32},
      {"float32 + 1", f + 1, float32},       {"float32 + 0.1", f + 0.1, float32},
      {"float64 + 0.1f", d + 0.1F, float64}, {"1u - float64", 1U - d, float64},
      {"bool + 1", b + 1, int64},            {"bool * 2.0", b * 2.0, float32},
      {"int32 / 2", i / 2, float32},         {"int64 / int64", l / l, float32},
      {"int32 / float64", i / d, float64},   {"int32 + int64", i + l, int64},
      {"int64 + float32", l + f, float32},   {"bool + int32", b + i, int32},
      {"int32 % 3", i % 3, int32},           {"sqrt(int64)", sqrt(l), float32},
      {"exp(float64)", exp(d), float64},     {"int32 < 2.5", i < 2.5, bool_},
      {"bool == true", b == true, bool_},    {"where(b, 1.0, 2)", where(b, 1.0, 2), float32},
      {"where(b, 1, 2)", where(b, 1, 2), int64},     {"where(b, i, 0.5)", where(b, i, 0.5), float32},
      {"where(b, b, true)", where(b, b, true), bool_}, {"where(b, d, f)", where(b, d, f), float64},
      {"minimum(f, 3)", minimum(f, 3), float32},     {"a 0-d array is not weak", f + Array(1.0), float64},
      {"a 0-d int64 array is not weak", i + Array(std::int64_t{1}), int64},
      {"sum of bool", sum(b), int64},        {"sum of int32", sum(i), int64},
      {"sum of float32", sum(f), float32},   {"sum in float64", sum(f, {}, {.dtype = float64}), float64},
      {"max of int32", max(i), int32},       {"mean of int32", mean(i), float64},
      {"mean of float32", mean(f), float32}, {"std of bool", tarry::std(b), float64},
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
  CHECK_NOTHROW(i / 2147483648LL);  // computed in float32
  CHECK_THROWS_WITH(l + 9223372036854775808ULL, Catch::Contains("does not fit int64"));
  CHECK_THROWS_WITH(f * 1e300, Catch::Contains("[multiply] the number 1e+300 does not fit float32"));
  CHECK_NOTHROW(f * std::numeric_limits<double>::infinity());
  CHECK_NOTHROW(f * 1e-300);
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
  CHECK_THROWS_WITH(max(b), Catch::Contains("[max]"));
  CHECK_THROWS_WITH(logical_and(zeros({2}), b), Catch::Contains("[logical_and] takes bool, not float32"));
  CHECK_THROWS_WITH(where(zeros({2}), 1, 2), Catch::Contains("[where] the condition is float32, not bool"));
}

TEST_CASE("promotion: a dtype without kernels is named at the call", "[graph][promotion]") {
  const Array f = zeros({2});
  CHECK_THROWS_WITH(astype(f, float16), Catch::Contains("[astype] dtype float16 is not available"));
  CHECK_THROWS_WITH(zeros({2}, uint8), Catch::Contains("[zeros] dtype uint8 is not available"));
  CHECK_THROWS_WITH(sum(f, {}, {.dtype = complex64}), Catch::Contains("[sum] dtype complex64 is not available"));
  CHECK_THROWS_WITH(arange(3, int8), Catch::Contains("[arange] dtype int8 is not available"));
}
