// Checks of a draw's arguments, before it is taken.
#pragma once

#include <tarry/random.h>

#include "graph/record/record.h"

namespace tarry::graph {

/// Throws where the dtype is not floating, or no kernel computes in it.
void check_floating(const char* op, Dtype dtype, Where where);
/// Throws where an array of a distribution's parameter does not broadcast to the shape that is drawn.
void check_parameter(const char* op, const char* name, const Edge& given, const Shape& shape, Where where);

}  // namespace tarry::graph
