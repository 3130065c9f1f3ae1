// Electrons in the field that they make themselves: particles in cells, in one dimension, with periodic ends. Charges
// go to a grid by add() at indices, where many particles share a cell, and forces come back by take(). Two beams
// through each other are unstable (Buneman 1959): the energy of the field grows while the sum of momenta and charges
// stays.
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"

namespace ta = tarry;

namespace {

constexpr std::int64_t kCells = 256;
constexpr double kLength = 4 * std::numbers::pi, kWidth = kLength / kCells, kStep = 0.1;

struct Plasma {
  ta::Array at, speed;  ///< of each particle, float64
  [[nodiscard]] double weight() const { return kLength / static_cast<double>(at.size()); }
};

/// Half of the particles go right and half left, with a small wave in their places.
Plasma two_beams(std::int64_t n) {
  const ta::Array k = ta::arange(n), rest = (ta::astype(k, ta::float64) + 0.5) * (kLength / static_cast<double>(n));
  return {ta::remainder(rest + 0.001 * ta::sin(rest * (2 * std::numbers::pi / kLength)), kLength),
          ta::where(k % 2 == 0, 1.0, -1.0)};
}

/// The cell left of each particle, and the share of the particle that the next cell has.
struct Cells {
  ta::Array left, right, share;
};
Cells cells_of(const ta::Array& at) {
  const ta::Array x = at / kWidth, left = ta::astype(ta::floor(x), ta::int64) % kCells;
  return {left, (left + 1) % kCells, x - ta::floor(x)};
}

/// Charge per length: electrons, and the ions that do not move.
ta::Array density(const Plasma& p, const Cells& c) {
  ta::Array rho = ta::zeros({kCells}, ta::float64);
  rho.add(c.left, c.share - 1);
  rho.add(c.right, -c.share);
  return rho * (p.weight() / kWidth) + 1;
}

/// Its integral, without the mean, at the edges of cells; then at their middles.
ta::Array field(const ta::Array& rho) {
  const ta::Array edge = ta::cumulative_sum(rho) * kWidth, middle = 0.5 * (edge + ta::roll(edge, 1));
  return middle - ta::mean(middle);
}

struct Result {
  std::string device;
  std::int64_t n = 0;
  int steps = 0;
  double first_energy = 0, last_energy = 0;  ///< of the field
  double charge = 0, momentum = 0;           ///< at the end; both are 0
  double seconds = 0;                        ///< of a step
  ta::Counters counters;                     ///< of the last step
};

Result run(std::int64_t n, int steps, ta::Device device) {
  const ta::Scope scope(device);
  Result r;
  r.device = device.str();
  r.n = n;
  r.steps = steps;
  Plasma p = two_beams(n);
  ta::Array rho, e;
  const auto step = [&] {
    const Cells c = cells_of(p.at);
    rho = density(p, c);
    e = field(rho);
    p.speed = p.speed - kStep * (ta::take(e, c.left) * (1 - c.share) + ta::take(e, c.right) * c.share);
    p.at = ta::remainder(p.at + kStep * p.speed, kLength);
    r.counters = ta::evaluate(p.at, p.speed, rho, e).counters();
  };
  const auto energy = [&] { return 0.5 * kWidth * ta::sum(e * e).item<double>(); };
  step();
  r.first_energy = energy();
  r.seconds = measure::seconds([&] {
                for (int s = 1; s < steps; ++s) step();
                ta::synchronize();
              }) /
              std::max(1, steps - 1);
  r.last_energy = energy();
  r.charge = ta::sum(rho).item<double>() * kWidth;
  r.momentum = ta::mean(p.speed).item<double>();
  return r;
}

void print_json(const Result& r) {
  const nlohmann::ordered_json json = {{"example", "particles"},
                                       {"device", r.device},
                                       {"n", r.n},
                                       {"steps", r.steps},
                                       {"growth", r.last_energy / r.first_energy},
                                       {"charge", r.charge},
                                       {"momentum", r.momentum},
                                       {"seconds", r.seconds},
                                       {"launches", r.counters.launches},
                                       {"bytes_moved", r.counters.bytes_read + r.counters.bytes_written}};
  fmt::print("{}\n", json.dump(2));
}

void print_table(const Result& r) {
  fmt::print("{} particles in {} cells on {}, {} steps\n\n", r.n, kCells, r.device, r.steps);
  fmt::print("energy of the field    {:.3e} to {:.3e}\n", r.first_energy, r.last_energy);
  fmt::print("charge, momentum       {:.1e}, {:.1e}\n", r.charge, r.momentum);
  fmt::print("a step                 {:.2f} ms, {} launches\n", 1e3 * r.seconds, r.counters.launches);
}

int run_main(int argc, char** argv) {
  CLI::App app("Two beams of electrons in the field that they make: particles in cells.");
  std::int64_t n = 200'000;
  int repeat = 200;
  std::string device;
  bool json = false;
  app.add_option("--n", n, "Particles")->check(CLI::PositiveNumber);
  app.add_option("--repeat", repeat, "Steps of time")->check(CLI::PositiveNumber);
  app.add_option("--device", device, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_flag("--json", json, "Print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);

  const Result result = run(n, repeat, measure::device(device));
  json ? print_json(result) : print_table(result);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "particles: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
