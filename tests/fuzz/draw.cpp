// How often each is drawn.
#include "tests/fuzz/draw.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tarry::test::fuzz {
namespace {

/// Functions of lines, which few programs draw.
constexpr int kLines = static_cast<int>(Function::Own) - static_cast<int>(Function::CumulativeSum) + 1;

Function moved(Function f, int by) { return static_cast<Function>(static_cast<int>(f) + by); }

}  // namespace

std::int64_t draw_extent(Random& r) {
  switch (r.below(12)) {
    case 0: return 1;
    case 1: return r.chance(25) ? 0 : 1;
    case 2: return r.between(31, 33);
    case 3: return r.between(127, 129);
    case 4: return r.chance(20) ? r.between(4000, 9000) : r.between(200, 700);
    default: return r.pick<std::int64_t>({2, 3, 3, 4, 5, 7, 8, 11, 13, 17});
  }
}

Extents draw_shape(Random& r) {
  Extents shape;
  const std::int64_t rank = r.pick<std::int64_t>({0, 1, 1, 2, 2, 2, 3, 3, 4});
  for (std::int64_t d = 0; d < rank; ++d) shape.push_back(draw_extent(r));
  while (count_of(shape) > kMaxElements) *std::max_element(shape.begin(), shape.end()) = r.between(2, 5);
  return shape;
}

Extents narrowed(Random& r, Extents shape) {
  if (r.chance(25) && !shape.empty())
    shape.erase(shape.begin(), shape.begin() + r.between(1, static_cast<std::int64_t>(shape.size())));
  for (std::int64_t& extent : shape)
    if (r.chance(20)) extent = 1;
  return shape;
}

Dtype draw_dtype(Random& r) {
  if (r.chance(35)) return float32;
  return kDtypes[r.below(static_cast<std::int64_t>(std::size(kDtypes)))];
}

Scalar draw_scalar(Random& r) {
  switch (r.below(10)) {
    case 0: return r.chance(50);
    case 1:
    case 2:
    case 3: return static_cast<int>(r.between(-3, 5));
    case 4: return r.pick<std::int64_t>({INT32_MAX, INT32_MIN, INT64_MIN, INT64_MAX, 1000003, -1, 0});
    case 5:
      return r.pick({0.0, -0.0, 1.0, -1.0, 1e30, 1e-40, std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()});
    case 6:
    case 7: return r.pick({0.0, -0.0, 1.0});  // what the optimiser has rules for
    case 8: return static_cast<float>(r.between(-64, 64)) / 16 + 0.1F;
    default: return static_cast<double>(r.between(-64, 64)) / 16 + 0.1;
  }
}

Extents draw_axes(Random& r, std::size_t rank) {
  Extents axes;
  if (r.chance(25)) return axes;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    if (r.chance(50)) axes.push_back(r.chance(25) ? axis - static_cast<std::int64_t>(rank) : axis);
  }
  return axes;
}

Function draw_function(Random& r) {
  const auto among = [&](Function first, Function last) {
    return static_cast<Function>(r.between(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)));
  };
  const std::int64_t kind = r.below(100);
  if (kind < 22) return among(Function::Add, Function::Maximum);
  if (kind < 25) return among(Function::Pow, Function::Nextafter);
  if (kind < 28) return among(Function::BitwiseAnd, Function::RightShift);
  if (kind < 33) return among(Function::Equal, Function::LogicalXor);
  if (kind < 40) return among(Function::Negative, Function::Trunc);
  if (kind < 47) return among(Function::Sqrt, kLastOfTable);
  if (kind < 49) return among(Function::BitwiseInvert, Function::LogicalNot);
  if (kind < 56) return among(Function::Where, Function::Clip);
  if (kind < 60) return Function::Astype;
  if (kind < 64) return Function::Slice;
  if (kind < 73) {
    const Function f = among(Function::BroadcastTo, moved(Function::PutMaximum, -kLines));
    return f < Function::CumulativeSum ? f : moved(f, kLines);
  }
  if (kind < 79) return among(Function::Set, Function::SetMask);
  if (kind < 82) return among(Function::Full, Function::Eye);
  if (kind < 83) return Function::Eye;
  if (kind < 85) return Function::Softmax;
  return among(Function::Sum, Function::Softmax);
}

Function draw_line(Random& r) { return moved(Function::CumulativeSum, static_cast<int>(r.below(kLines))); }

}  // namespace tarry::test::fuzz
