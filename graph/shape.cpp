// Extents, strides and index maps.
#include "graph/shape.h"

#include <algorithm>

#include "support/check.h"

namespace tarry::graph {

void Dims::insert(int at, std::int64_t x) {
  TARRY_ASSERT(at >= 0 && at <= size_ && size_ < kMaxRank);
  std::copy_backward(begin() + at, end(), end() + 1);
  v_[static_cast<std::size_t>(at)] = x;
  ++size_;
}

void Dims::erase(int at) {
  TARRY_ASSERT(at >= 0 && at < size_);
  std::copy(begin() + at + 1, end(), begin() + at);
  --size_;
}

bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;  // the other extents alone may pass int64 only where recording refused the shape
    count *= extent;
  }
  return count;
}

Dims row_major_strides(std::span<const std::int64_t> shape) {
  Dims strides = Dims::filled(static_cast<int>(shape.size()), 1);
  for (int d = strides.size() - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * std::max<std::int64_t>(shape[static_cast<std::size_t>(d) + 1], 1);
  }
  return strides;
}

std::string to_string(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

IndexMap broadcast_map(std::span<const std::int64_t> source, std::span<const std::int64_t> target) {
  TARRY_ASSERT(source.size() <= target.size());
  const std::size_t new_axes = target.size() - source.size();
  IndexMap map;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const bool repeated = source[d] == 1 && target[d + new_axes] != 1;
    map.push_back(repeated ? AxisMap{-1, 0, 0} : AxisMap{static_cast<std::int32_t>(d + new_axes), 0, 1});
  }
  return map;
}

IndexMap compose(const IndexMap& inner, const IndexMap& outer) {
  IndexMap map;
  for (int d = 0; d < inner.size; ++d) {
    AxisMap m = inner[d];
    if (m.axis >= 0) {
      const AxisMap& through = outer[m.axis];
      m = {through.axis, m.start + m.step * through.start, m.step * through.step};
    }
    if (m.axis < 0 || m.step == 0) m = {-1, m.start, 0};
    map.push_back(m);
  }
  return map;
}

}  // namespace tarry::graph
