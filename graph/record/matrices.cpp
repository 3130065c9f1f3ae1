// Diagonals, norms, powers, and products that are views and elementwise.
#include <tarry/linalg.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/views.h>

#include <algorithm>
#include <cmath>

#include "graph/record/parts.h"
#include "graph/record/products.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::Dims;
using graph::Edge;
using graph::Op;
using graph::Reduced;
using graph::Typed;

/// The axes of matrices: two that differ.
std::pair<int, int> two_axes(const char* op, const Edge& x, int first, int second, Where where) {
  graph::check_rank(op, x, 2, where);
  const int a = graph::checked_axis(op, first, x, where), b = graph::checked_axis(op, second, x, where);
  if (a == b) {
    TARRY_THROW(InvalidValue, op, where, "axis " + std::to_string(first) + " is named twice for " + Typed(x).str());
  }
  return {a, b};
}

Edge with_leading_ones(const Edge& x, int rank, Where where) {
  Dims shape(x.node()->shape());
  while (shape.size() < rank) shape.insert(0, 1);
  return graph::record_reshape(x, shape.span(), where);
}

/// The largest (Op::Max) or smallest absolute value, or sums of them.
Edge norm(const Reduced& r, double ord, Where where) {
  const Dtype dtype = r.x.node()->dtype;
  const auto over = [&](Op op, const Edge& x) {
    Reduced of_x = r;
    of_x.x = x;
    return graph::reduce_chain(op, of_x, where);
  };
  const Edge size = graph::mapped(Op::Abs, r.x, where);
  if (std::isinf(ord)) return over(ord > 0 ? Op::Max : Op::Min, size);
  if (ord == 0) return over(Op::Sum, graph::record_cast(graph::truth(r.x, where), dtype, where));
  if (ord == 1) return over(Op::Sum, size);
  if (ord == 2) return graph::record_map(Op::Sqrt, {{over(Op::Sum, graph::mapped(Op::Square, r.x, where)), 0}}, where);
  const Edge powers = graph::mapped(Op::Pow, size, ord, where);
  return graph::mapped(Op::Pow, over(Op::Sum, powers), 1 / ord, where);
}

}  // namespace

Array diagonal(const Array& x, std::int64_t offset, int axis1, int axis2, Where where) try {
  const Edge e = detail::edge(x, "diagonal", where);
  const auto [first, second] = two_axes("diagonal", e, axis1, axis2, where);
  return detail::wrap(graph::diagonal_of(e, first, second, offset, where));
}
TARRY_OR_OUT_OF_MEMORY("diagonal", where)

Array trace(const Array& x, TraceOptions options, Where where) try {
  const Edge e = detail::edge(x, "trace", where);
  const auto [first, second] = two_axes("trace", e, -2, -1, where);
  const Array on_it = detail::wrap(graph::diagonal_of(e, first, second, options.offset, where));
  if (options.dtype == bool_) {
    TARRY_THROW(InvalidDtype, "trace", where, "cannot compute " + Typed(e).str() + " in bool; see any and all");
  }
  return sum(on_it, -1, {.dtype = options.dtype}, where);
}
TARRY_OR_OUT_OF_MEMORY("trace", where)

Array vector_norm(const Array& x, const Axes& axes, NormOptions options, Where where) try {
  Reduced r = graph::prepare_reduction("vector_norm", detail::edge(x, "vector_norm", where), axes, where);
  graph::check_numbers("vector_norm", r, where);
  if (std::isnan(options.ord)) {
    TARRY_THROW(InvalidValue, "vector_norm", where, "ord is NaN (given " + Typed(r.x).str() + ")");
  }
  if (std::isinf(options.ord)) graph::check_not_empty("vector_norm", r, where);
  const Dtype given = r.x.node()->dtype, dtype = is_floating(given) ? given : graph::fractional(given);
  r.x = graph::record_cast(r.x, graph::float_for_computing(dtype), where);
  return graph::finish_reduction(r, graph::record_cast(norm(r, options.ord, where), dtype, where), options, where);
}
TARRY_OR_OUT_OF_MEMORY("vector_norm", where)

Array matrix_norm(const Array& x, MatrixNormOptions options, Where where) try {
  const Edge e = detail::edge(x, "matrix_norm", where);
  const auto [rows, columns] = two_axes("matrix_norm", e, -2, -1, where);
  graph::check_number("matrix_norm", e, where);
  const MatrixNorm ord = options.ord;
  if (ord == MatrixNorm::Spectral || ord == MatrixNorm::SmallestSingular || ord == MatrixNorm::Nuclear) {
    const Array values = linalg::svdvals(x, where);
    const Array found = ord == MatrixNorm::Nuclear    ? sum(values, -1, {.keepdims = true}, where)
                        : ord == MatrixNorm::Spectral ? max(values, -1, {.keepdims = true}, where)
                                                      : min(values, -1, {.keepdims = true}, where);
    return options.keepdims ? expand_dims(found, -1, where) : squeeze(found, -1, where);
  }
  if (ord == MatrixNorm::Frobenius) return vector_norm(x, {rows, columns}, {options.keepdims, 2}, where);
  const bool of_rows = ord == MatrixNorm::Rows || ord == MatrixNorm::SmallestRow;
  const bool smallest = ord == MatrixNorm::SmallestColumn || ord == MatrixNorm::SmallestRow;
  const Array sums = vector_norm(x, of_rows ? columns : rows, {.keepdims = true, .ord = 1}, where);
  const Axes left = of_rows ? rows : columns;
  const Array found =
      smallest ? min(sums, left, {.keepdims = true}, where) : max(sums, left, {.keepdims = true}, where);
  return options.keepdims ? found : squeeze(found, {rows, columns}, where);
}
TARRY_OR_OUT_OF_MEMORY("matrix_norm", where)

