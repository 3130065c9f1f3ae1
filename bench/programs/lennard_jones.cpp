// Particles in a periodic box that attract and repel each other (Lennard-Jones), all pairs, moved by the velocity
// Verlet method; their energy.
#include "bench/programs/program.h"

namespace bench {
namespace {

struct Pairs {
  Array force, energy;
};

Pairs forces(const Array& x, double box) {
  const ta::Slice all{};
  Array d = x(all, ta::newaxis) - x;  // (n, n, 3): from each to each
  d = d - box * ta::round(d / box);
  const Array square = ta::sum(d * d, -1) + ta::eye(x.shape()[0]);
  const Array inverse = 1 / ta::maximum(square, 0.8), sixth = inverse * inverse * inverse;
  const Array other = (1 - ta::eye(x.shape()[0])) * sixth;
  const Array strength = other * (48 * sixth - 24) * inverse;
  return {ta::sum(strength(all, all, ta::newaxis) * d, 1), 2 * ta::sum(other * (sixth - 1))};
}

Arrays step(const Array& position, const Array& velocity, double box) {
  const double dt = 0.001;
  const Array half = velocity + 0.5 * dt * forces(position, box).force;
  const Array moved = position + dt * half;
  const Pairs after = forces(moved, box);
  const Array v = half + 0.5 * dt * after.force;
  return {moved, v, after.energy + 0.5 * ta::sum(v * v)};
}

}  // namespace

Program lennard_jones(const Setting& setting) {
  const std::int64_t n = setting.extent(20, 1024, 8192);
  const double box = setting.size == Size::Small ? 3 : setting.size == Size::Cpu ? 11 : 22;
  return {.inputs = {{{n, 3}, 0, box}, {{n, 3}, -0.5, 0.5}}, .state = 2, .step = [box](const Arrays& x) {
            return step(x[0], x[1], box);
          }};
}

}  // namespace bench
