// The workloads of bench/workloads.h on one device: checked against double precision, then timed, beside the machine's
// ceilings of the same run. Recording, planning and launching are inside the timed region: that is how users call it.
#include <tarry/tarry.h>

#include <fmt/format.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/ceilings.h"
#include "bench/threads.h"
#include "bench/timing.h"
#include "bench/workloads.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/nvrtc.h"

namespace {

namespace ta = tarry;
using bench::Ceiling;
using Json = nlohmann::ordered_json;

/// Numbers uniform in [0.1, 1) on a grid of 2^-24; element i of input k depends on k and i alone, so that workloads
/// share them.
class Numbers {
 public:
  /// The first `count` of input k.
  std::span<const float> get(std::size_t k, std::size_t count) {
    if (k >= pools_.size()) pools_.resize(k + 1);
    Pool& pool = pools_[k];
    if (pool.count < count) pool = make(k, count);
    return {pool.values.get(), count};
  }

 private:
  struct Pool {
    std::unique_ptr<float[]> values;
    std::size_t count = 0;
  };

  static Pool make(std::size_t k, std::size_t count) {
    Pool pool{std::make_unique_for_overwrite<float[]>(count), count};
    bench::for_ranges(count, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {  // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)
        std::uint64_t z = (i + (k << 40)) * 0x9e3779b97f4a7c15ULL;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
        pool.values[i] = static_cast<float>((z ^ z >> 31) >> 40) * 0x1p-24F * 0.9F + 0.1F;
      }
    });
    return pool;
  }

  std::vector<Pool> pools_;
};

/// The values in the device's own memory, as after an evaluation there.
ta::Array on_device(std::span<const float> values, const ta::Shape& shape) {
  ta::Array x = ta::borrow(values.data(), shape) + 0.0F;
  ta::evaluate(x);
  return x;
}

