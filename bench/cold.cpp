// The cost of a first use: compiling a kernel of ten operations through NVRTC and through the C compiler, and loading
// the first kernel of black_scholes in a process that finds it on disk.
#include <tarry/tarry.h>
#include <tarry/warm.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace ta = tarry;
namespace fs = std::filesystem;

namespace {

std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 0.5f * static_cast<float>(i + 1);
  return v;
}

/// Ten operations; every number from 0 to 63 gives another kernel.
ta::Array ten_operations(int number) {
  const ta::Array x = ta::asarray(ramp(1000)), y = ta::asarray(ramp(1000));
  ta::Array z = (x * 2.0f + y) / (y + 1.0f);
  for (int bit = 0; bit < 6; ++bit) z = (number >> bit & 1) != 0 ? z * y : z + x;
  return z;
}

ta::Array cdf(const ta::Array& x) { return 0.5f * (1.0f + ta::erf(x * 0.70710678f)); }

/// As in examples/black_scholes.cpp.
ta::Array black_scholes() {
  const ta::Array s = ta::asarray(ramp(10000)), k = ta::asarray(ramp(10000)), t = ta::asarray(ramp(10000));
  const float r = 0.05f, v = 0.2f;
  const ta::Array spread = v * ta::sqrt(t), d1 = (ta::log(s / k) + (r + 0.5f * v * v) * t) / spread;
  return s * cdf(d1) - k * ta::exp(-r * t) * cdf(d1 - spread);
}

double processor_seconds() {
  const auto of = [](int who) {
    rusage usage{};
    ::getrusage(who, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  return of(RUSAGE_SELF) + of(RUSAGE_CHILDREN);
}

/// Elapsed and processor time of calls, in milliseconds.
struct Samples {
  std::vector<double> elapsed, processor;

  void add(const std::function<void()>& call) {
    const double before = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    call();
    elapsed.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    processor.push_back(1e3 * (processor_seconds() - before));
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

class Table {
 public:
  void row(const char* key, const char* what, double value, double target) {
    json_[key] = value;
    if (!quiet) std::printf("%-66s %9.3f ms   (target %g ms)\n", what, value, target);
  }
  void row(const char* key, const char* what, double value) {
    json_[key] = value;
    if (!quiet) std::printf("%-66s %9.3f ms\n", what, value);
  }
  [[nodiscard]] std::string json() const { return json_.dump(2); }
  bool quiet = false;

 private:
  nlohmann::ordered_json json_;
};

void measure_c(Table& table, int samples) {
  ::setenv("TARRY_CACHE_DIR", "off", 1);
  ta::evaluate(ten_operations(63));  // finds the compiler
  Samples times;
  for (int i = 0; i < samples; ++i) times.add([&] { ta::evaluate(ten_operations(i)); });
  table.row("c_ms", "C compiler, kernel of ten operations: evaluate, median", median(times.elapsed), 40);
  table.row("c_processor_ms", "  the same, processor time", median(times.processor));
  table.row("c_best_ms", "  the same, best", *std::min_element(times.elapsed.begin(), times.elapsed.end()));
}

void measure_nvrtc(Table& table, const fs::path& directory, int samples) {
  std::vector<std::string> manifests;
  for (int i = 0; i <= samples; ++i) {
    manifests.push_back((directory / ("manifest" + std::to_string(i))).string());
    const ta::Recording recording(manifests.back());
    ta::evaluate(ten_operations(i));
  }
  const auto warm = [&](int i) {
    const ta::WarmReport report = ta::warm({&manifests[static_cast<std::size_t>(i)], 1},
                                           {.targets = {"sm_90"}, .out = (directory / "kernels").string(), .jobs = 1});
    if (report.failed != 0 || report.compiled == 0) throw std::runtime_error("NVRTC compiled nothing");
  };
  Samples first, times;
  first.add([&] { warm(samples); });
  for (int i = 0; i < samples; ++i) times.add([&] { warm(i); });
  table.row("nvrtc_ms", "NVRTC, kernel of ten operations for sm_90: plan to file, median", median(times.elapsed), 30);
  table.row("nvrtc_processor_ms", "  the same, processor time", median(times.processor));
  table.row("nvrtc_best_ms", "  the same, best", *std::min_element(times.elapsed.begin(), times.elapsed.end()));
  table.row("nvrtc_first_ms", "  the first of the process, which loads libnvrtc", first.elapsed[0]);
}

/// The cost of the first kernel of a process that has just started.
int child() {
  const ta::Report report = ta::evaluate(black_scholes());
  const auto history = ta::kernel_history();
  std::printf("%d %.6f %.6f\n", history.size() == 1 && history[0].hit == ta::KernelHit::Disk,
              1e3 * history.at(0).load_seconds, 1e3 * report.seconds().compile);
  return 0;
}

void measure_disk(Table& table, const fs::path& directory, const std::string& self, int samples) {
  const std::string command = "TARRY_CACHE_DIR='" + (directory / "cache").string() + "' '" + self + "' --child";
  const auto run = [&] {
    std::FILE* const output = ::popen(command.c_str(), "r");
    if (output == nullptr) throw std::runtime_error("cannot run " + command);
    int hit = 0;
    std::array<double, 2> times{};
    const int fields = std::fscanf(output, "%d %lf %lf", &hit, &times[0], &times[1]);
    if (::pclose(output) != 0 || fields != 3) throw std::runtime_error("failed: " + command);
    return std::pair(hit == 1, times);
  };
  run();
  std::vector<double> loads, totals;
  for (int i = 0; i < samples; ++i) {
    const auto [hit, times] = run();
    if (!hit) throw std::runtime_error("the second process did not find the kernel");
    loads.push_back(times[0]);
    totals.push_back(times[1]);
  }
  table.row("load_ms", "second process, first kernel of black_scholes: load, median", median(loads), 1);
  table.row("second_process_ms", "  from request to loaded, the compiler being known", median(totals), 1);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What a first use of a kernel costs"};
  int samples = 21;
  bool json = false, is_child = false;
  app.add_option("--samples", samples, "kernels per measurement, at most 60")->check(CLI::Range(1, 60));
  app.add_flag("--json", json, "figures as JSON");
  app.add_flag("--child", is_child)->group("");
  CLI11_PARSE(app, argc, argv);
  if (is_child) return child();

  std::string pattern = (fs::temp_directory_path() / "tarry-cold-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const fs::path directory = pattern;
  Table table;
  table.quiet = json;
  int status = 0;
  try {
    const ta::Scope placed(ta::cpu);
    ::setenv("TARRY_DEVICE", "cpu", 1);
    measure_c(table, samples);
    measure_disk(table, directory, fs::read_symlink("/proc/self/exe").string(), samples);
    measure_nvrtc(table, directory, samples);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cold: %s\n", error.what());
    status = 1;
  }
  if (json) std::printf("%s\n", table.json().c_str());
  std::error_code ignored;
  fs::remove_all(directory, ignored);
  return status;
}
