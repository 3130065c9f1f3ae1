// Trace: what a node really reads, through views and reshapes, as an index map; the shapes of squeezed spaces.
#pragma once

#include "graph/graph.h"

namespace tarry::graph {

/// `edge` read at coordinates `map` of some space, followed through views and reshapes to what is really read. `shape`
/// is that of `edge`, or the one a Reshape gave to its row-major memory: `map` has one entry per dimension of it.
struct Source {
  GraphEdge edge;
  IndexMap map;
  Dims shape;
};
Source trace(const Graph& g, GraphEdge edge, IndexMap map);
/// In a map: a coordinate that the reader, a Gather, computes.
inline constexpr std::int32_t kGatheredAxis = std::int32_t{1} << 20;

/// The source of input i of a scheduled node, at coordinates of that node (of its input for a Reduce; of the value for
/// the value of an Update that is not dense).
Source input_source(const Graph& g, NodeId consumer, int input);

Dims squeeze(const Dims& shape);
IndexMap identity_map(int rank);
/// True if a map from coordinates of `space` reads every element of `source` once, in the same row-major order.
bool is_elementwise(const IndexMap& map, const Dims& source, const Dims& space);

}  // namespace tarry::graph
