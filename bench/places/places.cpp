// Reading and writing at computed places: rows of 1, 4 and 64 elements taken and put, elements joined, masks
// compressed. One line a row: its name, milliseconds, bytes that it has to move at least, launches. places.py prints
// NumPy's beside.
#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/timing.h"

namespace ta = tarry;

namespace {

struct Row {
  std::string name;
  double bytes;  ///< indices, values and results, each once
  std::function<ta::Array()> make;
};

/// Numbers below n in an order without a pattern, the same in places.py.
ta::Array places(std::int64_t count, std::int64_t n) {
  return ta::astype(ta::astype(ta::arange(count), ta::uint64) * std::uint64_t{0x9e3779b97f4a7c15} >> 20U, ta::int64) %
         n;
}

std::vector<Row> rows_for(std::int64_t n) {
  std::vector<Row> rows;
  const double indices = 8.0 * static_cast<double>(n), elements = 4.0 * static_cast<double>(n);
  const ta::Array i = places(n, n), v = ta::astype(i, ta::float32) * 0.37F;
  ta::evaluate(i, v);
  for (const std::int64_t row : {1, 4, 64}) {
    const std::int64_t count = n / row;
    const ta::Array x = ta::reshape(v, {-1, row}), at = i(ta::slice(0, count)) % count;
    ta::evaluate(at);
    const double moved = indices / static_cast<double>(row) + 2 * elements;
    rows.push_back({"take_" + std::to_string(row), moved, [=] { return ta::take(x, at, 0); }});
    rows.push_back({"set_" + std::to_string(row), moved, [=] { return ta::with_set(ta::zeros({count, row}), at, x); }});
  }
  rows.push_back({"take_multiply_sum", indices + 2 * elements, [=] { return ta::sum(ta::take(v, i) * v); }});
  for (const std::int64_t bins : {1000, 1'000'000}) {
    const ta::Array at = i % bins, ones = ta::astype(i, ta::int32);
    ta::evaluate(at, ones);
    const double moved = indices + elements + 8.0 * static_cast<double>(bins);
    const std::string to = "_to_" + std::to_string(bins);
    rows.push_back({"add_int32" + to, moved, [=] { return ta::with_add(ta::zeros({bins}, ta::int32), at, ones); }});
    rows.push_back({"add_float32" + to, moved, [=] { return ta::with_add(ta::zeros({bins}), at, v); }});
    rows.push_back({"maximum_float32" + to, moved, [=] { return ta::with_maximum(ta::zeros({bins}), at, v); }});
  }
  for (const int percent : {1, 50, 99}) {
    const ta::Array mask = i % 100 < percent;
    ta::evaluate(mask);
    rows.push_back({"compress_" + std::to_string(percent), static_cast<double>(n) + elements * (1 + percent / 100.0),
                    [=] { return v(mask); }});
  }
  return rows;
}

int run_main(int argc, char** argv) {
  CLI::App app("Reading and writing at computed places.");
  std::int64_t n = std::int64_t{1} << 22;
  std::string device;
  app.add_option("--n", n, "Elements")->check(CLI::PositiveNumber);
  app.add_option("--device", device, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  CLI11_PARSE(app, argc, argv);
  const ta::Scope scope(device.empty() ? ta::default_device() : device == "cpu" ? ta::cpu : ta::cuda(0));
  for (const Row& row : rows_for(n)) {
    ta::Report report;
    const bench::Timing t = bench::measure([&] { report = ta::evaluate(row.make()); }, [] { ta::synchronize(); });
    std::printf("%s %.4f %.0f %lld\n", row.name.c_str(), 1e3 * t.back_to_back, row.bytes,
                static_cast<long long>(report.counters().launches));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "places: %s\n", error.what());
    return 1;
  }
}
