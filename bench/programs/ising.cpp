// The Ising model: the black fields of a checkerboard are drawn anew, then the white ones (Metropolis). Periodic.
#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(ta::random::Generator& random, Array up) {
  const double coupling = 0.44;
  const ta::Shape shape = up.shape();
  const Array row = ta::arange(shape[0])(ta::slice(), ta::newaxis), column = ta::arange(shape[1]);
  for (int colour = 0; colour < 2; ++colour) {
    const Array spin = ta::where(up, 1.0F, -1.0F);
    const Array around = ta::roll(spin, 1, 0) + ta::roll(spin, -1, 0) + ta::roll(spin, 1, 1) + ta::roll(spin, -1, 1);
    const Array flips = ta::random::uniform(random, shape) < ta::exp(-2 * coupling * spin * around);
    const Array turn = (row + column) % 2 == colour;
    up = ta::where(turn & flips, ~up, up);
  }
  return {up, ta::mean(ta::where(up, 1.0F, -1.0F))};
}

}  // namespace

Program ising(const Setting& setting) {
  const std::int64_t n = setting.extent(16, 1024, 8192);
  return {.inputs = {{{n, n}, 0, 2, ta::bool_}},
          .state = 1,
          .step = [random = ta::random::Generator(1)](const Arrays& x) mutable { return step(random, x[0]); }};
}

}  // namespace bench
