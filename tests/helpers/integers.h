// Arrays of counted integers, whose every element tells where it came from: for tests of views and updates.
#pragma once

#include <tarry/tarry.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace tarry::test {

using Ints = std::vector<std::int64_t>;

inline Ints counting(std::int64_t n, std::int64_t from = 0) {
  Ints v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), from);
  return v;
}

/// from, from + 1, ... in row-major order.
inline Array ints(const Shape& shape, std::int64_t from = 0) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  return asarray(counting(n, from), shape);
}

}  // namespace tarry::test