Array kron(const Array& a, const Array& b, Where where) try {
  const Array both[] = {a, b};
  const std::vector<Edge> edges = graph::promoted_operands("kron", both, where);
  const int rank = std::max(edges[0].node()->rank, edges[1].node()->rank);
  const Edge left = with_leading_ones(edges[0], rank, where), right = with_leading_ones(edges[1], rank, where);
  if (2 * rank > graph::kMaxRank) {
    TARRY_THROW(InvalidShape, "kron", where,
                "the blocks of " + Typed(edges[0]).str() + " and " + Typed(edges[1]).str() + " have more than " +
                    std::to_string(graph::kMaxRank) + " axes");
  }
  std::vector<int> outer, inner;
  Dims wide, shape;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t m = left.node()->shape()[static_cast<std::size_t>(d)];
    const std::int64_t p = right.node()->shape()[static_cast<std::size_t>(d)];
    outer.insert(outer.end(), {d, -1});
    inner.insert(inner.end(), {-1, d});
    wide.push_back(m);
    wide.push_back(p);
  }
  graph::check_shape("kron", {left.node()->dtype, wide.span()}, where);
  for (int d = 0; d < rank; ++d) shape.push_back(wide[2 * d] * wide[2 * d + 1]);
  const Edge products = graph::record_map(
      Op::Multiply, {{graph::arranged(left, outer, where), 0}, {graph::arranged(right, inner, where), 0}}, where,
      "kron");
  return detail::wrap(graph::record_reshape(products, shape.span(), where));
}
TARRY_OR_OUT_OF_MEMORY("kron", where)

Array cross(const Array& a, const Array& b, int axis, Where where) try {
  const Array both[] = {a, b};
  std::vector<Edge> edges = graph::promoted_operands("cross", both, where);
  std::vector<Edge> parts[2];
  std::vector<graph::Labelled> vectors;
  for (std::size_t i = 0; i < 2; ++i) {
    Edge& e = edges[i];
    const int along = graph::checked_axis("cross", axis, e, where);
    if (e.node()->shape()[static_cast<std::size_t>(along)] != 3) {
      TARRY_THROW(InvalidShape, "cross", where,
                  "axis " + std::to_string(axis) + " of " + Typed(e).str() + " has not 3 elements");
    }
    vectors.push_back(graph::vectors_along(e, along));
    for (std::int64_t k = 0; k < 3; ++k) parts[i].push_back(graph::part_at(e, along, k, where));
  }
  if (!graph::broadcast_by_label(vectors[0], vectors[1])) {
    TARRY_THROW(InvalidShape, "cross", where,
                Typed(edges[0]).str() + " and " + Typed(edges[1]).str() + " do not broadcast but for axis " +
                    std::to_string(axis));
  }
  const auto map = [&](Op op, const Edge& x, const Edge& y) {
    return graph::record_map(op, {{x, 0}, {y, 0}}, where, "cross");
  };
  std::vector<Array> result;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    result.push_back(detail::wrap(
        map(Op::Subtract, map(Op::Multiply, parts[0][i], parts[1][j]), map(Op::Multiply, parts[0][j], parts[1][i]))));
  }
  const int rank = result.front().ndim(where) + 1;
  const int at = axis < 0 ? axis + rank : graph::checked_axis("cross", axis, edges[0], where);
  return stack(result, std::clamp(at, 0, rank - 1), where);
}
TARRY_OR_OUT_OF_MEMORY("cross", where)

Array matrix_power(const Array& x, std::int64_t n, Where where) try {
  const Edge e = detail::edge(x, "matrix_power", where);
  const auto [rows, columns] = two_axes("matrix_power", e, -2, -1, where);
  const auto shape = e.node()->shape();
  graph::check_number("matrix_power", e, where);
  if (shape[static_cast<std::size_t>(rows)] != shape[static_cast<std::size_t>(columns)])
    TARRY_THROW(InvalidShape, "matrix_power", where, Typed(e).str() + " has matrices that are not square");
  if (n < 0) {
    const Array inverse = linalg::inv(x, where);
    if (n == -1) return inverse;
    return matmul(matrix_power(inverse, -(n + 1), where), inverse, where);  // -n may be no int64
  }
  if (n == 0) {
    const std::int64_t extent = shape.back();
    const Edge unit = graph::mapped(Op::Equal, graph::coordinate(e, extent, 0, 2, where),
                                    graph::coordinate(e, extent, 1, 2, where), where);
    return detail::wrap(graph::to_shape(graph::record_cast(unit, e.node()->dtype, where), shape, where));
  }
  Array square = x, result;
  for (std::int64_t left = n; left > 0; left /= 2) {
    if (left % 2 == 1) result = result.is_defined() ? matmul(result, square, where) : square;
    if (left > 1) square = matmul(square, square, where);
  }
  return result;
}
TARRY_OR_OUT_OF_MEMORY("matrix_power", where)

std::vector<Array> broadcast_arrays(std::span<const Array> arrays, Where where) try {
  const std::vector<Edge> edges = graph::edges_of("broadcast_arrays", arrays, where);
  const Dims shape = graph::broadcast_shape("broadcast_arrays", edges, where);
  std::vector<Array> result;
  for (const Edge& e : edges) result.push_back(detail::wrap(graph::to_shape(e, shape.span(), where)));
  return result;
}
TARRY_OR_OUT_OF_MEMORY("broadcast_arrays", where)

}  // namespace v0
}  // namespace tarry
