// Needed: which elements the results of a graph depend on, each once, whatever kernels compute them: what any plan has
// to move at least.
//
// Grids of a value are traced to grids of what it is computed from, readers before producers. Along each axis a grid is
// a progression, so slices with steps and flips stay exact; grids that overlap are counted once. Where an exact answer
// would need many grids some are left out: the count is a lower bound always, and every node takes bounded work.
#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace tarry::graph {

struct LeastWork {
  std::int64_t bytes = 0;  ///< read of leaves and written to outputs
  std::int64_t operations =
      0;  ///< elements that operations give or, of a reduction, take; products and sums of a matmul
};
/// Needs of `outputs`, which are roots of an optimised graph. An update of a leaf that dies here may be made in place:
/// then what it leaves as it is moves nowhere.
LeastWork least_work(const Graph& g, std::span<const GraphEdge> outputs);

}  // namespace tarry::graph
