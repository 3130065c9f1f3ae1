// Joining, below the public functions.
#pragma once

#include <vector>

#include "graph/record/record.h"

namespace tarry::graph {

/// Parts of one dtype, one after the other along `axis`. Throws for `op` unless their shapes are equal but for it.
Edge concatenated(const char* op, std::vector<Edge> parts, int axis, Where where);

}  // namespace tarry::graph
