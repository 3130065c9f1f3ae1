// Views of edges that are known to fit.
#include "graph/record/parts.h"

#include <algorithm>

#include "support/check.h"

namespace tarry::graph {

Edge cut(const Edge& x, int axis, std::int64_t from, std::int64_t count, Where where, std::int64_t step) {
  Dims shape(x.node()->shape());
  IndexMap map = broadcast_map(shape.span(), shape.span());
  map[axis] = count > 1 ? AxisMap{axis, from, step} : AxisMap{axis, from, 1};
  shape[axis] = count;
  return record_view(x, map, shape.span(), where);
}

Edge part_at(const Edge& x, int axis, std::int64_t at, Where where) {
  Dims shape(x.node()->shape());
  IndexMap map;
  for (int d = 0; d < shape.size(); ++d)
    map.push_back(d == axis ? AxisMap{-1, at, 0} : AxisMap{d < axis ? d : d - 1, 0, 1});
  shape.erase(axis);
  return record_view(x, map, shape.span(), where);
}

Edge with_axis(const Edge& x, int at, Where where) {
  Dims shape(x.node()->shape());
  IndexMap map;
  for (int d = 0; d < shape.size(); ++d) map.push_back({d < at ? d : d + 1, 0, 1});
  shape.insert(at, 1);
  return record_view(x, map, shape.span(), where);
}

Edge arranged(const Edge& x, std::span<const int> order, Where where) {
  const auto source = x.node()->shape();
  IndexMap map(static_cast<int>(source.size()));
  for (int d = 0; d < map.size; ++d) map[d] = {-1, 0, 0};
  Dims shape;
  for (const int from : order) {
    if (from >= 0) map[from] = {shape.size(), 0, 1};
    shape.push_back(from < 0 ? 1 : source[static_cast<std::size_t>(from)]);
  }
  return record_view(x, map, shape.span(), where);
}

Edge to_shape(const Edge& x, std::span<const std::int64_t> shape, Where where) {
  if (std::ranges::equal(x.node()->shape(), shape)) return x;
  return record_view(x, broadcast_map(x.node()->shape(), shape), shape, where);
}

Edge flattened(const Edge& x, Where where) {
  return record_reshape(x, Dims{element_count(x.node()->shape())}.span(), where);
}

Edge diagonal_of(const Edge& x, int first, int second, std::int64_t offset, Where where) {
  const auto extent = [&](int axis) { return x.node()->shape()[static_cast<std::size_t>(axis)]; };
  const std::int64_t rows = extent(first), columns = extent(second);
  Dims shape(x.node()->shape());
  offset = std::clamp(offset, -rows, columns);
  const std::int64_t down = std::max<std::int64_t>(-offset, 0), right = std::max<std::int64_t>(offset, 0);
  const std::int64_t count = std::min(rows - down, columns - right);
  IndexMap map(shape.size());
  const int last = shape.size() - 2;
  for (int d = 0, next = 0; d < shape.size(); ++d)
    map[d] = d == first ? AxisMap{last, down, 1} : d == second ? AxisMap{last, right, 1} : AxisMap{next++, 0, 1};
  shape.erase(std::max(first, second));
  shape.erase(std::min(first, second));
  shape.push_back(count);
  return record_view(x, map, shape.span(), where);
}

Edge coordinate(const Edge& like, std::int64_t extent, int axis, int rank, Where where) {
  Dims shape = Dims::filled(rank, 1);
  shape[axis] = extent;
  const AttributeBytes attributes = encode(IotaAttributes{axis});
  const Device device = like.node()->device;
  return make_node_from({.op = Op::Iota,
                         .dtype = int64,
                         .mode = context().mode,
                         .device = device == Device{} ? context().device : device,
                         .shape = shape.span(),
                         .attributes = &attributes,
                         .cell = {},
                         .where = where});
}

Dims broadcast_shape(std::string_view op, std::span<const Edge> arrays, Where where) {
  Dims shape;
  std::vector<Argument> all;
  for (const Edge& e : arrays) all.push_back({e, 0});
  check_broadcast(op, arrays.front().node()->dtype, all, where);
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

std::vector<Edge> edges_of(std::string_view op, std::span<const Array> arrays, Where where) {
  if (arrays.empty()) TARRY_THROW(InvalidArgument, std::string(op), where, "there is no array");
  std::vector<Edge> edges;
  for (const Array& x : arrays) edges.push_back(detail::edge(x, op, where));
  return edges;
}

void check_rank(std::string_view op, const Edge& x, int least, Where where) {
  if (x.node()->rank >= least) return;
  TARRY_THROW(InvalidShape, std::string(op), where,
              Typed(x).str() + " has fewer than " + std::to_string(least) + (least == 1 ? " axis" : " axes"));
}

void check_number(std::string_view op, const Edge& x, Where where) {
  if (x.node()->dtype != bool_) return;
  TARRY_THROW(InvalidDtype, std::string(op), where,
              "takes numbers, not " + Typed(x).str() + "; convert with astype first");
}

}  // namespace tarry::graph
