// The public views that are not indexing.
#include <tarry/views.h>

#include <algorithm>

#include "graph/record/record.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::IndexMap;
using graph::Typed;

std::span<const std::int64_t> shape_of(const Edge& e) { return e.node()->shape(); }

/// shape with axis `along` `times` as long.
Dims stretched(const char* op, Dtype dtype, const Dims& shape, int along, std::int64_t times, Where where) {
  if (times < 0) {
    TARRY_THROW(InvalidValue, op, where,
                std::to_string(times) + " repetitions of axis " + std::to_string(along) + " of " +
                    Typed(dtype, shape.span()).str());
  }
  Dims result = shape;
  if (__builtin_mul_overflow(shape[along], times, &result[along])) {
    TARRY_THROW(InvalidShape, op, where,
                std::to_string(times) + " repetitions of axis " + std::to_string(along) + " of " +
                    Typed(dtype, shape.span()).str() + " make more than 2^63 - 1 elements");
  }
  graph::check_shape(op, {dtype, result.span()}, where);
  return result;
}

/// x with a new axis of `times` equal parts at `at`, its neighbours then taken together to `shape`.
Edge repeated(const char* op, const Edge& x, int at, std::int64_t times, const Dims& shape, Where where) {
  IndexMap map;
  Dims wide(shape_of(x));
  if (wide.size() == graph::kMaxRank) {
    TARRY_THROW(InvalidShape, op, where,
                Typed(x).str() + " has the highest rank already, " + std::to_string(wide.size()));
  }
  for (int d = 0; d < wide.size(); ++d) map.push_back({d < at ? d : d + 1, 0, 1});
  wide.insert(at, times);
  graph::check_shape(op, {x.node()->dtype, wide.span()},
                     where);  // where an extent is 0, `shape` may hold what this does not
  return graph::record_reshape(graph::record_view(x, map, wide.span(), where), shape.span(), where);
}

}  // namespace

Array broadcast_to(const Array& x, const Shape& shape, Where where) try {
  const Edge e = detail::edge(x, "broadcast_to", where);
  const auto source = shape_of(e);
  const std::span<const std::int64_t> target(shape.data(), shape.size());
  graph::check_shape("broadcast_to", {e.node()->dtype, target}, where);
  const bool fits = source.size() <= target.size() &&
                    std::equal(source.begin(), source.end(), target.end() - static_cast<std::ptrdiff_t>(source.size()),
                               [](std::int64_t from, std::int64_t to) { return from == 1 || from == to; });
  if (!fits) {
    TARRY_THROW(InvalidShape, "broadcast_to", where,
                Typed(e).str() + " does not broadcast to " + graph::to_string(target));
  }
  return detail::wrap(graph::record_view(e, graph::broadcast_map(source, target), target, where));
}
TARRY_OR_OUT_OF_MEMORY("broadcast_to", where)

Array permute_dims(const Array& x, const Axes& axes, Where where) try {
  const Edge e = detail::edge(x, "permute_dims", where);
  const auto source = shape_of(e);
  if (axes.vector().size() != source.size()) {
    TARRY_THROW(InvalidValue, "permute_dims", where,
                std::to_string(axes.vector().size()) + " axes do not permute " + Typed(e).str());
  }
  (void)graph::checked_axes("permute_dims", axes, e, where);  // in range, none twice
  IndexMap map(static_cast<int>(source.size()));
  Dims shape;
  for (int d = 0; d < map.size; ++d) {
    const int from = graph::checked_axis("permute_dims", axes.vector()[static_cast<std::size_t>(d)], e, where);
    map[from] = {d, 0, 1};
    shape.push_back(source[static_cast<std::size_t>(from)]);
  }
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}
TARRY_OR_OUT_OF_MEMORY("permute_dims", where)

Array matrix_transpose(const Array& x, Where where) try {
  const Edge e = detail::edge(x, "matrix_transpose", where);
  const auto rank = static_cast<std::int64_t>(shape_of(e).size());
  if (rank < 2) {
    TARRY_THROW(InvalidShape, "matrix_transpose", where, Typed(e).str() + " has fewer than two axes");
  }
  std::vector<std::int64_t> axes;
  for (std::int64_t d = 0; d < rank; ++d) axes.push_back(d);
  std::swap(axes[static_cast<std::size_t>(rank - 2)], axes.back());
  return permute_dims(x, axes, where);
}
TARRY_OR_OUT_OF_MEMORY("matrix_transpose", where)

