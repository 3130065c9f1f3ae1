// Tests of the NVRTC compiler: it needs no GPU, so every target is compiled for on any machine that has the library.
#include "runtime/device/compilers/nvrtc.h"

#include <sys/resource.h>
#include <tarry/error.h>

#include <set>
#include <thread>
#include <vector>

#include "graph/target.h"
#include "support/env.h"
#include "support/fault.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Mode;
using runtime::ImageKind;
using runtime::nvrtc_compile;

namespace {

constexpr const char* kScale = R"(
struct Parameters { float* data; long long count; float factor, offset; };
extern "C" __global__ void __launch_bounds__(256) scale(const __grid_constant__ Parameters p) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < p.count) p.data[i] = p.data[i] * p.factor + p.offset;
}
)";

/// 300 values that are all alive at once in a kernel that may hold only 32.
constexpr const char* kSpilling = R"(
struct Parameters { float* data; };
extern "C" __global__ void __launch_bounds__(1024, 2) crowded(const __grid_constant__ Parameters p) {
  float v[300];
#pragma unroll
  for (int i = 0; i < 300; ++i) v[i] = p.data[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 300; ++i) p.data[i * 1024 + threadIdx.x] = v[299 - i] * v[(i * 7) % 300];
}
)";

const graph::Target& target(const char* name) {
  const graph::Target* found = graph::find_target(name);
  REQUIRE(found != nullptr);
  return *found;
}

bool is_elf(const std::string& bytes) {
  return bytes.compare(0, 4,
                       "\x7f"
                       "ELF") == 0;
}

struct Override {
  const char* name;
  Override(const char* switch_name, const std::string& value) : name(switch_name) { support::env::set(name, value); }
  ~Override() { support::env::set(name, std::nullopt); }
};

}  // namespace

TEST_CASE("nvrtc: every CUDA target of the table compiles to a cubin", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  for (const graph::Target& t : graph::targets()) {
    if (!t.is_cuda()) continue;
    INFO(t.name);
    const runtime::NvrtcImage image = nvrtc_compile(kScale, t, Mode::Strict);
    CHECK(image.kind == ImageKind::Cubin);
    CHECK(is_elf(image.bytes));
    REQUIRE(image.resources.size() == 1);
    CHECK(image.resources[0].entry == "scale");
    CHECK(image.resources[0].registers > 0);
    CHECK(image.resources[0].spill_store_bytes == 0);
  }
}

TEST_CASE("nvrtc: the same text gives the same bytes and the same log", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const runtime::NvrtcImage a = nvrtc_compile(kScale, target("sm_90"), Mode::Strict);
  const runtime::NvrtcImage b = nvrtc_compile(kScale, target("sm_90"), Mode::Strict);
  CHECK(a.bytes == b.bytes);
  CHECK(a.log == b.log);
  CHECK(a.compiler == runtime::nvrtc_compiler());
}

TEST_CASE("nvrtc: strict code never contracts a product and a sum, relaxed code does", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const std::string strict = nvrtc_compile(kScale, target("sm_90"), Mode::Strict, ImageKind::Ptx).bytes;
  const std::string relaxed = nvrtc_compile(kScale, target("sm_90"), Mode::Relaxed, ImageKind::Ptx).bytes;
  CHECK(strict.find("fma.rn.f32") == std::string::npos);
  CHECK(strict.find("mul.rn.f32") != std::string::npos);
  CHECK(relaxed.find("fma.rn.f32") != std::string::npos);
  CHECK(runtime::nvrtc_options(Mode::Strict) != runtime::nvrtc_options(Mode::Relaxed));
}

TEST_CASE("nvrtc: a kernel that spills says so", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const runtime::NvrtcImage image = nvrtc_compile(kSpilling, target("sm_90"), Mode::Strict);
  REQUIRE(image.resources.size() == 1);
  CHECK(image.resources[0].registers <= 32);
  CHECK(image.resources[0].spill_store_bytes > 0);
  CHECK(image.resources[0].spill_load_bytes > 0);
}

TEST_CASE("nvrtc: a target newer than the compiler gets PTX of the newest one it knows", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  graph::Target future = target("sm_120");
  future.name = "sm_999";
  future.level = 999;
  const runtime::NvrtcImage image = nvrtc_compile(kScale, future, Mode::Strict);
  CHECK(image.kind == ImageKind::Ptx);
  CHECK(image.bytes.find(".entry scale") != std::string::npos);
}

