// A block of a transformer: attention of several heads and a network of two layers, each after a normalisation and
// beside a bypass.
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

Array normalised(const Array& x, const Array& gain) {
  const Array d = x - ta::mean(x, -1, {.keepdims = true});
  return d / ta::sqrt(ta::mean(d * d, -1, {.keepdims = true}) + 1e-5) * gain;
}

Array gelu(const Array& x) { return 0.5 * x * (1 + ta::erf(x / std::sqrt(2.0))); }

/// x (batch, length, width); weights (width, 3 width), (width, width), (width, 4 width), (4 width, width); gains
/// (width).
Arrays step(const Array& x, const Array& qkv, const Array& out, const Array& first, const Array& second,
            const Array& gain_1, const Array& gain_2, std::int64_t heads) {
  const ta::Shape shape = x.shape();
  const std::int64_t width = shape[2], each = width / heads;
  const Array projected = ta::matmul(normalised(x, gain_1), qkv);
  const auto part = [&](std::int64_t i) {  // (batch, heads, length, each)
    const Array y = projected(ta::ellipsis, ta::slice(i * width, (i + 1) * width));
    return ta::permute_dims(ta::reshape(y, {shape[0], shape[1], heads, each}), {0, 2, 1, 3});
  };
  const Array scores = ta::matmul(part(0), ta::matrix_transpose(part(1))) / std::sqrt(static_cast<double>(each));
  const Array mixed = ta::permute_dims(ta::matmul(ta::softmax(scores), part(2)), {0, 2, 1, 3});
  const Array y = x + ta::matmul(ta::reshape(mixed, shape), out);
  return {y + ta::matmul(gelu(ta::matmul(normalised(y, gain_2), first)), second)};
}

}  // namespace

Program transformer(const Setting& setting) {
  const std::int64_t batch = setting.extent(2, 2, 16), length = setting.extent(5, 128, 512);
  const std::int64_t width = setting.extent(8, 256, 768), heads = setting.extent(2, 4, 12);
  return {.inputs = {{{batch, length, width}, -1, 1},
                     {{width, 3 * width}, -0.1, 0.1},
                     {{width, width}, -0.1, 0.1},
                     {{width, 4 * width}, -0.1, 0.1},
                     {{4 * width, width}, -0.1, 0.1},
                     {{width}, 0.9, 1.1},
                     {{width}, 0.9, 1.1}},
          .step = [heads](const Arrays& x) { return step(x[0], x[1], x[2], x[3], x[4], x[5], x[6], heads); }};
}

}  // namespace bench
