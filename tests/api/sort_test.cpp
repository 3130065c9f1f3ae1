// Order: sorts of every dtype, direction, axis and length against std::stable_sort, on every device.
#include <tarry/sort.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints int64s(const ta::Array& x) { return x.to_vector<std::int64_t>(); }
std::vector<float> floats(const ta::Array& x) { return x.to_vector<float>(); }

/// True if a comes before b in rising or falling order, NaNs last.
template <class T>
bool comes_before(T a, T b, bool falls) {
  if (a != a || b != b) return a == a;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return falls ? std::signbit(a) < std::signbit(b) : std::signbit(a) > std::signbit(b);
  return falls ? b < a : a < b;
}

/// Numbers with ties, zeros of both signs, infinities and NaNs.
template <class T>
std::vector<T> keys(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) {
    const std::uint64_t bits = random();
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T kSpecial[] = {T{0}, -T{0}, std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                                std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::denorm_min()};
      x = bits % 4 == 0 ? kSpecial[bits / 4 % 6] : static_cast<T>(static_cast<std::int64_t>(bits) >> (bits % 60));
    } else {
      x = bits % 2 == 0 ? static_cast<T>(bits >> 1) : static_cast<T>(bits >> 1 & 3);
    }
  }
  return v;
}

template <class T>
void check_rows(std::int64_t rows, std::int64_t n, bool falls) {
  const std::vector<T> x = keys<T>(rows * n, static_cast<unsigned>(n));
  std::vector<T> sorted;
  Ints places;
  for (std::int64_t r = 0; r < rows; ++r) {
    Ints order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const T* const row = x.data() + r * n;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return comes_before(row[a], row[b], falls); });
    for (const std::int64_t place : order) sorted.push_back(row[place]);
    places.insert(places.end(), order.begin(), order.end());
  }
  const ta::Array given = ta::asarray(x, {rows, n});
  INFO(ta::name(given.dtype()) << " " << rows << " rows of " << n << (falls ? ", descending" : ""));
  CHECK(int64s(ta::argsort(given, {.descending = falls})) == places);
  const std::vector<T> result = ta::sort(given, {.descending = falls}).template to_vector<T>();
  CHECK(std::memcmp(result.data(), sorted.data(), sorted.size() * sizeof(T)) == 0);
}

template <class T>
void check_all_rows() {
  for (const auto& [rows, n] : {std::pair(1, 2), {7, 3}, {5, 48}, {3, 49}, {2, 300}, {1, 5000}, {3, 2049}, {1, 70'000}})
    for (const bool falls : {false, true}) check_rows<T>(rows, n, falls);
}

}  // namespace

TEST_CASE("sort: rows of every length and dtype are in the order of a stable sort, in both directions", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    check_all_rows<std::int8_t>();
    check_all_rows<std::uint8_t>();
    check_all_rows<std::int16_t>();
    check_all_rows<std::uint16_t>();
    check_all_rows<std::int32_t>();
    check_all_rows<std::uint32_t>();
    check_all_rows<std::int64_t>();
    check_all_rows<std::uint64_t>();
    check_all_rows<float>();
    check_all_rows<double>();
  });
}

TEST_CASE("sort: -0 comes before +0, NaNs come last in both directions and keep their bits and their order", "[sort]") {
  ta::test::on_every_device([](ta::Device) {
    const float first = std::bit_cast<float>(0xffc00001U), second = std::bit_cast<float>(0x7fc00002U);
    const ta::Array x = ta::array({first, 0.0F, -0.0F, second, -1.0F, std::numeric_limits<float>::infinity()});
    const auto up = floats(ta::sort(x)), down = floats(ta::sort(x, {.descending = true}));
    CHECK((up[0] == -1 && std::signbit(up[1]) && !std::signbit(up[2]) && std::isinf(up[3])));
    CHECK((std::isinf(down[0]) && !std::signbit(down[1]) && std::signbit(down[2]) && down[3] == -1));
    for (const auto& v : {up, down}) {
      CHECK(std::bit_cast<std::uint32_t>(v[4]) == 0xffc00001U);
      CHECK(std::bit_cast<std::uint32_t>(v[5]) == 0x7fc00002U);
    }
  });
}