TEST_CASE("nvrtc: a target older than the compiler is an error that says so", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  graph::Target past = target("sm_75");
  past.name = "sm_20";
  past.level = 20;
  CHECK_THROWS_WITH(nvrtc_compile(kScale, past, Mode::Strict), Catch::Contains("no architecture as old as sm_20"));
}

TEST_CASE("nvrtc: a text that does not compile throws CompileError with the compiler's words", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  CHECK_THROWS_AS(nvrtc_compile("void broken( {", target("sm_90"), Mode::Strict), CompileError);
  CHECK_THROWS_WITH(nvrtc_compile("extern \"C\" __global__ void k() { missing(); }", target("sm_90"), Mode::Strict),
                    Catch::Contains("missing") && Catch::Contains("sm_90") && Catch::Contains("nvrtc"));
}

TEST_CASE("nvrtc: threads compile at the same time and agree", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const graph::Target& sm_80 = target("sm_80");
  std::vector<std::string> bytes(8);
  std::vector<std::thread> threads;
  for (std::string& result : bytes) {
    threads.emplace_back([&] { result = nvrtc_compile(kScale, sm_80, Mode::Strict).bytes; });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(std::set<std::string>(bytes.begin(), bytes.end()).size() == 1);
}

TEST_CASE("nvrtc: compiling leaves the stack limit of the process alone", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  rlimit before{};
  rlimit after{};
  getrlimit(RLIMIT_STACK, &before);
  (void)nvrtc_compile(kScale, target("sm_90"), Mode::Strict);
  getrlimit(RLIMIT_STACK, &after);
  CHECK(before.rlim_cur == after.rlim_cur);
}

TEST_CASE("nvrtc: any failing call throws CompileError and the retry compiles", "[runtime][nvrtc][fault]") {
  TARRY_REQUIRE_NVRTC();
  const std::string expected = nvrtc_compile(kScale, target("sm_90"), Mode::Strict).bytes;
  support::fault::arm(support::fault::Site::Nvrtc, 1000);
  (void)nvrtc_compile(kScale, target("sm_90"), Mode::Strict);
  const std::uint64_t calls = support::fault::disarm();
  REQUIRE(calls >= 5);
  std::uint64_t thrown = 0;
  for (std::uint64_t k = 1; k <= calls; ++k) {
    support::fault::arm(support::fault::Site::Nvrtc, k);
    try {
      (void)nvrtc_compile(kScale, target("sm_90"), Mode::Strict);
    } catch (const CompileError&) {
      ++thrown;
    }
    support::fault::disarm();
    CHECK(nvrtc_compile(kScale, target("sm_90"), Mode::Strict).bytes == expected);
  }
  CHECK(thrown == calls - 1);  // destroying the program fails in silence: its result is already complete
}

TEST_CASE("nvrtc: a library named by TARRY_NVRTC that is not there is the reason given", "[runtime][nvrtc]") {
  const Override nvrtc("TARRY_NVRTC", "/nonexistent/libnvrtc.so");
  CHECK(runtime::nvrtc_compiler().empty());
  CHECK_THAT(runtime::nvrtc_unavailable_reason(),
             Catch::Contains("/nonexistent/libnvrtc.so") && Catch::Contains("TARRY_NVRTC"));
  CHECK_THROWS_AS(nvrtc_compile(kScale, target("sm_90"), Mode::Strict), CompileError);
}

TEST_CASE("nvrtc: TARRY_NVRTC may name the library or its folder", "[runtime][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const std::string path = runtime::nvrtc_location();
  const std::string bytes = nvrtc_compile(kScale, target("sm_90"), Mode::Strict).bytes;
  for (const std::string& named : {path, path.substr(0, path.rfind('/'))}) {
    INFO(named);
    const Override nvrtc("TARRY_NVRTC", named);
    CHECK(nvrtc_compile(kScale, target("sm_90"), Mode::Strict).bytes == bytes);
  }
}

TEST_CASE("nvrtc: the log of ptxas is read per kernel", "[runtime][nvrtc]") {
  const auto kernels = cache::parse_ptxas_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     2296 bytes stack frame, 3332 bytes spill stores, 3872 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 2296 bytes cumulative stack size, 132 bytes smem\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].entry == "first");
  CHECK(kernels[0].registers == 32);
  CHECK(kernels[0].stack_bytes == 2296);
  CHECK(kernels[0].spill_store_bytes == 3332);
  CHECK(kernels[0].spill_load_bytes == 3872);
  CHECK(kernels[0].shared_bytes == 132);
  CHECK(kernels[1].entry == "second");
  CHECK(kernels[1].registers == 10);
  CHECK(kernels[1].spill_store_bytes == 0);
}
