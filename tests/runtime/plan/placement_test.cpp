// Work on arrays of the host that the host does because operands would take longer to cross: counted on a driver that
// computes nothing, and compared with the other side where there is a GPU.
#include <algorithm>
#include <numeric>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/plan/placement.h"
#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::FakeGpu;
using test::kFakeGpu;

namespace {

constexpr std::int64_t kRows = 4096, kColumns = 1024, kMany = kRows * kColumns;

template <class T>
std::vector<T> counting(std::int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  std::iota(v.begin(), v.end(), T{0});
  return v;
}

/// An array of the host that has been nowhere.
template <class T = float>
Array passing() {
  return reshape(asarray(counting<T>(kMany)), {kRows, kColumns});
}

Array with_operations(Array x, int count) {
  for (int i = 0; i < count; ++i) x = x * 0.999f + 0.001f;
  return x;
}

/// The prediction of an evaluate and its report agree.
void check_foretold(const Plan& plan, const Report& report) {
  const Counters &p = plan.counters(), &r = report.counters();
  CHECK(p.bytes_uploaded == r.bytes_uploaded);
  CHECK(p.uploads == r.uploads);
  CHECK(p.launches == r.launches);
  CHECK(p.kernels == r.kernels);
  CHECK(p.bytes_read == r.bytes_read);
  CHECK(p.bytes_written == r.bytes_written);
  CHECK(p.peak_bytes == r.peak_bytes);
  REQUIRE(plan.placements().size() == report.placements().size());
  for (std::size_t i = 0; i < plan.placements().size(); ++i)
    CHECK(plan.placements()[i].device == report.placements()[i].device);
}

}  // namespace

TEST_CASE("placement: of a host array used once only the means of its rows cross", "[placement]") {
  const test::Setting on("TARRY_DISABLE", "");
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  for (int round = 0; round < 2; ++round) {
    const Array m = mean(passing(), 1);
    const Plan plan = tarry::plan(m);
    const Report report = evaluate(m);
    CHECK(report.counters().bytes_uploaded == 4 * kRows);
    CHECK(report.counters().uploads == 1);
    CHECK(report.counters().plan_hit == round);
    REQUIRE(report.transfers().size() == 1);
    CHECK(report.transfers().front().reason == "computed on the host");
    REQUIRE(report.placements().size() == 1);
    const Placement& p = report.placements().front();
    CHECK(p.work == "sum float32 (4096, 1024)");
    CHECK(p.device == cpu);
    CHECK(p.host_ms > 0);
    CHECK(p.host_ms < p.device_ms);
    CHECK_THAT(report.str(), Catch::Contains("placed         sum float32 (4096, 1024) on cpu"));
    check_foretold(plan, report);
    CHECK(m.device() == kFakeGpu);
  }
}

TEST_CASE("placement: several reductions read the array once, and what else is read of it crosses", "[placement]") {
  const test::Setting on("TARRY_DISABLE", "");
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  {
    const Array x = passing(), low = min(x, 0), high = max(x, 0), total = sum(astype(x, float64));
    const Plan plan = tarry::plan(low, high, total);
    const Report report = evaluate(low, high, total);
    CHECK(report.counters().bytes_uploaded == 2 * 4 * kColumns + 8);
    check_foretold(plan, report);
  }
  {
    const Array x = passing(), s = tarry::std(x), row = x(5) * 2.0f;
    const Plan plan = tarry::plan(s, row);
    const Report report = evaluate(s, row);
    CHECK(report.counters().bytes_uploaded < 16 * kColumns);
    CHECK(report.counters().bytes_uploaded >= 4 * kColumns);
    check_foretold(plan, report);
  }
}

TEST_CASE("placement: what is reduced again, read otherwise or cheaper to send is reduced on the GPU", "[placement]") {
  const test::Setting on("TARRY_DISABLE", "");
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  SECTION("reduced again: it crosses once") {
    const Array x = passing();
    for (int round = 0; round < 100; ++round) {
      const Array m = mean(x * static_cast<float>(round), 1);
      const Plan plan = tarry::plan(m);
      const Report report = evaluate(m);
      CHECK(report.counters().bytes_uploaded == (round == 0 ? 4 * kRows : round == 1 ? 4 * kMany : 0));
      CHECK(report.placements().size() == (round == 0 ? 1 : 0));
      check_foretold(plan, report);
    }
  }
  SECTION("read as a whole by something else") {
    const Array x = passing(), m = mean(x, 1), y = x * 2.0f;
    const Report report = evaluate(m, y);
    CHECK(report.counters().bytes_uploaded == 4 * kMany);
    REQUIRE(report.placements().size() == 1);
    CHECK(report.placements().front().device == kFakeGpu);
  }
  SECTION("much arithmetic") {
    const Report report = evaluate(sum(with_operations(passing(), 100)));
    CHECK(report.counters().bytes_uploaded == 4 * kMany);
    REQUIRE(report.placements().size() == 1);
    CHECK(report.placements().front().device == kFakeGpu);
    CHECK(report.placements().front().host_ms > report.placements().front().device_ms);
  }
  SECTION("bits that are not promised to be the same") {
    const Report report = evaluate(sum(exp(passing())));
    CHECK(report.counters().bytes_uploaded == 4 * kMany);
    CHECK(report.placements().empty());
    const Scope loose(relaxed);
    CHECK(evaluate(sum(passing())).counters().bytes_uploaded == 4 * kMany);
  }
  SECTION("small") { CHECK(evaluate(sum(asarray(counting<float>(1000)))).counters().bytes_uploaded == 4000); }
  SECTION("asked not to") {
    const test::Setting off("TARRY_DISABLE", "placement");
    const Report report = evaluate(mean(passing(), 1));
    CHECK(report.counters().bytes_uploaded == 4 * kMany);
    CHECK(report.placements().empty());
  }
}