Array expand_dims(const Array& x, int axis, Where where) try {
  const Edge e = detail::edge(x, "expand_dims", where);
  const auto source = shape_of(e);
  const int rank = static_cast<int>(source.size());
  if (axis < -rank - 1 || axis > rank) {
    TARRY_THROW(OutOfRange, "expand_dims", where,
                "axis " + std::to_string(axis) + " is out of range for " + Typed(e).str());
  }
  if (rank == graph::kMaxRank) {
    TARRY_THROW(InvalidShape, "expand_dims", where,
                Typed(e).str() + " has the highest rank already, " + std::to_string(rank));
  }
  const int at = axis < 0 ? axis + rank + 1 : axis;
  IndexMap map;
  for (int d = 0; d < rank; ++d) map.push_back({d < at ? d : d + 1, 0, 1});
  Dims shape(source);
  shape.insert(at, 1);
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}
TARRY_OR_OUT_OF_MEMORY("expand_dims", where)

Array squeeze(const Array& x, const Axes& axes, Where where) try {
  const Edge e = detail::edge(x, "squeeze", where);
  const auto source = shape_of(e);
  const Dims named = graph::checked_axes("squeeze", axes, e, where);
  IndexMap map;
  Dims shape;
  for (int d = 0; d < static_cast<int>(source.size()); ++d) {
    const std::int64_t extent = source[static_cast<std::size_t>(d)];
    const bool chosen = std::find(named.begin(), named.end(), d) != named.end();
    if (chosen && !axes.all() && extent != 1) {
      TARRY_THROW(
          InvalidShape, "squeeze", where,
          "axis " + std::to_string(d) + " of " + Typed(e).str() + " has extent " + std::to_string(extent) + ", not 1");
    }
    if (chosen && extent == 1) {
      map.push_back({-1, 0, 0});
    } else {
      map.push_back({shape.size(), 0, 1});
      shape.push_back(extent);
    }
  }
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}
TARRY_OR_OUT_OF_MEMORY("squeeze", where)

Array flip(const Array& x, const Axes& axes, Where where) try {
  const Edge e = detail::edge(x, "flip", where);
  const auto source = shape_of(e);
  IndexMap map = graph::broadcast_map(source, source);
  for (const std::int64_t d : graph::checked_axes("flip", axes, e, where)) {
    const std::int64_t extent = source[static_cast<std::size_t>(d)];
    if (extent > 1) map[static_cast<int>(d)] = {static_cast<std::int32_t>(d), extent - 1, -1};
  }
  return detail::wrap(graph::record_view(e, map, source, where));
}
TARRY_OR_OUT_OF_MEMORY("flip", where)

Array moveaxis(const Array& x, const Axes& source, const Axes& destination, Where where) try {
  const Edge e = detail::edge(x, "moveaxis", where);
  const auto shape = shape_of(e);
  if (source.vector().size() != destination.vector().size()) {
    TARRY_THROW(InvalidValue, "moveaxis", where,
                std::to_string(source.vector().size()) + " axes to move to " +
                    std::to_string(destination.vector().size()) + " places in " + Typed(e).str());
  }
  if (source.vector().empty()) return x;
  (void)graph::checked_axes("moveaxis", source, e, where);  // in range, none twice
  (void)graph::checked_axes("moveaxis", destination, e, where);
  std::vector<std::int64_t> order(shape.size(), -1);
  std::vector<bool> moved(shape.size());
  for (std::size_t i = 0; i < source.vector().size(); ++i) {
    const auto from = static_cast<std::size_t>(graph::checked_axis("moveaxis", source.vector()[i], e, where));
    const auto to = static_cast<std::size_t>(graph::checked_axis("moveaxis", destination.vector()[i], e, where));
    order[to] = static_cast<std::int64_t>(from);
    moved[from] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (moved[next]) ++next;
    axis = static_cast<std::int64_t>(next++);
  }
  return permute_dims(x, order, where);
}
TARRY_OR_OUT_OF_MEMORY("moveaxis", where)

