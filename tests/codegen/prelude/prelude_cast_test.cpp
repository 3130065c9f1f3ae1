// Conversions between all dtypes: every value of the narrow ones, and of the wide ones those where rounding decides.
#include "tests/codegen/prelude/values.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using namespace test::prelude;
using test::call;
using test::equal_bits;

namespace {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || test::is_16_bit_float<T>;

/// long double holds every value of every type.
template <class T>
long double value_of(T x) {
  if constexpr (test::is_16_bit_float<T>)
    return static_cast<long double>(static_cast<double>(x));
  else
    return static_cast<long double>(x);
}

template <class To>
To converted(long double x, bool integral) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (test::is_16_bit_float<To>) {
    if (std::isnan(x) || std::isinf(x) || x == 0) return To(static_cast<double>(x));
    int exponent = 0;
    const long double fraction = std::frexp(x, &exponent);
    const double sticky = shortened(Big(static_cast<__int128_t>(std::ldexp(fraction, 64))), 0);
    return To(std::ldexp(sticky, exponent - 64));
  } else if constexpr (is_float<To>) {
    return static_cast<To>(x);
  } else if (integral) {
    return wrapped<To>(static_cast<Wide>(x));
  } else {
    if (std::isnan(x)) return 0;
    return static_cast<To>(
        std::clamp<long double>(std::trunc(x), std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
  }
}

template <class To, class From>
int wrong_casts_to(const std::vector<From>& values) {
  int wrong = 0;
  for (const From x : values) wrong += !equal_bits(call<To>(Op::Cast, x), converted<To>(value_of(x), !is_float<From>));
  return wrong;
}

template <class From>
int wrong_casts(const std::vector<From>& values) {
  return wrong_casts_to<bool>(values) + wrong_casts_to<std::int8_t>(values) + wrong_casts_to<std::int16_t>(values) +
         wrong_casts_to<std::int32_t>(values) + wrong_casts_to<std::int64_t>(values) +
         wrong_casts_to<std::uint8_t>(values) + wrong_casts_to<std::uint16_t>(values) +
         wrong_casts_to<std::uint32_t>(values) + wrong_casts_to<std::uint64_t>(values) + wrong_casts_to<Half>(values) +
         wrong_casts_to<BFloat16>(values) + wrong_casts_to<float>(values) + wrong_casts_to<double>(values);
}

}  // namespace

TEST_CASE("prelude: every value of up to 16 bits converts to every dtype", "[codegen][prelude]") {
  CHECK(wrong_casts<bool>({false, true}) == 0);
  CHECK(wrong_casts(all_values<std::int8_t>()) == 0);
  CHECK(wrong_casts(all_values<std::uint8_t>()) == 0);
  CHECK(wrong_casts(all_values<std::int16_t>()) == 0);
  CHECK(wrong_casts(all_values<std::uint16_t>()) == 0);
  CHECK(wrong_casts(all_halves<Half>()) == 0);
  CHECK(wrong_casts(all_halves<BFloat16>()) == 0);
}

TEST_CASE("prelude: wide values convert to every dtype with one rounding", "[codegen][prelude]") {
  CHECK(wrong_casts(integer_values<std::int32_t>()) == 0);
  CHECK(wrong_casts(integer_values<std::uint32_t>()) == 0);
  CHECK(wrong_casts(integer_values<std::int64_t>()) == 0);
  CHECK(wrong_casts(integer_values<std::uint64_t>()) == 0);
  CHECK(wrong_casts(float_values<float, std::uint32_t>()) == 0);
  CHECK(wrong_casts(float_values<double, std::uint64_t>()) == 0);
}
