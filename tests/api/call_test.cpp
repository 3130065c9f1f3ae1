// Calls of the user's code: lazy, once, with their exceptions, between graphs that are fused on both sides.
#include <atomic>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <tarry/kernel.h>

#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

/// Sorts the elements and counts its runs.
std::vector<ta::Array> reversed(const ta::Array& x, std::atomic<int>& runs) {
  const auto body = [&runs](std::span<const ta::HostInput> in, std::span<const ta::HostOutput> out) {
    ++runs;
    const auto from = in[0].values<float>();
    std::reverse_copy(from.begin(), from.end(), out[0].values<float>().begin());
    out[1].values<std::int64_t>()[0] = static_cast<std::int64_t>(from.size());
  };
  return ta::host_function(body, {x}, {{x.shape(), ta::float32}, {{}, ta::int64}}, "reversed");
}

}  // namespace

TEST_CASE("host_function: runs once, when one of its results is needed", "[call]") {
  on_every_device([](ta::Device) {
    std::atomic<int> runs = 0;
    const ta::Array x = ta::asarray(ramp(5)) * 2.0f;
    const std::vector<ta::Array> out = reversed(x, runs);
    const ta::Array y = out[0] + 1.0f, n = out[1] * 10;
    CHECK(runs == 0);
    CHECK(y.to_vector<float>() == std::vector<float>{6, 5, 4, 3, 2});
    CHECK(n.item<std::int64_t>() == 50);
    CHECK(out[0].to_vector<float>()[4] == 1);
    CHECK(runs == 1);
  });
}

TEST_CASE("host_function: an exception comes out of the evaluate and loses nothing", "[call]") {
  int runs = 0;
  const auto body = [&](std::span<const ta::HostInput> in, std::span<const ta::HostOutput> out) {
    if (++runs == 1) throw std::runtime_error("not today");
    out[0].values<int>()[0] = in[0].values<int>()[1];
  };
  const ta::Array x = ta::array({1, 2}) + 1;
  const ta::Array y = ta::host_function(body, {x}, {{{1}, ta::int32}})[0] + x;
  CHECK_THROWS_WITH(ta::evaluate(y), "not today");
  CHECK(y.to_vector<int>() == std::vector<int>{5, 6});
  CHECK(runs == 2);
}

TEST_CASE("host_function: calls of calls, and what their code evaluates", "[call]") {
  std::atomic<int> runs = 0;
  ta::Array x = ta::asarray(ramp(4));
  for (int i = 0; i < 3; ++i) x = reversed(x * 2.0f, runs)[0];
  CHECK(x.to_vector<float>() == std::vector<float>{16, 12, 8, 4});
  CHECK(runs == 3);
  const auto body = [](std::span<const ta::HostInput>, std::span<const ta::HostOutput> out) {
    out[0].values<float>()[0] = ta::sum(ta::ones({10})).item<float>();
  };
  CHECK(ta::host_function(body, {}, {{{}, ta::float32}})[0].item<float>() == 10);
}

