// Places at which a kernel computes values again.
#pragma once

#include <vector>

#include "graph/fusion/graph.h"

namespace tarry::graph {

/// True if `top`, wanted at one place, wants one of `nodes` at more than kMostPlaces. Ascending numbers are an order of
/// computation.
bool repeats_too_often(const FusionGraph& f, std::vector<NodeId> nodes, NodeId top);

}  // namespace tarry::graph
