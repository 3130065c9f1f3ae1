// The public views.
#include <tarry/views.h>

#include <algorithm>

#include "graph/record.h"
#include "support/check.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::IndexMap;

std::span<const std::int64_t> shape_of(const Edge& e) { return e.node()->shape(); }

}  // namespace

Array broadcast_to(const Array& x, const Shape& shape, std::source_location where) {
  const Edge e = detail::edge(x, "broadcast_to", where);
  const auto source = shape_of(e);
  const std::span<const std::int64_t> target(shape.data(), shape.size());
  graph::check_shape("broadcast_to", target, where);
  const bool fits = source.size() <= target.size() &&
                    std::equal(source.begin(), source.end(), target.end() - static_cast<std::ptrdiff_t>(source.size()),
                               [](std::int64_t from, std::int64_t to) { return from == 1 || from == to; });
  if (!fits) {
    TARRY_THROW(InvalidArgument, "broadcast_to", where,
                "shape " + graph::to_string(source) + " does not broadcast to " + graph::to_string(target));
  }
  return detail::wrap(graph::record_view(e, graph::broadcast_map(source, target), target, where));
}

Array permute_dims(const Array& x, const Axes& axes, std::source_location where) {
  const Edge e = detail::edge(x, "permute_dims", where);
  const auto source = shape_of(e);
  if (axes.vector().size() != source.size()) {
    TARRY_THROW(InvalidArgument, "permute_dims", where,
                std::to_string(axes.vector().size()) + " axes do not permute shape " + graph::to_string(source));
  }
  (void)graph::checked_axes("permute_dims", axes, source, where);  // in range, none twice
  IndexMap map;
  map.size = static_cast<int>(source.size());
  Dims shape;
  for (int d = 0; d < map.size; ++d) {
    const int from = graph::checked_axis("permute_dims", axes.vector()[static_cast<std::size_t>(d)], source, where);
    map[from] = {d, 0, 1};
    shape.push_back(source[static_cast<std::size_t>(from)]);
  }
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}

Array matrix_transpose(const Array& x, std::source_location where) {
  const auto rank = static_cast<std::int64_t>(shape_of(detail::edge(x, "matrix_transpose", where)).size());
  if (rank < 2) {
    TARRY_THROW(InvalidArgument, "matrix_transpose", where, "shape " + x.shape().str() + " has fewer than two axes");
  }
  std::vector<std::int64_t> axes;
  for (std::int64_t d = 0; d < rank; ++d) axes.push_back(d);
  std::swap(axes[static_cast<std::size_t>(rank - 2)], axes.back());
  return permute_dims(x, axes, where);
}

Array expand_dims(const Array& x, int axis, std::source_location where) {
  const Edge e = detail::edge(x, "expand_dims", where);
  const auto source = shape_of(e);
  const int rank = static_cast<int>(source.size());
  if (axis < -rank - 1 || axis > rank) {
    TARRY_THROW(InvalidArgument, "expand_dims", where,
                "axis " + std::to_string(axis) + " is out of range for shape " + graph::to_string(source));
  }
  if (rank == graph::kMaxRank) {
    TARRY_THROW(InvalidArgument, "expand_dims", where,
                "shape " + graph::to_string(source) + " has the highest rank already, " + std::to_string(rank));
  }
  const int at = axis < 0 ? axis + rank + 1 : axis;
  IndexMap map;
  for (int d = 0; d < rank; ++d) map.push_back({d < at ? d : d + 1, 0, 1});
  Dims shape(source);
  shape.insert(at, 1);
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}

Array squeeze(const Array& x, const Axes& axes, std::source_location where) {
  const Edge e = detail::edge(x, "squeeze", where);
  const auto source = shape_of(e);
  const Dims named = graph::checked_axes("squeeze", axes, source, where);
  IndexMap map;
  Dims shape;
  for (int d = 0; d < static_cast<int>(source.size()); ++d) {
    const std::int64_t extent = source[static_cast<std::size_t>(d)];
    const bool chosen = std::find(named.begin(), named.end(), d) != named.end();
    if (chosen && !axes.all() && extent != 1) {
      TARRY_THROW(InvalidArgument, "squeeze", where,
                  "axis " + std::to_string(d) + " of shape " + graph::to_string(source) + " has extent " +
                      std::to_string(extent) + ", not 1");
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

Array flip(const Array& x, const Axes& axes, std::source_location where) {
  const Edge e = detail::edge(x, "flip", where);
  const auto source = shape_of(e);
  IndexMap map = graph::broadcast_map(source, source);
  for (const std::int64_t d : graph::checked_axes("flip", axes, source, where)) {
    const std::int64_t extent = source[static_cast<std::size_t>(d)];
    if (extent > 1) map[static_cast<int>(d)] = {static_cast<std::int32_t>(d), extent - 1, -1};
  }
  return detail::wrap(graph::record_view(e, map, source, where));
}

}  // namespace v0
}  // namespace tarry
