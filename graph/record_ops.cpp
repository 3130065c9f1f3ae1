// The public elementwise operations and views.
#include <tarry/ops.h>

#include <algorithm>

#include "graph/record.h"
#include "support/check.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::AxisMap;
using graph::Dims;
using graph::Edge;
using graph::IndexMap;
using graph::Op;

graph::Argument argument(const Operand& x, Op op, Where where) {
  if (x.array() == nullptr) return {Edge(), x.scalar()};
  return {detail::edge(*x.array(), name(op), where), 0};
}

Array map(Op op, const Operand& a, const Operand& b) {
  const Where where = a.where();
  return detail::wrap(graph::record_map(op, {argument(a, op, where), argument(b, op, where)}, where));
}

Array map(Op op, const Array& x, Where where) {
  return detail::wrap(graph::record_map(op, {{detail::edge(x, name(op), where), 0}}, where));
}

std::span<const std::int64_t> shape_of(const Edge& e) { return e.node()->shape(); }

}  // namespace

Array add(const Operand& a, const Operand& b) { return map(Op::Add, a, b); }
Array subtract(const Operand& a, const Operand& b) { return map(Op::Subtract, a, b); }
Array multiply(const Operand& a, const Operand& b) { return map(Op::Multiply, a, b); }
Array divide(const Operand& a, const Operand& b) { return map(Op::Divide, a, b); }
Array floor_divide(const Operand& a, const Operand& b) { return map(Op::FloorDivide, a, b); }
Array remainder(const Operand& a, const Operand& b) { return map(Op::Remainder, a, b); }
Array negative(const Array& x, std::source_location where) { return map(Op::Negative, x, where); }
Array abs(const Array& x, std::source_location where) { return map(Op::Abs, x, where); }
Array minimum(const Operand& a, const Operand& b) { return map(Op::Minimum, a, b); }
Array maximum(const Operand& a, const Operand& b) { return map(Op::Maximum, a, b); }
Array sqrt(const Array& x, std::source_location where) { return map(Op::Sqrt, x, where); }
Array exp(const Array& x, std::source_location where) { return map(Op::Exp, x, where); }
Array log(const Array& x, std::source_location where) { return map(Op::Log, x, where); }
Array erf(const Array& x, std::source_location where) { return map(Op::Erf, x, where); }
Array equal(const Operand& a, const Operand& b) { return map(Op::Equal, a, b); }
Array not_equal(const Operand& a, const Operand& b) { return map(Op::NotEqual, a, b); }
Array less(const Operand& a, const Operand& b) { return map(Op::Less, a, b); }
Array less_equal(const Operand& a, const Operand& b) { return map(Op::LessEqual, a, b); }
Array greater(const Operand& a, const Operand& b) { return map(Op::Greater, a, b); }
Array greater_equal(const Operand& a, const Operand& b) { return map(Op::GreaterEqual, a, b); }
Array logical_and(const Operand& a, const Operand& b) { return map(Op::LogicalAnd, a, b); }
Array logical_or(const Operand& a, const Operand& b) { return map(Op::LogicalOr, a, b); }
Array logical_not(const Array& x, std::source_location where) { return map(Op::LogicalNot, x, where); }

Array detail::negative(const Operand& x) {
  return wrap(graph::record_map(Op::Negative, {argument(x, Op::Negative, x.where())}, x.where()));
}

Array where(const Operand& condition, const Operand& a, const Operand& b) {
  const Where at = condition.where();
  return detail::wrap(graph::record_map(
      Op::Where, {argument(condition, Op::Where, at), argument(a, Op::Where, at), argument(b, Op::Where, at)}, at));
}

Array astype(const Array& x, Dtype dtype, std::source_location where) {
  return detail::wrap(graph::record_cast(detail::edge(x, "astype", where), dtype, where));
}

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
