// Snapshots of what is recorded now, for plan(), streaming and tools, which claim nothing.
#pragma once

#include <span>
#include <string_view>

#include <tarry/error.h>

#include "graph/graph.h"

namespace tarry::runtime {

/// A snapshot once nobody else computes any of it. `op`, `where`: of the user's call, which may not wait for itself.
graph::Snapshot settled_snapshot(std::span<const graph::Edge> roots, graph::Marks marks, std::string_view op,
                                 Where where);
/// A snapshot now: what is being evaluated counts as lazy.
graph::Snapshot present_snapshot(std::span<const graph::Edge> roots, graph::Marks marks = graph::Marks::Ignore);

}  // namespace tarry::runtime
