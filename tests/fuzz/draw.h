// The supply of random programs: numbers, extents, shapes, dtypes, scalars, axes, functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {

/// A counter run through splitmix64: the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<std::int64_t>(from.size()))];
  }

 private:
  std::uint64_t state_;
};

/// Extents at the edges of tree R, of vectors and of blocks, and plain ones.
std::int64_t draw_extent(Random& r);
Extents draw_shape(Random& r);
/// A shape that broadcasts to `shape`.
Extents narrowed(Random& r, Extents shape);
/// float32 is what most kernels are made of; all others come as often as each other.
Dtype draw_dtype(Random& r);
Scalar draw_scalar(Random& r);
Extents draw_axes(Random& r, std::size_t rank);
Function draw_function(Random& r);
/// A scan, a search, a sum of segments or a function that a user wrote.
Function draw_line(Random& r);

}  // namespace tarry::test::fuzz
