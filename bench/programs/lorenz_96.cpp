// An ensemble of chaotic atmospheres on a circle of latitude (Lorenz, ECMWF 1996), by the classical Runge-Kutta method.
#include "bench/programs/program.h"

namespace bench {
namespace {

Array tendency(const Array& x) { return (ta::roll(x, -1, 1) - ta::roll(x, 2, 1)) * ta::roll(x, 1, 1) - x + 8; }

Arrays step(const Array& x) {
  const double dt = 0.01;
  const Array k1 = tendency(x), k2 = tendency(x + dt / 2 * k1), k3 = tendency(x + dt / 2 * k2),
              k4 = tendency(x + dt * k3);
  return {x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)};
}

}  // namespace

Program lorenz_96(const Setting& setting) {
  const std::int64_t members = setting.extent(7, 16384, 131072);
  return {.inputs = {{{members, 40}, -5, 10}}, .state = 1, .step = [](const Arrays& x) { return step(x[0]); }};
}

}  // namespace bench
