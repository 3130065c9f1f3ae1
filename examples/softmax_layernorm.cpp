// Map, reduce, map: softmax, layer normalisation and logsumexp over the rows of a matrix. Each is one kernel that reads
// its input once and writes its output once, though the formulas go over a row two or three times.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"

namespace ta = tarry;

namespace {

constexpr float kEpsilon = 1e-5F;

ta::Array layernorm(const ta::Array& x, const ta::Array& gain, const ta::Array& bias) {
  const ta::Array centred = x - ta::mean(x, -1, {.keepdims = true});
  return centred / ta::sqrt(ta::var(x, -1, {.keepdims = true}) + kEpsilon) * gain + bias;
}

/// One row of the input, its gain and bias, to one row of the output, in double precision.
using Reference =
    std::function<std::vector<double>(const float* x, const float* gain, const float* bias, std::size_t n)>;

std::vector<double> softmax_row(const float* x, const float*, const float*, std::size_t n) {
  const double most = *std::max_element(x, x + n);
  std::vector<double> y;
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += y.emplace_back(std::exp(x[i] - most));
  for (double& v : y) v /= total;
  return y;
}

std::vector<double> layernorm_row(const float* x, const float* gain, const float* bias, std::size_t n) {
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) mean += x[i] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i)
    y.push_back((x[i] - mean) / std::sqrt(squares / static_cast<double>(n) + double{kEpsilon}) * gain[i] + bias[i]);
  return y;
}

std::vector<double> logsumexp_row(const float* x, const float*, const float*, std::size_t n) {
  const double most = *std::max_element(x, x + n);
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += std::exp(x[i] - most);
  return {most + std::log(total)};
}

struct Input {
  std::size_t rows, columns;
  std::vector<float> x, gain, bias;
};

struct Result {
  std::string name;
  ta::Counters counters;
  double largest_error = 0, seconds = 0;
};

Result run(const std::string& name, const Input& input, const std::function<ta::Array()>& record,
           const Reference& reference, int repeat) {
  Result result{.name = name, .counters = {}, .largest_error = 0, .seconds = 0};
  result.counters = ta::evaluate(record()).counters();  // uploads and compiles
  result.seconds = measure::best_seconds(repeat, [&] {
    const ta::Array y = record();
    ta::evaluate(y);
    ta::synchronize();
  });
  const std::vector<float> values = record().to_vector<float>();
  const std::size_t width = values.size() / input.rows;
  for (std::size_t row = 0; row < input.rows; ++row) {
    const std::vector<double> exact =
        reference(&input.x[row * input.columns], input.gain.data(), input.bias.data(), input.columns);
    for (std::size_t i = 0; i < width; ++i) {
      const double error = std::abs(values[row * width + i] - exact[i]) / std::max(1.0, std::abs(exact[i]));
      result.largest_error = std::max(result.largest_error, std::isnan(error) ? HUGE_VAL : error);
    }
  }
  return result;
}

std::int64_t bytes_moved(const Result& r) { return r.counters.bytes_read + r.counters.bytes_written; }

void print_json(const Result& r, const Input& input, const std::string& device) {
  const nlohmann::ordered_json json = {
      {"example", "softmax_layernorm"},
      {"workload", r.name},
      {"device", device},
      {"rows", input.rows},
      {"columns", input.columns},
      {"kernels", r.counters.kernels},
      {"launches", r.counters.launches},
      {"bytes_moved", bytes_moved(r)},
      {"bytes_lower_bound", r.counters.bytes_lower_bound},
      {"largest_error", r.largest_error},
      {"milliseconds", 1e3 * r.seconds},
  };
  fmt::print("{}\n", json.dump());
}

void print_row(const Result& r) {
  fmt::print("{:<12}{:>9}{:>14.2f}{:>14.2f}{:>12.1e}{:>10.3f}{:>10.1f}\n", r.name, r.counters.kernels,
             1e-6 * static_cast<double>(bytes_moved(r)), 1e-6 * static_cast<double>(r.counters.bytes_lower_bound),
             r.largest_error, 1e3 * r.seconds, 1e-9 * static_cast<double>(bytes_moved(r)) / r.seconds);
}

int run_main(int argc, char** argv) {
  CLI::App app("Softmax, layer normalisation and logsumexp over rows, each in one kernel.");
  std::size_t n = 4'194'304, columns = 1024;
  int repeat = 10;
  std::string device_name;
  bool json = false;
  app.add_option("--n", n, "Number of elements, rounded down to whole rows")->check(CLI::PositiveNumber);
  app.add_option("--columns", columns, "Elements of a row")->check(CLI::PositiveNumber);
  app.add_option("--repeat", repeat, "Runs of which the fastest counts")->check(CLI::PositiveNumber);
  app.add_option("--device", device_name, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_flag("--json", json, "Print JSON, one line per workload, instead of a table");
  CLI11_PARSE(app, argc, argv);

  const ta::Device device = measure::device(device_name);
  const ta::Scope scope(device);
  Input input{.rows = std::max<std::size_t>(1, n / columns), .columns = columns, .x = {}, .gain = {}, .bias = {}};
  input.x = measure::normal(input.rows * columns, 0, 3, 1);
  input.gain = measure::uniform(columns, 0.5F, 1.5F, 2);
  input.bias = measure::uniform(columns, -1, 1, 3);
  const ta::Array x = ta::asarray(input.x, {input.rows, columns}), gain = ta::asarray(input.gain),
                  bias = ta::asarray(input.bias);

  const std::vector<Result> results = {
      run(
          "softmax", input, [&] { return ta::softmax(x); }, softmax_row, repeat),
      run(
          "layernorm", input, [&] { return layernorm(x, gain, bias); }, layernorm_row, repeat),
      run(
          "logsumexp", input, [&] { return ta::logsumexp(x, -1); }, logsumexp_row, repeat),
  };
  if (!json) {
    fmt::print("{} x {} float32 on {}\n\n", input.rows, columns, device.str());
    fmt::print("{:<12}{:>9}{:>14}{:>14}{:>12}{:>10}{:>10}\n", "", "kernels", "moved [MB]", "bound [MB]", "error", "ms",
               "GB/s");
  }
  for (const Result& r : results) json ? print_json(r, input, device.str()) : print_row(r);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "softmax_layernorm: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
