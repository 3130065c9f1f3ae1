// Random numbers by rounds: frequencies beside the distributions' own probabilities, and one number per element
// wherever it is made.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "codegen/render/kernel_source.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/sample_results.h"

namespace ta = tarry;
using ta::Array;
using ta::test::in_every_way;
using ta::test::on_every_device;
namespace rnd = ta::random;

namespace {

constexpr std::int64_t kMany = 100000;

/// The largest distance between the shares of numbers up to x and the distribution function, times sqrt(n): above 1.95
/// in one of a thousand samples.
double distance(const Array& drawn, const std::function<double(double)>& cdf) {
  std::vector<double> x = ta::astype(drawn, ta::float64).to_vector<double>();
  std::ranges::sort(x);
  double most = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double below = static_cast<double>(i) / n, share = cdf(x[i]);
    most = std::max({most, share - below, below + 1 / n - share});
  }
  return most * std::sqrt(n);
}

/// Pearson's statistic of counts over their expectations, in deviations from its mean: classes of fewer than ten are
/// joined.
double deviation(const Array& drawn, const std::function<double(std::int64_t)>& probability, std::int64_t most) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(most) + 2);
  for (const std::int64_t k : drawn.to_vector<std::int64_t>()) {
    REQUIRE(k >= 0);
    ++counts[static_cast<std::size_t>(std::min(k, most + 1))];
  }
  double sum = 0, expected = 0, found = 0, rest = kMany;
  int classes = 0;
  const auto close = [&] {
    sum += (found - expected) * (found - expected) / expected, ++classes, expected = found = 0;
  };
  for (std::int64_t k = 0; k <= most + 1; ++k) {
    const double wanted = k <= most ? kMany * probability(k) : rest;
    rest -= wanted;
    expected += wanted, found += static_cast<double>(counts[static_cast<std::size_t>(k)]);
    if (expected >= 10) close();
  }
  if (expected > 0.5) close();
  return classes < 2 ? 0 : (sum - (classes - 1)) / std::sqrt(2.0 * (classes - 1));
}

double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

template <class T>
bool equal(const Array& a, const Array& b) {
  return a.to_vector<T>() == b.to_vector<T>();
}

}  // namespace

TEST_CASE("distributions: gamma and beta numbers have their distribution functions", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator g(20261129);
    for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
      const auto gamma = [&](double a) { return rnd::gamma(g, {kMany}, a, {dtype}); };
      const auto beta = [&](double a, double b) { return rnd::beta(g, {kMany}, a, b, {dtype}); };
      CHECK(gamma(1).dtype() == dtype);
      CHECK(distance(gamma(0.5), [](double x) { return std::erf(std::sqrt(x)); }) < 2.2);
      CHECK(distance(gamma(1), [](double x) { return -std::expm1(-x); }) < 2.2);
      CHECK(distance(gamma(3), [](double x) { return 1 - std::exp(-x) * (1 + x + x * x / 2); }) < 2.2);
      CHECK(distance(beta(0.3, 1), [](double x) { return std::pow(x, 0.3); }) < 2.2);
      CHECK(distance(beta(1, 4), [](double x) { return 1 - std::pow(1 - x, 4); }) < 2.2);
      CHECK(distance(beta(0.5, 0.5), [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); }) < 2.2);
      // Many exponential numbers add up to their count, nearly.
      CHECK(std::abs(ta::astype(ta::mean(gamma(1e6)), ta::float64).item<double>() / 1e6 - 1) < 1e-5);
    }
    for (const ta::Dtype dtype : {ta::float16, ta::bfloat16}) {
      const Array x = rnd::gamma(g, {kMany}, 2, {dtype});
      CHECK(x.dtype() == dtype);
      CHECK(std::abs(ta::mean(ta::astype(x, ta::float64)).item<double>() - 2) < 0.03);
    }
  });
}

TEST_CASE("distributions: counts have their probabilities on both sides of a mean of ten", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator g(7);
    for (const double mean : {0.01, 1.0, 9.99, 10.0, 12.5, 60.0, 1000.0}) {
      const auto probability = [&](std::int64_t k) {
        const auto x = static_cast<double>(k);
        return std::exp(x * std::log(mean) - mean - std::lgamma(x + 1));
      };
      INFO("mean " << mean);
      CHECK(std::abs(deviation(rnd::poisson(g, {kMany}, mean), probability, 2000)) < 5);
    }
    const std::vector<std::pair<std::int64_t, double>> cases{{1, 0.3},   {20, 0.25},  {20, 0.8},  {39, 0.25},
                                                             {41, 0.25}, {100, 0.95}, {100, 0.5}, {2000, 0.3}};
    for (const auto& [n, p] : cases) {
      const auto probability = [&, n = n, p = p](std::int64_t k) {
        const auto x = static_cast<double>(k), all = static_cast<double>(n);
        return k > n ? 0 : std::exp(log_choose(all, x) + x * std::log(p) + (all - x) * std::log1p(-p));
      };
      INFO(n << " trials of " << p);
      CHECK(std::abs(deviation(rnd::binomial(g, {kMany}, n, p), probability, 2000)) < 5);
    }
  });
}

