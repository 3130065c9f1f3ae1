// Curves that are given by points: values between them, slopes, integrals, correlations.
#include <tarry/index.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/sort.h>
#include <tarry/views.h>
#include <tarry/windows.h>

#include <algorithm>
#include <vector>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::Dims;
using graph::Edge;
using graph::mapped;
using graph::Op;
using graph::Typed;

/// Arrays of a call in the float that they are computed in, and the dtype of the result.
struct Floats {
  std::vector<Edge> edges;
  Dtype dtype = float64;
};
Floats floats(const char* op, std::initializer_list<Array> arrays, Where where) {
  std::vector<Argument> given;
  for (const Array& x : arrays) {
    given.push_back({detail::edge(x, op, where), 0});
    graph::check_number(op, given.back().edge, where);
  }
  const Dtype common = graph::common_dtype(op, given, where);
  Floats made;
  made.dtype = is_floating(common) ? common : graph::fractional(common);
  for (const Argument& a : given)
    made.edges.push_back(graph::record_cast(a.edge, graph::float_for_computing(made.dtype), where));
  return made;
}

std::int64_t extent(const Edge& x, int axis) { return x.node()->shape()[static_cast<std::size_t>(axis)]; }

/// Points along an axis of y, in a shape that broadcasts with it: given along that axis, or in y's shape.
Edge along(const char* op, const Edge& points, const Edge& y, int axis, Where where) {
  const auto shape = points.node()->shape();
  const bool same = std::ranges::equal(shape, y.node()->shape());
  if (!same && (shape.size() != 1 || shape[0] != extent(y, axis))) {
    TARRY_THROW(InvalidShape, op, where,
                Typed(points).str() + " has no point for each element of axis " + std::to_string(axis) + " of " +
                    Typed(y).str());
  }
  if (same) return points;
  Dims wide;
  for (int d = 0; d < y.node()->rank; ++d) wide.push_back(d == axis ? shape[0] : 1);
  return graph::record_reshape(points, wide.span(), where);
}

/// x(i + apart) - x(i) along an axis.
Edge step(const Edge& x, int axis, Where where, std::int64_t apart = 1) {
  const std::int64_t count = extent(x, axis) - apart;
  return mapped(Op::Subtract, graph::cut(x, axis, apart, count, where), graph::cut(x, axis, 0, count, where), where);
}

int checked_curve(const char* op, const Edge& y, int axis, std::int64_t least, Where where) {
  graph::check_rank(op, y, 1, where);
  const int at = graph::checked_axis(op, axis, y, where);
  if (extent(y, at) < least) {
    TARRY_THROW(
        InvalidShape, op, where,
        Typed(y).str() + " has fewer than " + std::to_string(least) + " points along axis " + std::to_string(axis));
  }
  return at;
}

/// Slopes at the ends and between them, joined.
Array slopes(const Edge& first, const Edge& inner, const Edge& last, int axis, Dtype dtype, Where where) {
  std::vector<Array> parts;
  for (const Edge& e : {first, inner, last}) parts.push_back(detail::wrap(graph::record_cast(e, dtype, where)));
  return concat(parts, axis, where);
}

Array uneven_gradient(const Edge& y, const Edge& x, int axis, Dtype dtype, Where where) {
  const std::int64_t n = extent(y, axis);
  const Edge steps = step(x, axis, where), rises = step(y, axis, where);
  const auto part = [&](const Edge& e, std::int64_t from, std::int64_t count) {
    return graph::cut(e, axis, from, count, where);
  };
  const Edge ratio = mapped(Op::Divide, rises, steps, where);
  const Edge before = part(steps, 0, n - 2), after = part(steps, 1, n - 2);
  const Edge weighted = mapped(Op::Add, mapped(Op::Multiply, part(ratio, 0, n - 2), after, where),
                               mapped(Op::Multiply, part(ratio, 1, n - 2), before, where), where);
  const Edge inner = mapped(Op::Divide, weighted, mapped(Op::Add, before, after, where), where);
  return slopes(part(ratio, 0, 1), inner, part(ratio, n - 2, 1), axis, dtype, where);
}

/// Sums of (y(i) + y(i + 1)) / 2 times the step.
Array area(const Edge& y, const Edge& steps, int axis, Dtype dtype, Where where) {
  const std::int64_t n = extent(y, axis);
  const Edge both = mapped(Op::Add, graph::cut(y, axis, 1, n - 1, where), graph::cut(y, axis, 0, n - 1, where), where);
  const Edge parts = mapped(Op::Multiply, mapped(Op::Multiply, both, 0.5, where), steps, where, "trapezoid");
  const graph::Reduced r = graph::prepare_reduction("trapezoid", parts, axis, where);
  return detail::wrap(graph::record_cast(graph::reduce_chain(Op::Sum, r, where), dtype, where));
}

Array on(Op op, const Array& a, const Array& b, Where where) {
  return detail::wrap(mapped(op, detail::edge(a, "interp", where), detail::edge(b, "interp", where), where, "interp"));
}

}  // namespace

