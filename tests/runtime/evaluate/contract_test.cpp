// Promises about a whole process or a whole program: what recording touches, where evaluate() may stand, which state of
// the caller survives, what errors say, how a process ends, and how far indices reach.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/evaluate/engine.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::test::on_every_device;
using ta::test::ramp;
using ta::test::run_child;
using ta::test::same_bits;
using ta::test::Setting;

namespace {

/// True where a library whose file name begins with `prefix` is in this process.
bool is_mapped(const std::string& prefix) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/" + prefix) != std::string::npos) return true;
  return false;
}

/// Records one of everything that computes nothing.
std::vector<ta::Array> record_much() {
  const ta::Array x = ta::asarray(ramp(60), {3, 20}), y = ta::arange(60) + 1,
                  z = ta::zeros({3, 1}) + ta::linspace(0, 1, 20);
  std::vector<ta::Array> all = {x * 2.0f + z,
                                ta::exp(-x),
                                ta::where(x < 3.0f, x, z),
                                ta::sum(y),
                                ta::var(x, 1),
                                ta::flip(ta::matrix_transpose(x)),
                                ta::astype(x, ta::int32) % 7,
                                ta::mean(ta::broadcast_to(z, {4, 3, 20})),
                                ta::eye(4) / 3};
  for (const ta::Array& a : all) (void)a.repr();
  return all;
}

ta::Array at_namespace_scope = ta::sqrt(ta::arange(10, ta::float32) + 0.5f);  // recorded before main, dropped after it

/// A program of several kernels; `pause` stands wherever evaluate() may.
template <class Pause>
std::vector<ta::Array> formula(const ta::Array& x, const ta::Array& y, Pause pause) {
  const auto p = [&](ta::Array a) {
    pause(a);
    return a;
  };
  const ta::Array a = p(p(x * y) - 0.37f), b = p(ta::exp(p(a * -0.01f))), c = p(ta::sum(b, 1, {.keepdims = true}));
  const ta::Array d = p(p(b / c) + p(ta::matrix_transpose(p(ta::matrix_transpose(a) * 3.0f)))), e = p(ta::var(d, 0));
  const ta::Array f = p(ta::where(p(d > p(ta::mean(d))), d, p(ta::minimum(a, e))));
  return {f, p(ta::max(f)), p(ta::sum(p(ta::astype(p(f * 16.0f), ta::int32)))), p(ta::std(p(f - e), 1))};
}

std::vector<std::vector<float>> values_of(const std::vector<ta::Array>& arrays) {
  std::vector<std::vector<float>> values;
  for (const ta::Array& a : arrays) values.push_back(ta::astype(a, ta::float32).to_vector<float>());
  return values;
}

#if defined(__x86_64__)
/// The caller's floating-point state: flush denormals, round towards zero, exceptions unmasked but inexact.
class OddFloatingPoint {
 public:
  OddFloatingPoint() : saved_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(kOdd); }
  ~OddFloatingPoint() { __builtin_ia32_ldmxcsr(saved_); }
  OddFloatingPoint(const OddFloatingPoint&) = delete;
  OddFloatingPoint& operator=(const OddFloatingPoint&) = delete;
  static constexpr unsigned kOdd = 0x1f80 | 0x8000 | 0x0040 | 0x6000;  // FTZ, DAZ, towards zero
  static constexpr unsigned kControl = 0xffc0;                         // all but the sticky flags
 private:
  unsigned saved_;
};
#endif

}  // namespace

// ---- Recording. ----

TARRY_CHILD(records_only) {
  const std::vector<ta::Array> all = record_much();
  std::printf("%s %s", is_mapped("libcuda.so") ? "driver" : "no-driver", is_mapped("libnvrtc") ? "nvrtc" : "no-nvrtc");
  const ta::CacheCounters s = ta::cache_counters();
  std::printf(" %lld", static_cast<long long>(s.compiles + s.disk_hits + s.memory_hits));
  return 0;
}

TEST_CASE("contract: recording initialises nothing, also not before main", "[contract]") {
  const auto child = run_child("records_only");
  CHECK(child.error == "");
  CHECK(child.output == "no-driver no-nvrtc 0");
  CHECK(child.exit_status == 0);
}