TEST_CASE("host_function: a long chain that nobody evaluates dies on a small stack", "[call]") {
  std::thread([] {
    const auto nothing = [](std::span<const ta::HostInput>, std::span<const ta::HostOutput>) {};
    ta::Array x = ta::zeros({2});
    for (int i = 0; i < 200'000; ++i) x = ta::host_function(nothing, {x}, {{{2}, ta::float32}})[0] + 1.0f;
  }).join();
}

TEST_CASE("host_function: threads that need one result run it once", "[call]") {
  std::atomic<int> runs = 0;
  const ta::Array x = reversed(ta::asarray(ramp(100)), runs)[0];
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back(
        [&, t] { right += (x + static_cast<float>(t)).to_vector<float>()[99] == 0.5f + static_cast<float>(t); });
  for (std::thread& t : threads) t.join();
  CHECK(right == 4);
  CHECK(runs == 1);
}

TEST_CASE("host_function: a replayed function reads a value from outside, and makes none of its arguments",
          "[call][replay]") {
  std::atomic<int> runs = 0;
  const ta::Array seen = reversed(ta::asarray(ramp(3)), runs)[0];
  const auto step = ta::replay([&](const ta::Array& x) { return x + seen; });
  CHECK(step(ta::ones({3})).to_vector<float>() == std::vector<float>{2.5, 2, 1.5});
  CHECK(step(ta::zeros({3})).to_vector<float>() == std::vector<float>{1.5, 1, 0.5});
  CHECK(runs == 1);
  const auto inside = ta::replay([&](const ta::Array& x) { return reversed(x, runs)[0] + x; });
  CHECK_THROWS_AS(inside(ta::ones({3})), ta::InvalidArgument);
}

TEST_CASE("host_function: plan() sees a value, and runs nothing", "[call]") {
  std::atomic<int> runs = 0;
  const ta::Array y = reversed(ta::asarray(ramp(8)), runs)[0] * 2.0f;
  CHECK(ta::plan(y).counters().kernels == 1);
  CHECK(runs == 0);
}

TEST_CASE("host_function: plans and reports name it where its values are read", "[call]") {
  std::atomic<int> runs = 0;
  const ta::Array x = ta::asarray(ramp(8)), made = reversed(x, runs)[0], y = made * 2.0f + x, z = ta::exp(made);
  const auto check = [](const std::vector<ta::Unfused>& unfused) {
    REQUIRE(unfused.size() == 2);
    CHECK(unfused[0].producer.starts_with("reversed at "));
    CHECK(unfused[0].producer.find("call_test.cpp:") != std::string::npos);
    CHECK(unfused[0].consumer.starts_with("multiply at "));
    CHECK(unfused[1].consumer.starts_with("exp at "));
    for (const ta::Unfused& u : unfused) CHECK(u.reason == "user");
  };
  check(ta::plan(y, z).unfused());
  CHECK(runs == 0);
  const ta::Report report = ta::evaluate(y, z);
  check(report.unfused());
  CHECK(report.str().find("through memory: reversed at ") != std::string::npos);
  CHECK(ta::evaluate(x + 1.0f).unfused().empty());
}

namespace {

/// The only record that kernel_history() has of code of the user's with this name.
ta::KernelRecord record_of(const std::string& name) {
  std::vector<ta::KernelRecord> found;
  for (ta::KernelRecord& r : ta::kernel_history())
    if (r.name == name) found.push_back(std::move(r));
  REQUIRE(found.size() == 1);
  CHECK(found[0].reason == "user");
  REQUIRE(found[0].lines.size() == 1);
  CHECK(found[0].lines[0].starts_with(name + " at "));
  CHECK(found[0].lines[0].find("call_test.cpp:") != std::string::npos);
  return found[0];
}

/// The parts of a directory that TARRY_DUMP has filled.
struct Dumped {
  explicit Dumped(const std::filesystem::path& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string(), text = ta::support::read_file(entry.path()).value();
      if (name.ends_with("-plan.txt")) plans += text;
      if (name.ends_with(".cu")) sources += text;
      if (name != "index.jsonl") continue;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        if (nlohmann::json object = nlohmann::json::parse(line); object.value("reason", "") == "user")
          index.push_back(std::move(object));
    }
  }
  std::string plans, sources;
  std::vector<nlohmann::json> index;  // of code of the user's
};

}  // namespace

TEST_CASE("host_function: the history has one record of it, with its runs, bytes and line", "[call][history]") {
  const ta::Array x = ta::asarray(ramp(6));
  const auto twice = [](std::span<const ta::HostInput> in, std::span<const ta::HostOutput> out) {
    for (int i = 0; i < 6; ++i) out[0].values<double>()[i] = 2.0 * in[0].values<float>()[i];
  };
  for (int i = 0; i < 3; ++i) ta::evaluate(ta::host_function(twice, {x}, {{{6}, ta::float64}}, "noted_twice")[0]);
  const ta::KernelRecord r = record_of("noted_twice");
  CHECK(r.hit == ta::KernelHit::Called);
  CHECK(r.device == "cpu");
  CHECK(r.key.empty());
  CHECK(r.launches == 3);
  CHECK(r.measured_launches == 3);
  CHECK(r.bytes_read == 3 * 24);
  CHECK(r.bytes_written == 3 * 48);
  std::ostringstream line;
  line << r;
  CHECK(line.str().starts_with("noted_twice (user) on cpu ("));
  CHECK(line.str().find(", called; ") != std::string::npos);
}

TEST_CASE("host_function: a dump has a line for each run of it, and who reads its values", "[call][dump]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const Setting words("TARRY_DUMP", "plan,source"), where("TARRY_DUMP_DIR", directory.path().string());
  std::atomic<int> runs = 0;
  const ta::Array made = reversed(ta::asarray(ramp(8)), runs)[0];
  ta::evaluate(made * 2.0f, made + 1.0f);
  ta::evaluate(made - 3.0f);
  const Dumped dumped(directory.path());
  REQUIRE(dumped.index.size() == 1);
  CHECK(dumped.index[0]["kernel"] == "reversed");
  CHECK(dumped.index[0]["call"] == "evaluate");
  CHECK(dumped.index[0]["hit"] == "called");
  CHECK(dumped.index[0]["file"] == "");
  CHECK(dumped.index[0]["lines"][0].get<std::string>().starts_with("reversed at "));
  std::size_t edges = 0;
  for (const char* reader : {"multiply", "add", "subtract"})
    edges += dumped.plans.find(std::string(" -> ") + reader + " at ") != std::string::npos ? 1 : 0;
  CHECK(edges == 3);
  CHECK(dumped.plans.find(": user\n") != std::string::npos);
}

