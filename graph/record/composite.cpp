// The public operations that are compositions of others (docs/reference/numerics.md, "Composite reductions").
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/views.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::Edge;
using graph::Op;
using graph::Reduced;

Edge map(Op op, const Edge& x, Where where) { return graph::record_map(op, {{x, 0}}, where); }
Edge map(Op op, const Edge& a, const Edge& b, Where where, std::string_view called = {}) {
  return graph::record_map(op, {{a, 0}, {b, 0}}, where, called);
}

/// The dtype that isclose computes in: float64 unless a float is among the values.
Dtype closeness_dtype(std::string_view op, std::span<const Argument> values, Where where) {
  const auto floating = [](const Argument& v) {
    return is_floating(v.edge ? v.edge.node()->dtype : v.scalar.default_dtype());
  };
  if (std::ranges::none_of(values, floating)) return float64;
  return graph::float_for_computing(graph::common_dtype(op, values, where));
}

std::span<const std::int64_t> shape_of(const Argument& a) {
  return a.edge ? a.edge.node()->shape() : std::span<const std::int64_t>();
}

/// Where a float is NaN.
Edge is_nan(const Argument& a, Where where) {
  if (!a.edge) return graph::record_scalar(std::isnan(a.scalar.to_double()), bool_, "isnan", where);
  return is_floating(a.edge.node()->dtype) ? map(Op::Isnan, a.edge, where)
                                           : graph::record_constant(a.edge, false, bool_, "isnan", where);
}

/// all over all axes.
Array everywhere(const Edge& truth, Where where) {
  return detail::wrap(graph::quantify(Op::Min, graph::prepare_reduction("all", truth, {}, where), where));
}

Edge close(std::string_view op, const Operand& left, const Operand& right, CloseOptions options) {
  const Where where = left.where();
  const Argument given[] = {detail::argument(left, op, where), detail::argument(right, op, where)};
  const Dtype dtype = closeness_dtype(op, given, where);
  const Edge a = graph::bring_to(given[0], dtype, op, where), b = graph::bring_to(given[1], dtype, op, where);
  const Edge rtol = graph::record_scalar(options.rtol, dtype, op, where);
  const Edge atol = graph::record_scalar(options.atol, dtype, op, where);
  const Edge distance = map(Op::Abs, map(Op::Subtract, a, b, where, op), where);
  const Edge bound = map(Op::Add, atol, map(Op::Multiply, rtol, map(Op::Abs, b, where), where), where);
  const Edge near =
      map(Op::LogicalAnd, map(Op::LessEqual, distance, bound, where), map(Op::Isfinite, distance, where), where);
  const Edge result = map(Op::LogicalOr, near, map(Op::Equal, a, b, where), where);
  if (!options.equal_nan) return result;
  const Edge both_nan = map(Op::LogicalAnd, map(Op::Isnan, a, where), map(Op::Isnan, b, where), where);
  return map(Op::LogicalOr, result, both_nan, where);
}

/// The dtype of a result of exp of this dtype.
Dtype exponential_dtype(std::string_view op, const Reduced& r, Where where) {
  graph::check_numbers(op, r, where);
  return is_floating(r.x.node()->dtype) ? r.x.node()->dtype : graph::fractional(r.x.node()->dtype);
}

/// The result of `op` on x along r's axes, with these kept as extents of 1.
Edge kept(Op op, Reduced r, const Edge& x, Where where) {
  r.x = x;
  return graph::keep_dimensions(r, graph::reduce_chain(op, r, where), where);
}

}  // namespace

