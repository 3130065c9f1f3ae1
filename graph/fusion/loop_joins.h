// Arrays that join results of loops, which a loop writes itself.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"

namespace tarry::graph {

/// A result of a loop as a part of an array.
struct JoinedPart {
  NodeId result = kNoId, array = kNoId;
  IndexMap place{};  ///< coordinates of the result -> dimensions of the array
};

/// The parts of an array that results are joined to along one axis, each with the update that writes it; none of any
/// other array. `is_alone`: only the next update reads an update.
std::vector<JoinedPart> joined_parts(const Graph& g, NodeId array, const std::function<bool(NodeId)>& is_alone,
                                     const std::function<bool(NodeId)>& is_result);

}  // namespace tarry::graph
