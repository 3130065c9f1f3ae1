// Light in three dimensions by finite differences in time (Yee 1966): electric fields on edges of a cell, magnetic
// fields on its faces, and mirrors around.
#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr ta::Slice kAll{}, kInner = ta::slice(1, -1);

/// Differences along an axis, one shorter there.
Array difference(const Array& x, int axis) {
  const ta::Slice lower = ta::slice(0, -1), upper = ta::slice(1, ta::none);
  if (axis == 0) return x(upper) - x(lower);
  if (axis == 1) return x(kAll, upper) - x(kAll, lower);
  return x(kAll, kAll, upper) - x(kAll, kAll, lower);
}

Arrays step(Array ex, Array ey, Array ez, Array hx, Array hy, Array hz) {
  const double c = 0.5;
  hx -= c * (difference(ez, 1) - difference(ey, 2));
  hy -= c * (difference(ex, 2) - difference(ez, 0));
  hz -= c * (difference(ey, 0) - difference(ex, 1));
  ex.add({kAll, kInner, kInner}, c * (difference(hz, 1)(kAll, kAll, kInner) - difference(hy, 2)(kAll, kInner)));
  ey.add({kInner, kAll, kInner}, c * (difference(hx, 2)(kInner) - difference(hz, 0)(kAll, kAll, kInner)));
  ez.add({kInner, kInner, kAll}, c * (difference(hy, 0)(kAll, kInner) - difference(hx, 1)(kInner)));
  return {ex, ey, ez, hx, hy, hz};
}

}  // namespace

Program maxwell_3d(const Setting& setting) {
  const std::int64_t n = setting.extent(7, 96, 256), m = n + 1;
  return {.inputs = {{{n, m, m}, -1, 1},
                     {{m, n, m}, -1, 1},
                     {{m, m, n}, -1, 1},
                     {{m, n, n}, -1, 1},
                     {{n, m, n}, -1, 1},
                     {{n, n, m}, -1, 1}},
          .state = 6,
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3], x[4], x[5]); }};
}

}  // namespace bench
