// Two substances that react and diffuse (Gray and Scott, 1983; Pearson, Science 261, 1993). Periodic.
#include "bench/programs/program.h"

namespace bench {
namespace {

Array laplacian(const Array& x) {
  return ta::roll(x, 1, 0) + ta::roll(x, -1, 0) + ta::roll(x, 1, 1) + ta::roll(x, -1, 1) - 4 * x;
}

Arrays step(const Array& u, const Array& v) {
  const double feed = 0.037, kill = 0.06;
  const Array reaction = u * v * v;
  return {u + 0.16 * laplacian(u) - reaction + feed * (1 - u), v + 0.08 * laplacian(v) + reaction - (feed + kill) * v};
}

}  // namespace

Program gray_scott(const Setting& setting) {
  const std::int64_t n = setting.extent(22, 1024, 4096);
  return {.inputs = {{{n, n}, 0.4, 1}, {{n, n}, 0, 0.5}}, .state = 2, .step = [](const Arrays& x) {
            return step(x[0], x[1]);
          }};
}

}  // namespace bench
