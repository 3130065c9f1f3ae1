// Bandwidth by dtype and by layout: a map and a sum of every dtype, then float32 operands that do not start on a
// boundary, step, run backwards, repeat or are permuted, and sums over every choice of axes. Each beside the ceiling of
// its direction.
#include <fmt/format.h>
#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/ceilings.h"
#include "bench/timing.h"

namespace ta = tarry;

namespace {

struct Row {
  std::string name;
  double bytes;  // read and written at least, whole sectors of 32 bytes
  bool writes;   // as much as it reads, or nearly: its ceiling is the copy's
  std::function<ta::Array()> record;
  bool rounded = false;  ///< not every device has the same bits
};

/// The parts of rows.
struct Sizes {
  double bytes;         // of an array
  std::int64_t values;  // elements are 0 to values - 1 in turn
};

/// In the device's memory.
ta::Array filled(const Sizes& sizes, const ta::Shape& shape, ta::Dtype dtype) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  const ta::Array x = ta::reshape(ta::astype(ta::remainder(ta::arange(count), sizes.values), dtype), shape);
  ta::evaluate(x);
  return x;
}

void print(const Row& row, const bench::Ceilings& ceilings) {
  const ta::Report report = ta::evaluate(row.record());
  const bench::Timing t = bench::measure([&] { ta::evaluate(row.record()); }, [] { ta::synchronize(); });
  const double rate = row.bytes / t.back_to_back, ceiling = row.writes ? ceilings.copy : ceilings.read;
  fmt::print("{:<34} {:>10.4f} ms {:>8.1f} GB/s {:>7.1f} % of {} {:>3} launches\n", row.name, 1e3 * t.back_to_back,
             1e-9 * rate, 100 * rate / ceiling, row.writes ? "copy" : "read", report.counters().launches);
  std::fflush(stdout);
}

std::vector<Row> of_dtypes(const Sizes& sizes) {
  const double bytes = sizes.bytes;
  std::vector<Row> rows;
  for (const ta::Dtype dtype : {ta::bool_, ta::int8, ta::uint8, ta::int16, ta::uint16, ta::float16, ta::bfloat16,
                                ta::int32, ta::uint32, ta::float32, ta::int64, ta::uint64, ta::float64}) {
    const auto count = static_cast<std::int64_t>(bytes) / static_cast<std::int64_t>(ta::itemsize(dtype));
    const std::string name(ta::name(dtype));
    const ta::Array x = filled(sizes, {count}, dtype), m = filled(sizes, {count / 4096, 4096}, dtype);
    rows.push_back(
        {name + " x + x", 2 * bytes, true, [x] { return x.dtype() == ta::bool_ ? ta::logical_not(x) : x + x; }});
    rows.push_back({name + " sum", bytes, false, [x] { return ta::sum(x); }});
    rows.push_back({name + " max", bytes, false, [x] { return x.dtype() == ta::bool_ ? ta::any(x) : ta::max(x); }});
    rows.push_back({name + " sum of rows", bytes, false, [m] { return ta::sum(m, 1); }});
    rows.push_back({name + " sum of columns", bytes, false, [m] { return ta::sum(m, 0); }});
  }
  return rows;
}

