// Pairs of kernels that reduce different axes of the same arrays: one kernel that reads them once. Found after the
// search, between the kernels of its partition.
//
// Legal are two kernels over one space, each going over it once, of which neither waits for the other, along axes that
// are blocks of tree R and more. Memory must lie along one of the two, so that tiles are read in lines, and the state
// of a thread block has to fit. Where one of them loads maps that the other stores, it computes them again. A pair is
// worth it where what both read takes longer than partial states, which each way writes and reads once for every 128
// points.
#pragma once

#include <vector>

#include "graph/fusion/partition.h"

namespace tarry::graph {

/// The pairs, each kernel in one of them at most.
std::vector<RowColumnPair> pair_rows_and_columns(const FusionGraph& f, Partition& p, const CostModel& cost,
                                                 const Limits& limits);

}  // namespace tarry::graph