Array interp(const Array& x, const Array& xp, const Array& fp, InterpOptions options, Where where) try {
  const Floats f = floats("interp", {x, xp, fp}, where);
  for (const Edge& e : {f.edges[1], f.edges[2]}) {
    if (e.node()->rank == 1 && extent(e, 0) > 0 && extent(e, 0) == extent(f.edges[1], 0)) continue;
    TARRY_THROW(InvalidShape, "interp", where,
                "points " + Typed(f.edges[1]).str() + " and values " + Typed(f.edges[2]).str() +
                    " are not of one axis and as many, at least one");
  }
  const std::int64_t last = extent(f.edges[1], 0) - 1;
  const Array at = detail::wrap(f.edges[0]), points = detail::wrap(f.edges[1]), values = detail::wrap(f.edges[2]);
  const Array found = searchsorted(points, at, {.side = Side::Right}, where);
  const Array below = clip(detail::wrap(mapped(Op::Subtract, detail::edge(found, "interp", where), 1, where)),
                           Operand(0, where), Operand(std::max<std::int64_t>(last - 1, 0), where), where);
  const Array above = clip(detail::wrap(mapped(Op::Add, detail::edge(below, "interp", where), 1, where)), {},
                           Operand(last, where), where);
  const auto taken = [&](const Array& of, const Array& places) { return take(of, places, 0, Bounds::Clip, where); };
  const Array x0 = taken(points, below), f0 = taken(values, below);
  const Array rise = on(Op::Subtract, taken(values, above), f0, where);
  const Array slope = on(Op::Divide, rise, on(Op::Subtract, taken(points, above), x0, where), where);
  const Array inside = on(Op::Add, on(Op::Multiply, slope, on(Op::Subtract, at, x0, where), where), f0, where);
  const auto end = [&](std::int64_t i, std::optional<double> outside) {
    return outside ? graph::record_scalar(*outside, f.edges[2].node()->dtype, "interp", where)
                   : graph::part_at(f.edges[2], 0, i, where);
  };
  const auto compared = [&](Op op, std::int64_t i) {
    return mapped(op, f.edges[0], graph::part_at(f.edges[1], 0, i, where), where, "interp");
  };
  Edge result = detail::edge(inside, "interp", where);
  result = graph::chosen(compared(Op::Equal, last), end(last, {}), result, where);
  result = graph::chosen(compared(Op::Greater, last), end(last, options.right), result, where);
  result = graph::chosen(compared(Op::Less, 0), end(0, options.left), result, where);
  return detail::wrap(graph::record_cast(result, f.dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("interp", where)

Array gradient(const Array& y, GradientOptions options, Where where) try {
  const Floats f = floats("gradient", {y}, where);
  const Edge& e = f.edges[0];
  const int axis = checked_curve("gradient", e, options.axis, 2, where);
  const std::int64_t n = extent(e, axis);
  const Edge ratio = mapped(Op::Divide, step(e, axis, where), options.spacing, where);
  const Edge inner = mapped(Op::Divide, step(e, axis, where, 2), 2 * options.spacing, where);
  return slopes(graph::cut(ratio, axis, 0, 1, where), inner, graph::cut(ratio, axis, n - 2, 1, where), axis, f.dtype,
                where);
}
TARRY_OR_OUT_OF_MEMORY("gradient", where)

Array gradient(const Array& y, const Array& x, int axis, Where where) try {
  const Floats f = floats("gradient", {y, x}, where);
  const int at = checked_curve("gradient", f.edges[0], axis, 2, where);
  return uneven_gradient(f.edges[0], along("gradient", f.edges[1], f.edges[0], at, where), at, f.dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("gradient", where)

Array trapezoid(const Array& y, GradientOptions options, Where where) try {
  const Floats f = floats("trapezoid", {y}, where);
  const int axis = checked_curve("trapezoid", f.edges[0], options.axis, 1, where);
  const Edge spacing = graph::record_scalar(options.spacing, f.edges[0].node()->dtype, "trapezoid", where);
  return area(f.edges[0], spacing, axis, f.dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("trapezoid", where)

Array trapezoid(const Array& y, const Array& x, int axis, Where where) try {
  const Floats f = floats("trapezoid", {y, x}, where);
  const int at = checked_curve("trapezoid", f.edges[0], axis, 1, where);
  const Edge points = along("trapezoid", f.edges[1], f.edges[0], at, where);
  return area(f.edges[0], step(points, at, where), at, f.dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("trapezoid", where)

Array correlate(const Array& a, const Array& v, Convolution mode, Where where) try {
  for (const Edge& e : {detail::edge(a, "correlate", where), detail::edge(v, "correlate", where)}) {
    if (e.node()->rank == 1 && extent(e, 0) > 0) continue;
    TARRY_THROW(InvalidShape, "correlate", where, Typed(e).str() + " is no sequence: one axis with elements is wanted");
  }
  if (a.size(where) >= v.size(where)) return convolve(a, flip(v, {}, where), mode, where);
  return flip(convolve(v, flip(a, {}, where), mode, where), {}, where);  // the middle is that of the longer one
}
TARRY_OR_OUT_OF_MEMORY("correlate", where)

}  // namespace v0
}  // namespace tarry
