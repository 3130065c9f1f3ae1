// The programs of programs.def on one device: step by step, each with what it launches, moves, plans and compiles.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/programs/inputs.h"
#include "bench/programs/program.h"
#include "bench/timing.h"

namespace bench {

std::span<const ProgramRow> program_rows() {
  static const std::vector<ProgramRow> rows = {
#define TARRY_PROGRAM(name, ...) {#name, {__VA_ARGS__}, name},
#include "bench/programs/programs.def"
#undef TARRY_PROGRAM
  };
  return rows;
}

}  // namespace bench

namespace {

namespace ta = tarry;
using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> names, dtypes;
  std::string device = "cpu", size = "full", save;
  int steps = 3;
  bool json = false, list = false, plan = false, kernels = false;

  [[nodiscard]] bench::Size extents() const {
    if (size == "small") return bench::Size::Small;
    return device == "cuda" ? bench::Size::Gpu : bench::Size::Cpu;
  }
};

/// A program and the arrays of its next step.
class Running {
 public:
  Running(const bench::Program& program, ta::Dtype dtype) : program_(program) {
    for (const bench::Input& input : program.inputs) inputs_.push_back(bench::make_input(input, inputs_.size(), dtype));
  }

  ta::Report step() {
    record();
    const ta::Report report = ta::evaluate(std::span<const ta::Array>(results_));
    std::copy_n(results_.begin(), program_.state, inputs_.begin());
    return report;
  }
  ta::Plan plan() {
    record();
    return ta::plan(std::span<const ta::Array>(results_));
  }
  [[nodiscard]] const bench::Arrays& results() const { return results_; }

 private:
  /// The next step. Nothing but the step keeps the old state, as in a user's loop: it may be updated in place.
  void record() {
    results_.clear();
    const bench::Arrays inputs = inputs_;
    std::fill_n(inputs_.begin(), program_.state, ta::Array());
    results_ = program_.step(inputs);
  }

  bench::Program program_;
  bench::Arrays inputs_, results_;
};

/// All that makes the program's inputs elsewhere.
Json description(const bench::Program& program, ta::Dtype dtype) {
  Json inputs = Json::array();
  for (const bench::Input& input : program.inputs) {
    inputs.push_back({{"shape", input.shape.vector()},
                      {"low", input.low},
                      {"high", input.high},
                      {"dtype", ta::name(input.dtype.value_or(dtype))}});
  }
  return {{"state", program.state}, {"inputs", inputs}};
}

/// Milliseconds of planning: all between the recorded nodes and the compiler.
double planning(const ta::Report& report) {
  const ta::Seconds& s = report.seconds();
  return 1e3 * (s.snapshot + s.optimise + s.schedule + s.generate);
}

/// Seconds of all cores together, of this process or of the compilers that it started.
double processor_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Seconds a step: median of five samples, each of as many steps as take about 0.1 s; and the least of all cores.
struct Times {
  double clock, processor;
};
Times measure(Running& running) {
  const auto timed = [&](int steps) -> Times {
    ta::synchronize();
    const bench::Stopwatch watch;
    const double before = processor_seconds(RUSAGE_SELF);
    for (int i = 0; i < steps; ++i) running.step();
    ta::synchronize();
    return {watch.seconds() / steps, (processor_seconds(RUSAGE_SELF) - before) / steps};
  };
  const int steps = static_cast<int>(std::clamp(0.1 / std::max(timed(1).clock, 1e-6), 1.0, 200.0));
  std::array<double, 5> clock{}, processor{};
  for (std::size_t i = 0; i < clock.size(); ++i) {
    const Times t = timed(steps);
    clock[i] = t.clock;
    processor[i] = t.processor;
  }
  std::sort(clock.begin(), clock.end());
  return {clock[clock.size() / 2], *std::min_element(processor.begin(), processor.end())};
}

/// The first step, the second, and with `steps` done what one of them takes.
Json run(Running& running, const Options& options) {
  const bench::Stopwatch watch;
  const double before = processor_seconds(RUSAGE_SELF), before_compilers = processor_seconds(RUSAGE_CHILDREN);
  const ta::Report first = running.step();
  ta::synchronize();
  Json row{{"first_s", watch.seconds()},
           {"first_cpu_s", processor_seconds(RUSAGE_SELF) - before},
           {"compiler_cpu_s", processor_seconds(RUSAGE_CHILDREN) - before_compilers},
           {"plan_ms", planning(first)},
           {"compiles", first.counters().compiles}};
  ta::Report report = first;
  for (int i = 1; i < options.steps; ++i) {
    report = running.step();
    if (i == 1) row.update(Json{{"second_plan_ms", planning(report)}, {"second_compiles", report.counters().compiles}});
  }
  const ta::Counters& c = report.counters();
  const std::int64_t bytes = c.bytes_read + c.bytes_written;
  row.update(Json{
      {"nodes", c.nodes},
      {"kernels", c.kernels},
      {"launches", c.launches},
      {"bytes", bytes},
      {"bytes_lower_bound", c.bytes_lower_bound},
      {"ratio", static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(c.bytes_lower_bound, 1))}});
  return row;
}

