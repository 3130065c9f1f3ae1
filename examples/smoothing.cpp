// Nine-point smoothing of an image, written as nine shifted slices: one kernel per step, and the update of the interior
// costs no copy. Writes the image before and after as PNG.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"
#include "examples/png.h"

namespace ta = tarry;

namespace {

/// Rings around the centre with grey noise over them, values in [0, 1].
ta::Array noisy_rings(std::int64_t height, std::int64_t width) {
  const ta::Array row = ta::expand_dims(ta::linspace(-1, 1, height), 1), column = ta::linspace(-1, 1, width);
  const ta::Array rings = 0.5F + 0.3F * ta::sin(40 * ta::sqrt(row * row + column * column));
  const std::vector<float> noise = measure::uniform(static_cast<std::size_t>(height * width), -0.2F, 0.2F, 1);
  return rings + ta::asarray(noise, {height, width});
}

/// Every interior element becomes the mean of itself and its eight neighbours; the border stays.
void smooth(ta::Array& image) {
  ta::Array total = image(ta::slice(0, -2), ta::slice(0, -2));
  for (const auto& [i, j] : {std::pair{0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}) {
    const auto window = [](int start) { return start == 2 ? ta::slice(2, ta::none) : ta::slice(start, start - 2); };
    total = total + image(window(i), window(j));
  }
  image.set({ta::slice(1, -1), ta::slice(1, -1)}, total / 9.0F);
}

/// The same in double precision, without the library.
std::vector<double> smooth(const std::vector<double>& image, std::size_t height, std::size_t width) {
  std::vector<double> out = image;
  for (std::size_t i = 1; i + 1 < height; ++i) {
    for (std::size_t j = 1; j + 1 < width; ++j) {
      double total = 0;
      for (std::size_t k = 0; k < 9; ++k) total += image[(i + k / 3 - 1) * width + j + k % 3 - 1];
      out[i * width + j] = total / 9;
    }
  }
  return out;
}

int run_main(int argc, char** argv) {
  CLI::App app("Nine-point smoothing of an image.");
  std::int64_t n = 1024;
  int steps = 4, repeat = 10;
  std::string device_name, before, after;
  bool json = false;
  app.add_option("--n", n, "Height and width of the image in pixels")->check(CLI::Range(3, 30000));
  app.add_option("--steps", steps, "How often the image is smoothed")->check(CLI::PositiveNumber);
  app.add_option("--repeat", repeat, "Runs of which the fastest counts")->check(CLI::PositiveNumber);
  app.add_option("--device", device_name, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--before", before, "PNG file for the image as it was");
  app.add_option("--after", after, "PNG file for the smoothed image");
  app.add_flag("--json", json, "Print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);

  const ta::Device device = measure::device(device_name);
  const ta::Scope scope(device);
  const ta::Array image = noisy_rings(n, n);
  ta::evaluate(image);
  if (!before.empty()) picture::write_png(before, image);

  ta::Counters counters;
  std::int64_t launches = 0;
  ta::Array smoothed;
  const auto run = [&] {
    smoothed = image;
    launches = 0;
    for (int step = 0; step < steps; ++step) {
      smooth(smoothed);
      counters = ta::evaluate(smoothed).counters();
      launches += counters.launches;
    }
    ta::synchronize();
  };
  run();  // compiles
  const double seconds = measure::best_seconds(repeat, run) / steps;
  if (!after.empty()) picture::write_png(after, smoothed);

  const std::vector<float> start = image.to_vector<float>(), result = smoothed.to_vector<float>();
  std::vector<double> exact(start.begin(), start.end());
  for (int step = 0; step < steps; ++step)
    exact = smooth(exact, static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  double error = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) error = std::max(error, std::abs(result[i] - exact[i]));

  const std::int64_t moved = counters.bytes_read + counters.bytes_written;
  if (json) {
    const nlohmann::ordered_json line = {
        {"example", "smoothing"},
        {"device", device.str()},
        {"n", n},
        {"steps", steps},
        {"kernels", counters.kernels},
        {"launches", launches},
        {"bytes_moved", moved},
        {"bytes_lower_bound", counters.bytes_lower_bound},
        {"largest_error", error},
        {"milliseconds", 1e3 * seconds},
    };
    fmt::print("{}\n", line.dump());
    return EXIT_SUCCESS;
  }
  fmt::print("{0} x {0} float32 on {1}, {2} steps\n\n", n, device.str(), steps);
  fmt::print("kernels per step       {}\n", counters.kernels);
  fmt::print("bytes per step         {:.2f} MB (lower bound {:.2f} MB)\n", 1e-6 * static_cast<double>(moved),
             1e-6 * static_cast<double>(counters.bytes_lower_bound));
  fmt::print("largest error          {:.1e}\n", error);
  fmt::print("time per step          {:.3f} ms, {:.1f} GB/s\n", 1e3 * seconds,
             1e-9 * static_cast<double>(moved) / seconds);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "smoothing: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