TEST_CASE("distributions: an element's number depends on its own parameter, position and draw alone", "[random]") {
  in_every_way([] {
    const Array means = ta::array({0.0, 3.0, 9.5, 10.0, 70.0});
    rnd::Generator g(3), same(3), third(3);
    const Array all = rnd::poisson(g, {300, 5}, means), alone = rnd::poisson(same, {300, 5}, 70.0);
    CHECK(equal<std::int64_t>(all(ta::slice(), 4), alone(ta::slice(), 4)));
    CHECK(equal<std::int64_t>(all(ta::slice(100, 120)), ta::reshape(rnd::poisson(third, {1500}, ta::tile(means, {300})),
                                                                    {300, 5})(ta::slice(100, 120))));
    const Array p = ta::array({0.0, 0.1, 0.5, 0.9, 1.0});
    const Array some = rnd::binomial(g, {300, 5}, ta::array({40, 40, 40, 40, 40}), p);
    CHECK(equal<std::int64_t>(some(ta::slice(), 2), rnd::binomial(same, {300, 5}, 40, 0.5)(ta::slice(), 2)));
    CHECK(ta::all(some(ta::slice(), 0) == 0).item<bool>());
    CHECK(ta::all(some(ta::slice(), 4) == 40).item<bool>());
    const Array x = rnd::gamma(g, {300, 2}, ta::array({0.4, 5.0}));
    CHECK(equal<double>(x(ta::slice(), 0), rnd::gamma(same, {300, 2}, 0.4, {ta::float64})(ta::slice(), 0)));
    CHECK(g.draws() == 3);
  });
}

TEST_CASE("distributions: the same bits on every device, compiled, interpreted and unfused", "[random]") {
  std::vector<double> first;
  in_every_way([&] {
    rnd::Generator g(11);
    const Array noise = rnd::normal(g, {777}, {.dtype = ta::float64});
    const Array x = rnd::gamma(g, {777}, 1.5, {ta::float64}) + noise * rnd::gamma(g, {777}, 0.2, {ta::float64});
    const Array y = x + rnd::poisson(g, {777}, 30) + rnd::binomial(g, {777}, 50, ta::linspace(0, 1, 777));
    const std::vector<double> values = y.to_vector<double>();
    if (first.empty()) first = values;
    CHECK(values == first);
  });
}

TEST_CASE("distributions: a draw behind the rounds is part of their kernel", "[random][loop]") {
  const ta::Scope placed(ta::cpu);
  rnd::Generator g(5), same(5);
  const auto student = [](rnd::Generator& from) {
    const Array chi = rnd::gamma(from, {5000}, 2, {ta::float32});
    return rnd::normal(from, {5000}) / ta::sqrt(chi / 2.0);
  };
  const Array t = student(g);
  CHECK(ta::plan(t).counters().launches == 1);
  const std::vector<float> fused = t.to_vector<float>();
  const ta::test::Setting off("TARRY_DISABLE", "fusion");
  CHECK(fused == student(same).to_vector<float>());
}

TEST_CASE("distributions: parameters outside of their range, and draws of no element", "[random]") {
  in_every_way([] {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    rnd::Generator g(1);
    const std::vector<double> x = rnd::gamma(g, {4}, ta::array({0.0, -1.0, inf, nan})).to_vector<double>();
    CHECK(x[0] == 0);
    CHECK((std::isnan(x[1]) && std::isnan(x[2]) && std::isnan(x[3])));
    CHECK(rnd::poisson(g, {5}, ta::array({-1.0, nan, inf, 1e19, 0.0})).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{-1, -1, -1, -1, 0});
    CHECK(rnd::binomial(g, {4}, ta::array({-1, 5, 5, 0}), ta::array({0.5, 1.5, nan, 0.5})).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{-1, -1, -1, 0});
    CHECK(rnd::gamma(g, {0, 3}, 1).to_vector<float>().empty());
    CHECK(rnd::poisson(g, {0}, ta::zeros({0})).to_vector<std::int64_t>().empty());
    CHECK(rnd::binomial(g, {}, 1, 1).item<std::int64_t>() == 1);
  });
}

TEST_CASE("distributions: no kernel spills on a GPU", "[random][cuda]") {
  TARRY_REQUIRE_NVRTC();
  rnd::Generator g(1);
  const Array p = ta::linspace(0, 1, 100000);
  const std::vector<Array> all{rnd::gamma(g, {100000}, 1.5), rnd::gamma(g, {100000}, p), rnd::beta(g, {100000}, 0.5, p),
                               rnd::poisson(g, {100000}, p * 20.0), rnd::binomial(g, {100000}, 40, p)};
  for (const char* arch : {"sm_75", "sm_90", "sm_100"}) {
    const ta::graph::Target& target = *ta::graph::find_target(arch);
    for (const Array& x : all) {
      for (const auto& kernel : ta::test::kernels_of(x, target)) {
        const ta::codegen::KernelSource* const one = kernel.get();
        const std::string text = ta::codegen::join_unit({&one, 1}, target);
        for (const auto& r : ta::runtime::nvrtc_compile(text, target, ta::graph::Mode::Strict).resources) {
          INFO(arch << " " << r.entry << ": " << r.registers << " registers");
          CHECK(r.spill_store_bytes + r.spill_load_bytes + r.stack_bytes == 0);
        }
      }
    }
  }
}
