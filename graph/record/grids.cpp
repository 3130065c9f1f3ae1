// Arrays made from coordinates: meshgrid, triangles, and numbers spaced by a factor.
#include <tarry/create.h>
#include <tarry/views.h>

#include <algorithm>
#include <cmath>

#include "graph/record/parts.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::mapped;
using graph::Op;

/// x where its column lies `side` (LessEqual or GreaterEqual) of the k-th diagonal, else 0.
Array triangle(const char* op, Op side, const Array& x, std::int64_t k, Where where) {
  const Edge e = detail::edge(x, op, where);
  graph::check_rank(op, e, 2, where);
  const auto shape = e.node()->shape();
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const Edge row = graph::coordinate(e, rows, 0, 2, where), column = graph::coordinate(e, columns, 1, 2, where);
  // A k beyond the matrix keeps all or nothing, and the sum must not wrap.
  const Edge diagonal = mapped(Op::Add, row, std::clamp(k, -rows, columns), where);
  const Edge zero = graph::record_scalar(0, e.node()->dtype, op, where);
  return detail::wrap(
      graph::record_map(Op::Where, {{mapped(side, column, diagonal, where), 0}, {e, 0}, {zero, 0}}, where, op));
}

/// Spaced numbers before their ends are known: the dtype, and i / intervals in float64.
struct Spacing {
  Dtype dtype;
  std::int64_t count;
  Edge index, fraction;
};

Spacing spacing(const char* op, Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options, Where where) {
  std::optional<Dtype> widest;
  for (const Scalar s : {start, stop}) {
    if (!std::isfinite(s.to_double()))
      TARRY_THROW(InvalidValue, op, where, "takes finite numbers, not " + graph::to_string(s));
    if (s.kind() == Scalar::Kind::Float)
      widest = *graph::promote(widest.value_or(s.default_dtype()), s.default_dtype());
  }
  const Dtype dtype = options.dtype.value_or(widest.value_or(graph::context().default_float));
  graph::check_available(op, dtype, where);
  if (count < 0) TARRY_THROW(InvalidValue, op, where, "count " + std::to_string(count) + " is negative");
  if (!is_floating(dtype))
    TARRY_THROW(InvalidDtype, op, where, "dtype " + std::string(name(dtype)) + " is not floating");
  const std::int64_t intervals = std::max<std::int64_t>(options.endpoint ? count - 1 : count, 1);
  const Edge index = graph::record_iota(Dims{count}.span(), 0, where);
  const Edge wide = graph::record_cast(index, float64, where);
  return {dtype, count, index, mapped(Op::Divide, wide, static_cast<double>(intervals), where)};
}

/// `values` but for element `at`.
Edge with_element(const Spacing& s, std::int64_t at, double value, const Edge& values, Where where) {
  const Edge there = mapped(Op::Equal, s.index, at, where);
  return graph::record_map(Op::Where, {{there, 0}, {Edge(), value}, {values, 0}}, where);
}

}  // namespace

Array empty(const Shape& shape, std::optional<Dtype> dtype, Where where) try {
  const Dtype wanted = dtype.value_or(graph::context().default_float);
  graph::check_shape("empty", {wanted, shape.vector()}, where);
  return detail::wrap(graph::record_fill(graph::record_scalar(0, wanted, "empty", where), shape.vector(), where));
}
TARRY_OR_OUT_OF_MEMORY("empty", where)

Array empty_like(const Array& x, std::optional<Dtype> dtype, Where where) try {
  const Edge e = detail::edge(x, "empty_like", where);
  return zeros_like(x, dtype.value_or(e.node()->dtype), where);
}
TARRY_OR_OUT_OF_MEMORY("empty_like", where)

Array tril(const Array& x, std::int64_t k, Where where) try { return triangle("tril", Op::LessEqual, x, k, where); }
TARRY_OR_OUT_OF_MEMORY("tril", where)

Array triu(const Array& x, std::int64_t k, Where where) try { return triangle("triu", Op::GreaterEqual, x, k, where); }
TARRY_OR_OUT_OF_MEMORY("triu", where)

