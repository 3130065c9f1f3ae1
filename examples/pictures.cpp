// The pictures of docs/gallery.md: a few lines each, from broadcasting, bits, short sums, stencils and random numbers.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>

#include "examples/measure.h"
#include "examples/png.h"

namespace ta = tarry;

namespace {

/// Positions of rows and columns, to be broadcast against each other.
std::pair<ta::Array, ta::Array> grid(float top, float bottom, float left, float right, std::int64_t n) {
  return {ta::expand_dims(ta::linspace(top, bottom, n), 1), ta::linspace(left, right, n)};
}

/// Colours of t in [0, 1]: three cosines, the values of a pixel side by side.
ta::Array colours(const ta::Array& t) {
  const ta::Array phase = ta::array({0.0F, 0.33F, 0.67F});
  return 0.5F + 0.5F * ta::cos(6.2831853F * (ta::expand_dims(t, -1) + phase));
}

/// How soon z = z * z + c leaves the circle of radius 2.
ta::Array mandelbrot(std::int64_t n) {
  const auto [cy, cx] = grid(-1.2F, 1.2F, -1.9F, 0.5F, n);
  ta::Array x = ta::zeros({n, n}), y = x, steps = x;
  for (int round = 0; round < 8; ++round) {
    for (int step = 0; step < 8; ++step) {
      const ta::Array inside = x * x + y * y < 4;
      const ta::Array next = x * x - y * y + cx;
      y = ta::where(inside, 2 * x * y + cy, y);
      x = ta::where(inside, next, x);
      steps = steps + ta::astype(inside, ta::float32);
    }
    ta::evaluate(x, y, steps);
  }
  return colours(ta::sqrt(steps / 64)) * ta::expand_dims(ta::astype(steps < 64, ta::float32), -1);
}

/// Circular waves of five sources, added up inside of one kernel.
ta::Array waves(std::int64_t n) {
  const auto [y, x] = grid(-1, 1, -1, 1, n);
  const ta::Array angle = ta::arange(0.0F, 5.0F) * 1.2566371F;
  const ta::Array dy = ta::expand_dims(y, -1) - 0.6F * ta::sin(angle);
  const ta::Array dx = ta::expand_dims(x, -1) - 0.6F * ta::cos(angle);
  const ta::Array distance = ta::hypot(dy, dx);
  return 0.5F + 0.12F * ta::sum(ta::sin(60 * distance) / (0.3F + distance), -1);
}

/// Bits of the coordinates.
ta::Array bits(std::int64_t n) {
  const ta::Array row = ta::expand_dims(ta::arange(n), 1), column = ta::arange(n);
  const ta::Array red = row ^ column, green = row & column, blue = row | column;
  return ta::astype(ta::stack({red, green, blue}, -1), ta::float32) / static_cast<float>(n - 1);
}

/// Two substances that react and spread (Gray and Scott), on a torus, from random spots.
ta::Array reaction(std::int64_t n) {
  const auto spread = [](const ta::Array& u) {
    return ta::roll(u, 1, 0) + ta::roll(u, -1, 0) + ta::roll(u, 1, 1) + ta::roll(u, -1, 1) - 4 * u;
  };
  ta::random::Generator g(7);
  const ta::Array spots = ta::random::bernoulli(g, {n / 8, n / 8}, 0.1);
  ta::Array v = 0.5F * ta::astype(ta::repeat(ta::repeat(spots, 8, 0), 8, 1), ta::float32);
  ta::Array u = 1 - v;
  for (int step = 0; step < 2000; ++step) {
    const ta::Array reacted = u * v * v;
    u = u + 0.16F * spread(u) - reacted + 0.035F * (1 - u);
    v = v + 0.08F * spread(v) + reacted - 0.095F * v;
    ta::evaluate(u, v);
  }
  return 1 - 2.5F * v;
}

int run_main(int argc, char** argv) {
  const std::map<std::string, std::function<ta::Array(std::int64_t)>> pictures = {
      {"mandelbrot", mandelbrot}, {"waves", waves}, {"bits", bits}, {"reaction", reaction}};
  CLI::App app("Draws a picture: mandelbrot, waves, bits or reaction.");
  std::string name, out, device_name;
  std::int64_t n = 256;
  app.add_option("picture", name, "Which one")->required()->check(CLI::IsMember(pictures));
  app.add_option("--out", out, "PNG file; the picture's name unless given");
  app.add_option("--n", n, "Height and width in pixels, a multiple of 8")->check(CLI::Range(8, 8192));
  app.add_option("--device", device_name, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  CLI11_PARSE(app, argc, argv);
  const ta::Scope scope(measure::device(device_name));
  picture::write_png(out.empty() ? name + ".png" : out, pictures.at(name)(n / 8 * 8));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pictures: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
