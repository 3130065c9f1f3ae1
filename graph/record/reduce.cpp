// The public reductions: chains of single-axis reductions, composed exactly as docs/reference/numerics.md says.
#include <tarry/reduce.h>
#include <tarry/type_info.h>

#include <limits>

#include "graph/record/gather.h"
#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "graph/record/selection.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::for_statistics;
using graph::IndexAttributes;
using graph::IndexMap;
using graph::Op;
using graph::Reduced;
using graph::statistic_dtype;

/// A sum or product of selected integers from all elements beside the mask: their order changes no bit.
std::optional<Array> accumulated_masked(Op op, const Array& x, const Axes& axes, SumOptions options, Where where) {
  if (!detail::is_selection(x) || is_floating(x.dtype(where))) return {};
  const Dtype widest = tarry::info(x.dtype(where)).kind == DtypeKind::UInt ? uint64 : int64;
  const Dtype dtype = options.dtype.value_or(widest);
  const std::optional<graph::MaskedAxes> masked = graph::masked_axes(x, axes, {options.keepdims});
  if (!masked || !is_integral(dtype)) return {};
  const Edge elements = graph::record_cast(masked->masked.all, dtype, where);
  const Array all = detail::wrap(masked->filled(elements, op == Op::Sum ? 0 : 1, where));
  return op == Op::Sum ? sum(all, masked->axes, options, where) : prod(all, masked->axes, options, where);
}

/// sum and prod.
Array accumulated(Op op, const Array& x, const Axes& axes, SumOptions options, Where where) {
  if (std::optional<Array> masked = accumulated_masked(op, x, axes, options, where)) return *std::move(masked);
  Reduced r = graph::prepare_reduction(name(op), detail::edge(x, name(op), where), axes, where);
  const Dtype given = r.x.node()->dtype;
  const Dtype widest = tarry::info(given).kind == DtypeKind::UInt ? uint64 : int64;
  const Dtype dtype = options.dtype.value_or(is_floating(given) ? given : widest);
  graph::check_available(name(op), dtype, where);
  if (dtype == bool_) {
    TARRY_THROW(InvalidDtype, std::string(name(op)), where,
                "cannot compute " + graph::Typed(r.x).str() + " in bool; see any and all");
  }
  r.x = graph::record_cast(r.x, dtype, where);
  return graph::finish_reduction(r, graph::reduce_widened(op, r, where), options, where);
}

Array reduce_extreme(Op op, const Array& x, const Axes& axes, ReduceOptions options, Where where) {
  const Reduced r = graph::prepare_reduction(name(op), detail::edge(x, name(op), where), axes, where);
  graph::check_not_empty(name(op), r, where);
  return graph::finish_reduction(r, graph::reduce_widened(op, r, where), options, where);
}

/// The number that changes no extreme.
Scalar least_extreme(Op op, Dtype dtype) {
  const bool is_max = op == Op::Max;
  if (dtype == bool_) return !is_max;
  if (is_floating(dtype))
    return is_max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const IntegerInfo limits = iinfo(dtype);
  return is_max ? Scalar(limits.min) : Scalar(limits.max);
}

/// The extreme of what is selected, from all elements beside the mask; whoever reads it gets an error where nothing is.
std::optional<Array> extreme_of_masked(Op op, const Array& x, const Axes& axes, ReduceOptions options, Where where) {
  if (!detail::is_selection(x)) return {};
  const std::optional<graph::MaskedAxes> masked = graph::masked_axes(x, axes, {options.keepdims});
  if (!masked) return {};
  const Edge all = masked->filled(masked->masked.all, least_extreme(op, x.dtype(where)), where);
  const Edge extreme =
      detail::edge(reduce_extreme(op, detail::wrap(all), masked->axes, options, where), name(op), where);
  const Edge some = detail::edge(any(detail::wrap(masked->masked.mask), {}, {}, where), name(op), where);
  // An index of an axis of one element where something is selected, and nowhere else.
  const Edge place = graph::record_cast(graph::record_map(Op::LogicalNot, {{some, 0}}, where), int64, where);
  const auto called = op == Op::Max ? IndexAttributes::Called::Max : IndexAttributes::Called::Min;
  return detail::wrap(
      graph::record_taken({called, Bounds::Error, where}, graph::with_axis(extreme, 0, where), place, 0));
}

Array extremum(Op op, const Array& x, const Axes& axes, ReduceOptions options, Where where) {
  if (std::optional<Array> masked = extreme_of_masked(op, x, axes, options, where)) return *std::move(masked);
  return reduce_extreme(op, x, axes, options, where);
}

Array position(Op op, const Array& x, std::optional<int> axis, ReduceOptions options, Where where) {
  const Reduced given =
      graph::prepare_reduction(name(op), detail::edge(x, name(op), where), axis ? Axes(*axis) : Axes(), where);
  graph::check_not_empty(name(op), given, where);
  Reduced r = graph::widened(op, given, where);
  if (!axis) {
    r.axes = {0};
    r.x = graph::record_reshape(r.x, Dims{r.count}.span(), where);
  }
  return graph::finish_reduction(given, graph::reduce_chain(op, r, where), options, where);
}

