// Rows longer than a thread block holds: clusters of them read a row once.
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

using namespace tarry;

namespace {

Array normalised(const Array& x) {
  return (x - mean(x, -1, {.keepdims = true})) / tarry::std(x, -1, {.keepdims = true});
}

Array shifted(const Array& x) {
  const Array d = max(x, -1, {.keepdims = true}) - x;
  return d / sum(d, -1, {.keepdims = true}) + astype(argmin(x, -1, {.keepdims = true}), float32);
}

}  // namespace

TEST_CASE("cluster: a softmax reads its rows once, up to what eight thread blocks hold", "[cluster]") {
  const auto x = [](std::int64_t n) {
    return reshape(asarray(std::vector<float>(static_cast<std::size_t>(8 * n))), {8, n});
  };
  const auto counters = [&](const char* target, std::int64_t n) {
    return plan_for(target, softmax(x(n), -1)).counters();
  };
  for (const std::int64_t n : {16384, 16385, 100000, 131072}) {
    INFO(n);
    CHECK(counters("sm_90", n).kernels == 1);
    CHECK(counters("sm_90", n).bytes_read == 8 * n * 4);
    CHECK(counters("sm_90", n).bytes_written == 8 * n * 4);
    CHECK((counters("sm_80", n).kernels == 1) == (n <= 16384));
  }
  CHECK(counters("sm_90", 131073).kernels > 1);
  CHECK_THAT(plan_for("sm_90", softmax(x(50000), -1)).str(), Catch::Contains("by clusters of 4 thread blocks"));
}

TEST_CASE("cluster: long rows have the bits of the CPU", "[cluster]") {
  TARRY_REQUIRE_CUDA();
  for (const std::int64_t n : {16385, 20000, 24000, 32768, 50001, 65536, 100000, 131072}) {
    for (const std::int64_t rows : {1, 3, 300}) {
      if (rows * n > 20'000'000) continue;
      std::vector<float> v(static_cast<std::size_t>(rows * n));
      std::uint32_t word = 12345;
      for (float& f : v) f = static_cast<float>(word = word * 1664525u + 1013904223u) * 0x1p-28f - 7.0f;
      const auto all = [&](Device device) {
        const Scope placed(device);
        const Array x = reshape(asarray(v), {rows, n});
        evaluate(x);
        std::vector<Array> results{normalised(x), shifted(x), logsumexp(x, -1)};
        std::vector<std::vector<float>> values;
        for (Array& r : results) {
          const Report report = evaluate(r);
          if (device.kind == DeviceKind::Cuda) CHECK(report.counters().kernels == 1);
          values.push_back(r.to_vector<float>());
        }
        return values;
      };
      INFO(rows << " rows of " << n);
      const auto here = all(cpu), there = all(cuda());
      CHECK(here[0] == there[0]);
      CHECK(here[1] == there[1]);
      for (std::size_t i = 0; i < here[2].size(); ++i) CHECK(there[2][i] == Approx(here[2][i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("cluster: a plan of them is replayed, with the same bits", "[cluster]") {
  TARRY_REQUIRE_CUDA();
  const Scope placed(cuda());
  const Array x = reshape(arange(0.0f, 600000.0f), {6, 100000}) * 1e-3f;
  evaluate(x);
  std::vector<float> first;
  for (int round = 0; round < 20; ++round) {
    const Array y = normalised(x);
    evaluate(y);
    const std::vector<float> now = y.to_vector<float>();
    if (round == 0) first = now;
    CHECK(now == first);
  }
}
