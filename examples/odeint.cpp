// Ordinary differential equations by the classical Runge-Kutta method, as a scan over the times: ten thousand pairs of
// predator and prey (Lotka 1925, Volterra 1926) with rates of their own, in one kernel behind the times. A quantity
// that each pair keeps along its way says how good the solution is.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <span>
#include <vector>

#include <tarry/tarry.h>

namespace ta = tarry;

namespace {

using Arrays = std::vector<ta::Array>;
/// dy/dt at y and t.
using Slope = std::function<Arrays(std::span<const ta::Array> y, const ta::Array& t)>;

Arrays moved(std::span<const ta::Array> y, const Arrays& slope, const ta::Array& step) {
  Arrays to;
  for (std::size_t i = 0; i < y.size(); ++i) to.push_back(y[i] + step * slope[i]);
  return to;
}

/// y at times[1], times[2], ..., from y at times[0]. A step goes from one time to the next.
Arrays odeint(const Slope& slope, const Arrays& start, const ta::Array& times) {
  const std::int64_t n = times.size();
  const Arrays along{times(ta::slice(0, n - 1)), ta::diff(times)};
  const auto step = [&](std::span<const ta::Array> y, std::span<const ta::Array> at) -> ta::Scanned {
    const ta::Array &t = at[0], &h = at[1];
    const Arrays a = slope(y, t), b = slope(moved(y, a, 0.5 * h), t + 0.5 * h);
    const Arrays c = slope(moved(y, b, 0.5 * h), t + 0.5 * h), d = slope(moved(y, c, h), t + h);
    Arrays next;
    for (std::size_t i = 0; i < y.size(); ++i) next.push_back(y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    return {next, next};
  };
  return ta::scan(start, along, step).ys;
}

int run_main() {
  const std::int64_t pairs = 10'000;
  ta::random::Generator g(7);
  const ta::random::UniformOptions rates{.low = 0.5, .high = 1.5, .dtype = ta::float64};
  const ta::Array growth = ta::random::uniform(g, {pairs}, rates), hunger = ta::random::uniform(g, {pairs}, rates);
  const Slope slope = [&](std::span<const ta::Array> y, const ta::Array&) {
    const ta::Array &prey = y[0], &hunters = y[1];
    return Arrays{growth * prey - prey * hunters, prey * hunters - hunger * hunters};
  };
  const ta::Array start = ta::full({pairs}, 2.0, ta::float64);
  const ta::Array times = ta::linspace(0.0, 20.0, 1001, {.dtype = ta::float64});
  const Arrays y = odeint(slope, {start, start}, times);

  const auto kept = [&](const ta::Array& prey, const ta::Array& hunters) {
    return prey - hunger * ta::log(prey) + hunters - growth * ta::log(hunters);
  };
  const ta::Array before = kept(start, start);
  const ta::Array lost = ta::max(ta::abs(kept(y[0], y[1]) - before) / before);
  const ta::Report report = ta::evaluate(y[0], y[1]);
  std::cout << pairs << " pairs, " << times.size() - 1 << " steps, " << report.counters().kernels << " kernels\n"
            << "prey of the first pairs at the end: " << y[0](-1, ta::slice(0, 3)) << '\n'
            << "what a pair keeps changes by less than 1e-6: " << std::boolalpha << (lost.item<double>() < 1e-6)
            << '\n';
  return report.counters().kernels <= 2 && lost.item<double>() < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run_main();
  } catch (const std::exception& error) {
    std::cerr << "odeint: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
