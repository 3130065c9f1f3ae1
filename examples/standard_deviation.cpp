// Mean and standard deviation of values that lie far from zero: one kernel, one read. The textbook one-pass formula
// E[x^2] - E[x]^2 loses every digit here; Tarry combines moments by Chan's rule on a tree (docs/reference/numerics.md).
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"

namespace ta = tarry;

namespace {

struct Moments {
  double mean = 0, deviation = 0;
};

/// Two passes in double precision.
Moments reference(const std::vector<float>& values) {
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const float v : values) sum += v;
  const double mean = sum / n;
  for (const float v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / n)};
}

/// One pass in float32: what cancellation does to the textbook formula.
Moments naive(const std::vector<float>& values) {
  const float n = static_cast<float>(values.size());
  float sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += v * v;
  }
  const float mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean)};
}

struct Result {
  std::string device;
  std::size_t n = 0;
  double offset = 0, seconds = 0, copy_rate = 0;
  Moments tarry, exact, textbook;
  ta::Counters counters;
};

Result run(std::size_t n, double offset, int repeat, ta::Device device) {
  const ta::Scope scope(device);
  const std::vector<float> values = measure::normal(n, offset, 1.0, 1);
  const ta::Array x = ta::asarray(values);

  Result result;
  result.device = device.str();
  result.n = n;
  result.offset = offset;
  const auto compute = [&] {
    const ta::Array mean = ta::mean(x), deviation = ta::std(x);
    result.counters = ta::evaluate(mean, deviation).counters();
    result.tarry = {mean.item<float>(), deviation.item<float>()};
  };
  compute();  // uploads and compiles
  result.seconds = measure::best_seconds(repeat, compute);
  result.copy_rate = measure::copy_rate(device, n * sizeof(float), repeat);
  result.exact = reference(values);
  result.textbook = naive(values);
  return result;
}

double relative_error(double value, double exact) { return std::abs(value - exact) / std::abs(exact); }

std::int64_t bytes_moved(const Result& r) { return r.counters.bytes_read + r.counters.bytes_written; }

void print_json(const Result& r) {
  const nlohmann::ordered_json json = {
      {"example", "standard_deviation"},
      {"device", r.device},
      {"n", r.n},
      {"offset", r.offset},
      {"values_per_second", static_cast<double>(r.n) / r.seconds},
      {"seconds", r.seconds},
      {"kernels", r.counters.kernels},
      {"launches", r.counters.launches},
      {"bytes_moved", bytes_moved(r)},
      {"bytes_lower_bound", r.counters.bytes_lower_bound},
      {"copy_bytes_per_second", r.copy_rate},
      {"mean", r.tarry.mean},
      {"std", r.tarry.deviation},
      {"mean_error", relative_error(r.tarry.mean, r.exact.mean)},
      {"std_error", relative_error(r.tarry.deviation, r.exact.deviation)},
  };
  fmt::print("{}\n", json.dump(2));
}

void print_row(const char* name, const Moments& value, const Moments& exact) {
  fmt::print("{:<22}{:>16.6f}{:>12.1e}{:>14.7f}{:>12.1e}\n", name, value.mean, relative_error(value.mean, exact.mean),
             value.deviation, relative_error(value.deviation, exact.deviation));
}

void print_table(const Result& r) {
  const double rate = static_cast<double>(bytes_moved(r)) / r.seconds;
  fmt::print("Mean and standard deviation: {} float32 values around {:g} on {}\n\n", r.n, r.offset, r.device);
  fmt::print("{:<22}{:>16}{:>12}{:>14}{:>12}\n", "", "mean", "error", "std", "error");
  print_row("float64, two passes", r.exact, r.exact);
  print_row("Tarry", r.tarry, r.exact);
  print_row("float32, textbook", r.textbook, r.exact);
  fmt::print("\nkernels                {}\n", r.counters.kernels);
  fmt::print("bytes moved            {:.1f} MB (lower bound {:.1f} MB)\n", 1e-6 * static_cast<double>(bytes_moved(r)),
             1e-6 * static_cast<double>(r.counters.bytes_lower_bound));
  fmt::print("time                   {:.2f} ms, {:.0f} million values/s\n", 1e3 * r.seconds,
             1e-6 * static_cast<double>(r.n) / r.seconds);
  fmt::print("memory rate            {:.1f} GB/s read; a copy reads and writes {:.1f} GB/s here\n", 1e-9 * rate,
             1e-9 * r.copy_rate);
}

int run_main(int argc, char** argv) {
  CLI::App app("Mean and standard deviation in one kernel.");
  std::size_t n = 4'000'000;
  double offset = 1e4;
  int repeat = 10;
  std::string device;
  bool json = false;
  app.add_option("--n", n, "Number of values")->check(CLI::PositiveNumber);
  app.add_option("--offset", offset, "Mean of the values; their standard deviation is 1");
  app.add_option("--repeat", repeat, "Runs of which the fastest counts")->check(CLI::PositiveNumber);
  app.add_option("--device", device, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_flag("--json", json, "Print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);

  const Result result = run(n, offset, repeat, measure::device(device));
  json ? print_json(result) : print_table(result);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "standard_deviation: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
