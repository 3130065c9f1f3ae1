// Reading and writing at computed places, order and groups: rows of 1, 4 and 64 elements taken and put, elements
// joined, masks compressed; arrays and rows sorted, largest elements found, counts of bins, sums and means of groups.
// One line a row: its name, milliseconds, bytes that it has to move at least, launches. places.py prints other
// libraries' beside.
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

/// Sorting moves each element once in and once out at least, and places beside where they are asked for.
void add_order(std::vector<Row>& rows, std::int64_t n) {
  const ta::Array words = ta::astype(ta::arange(n), ta::uint64) * std::uint64_t{0x9e3779b97f4a7c15};
  const double count = static_cast<double>(n);
  for (const ta::Dtype dtype : {ta::uint32, ta::int64, ta::float32, ta::float64}) {
    const double size = static_cast<double>(itemsize(dtype));
    const ta::Array x = dtype == ta::int64 ? ta::astype(words, dtype) : ta::astype(words >> 32U, dtype);
    ta::evaluate(x);
    rows.push_back({"sort_" + std::string(name(dtype)), 2 * size * count, [=] { return Arrays{ta::sort(x)}; }});
    rows.push_back({"argsort_" + std::string(name(dtype)), (size + 8) * count, [=] { return Arrays{ta::argsort(x)}; }});
  }
  const ta::Array v = ta::astype(words >> 40U, ta::float32);
  ta::evaluate(v);
  for (const std::int64_t row : {64, 256, 1024, 4096}) {
    const ta::Array x = ta::reshape(v, {-1, row});
    rows.push_back(
        {"sort_rows_of_" + std::to_string(row), 8 * count, [=] { return Arrays{ta::sort(x, {.axis = 1})}; }});
  }
  for (const std::int64_t k : {10, 1000})
    rows.push_back({"topk_" + std::to_string(k), 4 * count, [=] {
                      const ta::TopK best = ta::topk(v, k);
                      return Arrays{best.values, best.indices};
                    }});
  rows.push_back({"median", 4 * count, [=] { return Arrays{ta::median(v)}; }});
}

void add_groups(std::vector<Row>& rows, std::int64_t n, const ta::Array& i, const ta::Array& v) {
  const double count = static_cast<double>(n);
  const ta::Array unit = v / (0.37F * static_cast<float>(n));
  ta::evaluate(unit);
  for (const std::int64_t bins : {256, 65536})
    rows.push_back({"histogram_" + std::to_string(bins), 4 * count,
                    [=] { return Arrays{ta::histogram(unit, bins, {.range = std::pair{0.0, 1.0}}).counts}; }});
  for (const std::int64_t groups : {10, 10'000, 1'000'000}) {
    const ta::Array ids = i % groups;
    ta::evaluate(ids);
    rows.push_back({"segment_sum_" + std::to_string(groups), 12 * count,
                    [=] { return Arrays{ta::segment_sum(v, ids, {.groups = groups})}; }});
  }
  const ta::Array equal = ta::zeros({n}, ta::int64), keys = i % 100'000;
  ta::evaluate(equal, keys);
  rows.push_back(
      {"segment_sum_of_one", 12 * count, [=] { return Arrays{ta::segment_sum(v, equal, {.groups = 10'000})}; }});
  rows.push_back({"group_by_100000", 12 * count, [=] {
                    const ta::Groups groups = ta::group_by({keys}).aggregate({{v}, {v, ta::Aggregate::Mean}});
                    return Arrays{groups.keys[0], groups.values[0], groups.values[1]};
                  }});
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
  add_order(rows, n);
  add_groups(rows, n, i, v);
  return rows;
}

int run_main(int argc, char** argv) {
  CLI::App app("Reading and writing at computed places, order and groups.");
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
