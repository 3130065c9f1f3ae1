// Time of the C compiler for the kernels of the workloads: a process's first kernel, and each further one of a plan,
// which is the same workload over another expression of arrays of its own. From the request to the loaded kernel,
// nothing cached, the compiler's name known; the least and the median of several processes.
#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "bench/workloads.h"

namespace ta = tarry;

namespace {

constexpr int kVariants = 5;

/// Extents of the classes that the CPU's sizes have, but small: kernels are compiled here, not timed. No two variants
/// fuse.
bench::Sizes sizes(int variant) {
  const std::int64_t more = 128 * variant;
  return {.vector = (1 << 18) + more,
          .pair = (1 << 18) + more,
          .reduced = (1 << 20) + more,
          .rows = 64 + variant,
          .columns = 4096,
          .square = 2048 + more,
          .points = 512 + more,
          .centres = 1024 + more,
          .small = 1024 + more,
          .small_grid = 256 + more,
          .grid = 2048 + more,
          .draws = (1 << 20) + more,
          .units = 256 + more,
          .features = 64,
          .samples = 256};
}

ta::Array expression(const ta::Array& x, int variant) {
  switch (variant) {
    case 0: return x;
    case 1: return x * x;
    case 2: return 3.0f * x + 1.0f;
    case 3: return ta::abs(x) - 0.5f;
    default: return x * x * x;
  }
}

double processor_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Compiles `count` variants and prints how many kernels were compiled and the milliseconds, elapsed and of the
/// compiler.
int child(const std::string& name, int count) {
  ta::evaluate(ta::full({4}, 1.0f) + 1.0f);  // finds the compiler
  std::vector<ta::Array> roots;
  for (int variant = 0; variant < count; ++variant)
    for (const bench::Workload& w : bench::workloads(sizes(variant))) {
      if (w.name != name) continue;
      bench::Arrays inputs;
      for (const ta::Shape& shape : w.inputs) {
        std::int64_t elements = 1;
        for (const std::int64_t extent : shape) elements *= extent;
        const ta::Array x = ta::asarray(std::vector<float>(static_cast<std::size_t>(elements), 0.5f), shape);
        inputs.push_back(expression(x, variant));
      }
      for (const ta::Array& result : w.record(inputs)) roots.push_back(result);
    }
  const double before = processor_seconds(RUSAGE_CHILDREN);
  const ta::Report report = ta::evaluate(roots);
  std::printf("%lld %.6f %.6f\n", static_cast<long long>(report.counters().compiles), 1e3 * report.seconds().compile,
              1e3 * (processor_seconds(RUSAGE_CHILDREN) - before));
  return 0;
}

struct Times {
  long long compiles = 0;
  double least = 1e30, median = 0, processor = 1e30;
};

Times measure(const std::string& self, const std::string& name, int count, int samples) {
  const std::string command =
      "TARRY_CACHE_DIR=off TARRY_DEVICE=cpu '" + self + "' --child " + name + " --kernels " + std::to_string(count);
  Times times;
  std::vector<double> elapsed;
  for (int i = 0; i < samples; ++i) {
    std::FILE* const output = ::popen(command.c_str(), "r");
    if (output == nullptr) throw std::runtime_error("cannot run " + command);
    double ms = 0, processor = 0;
    const int fields = std::fscanf(output, "%lld %lf %lf", &times.compiles, &ms, &processor);
    if (::pclose(output) != 0 || fields != 3) throw std::runtime_error("failed: " + command);
    elapsed.push_back(ms);
    times.processor = std::min(times.processor, processor);
  }
  std::sort(elapsed.begin(), elapsed.end());
  times.least = elapsed.front();
  times.median = elapsed[elapsed.size() / 2];
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What the C compiler takes for the workloads' kernels"};
  int samples = 9, kernels = 1;
  std::vector<std::string> filter;
  std::string of_child;
  app.add_option("--samples", samples, "processes per measurement")->check(CLI::Range(1, 60));
  app.add_option("--filter", filter, "workloads, all unless named");
  app.add_option("--kernels", kernels)->group("")->check(CLI::Range(1, kVariants));
  app.add_option("--child", of_child)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!of_child.empty()) return child(of_child, kernels);
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::printf("milliseconds             one kernel                      each further\n%-16s %9s %9s %9s %12s %9s\n",
                "", "least", "median", "processor", "least", "processor");
    for (const bench::Workload& w : bench::workloads(sizes(0))) {
      if (!filter.empty() && std::find(filter.begin(), filter.end(), w.name) == filter.end()) continue;
      const Times one = measure(self, w.name, 1, samples), all = measure(self, w.name, kVariants, samples);
      std::printf("%-16s %9.1f %9.1f %9.1f", w.name, one.least, one.median, one.processor);
      const auto further = static_cast<double>(all.compiles - one.compiles);
      if (further > 0)
        std::printf(" %12.1f %9.1f", (all.least - one.least) / further, (all.processor - one.processor) / further);
      std::printf("\n");
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile_times: %s\n", error.what());
    return 1;
  }
  return 0;
}
