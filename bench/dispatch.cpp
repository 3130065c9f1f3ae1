// The cost of a repeated evaluate besides its kernels: small10 (10 operations on 1,024 elements) and heat_small (10
// steps of the heat equation on 256 x 256, recorded as one graph), back to back, recording included. Beside them what
// the host's core is worth: its clock, what it does in a cycle, and on a GPU one launch of a kernel that does nothing.
#include <tarry/tarry.h>

#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/compilers/nvrtc.h"

namespace ta = tarry;

namespace {

ta::Array ramp(const ta::Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<float> v(count);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.25f + static_cast<float>(i % 97) / 97.0f;
  ta::Array x = ta::reshape(ta::asarray(v), shape) * 1.0f;
  ta::evaluate(x);  // on the device from here on
  return x;
}

ta::Array small10(const ta::Array& x, const ta::Array& y) {
  ta::Array a = x * y + 1.0f;
  a = ta::exp(-a) + x;
  a = ta::sqrt(a * a + 1.0f);
  return a * 0.5f - y;
}

ta::Array heat(ta::Array u) {
  using ta::Slice;
  const Slice in{1, -1}, low{0, -2}, high{2, ta::none};
  for (int step = 0; step < 10; ++step) {
    const ta::Array c = u(in, in);
    const ta::Array v = c + 0.1f * (u(low, in) + u(high, in) + u(in, low) + u(in, high) - 4.0f * c);
    u.set({in, in}, v);
  }
  return u;
}

/// Microseconds per call, back to back: the best of several runs, the device having caught up after each.
double period(int calls, const std::function<void()>& call) {
  constexpr int kRuns = 7;
  for (int i = 0; i < calls / 4 + 8; ++i) call();
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    ta::synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    ta::synchronize();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / calls);
  }
  return best;
}

struct Core {
  double gigahertz =
      0;  ///< from a chain of multiplications, three cycles each on every x86-64 core of the last ten years
  double adds_per_cycle = 0;  ///< of eight chains: fewer where another thread runs on the same core
};
/// One after the other, so as good as the clock is steady. Zeros on other processors than x86-64.
Core measure_core() {
#if defined(__x86_64__)
  constexpr int kLinks = 1'000'000;
  std::uint64_t x = 3;
  const double chain = period(8, [&x] {
    for (int i = 0; i < kLinks; ++i) __asm__ volatile("imulq %0, %0" : "+r"(x));
  });
  const double chains = period(8, [] {
    std::uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int i = 0; i < kLinks; ++i)
      __asm__ volatile(
          "addq $3, %0\n addq $3, %1\n addq $3, %2\n addq $3, %3\n addq $3, %4\n addq $3, %5\n addq $3, %6\n addq $3, "
          "%7"
          : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
  });
  return {3.0 * kLinks / (1000 * chain), 8.0 / 3.0 * chain / chains};
#else
  return {};
#endif
}

/// Microseconds of a launch of an empty kernel, back to back: what the driver takes of every evaluate.
double empty_launch(int calls) {
  ta::runtime::Backend& b = ta::runtime::backend(ta::cuda());
  ta::cache::KernelRequest request;
  request.entry = "nothing";
  const auto image = std::make_shared<const std::string>(
      ta::runtime::nvrtc_compile("extern \"C\" __global__ void nothing(unsigned long long) {}", b.target(),
                                 ta::graph::Mode::Strict)
          .bytes);
  const auto executable = b.load(request, {image, "bench", ""});
  ta::codegen::KernelSource source;
  source.entry = request.entry;
  source.threads = 256;
  const std::vector<std::uint64_t> words{0};
  ta::codegen::Geometry one;
  one.outer_tiles = 1;
  return period(calls, [&] { b.launch({executable.get(), &source, words, one}); });
}

struct Workload {
  const char* name;
  std::function<ta::Array()> record;
  double target_cuda, target_cpu;  // microseconds; 0: none
};

nlohmann::ordered_json measure(const Workload& w, const std::string& device, int calls, bool quiet) {
  ta::Report report = ta::evaluate(w.record());
  report = ta::evaluate(w.record());
  const double record = period(calls, [&] { (void)w.record(); });
  ta::Seconds sums;
  std::int64_t timed = 0;
  const double total = period(calls, [&] {
    const ta::Array a = w.record();
    report = ta::evaluate(a);
    const ta::Seconds& s = report.seconds();
    sums.snapshot += s.snapshot;
    sums.prepare += s.prepare;
    sums.launch += s.launch;
    ++timed;
  });
  const ta::Counters& c = report.counters();
  const double scale = 1e6 / static_cast<double>(timed);
  const double target = device == "cpu" ? w.target_cpu : w.target_cuda;
  if (!quiet) {
    std::printf(
        "%-11s %-7s total %8.3f us = record %6.3f + evaluate %8.3f (snapshot %6.3f, prepare %6.3f, launch %8.3f)",
        w.name, device.c_str(), total, record, total - record, sums.snapshot * scale, sums.prepare * scale,
        sums.launch * scale);
    std::printf("; %lld launches, plan hit %lld", static_cast<long long>(c.launches),
                static_cast<long long>(c.plan_hit));
    if (target > 0) std::printf(" (target %g us)", target);
    std::printf("\n");
  }
  return {{"workload", w.name},
          {"device", device},
          {"total_us", total},
          {"record_us", record},
          {"evaluate_us", total - record},
          {"snapshot_us", sums.snapshot * scale},
          {"prepare_us", sums.prepare * scale},
          {"launch_us", sums.launch * scale},
          {"launches", c.launches},
          {"plan_hit", c.plan_hit}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What a repeated evaluate costs"};
  std::vector<std::string> devices;
  std::string only;
  int calls = 20000;
  bool json = false;
  app.add_option("--device", devices, "cpu or cuda; default both where they are")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--workload", only, "small10 or heat_small");
  app.add_option("--calls", calls, "evaluations per run")->check(CLI::Range(1, 10'000'000));
  app.add_flag("--json", json, "figures as JSON");
  CLI11_PARSE(app, argc, argv);
  if (devices.empty()) {
    devices = {"cpu"};
    if (ta::devices().size() > 1) devices.emplace_back("cuda");
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& device : devices) {
    const ta::Scope placed(device == "cpu" ? ta::cpu : ta::cuda());
    const int core = sched_getcpu();
    const Core speed = measure_core();
    const double launch = device == "cpu" ? 0 : empty_launch(calls);
    if (!json) {
      std::printf("core %d", core);
      if (speed.gigahertz > 0)
        std::printf(" of about %.2f GHz, %.1f additions a cycle", speed.gigahertz, speed.adds_per_cycle);
      if (launch > 0) std::printf("; an empty kernel %.3f us", launch);
      std::printf("\n");
    }
    const ta::Array x = ramp({1024}), y = ramp({1024}), u = ramp({256, 256});
    const Workload workloads[] = {{"small10", [&] { return small10(x, y); }, 4, 3},
                                  {"heat_small", [&] { return heat(u); }, 12, 0}};
    for (const Workload& w : workloads) {
      if (!only.empty() && only != w.name) continue;
      all.push_back(measure(w, device, std::string(w.name) == "small10" ? calls : calls / 10 + 1, json));
      all.back().update({{"core", core},
                         {"gigahertz", speed.gigahertz},
                         {"adds_per_cycle", speed.adds_per_cycle},
                         {"empty_launch_us", launch}});
    }
  }
  if (json) std::printf("%s\n", all.dump(2).c_str());
  return 0;
}
