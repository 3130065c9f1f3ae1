// The checks of every recorded call, for a graph that came from elsewhere: a manifest may say anything.
#pragma once

#include <string>

#include "graph/graph.h"

namespace tarry::graph {

/// Why recording cannot have made `g`, naming the node; "" where it can. Every number is in range for what later stages
/// compute from it: axes, places, strides, products of extents. Whoever made `g` has checked that each payload is in
/// its table and each shape one that check_shape takes.
std::string why_not_recorded(const Graph& g);

}  // namespace tarry::graph
