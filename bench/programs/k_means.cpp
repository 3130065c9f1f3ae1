// Lloyd's k-means: five rounds of assigning points to the nearest centre and moving centres to their points' mean.
#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(const Array& points, const Array& start) {
  const ta::Slice all{};
  Array centres = start, nearest;
  for (int round = 0; round < 5; ++round) {
    const Array distance = ta::sum(ta::square(points(all, ta::newaxis) - centres), -1);
    nearest = ta::argmin(distance, 1);
    const Array member = ta::astype(nearest(all, ta::newaxis) == ta::arange(centres.shape()[0]), points.dtype());
    const Array size = ta::sum(member, 0);
    const Array total = ta::matmul(ta::matrix_transpose(member), points);
    centres = ta::where(size(all, ta::newaxis) > 0, total / size(all, ta::newaxis), centres);
  }
  return {centres, nearest};
}

}  // namespace

Program k_means(const Setting& setting) {
  const std::int64_t n = setting.extent(70, 1 << 16, 1 << 21), clusters = setting.extent(3, 16, 32);
  const std::int64_t dimensions = setting.extent(2, 8, 16);
  return {.inputs = {{{n, dimensions}, -1, 1}, {{clusters, dimensions}, -1, 1}},
          .step = [](const Arrays& x) { return step(x[0], x[1]); }};
}

}  // namespace bench
