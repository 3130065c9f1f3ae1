// The length of what a kernel computes again: values at each of the places at which it wants them.
#pragma once

#include <optional>
#include <vector>

#include "graph/fusion/graph.h"

namespace tarry::graph {

/// Statements of `nodes`, each as often as `top`, wanted at one place, wants it at different ones. Nothing where that
/// is more than kMostPlaces times for one of them. Ascending numbers are an order of computation.
std::optional<int> repeated_statements(const FusionGraph& f, std::vector<NodeId> nodes, NodeId top);

}  // namespace tarry::graph
