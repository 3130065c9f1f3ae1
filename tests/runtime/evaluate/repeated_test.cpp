// Reductions and scans have the same bits each time, whatever order blocks and threads run in; and what has more
// elements than 32 bits can count is right.
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

using namespace tarry;

namespace {

struct Row {
  const char* name;
  std::function<Array(const Array&)> f;
};

const Row kRows[] = {
    {"sum", [](const Array& x) { return sum(x); }},
    {"sum of rows", [](const Array& x) { return sum(x, {1}); }},
    {"sum of columns", [](const Array& x) { return sum(x, {0}); }},
    {"prod", [](const Array& x) { return prod(x + 0.5f); }},
    {"mean", [](const Array& x) { return mean(x); }},
    {"var of rows", [](const Array& x) { return var(x, {1}); }},
    {"std", [](const Array& x) { return tarry::std(x); }},
    {"max", [](const Array& x) { return max(x); }},
    {"min of columns", [](const Array& x) { return min(x, {0}); }},
    {"argmax", [](const Array& x) { return argmax(x); }},
    {"argmin of rows", [](const Array& x) { return argmin(x, 1); }},
    {"count_nonzero", [](const Array& x) { return count_nonzero(floor(x * 3.0f)); }},
    {"any", [](const Array& x) { return any(x > 0.9f); }},
    {"all of rows", [](const Array& x) { return all(x > 0.001f, {1}); }},
    {"logsumexp", [](const Array& x) { return logsumexp(x); }},
    {"logsumexp of rows", [](const Array& x) { return logsumexp(x, {1}); }},
    {"softmax of rows", [](const Array& x) { return softmax(x, 1); }},
    {"cumulative_sum", [](const Array& x) { return cumulative_sum(reshape(x, {-1})); }},
    {"cumulative_sum of columns", [](const Array& x) { return cumulative_sum(x, {.axis = 0}); }},
    {"cumulative_prod of rows", [](const Array& x) { return cumulative_prod(x + 0.5f, {.axis = 1}); }},
};

std::vector<std::uint8_t> bytes_of(const Array& a) {
  const std::string all = a.dtype() == int64 ? "i" : a.dtype() == bool_ ? "b" : "f";
  const auto raw = [](const auto& v) {
    std::vector<std::uint8_t> bytes(v.size() * sizeof v[0]);
    std::memcpy(bytes.data(), v.data(), bytes.size());
    return bytes;
  };
  return all == "i"   ? raw(a.to_vector<std::int64_t>())
         : all == "b" ? raw(astype(a, uint8).to_vector<std::uint8_t>())
                      : raw(a.to_vector<float>());
}

}  // namespace

TEST_CASE("repeated: a reduction or scan has the same bits each of a thousand times", "[repeated]") {
  test::on_every_device([](Device device) {
    const int times = device.kind == DeviceKind::Cuda ? 1000 : 20;
    random::Generator g(7);
    const Array x = random::uniform(g, {517, 1031});
    evaluate(x);
    for (const Row& row : kRows) {
      INFO(row.name);
      const std::vector<std::uint8_t> first = bytes_of(row.f(x));
      int different = 0;
      for (int i = 1; i < times; ++i) different += bytes_of(row.f(x)) != first;
      CHECK(different == 0);
    }
  });
}

TEST_CASE("repeated: two billion bytes are mapped and added up on a GPU", "[repeated][cuda]") {
  constexpr std::int64_t kCount = (std::int64_t{1} << 31) + 1;
  bool any_gpu = false;
  for (const Device device : devices()) {
    if (device.kind != DeviceKind::Cuda) continue;
    any_gpu = true;
    const Scope placed(device);
    const Array x = astype(bitwise_and(arange(kCount, int64), 63), int8);
    evaluate(x);
    const Array y = x + x;
    CHECK(sum(x, {}, {.dtype = int64}).item<std::int64_t>() == (kCount / 64) * (63 * 64 / 2));
    CHECK(sum(y, {}, {.dtype = int64}).item<std::int64_t>() == (kCount / 64) * (63 * 64));
    CHECK(max(y).item<std::int8_t>() == 126);
    for (const std::int64_t i : {std::int64_t{0}, kCount / 2 - 1, kCount - 3, kCount - 2, kCount - 1}) {
      INFO(i);
      CHECK(y(i).item<std::int8_t>() == static_cast<std::int8_t>(2 * (i & 63)));
    }
  }
  if (!any_gpu) TARRY_SKIP("there is no GPU");
}