std::vector<Row> of_layouts(const Sizes& sizes) {
  const double bytes = sizes.bytes;
  const auto count = static_cast<std::int64_t>(bytes) / 4;
  const std::int64_t width = 8192, height = count / width;
  const ta::Array x = filled(sizes, {count}, ta::float32), m = filled(sizes, {height, width}, ta::float32);
  const ta::Array narrow = filled(sizes, {height, width - 1}, ta::float32), row = filled(sizes, {width}, ta::float32),
                  column = filled(sizes, {height, 1}, ta::float32);
  const ta::Slice all{}, odd = ta::slice(1, ta::none), backwards = ta::slice(ta::none, ta::none, -1),
                         even = ta::slice(0, ta::none, 2);
  return {
      {"x + 1", 2 * bytes, true, [x] { return x + 1.0F; }},
      {"x[1:] + 1", 2 * bytes, true, [x, odd] { return x(odd) + 1.0F; }},
      {"x[1:] + x[:-1]", 2 * bytes, true, [x, odd] { return x(odd) + x(ta::slice(-1)); }},
      {"x[::-1] + 1", 2 * bytes, true, [x, backwards] { return x(backwards) + 1.0F; }},
      {"x[::2] + 1", 1.5 * bytes, true, [x, even] { return x(even) + 1.0F; }},
      {"x[::3] + 1", 4 * bytes / 3, true, [x] { return x(ta::slice(0, ta::none, 3)) + 1.0F; }},
      {"m[:, 1:] + 1", 2 * bytes, true, [m, all, odd] { return m(all, odd) + 1.0F; }},
      {"m[:, ::-1] + 1", 2 * bytes, true, [m, all, backwards] { return m(all, backwards) + 1.0F; }},
      {"m[:, ::2] + 1", 1.5 * bytes, true, [m, all, even] { return m(all, even) + 1.0F; }},
      {"m[:, 1000:5001] + 1", 2 * bytes * 4001 / width, true,
       [m, all] { return m(all, ta::slice(1000, 5001)) + 1.0F; }},
      {"odd rows + 1", 2 * bytes, true, [narrow] { return narrow + 1.0F; }},
      {"odd rows + row", 2 * bytes, true, [narrow, row, odd] { return narrow + row(odd); }},
      {"m + row", 2 * bytes, true, [m, row] { return m + row; }},
      {"m + column", 2 * bytes, true, [m, column] { return m + column; }},
      {"row + column", bytes, true, [row, column] { return row + column; }},
      {"transposed + 1", 2 * bytes, true, [m] { return ta::matrix_transpose(m) + 1.0F; }},
      {"sum of x[1:]", bytes, false, [x, odd] { return ta::sum(x(odd)); }},
      {"sum of x[::2]", bytes, false, [x, even] { return ta::sum(x(even)); }},
      {"sum of x[::-1]", bytes, false, [x, backwards] { return ta::sum(x(backwards)); }},
      {"sum of rows of m[:, 1:]", bytes, false, [m, all, odd] { return ta::sum(m(all, odd), 1); }},
      {"sum of odd rows", bytes, false, [narrow] { return ta::sum(narrow, 1); }},
      {"sum of columns of odd rows", bytes, false, [narrow] { return ta::sum(narrow, 0); }},
      {"sum of transposed rows", bytes, false, [m] { return ta::sum(ta::matrix_transpose(m), 1); }},
      {"softmax of odd rows", 2 * bytes, true, [narrow] { return ta::softmax(narrow, 1); }, true},
  };
}

/// Axes of a cube that are summed, and permutations of it.
std::vector<Row> of_axes(const Sizes& sizes) {
  const double bytes = sizes.bytes;
  const auto count = static_cast<std::int64_t>(bytes) / 4;
  const ta::Array cube = filled(sizes, {count >> 18, 512, 512}, ta::float32),
                  thin = filled(sizes, {count / 3000, 1000, 3}, ta::float32);
  std::vector<Row> rows;
  for (const ta::Axes& axes :
       {ta::Axes{0}, ta::Axes{1}, ta::Axes{2}, ta::Axes{0, 1}, ta::Axes{0, 2}, ta::Axes{1, 2}, ta::Axes{0, 1, 2}}) {
    std::string digits;
    for (const auto axis : axes.vector()) digits += fmt::format(" {}", axis);
    rows.push_back({"cube, sum over" + digits, bytes, false, [cube, axes] { return ta::sum(cube, axes); }});
    const bool colours = digits == " 2";  // the result is a third of the operand
    rows.push_back({"pixels of 3, sum over" + digits, colours ? 4 * bytes / 3 : bytes, colours,
                    [thin, axes] { return ta::sum(thin, axes); }});
  }
  for (const std::int64_t columns : {2, 3, 4, 5, 6, 7, 8, 11, 16, 32, 64, 128}) {
    const ta::Array tall = filled(sizes, {count / columns, columns}, ta::float32);
    rows.push_back(
        {fmt::format("tall, {} columns, sum over 0", columns), bytes, false, [tall] { return ta::sum(tall, 0); }});
    rows.push_back(
        {fmt::format("tall, {} columns, max over 0", columns), bytes, false, [tall] { return ta::max(tall, 0); }});
    rows.push_back(
        {fmt::format("tall, {} columns, var over 0", columns), bytes, false, [tall] { return ta::var(tall, 0); }});
    rows.push_back({fmt::format("tall, {} columns, softmax over 1", columns), 2 * bytes, true,
                    [tall] { return ta::softmax(tall, 1); }, true});
    rows.push_back({fmt::format("tall, {} columns, sum over 1", columns),
                    columns < 16 ? bytes * (1 + 1.0 / static_cast<double>(columns)) : bytes, columns < 16,
                    [tall] { return ta::sum(tall, 1); }});
  }
  for (const ta::Axes& axes :
       {ta::Axes{0, 2, 1}, ta::Axes{1, 0, 2}, ta::Axes{1, 2, 0}, ta::Axes{2, 0, 1}, ta::Axes{2, 1, 0}}) {
    std::string digits;
    for (const auto axis : axes.vector()) digits += fmt::format(" {}", axis);
    rows.push_back(
        {"cube permuted" + digits, 2 * bytes, true, [cube, axes] { return ta::permute_dims(cube, axes) + 1.0F; }});
    rows.push_back({"pixels of 3 permuted" + digits, 2 * bytes, true,
                    [thin, axes] { return ta::permute_dims(thin, axes) + 1.0F; }});
  }
  return rows;
}