/// The kernels of a step, dearest first: milliseconds and launches a step, GB/s.
void print_kernels(Running& running) {
  constexpr std::int64_t steps = 20;
  const std::vector<ta::KernelRecord> before = ta::kernel_history();
  for (std::int64_t i = 0; i < steps; ++i) running.step();
  ta::synchronize();
  std::vector<ta::KernelRecord> kernels = ta::kernel_history();
  for (const ta::KernelRecord& old : before) {
    const auto k = std::find_if(kernels.begin(), kernels.end(), [&](const auto& now) { return now.key == old.key; });
    k->run_seconds -= old.run_seconds;
    k->launches -= old.launches;
    k->measured_launches -= old.measured_launches;
    k->bytes_read -= old.bytes_read;
    k->bytes_written -= old.bytes_written;
  }
  std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.run_seconds > b.run_seconds; });
  for (const ta::KernelRecord& k : kernels) {
    if (k.measured_launches == 0) continue;
    fmt::print("  {:>9.3f} ms a step  {:>5.1f} launches  {:>7.1f} GB/s  {}\n",
               1e3 * k.run_seconds / static_cast<double>(steps),
               static_cast<double>(k.launches) / static_cast<double>(steps),
               1e-9 * static_cast<double>(k.bytes_read + k.bytes_written) / std::max(k.run_seconds, 1e-12), k.name);
  }
}

void print(const Json& row) {
  fmt::print("{:<20}{:<9}", row["w"].get<std::string>(), row["dtype"].get<std::string>());
  if (row.contains("err")) {
    fmt::print("{}\n", row["err"].get<std::string>());
    return;
  }
  if (row.contains("ms")) fmt::print("{:>11.4f} ms", row["ms"].get<double>());
  fmt::print(
      "{:>5} kernels {:>5} launches {:>9.2f} MB {:>6.2f} of the floor, planned in {:>7.1f} ms, first {:>6.2f} s, "
      "{} + {} compiled\n",
      row["kernels"].get<int>(), row["launches"].get<int>(), 1e-6 * row["bytes"].get<double>(),
      row["ratio"].get<double>(), row["plan_ms"].get<double>(), row["first_s"].get<double>(),
      row["compiles"].get<int>(), row.value("second_compiles", 0));
}

Json row_of(const bench::ProgramRow& entry, ta::Dtype dtype, const Options& options) {
  Json row{{"peer", "tarry"}, {"w", entry.name}, {"dtype", ta::name(dtype)}};
  try {
    const ta::Scope floats(dtype);
    const bench::Program program = entry.make({options.extents(), dtype});
    row.update(description(program, dtype));
    if (options.list) return row;
    Running running(program, dtype);
    if (options.plan) {
      fmt::print("{} {}\n{}\n", entry.name, ta::name(dtype), running.plan().str());
      return row;
    }
    row.update(run(running, options));
    for (std::size_t i = 0; !options.save.empty() && i < running.results().size(); ++i)
      ta::save_npy(fmt::format("{}/{}.{}.{}.npy", options.save, entry.name, ta::name(dtype), i), running.results()[i]);
    if (options.kernels) {
      fmt::print("{} {}\n", entry.name, ta::name(dtype));
      print_kernels(running);
    } else if (options.save.empty()) {
      const Times t = measure(running);
      row.update(Json{{"ms", 1e3 * t.clock}, {"cpu_ms", 1e3 * t.processor}});
    }
  } catch (const std::exception& error) {
    row["err"] = error.what();
  }
  return row;
}

int run_all(const Options& options) {
  const ta::Scope placed(options.device == "cuda" ? ta::cuda(0) : ta::cpu);
  const auto wanted = [](const std::vector<std::string>& list, std::string_view name) {
    return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
  };
  bool good = true, any = false;
  for (const bench::ProgramRow& entry : bench::program_rows()) {
    for (const ta::Dtype dtype : entry.dtypes) {
      if (!wanted(options.names, entry.name) || !wanted(options.dtypes, ta::name(dtype))) continue;
      const Json row = row_of(entry, dtype, options);
      any = true;
      good = good && !row.contains("err");
      if (options.json || options.list)
        fmt::print("{}\n", row.dump());
      else if ((!options.plan && !options.kernels) || row.contains("err"))
        print(row);
      std::fflush(stdout);
    }
  }
  if (!any) throw std::invalid_argument(fmt::format("no program is called {}", fmt::join(options.names, " or ")));
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Programs through the public API: a step of each, with what it launches, moves, plans and compiles");
  app.add_option("names", options.names, "only programs of these names");
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--size", options.size, "small (to check) or full (to measure)")
      ->check(CLI::IsMember({"small", "full"}));
  app.add_option("--dtype", options.dtypes, "only with floats of these dtypes");
  app.add_option("--steps", options.steps, "steps before results are saved or anything is timed")
      ->check(CLI::PositiveNumber);
  app.add_option("--save", options.save, "measure nothing, write the results as .npy into this folder");
  app.add_flag("--json", options.json, "one JSON object per line");
  app.add_flag("--list", options.list, "run nothing, print inputs as JSON");
  app.add_flag("--plan", options.plan, "run nothing, print the plan of the first step");
  app.add_flag("--kernels", options.kernels, "print what each kernel of a step takes (a GPU needs TARRY_SYNC=1)");
  CLI11_PARSE(app, argc, argv);
  try {
    return run_all(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarry_programs: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
