// Prices European options by the closed form of Black and Scholes (1973): one kernel that reads three arrays and writes
// two. Shows the same formula evaluated op by op, the machine's copy rate, and the error against double precision.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tarry/tarry.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "examples/measure.h"

namespace ta = tarry;

namespace {

constexpr float kRate = 0.02F;        // per year
constexpr float kVolatility = 0.30F;  // per square root of a year
constexpr float kDrift = kRate + 0.5F * kVolatility * kVolatility;
constexpr float kInverseSqrt2 = 0.5F * std::numbers::sqrt2_v<float>;

struct Prices {
  ta::Array call, put;
};

ta::Array cdf(const ta::Array& x) { return 0.5F * (1.0F + ta::erf(x * kInverseSqrt2)); }

Prices price(const ta::Array& spot, const ta::Array& strike, const ta::Array& years) {
  const ta::Array spread = kVolatility * ta::sqrt(years);
  const ta::Array d1 = (ta::log(spot / strike) + kDrift * years) / spread;
  const ta::Array discounted = strike * ta::exp(-kRate * years);
  const ta::Array call = spot * cdf(d1) - discounted * cdf(d1 - spread);
  return {call, call - spot + discounted};
}

/// The same operations in the same order, each evaluated before the next is recorded: what an eager library does.
class Stepwise {
 public:
  Prices price(const ta::Array& spot, const ta::Array& strike, const ta::Array& years) {
    const ta::Array spread = now(kVolatility * now(ta::sqrt(years)));
    const ta::Array d1 = now(now(now(ta::log(now(spot / strike))) + now(kDrift * years)) / spread);
    const ta::Array discounted = now(strike * now(ta::exp(now(-kRate * years))));
    const ta::Array call = now(now(spot * cdf(d1)) - now(discounted * cdf(now(d1 - spread))));
    return {call, now(now(call - spot) + discounted)};
  }
  [[nodiscard]] std::int64_t launches() const { return launches_; }
  [[nodiscard]] std::int64_t bytes_moved() const { return bytes_moved_; }