TEST_CASE("placement: small work on arrays of the host that names no device stays there", "[placement]") {
  const test::Setting on("TARRY_DISABLE", "");
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const test::Setting device("TARRY_DEVICE", kFakeGpu.str());
  const std::vector<float> v = counting<float>(1000);
  for (int round = 0; round < 2; ++round) {
    const Array y = asarray(v) * 2.0f + 1.0f;
    const Plan plan = tarry::plan(y);
    const Report report = evaluate(y);
    CHECK(report.counters().uploads == 0);
    CHECK(report.counters().plan_hit == round);
    REQUIRE(report.placements().size() == 1);
    CHECK(report.placements().front().device == cpu);
    CHECK_THAT(report.str(), Catch::Contains("report on cpu"));
    CHECK_THAT(report.str(), Catch::Contains("placed         multiply float32 (1000,), add float32 (1000,) on cpu"));
    check_foretold(plan, report);
    CHECK(y.to_vector<float>()[7] == 15.0f);
    CHECK(evaluate(y * 3.0f).counters().uploads == 0);  // and what follows from it
  }
  SECTION("a device that is named is used") {
    const Scope placed(kFakeGpu);
    CHECK(evaluate(asarray(v) * 2.0f + 1.0f).counters().uploads == 1);
  }
  SECTION("what is on the GPU is worked on there") {
    Array there;
    {
      const Scope placed(kFakeGpu);
      there = full({1000}, 1.0f);
      evaluate(there);
    }
    CHECK(evaluate(there + asarray(v)).counters().uploads == 1);
  }
  SECTION("functions whose bits may differ, large arrays, and where it is switched off") {
    CHECK(evaluate(exp(asarray(v))).counters().uploads == 1);
    CHECK(evaluate(asarray(counting<float>(1 << 20)) * 2.0f).counters().uploads == 1);
    const test::Setting off("TARRY_DISABLE", "placement");
    CHECK(evaluate(asarray(v) * 2.0f + 1.0f).counters().uploads == 1);
  }
}

TEST_CASE("placement: without a C compiler nothing is moved to the host", "[placement]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const test::Setting off("TARRY_DISABLE", "compile");
  CHECK(evaluate(mean(passing(), 1)).counters().bytes_uploaded == 4 * kMany);
}

TEST_CASE("placement: whichever allocation or driver call fails, the reduction can be asked for again",
          "[placement][fault]") {
  const test::Setting on("TARRY_DISABLE", "");
  TARRY_REQUIRE_NVRTC();
  using support::fault::Site;
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  evaluate(max(passing(), 1) * 2.0f);  // its kernels
  int failures = 0;
  for (const Site site : {Site::Driver, Site::Allocation}) {
    for (std::uint64_t k = 1; k < 200; ++k) {
      runtime::backend(kFakeGpu).trim();
      const Array y = max(passing(), 1) * 2.0f;
      bool failed = false;
      support::fault::arm(site, k);
      try {
        evaluate(y);
      } catch (const Error&) {
        failed = true;
      }
      const std::uint64_t calls = support::fault::disarm();
      INFO("site " << static_cast<int>(site) << ", call " << k << " of " << calls);
      failures += failed ? 1 : 0;
      if (failed) {
        REQUIRE_FALSE(y.is_evaluated());
        CHECK(evaluate(y).counters().bytes_uploaded == 4 * kRows);  // it did not count
      }
      CHECK(y.is_evaluated());
      if (calls < k) break;
    }
  }
  CHECK(failures >= 3);
}

TEST_CASE("placement: both sides give the same bits", "[placement]") {
  test::on_every_device([](Device) {
    const auto reductions = [] {
      const auto x = [] { return passing<float>() * 0.37f; };
      const auto bytes = [] { return passing<std::uint8_t>(); };
      std::vector<Array> results{mean(x(), 1),
                                 sum(x()),
                                 sum(x(), 0),
                                 prod(x() * 1e-3f + 1.0f, 1),
                                 max(x(), {0, 1}),
                                 argmax(x(), 1),
                                 argmin(x(), 0),
                                 tarry::std(x(), 1),
                                 var(x()),
                                 sum(bytes(), 1),
                                 mean(bytes()),
                                 tarry::all(bytes()),
                                 any(bytes(), 1),
                                 count_nonzero(x(), 0),
                                 min(astype(x(), float16), 1)};
      evaluate(std::span<const Array>(results));
      return results;
    };
    std::vector<Array> placed;
    {
      const test::Setting on("TARRY_DISABLE", "");
      placed = reductions();
    }
    const test::Setting off("TARRY_DISABLE", "placement,partial_upload");
    const std::vector<Array> crossed = reductions();
    for (std::size_t i = 0; i < placed.size(); ++i) {
      INFO("result " << i);
      CHECK(array_equal(placed[i], crossed[i]));
    }
  });
}
