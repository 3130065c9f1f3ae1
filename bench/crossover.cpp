// The cost of work and transfers on both sides of the bus: the figures of kCosts in runtime/plan/placement.h, and how
// often they choose the faster side. Without a GPU only the host's are measured.
#include <fmt/format.h>
#include <tarry/tarry.h>

#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "bench/timing.h"
#include "runtime/plan/placement.h"

namespace ta = tarry;

namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 27;  // elements

/// Nanoseconds of the fastest of seven calls, what was enqueued done.
double best_ns(const std::function<void()>& call) {
  double best = std::numeric_limits<double>::infinity();
  call();
  for (int i = 0; i < 7; ++i) {
    ta::synchronize();
    const bench::Stopwatch watch;
    call();
    ta::synchronize();
    best = std::min(best, 1e9 * watch.seconds());
  }
  return best;
}

const float* numbers() {
  static const std::vector<float> all(static_cast<std::size_t>(kLarge), 1.5F);
  return all.data();
}

/// Arrays that no evaluate has seen; the memory is what it was.
ta::Array fresh(std::int64_t count) { return ta::borrow(numbers(), {count}); }

/// A sum, and `steps` multiplications and as many additions before it.
ta::Array long_sum(const ta::Array& x, int steps) {
  ta::Array y = x;
  for (int i = 0; i < steps; ++i) y = y * 0.999F + 0.001F;
  return ta::sum(y);
}

/// A small graph over `operands` fresh arrays.
double small_ns(int operands, std::int64_t count) {
  return best_ns([&] {
           for (int round = 0; round < 50; ++round) {
             ta::Array sum = fresh(count) * 2.0F;
             for (int i = 1; i < operands; ++i) sum = sum + fresh(count);
             ta::evaluate(sum);
           }
         }) /
         50;
}

struct Host {
  double start, bytes, operations;  // ns, bytes per ns, operations per ns
};

/// With as many threads as this process has.
Host measure_host() {
  const ta::Scope placed(ta::cpu);
  constexpr int kSteps = 40;
  const double sum = best_ns([] { ta::evaluate(long_sum(fresh(kLarge), 0)); });
  const double with_steps = best_ns([] { ta::evaluate(long_sum(fresh(kLarge), kSteps)); });
  return {small_ns(1, 64), 4.0 * kLarge / sum, (2.0 * kSteps + 1) * kLarge / with_steps};
}

/// The same in a process of its own with `threads` threads: they are counted when the library starts.
Host measure_host_with(int threads) {
  std::fflush(stdout);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TARRY_NUM_THREADS", std::to_string(threads).c_str(), 1);
    const Host host = measure_host();
    const bool sent = ::write(ends[1], &host, sizeof host) == sizeof host;
    std::_Exit(sent ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  Host host{};
  ::close(ends[1]);
  const bool read = ::read(ends[0], &host, sizeof host) == sizeof host;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (!read) throw std::runtime_error("a measuring process failed");
  return host;
}

double crossing_rate(std::int64_t count) {
  return 4.0 * static_cast<double>(count) / best_ns([&] { ta::evaluate(fresh(count) * 2.0F); });
}

/// Reductions on both sides, and what the table would have chosen.
void compare_reductions(int threads) {
  int right = 0, all = 0;
  double worst = 1;
  fmt::print("\n{:>12} {:>6} {:>10} {:>10} {:>10} {:>10}  reductions\n", "elements", "steps", "host ms", "foretold",
             "device ms", "foretold");
  for (const std::int64_t count : {std::int64_t{1} << 19, std::int64_t{1} << 22, std::int64_t{1} << 25, kLarge})
    for (const int steps : {0, 4, 16, 64, 256}) {
      const auto on = [&](ta::Device device) {
        const ta::Scope placed(device);
        return best_ns([&] { ta::evaluate(long_sum(fresh(count), steps)); });
      };
      const double host = on(ta::cpu), device = on(ta::cuda());
      const double host_foretold =
          ta::runtime::host_ns(4 * count, (2.0 * steps + 1) * static_cast<double>(count), threads);
      const double device_foretold = ta::runtime::crossing_ns(4 * count, 1, threads);
      const bool good = (host < device) == (host_foretold < device_foretold);
      right += good ? 1 : 0;
      ++all;
      if (!good) worst = std::max(worst, std::max(host, device) / std::min(host, device));
      fmt::print("{:>12} {:>6} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}  {}\n", count, steps, host * 1e-6,
                 host_foretold * 1e-6, device * 1e-6, device_foretold * 1e-6, good ? "" : "the other would be faster");
    }
  fmt::print("{} of {} chosen right; the others cost at most {:.2f} times the faster\n", right, all, worst);
}

void compare_small() {
  fmt::print("\n{:>12} {:>9} {:>10} {:>10} {:>10} {:>10}  small graphs\n", "elements", "operands", "host us",
             "foretold", "device us", "foretold");
  for (const int operands : {1, 2, 4})
    for (std::int64_t count = 64; count <= std::int64_t{1} << 20; count *= 4) {
      const auto on = [&](ta::Device device) {
        const ta::Scope placed(device);
        return small_ns(operands, count);
      };
      const double host = on(ta::cpu), device = on(ta::cuda());
      const auto bytes = 4 * operands * count;
      fmt::print("{:>12} {:>9} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}\n", count, operands, host * 1e-3,
                 ta::runtime::host_ns(bytes + 4 * count, static_cast<double>(operands * count), 1) * 1e-3,
                 device * 1e-3,
                 (ta::runtime::kCosts.device_start + ta::runtime::crossing_ns(bytes, operands, 1)) * 1e-3);
    }
}

void run() {
  ::setenv("TARRY_DISABLE", "placement", 1);  // each side is measured by itself
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  const Host one = measure_host_with(1), all = measure_host_with(threads);
  const auto& table = ta::runtime::kCosts;
  const auto row = [](const char* what, double measured, double in_table) {
    fmt::print("{:<42} {:>10.2f} {:>10.2f}\n", what, measured, in_table);
  };
  fmt::print("{:<42} {:>10} {:>10}\n", "", "measured", "kCosts");
  row("evaluate on the host, ns", one.start, table.host_start);
  row("bytes read per ns by a thread", one.bytes, table.host_bytes);
  row(fmt::format("bytes read per ns by {}", threads).c_str(), all.bytes,
      std::min(threads * table.host_bytes, table.host_bytes_most));
  row("operations per ns by a thread", one.operations, table.host_operations);
  row(fmt::format("operations per ns by {}", threads).c_str(), all.operations, threads * table.host_operations);
  if (ta::devices().size() < 2) return;
  {
    const ta::Scope placed(ta::cuda());
    const double copy = (small_ns(5, 64) - small_ns(1, 64)) / 4;
    row("evaluate on the GPU, ns", small_ns(1, 64) - copy, table.device_start);
    row("a copy to the GPU, ns", copy, table.copy_start);
    row("bytes of 16 MiB that cross per ns", crossing_rate(kLarge / 32),
        std::min(threads * table.crossing_bytes, table.crossing_small));
    row("bytes of 512 MiB that cross per ns", crossing_rate(kLarge),
        std::min(threads * table.crossing_bytes, table.crossing_most));
  }
  compare_reductions(threads);
  compare_small();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What work and transfers cost on both sides of the bus, beside the table that placement goes by"};
  CLI11_PARSE(app, argc, argv);
  try {
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "crossover: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
