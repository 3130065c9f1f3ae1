// Other extents of a recorded evaluate: which of its extents are free, and what values give kernels of their own.
//
// An extent is free where the program would run with another one: nothing but elementwise ops, broadcasts, reductions,
// scans, whole axes of views and updates and the outer axes of reshapes touch it. Extents that must stay equal are one
// symbol. Pinned are extents of 0 and 1, those that a slice, an index but 0, a step, a reshape or a partial update
// depends on, and those of memory with strides of its own.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "graph/target.h"

namespace tarry::runtime {

/// Calls `visit` with `g` under other extents: each symbol alone at one value of every class that kernels for `target`
/// distinguish (docs/reference/warm.md), then all of them small and all of them large. Extents that no memory holds are
/// left out.
void for_other_extents(const graph::Graph& g, const graph::Target& target,
                       const std::function<void(const graph::Graph&)>& visit);

}  // namespace tarry::runtime
