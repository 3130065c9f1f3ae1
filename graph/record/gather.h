// Indexing by arrays, below the public functions.
#pragma once

#include <span>

#include "graph/record/record.h"

namespace tarry::graph {

/// An array of indices in the place of an axis.
struct Gathered {
  int axis;     ///< of what is indexed
  int of_user;  ///< the same in the user's array, for messages
  const Array* indices;
};

/// Elements of x at arrays that broadcast to one shape, in the place of their axes. That shape goes behind the first
/// `front` axes of x that are left.
Edge record_gathered(Edge x, std::span<const Gathered> arrays, int front, Where where);

}  // namespace tarry::graph
