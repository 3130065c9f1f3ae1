// Joining: concat, stack and roll are boxes that partition a whole, written one after the other.
#include "graph/record/join.h"

#include <tarry/dynamic.h>
#include <tarry/views.h>

#include <algorithm>

#include "graph/record/parts.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

/// Parts that one chain of updates joins. More are joined in a tree, so that the work per element does not grow with
/// their number.
constexpr std::size_t kFanIn = 24;

/// Parts of one dtype, one after the other along `axis`.
Edge join_run(std::string_view op, std::span<const Edge> parts, int axis, Where where) {
  if (parts.size() == 1) return parts.front();
  Dims shape(parts.front().node()->shape());
  shape[axis] = 0;
  for (const Edge& p : parts) shape[axis] += p.node()->shape()[static_cast<std::size_t>(axis)];
  Edge whole = record_fill(record_scalar(0, parts.front().node()->dtype, op, where), shape.span(), where);
  UpdateAttributes at{Dims::filled(shape.size(), 0), Dims::filled(shape.size(), 1)};
  for (const Edge& p : parts) {
    whole = record_update(op, whole, p, at, where);
    at.start[axis] += p.node()->shape()[static_cast<std::size_t>(axis)];
  }
  return whole;
}

Edge join(std::string_view op, std::vector<Edge> parts, int axis, Where where) {
  while (parts.size() > kFanIn) {
    std::vector<Edge> fewer;
    for (std::size_t i = 0; i < parts.size(); i += kFanIn) {
      fewer.push_back(join_run(op, std::span(parts).subspan(i, std::min(kFanIn, parts.size() - i)), axis, where));
    }
    parts = std::move(fewer);
  }
  return join_run(op, parts, axis, where);
}

/// The arrays as edges of their common dtype.
std::vector<Edge> promoted(const char* op, std::span<const Array> arrays, Where where) {
  if (arrays.empty()) TARRY_THROW(InvalidArgument, op, where, "there is no array to join");
  std::vector<Argument> arguments;
  for (const Array& x : arrays) arguments.push_back({detail::edge(x, op, where), 0});
  const Dtype dtype = common_dtype(op, arguments, where);
  std::vector<Edge> edges;
  for (const Argument& a : arguments) edges.push_back(record_cast(a.edge, dtype, where));
  return edges;
}

[[noreturn]] void throw_mismatch(const char* op, const Edge& a, const Edge& b, Where where) {
  TARRY_THROW(InvalidShape, op, where,
              Typed(a).str() + " and " + Typed(b).str() +
                  " do not go together: all axes but the joined one are equal, and expand_dims adds one");
}

/// Throws unless the shapes are equal but for `axis`, and the whole's extents are within bounds.
void check_parts(const char* op, std::span<const Edge> parts, int axis, Where where) {
  Dims whole(parts.front().node()->shape());
  for (const Edge& p : parts.subspan(1)) {
    Dims shape(p.node()->shape());
    if (shape.size() != whole.size()) throw_mismatch(op, parts.front(), p, where);
    const std::int64_t extent = shape[axis];
    shape[axis] = whole[axis];
    if (!(shape == whole)) throw_mismatch(op, parts.front(), p, where);
    if (__builtin_add_overflow(whole[axis], extent, &whole[axis])) {
      TARRY_THROW(InvalidShape, op, where,
                  "the parts, " + Typed(parts.front()).str() +
                      " and others, have more than 2^63 - 1 elements along axis " + std::to_string(axis));
    }
  }
  check_shape(op, {parts.front().node()->dtype, whole.span()}, where);
}

}  // namespace

Edge concatenated(const char* op, std::vector<Edge> parts, int axis, Where where) {
  check_parts(op, parts, axis, where);
  const Edge first = parts.front();
  std::erase_if(parts, [axis](const Edge& p) { return p.node()->shape()[static_cast<std::size_t>(axis)] == 0; });
  return parts.empty() ? first : join(op, std::move(parts), axis, where);
}

