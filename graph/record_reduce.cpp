// The public reductions: chains of single-axis reductions, composed exactly as docs/numerics.md says.
#include <tarry/ops.h>

#include <algorithm>
#include <limits>

#include "graph/record.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::IndexMap;
using graph::Op;

/// What every reduction starts from.
struct Reduced {
  Edge x;
  Dims axes;               ///< ascending
  Dims shape;              ///< of the user's x
  std::int64_t count = 1;  ///< elements per result
};

Reduced prepare(const char* op, const Array& x, const Axes& axes, Where where) {
  Reduced r;
  r.x = detail::edge(x, op, where);
  r.shape = Dims(r.x.node()->shape());
  r.axes = graph::checked_axes(op, axes, r.shape.span(), where);
  for (const std::int64_t axis : r.axes) r.count *= r.shape[static_cast<int>(axis)];
  return r;
}

Edge reduce_axis(Op op, const Edge& x, std::int64_t axis, Where where) {
  return graph::record_reduce(op, {&x, 1}, {static_cast<std::int32_t>(axis), 1}, where);
}

/// Along all axes, highest first; the rest of the order is tree R.
Edge chain(Op op, const Reduced& r, Where where) {
  Edge e = r.x;
  for (int i = r.axes.size() - 1; i >= 0; --i) e = reduce_axis(op, e, r.axes[i], where);
  return e;
}

bool is_reduced(const Reduced& r, int axis) { return std::find(r.axes.begin(), r.axes.end(), axis) != r.axes.end(); }

/// The result, with the reduced axes put back as extents of 1 where asked.
Array finish(const Reduced& r, const Edge& e, bool keepdims, Where where) {
  if (!keepdims || r.axes.empty()) return detail::wrap(e);
  IndexMap map;
  Dims shape;
  for (int d = 0; d < r.shape.size(); ++d) {
    if (!is_reduced(r, d)) map.push_back({d, 0, 1});
    shape.push_back(is_reduced(r, d) ? 1 : r.shape[d]);
  }
  return detail::wrap(graph::record_view(e, map, shape.span(), where));
}

Array extremum(Op op, const Array& x, const Axes& axes, ReduceOptions options, Where where) {
  const std::string op_name(name(op));
  const Reduced r = prepare(op_name.c_str(), x, axes, where);
  if (r.x.node()->dtype == bool_) {
    TARRY_THROW(InvalidArgument, op_name, where, "takes numbers, not bool; convert with astype first");
  }
  for (const std::int64_t axis : r.axes) {
    if (r.shape[static_cast<int>(axis)] == 0) {
      TARRY_THROW(InvalidArgument, op_name, where,
                  "axis " + std::to_string(axis) + " of shape " + graph::to_string(r.shape) +
                      " is empty: nothing has no " + op_name);
    }
  }
  return finish(r, chain(op, r, where), options.keepdims, where);
}

/// Floats as they are, everything else in float64.
Edge as_floating(const Edge& x, Where where) {
  return is_floating(x.node()->dtype) ? x : graph::record_cast(x, float64, where);
}

Scalar count_of(const Reduced& r) { return Scalar(static_cast<double>(r.count)); }

/// The element at index 0 along every reduced axis, which keep extent 1.
Edge first_element(const Reduced& r, Where where) {
  IndexMap map;
  Dims shape;
  for (int d = 0; d < r.shape.size(); ++d) {
    map.push_back(is_reduced(r, d) ? graph::AxisMap{-1, 0, 0} : graph::AxisMap{d, 0, 1});
    shape.push_back(is_reduced(r, d) ? 1 : r.shape[d]);
  }
  return graph::record_view(r.x, map, shape.span(), where);
}

/// x - x0, x0 the first element or 0 where that is not finite: keeps the moments small beside the values.
Edge shifted(const Reduced& r, Where where) {
  const Edge first = first_element(r, where);
  const Edge difference = graph::record_map(Op::Subtract, {{first, 0}, {first, 0}}, where);  // NaN unless finite
  const Edge finite = graph::record_map(Op::Equal, {{difference, 0}, {Edge(), 0}}, where);
  const Edge x0 = graph::record_map(Op::Where, {{finite, 0}, {first, 0}, {Edge(), 0}}, where);
  return graph::record_map(Op::Subtract, {{r.x, 0}, {x0, 0}}, where);
}

