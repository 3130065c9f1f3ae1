// Statistics that are made of reductions (docs/reference/numerics.md, "Composite reductions").
#include <tarry/statistics.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "graph/record/parts.h"
#include "graph/record/products.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::chosen;
using graph::Edge;
using graph::for_statistics;
using graph::mapped;
using graph::Op;
using graph::Reduced;
using graph::statistic_dtype;
using graph::Typed;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool has_nan(const Edge& x) { return is_floating(x.node()->dtype); }
Edge where_nan(const Edge& x, Where where) { return mapped(Op::Isnan, x, where); }
/// x with `value` for NaN.
Edge filled(const Edge& x, double value, Where where) {
  return chosen(where_nan(x, where), graph::record_scalar(value, x.node()->dtype, "nan", where), x, where);
}

Edge sum_of(Reduced r, const Edge& x, Where where) {
  r.x = x;
  return graph::reduce_chain(Op::Sum, r, where);
}

/// The number of elements that are not NaN, in x's dtype.
Edge count_numbers(const Reduced& r, Where where) {
  const Edge numbers = mapped(Op::Equal, r.x, r.x, where);
  return graph::record_cast(sum_of(r, graph::record_cast(numbers, int64, where), where), r.x.node()->dtype, where);
}

Edge mean_of_numbers(const Reduced& r, Where where) {
  return mapped(Op::Divide, sum_of(r, filled(r.x, 0, where), where), count_numbers(r, where), where);
}

Array nan_extreme(const char* op, Op of, const Array& x, const Axes& axes, ReduceOptions options, Where where) {
  Reduced r = graph::prepare_reduction(op, detail::edge(x, op, where), axes, where);
  graph::check_not_empty(op, r, where);
  const Dtype dtype = r.x.node()->dtype;
  if (!has_nan(r.x)) return graph::finish_reduction(r, graph::reduce_widened(of, r, where), options, where);
  const double worst =
      of == Op::Min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  Reduced numbers = r, nans = r;
  numbers.x = filled(r.x, worst, where);
  nans.x = where_nan(r.x, where);
  const Edge all_nan = graph::quantify(Op::Min, nans, where);
  const Edge found = graph::reduce_widened(of, numbers, where);
  return graph::finish_reduction(r, chosen(all_nan, graph::record_scalar(kNaN, dtype, op, where), found, where),
                                 options, where);
}

/// nanvar and nanstd, without the reduced axes.
Array nan_moment(const char* op, const Array& x, const Axes& axes, MomentOptions options, Where where) {
  const support::DefaultFloatingPoint state;
  Reduced r = graph::prepare_reduction(op, detail::edge(x, op, where), axes, where);
  const Dtype dtype = statistic_dtype(r.x.node()->dtype);
  r.x = for_statistics(r.x, where);
  const Edge mean = graph::keep_dimensions(r, mean_of_numbers(r, where), where);
  const Edge squares = mapped(Op::Square, filled(mapped(Op::Subtract, r.x, mean, where), 0, where), where);
  const Edge divisor = mapped(Op::Subtract, count_numbers(r, where), options.correction, where);
  const Edge none = graph::record_scalar(kNaN, r.x.node()->dtype, op, where);
  const Edge over = chosen(mapped(Op::Greater, divisor, 0, where), divisor, none, where);
  Edge result = mapped(Op::Divide, sum_of(r, squares, where), over, where);
  if (std::string_view(op) == "nanstd") result = mapped(Op::Sqrt, result, where);
  return graph::finish_reduction(r, graph::record_cast(result, dtype, where), options, where);
}

/// x with 0 or 1 for NaN, for sum and prod.
Array without_nan(const char* op, const Array& x, double neutral, SumOptions options, Where where) {
  const Edge e = detail::edge(x, op, where);
  if (options.dtype == bool_) {
    TARRY_THROW(InvalidDtype, op, where, "cannot compute " + Typed(e).str() + " in bool; see any and all");
  }
  return detail::wrap(has_nan(e) ? filled(e, neutral, where) : e);
}

/// The weights in the shape of x: as they are, or along the one axis that is reduced.
Edge fitting_weights(const Reduced& r, const Edge& weights, Where where) {
  const auto shape = weights.node()->shape();
  if (std::ranges::equal(shape, r.shape.span())) return weights;
  if (shape.size() == 1 && r.axes.size() == 1 && shape[0] == r.shape[static_cast<int>(r.axes[0])]) {
    graph::IndexMap along;
    along.push_back({static_cast<std::int32_t>(r.axes[0]), 0, 1});
    return graph::record_view(weights, along, r.shape.span(), where);
  }
  TARRY_THROW(InvalidShape, "average", where,
              "weights of " + Typed(weights).str() + " do not fit " + Typed(r.x).str() +
                  ": they have its shape, or one axis for the only axis that is reduced");
}

/// (variables, observations) less the mean of each variable, in the dtype that it is computed in.
Edge deviations(const char* op, const Array& x, bool in_rows, Where where) {
  Edge e = for_statistics(detail::edge(x, op, where), where);
  if (e.node()->rank < 1 || e.node()->rank > 2) {
    TARRY_THROW(InvalidShape, op, where,
                Typed(detail::edge(x, op, where)).str() + " is no table of variables and observations");
  }
  if (e.node()->rank == 1)
    e = graph::with_axis(e, 0, where);
  else if (!in_rows)
    e = graph::arranged(e, std::array{1, 0}, where);
  const Reduced r = graph::prepare_reduction(op, e, 1, where);
  const Scalar n(static_cast<double>(r.count));
  const Edge mean = mapped(Op::Divide, graph::reduce_chain(Op::Sum, r, where), n, where);
  return mapped(Op::Subtract, e, graph::keep_dimensions(r, mean, where), where);
}

