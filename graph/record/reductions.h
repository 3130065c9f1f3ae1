// Shared by the public reductions: axes checked once, chains of single-axis reductions, kept dimensions.
#pragma once

#include <tarry/reduce.h>

#include "graph/record/record.h"

namespace tarry::graph {

/// The start of every reduction.
struct Reduced {
  Edge x;
  Dims axes;               ///< ascending
  Dims shape;              ///< of the user's x
  std::int64_t count = 1;  ///< elements per result
  [[nodiscard]] bool reduces(int axis) const;
  [[nodiscard]] Dims kept() const;  ///< the shape without the reduced axes
};
Reduced prepare_reduction(std::string_view op, Edge x, const Axes& axes, Where where);

/// The dtype that kernels compute `op` over values of `dtype` in; it holds all of them.
Dtype accumulator(Op op, Dtype dtype);
/// Along all axes, highest first; the rest of the order is tree R.
Edge reduce_chain(Op op, const Reduced& r, Where where);
/// r with x in the dtype that kernels run `op` in, which holds every value of x.
Reduced widened(Op op, Reduced r, Where where);
/// A chain in that dtype, converted back once at the end. Exact for extremes; integer sums wrap as in x's own dtype.
Edge reduce_widened(Op op, const Reduced& r, Where where);
/// x != 0.
Edge truth(const Edge& x, Where where);
/// True if any element (Op::Max) or all elements (Op::Min) are true, as bool; of nothing false and true.
Edge quantify(Op extreme, Reduced r, Where where);
/// Throws where a reduced axis has no element.
void check_not_empty(std::string_view op, const Reduced& r, Where where);
void check_numbers(std::string_view op, const Reduced& r, Where where);

/// A result without the reduced axes with these put back as extents of 1.
Edge keep_dimensions(const Reduced& r, const Edge& e, Where where);
/// The result as the user's `options` want it: any that have `keepdims`.
template <class Options>
Array finish_reduction(const Reduced& r, const Edge& e, const Options& options, Where where) {
  return detail::wrap(options.keepdims ? keep_dimensions(r, e, where) : e);
}
/// `value` wherever there is a result.
Edge constant_result(const Reduced& r, Scalar value, Dtype dtype, std::string_view op, Where where);

/// The dtype that floats are computed in where an op is more than one rounding: float32 for the 16-bit ones. Others as
/// they are.
Dtype float_for_computing(Dtype dtype);
/// The dtype of a mean or a variance of such elements.
Dtype statistic_dtype(Dtype given);
/// x in the dtype that statistics compute in: float32 for 16-bit floats, float64 for integers and bool.
Edge for_statistics(const Edge& x, Where where);

}  // namespace tarry::graph