TEST_CASE("cuda_kernel: the history and a dump have it, with its text", "[call][cuda]") {
  TARRY_REQUIRE_CUDA();
  const CacheDirectory cache;
  const ta::support::ScopedTemporaryDirectory directory;
  const Setting words("TARRY_DUMP", "source"), where("TARRY_DUMP_DIR", directory.path().string());
  const char* const text =
      "extern \"C\" __global__ void noted_add(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }";
  const ta::Array x = ta::to_device(ta::asarray(ramp(32)), ta::cuda(0));
  for (int i = 0; i < 2; ++i)
    ta::evaluate(ta::cuda_kernel(text, "noted_add", {x}, {{{32}, ta::float32}}, {.block = {32, 1, 1}})[0]);
  const ta::KernelRecord r = record_of("noted_add");
  CHECK(r.hit == ta::KernelHit::Compiled);
  CHECK(r.key.size() == 32);
  CHECK(r.launches == 2);
  CHECK(r.bytes_read == 2 * 128);
  CHECK(r.compile_seconds > 0);
  const Dumped dumped(directory.path());
  REQUIRE(dumped.index.size() == 2);
  CHECK(dumped.index[0]["hit"] == "compiled");
  CHECK(dumped.index[1]["hit"] == "memory");
  CHECK(dumped.index[0]["key"] == r.key);
  CHECK(dumped.index[0]["file"] == "noted_add_" + r.key.substr(0, 8) + ".cu");
  CHECK(dumped.sources.find("// noted_add at ") == 0);
  CHECK(dumped.sources.find("blocks of (32, 1, 1) threads") != std::string::npos);
  CHECK(dumped.sources.find(text) != std::string::npos);
}

TEST_CASE("host_function: bools are 0 or 1, and no element is an element less", "[call]") {
  const auto body = [](std::span<const ta::HostInput> in, std::span<const ta::HostOutput> out) {
    CHECK(in[0].values<float>().empty());
    std::memset(out[0].data(), 7, 3);
  };
  const ta::Array b = ta::host_function(body, {ta::zeros({0, 4})}, {{{3}, ta::bool_}})[0];
  CHECK(ta::sum(b).item<std::int64_t>() == 3);
}

TEST_CASE("host_function: a value of a loop's body is refused", "[call][errors]") {
  const auto nothing = [](std::span<const ta::HostInput>, std::span<const ta::HostOutput>) {};
  CHECK_THROWS_AS(
      ta::while_loop([](const ta::Array& x) { return x < 1; },
                     [&](const ta::Array& x) { return ta::host_function(nothing, {x}, {{{}, ta::int32}})[0]; },
                     ta::zeros({}, ta::int32)),
      ta::InvalidArgument);
}

TEST_CASE("cuda_kernel: two inputs, two outputs, a number and a header", "[call][cuda]") {
  for (const ta::Device device : ta::devices()) {
    if (device.kind != ta::DeviceKind::Cuda) continue;
    const char* source = R"(
      extern "C" __global__ void axpy(const float* x, const float* y, float* z, double* twice, double a, long long n) {
        const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
        if (i >= n) return;
        z[i] = (float)a * x[i] + y[i];
        twice[i] = 2.0 * x[i];
      })";
    const ta::Array x = ta::asarray(ramp(1000)) + 1.0f, y = ta::ones({1000});
    const auto out = ta::cuda_kernel(source, "axpy", {x, y}, {{{1000}, ta::float32}, {{1000}, ta::float64}},
                                     {.grid = {4, 1, 1}, .block = {256, 1, 1}, .numbers = {3.0, 1000}});
    const auto z = (out[0] - 1.0f).to_vector<float>();
    const auto twice = out[1].to_vector<double>();
    for (std::size_t i = 0; i < 1000; ++i) {
      REQUIRE(z[i] == 3.0f * (0.5f * static_cast<float>(i + 1) + 1.0f));
      REQUIRE(twice[i] == 2.0 * (0.5 * static_cast<double>(i + 1) + 1.0));
    }
    CHECK_THROWS_AS(ta::cuda_kernel("this is no kernel", "f", {x}, {{{1}, ta::float32}})[0].item<float>(),
                    ta::CompileError);
  }
}

TEST_CASE("cuda_kernel: wrong calls, and a machine without a GPU", "[call][errors]") {
  const std::vector<ta::OutputSpec> one = {{{1}, ta::float32}};
  CHECK_THROWS_AS(ta::cuda_kernel("", "f", {ta::to_device(ta::zeros({1}), ta::cpu)}, one), ta::InvalidArgument);
  CHECK_THROWS_AS(ta::cuda_kernel("", "f", {}, one, {.block = {0, 1, 1}}), ta::InvalidArgument);
  CHECK_THROWS_AS(ta::cuda_kernel("", "f", {}, {}), ta::InvalidArgument);
  if (ta::devices().size() > 1) return;
  const ta::Array y = ta::cuda_kernel("", "f", {}, one)[0];
  CHECK_THROWS_AS(ta::evaluate(y), ta::DeviceError);
}