/// The only element of every reduced set, without the reduced axes.
Edge without_axes(const Reduced& r, const Edge& x, Where where) {
  IndexMap map;
  Dims shape;
  for (int d = 0; d < r.shape.size(); ++d) {
    map.push_back(is_reduced(r, d) ? graph::AxisMap{-1, 0, 0} : graph::AxisMap{shape.size(), 0, 1});
    if (!is_reduced(r, d)) shape.push_back(r.shape[d]);
  }
  return graph::record_view(x, map, shape.span(), where);
}

/// Sum of squared deviations from the mean over all axes of r; there is at least one.
Edge squared_deviations(const Reduced& r, Where where) {
  Edge mean = shifted(r, where), m2;
  if (r.count == 1) return without_axes(r, graph::record_map(Op::Subtract, {{mean, 0}, {mean, 0}}, where), where);
  std::int64_t weight = 1;
  for (int i = r.axes.size() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::int32_t>(r.axes[i]);
    const std::array<Edge, 2> state = {mean, m2};
    const bool leaf = !m2;
    mean = graph::record_reduce(leaf ? Op::Moments : Op::MomentsMerge, std::span(state).first(leaf ? 1 : 2),
                                {axis, weight}, where);
    m2 = graph::output_of(mean, 1);
    weight *= r.shape[axis];
  }
  return m2;
}

/// A 0-d x reduces as one axis of one element.
Reduced with_an_axis(Reduced r, Where where) {
  if (!r.axes.empty()) return r;
  r.shape = {1};
  r.axes = {0};
  r.x = graph::record_view(r.x, IndexMap{}, r.shape.span(), where);
  return r;
}

/// Variance without the reduced axes; r has at least one.
Edge variance(const Reduced& r, double correction, Where where) {
  const support::DefaultFloatingPoint state;
  const Dtype dtype = r.x.node()->dtype;
  const double divisor = static_cast<double>(r.count) - correction;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (r.count == 0) {  // there is no first element to shift by, and the answer is known
    Dims shape;
    for (int d = 0; d < r.shape.size(); ++d) {
      if (!is_reduced(r, d)) shape.push_back(r.shape[d]);
    }
    const Device device = r.x.node()->device;
    return graph::record_view(graph::record_scalar(nan, dtype, "var", where), IndexMap{}, shape.span(), where, device);
  }
  const Edge m2 = squared_deviations(r, where);
  return graph::record_map(Op::Divide, {{m2, 0}, {Edge(), divisor > 0 ? divisor : nan}}, where);
}

Array moment(const char* op, const Array& x, const Axes& axes, MomentOptions options, Where where) {
  Reduced given = prepare(op, x, axes, where);
  given.x = as_floating(given.x, where);
  Edge result = variance(with_an_axis(given, where), options.correction, where);
  if (std::string_view(op) == "std") result = graph::record_map(Op::Sqrt, {{result, 0}}, where);
  return finish(given, result, options.keepdims, where);
}

}  // namespace

Array sum(const Array& x, const Axes& axes, SumOptions options, std::source_location where) {
  Reduced r = prepare("sum", x, axes, where);
  const Dtype given = r.x.node()->dtype;
  const Dtype widened = is_floating(given) ? given : tarry::info(given).kind == DtypeKind::UInt ? uint64 : int64;
  const Dtype dtype = options.dtype.value_or(widened);
  graph::check_available("sum", dtype, where);
  if (dtype == bool_) TARRY_THROW(InvalidArgument, "sum", where, "cannot sum in bool");
  r.x = graph::record_cast(r.x, dtype, where);
  return finish(r, chain(Op::Sum, r, where), options.keepdims, where);
}

Array min(const Array& x, const Axes& axes, ReduceOptions options, std::source_location where) {
  return extremum(Op::Min, x, axes, options, where);
}

Array max(const Array& x, const Axes& axes, ReduceOptions options, std::source_location where) {
  return extremum(Op::Max, x, axes, options, where);
}

Array mean(const Array& x, const Axes& axes, ReduceOptions options, std::source_location where) {
  Reduced r = prepare("mean", x, axes, where);
  r.x = as_floating(r.x, where);
  const Edge total = chain(Op::Sum, r, where);
  return finish(r, graph::record_map(Op::Divide, {{total, 0}, {Edge(), count_of(r)}}, where), options.keepdims, where);
}

Array var(const Array& x, const Axes& axes, MomentOptions options, std::source_location where) {
  return moment("var", x, axes, options, where);
}

Array std(const Array& x, const Axes& axes, MomentOptions options, std::source_location where) {
  return moment("std", x, axes, options, where);
}

}  // namespace v0
}  // namespace tarry
