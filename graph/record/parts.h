// Views of edges that are known to fit, of which compositions are made.
#pragma once

#include <span>
#include <vector>

#include "graph/record/record.h"

namespace tarry::graph {

/// An elementwise op of edges, or of an edge and a number.
inline Edge mapped(Op op, const Edge& x, Where where) { return record_map(op, {{x, 0}}, where); }
inline Edge mapped(Op op, const Edge& a, const Edge& b, Where where, std::string_view called = {}) {
  return record_map(op, {{a, 0}, {b, 0}}, where, called);
}
inline Edge mapped(Op op, const Edge& a, Scalar b, Where where) { return record_map(op, {{a, 0}, {Edge(), b}}, where); }
inline Edge chosen(const Edge& condition, const Edge& a, const Edge& b, Where where) {
  return record_map(Op::Where, {{condition, 0}, {a, 0}, {b, 0}}, where);
}

/// `count` elements along an axis: from, from + step, ...
Edge cut(const Edge& x, int axis, std::int64_t from, std::int64_t count, Where where, std::int64_t step = 1);
/// Index `at` along an axis, which is then gone.
Edge part_at(const Edge& x, int axis, std::int64_t at, Where where);
/// A new axis of extent 1 at position `at`.
Edge with_axis(const Edge& x, int at, Where where);
/// Axis d of the result is axis order[d] of x; -1 is a new one of extent 1. Axes that no place names have extent 1.
Edge arranged(const Edge& x, std::span<const int> order, Where where);
/// x in a shape to which it broadcasts.
Edge to_shape(const Edge& x, std::span<const std::int64_t> shape, Where where);
/// The elements in row-major order, as one axis.
Edge flattened(const Edge& x, Where where);
/// Axis `along`, without the other one: element k is at (k, k + offset) of both, or at (k - offset, k).
Edge diagonal_of(const Edge& x, int first, int second, std::int64_t offset, Where where);

/// 0, 1, ... along one of `rank` axes, the others of extent 1; where `like` is placed.
Edge coordinate(const Edge& like, std::int64_t extent, int axis, int rank, Where where);

/// The shape to which all broadcast; throws for `op` where they do not.
Dims broadcast_shape(std::string_view op, std::span<const Edge> arrays, Where where);
/// All arrays of a call, in order.
std::vector<Edge> edges_of(std::string_view op, std::span<const Array> arrays, Where where);
/// Throws where x has fewer axes than `least`.
void check_rank(std::string_view op, const Edge& x, int least, Where where);
/// Throws for bool.
void check_number(std::string_view op, const Edge& x, Where where);

}  // namespace tarry::graph
