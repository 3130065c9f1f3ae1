// The fusion scheduler: which nodes become one kernel, what is recomputed, what goes through memory and why.
//
// Objective: bytes to and from memory + seconds per launch + recomputation (CostModel), under limits. Scheduled nodes
// are Map, Update, Gather, Reduce, Scan and Library nodes, roots of any other class (they are copies) and views whose
// memory a Reshape reads. Other views, reshapes, scalars and iotas belong to their readers. A group has one point space
// (a squeezed shape: extents of 1 dropped) and, where it reduces, one axis of it; all its reductions share both. Map
// nodes over the outer space may follow the reductions (the epilogue). A row group goes back: Map nodes over the point
// space read results of its own reductions, and may feed further reductions of the same key (softmax); its rows are
// kept or read again by one thread block. A scan group walks one axis too: its scans share it, and Map nodes over the
// same space come before and after them; no scan of a group depends on another. A scatter group has the point space of
// one Update's value: it writes that Update's box into memory that holds the base already. Its other nodes are Map
// nodes and dense Updates over the same space. A library group is a call: one node, whose operands and result are
// memory. A group of steps is a chain of maps and dense updates of shifted views (steps.h): one result, each node
// computed once for a tile and the points around it. A row-and-column group is two groups that reduce different axes of
// one space and read the same arrays (fusion/row_column.h). A Gather reads its array at places that the kernel
// computes: what it reads is memory, or computed again at each place; updates, whose boxes hold at coordinates that are
// known, are stored first.
#pragma once

#include <string_view>

#include "graph/fusion/types.h"
#include "graph/target.h"

namespace tarry::graph {

std::string_view to_string(Reason r);
CostModel cost_model(const Target& target);

/// Groups for `target`.
Fusion fuse(const Graph& g, const Target& target, const Limits& limits = {});

}  // namespace tarry::graph
