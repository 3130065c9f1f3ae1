// Gas in two dimensions by finite volumes: limited slopes at cell faces and the fluxes of the HLLC solver (Toro,
// Spruce, Speares, Shock Waves 4, 1994). Periodic.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr double kGamma = 1.4;

/// Density, velocities across and along a face, pressure.
struct Gas {
  Array density, across, along, pressure;
};

/// Fluxes of mass, of momentum across and along, and of energy.
struct Flux {
  Array mass, across, along, energy;
};

Array minmod(const Array& a, const Array& b) {
  return ta::where(a * b > 0, ta::where(ta::abs(a) < ta::abs(b), a, b), 0);
}

/// Values at both sides of the upper face of each cell.
struct Sides {
  Array left, right;
  Sides(const Array& x, int axis) {
    const Array slope = 0.5 * minmod(x - ta::roll(x, 1, axis), ta::roll(x, -1, axis) - x);
    left = x + slope;
    right = ta::roll(x - slope, -1, axis);
  }
};

Array energy(const Gas& g) {
  return g.pressure / (kGamma - 1) + 0.5 * g.density * (g.across * g.across + g.along * g.along);
}

/// The flux of one side: its own, or behind the wave `speed` the one in the star region.
Flux side(const Gas& g, const Array& speed, const Array& contact) {
  const Array total = energy(g);
  const Array factor = g.density * (speed - g.across) / (speed - contact);
  const Array star_energy =
      factor * (total / g.density + (contact - g.across) * (contact + g.pressure / (g.density * (speed - g.across))));
  const auto behind = [&](const Array& flux, const Array& state, const Array& star) {
    return ta::where(speed * contact < 0, flux + speed * (star - state), flux);
  };
  const Array mass = g.density * g.across;
  return {behind(mass, g.density, factor), behind(mass * g.across + g.pressure, mass, factor * contact),
          behind(mass * g.along, g.density * g.along, factor * g.along),
          behind((total + g.pressure) * g.across, total, star_energy)};
}

Flux fluxes(const Gas& g, int axis) {
  const Sides density(g.density, axis), across(g.across, axis), along(g.along, axis), pressure(g.pressure, axis);
  const Gas l{density.left, across.left, along.left, pressure.left};
  const Gas r{density.right, across.right, along.right, pressure.right};
  const Array sound_l = ta::sqrt(kGamma * l.pressure / l.density), sound_r = ta::sqrt(kGamma * r.pressure / r.density);
  const Array speed_l = ta::minimum(l.across - sound_l, r.across - sound_r);
  const Array speed_r = ta::maximum(l.across + sound_l, r.across + sound_r);
  const Array push_l = l.density * (speed_l - l.across), push_r = r.density * (speed_r - r.across);
  const Array contact = (r.pressure - l.pressure + push_l * l.across - push_r * r.across) / (push_l - push_r);
  const Flux fl = side(l, speed_l, contact), fr = side(r, speed_r, contact);
  const Array from_left = contact >= 0;
  return {ta::where(from_left, fl.mass, fr.mass), ta::where(from_left, fl.across, fr.across),
          ta::where(from_left, fl.along, fr.along), ta::where(from_left, fl.energy, fr.energy)};
}

Arrays step(const Array& density, const Array& mx, const Array& my, const Array& total) {
  const double courant = 0.1;  // dt / dx
  const Array u = mx / density, v = my / density;
  const Array pressure = (kGamma - 1) * (total - 0.5 * density * (u * u + v * v));
  const Flux x = fluxes({density, u, v, pressure}, 1), y = fluxes({density, v, u, pressure}, 0);
  const auto moved = [&](const Array& state, const Array& fx, const Array& fy) {
    return state - courant * (fx - ta::roll(fx, 1, 1) + fy - ta::roll(fy, 1, 0));
  };
  return {moved(density, x.mass, y.mass), moved(mx, x.across, y.along), moved(my, x.along, y.across),
          moved(total, x.energy, y.energy)};
}

}  // namespace

Program euler_hllc(const Setting& setting) {
  const std::int64_t n = setting.extent(17, 512, 2048);
  return {.inputs = {{{n, n}, 0.8, 1.2}, {{n, n}, -0.3, 0.3}, {{n, n}, -0.3, 0.3}, {{n, n}, 2, 3}},
          .state = 4,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3]); }};
}

}  // namespace bench