/// any and all.
Array quantified(const char* op, Op extreme, const Array& x, const Axes& axes, ReduceOptions options, Where where) {
  if (detail::is_selection(x)) {
    if (const auto masked = graph::masked_axes(x, axes, {options.keepdims})) {
      const Edge all = masked->filled(graph::truth(masked->masked.all, where), extreme == Op::Min, where);
      return quantified(op, extreme, detail::wrap(all), masked->axes, options, where);
    }
  }
  const Reduced r = graph::prepare_reduction(op, detail::edge(x, op, where), axes, where);
  return graph::finish_reduction(r, graph::quantify(extreme, r, where), options, where);
}

/// The element at index 0 along every reduced axis, which keep extent 1.
Edge first_element(const Reduced& r, Where where) {
  IndexMap map;
  Dims shape;
  for (int d = 0; d < r.shape.size(); ++d) {
    map.push_back(r.reduces(d) ? graph::AxisMap{-1, 0, 0} : graph::AxisMap{d, 0, 1});
    shape.push_back(r.reduces(d) ? 1 : r.shape[d]);
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
  int axis = 0;
  for (int d = 0; d < r.shape.size(); ++d) {
    map.push_back(r.reduces(d) ? graph::AxisMap{-1, 0, 0} : graph::AxisMap{axis++, 0, 1});
  }
  return graph::record_view(x, map, r.kept().span(), where);
}

/// Sum of squared deviations from the mean over all axes of r; there is at least one element.
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

/// Variance without the reduced axes.
Edge variance(const Reduced& r, double correction, Where where) {
  const support::DefaultFloatingPoint state;
  const double divisor = static_cast<double>(r.count) - correction;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // An empty axis has no first element to shift by, and the answer is known.
  if (r.count == 0) return graph::constant_result(r, nan, r.x.node()->dtype, "var", where);
  const Edge m2 = squared_deviations(r, where);
  return graph::record_map(Op::Divide, {{m2, 0}, {Edge(), divisor > 0 ? divisor : nan}}, where);
}

Array moment(const char* op, const Array& x, const Axes& axes, MomentOptions options, Where where) {
  Reduced given = graph::prepare_reduction(op, detail::edge(x, op, where), axes, where);
  const Dtype dtype = statistic_dtype(given.x.node()->dtype);
  given.x = for_statistics(given.x, where);
  Edge result = variance(given, options.correction, where);
  if (std::string_view(op) == "std") result = graph::record_map(Op::Sqrt, {{result, 0}}, where);
  return graph::finish_reduction(given, graph::record_cast(result, dtype, where), options, where);
}

}  // namespace

Array sum(const Array& x, const Axes& axes, SumOptions options, Where where) try {
  return accumulated(Op::Sum, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("sum", where)

Array prod(const Array& x, const Axes& axes, SumOptions options, Where where) try {
  return accumulated(Op::Prod, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("prod", where)

Array count_nonzero(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  if (detail::is_selection(x)) {
    if (const auto masked = graph::masked_axes(x, axes, {options.keepdims})) {
      const Edge all = masked->filled(graph::truth(masked->masked.all, where), false, where);
      return count_nonzero(detail::wrap(all), masked->axes, options, where);
    }
  }
  Reduced r = graph::prepare_reduction("count_nonzero", detail::edge(x, "count_nonzero", where), axes, where);
  r.x = graph::record_cast(graph::truth(r.x, where), int64, where);
  return graph::finish_reduction(r, graph::reduce_chain(Op::Sum, r, where), options, where);
}
TARRY_OR_OUT_OF_MEMORY("count_nonzero", where)

Array min(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  return extremum(Op::Min, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("min", where)

Array max(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  return extremum(Op::Max, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("max", where)

Array argmin(const Array& x, std::optional<int> axis, ReduceOptions options, Where where) try {
  return position(Op::ArgMin, x, axis, options, where);
}
TARRY_OR_OUT_OF_MEMORY("argmin", where)

Array argmax(const Array& x, std::optional<int> axis, ReduceOptions options, Where where) try {
  return position(Op::ArgMax, x, axis, options, where);
}
TARRY_OR_OUT_OF_MEMORY("argmax", where)

Array any(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  return quantified("any", Op::Max, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("any", where)

Array all(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  return quantified("all", Op::Min, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("all", where)

Array mean(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  Reduced r = graph::prepare_reduction("mean", detail::edge(x, "mean", where), axes, where);
  const Dtype dtype = statistic_dtype(r.x.node()->dtype);
  r.x = for_statistics(r.x, where);
  const Edge total = graph::reduce_chain(Op::Sum, r, where);
  const Scalar count(static_cast<double>(r.count));
  const Edge result = graph::record_map(Op::Divide, {{total, 0}, {Edge(), count}}, where);
  return graph::finish_reduction(r, graph::record_cast(result, dtype, where), options, where);
}
TARRY_OR_OUT_OF_MEMORY("mean", where)

Array var(const Array& x, const Axes& axes, MomentOptions options, Where where) try {
  return moment("var", x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("var", where)

Array std(const Array& x, const Axes& axes, MomentOptions options, Where where) try {
  return moment("std", x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("std", where)

}  // namespace v0
}  // namespace tarry
