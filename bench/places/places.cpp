// Reading and writing at computed places: rows of 1, 4 and 64 elements taken and put, elements joined, masks
// compressed. One line a row: its name, milliseconds, bytes that it has to move at least, launches. places.py prints
// NumPy's beside.
#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/rows.h"

namespace ta = tarry;
using bench::Arrays;
using bench::Row;

namespace {

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
    rows.push_back({"take_" + std::to_string(row), moved, [=] { return Arrays{ta::take(x, at, 0)}; }});
    rows.push_back(
        {"set_" + std::to_string(row), moved, [=] { return Arrays{ta::with_set(ta::zeros({count, row}), at, x)}; }});
  }
  rows.push_back({"take_multiply_sum", indices + 2 * elements, [=] { return Arrays{ta::sum(ta::take(v, i) * v)}; }});
  for (const std::int64_t bins : {1000, 1'000'000}) {
    const ta::Array at = i % bins, ones = ta::astype(i, ta::int32);
    ta::evaluate(at, ones);
    const double moved = indices + elements + 8.0 * static_cast<double>(bins);
    const std::string to = "_to_" + std::to_string(bins);
    rows.push_back(
        {"add_int32" + to, moved, [=] { return Arrays{ta::with_add(ta::zeros({bins}, ta::int32), at, ones)}; }});
    rows.push_back({"add_float32" + to, moved, [=] { return Arrays{ta::with_add(ta::zeros({bins}), at, v)}; }});
    rows.push_back({"maximum_float32" + to, moved, [=] { return Arrays{ta::with_maximum(ta::zeros({bins}), at, v)}; }});
  }
  for (const int percent : {1, 50, 99}) {
    const ta::Array mask = i % 100 < percent;
    ta::evaluate(mask);
    rows.push_back({"compress_" + std::to_string(percent), static_cast<double>(n) + elements * (1 + percent / 100.0),
                    [=] { return Arrays{v(mask)}; }});
  }
  return rows;
}

int run_main(int argc, char** argv) {
  CLI::App app("Reading and writing at computed places.");
  std::int64_t n = std::int64_t{1} << 22;
  std::string device;
  app.add_option("--n", n, "Elements")->check(CLI::PositiveNumber);
  bench::add_device(app, device);
  CLI11_PARSE(app, argc, argv);
  const ta::Scope scope(bench::device_named(device));
  bench::print_rows(rows_for(n));
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
