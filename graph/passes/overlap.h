// Overlap: whether two strided boxes of one buffer share an element. Decides which updates may be made in place.
#pragma once

#include <cstdint>

#include "graph/shape.h"

namespace tarry::graph {

/// The numbers start + i * step, 0 <= i < count.
struct Progression {
  std::int64_t start = 0, step = 1, count = 0;
};

/// True if two progressions share a number. Exact.
bool overlap(const Progression& a, const Progression& b);
/// True if every number of `inner` is one of `outer`. Exact.
bool contains(const Progression& outer, const Progression& inner);
/// The numbers of both; steps must be positive. Its step is 1 where it has at most one.
Progression intersection(const Progression& a, const Progression& b);

/// The elements offset + sum_d i_d * strides_d, 0 <= i_d < extents_d. Strides may be negative or zero.
struct StridedBox {
  std::int64_t offset = 0;
  Dims extents, strides;
};

/// True if two boxes share an element. Exact for every pair that is decided within `steps` of the search; the general
/// question is a bounded linear Diophantine equation, which no known method decides fast in every case, and the answer
/// is true where the search gives up. Boxes of views of row-major arrays need a handful of steps per axis.
bool overlap(const StridedBox& a, const StridedBox& b, int steps = 100'000);

}  // namespace tarry::graph
