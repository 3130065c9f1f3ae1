// Pi from random points, and the price of an option from random ends of its stock, beside the exact values. Nothing is
// stored: the numbers are drawn inside the kernel that adds them up.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"

namespace ta = tarry;

namespace {

struct Estimate {
  double value = 0, exact = 0, deviation = 0;  ///< deviation: what one estimate of this kind is off by, typically
  double seconds = 0;
  ta::Counters counters;
  [[nodiscard]] double off() const { return std::abs(value - exact) / deviation; }
};

/// Four times the share of points in the unit square that lie in the quarter disk.
ta::Array pi(ta::random::Generator& g, std::int64_t n) {
  const ta::Array x = ta::random::uniform(g, n), y = ta::random::uniform(g, n);
  return 4 * ta::mean(ta::astype(x * x + y * y < 1, ta::float32));
}

struct Option {
  float stock = 100, strike = 105, rate = 0.03F, volatility = 0.2F, years = 1;
};

/// The discounted mean payoff of a European call, if the logarithm of the stock takes a normal step.
ta::Array call(ta::random::Generator& g, std::int64_t n, const Option& o) {
  const float drift = (o.rate - 0.5F * o.volatility * o.volatility) * o.years, step = o.volatility * std::sqrt(o.years);
  const ta::Array end = o.stock * ta::exp(drift + step * ta::random::normal(g, n));
  return std::exp(-o.rate * o.years) * ta::mean(ta::maximum(end - o.strike, 0));
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// The call's price by Black and Scholes, and the deviation of what it pays.
Estimate exact_call(const Option& o) {
  const double s = o.stock, k = o.strike, spread = o.volatility * std::sqrt(o.years),
               discount = std::exp(-o.rate * o.years);
  const double d = (std::log(s / k) + (o.rate + 0.5 * o.volatility * o.volatility) * o.years) / spread;
  const double growth = s / discount;
  // Moments of max(end - strike, 0), end lognormal.
  const double first = growth * normal_cdf(d) - k * normal_cdf(d - spread);
  const double second = growth * growth * std::exp(spread * spread) * normal_cdf(d + spread) -
                        2 * k * growth * normal_cdf(d) + k * k * normal_cdf(d - spread);
  return {0, discount * first, discount * std::sqrt(second - first * first), 0, {}};
}

struct Result {
  std::string device;
  std::int64_t n = 0;
  Estimate pi, call;
};

/// Seeds are arguments of the kernel: runs after the first compile nothing.
void run(Estimate& e, int repeat, const std::function<ta::Array(ta::random::Generator&)>& estimate) {
  const auto compute = [&](std::uint64_t seed) {
    ta::random::Generator g(seed);
    const ta::Array value = estimate(g);
    e.counters = ta::evaluate(value).counters();
    e.value = static_cast<double>(value.item<float>());
  };
  std::uint64_t seed = 0;
  compute(++seed);
  e.seconds = measure::best_seconds(repeat, [&] { compute(++seed); });
}

Result run(std::int64_t n, int repeat, ta::Device device) {
  const ta::Scope scope(device);
  Result r;
  r.device = device.str();
  r.n = n;
  const double root = std::sqrt(static_cast<double>(n)), exact = std::acos(-1.0);
  r.pi.exact = exact;
  r.pi.deviation = std::sqrt(exact * (4 - exact)) / root;
  run(r.pi, repeat, [n](ta::random::Generator& g) { return pi(g, n); });
  const Option option;
  r.call = exact_call(option);
  r.call.deviation /= root;
  run(r.call, repeat, [&](ta::random::Generator& g) { return call(g, n, option); });
  return r;
}

void print_json(const Result& r) {
  const auto part = [&](const Estimate& e) {
    return nlohmann::ordered_json{{"value", e.value},
                                  {"exact", e.exact},
                                  {"deviations_off", e.off()},
                                  {"seconds", e.seconds},
                                  {"draws_per_second", static_cast<double>(r.n) / e.seconds},
                                  {"kernels", e.counters.kernels},
                                  {"bytes_moved", e.counters.bytes_read + e.counters.bytes_written}};
  };
  const nlohmann::ordered_json json = {
      {"example", "monte_carlo"}, {"device", r.device}, {"n", r.n}, {"pi", part(r.pi)}, {"call", part(r.call)}};
  fmt::print("{}\n", json.dump(2));
}

void print_row(const char* name, const Estimate& e, std::int64_t n) {
  fmt::print("{:<24}{:>12.6f}{:>12.6f}{:>8.2f}{:>10}{:>12.2f}{:>14.0f}\n", name, e.value, e.exact, e.off(),
             e.counters.kernels, 1e3 * e.seconds, 1e-6 * static_cast<double>(n) / e.seconds);
}

void print_table(const Result& r) {
  fmt::print("Simulation: {} samples each on {}\n\n", r.n, r.device);
  fmt::print("{:<24}{:>12}{:>12}{:>8}{:>10}{:>12}{:>14}\n", "", "estimate", "exact", "sigma", "kernels", "ms",
             "million/s");
  print_row("pi", r.pi, r.n);
  print_row("European call", r.call, r.n);
}

int run_main(int argc, char** argv) {
  CLI::App app("Pi and an option price by simulation, without storing a number.");
  std::int64_t n = 4'000'000;
  int repeat = 10;
  std::string device;
  bool json = false;
  app.add_option("--n", n, "Samples of each")->check(CLI::PositiveNumber);
  app.add_option("--repeat", repeat, "Runs of which the fastest counts; each has another seed")
      ->check(CLI::PositiveNumber);
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
    fmt::print(stderr, "monte_carlo: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