Array reshape(const Array& x, const Shape& shape, Where where) try {
  const Edge e = detail::edge(x, "reshape", where);
  const std::string from = Typed(e).str(), to = shape.str();
  std::vector<std::int64_t> extents = shape.vector();
  const auto open = std::find(extents.begin(), extents.end(), -1);
  const std::int64_t count = graph::element_count(shape_of(e));
  if (open != extents.end()) {
    *open = 1;
    if (std::find(extents.begin(), extents.end(), -1) != extents.end()) {
      TARRY_THROW(InvalidShape, "reshape", where, from + " does not reshape to " + to + ": it has more than one -1");
    }
    graph::check_shape("reshape", {e.node()->dtype, extents}, where);
    const std::int64_t others = graph::element_count(extents);
    if (others == 0 || count % others != 0) {
      TARRY_THROW(InvalidShape, "reshape", where, "no extent for the -1 in " + to + " holds " + from);
    }
    *open = count / others;
  }
  graph::check_shape("reshape", {e.node()->dtype, extents}, where);
  if (graph::element_count(extents) != count) {
    TARRY_THROW(InvalidShape, "reshape", where,
                from + " has " + std::to_string(count) + " elements, " + to + " has " +
                    std::to_string(graph::element_count(extents)));
  }
  return detail::wrap(graph::record_reshape(e, extents, where));
}
TARRY_OR_OUT_OF_MEMORY("reshape", where)

std::vector<Array> unstack(const Array& x, int axis, Where where) try {
  const Edge e = detail::edge(x, "unstack", where);
  const int along = graph::checked_axis("unstack", axis, e, where);
  Dims shape(shape_of(e));
  const std::int64_t count = shape[along];
  shape.erase(along);
  IndexMap map;
  for (int d = 0; d <= shape.size(); ++d) map.push_back({d < along ? d : d - 1, 0, 1});
  std::vector<Array> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    map[along] = {-1, i, 0};
    parts.push_back(detail::wrap(graph::record_view(e, map, shape.span(), where)));
  }
  return parts;
}
TARRY_OR_OUT_OF_MEMORY("unstack", where)

Array repeat(const Array& x, std::int64_t repeats, std::optional<int> axis, Where where) try {
  Edge e = detail::edge(x, "repeat", where);
  if (!axis) e = graph::record_reshape(e, Dims{graph::element_count(shape_of(e))}.span(), where);
  const int along = graph::checked_axis("repeat", axis.value_or(0), e, where);
  const Dims merged = stretched("repeat", e.node()->dtype, Dims(shape_of(e)), along, repeats, where);
  return detail::wrap(repeated("repeat", e, along + 1, repeats, merged, where));
}
TARRY_OR_OUT_OF_MEMORY("repeat", where)

Array tile(const Array& x, const Shape& repetitions, Where where) try {
  Edge e = detail::edge(x, "tile", where);
  if (repetitions.size() > static_cast<std::size_t>(graph::kMaxRank)) {
    TARRY_THROW(InvalidShape, "tile", where,
                "repetitions " + repetitions.str() + " of " + Typed(e).str() + " name more than " +
                    std::to_string(graph::kMaxRank) + " axes");
  }
  const int rank = std::max(static_cast<int>(repetitions.size()), static_cast<int>(shape_of(e).size()));
  Dims shape(shape_of(e));
  while (shape.size() < rank) shape.insert(0, 1);
  e = graph::record_reshape(e, shape.span(), where);
  const int lead = rank - static_cast<int>(repetitions.size());
  for (int d = lead; d < rank; ++d) {
    const std::int64_t times = repetitions[static_cast<std::size_t>(d - lead)];
    if (times == 1) continue;
    shape = stretched("tile", e.node()->dtype, shape, d, times, where);
    e = repeated("tile", e, d, times, shape, where);
  }
  return detail::wrap(e);
}
TARRY_OR_OUT_OF_MEMORY("tile", where)

}  // namespace v0
}  // namespace tarry
