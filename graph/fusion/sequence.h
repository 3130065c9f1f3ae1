// Partitions into few kernels, found one kernel after the other: another beginning for the refinement of graphs whose
// time is launches.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/fusion/model.h"

namespace tarry::graph {

/// Sequences of kernels that store all that must be stored, each loading from those before it: the shortest first, none
/// twice. They begin with `first`. Looks at up to `widest` side by side, of up to `most` kernels, and at about `budget`
/// requests.
std::vector<std::vector<Kernel>> few_kernels(const FusionGraph& f, KernelModel& model, const std::vector<Kernel>& first,
                                             std::size_t widest, std::size_t most, std::uint64_t budget);

}  // namespace tarry::graph
