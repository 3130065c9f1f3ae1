// Refinement: small moves of a partition that save time, within a budget that grows no faster than the graph.
#pragma once

#include "graph/fusion/partition.h"

namespace tarry::graph {

/// The requests that a graph of that many nodes may cost.
std::uint64_t refinement_budget(std::size_t nodes);

/// Tries moves until none helps or `budget` requests were looked at.
void refine(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget);

}  // namespace tarry::graph
