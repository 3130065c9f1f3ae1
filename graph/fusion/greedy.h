// The first partition: one pass over the nodes, linear in the graph.
#pragma once

#include "graph/fusion/graph.h"
#include "graph/fusion/types.h"

namespace tarry::graph {

/// Adds what was looked at to `visits`.
Fusion greedy_fusion(const FusionGraph& f, const CostModel& cost, const Limits& limits,
                     std::uint64_t* visits = nullptr);

}  // namespace tarry::graph
