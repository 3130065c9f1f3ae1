// Rotating shallow water on a staggered grid: velocities on the faces of a cell, depth in its centre, vorticity at its
// corners (Sadourny, J. Atmos. Sci. 32, 1975). Periodic.
#include "bench/programs/program.h"

namespace bench {
namespace {

Array west(const Array& x) { return ta::roll(x, 1, 1); }
Array east(const Array& x) { return ta::roll(x, -1, 1); }
Array south(const Array& x) { return ta::roll(x, 1, 0); }
Array north(const Array& x) { return ta::roll(x, -1, 0); }

Arrays step(const Array& u, const Array& v, const Array& depth) {
  const double gravity = 9.81, coriolis = 0.1, dx = 1.0, dt = 0.02, viscosity = 0.1;
  const Array flux_x = 0.5 * u * (depth + west(depth)), flux_y = 0.5 * v * (depth + south(depth));
  const Array h = depth - dt / dx * (east(flux_x) - flux_x + north(flux_y) - flux_y);

  const Array corner = 0.25 * (h + west(h) + south(h) + south(west(h)));
  const Array vorticity = (coriolis + (v - west(v) - u + south(u)) / dx) / corner;
  const Array head = gravity * h + 0.25 * (u * u + east(u * u) + v * v + north(v * v));
  const Array turn_x = vorticity * 0.5 * (flux_y + west(flux_y)), turn_y = vorticity * 0.5 * (flux_x + south(flux_x));
  const auto diffusion = [&](const Array& x) { return viscosity * (west(x) + east(x) + south(x) + north(x) - 4 * x); };
  return {u + dt * (0.5 * (turn_x + north(turn_x)) - (head - west(head)) / dx + diffusion(u)),
          v + dt * (-0.5 * (turn_y + east(turn_y)) - (head - south(head)) / dx + diffusion(v)), h};
}

}  // namespace

Program shallow_water(const Setting& setting) {
  const std::int64_t n = setting.extent(23, 1024, 4096);
  return {.inputs = {{{n, n}, -0.1, 0.1}, {{n, n}, -0.1, 0.1}, {{n, n}, 0.95, 1.05}},
          .state = 3,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2]); }};
}

}  // namespace bench
