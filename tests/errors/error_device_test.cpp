// Failures of a GPU while the engine runs on it. The driver is one of the test's, on host memory, whose kernels compute
// nothing; what it can show is what is left behind and what is said.
#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"

namespace ta = tarry;
using ta::test::FakeDriver;
using ta::test::FakeGpu;
using ta::test::kFakeGpu;
using ta::test::ramp;

namespace {

/// Two kernels on one upload, with a temporary between them.
ta::Array work(const ta::Array& x) { return x / ta::sum(x * 2.0f); }

template <class E, class F>
std::string thrown_by(F&& call) {
  try {
    (void)call();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    FAIL_CHECK("another exception: " << e.what());
  }
  return {};
}

}  // namespace

TEST_CASE("error: after any failing driver call arrays are lazy or failed, and the driver can be used again",
          "[errors][fault]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  const ta::test::Setting launches("TARRY_DISABLE", "graphs");  // a graph that is refused would be launched after all
  int lazy = 0, failed = 0;
  for (std::uint64_t k = 1; k < 200; ++k) {
    const ta::Array x = ta::asarray(ramp(64 * 48), {64, 48}), y = work(x);
    ta::support::fault::arm(ta::support::fault::Site::Driver, k);
    std::string message;
    try {
      ta::evaluate(y);
    } catch (const ta::DeviceError& e) {
      message = e.what();
      CHECK(e.op() == "evaluate");
    }
    const std::uint64_t calls = ta::support::fault::disarm();
    INFO("driver call " << k << " of " << calls << ": " << message);
    CHECK(y.is_evaluated() == message.empty());
    if (!message.empty()) {
      CHECK_THAT(message, Catch::Contains("FAKE_ERROR") && Catch::Contains("divide float32 (64, 48) at ") &&
                              Catch::Contains("error_device_test.cpp:"));
      const bool is_lazy = y.repr().find("lazy") != std::string::npos;
      CHECK((is_lazy || y.repr().find("failed") != std::string::npos));
      ++(is_lazy ? lazy : failed);
      if (is_lazy) {
        ta::evaluate(y);
        CHECK(y.is_evaluated());
      } else {
        CHECK(thrown_by<ta::DeviceError>([&] { return y.to_vector<float>(); }) == message);
        CHECK(thrown_by<ta::DeviceError>([&] { return (y + 1).to_vector<float>(); }) == message);
      }
    }
    CHECK(x.to_vector<float>() == ramp(64 * 48));
    if (calls < k) break;
  }
  CHECK(lazy > 2);
  CHECK(failed > 1);
}

TEST_CASE("error: a fault of the device names who reads, what ran and where; then the device is lost", "[errors]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  const ta::Array x = ta::asarray(ramp(6), {2, 3}), y = work(x), late = x * 3.0f;
  ta::evaluate(y);
  gpu.driver().broken = FakeDriver::Result::IllegalAddress;
  const std::string read = thrown_by<ta::DeviceError>([&] { return y.to_vector<float>(); });
  CHECK_THAT(read, Catch::StartsWith("[read] cuda:250: ") && Catch::Contains("FAKE_ERROR (700)") &&
                       Catch::Contains("(reading divide float32 (2, 3) at ") &&
                       Catch::Contains("; latest work on cuda:250: evaluate at ") &&
                       Catch::Contains(", divide_f32_map_"));
  const std::string evaluated = thrown_by<ta::DeviceLost>([&] { return ta::evaluate(late); });
  CHECK_THAT(evaluated, Catch::StartsWith("[evaluate] cuda:250 was lost earlier") &&
                            Catch::Contains("multiply float32 (2, 3) at ") && Catch::Contains("; latest work on "));
  CHECK_FALSE(late.is_evaluated());
  CHECK(x.to_vector<float>() == ramp(6));
}