TEST_CASE("contract: evaluate() anywhere in a formula changes no bit", "[contract]") {
  on_every_device([](ta::Device) {
    const ta::Array x = ta::asarray(ramp(37 * 131), {37, 131}), y = ta::sqrt(ta::asarray(ramp(131)));
    const auto expected = values_of(formula(x, y, [](const ta::Array&) {}));
    for (std::uint32_t seed = 0; seed < 16; ++seed) {
      std::mt19937 random(seed);
      const auto sometimes = [&](const ta::Array& a) {
        if (random() % (2 + seed % 5) == 0) ta::evaluate(a);
      };
      const auto got = values_of(formula(x, y, sometimes));
      INFO("seed " << seed);
      for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(same_bits(got[i], expected[i]));
    }
  });
}

// ---- Errors. ----

TEST_CASE("contract: errors name the op, the operands and the caller's line", "[contract]") {
  const ta::Array x = ta::zeros({3, 4}), y = ta::zeros({5}), flags = ta::zeros({3, 4}, ta::bool_),
                  wide = ta::zeros({2}, ta::int64);
  const ta::Scope on_cpu(ta::cpu);
  struct Row {
    std::function<void()> call;
    std::vector<std::string> parts;
    int line;
  };
  const Row rows[] = {
      {[&] { (void)(x * y); }, {"[multiply]", "(3, 4)", "(5,)"}, __LINE__},
      {[&] { (void)(flags + flags); }, {"[add]", "bool", "logical_or"}, __LINE__},
      {[&] { (void)ta::logical_and(x, flags); }, {"[logical_and]", "float32"}, __LINE__},
      {[&] { (void)ta::sqrt(flags); }, {"[sqrt]", "bool"}, __LINE__},
      {[&] { (void)(ta::zeros({2}, ta::int32) + 3'000'000'000); }, {"[add]", "3000000000", "int32"}, __LINE__},
      {[&] { (void)wide.to_vector<float>(); }, {"to_vector", "int64", "float32"}, __LINE__},
      {[&] { (void)x.item<float>(); }, {"item", "(3, 4)"}, __LINE__},
      {[&] { ta::evaluate(ta::Array()); }, {"undefined"}, __LINE__},
      {[&] { (void)ta::plan_for("sm_1", x); }, {"sm_1"}, __LINE__},
      {[&] { (void)ta::asarray(ramp(5), {2, 3}); }, {"(2, 3)", "5"}, __LINE__},
  };
  for (const Row& row : rows) {
    std::string message;
    try {
      row.call();
    } catch (const ta::InvalidArgument& e) {
      message = e.what();
    }
    INFO(message);
    CHECK_THAT(message, Catch::Contains("contract_test.cpp:" + std::to_string(row.line)));
    for (const std::string& part : row.parts) CHECK_THAT(message, Catch::Contains(part));
  }
}

// ---- The caller's floating-point state. ----

#if defined(__x86_64__)
TEST_CASE("contract: the caller's floating-point state survives and changes no bit", "[contract]") {
  on_every_device([](ta::Device device) {
    std::vector<float> denormals;
    for (int i = 1; i <= 5000; ++i)
      denormals.push_back(std::ldexp(static_cast<float>(i), -149) * (i % 2 ? 1.0f : -1.0f));
    const auto results = [&] {  // scalars, constants that fold, maps, reductions, conversions, generators
      const ta::Array x = ta::asarray(denormals), tiny = ta::full({}, 3e-39f);
      return std::vector<ta::Array>{x * 0.75f + 1e-40,
                                    (tiny * 0.5f) + x,
                                    ta::sum(x),
                                    ta::var(x * 0x1p80f),
                                    ta::max(-x),
                                    ta::astype(ta::astype(x, ta::float64) / 3.0, ta::float32),
                                    ta::linspace(0, 1e-38, 77),
                                    ta::exp(x * 0x1p127f) / 7.0f,
                                    ta::arange(0.0f, 1.0f, 0.1f) / 3.0f,
                                    ta::full({3}, 0.1f) + 1e-39};
    };
    for (const char* disabled : {"", "compile", "fold"}) {
      INFO("without " << disabled);
      const Setting off("TARRY_DISABLE", disabled);
      const auto expected = values_of(results());
      std::vector<std::vector<float>> got;
      unsigned before = 0, after = 0;
      {
        const OddFloatingPoint odd;
        before = __builtin_ia32_stmxcsr();
        got = values_of(results());
        after = __builtin_ia32_stmxcsr();
      }
      CHECK((before & OddFloatingPoint::kControl) == (after & OddFloatingPoint::kControl));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("result " << i);
        CHECK(same_bits(got[i], expected[i]));
      }
      if (device != ta::cpu) break;
    }
  });
}
#endif

// ---- How a process ends. ----

// Not in the function: a thread that does not pass the declaration would never construct it.
static thread_local ta::Array of_thread;

TARRY_CHILD(static_arrays) {
  static const ta::Array lazy = ta::exp(ta::asarray(ramp(1000)));
  static const ta::Array ready = lazy * 2.0f;
  of_thread = ta::sum(ready);
  ta::evaluate(ready, at_namespace_scope);
  std::thread([] {
    of_thread = ta::asarray(ramp(100)) + 1.0f;
    ta::evaluate(of_thread);
  }).join();
  std::printf("%g", static_cast<double>(of_thread.item<float>() > 0));
  return 0;
}

TARRY_CHILD(exits_in_a_thread) {
  static ta::Array kept = ta::asarray(ramp(1 << 20)) * 2.0f;
  std::thread worker([] {
    ta::evaluate(kept);
    std::printf("evaluated");
    std::exit(0);
  });
  worker.join();
  return 1;
}

TARRY_CHILD(forks_before_init) {
  const std::vector<ta::Array> recorded = record_much();
  const pid_t child = ::fork();
  ta::evaluate(recorded);
  const bool good = ta::sum(ta::asarray(ramp(1000))).item<float>() == 250'250.0f;
  if (child == 0) std::exit(good ? 0 : 1);  // with all exit handlers, as a forked server would
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("%d %d", good, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}

TARRY_CHILD(forks_after_init) {
  const ta::Array before = ta::asarray(ramp(1 << 20)) * 2.0f;
  ta::evaluate(before);
  const bool gpu = before.device() != ta::cpu;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // hanging is the failure to find
    bool good = false;
    try {
      good = ta::sum(before).item<float>() > 0 && !gpu;
    } catch (const ta::DeviceError&) {
      good = gpu;
    }
    std::exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("%d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}

TEST_CASE("contract: processes with live arrays end cleanly and say nothing", "[contract]") {
  const struct {
    const char* name;
    const char* output;
  } rows[] = {{"static_arrays", "1"},
              {"exits_in_a_thread", "evaluated"},
              {"forks_before_init", "1 0"},
              {"forks_after_init", "0"}};
#ifdef __SANITIZE_THREAD__
  constexpr bool kForks = false;  // the sanitizer's own thread is missing in a forked child, which hangs at exit
#else
  constexpr bool kForks = true;
#endif
  for (const ta::Device device : ta::devices()) {
    for (const auto& row : rows) {
      if (!kForks && std::string_view(row.name).starts_with("forks")) continue;
      INFO(row.name << " on " << device.str());
      std::vector<std::string> settings = {"TARRY_DEVICE=" + device.str()};
      // LeakSanitizer cannot stop the threads that a forked process has lost, and says so.
      if (row.name == std::string("forks_after_init")) settings.push_back("ASAN_OPTIONS=detect_leaks=0");
      const auto child = run_child(row.name, settings);
      CHECK(child.output == row.output);
      CHECK(child.error == "");
      CHECK(child.exit_status == 0);
    }
  }
}

// ---- Indices beyond 2^31. ----

TEST_CASE("contract: indices are as wide as extents and offsets need", "[contract]") {
  const float element = 1;  // plans read nothing
  const std::int64_t big = std::int64_t{1} << 31;
  const struct {
    const char* what;
    ta::Shape shape;
    std::vector<std::int64_t> strides;
    bool wide;
  } rows[] = {
      {"small", {1000}, {1}, false},
      {"many elements", {big + 1}, {1}, true},
      {"two factors", {1 << 16, 1 << 16}, {1 << 16, 1}, true},
      {"far apart", {3, 5}, {big, 1}, true},
      {"far apart, backwards", {3, 5}, {-big, 1}, true},
      {"the last of few", {5}, {big / 2}, true},
      {"just below", {3, 5}, {big / 4, 1}, false},
  };
  for (const auto& row : rows) {
    const ta::Array x = ta::borrow(&element, row.shape, row.strides);
    const ta::Array map = x + 1.0f, last = ta::sum(x, static_cast<int>(row.shape.size()) - 1), first = ta::max(x, 0);
    for (const ta::Array& y : {map, last, first}) {
      INFO(row.what);
      const ta::graph::Snapshot s = ta::test::snapshot_of({&y});
      const auto plan = ta::runtime::make_plan(s, *ta::graph::find_target("sm_90"), {true}, {false},
                                               ta::runtime::plan_switches(), nullptr);
      const auto& step = std::get<ta::runtime::KernelStep>(plan.steps.at(0));
      const bool wide = step.source->text.find("& p, tarry_i64 i)") != std::string::npos;  // the outer index
      CHECK(wide == row.wide);
      CHECK(step.lowered.ir.wide_index == row.wide);
    }
  }
}