Array clip(const Array& x, const std::optional<Operand>& lo, const std::optional<Operand>& hi, Where where) try {
  const Where at = where;
  std::array<Argument, 3> given = {{{detail::edge(x, "clip", at), 0}}};
  std::size_t count = 1;
  if (lo) given[count++] = detail::argument(*lo, "clip", at);
  if (hi) given[count++] = detail::argument(*hi, "clip", at);
  const Dtype dtype = graph::common_dtype("clip", std::span(given).first(count), at);
  if (dtype == bool_) {
    TARRY_THROW(InvalidDtype, "clip", at,
                "takes numbers, not bool; convert with astype first" + graph::given(std::span(given).first(count)));
  }
  for (Argument& bound : std::span(given).first(count).subspan(1)) bound.scalar = graph::clamped(bound.scalar, dtype);
  Edge result = graph::bring_to(given[0], dtype, "clip", at);
  if (lo) result = map(Op::Maximum, result, graph::bring_to(given[1], dtype, "clip", at), at, "clip");
  if (hi) result = map(Op::Minimum, result, graph::bring_to(given[count - 1], dtype, "clip", at), at, "clip");
  return detail::wrap(result);
}
TARRY_OR_OUT_OF_MEMORY("clip", where)

Array isclose(const Operand& a, const Operand& b, CloseOptions options) try {
  return detail::wrap(close("isclose", a, b, options));
}
TARRY_OR_OUT_OF_MEMORY("isclose", a.where())

Array allclose(const Operand& a, const Operand& b, CloseOptions options) try {
  return everywhere(close("allclose", a, b, options), a.where());
}
TARRY_OR_OUT_OF_MEMORY("allclose", a.where())

Array array_equal(const Operand& a, const Operand& b, EqualOptions options) try {
  const Where where = a.where();
  const Argument both[] = {detail::argument(a, "array_equal", where), detail::argument(b, "array_equal", where)};
  if (!std::ranges::equal(shape_of(both[0]), shape_of(both[1]))) {
    return detail::wrap(graph::record_scalar(false, bool_, "array_equal", where));
  }
  Edge equal = graph::record_map(Op::Equal, both, where, "array_equal");
  if (options.equal_nan) {
    const Edge nan = map(Op::LogicalAnd, is_nan(both[0], where), is_nan(both[1], where), where);
    equal = map(Op::LogicalOr, equal, nan, where);
  }
  return everywhere(equal, where);
}
TARRY_OR_OUT_OF_MEMORY("array_equal", a.where())

Array logsumexp(const Array& x, const Axes& axes, ReduceOptions options, Where where) try {
  Reduced r = graph::prepare_reduction("logsumexp", detail::edge(x, "logsumexp", where), axes, where);
  const Dtype dtype = exponential_dtype("logsumexp", r, where);
  if (r.count == 0) {
    const double log_of_zero = -std::numeric_limits<double>::infinity();
    return graph::finish_reduction(r, graph::constant_result(r, log_of_zero, dtype, "logsumexp", where), options,
                                   where);
  }
  r.x = graph::record_cast(r.x, graph::float_for_computing(dtype), where);
  const Edge max = kept(Op::Max, r, r.x, where);
  const Edge finite = map(Op::Isfinite, max, where);  // else every difference would be NaN
  const Edge shift = graph::record_map(Op::Where, {{finite, 0}, {max, 0}, {Edge(), 0}}, where);
  const Edge exponentials = map(Op::Exp, map(Op::Subtract, r.x, shift, where), where);
  const Edge logarithm = map(Op::Log, kept(Op::Sum, r, exponentials, where), where);
  const Edge result = graph::record_cast(map(Op::Add, logarithm, shift, where), dtype, where);
  return options.keepdims ? detail::wrap(result) : squeeze(detail::wrap(result), r.axes.vector(), where);
}
TARRY_OR_OUT_OF_MEMORY("logsumexp", where)

Array softmax(const Array& x, int axis, Where where) try {
  Reduced r = graph::prepare_reduction("softmax", detail::edge(x, "softmax", where), axis, where);
  const Dtype dtype = exponential_dtype("softmax", r, where);
  if (r.count == 0) return detail::wrap(graph::record_cast(r.x, dtype, where));
  r.x = graph::record_cast(r.x, graph::float_for_computing(dtype), where);
  const Edge max = kept(Op::Max, r, r.x, where);
  const Edge exponentials = map(Op::Exp, map(Op::Subtract, r.x, max, where), where);
  const Edge result = map(Op::Divide, exponentials, kept(Op::Sum, r, exponentials, where), where);
  return detail::wrap(graph::record_cast(result, dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("softmax", where)

}  // namespace v0
}  // namespace tarry
