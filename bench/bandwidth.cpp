// How much of the machine's memory bandwidth generated kernels reach: ceilings by hand-written loops and kernels, and
// workloads through the public API, in one run. Recording, planning and launching are inside the timed region.
#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backend.h"
#include "runtime/nvrtc.h"

namespace ta = tarry;

namespace {

using Clock = std::chrono::steady_clock;

/// Median seconds per call over samples of back-to-back calls, after a warm-up.
double median_seconds(const std::function<void()>& call, const std::function<void()>& wait, int samples = 11) {
  call();
  wait();
  const auto once = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    wait();
    return std::chrono::duration<double>(Clock::now() - start).count() / calls;
  };
  const int calls = static_cast<int>(std::clamp(0.02 / once(1), 1.0, 100.0));
  std::vector<double> times;
  for (int s = 0; s < samples; ++s) times.push_back(once(calls));
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  return times[static_cast<std::size_t>(samples / 2)];
}

struct Ceilings {
  double copy = 0, read = 0;
};  // bytes per second

constexpr const char* kCeilingKernels = R"(
typedef unsigned int u32; typedef unsigned long long u64;
struct alignas(16) F4 { float v[4]; };
struct P { const F4* from; F4* to; u64 vectors; u64 unused; };
extern "C" __global__ void __launch_bounds__(256) ceiling_copy(const __grid_constant__ P p) {
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  if (i < p.vectors) p.to[i] = p.from[i];
}
// Eight 16-byte loads in flight per thread; the sum only keeps the loads alive.
extern "C" __global__ void __launch_bounds__(512) ceiling_read(const __grid_constant__ P p) {
  const u64 base = (u64)blockIdx.x * 512 * 32 + threadIdx.x;
  float s = 0;
  for (int r = 0; r < 4; ++r) {
    F4 x[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) x[u] = p.from[base + (r * 8 + u) * 512];
#pragma unroll
    for (int u = 0; u < 8; ++u) s += (x[u].v[0] + x[u].v[1]) + (x[u].v[2] + x[u].v[3]);
  }
  if (s == 12345.678f) p.to[0].v[0] = s;
}
)";

Ceilings cuda_ceilings() {
  ta::runtime::Backend& b = ta::runtime::backend(ta::cuda(0));
  const std::size_t bytes = std::size_t{1} << 30;
  const auto from = b.allocate(bytes), to = b.allocate(bytes);
  const std::vector<float> ones(bytes / 4, 1.0F);
  b.upload(*from, ones.data(), bytes);
  const auto image = std::make_shared<const std::string>(
      ta::runtime::nvrtc_compile(kCeilingKernels, b.target(), ta::graph::Mode::Strict).bytes);
  const auto rate = [&](const char* entry, int threads, std::int64_t vectors_per_block, double moved) {
    ta::cache::KernelRequest request;
    request.entry = entry;
    const auto executable = b.load(request, {image, "bench", ""});
    ta::codegen::KernelSource source;
    source.entry = entry;
    source.threads = threads;
    ta::codegen::Geometry geometry;
    geometry.outer_tiles = static_cast<std::int64_t>(bytes / 16) / vectors_per_block;
    const std::vector<std::uint64_t> words{reinterpret_cast<std::uint64_t>(from->data),
                                           reinterpret_cast<std::uint64_t>(to->data), bytes / 16, 0};
    return moved / median_seconds(
                       [&] {
                         b.launch({executable.get(), &source, words, geometry});
                       },
                       [&] { b.synchronize(); });
  };
  return {rate("ceiling_copy", 256, 256, 2.0 * static_cast<double>(bytes)),
          rate("ceiling_read", 512, 512 * 32, static_cast<double>(bytes))};
}

Ceilings cpu_ceilings() {
  const std::size_t workers = std::max(1U, std::thread::hardware_concurrency()), bytes = std::size_t{1} << 28,
                    share = bytes / workers;
  std::vector<unsigned char> from(bytes, 1), to(bytes, 2);
  std::vector<std::uint64_t> sums(workers * 8);
  const auto threaded = [&](const std::function<void(std::size_t)>& part) {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < workers; ++w) threads.emplace_back([&part, w] { part(w); });
  };
  const double copy = median_seconds(
      [&] { threaded([&](std::size_t w) { std::memcpy(&to[w * share], &from[w * share], share); }); }, [] {});
  const double read = median_seconds(
      [&] {
        threaded([&](std::size_t w) {
          const auto* p = reinterpret_cast<const std::uint64_t*>(&from[w * share]);
          std::uint64_t s[8] = {};
          for (std::size_t i = 0; i + 8 <= share / 8; i += 8)
            for (std::size_t k = 0; k < 8; ++k) s[k] += p[i + k];
          sums[w * 8] = std::accumulate(s, s + 8, std::uint64_t{0});
        });
      },
      [] {});
  return {2.0 * static_cast<double>(bytes) / copy, static_cast<double>(bytes) / read};
}

struct Workload {
  const char* name;
  bool read_only;  ///< its ceiling is the read rate
  std::function<std::vector<ta::Array>()> record;
};

