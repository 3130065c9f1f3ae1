// kernel_history(): what is known of each kernel, and that knowing it costs a running program nothing.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/evaluate/engine.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"

namespace ta = tarry;
using ta::test::on_every_device;
using ta::test::ramp;
using ta::test::Setting;

namespace {

/// The records whose name starts so.
std::vector<ta::KernelRecord> records(const std::string& name, ta::Device device) {
  std::vector<ta::KernelRecord> found;
  for (ta::KernelRecord& r : ta::kernel_history())
    if (r.name.starts_with(name) && r.device == device.str()) found.push_back(std::move(r));
  return found;
}

}  // namespace

TEST_CASE("history: a kernel's launches, bytes and times add up over evaluates", "[runtime][history]") {
  on_every_device([](ta::Device device) {
    const ta::test::CacheDirectory cache;
    for (int i = 0; i < 5; ++i) {
      const ta::Array x = ta::asarray(ramp(10'000)), y = ta::asinh(x) * 7.0f;
      ta::evaluate(y);
    }
    const std::vector<ta::KernelRecord> found = records("asinh_multiply_f32_map_", device);
    REQUIRE(found.size() == 1);
    const ta::KernelRecord& r = found[0];
    CHECK(r.hit == ta::KernelHit::Compiled);
    CHECK(r.key.size() == 32);
    CHECK(r.launches == 5);
    CHECK(r.bytes_read == 5 * 40'000);
    CHECK(r.bytes_written == 5 * 40'000);
    CHECK(r.codegen_seconds > 0);
    CHECK(r.compile_seconds > 0);
    CHECK(r.load_seconds > 0);
    const bool measured = device.kind == ta::DeviceKind::Cpu;
    CHECK(r.measured_launches == (measured ? 5 : 0));
    CHECK((r.run_seconds > 0) == measured);
    REQUIRE(r.lines.size() == 2);
    CHECK(r.lines[0].starts_with("asinh at "));
    CHECK(r.lines[0].find("history_test.cpp:") != std::string::npos);
  });
}

TEST_CASE("history: kernels on a GPU are timed where TARRY_SYNC waits for each", "[runtime][history][cuda]") {
  TARRY_REQUIRE_CUDA();
  const Setting sync("TARRY_SYNC", "1");
  const ta::Scope placed(ta::cuda(0));
  const ta::Array x = ta::asarray(ramp(10'000)), y = ta::acosh(x + 1.0f) * 7.0f;
  ta::evaluate(y);
  const std::vector<ta::KernelRecord> found = records("add_acosh_multiply_f32_map_", ta::cuda(0));
  REQUIRE(found.size() == 1);
  CHECK(found[0].measured_launches == 1);
  CHECK(found[0].run_seconds > 0);
}

TEST_CASE("history: without a compiler kernels are interpreted, and timed too", "[runtime][history]") {
  const Setting off("TARRY_DISABLE", "compile");
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(ramp(1000)), y = ta::atanh(x * 1e-4f);
  const ta::Plan plan = ta::plan(y);
  const ta::Report report = ta::evaluate(y);
  CHECK(plan.counters().interpreted == 1);
  CHECK(plan.interpreted() == "TARRY_DISABLE=compile");
  CHECK(report.counters().interpreted == 1);
  CHECK(report.interpreted() == "TARRY_DISABLE=compile");
  CHECK(report.str().find("interpreted    TARRY_DISABLE=compile") != std::string::npos);
  const std::vector<ta::KernelRecord> found = records("multiply_atanh_f32_map_", ta::cpu);
  REQUIRE(found.size() == 1);
  CHECK(found[0].interpreted == "TARRY_DISABLE=compile");
  CHECK(found[0].interpreted_launches == 1);
  CHECK(found[0].hit == ta::KernelHit::Interpreted);
  CHECK(found[0].launches == 1);
  CHECK(found[0].compile_seconds == 0);
  CHECK(found[0].measured_launches == 1);
}

TEST_CASE("history: a kernel that was compiled and is interpreted later says so", "[runtime][history]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(ramp(1000)), a = ta::acos(x * 1e-4f), b = ta::acos(x * 1e-4f);
  CHECK(ta::evaluate(a).interpreted().empty());
  CHECK(ta::plan(b).interpreted().empty());
  {
    const Setting off("TARRY_DISABLE", "compile");
    CHECK(ta::evaluate(b).counters().interpreted == 1);
  }
  const std::vector<ta::KernelRecord> found = records("multiply_acos_f32_map_", ta::cpu);
  REQUIRE(found.size() == 1);
  CHECK(found[0].hit != ta::KernelHit::Interpreted);
  CHECK(found[0].launches == 2);
  CHECK(found[0].interpreted_launches == 1);
  std::ostringstream text;
  text << found[0];
  CHECK(text.str().find("2 launches (1 interpreted: TARRY_DISABLE=compile)") != std::string::npos);
}

TEST_CASE("history: without a C compiler the Report says why kernels were interpreted", "[runtime][history]") {
  const Setting none("TARRY_CC", "/nonexistent/cc");
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(ramp(1000)), y = ta::cosh(x * 1e-4f);
  const ta::Report report = ta::evaluate(y);
  CHECK(report.counters().interpreted == 1);
  CHECK(report.interpreted().find("compiler") != std::string::npos);
}

TEST_CASE("history: a Report of pieces says why their kernels were interpreted", "[runtime][history][memory]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const std::string file = (directory.path() / "x.npy").string();
  ta::save_npy(file, ta::ones({std::int64_t{4} << 20}));
  // A compiler that works, as far as it says, and makes what nobody can load.
  const std::string compiler = (directory.path() / "cc").string();
  std::ofstream(compiler) << "#!/bin/sh\ncase \"$*\" in *-version*) exec cc \"$@\";; esac\nexit 0\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const Setting lies("TARRY_CC", compiler), nothing_kept("TARRY_CACHE_DIR", "off");
  const ta::Scope placed(ta::cpu);
  ta::set_memory_limit(ta::cpu, ta::memory_stats(ta::cpu).live + (4 << 20));
  const ta::Report report = ta::evaluate(ta::sum(ta::tanh(ta::open_npy(file) * 2.25f)));
  ta::set_memory_limit(ta::cpu, 0);
  CHECK(report.counters().chunks > 1);
  CHECK(report.counters().interpreted > 1);
  CHECK_FALSE(report.interpreted().empty());
}

TEST_CASE("history: a kernel of two formulas is one record with the lines of both", "[runtime][history]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(ramp(1000)), z = ta::asarray(ramp(2000));
  const ta::Array a = ta::log10(x) - 2.0f;
  ta::evaluate(a);
  const ta::Array b = ta::log10(z) - 3.0f;
  ta::evaluate(b);
  const std::vector<ta::KernelRecord> found = records("log10_subtract_f32_map_", ta::cpu);
  REQUIRE(found.size() == 1);
  CHECK(found[0].launches == 2);
  CHECK(found[0].lines.size() == 4);
}

TEST_CASE("history: a thousand evaluates of a known plan add to numbers, not to the list", "[runtime][history]") {
  const ta::Scope placed(ta::cpu);
  std::size_t records_before = 0;
  for (int i = 0; i < 1000; ++i) {
    const ta::Array x = ta::asarray(ramp(8)), y = ta::log2(x) / 5.0f;
    const ta::Report report = ta::evaluate(y);
    if (i == 0) records_before = ta::kernel_history().size();
    if (i == 999) CHECK(report.counters().plan_hit == 1);
  }
  CHECK(ta::kernel_history().size() == records_before);
  const std::vector<ta::KernelRecord> found = records("log2_divide_f32_map_", ta::cpu);
  REQUIRE(found.size() == 1);
  CHECK(found[0].launches == 1000);
  CHECK(found[0].measured_launches == 1000);
  CHECK(found[0].lines.size() == 2);
}

TEST_CASE("history: threads that run one kernel lose no launch", "[runtime][history]") {
  const auto work = [] {
    const ta::Scope placed(ta::cpu);
    for (int i = 0; i < 100; ++i) {
      const ta::Array x = ta::asarray(ramp(8)), y = ta::log1p(x) / 6.0f;
      ta::evaluate(y);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  const std::vector<ta::KernelRecord> found = records("log1p_divide_f32_map_", ta::cpu);
  REQUIRE(found.size() == 1);
  CHECK(found[0].launches == 400);
  CHECK(found[0].bytes_written == 400 * 32);
}

TEST_CASE("history: a record prints as one line", "[runtime][history]") {
  ta::KernelRecord r;
  r.name = "exp_f32_map_3f2a91c0";
  r.device = "cuda:0";
  r.target = "sm_90";
  r.hit = ta::KernelHit::Disk;
  r.launches = 3;
  std::ostringstream text;
  text << r;
  CHECK(text.str() ==
        "exp_f32_map_3f2a91c0 on cuda:0 (sm_90), from disk; milliseconds: codegen 0.000, compile 0.000, load 0.000; 3 "
        "launches, run not measured; 0 bytes read, 0 written");
}
