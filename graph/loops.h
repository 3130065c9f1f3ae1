// Loops of a graph: which nodes have a value at each level, and the rules that they obey (graph/node.h).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tarry::graph {

/// True if a view shows its input at each index of its last axes, broadcast as elementwise ops do it: the one view that
/// a loop may have of its values.
bool is_broadcast(const IndexMap& map, const Dims& source, const Dims& shape);

/// Bytes of the states of a loop that combines, each of at least four: what a thread of a GPU holds of a few of them.
inline constexpr std::size_t kMostStateBytes = 36;
constexpr std::size_t bytes_of_state(Dtype dtype) { return itemsize(dtype) < 4 ? 4 : itemsize(dtype); }

/// By node: the LoopLevel of the loop that it is part of, results included; kNoId for all others.
std::vector<NodeId> find_loop_levels(const Graph& g);

/// The rule that a loop of the graph breaks, in words; nullptr where all hold. Inputs have been checked to exist.
const char* find_broken_loop(const Graph& g);

}  // namespace tarry::graph
