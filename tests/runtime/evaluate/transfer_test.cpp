// Small arrays cross to a GPU together, and who waits for it waits once: counted on a driver that computes nothing.
#include <cmath>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/device/backend.h"
#include "runtime/evaluate/engine.h"
#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::FakeGpu;
using test::kFakeGpu;

namespace {

/// Arrays of 100, 101, ... elements that differ.
std::vector<Array> small_arrays(int count) {
  std::vector<Array> arrays;
  for (int i = 0; i < count; ++i) {
    std::vector<float> v(static_cast<std::size_t>(100 + i));
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<float>(1000 * i) + static_cast<float>(k);
    arrays.push_back(asarray(v));
  }
  return arrays;
}

/// One result that reads all of them.
Array sum_of(const std::vector<Array>& arrays) {
  Array total = sum(arrays.front());
  for (std::size_t i = 1; i < arrays.size(); ++i) total = total + sum(arrays[i]) * 2.0f;
  return total;
}

const graph::Storage& value_of(const Array& a) { return *detail::edge(a, "test", {}).node()->extra->results.front(); }

/// The part of `a` that is on the device.
std::vector<float> there(const Array& a) {
  std::vector<float> v(static_cast<std::size_t>(a.size()));
  const graph::Storage& s = value_of(a);
  REQUIRE(s.replica);
  runtime::backend(kFakeGpu).download(v.data(), *s.replica, 0, v.size() * sizeof(float));
  return v;
}

}  // namespace

TEST_CASE("transfer: small host arrays cross as one copy into one block, once", "[transfer]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const std::vector<Array> arrays = small_arrays(20);
  const Counters predicted = plan(sum_of(arrays)).counters();
  const Report report = evaluate(sum_of(arrays));
  CHECK(gpu.driver().counts["memcpy_htod_async"] == 1);
  CHECK(report.counters().uploads == 20);
  CHECK(report.counters().bytes_uploaded == 4 * (20 * 100 + 190));
  CHECK(predicted.uploads == 20);
  CHECK(predicted.bytes_uploaded == report.counters().bytes_uploaded);
  CHECK(predicted.peak_bytes == report.counters().peak_bytes);
  CHECK(report.transfers().size() == 20);
  CHECK(report.transfers().front().reason == "first use, with others");
  for (const Array& a : arrays) CHECK(there(a) == a.to_vector<float>());
  CHECK(evaluate(sum_of(arrays)).counters().uploads == 0);
  CHECK(gpu.driver().counts["memcpy_htod_async"] == 1);
}

TEST_CASE("transfer: large arrays cross by themselves, small ones beside them together", "[transfer]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const Scope placed(kFakeGpu);
  std::vector<Array> arrays = small_arrays(3);
  arrays.insert(arrays.begin() + 1,
                {asarray(std::vector<float>(50'000, 7.0f)), asarray(std::vector<float>(60'000, 8.0f))});
  CHECK(evaluate(sum_of(arrays)).counters().uploads == 5);
  CHECK(gpu.driver().counts["memcpy_htod_async"] == 3);
  for (const Array& a : arrays) CHECK(there(a) == a.to_vector<float>());
  const Array alone = asarray(std::vector<float>(100, 1.0f));
  CHECK(evaluate(sum(alone)).transfers().front().reason == "first use");
}

TEST_CASE("transfer: a block that several arrays share lives as long as one of them, and touched ones cross anew",
          "[transfer]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const Scope placed(kFakeGpu);
  std::vector<float> memory(300, 3.0f);
  std::vector<Array> arrays = small_arrays(4);
  arrays.push_back(borrow(memory.data(), {300}));
  const std::size_t before = runtime::backend(kFakeGpu).memory().live;
  evaluate(sum_of(arrays));
  memory[5] = 9.0f;
  arrays.back().touch();
  CHECK(evaluate(sum_of(arrays)).counters().bytes_uploaded == 1200);
  CHECK(there(arrays.back()) == memory);
  const std::vector<float> last = arrays[3].to_vector<float>();
  arrays.erase(arrays.begin(), arrays.begin() + 3);
  CHECK(there(arrays.front()) == last);
  arrays.clear();
  CHECK(runtime::backend(kFakeGpu).memory().live <= before);
}

TEST_CASE("transfer: whichever allocation or driver call of a shared copy fails, nothing is lost",
          "[transfer][fault]") {
  TARRY_REQUIRE_NVRTC();
  using support::fault::Site;
  FakeGpu gpu;
  const Scope placed(kFakeGpu);
  int failures = 0;
  for (const Site site : {Site::Driver, Site::Allocation}) {
    for (std::uint64_t k = 1; k < 500; ++k) {
      const std::vector<Array> arrays = small_arrays(5);
      const Array total = sum_of(arrays);
      bool failed = false;
      support::fault::arm(site, k);
      try {
        evaluate(total);
      } catch (const Error&) {
        failed = true;
      }
      const std::uint64_t calls = support::fault::disarm();
      INFO("site " << static_cast<int>(site) << ", call " << k << " of " << calls);
      failures += failed ? 1 : 0;
      if (failed) CHECK_NOTHROW(evaluate(sum_of(arrays)));
      for (const Array& a : arrays) CHECK(there(a) == a.to_vector<float>());
      if (calls < k) break;
    }
  }
  CHECK(failures >= 3);
}

TEST_CASE("transfer: reading several results of one evaluate waits for the work once", "[transfer]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array x = asarray(std::vector<float>(1000, 2.0f));
  const auto waits = [&] {
    return gpu.driver().counts["event_synchronize"] + gpu.driver().counts["stream_synchronize"];
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<Array> results;
    for (int i = 0; i < 8; ++i) results.push_back(x * static_cast<float>(i + 2));
    evaluate(results);
    const int before = waits();
    for (const Array& r : results) (void)r.to_vector<float>();
    CHECK(waits() - before == 1 + 8);  // each copy has to be waited for
    (void)results.front().to_vector<float>();
    CHECK(waits() - before == 1 + 9);
  }
}

TEST_CASE("transfer: sums of many small arrays are right on every device", "[transfer]") {
  test::on_every_device([](Device) {
    for (const int count : {2, 3, 40}) {
      const std::vector<Array> arrays = small_arrays(count);
      double expected = 0;
      for (int i = 0; i < count; ++i) {
        const int n = 100 + i;
        expected += (i == 0 ? 1.0 : 2.0) * (1000.0 * i * n + 0.5 * n * (n - 1));
      }
      CHECK(std::abs(sum_of(arrays).item<float>() - expected) <= 1e-5 * expected);
    }
  });
}
