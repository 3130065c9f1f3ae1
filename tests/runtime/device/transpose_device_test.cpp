// Transposes on a GPU: the values of a CPU, wherever lines and rows begin.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/helpers/devices.h"

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

/// Arrays that `make` records, by what they are.
using Named = std::vector<std::pair<std::string, ta::Array>>;

/// All of them have the same values on a GPU, which gets them as one plan, as on a CPU.
template <class Make>
void check_as_on_cpu(const Make& make) {
  const auto on = [&](ta::Device device) {
    const ta::Scope placed(device);
    const Named named = make();
    std::vector<ta::Array> all;
    for (const auto& [name, x] : named) all.push_back(x);
    ta::evaluate(all);
    std::vector<std::pair<std::string, std::vector<double>>> values;
    for (const auto& [name, x] : named) {
      const ta::Array wide = ta::astype(x, ta::float64);
      values.emplace_back(name, wide.to_vector<double>());
    }
    return values;
  };
  const auto gpu = on(ta::cuda(0)), cpu = on(ta::cpu);
  REQUIRE(gpu.size() == cpu.size());
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    INFO(gpu[i].first);
    CHECK(gpu[i].second == cpu[i].second);
  }
}

constexpr ta::Dtype kWidths[] = {ta::uint8, ta::float16, ta::float32, ta::float64};

}  // namespace

TEST_CASE("transpose: on a GPU matrices of any size that begin anywhere have the values of a CPU",
          "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const ta::Dtype dtype : kWidths) {
    check_as_on_cpu([&] {
      Named all;
      for (const auto& [rows, columns] : {std::pair(512, 768), {511, 769}, {300, 1003}, {1025, 262}, {37, 2050}}) {
        for (const int first : {0, 1, 3}) {
          const ta::Array x = numbered({rows, columns}, dtype)(ta::slice(first, ta::none), ta::slice(first, ta::none));
          all.emplace_back(fmt::format("{} {} x {} from {}", ta::name(dtype), rows, columns, first),
                           ta::matrix_transpose(x) + ta::ones({}, dtype));
        }
      }
      return all;
    });
  }
}

TEST_CASE("transpose: on a GPU images have the values of a CPU in every order of their axes", "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const ta::Dtype dtype : kWidths) {
    for (const int count : {2, 3, 4, 5, 7, 8}) {
      check_as_on_cpu([&] {
        Named all;
        for (const int height : {192, 131}) {
          for (const auto& [name, axes] : {std::pair<const char*, ta::Axes>("201", {2, 0, 1}),
                                           {"021", {0, 2, 1}},
                                           {"120", {1, 2, 0}},
                                           {"102", {1, 0, 2}},
                                           {"210", {2, 1, 0}}}) {
            for (const ta::Shape& shape : {ta::Shape{height, 270, count}, ta::Shape{count, height, 270}}) {
              all.emplace_back(
                  fmt::format("{} {} x {} x {}, axes {}", ta::name(dtype), shape[0], shape[1], shape[2], name),
                  ta::permute_dims(numbered(shape, dtype), axes) + ta::ones({}, dtype));
            }
          }
        }
        return all;
      });
    }
  }
}

TEST_CASE("transpose: on a GPU pixels stored narrower than they are loaded have the values of a CPU",
          "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  check_as_on_cpu([&] {
    Named all;
    for (const ta::Dtype dtype : kWidths)
      for (const int count : {3, 5, 7, 8})
        all.emplace_back(fmt::format("{}, {} values", ta::name(dtype), count),
                         ta::astype(ta::permute_dims(numbered({131, 270, count}, dtype), {1, 0, 2}), ta::uint8));
    return all;
  });
}

TEST_CASE("transpose: on a GPU parts of a transposed array beside others have the values of a CPU",
          "[transpose][cuda]") {
  TARRY_REQUIRE_CUDA();
  check_as_on_cpu([&] {
    Named all;
    for (const ta::Dtype dtype : kWidths) {
      const ta::Array x = numbered({211, 317}, dtype), y = numbered({317, 90}, dtype);
      all.emplace_back(ta::name(dtype),
                       ta::concat({ta::matrix_transpose(x), y, ta::flip(ta::matrix_transpose(x), 0)}, 1));
    }
    return all;
  });
}
