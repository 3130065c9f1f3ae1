// Division by a number whose reciprocal is known: the bits of an IEEE division, whatever is divided by whatever.
#include <array>

#include "codegen/render/kernel_source.h"
#include "tests/codegen/prelude/values.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::equal_bits;

namespace {

namespace prelude_text {
#include "codegen/prelude/prelude.h"
}

float divide_by(float a, float b, float h) { return prelude_text::tarry_divide_by_f32(a, b, h); }
double divide_by(double a, double b, double h) { return prelude_text::tarry_divide_by_f64(a, b, h); }

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
T reciprocal(T b) {
  return std::bit_cast<T>(static_cast<Bits<T>>(codegen::reciprocal_word(dtype_of<T>, std::bit_cast<Bits<T>>(b))));
}

template <class T>
T any(std::mt19937_64& random) {
  return std::bit_cast<T>(static_cast<Bits<T>>(random()));
}

/// A number of all bits of the mantissa, of an exponent up to `exponents` from 0.
template <class T>
T about_one(std::mt19937_64& random, int exponents) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const T mantissa = T(1) + std::ldexp(T(random() >> (65 - digits)), 1 - digits);
  return std::ldexp(random() % 2 != 0 ? mantissa : -mantissa,
                    static_cast<int>(random() % static_cast<unsigned>(2 * exponents + 1)) - exponents);
}

/// Numbers that, divided by b, are near or at the middle between two results, the denormal ones among them.
template <class T>
std::array<T, 3> near_ties(std::mt19937_64& random, T b) {
  const int digits = std::numeric_limits<T>::digits;
  const int bits = 1 + static_cast<int>(random() % static_cast<unsigned>(digits));
  const T odd = T((random() >> (64 - bits)) | 1);  // of so many bits, the last of them half a step of the results
  const T tie = std::ldexp(odd * b, std::numeric_limits<T>::min_exponent - 1 - digits);
  return {tie, std::nextafter(tie, T(0)), std::nextafter(tie, std::numeric_limits<T>::infinity())};
}

/// Wrong quotients by b.
template <class T>
int wrong_quotients(std::mt19937_64& random, T b, int count) {
  const T h = reciprocal(b);
  int wrong = 0;
  const auto check = [&](T a) { wrong += !equal_bits(divide_by(a, b, h), a / b); };
  for (const T a : test::special_floats<T>()) check(a);
  for (int i = 0; i < count; ++i) {
    check(any<T>(random));
    check(about_one<T>(random, 30));
    for (const T a : near_ties(random, b)) check(a);
  }
  return wrong;
}

template <class T>
std::vector<T> divisors(std::mt19937_64& random) {
  std::vector<T> all{
      T(6), T(3), T(-7), T(0.1), T(1e-8), T(1e12), T(1e-30), std::nextafter(T(1), T(0)), std::nextafter(T(2), T(0))};
  for (const T b : test::special_floats<T>()) all.push_back(b);
  for (int i = 0; i < 300; ++i) all.push_back(about_one<T>(random, sizeof(T) == 4 ? 42 : 260));
  for (int i = 0; i < 20; ++i) all.push_back(any<T>(random));
  return all;
}

}  // namespace

TEST_CASE("prelude: dividing by a number by way of its reciprocal gives the rounded quotient") {
  std::mt19937_64 random(5);
  for (const float b : divisors<float>(random)) {
    INFO(b);
    CHECK(wrong_quotients(random, b, 2'000) == 0);
  }
  for (const double b : divisors<double>(random)) {
    INFO(b);
    CHECK(wrong_quotients(random, b, 2'000) == 0);
  }
}

TEST_CASE("prelude: every float32 of a binade and its small multiples are divided right by a few numbers") {
  for (const float b : {6.0F, 0.1F, 4194303.0F}) {
    const float h = reciprocal(b);
    int wrong = 0;
    for (std::uint32_t mantissa = 0; mantissa < 1U << 23; mantissa += 3)
      for (const std::uint32_t exponent : {0U, 1U, 3U, 26U, 127U, 128U}) {
        const auto a = std::bit_cast<float>(exponent << 23 | mantissa);
        wrong += !equal_bits(divide_by(a, b, h), a / b);
      }
    CHECK(wrong == 0);
  }
}
