// Code of the user's: functions from text, loops until done, scans, solvers, factors and reductions. One line a row:
// its name, milliseconds, the least bytes that it moves, launches. own_code.py prints JAX's beside. On a GPU the
// Mandelbrot set by a kernel written by hand is a row of its own.
#include <tarry/kernel.h>
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

constexpr const char* kEscape = R"(
  double re = 0, im = 0;
  for (int n = 0; n < 200; n++) {
    double next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    if (re * re + im * im > 4) return n;
  }
  return 200;
)";

constexpr const char* kKernel = R"(
extern "C" __global__ void escape(const double* x, const double* y, int* out, long long columns) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const double cr = x[i % columns], ci = y[i / columns];
  double re = 0, im = 0;
  int n = 0;
  for (; n < 200; n++) {
    const double next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    if (re * re + im * im > 4) break;
  }
  out[i] = n;
})";

/// Numbers without a pattern, between 0 and 1.
ta::Array noise(const ta::Shape& shape, std::uint64_t seed, ta::Dtype dtype = ta::float32) {
  ta::random::Generator g(seed);
  ta::Array x = ta::astype(ta::random::uniform(g, shape), dtype);
  ta::evaluate(x);
  return x;
}

void add_mandelbrot(std::vector<Row>& rows, std::int64_t n, bool gpu) {
  const ta::Array x = ta::linspace(-2.0, 1.0, n), y = ta::linspace(-1.5, 1.5, n);
  ta::evaluate(x, y);
  const ta::function escape("escape", "(double cr, double ci)", kEscape);
  const double bytes = 4.0 * static_cast<double>(n * n);
  rows.push_back({"mandelbrot", bytes, [=] { return Arrays{escape(x, ta::expand_dims(y, 1))}; }});
  if (!gpu) return;
  rows.push_back({"mandelbrot_by_hand", bytes, [=] {
                    const auto blocks = static_cast<unsigned>(n * n / 256);
                    return ta::cuda_kernel(kKernel, "escape", {x, y}, {{{n, n}, ta::int32}},
                                           {.grid = {blocks, 1, 1}, .numbers = {n}, .options = {"--fmad=false"}});
                  }});
}

void add_scans(std::vector<Row>& rows, std::int64_t steps, std::int64_t lanes) {
  const auto linear = [](const ta::Array& c, const ta::Array& x) {
    const ta::Array next = c * 0.99F + x;
    return std::pair(next, next);
  };
  const ta::Array one = noise({steps}, 1), many = noise({512, lanes}, 2), turned = noise({lanes, 512}, 3);
  rows.push_back({"scan_one_lane", 8.0 * static_cast<double>(steps),
                  [=] { return Arrays{ta::scan(ta::zeros({}), one, linear).second}; }});
  rows.push_back({"scan_first_axis", 8.0 * 512 * static_cast<double>(lanes),
                  [=] { return Arrays{ta::scan(ta::zeros({}), many, linear).second}; }});
  rows.push_back({"scan_last_axis", 8.0 * 512 * static_cast<double>(lanes),
                  [=] { return Arrays{ta::scan(ta::zeros({}), turned, linear, {.axis = 1}).second}; }});
}

void add_solves(std::vector<Row>& rows, std::int64_t systems) {
  for (const int axis : {0, 1}) {
    const ta::Shape shape = axis == 0 ? ta::Shape{64, systems} : ta::Shape{systems, 64};
    const ta::Array a = noise(shape, 4), b = noise(shape, 5) + 3.0F, c = noise(shape, 6), d = noise(shape, 7);
    ta::evaluate(b);
    rows.push_back({axis == 0 ? "tridiagonal_first_axis" : "tridiagonal_last_axis",
                    20.0 * 64 * static_cast<double>(systems),
                    [=] { return Arrays{ta::tridiagonal_solve(a, b, c, d, {.axis = axis})}; }});
  }
}

void add_matrices(std::vector<Row>& rows, std::int64_t count) {
  for (const std::int64_t n : {4, 8, 16, 32}) {
    const std::int64_t many = count * 16 / (n * n);
    const ta::Array a = noise({many, n, n}, 9, ta::float64), b = noise({many, n, 1}, 10, ta::float64);
    const ta::Array s = a + ta::matrix_transpose(a) + static_cast<double>(n) * ta::eye(n, {.dtype = ta::float64});
    ta::evaluate(s);
    const double whole = 8.0 * static_cast<double>(many * n * n), line = whole / static_cast<double>(n);
    const std::string size = "_" + std::to_string(n);
    rows.push_back({"solve" + size, whole + 2 * line, [=] { return Arrays{ta::linalg::solve(s, b)}; }});
    rows.push_back({"inv" + size, 2 * whole, [=] { return Arrays{ta::linalg::inv(s)}; }});
    rows.push_back({"det" + size, whole + line / static_cast<double>(n), [=] { return Arrays{ta::linalg::det(s)}; }});
    rows.push_back({"cholesky" + size, 2 * whole, [=] { return Arrays{ta::linalg::cholesky(s)}; }});
    rows.push_back({"eigh" + size, 2 * whole + line, [=] {
                      const ta::linalg::Eigh e = ta::linalg::eigh(s);
                      return Arrays{e.eigenvalues, e.eigenvectors};
                    }});
  }
}

void add_reductions(std::vector<Row>& rows, std::int64_t n) {
  const ta::Array x = noise({n}, 8);
  const ta::reduction largest(ta::function("largest", "(T a, T b)", "return a > b ? a : b;"));
  const ta::function soft("soft", "(float x, float a)", "return x > a ? x - a : x < -a ? x + a : 0.f;");
  rows.push_back({"sum", 4.0 * static_cast<double>(n), [=] { return Arrays{ta::sum(x)}; }});
  rows.push_back({"reduction", 4.0 * static_cast<double>(n), [=] { return Arrays{largest(x)}; }});
  rows.push_back({"function", 8.0 * static_cast<double>(n), [=] { return Arrays{soft(x, 0.5F)}; }});
  rows.push_back({"function_by_ops", 8.0 * static_cast<double>(n),
                  [=] { return Arrays{ta::where(x > 0.5F, x - 0.5F, ta::where(x < -0.5F, x + 0.5F, 0.0F))}; }});
  const ta::Combine add = [](std::span<const ta::Array> a, std::span<const ta::Array> b) {
    return Arrays{a[0] + b[0]};
  };
  rows.push_back(
      {"associative_scan", 8.0 * static_cast<double>(n), [=] { return ta::associative_scan(add, std::vector{x}); }});
}

int run_main(int argc, char** argv) {
  CLI::App app("Code of the user's.");
  std::int64_t part = 16;
  std::string device;
  app.add_option("--part", part, "A part of the largest extents: 1 for a GPU")->check(CLI::PositiveNumber);
  bench::add_device(app, device);
  CLI11_PARSE(app, argc, argv);
  const ta::Scope scope(bench::device_named(device));
  std::vector<Row> rows;
  add_mandelbrot(rows, 4096 / part, device == "cuda");
  add_scans(rows, 10'000'000 / part, 100'000 / part);
  add_solves(rows, 1'000'000 / part);
  add_matrices(rows, 1'000'000 / part);
  add_reductions(rows, (std::int64_t{1} << 26) / part);
  bench::print_rows(rows);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_code: %s\n", error.what());
    return 1;
  }
}