/// Sums of products of deviations over N - correction, (variables, variables).
Edge covariances(const graph::ProductCall& call, const Edge& deviations, double correction) {
  const double divisor = static_cast<double>(deviations.node()->shape()[1]) - correction;
  const graph::Labelled products = graph::contracted(call, {deviations, {0, 2}}, {deviations, {1, 2}}, {0, 1});
  return mapped(Op::Divide, products.x, divisor > 0 ? divisor : kNaN, call.where);
}

/// A table of one variable is its number.
Array finish_table(const Edge& table, Dtype dtype, Where where) {
  const Edge e = graph::record_cast(table, dtype, where);
  if (e.node()->shape()[0] != 1) return detail::wrap(e);
  return detail::wrap(graph::part_at(graph::part_at(e, 0, 0, where), 0, 0, where));
}

}  // namespace

Array nansum(const Array& x, const Axes& axes, SumOptions options, Where where) try {
  (void)graph::prepare_reduction("nansum", detail::edge(x, "nansum", where), axes, where);
  return sum(without_nan("nansum", x, 0, options, where), axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("nansum", where)

Array nanprod(const Array& x, const Axes& axes, SumOptions options, Where where) try {
  (void)graph::prepare_reduction("nanprod", detail::edge(x, "nanprod", where), axes, where);
  return prod(without_nan("nanprod", x, 1, options, where), axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("nanprod", where)

Array nanmin(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  return nan_extreme("nanmin", Op::Min, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("nanmin", where)

Array nanmax(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  return nan_extreme("nanmax", Op::Max, x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("nanmax", where)

Array nanmean(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  Reduced r = graph::prepare_reduction("nanmean", detail::edge(x, "nanmean", where), axes, where);
  const Dtype dtype = statistic_dtype(r.x.node()->dtype);
  r.x = for_statistics(r.x, where);
  return graph::finish_reduction(r, graph::record_cast(mean_of_numbers(r, where), dtype, where), options, where);
}
TARRY_OR_OUT_OF_MEMORY("nanmean", where)

Array nanvar(const Array& x, const Axes& axes, MomentOptions options, Where where) try {
  return nan_moment("nanvar", x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("nanvar", where)

Array nanstd(const Array& x, const Axes& axes, MomentOptions options, Where where) try {
  return nan_moment("nanstd", x, axes, options, where);
}
TARRY_OR_OUT_OF_MEMORY("nanstd", where)

Array ptp(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  const Reduced r = graph::prepare_reduction("ptp", detail::edge(x, "ptp", where), axes, where);
  graph::check_numbers("ptp", r, where);
  graph::check_not_empty("ptp", r, where);
  const Edge range =
      mapped(Op::Subtract, graph::reduce_widened(Op::Max, r, where), graph::reduce_widened(Op::Min, r, where), where);
  return graph::finish_reduction(r, range, options, where);
}
TARRY_OR_OUT_OF_MEMORY("ptp", where)

Array average(const Array& x, const Array& weights, const Axes& axes, ReduceOptions options, Where where) try {
  const Argument given[] = {{detail::edge(x, "average", where), 0}, {detail::edge(weights, "average", where), 0}};
  const Dtype promoted = graph::common_dtype("average", given, where), dtype = statistic_dtype(promoted);
  Reduced r = graph::prepare_reduction("average", given[0].edge, axes, where);
  const Edge fitting = fitting_weights(r, given[1].edge, where);
  r.x = graph::record_cast(r.x, graph::float_for_computing(dtype), where);
  const Edge w = graph::record_cast(fitting, graph::float_for_computing(dtype), where);
  const Edge weighted = sum_of(r, mapped(Op::Multiply, r.x, w, where, "average"), where);
  const Edge result = mapped(Op::Divide, weighted, sum_of(r, w, where), where);
  return graph::finish_reduction(r, graph::record_cast(result, dtype, where), options, where);
}
TARRY_OR_OUT_OF_MEMORY("average", where)

Array cov(const Array& x, CovarianceOptions options, Where where) try {
  const support::DefaultFloatingPoint state;
  const Edge d = deviations("cov", x, options.variables_in_rows, where);
  return finish_table(covariances({"cov", where, Typed(d).str()}, d, options.correction),
                      statistic_dtype(x.dtype(where)), where);
}
TARRY_OR_OUT_OF_MEMORY("cov", where)

Array corrcoef(const Array& x, CorrelationOptions options, Where where) try {
  const Edge d = deviations("corrcoef", x, options.variables_in_rows, where);
  const Edge c = covariances({"corrcoef", where, Typed(d).str()}, d, 0);
  const Edge deviation = mapped(Op::Sqrt, graph::diagonal_of(c, 0, 1, 0, where), where);
  const Edge ratio = mapped(Op::Divide, mapped(Op::Divide, c, graph::with_axis(deviation, 1, where), where),
                            graph::with_axis(deviation, 0, where), where);
  const Edge cut = mapped(Op::Minimum, mapped(Op::Maximum, ratio, -1.0, where), 1.0, where);
  return finish_table(cut, statistic_dtype(x.dtype(where)), where);
}
TARRY_OR_OUT_OF_MEMORY("corrcoef", where)

}  // namespace v0
}  // namespace tarry