ta::Array cdf(const ta::Array& x) { return 0.5F * (1.0F + ta::erf(x * 0.70710678F)); }

std::vector<float> uniform(std::size_t n, float low, float high) {
  std::vector<float> v(n);
  std::uint32_t state = 12345;
  for (float& x : v) {
    state = state * 1664525U + 1013904223U;
    x = low + (high - low) * (static_cast<float>(state >> 8) * 0x1p-24F);
  }
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  std::string device_name = "cpu", filter;
  bool json = false;
  CLI::App app("Bandwidth of generated kernels beside the machine's ceilings");
  app.add_option("--device", device_name, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--filter", filter, "only workloads whose name contains this");
  app.add_flag("--json", json, "one JSON object per line");
  CLI11_PARSE(app, argc, argv);

  const bool gpu = device_name == "cuda";
  const ta::Scope placed(gpu ? ta::cuda(0) : ta::cpu);
  const std::size_t n = std::size_t{1} << (gpu ? 26 : 23);
  const std::int64_t rows = gpu ? 32768 : 4096, columns = 4096, square = gpu ? 16384 : 4096;
  const Ceilings ceilings = gpu ? cuda_ceilings() : cpu_ceilings();
  std::printf("%s: copy %.1f GB/s, read %.1f GB/s\n", device_name.c_str(), ceilings.copy / 1e9, ceilings.read / 1e9);

  const ta::Array x = ta::asarray(uniform(n, 0.5F, 2.0F)), y = ta::asarray(uniform(n, 0.5F, 2.0F)),
                  t = ta::asarray(uniform(n, 0.1F, 2.0F));
  const ta::Array big = ta::asarray(uniform(4 * n, -1.0F, 1.0F)), other = ta::asarray(uniform(4 * n, -1.0F, 1.0F));
  const ta::Array table = ta::asarray(uniform(static_cast<std::size_t>(rows * columns), -1.0F, 1.0F), {rows, columns});
  const ta::Array matrix =
      ta::asarray(uniform(static_cast<std::size_t>(square * square), -1.0F, 1.0F), {square, square});
  const Workload workloads[] = {
      {"copy (y = -x)", false, [&] { return std::vector{-x}; }},
      {"axpy", false, [&] { return std::vector{2.5F * x + y}; }},
      {"chain20", false,
       [&] {
         ta::Array a = x * 1.1F + y;
         for (int i = 0; i < 9; ++i) a = a * 0.9F + 0.1F;
         return std::vector{a};
       }},
      {"multi_out", false,
       [&] {
         return std::vector{x + y, x - y, x * y};
       }},
      {"black_scholes", false,
       [&] {
         const ta::Array root = 0.3F * ta::sqrt(t), d1 = (ta::log(x / y) + 0.065F * t) / root,
                         k = y * ta::exp(-0.02F * t);
         const ta::Array call = x * cdf(d1) - k * cdf(d1 - root);
         return std::vector{call, call - x + k};
       }},
      {"sum", true, [&] { return std::vector{ta::sum(big)}; }},
      {"dot", true, [&] { return std::vector{ta::sum(big * other)}; }},
      {"max", true, [&] { return std::vector{ta::max(big)}; }},
      {"mean and std", true,
       [&] {
         return std::vector{ta::mean(big), ta::std(big)};
       }},
      {"row sums", true, [&] { return std::vector{ta::sum(table, 1)}; }},
      {"column sums", true, [&] { return std::vector{ta::sum(matrix, 0)}; }},
      {"sum of a matrix", true, [&] { return std::vector{ta::sum(matrix)}; }},
  };
  for (const Workload& w : workloads) {
    if (std::string_view(w.name).find(filter) == std::string_view::npos) continue;
    std::vector<ta::Array> results;
    ta::Report report;
    const auto call = [&] {
      results = w.record();
      report = ta::evaluate(results);
    };
    const double seconds = median_seconds(call, [] { ta::synchronize(); });
    const double rate = static_cast<double>(report.counters().bytes_read + report.counters().bytes_written) / seconds;
    const double share = rate / (w.read_only ? ceilings.read : ceilings.copy);
    if (json) {
      std::printf("%s\n", nlohmann::json{{"peer", "tarry"},
                                         {"workload", w.name},
                                         {"device", device_name},
                                         {"ms", seconds * 1e3},
                                         {"gbps", rate / 1e9},
                                         {"share_of_ceiling", share},
                                         {"launches", report.counters().launches},
                                         {"ceiling_copy_gbps", ceilings.copy / 1e9},
                                         {"ceiling_read_gbps", ceilings.read / 1e9}}
                              .dump()
                              .c_str());
    } else {
      std::printf("%-18s %9.4f ms %9.1f GB/s %6.1f %% of the %s ceiling, %lld launches\n", w.name, seconds * 1e3,
                  rate / 1e9, share * 100, w.read_only ? "read" : "copy",
                  static_cast<long long>(report.counters().launches));
    }
    std::fflush(stdout);
  }
  return 0;
}
