// `tarry warm`: compiles the kernels of recorded programs, with a progress bar on a terminal and plain lines elsewhere.
#include <fmt/format.h>
#include <tarry/warm.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/commands.h"
#include "tools/output.h"

namespace tarry::tools {
namespace {

using Clock = std::chrono::steady_clock;

std::string amount(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 10 * 1024) return fmt::format("{} B", bytes);
  if (bytes < 10 * 1024 * 1024) return fmt::format("{:.1f} KiB", size / 1024);
  return fmt::format("{:.1f} MiB", size / (1024 * 1024));
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Standard error: a bar that redraws itself where somebody watches, a line now and then elsewhere.
class ProgressView {
 public:
  void show(const WarmProgress& p) {
    const Clock::time_point now = Clock::now();
    plans_ = std::max(plans_, p.plans_left + 1);   // the first call comes when one is made
    if (p.compiled + p.failed == 0) start_ = now;  // planning and looking up say nothing about compiling
    const std::int64_t done = p.hits + p.compiled + p.failed;
    const bool last = p.kernels > 0 && done == p.kernels;
    if (!last && now - shown_ < (terminal_ ? kRedraw : kLine)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(p.compiled + p.failed) / seconds : 0;
    const std::string failed = p.failed ? fmt::format(", {} failed", p.failed) : "";
    const std::string left =
        rate > 0 ? fmt::format(", {:.1f}/s, {} left", rate, duration(static_cast<double>(p.kernels - done) / rate))
                 : "";
    const bool planning = p.kernels == 0;
    const std::string text = planning ? fmt::format("planning, {} left", p.plans_left)
                                      : fmt::format("{} of {} kernels{}{}", done, p.kernels, failed, left);
    if (terminal_) {
      const std::int64_t all = planning ? plans_ : p.kernels, finished = planning ? plans_ - p.plans_left : done;
      const std::int64_t full = kBar * finished / all;
      fmt::print(stderr, "\r\033[K[{:#>{}}{:->{}}] {}", "", full, "", kBar - full, text);
      drawn_ = true;
    } else {
      say(stderr, "{}\n", text);
    }
    std::fflush(stderr);
  }
  /// Leaves the terminal as it was.
  void clear() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    drawn_ = false;
  }

 private:
  static constexpr std::int64_t kBar = 30;
  static constexpr Clock::duration kRedraw = std::chrono::milliseconds(100), kLine = std::chrono::seconds(5);
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool drawn_ = false;
  std::int64_t plans_ = 1;
  Clock::time_point start_ = Clock::now(), shown_ = terminal_ ? start_ - kRedraw : start_;  // a bar is there at once
};

void print_failures(const WarmReport& report) {
  for (const WarmFailure& f : report.failures) {
    say(stderr, "failed: {} for {}\n", f.kernel.empty() ? "plan" : f.kernel, f.target);
    if (!f.ops.empty()) say(stderr, "  ops: {}\n", f.ops);
    std::string_view rest = f.message;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (!line.empty()) say(stderr, "  {}\n", line);
    }
  }
}

void print_table(const WarmReport& report) {
  say("{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>12}\n", "evaluates", "kernels", "hits", "compiled", "failed",
      "seconds", "bytes");
  say("{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9.2f}  {:>12}\n", report.evaluates, report.kernels, report.hits,
      report.compiled, report.failed, report.seconds, amount(report.bytes));
}

void print_json(const WarmReport& report) {
  nlohmann::ordered_json json = {{"evaluates", report.evaluates}, {"kernels", report.kernels},
                                 {"hits", report.hits},           {"compiled", report.compiled},
                                 {"failed", report.failed},       {"seconds", report.seconds},
                                 {"bytes", report.bytes}};
  json["failures"] = nlohmann::ordered_json::array();
  for (const WarmFailure& f : report.failures)
    json["failures"].push_back({{"kernel", f.kernel}, {"target", f.target}, {"ops", f.ops}, {"message", f.message}});
  say("{}\n", text_of(json));
}

struct Arguments {
  std::vector<std::string> manifests;
  std::string archs, cpus;  // separated by commas: an option that takes many words would swallow the manifests
  std::string extents = "seen";
  WarmOptions options;
  bool json = false;
};

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    if (!word.empty()) all.emplace_back(word);
  }
  return all;
}

void run(Arguments& arguments) {
  WarmOptions& options = arguments.options;
  options.targets = words(arguments.archs);
  for (std::string& cpu : words(arguments.cpus)) options.targets.push_back(std::move(cpu));
  options.all_extents = arguments.extents == "all";
  ProgressView view;
  options.progress = [&view](const WarmProgress& p) { view.show(p); };
  WarmReport report;
  try {
    report = warm(arguments.manifests, options);
  } catch (...) {
    view.clear();
    throw;
  }
  view.clear();
  print_failures(report);
  arguments.json ? print_json(report) : print_table(report);
  if (!report.failures.empty()) fail();
}

}  // namespace

void add_warm(CLI::App& program) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("warm", "Compile the kernels of recorded programs; needs no GPU");
  command->footer(
      "A manifest is what TARRY_RECORD=file wrote. An interrupted run goes on where it stopped. Exit status 1 if any "
      "kernel\n"
      "failed.\n\n"
      "  TARRY_RECORD=app.manifest ./app\n"
      "  tarry warm app.manifest --arch sm_80,sm_90 --cpu v3 --out app.bundle\n"
      "  TARRY_CACHE_PATH=app.bundle TARRY_REQUIRE_CACHED=1 ./app");
  command->add_option("MANIFEST", arguments->manifests, "Manifests")->required()->check(CLI::ExistingFile);
  command->add_option("--arch", arguments->archs,
                      "GPUs: sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120; with commas between");
  command->add_option("--cpu", arguments->cpus,
                      "CPUs: v2, v3, v4 (of x86-64), armv8-a; without --arch and --cpu: this machine");
  command->add_option("--out", arguments->options.out, "Directory, or FILE.bundle; default TARRY_CACHE_DIR");
  command->add_option("--extents", arguments->extents, "Extents to build for: those seen, or all classes of them")
      ->check(CLI::IsMember({"seen", "all"}))
      ->capture_default_str();
  command->add_option("--jobs", arguments->options.jobs, "Threads; default one per core")->check(CLI::PositiveNumber);
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tarry::tools
