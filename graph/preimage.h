// Where a strided coordinate stays within an extent: the box in which a dense update gives its value.
#pragma once

#include <cstdint>

namespace tarry::graph {

/// The coordinates low <= c < high; none where low >= high.
struct Interval {
  std::int64_t low, high;
};

/// Those with 0 <= start + step * c < extent. `step` is not 0.
inline Interval preimage(std::int64_t start, std::int64_t step, std::int64_t extent) {
  const auto rounded_down = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };  // b > 0
  if (step > 0) return {-rounded_down(start, step), -rounded_down(start - extent, step)};
  return {rounded_down(start - extent, -step) + 1, rounded_down(start, -step) + 1};
}

}  // namespace tarry::graph
