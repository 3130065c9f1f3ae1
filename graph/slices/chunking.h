// Chunking: how the values of a graph may be computed piece by piece along an axis of its large leaves. Pure.
//
// The axis is followed from the leaves to their readers. A reduction along it is a *cut*: pieces give partial states,
// which combine to a value that no longer has the axis. What reads that value begins a new pass over the pieces.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace tarry::graph {

struct Chunking {
  std::vector<int> axis;            ///< by node: where the axis is in its shape, or -1: it has none
  std::vector<std::uint32_t> pass;  ///< by node: passes that are over before it can be computed
  std::vector<NodeId> cuts;         ///< in order of ids
  NodeId whole = kNoId;             ///< the first node that needs all of a value at once that has the axis
};

/// For axis number `number` (counting those with more than one element) of the leaves that are not small.
Chunking find_chunking(const Graph& g, int number);

/// Shortest axis that a reduction is cut along: up to here its order has no parts.
inline constexpr std::int64_t kUncut = 32;

}  // namespace tarry::graph
