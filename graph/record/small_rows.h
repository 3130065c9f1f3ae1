// Reductions, scans and sorts of a few elements, in the order in which kernels and routines take them.
#pragma once

#include "graph/record/element_ops.h"

namespace tarry::graph {

/// True where n, a reduction, a scan or a sort has such a form.
[[nodiscard]] bool has_row_form(const Node& n);
/// The axis of its inputs that it works along.
[[nodiscard]] int row_axis(const Node& n);
/// The results of a row: one of a reduction for each of its outputs, or one for each element.
Elements row_elements(ElementOps& ops, const Node& n, std::span<const Elements> inputs);

}  // namespace tarry::graph
