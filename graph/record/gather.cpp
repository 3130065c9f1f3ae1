// take, take_along_axis, and x(...) with arrays: a view, checked indices, a gather.
#include "graph/record/gather.h"

#include <algorithm>
#include <vector>

#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

/// Integers as int64. What only uint64 holds is out of range of every axis, and stays so.
Edge as_int64(const IndexingCall& call, Edge indices) {
  check_indices(call, indices);
  if (indices.node()->dtype == uint64)
    indices = record_map(Op::Minimum, {{indices, 0}, {Edge(), Scalar(INT64_MAX)}}, call.where, call.op());
  return record_cast(std::move(indices), int64, call.where);
}

/// Places along an axis of `extent`: checked when they are used, unless the bounds leave none outside.
Edge places(const IndexingCall& call, Edge indices, int axis, std::int64_t extent) {
  const Where where = call.where;
  if (call.bounds == Bounds::Wrap) {
    if (indices.node()->dtype == uint64)  // before what does not fit int64 is cut
      indices = record_map(Op::Remainder, {{indices, 0}, {Edge(), Scalar(extent)}}, where, call.op());
    return record_map(Op::Remainder, {{as_int64(call, std::move(indices)), 0}, {Edge(), Scalar(extent)}}, where,
                      call.op());
  }
  indices = as_int64(call, std::move(indices));
  if (call.bounds == Bounds::Clip) {
    indices = record_map(Op::Maximum, {{indices, 0}, {Edge(), Scalar(0)}}, where, call.op());
    return record_map(Op::Minimum, {{indices, 0}, {Edge(), Scalar(extent - 1)}}, where, call.op());
  }
  return record_index(std::move(indices), extent, {call.called, static_cast<std::uint8_t>(axis)}, where);
}

/// The array that is indexed, as messages name it.
Typed named(const IndexingCall& call, const Edge& x) { return call.of_user != nullptr ? *call.of_user : x; }

/// Throws where something is to be taken from an axis without elements.
void check_extent(const IndexingCall& call, const Edge& x, int axis, std::int64_t extent,
                  std::span<const std::int64_t> shape) {
  if (extent > 0 || element_count(shape) == 0) return;
  TARRY_THROW(OutOfRange, call.op(), call.where,
              "axis " + std::to_string(axis) + " of " + named(call, x).str() + " has no elements to take");
}

/// x seen at coordinates of the result: its axis `axis` at axis `at` of `shape`, the others in order around the axes
/// from `front` on that belong to the indices, `rank` of them.
Edge spread(const Edge& x, int axis, Dims shape, int at, int front, int rank, Where where) {
  IndexMap map;
  int next = 0;
  const auto source = x.node()->shape();
  for (int d = 0; d < static_cast<int>(source.size()); ++d) {
    if (d == axis) {
      map.push_back({at, 0, 1});
      continue;
    }
    if (next == front) next += rank;
    map.push_back({next++, 0, 1});
  }
  shape[at] = source[static_cast<std::size_t>(axis)];
  return record_view(x, map, shape.span(), where);
}

/// The elements of x at `index`, an array of places along one of its axes, whose shape goes behind the first `front` of
/// the other axes.
Edge gather_axis(const std::string& op, const Edge& x, int axis, const Edge& index, int front, Where where) {
  const auto source = x.node()->shape();
  const Dims wanted(index.node()->shape());
  const bool single = wanted.empty();  // one place: an axis that is dropped again
  Dims shape;
  for (int d = 0; d < static_cast<int>(source.size()); ++d)
    if (d != axis) shape.push_back(source[static_cast<std::size_t>(d)]);
  check_shape(op, {x.node()->dtype, shape.span()}, where);
  if (shape.size() + std::max(wanted.size(), 1) > kMaxRank) {
    TARRY_THROW(InvalidShape, op, where,
                "indices of " + Typed(index).str() + " for " + Typed(x).str() + " would give more than " +
                    std::to_string(kMaxRank) + " axes");
  }
  const int rank = std::max(wanted.size(), 1);
  for (int d = 0; d < rank; ++d) shape.insert(front + d, single ? 1 : wanted[d]);
  check_shape(op, {x.node()->dtype, shape.span()}, where);
  IndexMap map;
  for (int d = 0; d < wanted.size(); ++d) map.push_back({front + d, 0, 1});
  const int at = front + rank - 1;
  Edge result = record_gather(op, spread(x, axis, shape, at, front, rank, where),
                              record_view(index, map, shape.span(), where), at, where);
  if (!single) return result;
  IndexMap drop;
  for (int d = 0, next = 0; d < shape.size(); ++d) drop.push_back(d == at ? AxisMap{-1, 0, 0} : AxisMap{next++, 0, 1});
  shape.erase(at);
  return record_view(std::move(result), drop, shape.span(), where);
}

/// The shape to which arrays of indices broadcast.
Dims common_shape(const IndexingCall& call, std::span<const Edge> arrays) {
  Dims shape;
  std::vector<Argument> all;
  for (const Edge& e : arrays) all.push_back({e, 0});
  check_broadcast(call.op(), int64, all, call.where);
  for (const Edge& e : arrays) {
    const auto extents = e.node()->shape();
    while (shape.size() < static_cast<int>(extents.size())) shape.insert(0, 1);
    for (std::size_t d = 0; d < extents.size(); ++d) {
      std::int64_t& extent = shape[shape.size() - static_cast<int>(extents.size() - d)];
      if (extents[d] != 1) extent = extents[d];
    }
  }
  return shape;
}

}  // namespace

void check_indices(const IndexingCall& call, const Edge& indices) {
  const Dtype dtype = indices.node()->dtype;
  if (is_integral(dtype) && dtype != bool_) return;
  TARRY_THROW(InvalidDtype, call.op(), call.where,
              "indices are integers, not " + Typed(indices).str() + "; convert with astype first");
}

