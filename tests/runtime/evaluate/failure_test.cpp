// Failures: the k-th call that can fail does, for every k; arrays stay as they were and the retry is right.
#include <cmath>

#include "runtime/device/backend.h"
#include "support/fault.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::support::fault::Site;
using ta::test::on_every_device;
using ta::test::ramp;

namespace {

/// A workload of several kernels, a temporary and a reduction; `salt` makes its kernels new to every cache.
ta::Array work(const ta::Array& x, int salt) {
  ta::Array y = x;
  for (int i = 0; i < salt; ++i) y = ta::maximum(y, -y);
  return y / ta::sum(y * 2.0f, 1, {.keepdims = true});
}

}  // namespace

TEST_CASE("failure: before the first launch every failing call leaves the arrays lazy and the retry right",
          "[runtime][fault]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const ta::test::Setting cache("TARRY_CACHE_DIR", directory.path().string());
  on_every_device([](ta::Device device) {
    int salt = 0, failures = 0, failing_calls = 0;  // where a compiler or its files fail, the interpreter serves a CPU
    for (Site site : {Site::Allocation, Site::Compiler, Site::Nvrtc, Site::File}) {
      for (std::uint64_t k = 1; k < 200; ++k) {
        const ta::Array x = ta::asarray(ramp(64 * 48), {64, 48}), y = work(x, ++salt % 40);
        bool threw = false;
        ta::support::fault::arm(site, k);
        try {
          ta::evaluate(y);
        } catch (const ta::Error&) {
          threw = true;
        }
        const std::uint64_t calls = ta::support::fault::disarm();
        INFO("site " << static_cast<int>(site) << " call " << k << " of " << calls);
        if (threw) {
          ++failures;
          REQUIRE_FALSE(y.is_evaluated());
        }
        ta::evaluate(y);
        const std::vector<float> v = y.to_vector<float>();
        REQUIRE(std::abs(v[0] - ramp(1)[0] / (48.0f * 49 / 2)) < 1e-6f);
        if (calls < k) break;
        ++failing_calls;
        ta::runtime::backend(device).trim();
      }
    }
    CHECK(failures > 0);
    CHECK(failing_calls > 5);
  });
}

TEST_CASE("failure: on a GPU every failing driver call leaves lazy or failed arrays, never wrong ones",
          "[runtime][fault][cuda]") {
  TARRY_REQUIRE_CUDA();
  const ta::Scope on_gpu(ta::cuda(0));
  for (std::uint64_t k = 1; k < 400; ++k) {
    const ta::Array x = ta::asarray(ramp(64 * 48), {64, 48}), y = work(x, 1);
    ta::support::fault::arm(Site::Driver, k);
    bool failed = false;
    try {
      ta::evaluate(y);
    } catch (const ta::Error&) {
      failed = true;
    }
    const std::uint64_t calls = ta::support::fault::disarm();
    INFO("driver call " << k << " of " << calls);
    if (!failed) {
      REQUIRE(std::abs(y.to_vector<float>()[0] - ramp(1)[0] / (48.0f * 49 / 2)) < 1e-6f);
    } else {
      REQUIRE_FALSE(y.is_evaluated());
      try {  // lazy: computes; failed: rethrows what happened
        const float value = y.to_vector<float>()[0];
        REQUIRE(std::abs(value - ramp(1)[0] / (48.0f * 49 / 2)) < 1e-6f);
      } catch (const ta::Error& e) {
        REQUIRE(std::string(e.what()).size() > 10);
      }
    }
    REQUIRE(x.to_vector<float>() == ramp(64 * 48));
    if (calls < k) break;
  }
}

TEST_CASE("failure: messages name the ops, their shapes and lines, and the line of the evaluate", "[runtime][fault]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::test::Setting no_cache("TARRY_CACHE_DIR", "off");
  const ta::Array x = ta::asarray(ramp(31)), y = ta::log(ta::abs(x) + 17.0f) * ta::erf(x);
  const ta::test::Setting required("TARRY_REQUIRE_CACHED", "1");
  std::string message;
  try {
    ta::evaluate(y);
  } catch (const ta::NotCached& e) {
    message = e.what();
  }
  for (const char* part : {"log float32 (31,)", "failure_test.cpp:", "[evaluate] "}) {
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  }
}

TEST_CASE("failure: without a C compiler the interpreter gives the same bits", "[runtime]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = ta::asarray(ramp(500 * 3), {500, 3});
  const auto formula = [&] { return ta::exp(x * -0.01f) + ta::sum(x, 0); };
  const std::vector<float> compiled = formula().to_vector<float>();
  const ta::test::Setting off("TARRY_DISABLE", "compile");
  CHECK(formula().to_vector<float>() == compiled);
}