std::size_t count_of(const ta::Shape& shape) {
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

const char* name(Ceiling c) {
  switch (c) {
    case Ceiling::Copy: return "copy";
    case Ceiling::Read: return "read";
    case Ceiling::Write: return "write";
    case Ceiling::None: break;
  }
  return "";
}

double rate(const bench::Ceilings& machine, Ceiling c) {
  switch (c) {
    case Ceiling::Copy: return machine.copy;
    case Ceiling::Read: return machine.read;
    case Ceiling::Write: return machine.write;
    case Ceiling::None: break;
  }
  return 0;
}

struct Options {
  std::string device = "cpu", sizes = "default";
  std::vector<std::string> filter, modes{"strict"};
  bool json = false, check_only = false;

  [[nodiscard]] bool gpu() const { return device == "cuda"; }
  [[nodiscard]] bool wants(const char* workload) const {
    return filter.empty() || std::any_of(filter.begin(), filter.end(), [&](const std::string& pattern) {
             return ::fnmatch(pattern.c_str(), workload, 0) == 0;
           });
  }
  [[nodiscard]] bench::Sizes extents() const {
    if (sizes == "odd") return bench::odd_sizes();
    if (sizes == "least") return bench::least_sizes();
    return gpu() ? bench::gpu_sizes() : bench::cpu_sizes();
  }
};

/// Registers per thread of the kernel that has most, and bytes that kernels spill, by the compiler's report on what is
/// about to run.
Json resources(const bench::Arrays& lazy, const std::string& mode) {
  const ta::graph::Target& target = ta::runtime::backend(ta::cuda(0)).target();
  int registers = 0;
  std::int64_t spilled = 0;
  for (const std::string& text : ta::plan(std::span<const ta::Array>(lazy)).sources()) {
    const auto numerics = mode == "relaxed" ? ta::graph::Mode::Relaxed : ta::graph::Mode::Strict;
    for (const ta::runtime::KernelResources& k : ta::runtime::nvrtc_compile(text, target, numerics).resources) {
      registers = std::max(registers, k.registers);
      spilled += k.spill_store_bytes + k.spill_load_bytes;
    }
  }
  return {{"registers", registers}, {"spilled", spilled}};
}

/// One workload in one mode: {"err": ...} where it fails or its result is wrong.
Json run(const bench::Workload& w, const std::string& mode, const bench::HostInputs& host, const bench::Arrays& inputs,
         const bench::Ceilings& machine, const Options& options) {
  bench::Arrays results;
  ta::Report report;
  const auto call = [&] {
    results = w.record(inputs);
    report = ta::evaluate(std::span<const ta::Array>(results));
  };
  const bench::Stopwatch first;
  call();
  ta::synchronize();
  const double cold = first.seconds();
  const bench::Accuracy accuracy = w.check(host, results);
  if (!accuracy.holds())
    return {{"err", fmt::format("wrong result: error {:.3g}, allowed {:.3g}", accuracy.error, accuracy.allowed)}};
  Json row;
  if (!options.check_only) {
    const bench::Timing t = bench::measure(call, [] { ta::synchronize(); });
    row = {{"ms", 1e3 * t.back_to_back}, {"sync_ms", 1e3 * t.alone}, {"gbps", 1e-9 * w.bytes / t.back_to_back}};
    if (w.ceiling != Ceiling::None) {
      // A processor's memory is shared with whatever else runs on it: its ceiling is that of the same second.
      const double ceiling = rate(options.gpu() ? machine : bench::measure_ceilings(false), w.ceiling);
      row["ceiling"] = name(w.ceiling);
      row["ceiling_gbps"] = 1e-9 * ceiling;
      row["share"] = w.bytes / t.back_to_back / ceiling;
    }
  }
  const ta::Counters& c = report.counters();
  row.update(Json{{"cold_s", cold},
                  {"kernels", c.kernels},
                  {"launches", c.launches},
                  {"bytes", c.bytes_read + c.bytes_written},
                  {"error", accuracy.error}});
  if (options.gpu() && !options.check_only) row.update(resources(w.record(inputs), mode));
  return row;
}

void print(const Json& row) {
  if (row.contains("err")) {
    fmt::print("{:<15}{:<9}{}\n", row["w"].get<std::string>(), row["mode"].get<std::string>(),
               row["err"].get<std::string>());
    return;
  }
  fmt::print("{:<15}{:<9}", row["w"].get<std::string>(), row["mode"].get<std::string>());
  if (row.contains("ms")) fmt::print("{:>11.5f} ms {:>9.1f} GB/s", row["ms"].get<double>(), row["gbps"].get<double>());
  if (row.contains("share"))
    fmt::print("{:>7.1f} % {:<5}", 100 * row["share"].get<double>(), row["ceiling"].get<std::string>());
  fmt::print("  {} kernels, {} launches, {:.1f} MB, error {:.1e}\n", row["kernels"].get<int>(),
             row["launches"].get<int>(), 1e-6 * row["bytes"].get<double>(), row["error"].get<double>());
}

int run_all(const Options& options) {
  const ta::Scope placed(options.gpu() ? ta::cuda(0) : ta::cpu);
  bench::Ceilings machine;
  if (!options.check_only) {
    machine = bench::measure_ceilings(options.gpu());
    const Json row{{"peer", "tarry"},
                   {"device", options.device},
                   {"copy_gbps", 1e-9 * machine.copy},
                   {"read_gbps", 1e-9 * machine.read},
                   {"write_gbps", 1e-9 * machine.write}};
    options.json ? fmt::print("{}\n", row.dump())
                 : fmt::print("{}: copy {:.1f} GB/s, read {:.1f} GB/s, write {:.1f} GB/s\n", options.device,
                              1e-9 * machine.copy, 1e-9 * machine.read, 1e-9 * machine.write);
  }
  bool good = true;
  std::vector<bench::Workload> workloads = bench::workloads(options.extents());
  std::erase_if(workloads, [&](const bench::Workload& w) { return !options.wants(w.name); });
  if (workloads.empty())
    throw std::invalid_argument(fmt::format("no workload is called {}", fmt::join(options.filter, " or ")));
  Numbers numbers;
  for (const bench::Workload& w : workloads) {
    bench::HostInputs host;
    bench::Arrays inputs;
    for (const std::string& mode : options.modes) {
      Json row{{"peer", "tarry"}, {"w", w.name}, {"mode", mode}};
      try {
        for (std::size_t i = inputs.size(); i < w.inputs.size(); ++i) {
          host.push_back(numbers.get(i, count_of(w.inputs[i])));
          inputs.push_back(on_device(host[i], w.inputs[i]));
        }
        const ta::Scope numerics(mode == "relaxed" ? ta::relaxed : ta::strict);
        row.update(run(w, mode, host, inputs, machine, options));
      } catch (const std::exception& error) {
        row["err"] = error.what();
      }
      good = good && !row.contains("err");
      options.json ? fmt::print("{}\n", row.dump()) : print(row);
      std::fflush(stdout);
    }
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Workloads through the public API, checked, then timed beside the machine's ceilings");
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--filter", options.filter, "only workloads of these names; * stands for anything");
  app.add_option("--mode", options.modes, "strict, relaxed or both")->check(CLI::IsMember({"strict", "relaxed"}));
  app.add_option("--sizes", options.sizes, "default, odd or least")->check(CLI::IsMember({"default", "odd", "least"}));
  app.add_flag("--json", options.json, "one JSON object per line");
  app.add_flag("--check-only", options.check_only, "check the results, measure nothing");
  CLI11_PARSE(app, argc, argv);
  try {
    return run_all(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarry_bench: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
