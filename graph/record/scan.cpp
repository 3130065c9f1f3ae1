// The public scans.
#include <tarry/scan.h>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Op;

enum class Direction : std::uint8_t { Forward, Backward };

int scanned_axis(Op op, const Edge& x, std::optional<int> axis, Where where) {
  const std::span<const std::int64_t> shape = x.node()->shape();
  if (shape.empty()) {
    TARRY_THROW(InvalidShape, std::string(name(op)), where,
                graph::Typed(x).str() + " is without dimensions: there is no axis to go along");
  }
  if (!axis && shape.size() > 1) {
    TARRY_THROW(InvalidValue, std::string(name(op)), where,
                "which axis? " + graph::Typed(x).str() + " has several; pass {.axis = ...}");
  }
  return graph::checked_axis(name(op), axis.value_or(0), x, where);
}

/// `scanned` behind the value of no element, in reverse before it.
Edge with_initial(Op op, const Edge& scanned, int axis, Direction direction, Where where) {
  const Dtype dtype = scanned.node()->dtype;
  Dims shape(scanned.node()->shape());
  ++shape[axis];
  graph::check_shape(name(op), {dtype, shape.span()}, where);
  const Edge first = graph::record_scalar(op == Op::CumulativeProd ? 1 : 0, dtype, name(op), where);
  const Edge whole = graph::record_view(first, graph::IndexMap{}, shape.span(), where, scanned.node()->device);
  if (graph::element_count(scanned.node()->shape()) == 0) return whole;
  graph::UpdateAttributes at{Dims::filled(shape.size(), 0), Dims::filled(shape.size(), 1)};
  at.start[axis] = direction == Direction::Forward ? 1 : 0;
  return graph::record_update(name(op), whole, scanned, at, where);
}

/// The scan of x in its dtype, along an axis of any length.
Edge scanned(Op op, const Edge& x, int axis, Direction direction, Where where) {
  const Dims shape(x.node()->shape());
  if (shape[axis] < 2 || graph::element_count(shape.span()) == 0) return x;  // every prefix is its last element
  const bool backward = direction == Direction::Backward;
  const auto turned = [&](const Edge& e) {
    return backward ? graph::cut(e, axis, shape[axis] - 1, shape[axis], where, -1) : e;
  };
  const Edge wide = graph::record_cast(turned(x), graph::accumulator(op, x.node()->dtype), where);
  return turned(graph::record_cast(graph::record_scan(op, wide, axis, where), x.node()->dtype, where));
}

/// cumulative_sum and cumulative_prod.
Array cumulative(Op op, const Array& array, ScanOptions options, Where where) {
  Edge x = detail::edge(array, name(op), where);
  const int axis = scanned_axis(op, x, options.axis, where);
  const Dtype given = x.node()->dtype;
  const Dtype widest = tarry::info(given).kind == DtypeKind::UInt ? uint64 : int64;
  const Dtype dtype = options.dtype.value_or(is_floating(given) ? given : widest);
  graph::check_available(name(op), dtype, where);
  if (dtype == bool_) {
    TARRY_THROW(InvalidDtype, std::string(name(op)), where,
                "cannot compute " + graph::Typed(x).str() + " in bool; convert with astype first");
  }
  const Direction direction = options.reverse ? Direction::Backward : Direction::Forward;
  x = scanned(op, graph::record_cast(x, dtype, where), axis, direction, where);
  return detail::wrap(options.include_initial ? with_initial(op, x, axis, direction, where) : x);
}

/// cumulative_min and cumulative_max.
Array running(Op op, const Array& array, RunningOptions options, Where where) {
  const Edge x = detail::edge(array, name(op), where);
  const int axis = scanned_axis(op, x, options.axis, where);
  return detail::wrap(scanned(op, x, axis, options.reverse ? Direction::Backward : Direction::Forward, where));
}

}  // namespace

Array cumulative_sum(const Array& x, ScanOptions options, Where where) try {
  return cumulative(Op::CumulativeSum, x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("cumulative_sum", where)

Array cumulative_prod(const Array& x, ScanOptions options, Where where) try {
  return cumulative(Op::CumulativeProd, x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("cumulative_prod", where)

Array cumulative_min(const Array& x, RunningOptions options, Where where) try {
  return running(Op::CumulativeMin, x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("cumulative_min", where)

Array cumulative_max(const Array& x, RunningOptions options, Where where) try {
  return running(Op::CumulativeMax, x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("cumulative_max", where)

}  // namespace v0
}  // namespace tarry
