// Systems and factors of a small matrix by its elements, with the bits of the routines.
#pragma once

#include "graph/record/element_ops.h"

namespace tarry::graph {

/// True for Solve, Inverse, Pivots and Cholesky.
[[nodiscard]] constexpr bool has_matrix_form(Op op) { return is_matrices(op) && op != Op::Eigh; }
/// Solve, Inverse, Pivots or Cholesky of one matrix of n rows. `right` are the right sides of Solve.
Elements matrix_elements(ElementOps& ops, const Node& n, const Elements& matrix, const Elements& right);

}  // namespace tarry::graph