namespace {

Edge rolled(const Edge& x, std::int64_t shift, int axis, Where where) {
  const std::int64_t extent = x.node()->shape()[static_cast<std::size_t>(axis)];
  if (element_count(x.node()->shape()) == 0) return x;
  const std::int64_t rest = shift % extent, by = rest < 0 ? rest + extent : rest;
  if (by == 0) return x;
  return join("roll", {cut(x, axis, extent - by, by, where), cut(x, axis, 0, extent - by, where)}, axis, where);
}

}  // namespace
}  // namespace graph

inline namespace v0 {

using graph::Edge;

Array concat(std::span<const Array> arrays, std::optional<int> axis, Where where) try {
  std::vector<Edge> parts = graph::promoted("concat", arrays, where);
  if (!axis) {
    for (Edge& p : parts) p = graph::flattened(p, where);
    return detail::wrap(graph::concatenated("concat", std::move(parts), 0, where));
  }
  if (parts.front().node()->rank == 0) {
    TARRY_THROW(InvalidShape, "concat", where,
                graph::Typed(parts.front()).str() + " is 0-d: there is no axis to join along; stack makes one");
  }
  const int along = graph::checked_axis("concat", *axis, parts.front(), where);
  return detail::wrap(graph::concatenated("concat", std::move(parts), along, where));
}
TARRY_OR_OUT_OF_MEMORY("concat", where)

Array stack(std::span<const Array> arrays, int axis, Where where) try {
  const std::vector<Edge> parts = graph::promoted("stack", arrays, where);
  graph::Dims wider(parts.front().node()->shape());
  for (const Edge& p : parts) {
    if (!std::ranges::equal(p.node()->shape(), wider.span())) graph::throw_mismatch("stack", parts.front(), p, where);
  }
  if (wider.size() == graph::kMaxRank) {
    TARRY_THROW(InvalidShape, "stack", where,
                graph::Typed(parts.front()).str() + " has the highest rank already, " + std::to_string(wider.size()));
  }
  wider.push_back(1);
  const int at = graph::checked_axis("stack", axis, {parts.front().node()->dtype, wider.span()}, where);
  std::vector<Edge> expanded;
  for (const Edge& p : parts) expanded.push_back(detail::edge(expand_dims(detail::wrap(p), at, where), "stack", where));
  return detail::wrap(graph::concatenated("stack", std::move(expanded), at, where));
}
TARRY_OR_OUT_OF_MEMORY("stack", where)

Array roll(const Array& x, std::int64_t shift, const Axes& axes, Where where) try {
  Edge e = detail::edge(x, "roll", where);
  if (axes.all()) {
    const Edge flat = graph::rolled(graph::flattened(e, where), shift, 0, where);
    return detail::wrap(graph::record_reshape(flat, e.node()->shape(), where));
  }
  for (const std::int64_t axis : graph::checked_axes("roll", axes, e, where)) {
    e = graph::rolled(e, shift, static_cast<int>(axis), where);
  }
  return detail::wrap(e);
}
TARRY_OR_OUT_OF_MEMORY("roll", where)

Array roll(const Array& x, std::span<const std::int64_t> shifts, const Axes& axes, Where where) try {
  Edge e = detail::edge(x, "roll", where);
  if (shifts.size() != axes.vector().size()) {
    TARRY_THROW(InvalidValue, "roll", where,
                std::to_string(shifts.size()) + " shifts for " + std::to_string(axes.vector().size()) + " axes of " +
                    graph::Typed(e).str());
  }
  (void)graph::checked_axes("roll", axes, e, where);  // in range, none twice
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const int axis = graph::checked_axis("roll", axes.vector()[i], e, where);
    e = graph::rolled(e, shifts[i], axis, where);
  }
  return detail::wrap(e);
}
TARRY_OR_OUT_OF_MEMORY("roll", where)

Array roll(const Array& x, std::initializer_list<std::int64_t> shifts, const Axes& axes, Where where) {
  return roll(x, std::span(shifts.begin(), shifts.size()), axes, where);
}

}  // namespace v0
}  // namespace tarry
