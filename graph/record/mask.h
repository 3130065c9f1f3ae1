// Masks, below the public functions.
#pragma once

#include <vector>

#include "graph/record/record.h"
#include "graph/record/scatter.h"

namespace tarry::graph {

/// The row-major numbers of the elements of x that are not zero, in order. Their count is the result's shape: x is
/// evaluated, and with it `beside`, where there is one.
Edge record_true_places(std::string_view op, const Edge& x, const Edge* beside, Where where);
/// The same as coordinates, an array for each axis of x.
std::vector<Edge> record_coordinates(std::string_view op, const Edge& x, Where where);
/// The elements of x where `mask`, over its first axes, is true; waits for their number.
Edge record_chosen(const Edge& x, const Edge& mask, Where where);
/// x with the values of `all`, which broadcasts to it, where `mask`, over its first axes, is true.
Edge record_masked(std::string_view op, Write write, const Edge& x, const Edge& mask, const Edge& all, Where where);
/// x with v where `mask` is true: of a v that broadcasts to x the element of the same place, else the next one.
Edge record_masked_write(std::string_view op, Write write, const Edge& x, const Edge& mask, const Operand& v);

}  // namespace tarry::graph
