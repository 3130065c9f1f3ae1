// Unsharp masking of colour pictures of bytes: blurred along rows and columns with the border repeated outwards, the
// difference added where it is not noise.
#include <array>

#include "bench/programs/program.h"

namespace bench {
namespace {

constexpr std::array kKernel = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};

/// The weighted sum of five neighbours along an axis.
Array blurred(const Array& x, int axis) {
  const ta::Slice all{};
  const auto part = [&](const Array& y, const ta::Slice& s) { return axis == 0 ? y(s) : y(all, s); };
  const Array first = part(x, ta::slice(0, 1)), last = part(x, ta::slice(-1, ta::none));
  const Array wide = ta::concat({first, first, x, last, last}, axis);
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  Array total = kKernel[0] * part(wide, ta::slice(0, n));
  for (std::int64_t i = 1; i < 5; ++i) total += kKernel[static_cast<std::size_t>(i)] * part(wide, ta::slice(i, i + n));
  return total;
}

Arrays step(const Array& picture) {
  const Array x = ta::astype(picture, ta::float32);
  const Array detail = x - blurred(blurred(x, 0), 1);
  const Array sharp = ta::where(ta::abs(detail) > 3, x + 0.8 * detail, x);
  return {ta::astype(ta::clip(ta::round(sharp), 0, 255), ta::uint8)};
}

}  // namespace

Program unsharp_mask(const Setting& setting) {
  const std::int64_t height = setting.extent(11, 1080, 4320), width = setting.extent(13, 1920, 7680);
  return {.inputs = {{{height, width, 3}, 0, 256, ta::uint8}}, .step = [](const Arrays& x) { return step(x[0]); }};
}

}  // namespace bench
