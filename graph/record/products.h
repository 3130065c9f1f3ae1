// Sums of products over named axes: what vecdot, inner, tensordot and einsum record.
#pragma once

#include <string>
#include <vector>

#include "graph/record/record.h"

namespace tarry::graph {

/// An array whose axes have names: equal numbers are one index. No name stands twice.
struct Labelled {
  Edge x;
  std::vector<int> labels;
};

/// The call that asks for a product, for messages.
struct ProductCall {
  std::string op;
  Where where;
  std::string given;  ///< its arrays
};

/// The call's arrays in their common dtype, which is not bool.
std::vector<Edge> promoted_operands(const std::string& op, std::span<const Array> arrays, Where where);
ProductCall product_call(const std::string& op, std::span<const Array> arrays, Where where);

/// True if the extents of every label that both have are equal or 1.
bool broadcast_by_label(const Labelled& a, const Labelled& b);
/// x with its axes numbered from the last, but for `axis`, which is -1.
Labelled vectors_along(const Edge& x, int axis);
/// x summed over all labels but those that `kept` has, in x's dtype.
Labelled summed(const ProductCall& call, Labelled x, const std::vector<int>& kept);
/// The sum of a * b over all labels but those of `kept`, two arrays of one dtype whose extents of a label are equal or
/// 1. Labels of both come first, then those of a, then those of b. Floats whose products are those of matrices are a
/// product of matrices.
Labelled contracted(const ProductCall& call, Labelled a, Labelled b, const std::vector<int>& kept);
/// x with its axes in the order of `labels`, which are those of x.
Edge in_order(const Labelled& x, const std::vector<int>& labels, Where where);

}  // namespace tarry::graph
