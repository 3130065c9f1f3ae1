// Transposes on a GPU: the values of a CPU, wherever lines and rows begin.
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/devices.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

/// Integers that no two neighbours share, of each dtype exactly.
ta::Array numbered(const ta::Shape& shape, ta::Dtype dtype) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  const ta::Array x = ta::astype(ta::reshape(ta::remainder(ta::arange(count, ta::int64) * 37, 113), shape), dtype);
  ta::evaluate(x);
  return x;
}

std::vector<double> values(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

/// What `make` returns of arrays on a device.
template <class Make>
std::vector<double> on(ta::Device device, const Make& make) {
  const ta::Scope placed(device);
  return values(make());
}

constexpr ta::Dtype kWidths[] = {ta::uint8, ta::float16, ta::float32, ta::float64};

}  // namespace

TEST_CASE("transpose: on a GPU matrices of any size that begin anywhere have the values of a CPU", "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const ta::Dtype dtype : kWidths) {
    for (const auto& [rows, columns] : {std::pair(512, 768), {511, 769}, {300, 1003}, {1025, 262}, {37, 2050}}) {
      for (const int first : {0, 1, 3}) {
        INFO(ta::name(dtype) << " " << rows << " x " << columns << " from " << first);
        const auto make = [&] {
          const ta::Array x = numbered({rows, columns}, dtype)(ta::slice(first, ta::none), ta::slice(first, ta::none));
          return ta::matrix_transpose(x) + ta::ones({}, dtype);
        };
        CHECK(on(ta::cuda(0), make) == on(ta::cpu, make));
      }
    }
  }
}

TEST_CASE("transpose: on a GPU images have the values of a CPU in every order of their axes", "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const ta::Dtype dtype : kWidths) {
    for (const int count : {2, 3, 4, 5, 7, 8}) {
      for (const int height : {192, 131}) {
        for (const auto& [name, axes] : {std::pair<const char*, ta::Axes>("201", {2, 0, 1}), {"021", {0, 2, 1}}, {"120", {1, 2, 0}}, {"102", {1, 0, 2}}, {"210", {2, 1, 0}}}) {
          INFO(ta::name(dtype) << " " << height << " x 270, " << count << " values, axes " << name);
          const auto pixels = [&] { return ta::permute_dims(numbered({height, 270, count}, dtype), axes) + ta::ones({}, dtype); };
          const auto planes = [&] { return ta::permute_dims(numbered({count, height, 270}, dtype), axes) + ta::ones({}, dtype); };
          CHECK(on(ta::cuda(0), pixels) == on(ta::cpu, pixels));
          CHECK(on(ta::cuda(0), planes) == on(ta::cpu, planes));
        }
      }
    }
  }
}

TEST_CASE("transpose: on a GPU pixels stored narrower than they are loaded have the values of a CPU", "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const ta::Dtype dtype : kWidths) {
    for (const int count : {3, 5, 7, 8}) {
      INFO(ta::name(dtype) << ", " << count << " values");
      const auto make = [&] { return ta::astype(ta::permute_dims(numbered({131, 270, count}, dtype), {1, 0, 2}), ta::uint8); };
      CHECK(on(ta::cuda(0), make) == on(ta::cpu, make));
    }
  }
}

TEST_CASE("transpose: on a GPU parts of a transposed array beside others have the values of a CPU", "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const ta::Dtype dtype : kWidths) {
    INFO(ta::name(dtype));
    const auto make = [&] {
      const ta::Array x = numbered({211, 317}, dtype), y = numbered({317, 90}, dtype);
      return ta::concat({ta::matrix_transpose(x), y, ta::flip(ta::matrix_transpose(x), 0)}, 1);
    };
    CHECK(on(ta::cuda(0), make) == on(ta::cpu, make));
  }
}