std::vector<Array> meshgrid(std::span<const Array> arrays, GridOrder order, Where where) try {
  const std::vector<Edge> edges = graph::edges_of("meshgrid", arrays, where);
  const int rank = static_cast<int>(edges.size());
  for (const Edge& e : edges) {
    if (e.node()->rank > 1)
      TARRY_THROW(InvalidShape, "meshgrid", where,
                  graph::Typed(e).str() + " has several axes: coordinates along one are wanted");
  }
  if (rank > graph::kMaxRank) {
    TARRY_THROW(InvalidShape, "meshgrid", where,
                std::to_string(rank) + " arrays, the first of them " + graph::Typed(edges.front()).str() +
                    ", would give more than " + std::to_string(graph::kMaxRank) + " axes");
  }
  const auto axis_of = [&](int i) { return order == GridOrder::XY && i < 2 && rank > 1 ? 1 - i : i; };
  Dims shape = Dims::filled(rank, 1);
  for (int i = 0; i < rank; ++i)
    shape[axis_of(i)] = graph::element_count(edges[static_cast<std::size_t>(i)].node()->shape());
  graph::check_shape("meshgrid", {edges.front().node()->dtype, shape.span()}, where);
  std::vector<Array> grids;
  for (int i = 0; i < rank; ++i) {
    const Edge& e = edges[static_cast<std::size_t>(i)];
    graph::IndexMap along;
    if (e.node()->rank == 1) along.push_back({axis_of(i), 0, 1});
    grids.push_back(detail::wrap(graph::record_view(e, along, shape.span(), where)));
  }
  return grids;
}
TARRY_OR_OUT_OF_MEMORY("meshgrid", where)

Array logspace(Scalar start, Scalar stop, std::int64_t count, LogspaceOptions options, Where where) try {
  const LinspaceOptions spaced{.endpoint = options.endpoint, .dtype = options.dtype};
  const Spacing s = spacing("logspace", start, stop, count, spaced, where);
  if (!(options.base > 0) || !std::isfinite(options.base)) {
    TARRY_THROW(InvalidValue, "logspace", where,
                "base " + graph::to_string(Scalar(options.base)) + " is no positive finite number");
  }
  const Array exponents =
      linspace(start.to_double(), stop.to_double(), count, {.endpoint = options.endpoint, .dtype = float64}, where);
  const Edge base = graph::record_scalar(options.base, float64, "logspace", where);
  const Edge powers = mapped(Op::Pow, base, detail::edge(exponents, "logspace", where), where);
  return detail::wrap(graph::record_cast(powers, s.dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("logspace", where)

Array geomspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options, Where where) try {
  const support::DefaultFloatingPoint state;
  const Spacing s = spacing("geomspace", start, stop, count, options, where);
  const double first = start.to_double(), last = stop.to_double();
  if (first == 0 || last == 0 || std::signbit(first) != std::signbit(last)) {
    TARRY_THROW(InvalidValue, "geomspace", where,
                "from " + graph::to_string(start) + " to " + graph::to_string(stop) +
                    ": numbers of one sign are wanted, and no zero");
  }
  // A ratio that float64 does not hold goes by its fourth root.
  const double ratio = last / first;
  const bool far = !std::isnormal(ratio);
  const double base = far ? std::sqrt(std::sqrt(std::fabs(last))) / std::sqrt(std::sqrt(std::fabs(first))) : ratio;
  const Edge power = mapped(Op::Pow, graph::record_scalar(base, float64, "geomspace", where), s.fraction, where);
  Edge e = mapped(Op::Multiply, power, first, where);
  for (int i = 1; far && i < 4; ++i) e = mapped(Op::Multiply, e, power, where);
  if (options.endpoint && count > 1) e = with_element(s, count - 1, last, e, where);
  return detail::wrap(graph::record_cast(e, s.dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("geomspace", where)

}  // namespace v0
}  // namespace tarry