Edge record_broadcast(const Edge& x, std::span<const std::int64_t> shape, Where where) {
  if (std::ranges::equal(x.node()->shape(), shape)) return x;
  return record_view(x, broadcast_map(x.node()->shape(), shape), shape, where);
}

Edge record_gathered(const IndexingCall& call, Edge x, std::span<const Gathered> arrays, int front) {
  const Where where = call.where;
  const std::string op = call.op();
  const Dims source(x.node()->shape());
  std::vector<Edge> given;
  for (const Gathered& g : arrays) given.push_back(g.indices);
  const Dims shape = common_shape(call, given);
  // Several axes are one, which the last of them walks fastest: the element's number in them.
  const auto extent_of = [&](const Gathered& g) {
    return element_count(source.span().subspan(static_cast<std::size_t>(g.axis), static_cast<std::size_t>(g.axes)));
  };
  std::int64_t all = 1;
  for (const Gathered& g : arrays) all *= extent_of(g);
  Edge index;
  std::int64_t stride = all;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::int64_t extent = extent_of(arrays[i]);
    check_indices(call, given[i]);
    check_extent(call, x, arrays[i].of_user, extent, shape.span());
    if (all == 0) continue;
    stride /= extent;
    Edge part = record_broadcast(places(call, given[i], arrays[i].of_user, extent), shape.span(), where);
    if (stride != 1) part = record_map(Op::Multiply, {{part, 0}, {Edge(), Scalar(stride)}}, where, op);
    index = index ? record_map(Op::Add, {{index, 0}, {part, 0}}, where, op) : part;
  }
  if (!index) index = record_broadcast(record_cast(given.front(), int64, where), shape.span(), where);  // of nothing
  if (arrays.size() == 1 && arrays.front().axes == 1)
    return gather_axis(op, x, arrays.front().axis, index, front, where);
  // The axes side by side, in order, in front of the others.
  IndexMap order(source.size());
  Dims moved, merged{all};
  for (const Gathered& g : arrays)
    for (int d = g.axis; d < g.axis + g.axes; ++d) {
      order[d] = {moved.size(), 0, 1};
      moved.push_back(source[d]);
    }
  const auto is_gathered = [&](int d) {
    return std::ranges::any_of(arrays, [&](const Gathered& g) { return g.has(d); });
  };
  for (int d = 0; d < source.size(); ++d) {
    if (is_gathered(d)) continue;
    order[d] = {moved.size(), 0, 1};
    moved.push_back(source[d]);
    merged.push_back(source[d]);
  }
  x = record_reshape(record_view(std::move(x), order, moved.span(), where), merged.span(), where);
  return gather_axis(op, x, 0, index, front, where);
}

Edge record_taken(const IndexingCall& call, Edge x, const Edge& indices, std::optional<int> axis) {
  const Where where = call.where;
  const std::string op = call.op();
  if (!axis) x = record_reshape(x, Dims{element_count(x.node()->shape())}.span(), where);
  const int along = axis ? checked_axis(op, *axis, x, where) : 0;
  const std::int64_t extent = x.node()->shape()[static_cast<std::size_t>(along)];
  check_indices(call, indices);
  check_extent(call, x, along, extent, indices.node()->shape());
  const Edge index = extent > 0 ? places(call, indices, along, extent) : record_cast(indices, int64, where);
  return gather_axis(op, x, along, index, along, where);
}

Edge record_taken_along(const IndexingCall& call, const Edge& x, const Edge& indices, int axis) {
  const Where where = call.where;
  const std::string op = call.op();
  const int along = checked_axis(op, axis, named(call, x), where);
  check_indices(call, indices);
  const Dims source(x.node()->shape()), wanted(indices.node()->shape());
  Dims shape = wanted, of_x = source;
  bool fits = wanted.size() == source.size();
  for (int d = 0; fits && d < source.size(); ++d) {
    if (d == along) continue;
    fits = source[d] == wanted[d] || source[d] == 1 || wanted[d] == 1;
    shape[d] = of_x[d] = source[d] == 1 ? wanted[d] : source[d];
  }
  if (!fits) {
    TARRY_THROW(InvalidShape, op, where,
                "indices of " + Typed(indices).str() + " do not fit " + named(call, x).str() + " along axis " +
                    std::to_string(along) + ": the other extents are equal or 1");
  }
  check_shape(op, {x.node()->dtype, shape.span()}, where);
  check_extent(call, x, along, source[along], shape.span());
  const Edge index =
      source[along] > 0 ? places(call, indices, along, source[along]) : record_cast(indices, int64, where);
  return record_gather(op, record_broadcast(x, of_x.span(), where), record_broadcast(index, shape.span(), where), along,
                       where);
}

}  // namespace graph

inline namespace v0 {

Array take(const Array& x, const Array& indices, std::optional<int> axis, Bounds bounds, Where where) try {
  return detail::wrap(graph::record_taken({graph::IndexAttributes::Called::Take, bounds, where},
                                          detail::edge(x, "take", where), detail::edge(indices, "take", where), axis));
}
TARRY_OR_OUT_OF_MEMORY("take", where)

Array take_along_axis(const Array& x, const Array& indices, int axis, Bounds bounds, Where where) try {
  return detail::wrap(graph::record_taken_along({graph::IndexAttributes::Called::TakeAlongAxis, bounds, where},
                                                detail::edge(x, "take_along_axis", where),
                                                detail::edge(indices, "take_along_axis", where), axis));
}
TARRY_OR_OUT_OF_MEMORY("take_along_axis", where)

}  // namespace v0
}  // namespace tarry