 private:
  ta::Array cdf(const ta::Array& x) { return now(0.5F * now(1.0F + now(ta::erf(now(x * kInverseSqrt2))))); }
  ta::Array now(const ta::Array& x) {
    const ta::Counters done = ta::evaluate(x).counters();
    launches_ += done.launches;
    bytes_moved_ += done.bytes_read + done.bytes_written;
    return x;
  }
  std::int64_t launches_ = 0, bytes_moved_ = 0;
};

/// Largest absolute difference of `call` and `put` from the closed form in double precision.
double largest_error(const std::vector<float>& spot, const std::vector<float>& strike, const std::vector<float>& years,
                     const std::vector<float>& call, const std::vector<float>& put) {
  const auto normal_cdf = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  double largest = 0;
  for (std::size_t i = 0; i < spot.size(); ++i) {
    const double s = spot[i], k = strike[i], t = years[i], r = kRate, v = kVolatility;
    const double spread = v * std::sqrt(t);
    const double d1 = (std::log(s / k) + (r + 0.5 * v * v) * t) / spread;
    const double discounted = k * std::exp(-r * t);
    const double exact_call = s * normal_cdf(d1) - discounted * normal_cdf(d1 - spread);
    const double exact_put = discounted * normal_cdf(spread - d1) - s * normal_cdf(-d1);
    largest = std::max({largest, std::abs(call[i] - exact_call), std::abs(put[i] - exact_put)});
  }
  return largest;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Result {
  std::string device;
  std::size_t n = 0;
  ta::Counters counters;
  double first_seconds = 0, fused_seconds = 0, stepwise_seconds = 0, numpy_seconds = 0, copy_rate = 0, error = 0;
  std::int64_t stepwise_launches = 0, stepwise_bytes = 0;
  bool same = false;
};

Result run(std::size_t n, int repeat, ta::Device device) {
  const ta::Scope scope(device);
  const std::vector<float> spot_values = measure::uniform(n, 5, 30, 1);
  const std::vector<float> strike_values = measure::uniform(n, 1, 100, 2);
  const std::vector<float> years_values = measure::uniform(n, 0.25F, 10, 3);
  const ta::Array spot = ta::asarray(spot_values), strike = ta::asarray(strike_values),
                  years = ta::asarray(years_values);

  Result result;
  result.n = n;
  result.device = device.str();
  const auto fused = [&] {
    Prices prices = price(spot, strike, years);
    result.counters = ta::evaluate(prices.call, prices.put).counters();
    ta::synchronize();
    return prices;
  };
  const auto stepwise = [&] {
    Stepwise steps;
    Prices prices = steps.price(spot, strike, years);
    ta::synchronize();
    result.stepwise_launches = steps.launches();
    result.stepwise_bytes = steps.bytes_moved();
    return prices;
  };

  result.first_seconds = measure::seconds(fused);  // uploads and compiles, unless the kernel is in the cache
  result.fused_seconds = measure::best_seconds(repeat, fused);
  stepwise();
  result.stepwise_seconds = measure::best_seconds(repeat, stepwise);
  result.copy_rate = measure::copy_rate(device, n * sizeof(float) * 5 / 2, repeat);

  const Prices one = fused(), other = stepwise();
  const std::vector<float> call = one.call.to_vector<float>(), put = one.put.to_vector<float>();
  result.same = same_bits(call, other.call.to_vector<float>()) && same_bits(put, other.put.to_vector<float>());
  result.error = largest_error(spot_values, strike_values, years_values, call, put);
  return result;
}

std::int64_t bytes_moved(const Result& r) { return r.counters.bytes_read + r.counters.bytes_written; }

double rate(const Result& r) { return static_cast<double>(bytes_moved(r)) / r.fused_seconds; }

void print_json(const Result& r) {
  const nlohmann::ordered_json json = {
      {"example", "black_scholes"},
      {"device", r.device},
      {"n", r.n},
      {"options_per_second", static_cast<double>(r.n) / r.fused_seconds},
      {"seconds", r.fused_seconds},
      {"first_seconds", r.first_seconds},
      {"kernels", r.counters.kernels},
      {"launches", r.counters.launches},
      {"bytes_moved", bytes_moved(r)},
      {"bytes_lower_bound", r.counters.bytes_lower_bound},
      {"bytes_per_second", rate(r)},
      {"copy_bytes_per_second", r.copy_rate},
      {"unfused_seconds", r.stepwise_seconds},
      {"unfused_launches", r.stepwise_launches},
      {"unfused_bytes_moved", r.stepwise_bytes},
      {"fused_equals_unfused", r.same},
      {"largest_error", r.error},
  };
  fmt::print("{}\n", json.dump(2));
}

void print_row(const char* name, const Result& r, double seconds, const std::string& launches,
               const std::string& bytes) {
  fmt::print("{:<22}{:>10.2f} ms{:>12.1f} M{:>10}{:>14}{:>10.1f}\n", name, 1e3 * seconds,
             1e-6 * static_cast<double>(r.n) / seconds, launches, bytes, seconds / r.fused_seconds);
}

void print_table(const Result& r) {
  const auto megabytes = [](std::int64_t bytes) { return fmt::format("{:.1f} MB", 1e-6 * static_cast<double>(bytes)); };
  fmt::print("Black-Scholes: {} float32 options (call and put) on {}\n\n", r.n, r.device);
  fmt::print("{:<22}{:>13}{:>14}{:>10}{:>14}{:>10}\n", "", "time", "options/s", "launches", "bytes moved", "relative");
  print_row("Tarry", r, r.fused_seconds, fmt::to_string(r.counters.launches), megabytes(bytes_moved(r)));
  print_row("Tarry, op by op", r, r.stepwise_seconds, fmt::to_string(r.stepwise_launches), megabytes(r.stepwise_bytes));
  if (r.numpy_seconds > 0) print_row("NumPy", r, r.numpy_seconds, "-", "-");
  fmt::print("\nlower bound of bytes   {} (three arrays read, two written)\n", megabytes(r.counters.bytes_lower_bound));
  fmt::print("memory rate            {:.1f} GB/s; a copy reaches {:.1f} GB/s here ({:.0f} %)\n", 1e-9 * rate(r),
             1e-9 * r.copy_rate, 100 * rate(r) / r.copy_rate);
  fmt::print("first evaluate         {:.1f} ms, with uploads and compilation\n", 1e3 * r.first_seconds);
  fmt::print("fused = op by op       {}\n", r.same ? "yes, bit for bit" : "NO");
  fmt::print("largest error          {:.2e} against double precision, at prices up to 100\n", r.error);
}

int run_main(int argc, char** argv) {
  CLI::App app("Prices European options in one fused kernel.");
  std::size_t n = 4'000'000;
  int repeat = 10;
  std::string device;
  bool json = false;
  double numpy_seconds = 0;
  app.add_option("--n", n, "Number of options")->check(CLI::PositiveNumber);
  app.add_option("--repeat", repeat, "Runs of which the fastest counts")->check(CLI::PositiveNumber);
  app.add_option("--device", device, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--numpy", numpy_seconds, "Seconds that NumPy took, for one more row");
  app.add_flag("--json", json, "Print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);

  Result result = run(n, repeat, measure::device(device));
  result.numpy_seconds = numpy_seconds;
  json ? print_json(result) : print_table(result);
  return result.same ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "black_scholes: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