/// Images of pixels and of planes of values, with other orders of their axes; matrices of any size, transposed.
std::vector<Row> of_images(const Sizes& sizes) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, const ta::Array& x, const ta::Axes& axes) {
    const double moved = 2.0 * static_cast<double>(x.size() * static_cast<std::int64_t>(ta::itemsize(x.dtype())));
    rows.push_back({name, moved, true, [x, axes] { return ta::permute_dims(x, axes) + ta::ones({}, x.dtype()); }});
  };
  for (const ta::Dtype dtype : {ta::float32, ta::uint8, ta::float16}) {
    const auto count = static_cast<std::int64_t>(sizes.bytes) / static_cast<std::int64_t>(ta::itemsize(dtype));
    const std::string type(ta::name(dtype));
    for (const std::int64_t values : {2, 3, 4, 8}) {
      const std::int64_t width = 1920, height = count / values / width / 64 * 64;
      for (const std::int64_t more : {0, 1}) {
        const ta::Array pixels = filled(sizes, {height + more, width, values}, dtype),
                        planes = filled(sizes, {values, height + more, width}, dtype);
        const std::string of =
            fmt::format("images, {} pixels of {}{} ", type, values, more > 0 ? ", odd heights," : "");
        if (more == 0) {
          add(of + "to planes", pixels, {2, 0, 1});
          add(of + "to rows of planes", pixels, {0, 2, 1});
          add(of + "from planes", planes, {1, 2, 0});
        }
        add(of + "transposed", pixels, {1, 0, 2});
        add(of + "to transposed planes", pixels, {2, 1, 0});
        add(of + "to columns of planes", pixels, {1, 2, 0});
        add(of + "from transposed planes", planes, {2, 1, 0});
      }
    }
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
    for (const std::int64_t height : {8192L, 8191L, 3000L})
      for (const std::int64_t width : {side / 32 * 32, side / 32 * 32 + 16, side / 32 * 32 + 15})
        add(fmt::format("images, {} matrix {} x {}", type, height, width), filled(sizes, {height, width}, dtype),
            {1, 0});
  }
  return rows;
}

const auto kMakers = {of_dtypes, of_layouts, of_axes, of_images};

void measure(const ta::Device& device, const Sizes& sizes, const std::string& filter) {
  const ta::Scope placed(device);
  const bench::Ceilings ceilings = bench::measure_ceilings(device != ta::cpu);
  fmt::print("ceilings in GB/s: copy {:.0f}, read {:.0f}\n", 1e-9 * ceilings.copy, 1e-9 * ceilings.read);
  for (const auto& make : kMakers)
    for (const Row& row : make(sizes))
      if (row.name.find(filter) != std::string::npos) print(row, ceilings);
}

/// How many rows have a value that is not the CPU's, or not as near as rounding lets it be.
int check(const ta::Device& device, const Sizes& sizes, const std::string& filter) {
  int compared = 0, differ = 0;
  for (const auto& make : kMakers) {
    const auto made = [&](const ta::Device& where) {
      const ta::Scope placed(where);
      return make(sizes);
    };
    const auto result = [&](const Row& row, const ta::Device& where) {
      const ta::Scope placed(where);
      const ta::Array x = row.record();
      ta::evaluate(x);
      return ta::to_device(x, ta::cpu);
    };
    const std::vector<Row> rows = made(device), references = made(ta::cpu);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name.find(filter) == std::string::npos) continue;
      ++compared;
      const ta::Array x = result(rows[i], device), y = result(references[i], ta::cpu);
      const ta::Array agree =
          rows[i].rounded ? ta::allclose(x, y, {.rtol = 1e-6, .atol = 1e-12}) : ta::array_equal(x, y);
      if (agree.item<bool>()) continue;
      ++differ;
      fmt::print("{}: differs\n", rows[i].name);
    }
  }
  fmt::print("{} rows compared, {} differ\n", compared, differ);
  return differ;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Bandwidth by dtype and by layout, beside the machine's ceilings"};
  std::string device = "cpu", filter;
  double mebibytes = 512;
  bool checks = false;
  app.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--mebibytes", mebibytes, "of each array")->check(CLI::Range(1.0, 16384.0));
  app.add_option("--filter", filter, "only rows whose name contains this");
  app.add_flag("--check", checks, "compare the results with those of the CPU instead of measuring");
  CLI11_PARSE(app, argc, argv);
  try {
    const ta::Device where = device == "cuda" ? ta::cuda() : ta::cpu;
    const double bytes = mebibytes * 1024 * 1024;
    if (checks) return check(where, {bytes, 251}, filter) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    measure(where, {bytes, 2}, filter);
  } catch (const std::exception& error) {
    fmt::print(stderr, "layouts: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
