// Light in two dimensions by finite differences in time (Yee, IEEE Trans. Antennas Propag. 14, 1966): the electric
// field at nodes, the magnetic field on edges, a lossy medium, and mirrors around.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr ta::Slice kAll{}, kInner = ta::slice(1, -1), kLower = ta::slice(0, -1), kUpper = ta::slice(1, ta::none);

Arrays step(Array e, Array hx, Array hy, const Array& keep, const Array& gain) {
  hx -= 0.5 * (e(kAll, kUpper) - e(kAll, kLower));
  hy += 0.5 * (e(kUpper) - e(kLower));
  const Array curl = hy(kUpper, kInner) - hy(kLower, kInner) - hx(kInner, kUpper) + hx(kInner, kLower);
  e.set({kInner, kInner}, keep * e(kInner, kInner) + gain * curl);
  return {e, hx, hy};
}

}  // namespace

Program maxwell_2d(const Setting& setting) {
  const std::int64_t n = setting.extent(21, 1024, 4096);
  return {.inputs = {{{n, n}, -1, 1},
                     {{n, n - 1}, -1, 1},
                     {{n - 1, n}, -1, 1},
                     {{n - 2, n - 2}, 0.95, 1},
                     {{n - 2, n - 2}, 0.4, 0.5}},
          .state = 3,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3], x[4]); }};
}

}  // namespace bench
