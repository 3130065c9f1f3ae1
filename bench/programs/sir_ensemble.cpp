// An epidemic under uncertain rates: for each member the susceptible, infected and recovered, a week at a time, by the
// classical Runge-Kutta method in steps of a day; and the worst day so far.
#include <array>

#include "bench/programs/program.h"

namespace bench {
namespace {

using State = std::array<Array, 3>;

Arrays step(const Array& susceptible, const Array& infected, const Array& recovered, const Array& worst,
            const Array& contact, const Array& recovery) {
  const auto tendency = [&](const State& x) -> State {
    const Array sick = contact * x[0] * x[1], well = recovery * x[1];
    return {-sick, sick - well, well};
  };
  const auto moved = [](const State& x, double dt, const State& k) -> State {
    return {x[0] + dt * k[0], x[1] + dt * k[1], x[2] + dt * k[2]};
  };
  State x{susceptible, infected, recovered};
  Array most = worst;
  for (int day = 0; day < 7; ++day) {
    const State k1 = tendency(x), k2 = tendency(moved(x, 0.5, k1)), k3 = tendency(moved(x, 0.5, k2));
    const State k4 = tendency(moved(x, 1, k3));
    for (std::size_t i = 0; i < 3; ++i) x[i] = x[i] + (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
    most = ta::maximum(most, x[1]);
  }
  return {x[0], x[1], x[2], most, ta::mean(x[1]), ta::max(most)};
}

}  // namespace

Program sir_ensemble(const Setting& setting) {
  const std::int64_t n = setting.extent(101, 1 << 19, 1 << 24);
  return {
      .inputs = {{{n}, 0.9, 0.95}, {{n}, 0.001, 0.05}, {{n}, 0, 0.05}, {{n}, 0, 0}, {{n}, 0.1, 0.6}, {{n}, 0.05, 0.3}},
      .state = 4,
      .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3], x[4], x[5]); }};
}

}  // namespace bench
