// fma rounds once: against sums of exact products, and against the C library.
#include "tests/codegen/prelude/values.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using namespace test::prelude;
using test::call;
using test::equal_bits;

namespace {

constexpr int kScale = 140;  // every 16-bit float is an integer times 2^-140

template <class T>
Big scaled(T x) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  const Big mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + kScale;
  return shift >= 0 ? Big(mantissa << shift) : Big(mantissa / (Big(1) << -shift));
}

template <class T>
T fma_of(T a, T b, T c) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b), z = static_cast<double>(c);
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return T(x * y + z);
  const Big sum = scaled(a) * scaled(b) + (scaled(c) << kScale);
  return sum == 0 ? T(x * y + z) : T(shortened(sum, 2 * kScale));
}

template <class T>
int wrong_half_fma(int count) {
  int wrong = 0;
  const auto check = [&](T a, T b, T c) { wrong += !equal_bits(call<T>(Op::Fma, a, b, c), fma_of(a, b, c)); };
  for (const T a : special_halves<T>())
    for (const T b : special_halves<T>())
      for (const T c : special_halves<T>()) check(a, b, c);
  std::mt19937_64 random(9);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const T a = T::from_bits(static_cast<std::uint16_t>(bits)),
            b = T::from_bits(static_cast<std::uint16_t>(bits >> 16));
    check(a, b, T::from_bits(static_cast<std::uint16_t>(bits >> 32)));
    // An addend some steps of its last bit around the product or half of it, so that much cancels and ties are near.
    const T near = T((bits >> 48) % 2 != 0 ? -static_cast<double>(a) * static_cast<double>(b)
                                           : std::ldexp(static_cast<double>(a) * static_cast<double>(b),
                                                        static_cast<int>(bits >> 58) - 32));
    check(a, b, near);
    check(a, b, T::from_bits(static_cast<std::uint16_t>(near.bits + (bits >> 52) % 8)));
  }
  return wrong;
}

/// Pairs and triples whose sums cancel, tie or leave the normal range, next to random bits.
template <class T, class Bits>
int wrong_fma(int count) {
  std::mt19937_64 random(13);
  std::vector<T> special = test::special_floats<T>();
  int wrong = 0;
  const auto check = [&](T a, T b, T c) { wrong += !equal_bits(call<T>(Op::Fma, a, b, c), std::fma(a, b, c)); };
  for (const T a : special)
    for (const T b : special)
      for (const T c : special) check(a, b, c);
  const auto any = [&] {
    const Bits bits = static_cast<Bits>(random());
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  for (int i = 0; i < count; ++i) {
    const T a = any(), b = any();
    check(a, b, any());
    const T ordinary = std::ldexp(T(1) + T(random() >> 12) * T(0x1p-52), static_cast<int>(random() % 8));
    const T few = T(1 + random() % 4096), other = T(1 + random() % 4096);
    check(ordinary, few, -ordinary * few);  // the rounding error of a product
    check(few, ordinary, std::ldexp(other, static_cast<int>(random() % 128) - 64));
    const int low = std::numeric_limits<T>::min_exponent - static_cast<int>(random() % 40);
    check(std::ldexp(ordinary, low), std::ldexp(few, -6), std::ldexp(other, low - 20));  // denormal results
    check(std::ldexp(few, low / 2), std::ldexp(other, low - low / 2), T(0) * -few);
    check(special[random() % special.size()], ordinary, any());
  }
  return wrong;
}

}  // namespace

TEST_CASE("prelude: fma of 16-bit floats rounds once", "[codegen][prelude]") {
  CHECK(wrong_half_fma<Half>(50'000) == 0);
  CHECK(wrong_half_fma<BFloat16>(50'000) == 0);
}

TEST_CASE("prelude: fma rounds once with and without the instruction", "[codegen][prelude]") {
  CHECK(wrong_fma<float, std::uint32_t>(200'000) == 0);
  CHECK(wrong_fma<double, std::uint64_t>(200'000) == 0);
}
