// Bilateral filter (Tomasi and Manduchi, ICCV 1998): a mean over 7 x 7 pixels, weighted by distance and by likeness.
// The border is repeated outwards.
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr int kRadius = 3;

/// The image with its outermost pixels repeated `kRadius` times all around.
Array padded(const Array& x) {
  const ta::Slice all{};
  const Array top = ta::repeat(x(ta::slice(0, 1)), kRadius, 0),
              bottom = ta::repeat(x(ta::slice(-1, ta::none)), kRadius, 0);
  const Array y = ta::concat({top, x, bottom});
  return ta::concat(
      {ta::repeat(y(all, ta::slice(0, 1)), kRadius, 1), y, ta::repeat(y(all, ta::slice(-1, ta::none)), kRadius, 1)}, 1);
}

Arrays step(const Array& image) {
  const Array wide = padded(image);
  const std::int64_t height = image.shape()[0], width = image.shape()[1];
  Array total = ta::zeros_like(image), weights = ta::zeros_like(image);
  for (int i = -kRadius; i <= kRadius; ++i) {
    for (int j = -kRadius; j <= kRadius; ++j) {
      const Array other =
          wide(ta::slice(i + kRadius, i + kRadius + height), ta::slice(j + kRadius, j + kRadius + width));
      const Array weight = std::exp(-(i * i + j * j) / 8.0) * ta::exp(-50 * ta::square(other - image));
      total += weight * other;
      weights += weight;
    }
  }
  return {total / weights};
}

}  // namespace

Program bilateral(const Setting& setting) {
  const std::int64_t n = setting.extent(13, 512, 4096);
  return {.inputs = {{{n, n}, 0, 1}}, .step = [](const Arrays& x) { return step(x[0]); }};
}

}  // namespace bench
