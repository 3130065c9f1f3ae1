// Edges of an image: Sobel's gradients, thinned to ridges along their direction (non-maximum suppression), and what
// passes two thresholds (Canny, IEEE Trans. Pattern Anal. 8, 1986).
#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(const Array& image) {
  const auto part = [](const Array& x, int i, int j) {  // shifted by i and j, without the border
    return x(ta::slice(1 + i, i - 1 == 0 ? ta::Bound(ta::none) : ta::Bound(i - 1)),
             ta::slice(1 + j, j - 1 == 0 ? ta::Bound(ta::none) : ta::Bound(j - 1)));
  };
  const auto at = [&](int i, int j) { return part(image, i, j); };
  const Array dx = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  const Array dy = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const Array size = ta::sqrt(dx * dx + dy * dy);

  const Array gx = ta::abs(part(dx, 0, 0)), gy = ta::abs(part(dy, 0, 0)), here = part(size, 0, 0);
  const auto ridge = [&](int i, int j) { return (here >= part(size, i, j)) & (here >= part(size, -i, -j)); };
  const Array flat = gy < 0.41421356 * gx, steep = gy > 2.41421356 * gx;
  const Array rising = part(dx, 0, 0) * part(dy, 0, 0) > 0;
  const Array oblique = ta::where(rising, ridge(1, 1), ridge(1, -1));
  const Array ridges = ta::where(flat, ridge(0, 1), ta::where(steep, ridge(1, 0), oblique));
  const Array thin = ta::where(ridges, here, 0);
  const Array edges = ta::where(thin > 1.5, 2, ta::where(thin > 0.75, 1, 0));
  return {thin, ta::astype(edges, ta::uint8)};
}

}  // namespace

Program sobel_edges(const Setting& setting) {
  const std::int64_t n = setting.extent(14, 1024, 8192);
  return {.inputs = {{{n, n}, 0, 1}}, .step = [](const Arrays& x) { return step(x[0]); }};
}

}  // namespace bench
