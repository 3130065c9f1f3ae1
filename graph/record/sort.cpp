// The public functions of order: two routines, and what is made of them.
#include <tarry/create.h>
#include <tarry/index.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/scan.h>
#include <tarry/sort.h>
#include <tarry/views.h>

#include <algorithm>

#include "graph/record/order.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

/// `axis` last, or back where it was.
Edge moved(const Edge& x, int from, int to, Where where) {
  if (from == to) return x;
  const Dims shape(x.node()->shape());
  Dims order;
  for (int d = 0; d < shape.size(); ++d)
    if (d != from) order.push_back(d);
  order.insert(to, from);
  IndexMap map(shape.size());
  Dims result;
  for (int d = 0; d < order.size(); ++d) {
    const auto source = static_cast<int>(order[d]);
    map[source] = {d, 0, 1};
    result.push_back(shape[source]);
  }
  return record_view(x, map, result.span(), where);
}

}  // namespace

Edge record_sort(Op op, std::string_view called, const Edge& x, int axis, RoutineAttributes::Way way, Where where) {
  const Node& n = *x.node();
  check_available(called, n.dtype, where);
  const Dtype dtype = op == Op::Sort ? n.dtype : int64;
  const auto extents = n.shape();
  if (element_count(extents) == 0 || extents[static_cast<std::size_t>(axis)] == 1)  // nothing to put in order
    return op == Op::Sort ? x : record_constant(x, 0, int64, called, where);
  const int last = n.rank - 1;
  const Edge rows = moved(x, axis, last, where);
  const Edge sorted = record_routine(op, called, {&rows, 1}, {dtype, rows.node()->shape()}, {way}, where);
  return moved(sorted, last, axis, where);
}

Edge record_search(std::string_view called, const Edge& sorted, const Edge& values, RoutineAttributes::Way way,
                   Where where) {
  if (element_count(sorted.node()->shape()) == 0) return record_constant(values, 0, int64, called, where);
  if (element_count(values.node()->shape()) == 0) return record_cast(values, int64, where);
  const Dims shape(values.node()->shape());
  const Edge flat = record_reshape(values, Dims{element_count(shape.span())}.span(), where);
  const Edge both[] = {sorted, flat};
  const Edge found = record_routine(Op::Searchsorted, called, both, {int64, flat.node()->shape()}, {way}, where);
  return record_reshape(found, shape.span(), where);
}

}  // namespace graph

inline namespace v0 {
namespace {

using graph::Edge;
using graph::Op;
using graph::Typed;
using Way = graph::RoutineAttributes::Way;

Array in_order(Op op, std::string_view called, const Array& x, SortOptions options, Where where) {
  const Edge e = detail::edge(x, called, where);
  const int axis = graph::checked_axis(called, options.axis, e, where);
  const Way way = options.descending ? Way::Reversed : Way::Usual;
  return detail::wrap(graph::record_sort(op, called, e, axis, way, where));
}

/// `count` elements along an axis from the first on.
Array head(const Array& x, int axis, std::int64_t count, Where where) {
  const Edge e = detail::edge(x, "slice", where);
  graph::Dims shape(e.node()->shape());
  shape[axis] = count;
  graph::IndexMap map;
  for (int d = 0; d < shape.size(); ++d) map.push_back({d, 0, 1});
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}

}  // namespace

Array sort(const Array& x, SortOptions options, Where where) try {
  return in_order(Op::Sort, "sort", x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("sort", where)

Array argsort(const Array& x, SortOptions options, Where where) try {
  return in_order(Op::Argsort, "argsort", x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("argsort", where)

Array partition(const Array& x, std::int64_t k, int axis, Where where) try {
  const Edge e = detail::edge(x, "partition", where);
  const int along = graph::checked_axis("partition", axis, e, where);
  const std::int64_t extent = e.node()->shape()[static_cast<std::size_t>(along)];
  if (k < -extent || k >= extent) {
    TARRY_THROW(InvalidValue, "partition", where,
                "k is " + std::to_string(k) + ", axis " + std::to_string(along) + " of " + Typed(e).str() + " has " +
                    std::to_string(extent) + " elements");
  }
  return in_order(Op::Sort, "partition", x, {.axis = along}, where);
}
TARRY_OR_OUT_OF_MEMORY("partition", where)

TopK topk(const Array& x, std::int64_t k, TopKOptions options, Where where) try {
  const Edge e = detail::edge(x, "topk", where);
  const int along = graph::checked_axis("topk", options.axis, e, where);
  const std::int64_t extent = e.node()->shape()[static_cast<std::size_t>(along)];
  if (k < 0 || k > extent) {
    TARRY_THROW(InvalidValue, "topk", where,
                "k is " + std::to_string(k) + ", axis " + std::to_string(along) + " of " + Typed(e).str() + " has " +
                    std::to_string(extent) + " elements");
  }
  const Array places = in_order(Op::Argsort, "topk", x, {.axis = along, .descending = options.largest}, where);
  const Array indices = head(places, along, k, where);
  if (k == 0) return {head(x, along, 0, where), indices};
  return {take_along_axis(x, indices, along, Bounds::Error, where), indices};
}
TARRY_OR_OUT_OF_MEMORY("topk", where)

}  // namespace v0
}  // namespace tarry
