// Borders and windows: parts of an array that are read again, at places that the call alone decides.
#include <tarry/windows.h>

#include <algorithm>

#include "graph/record/join.h"
#include "graph/record/parts.h"
#include "graph/record/products.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

std::int64_t extent(const Edge& x, int axis) { return x.node()->shape()[static_cast<std::size_t>(axis)]; }

// ---- Borders ----

/// The one element along an axis, `count` times.
Edge stretched(const Edge& x, int axis, std::int64_t count, Where where) {
  Dims shape(x.node()->shape());
  shape[axis] = count;
  return to_shape(x, shape.span(), where);
}

Edge backwards(const Edge& x, int axis, std::int64_t from, std::int64_t count, Where where) {
  return cut(x, axis, from, count, where, -1);
}

/// One period of an axis that is continued for ever.
Edge period(Pad mode, const Edge& x, int axis, Where where) {
  const std::int64_t n = extent(x, axis);
  if (mode == Pad::Wrap) return x;
  if (mode == Pad::Symmetric) return concatenated("pad", {x, backwards(x, axis, n - 1, n, where)}, axis, where);
  return n <= 2 ? x : concatenated("pad", {x, backwards(x, axis, n - 2, n - 2, where)}, axis, where);
}

/// Elements from `from` on of a sequence that repeats x along an axis.
Edge repeating(const Edge& x, int axis, std::int64_t from, std::int64_t count, Where where) {
  const std::int64_t n = extent(x, axis), first = ((from % n) + n) % n, times = (first + count + n - 1) / n;
  const Edge row = with_axis(x, axis, where);
  Dims many(row.node()->shape()), merged(x.node()->shape());
  many[axis] = times;
  merged[axis] = times * n;
  return cut(record_reshape(to_shape(row, many.span(), where), merged.span(), where), axis, first, count, where);
}

/// x with `before` and `after` elements of its own along an axis that has some.
Edge continued(Pad mode, const Edge& x, int axis, std::int64_t before, std::int64_t after, Where where) {
  const std::int64_t n = extent(x, axis), most = std::max(before, after);
  if (mode == Pad::Reflect && n == 1) mode = Pad::Edge;  // there is no other element to see in the mirror
  if (mode != Pad::Edge && most > (mode == Pad::Reflect ? n - 1 : n))
    return repeating(period(mode, x, axis, where), axis, -before, before + n + after, where);
  Edge front, back;
  switch (mode) {
    case Pad::Reflect:
      front = backwards(x, axis, before, before, where);
      back = backwards(x, axis, n - 2, after, where);
      break;
    case Pad::Symmetric:
      front = backwards(x, axis, before - 1, before, where);
      back = backwards(x, axis, n - 1, after, where);
      break;
    case Pad::Wrap:
      front = cut(x, axis, n - before, before, where);
      back = cut(x, axis, 0, after, where);
      break;
    default:
      front = stretched(cut(x, axis, 0, 1, where), axis, before, where);
      back = stretched(cut(x, axis, n - 1, 1, where), axis, after, where);
  }
  return concatenated("pad", {front, x, back}, axis, where);
}

using Widths = std::vector<std::pair<std::int64_t, std::int64_t>>;

Widths checked_widths(const PadWidths& widths, const Edge& x, Where where) {
  const auto rank = static_cast<std::size_t>(x.node()->rank);
  Widths pairs = widths.pairs();
  if (widths.every_axis()) pairs.assign(rank, widths.pairs().front());
  if (pairs.size() != rank) {
    TARRY_THROW(
        InvalidValue, "pad", where,
        std::to_string(pairs.size()) + " pairs of widths for " + std::to_string(rank) + " axes of " + Typed(x).str());
  }
  for (const auto& [before, after] : pairs) {
    if (before >= 0 && after >= 0) continue;
    TARRY_THROW(InvalidValue, "pad", where,
                "the width " + std::to_string(std::min(before, after)) + " for " + Typed(x).str() + " is negative");
  }
  return pairs;
}

Dims padded_shape(const Edge& x, const Widths& widths, Where where) {
  Dims shape(x.node()->shape());
  for (int d = 0; d < shape.size(); ++d) {
    const auto& [before, after] = widths[static_cast<std::size_t>(d)];
    if (__builtin_add_overflow(shape[d], before, &shape[d]) || __builtin_add_overflow(shape[d], after, &shape[d])) {
      TARRY_THROW(InvalidShape, "pad", where,
                  "axis " + std::to_string(d) + " of " + Typed(x).str() + " would have more than 2^63 - 1 elements");
    }
  }
  check_shape("pad", {x.node()->dtype, shape.span()}, where);
  return shape;
}

Edge with_constant(const Edge& x, const Widths& widths, const Dims& shape, Scalar value, Where where) {
  const Edge scalar = record_scalar(value, x.node()->dtype, "pad", where);
  const Edge whole = record_view(scalar, IndexMap{}, shape.span(), where, x.node()->device);
  if (element_count(x.node()->shape()) == 0) return whole;
  UpdateAttributes at{Dims::filled(shape.size(), 0), Dims::filled(shape.size(), 1)};
  for (int d = 0; d < shape.size(); ++d) at.start[d] = widths[static_cast<std::size_t>(d)].first;
  return record_update("pad", whole, x, at, where);
}

Edge padded(const Edge& x, const PadWidths& given, Pad mode, Scalar value, Where where) {
  const Widths widths = checked_widths(given, x, where);
  const Dims shape = padded_shape(x, widths, where);
  if (mode == Pad::Constant) return with_constant(x, widths, shape, value, where);
  Edge e = x;
  for (int d = 0; d < shape.size(); ++d) {
    const auto& [before, after] = widths[static_cast<std::size_t>(d)];
    if (before == 0 && after == 0) continue;
    if (extent(x, d) == 0) {
      TARRY_THROW(InvalidShape, "pad", where,
                  "axis " + std::to_string(d) + " of " + Typed(x).str() + " has no elements to continue it by");
    }
    e = continued(mode, e, d, before, after, where);
  }
  return e;
}

// ---- Windows ----

/// Windows of `length` elements along an axis: element j of window k is at k + j. The windows' own axis is the last.
struct Windows {
  int axis;
  std::int64_t count, length;

  [[nodiscard]] Edge places(const Edge& x, Where where) const {
    const int rank = x.node()->rank + 1;
    return mapped(Op::Add, coordinate(x, count, axis, rank, where), coordinate(x, length, rank - 1, rank, where),
                  where);
  }
  /// x at `places`, all of which lie in it.
  [[nodiscard]] Edge taken(std::string_view op, const Edge& x, const Edge& places, Where where) const {
    const std::int64_t n = extent(x, axis);
    const IndexMap map = broadcast_map(x.node()->shape(), x.node()->shape());
    Dims base(x.node()->shape());
    base.push_back(length);
    Dims shape = base;
    shape[axis] = count;
    const Edge index = record_index(places, n, {IndexAttributes::Called::Take, static_cast<std::uint8_t>(axis)}, where);
    return record_gather(op, record_view(x, map, base.span(), where), to_shape(index, shape.span(), where), axis,
                         where);
  }
};

Edge all_windows(Edge x, const Shape& lengths, const Axes& axes, Where where) {
  constexpr const char* op = "sliding_window_view";
  (void)checked_axes(op, axes, x, where);  // in range, none twice
  std::vector<int> along;
  for (int d = 0; axes.all() && d < x.node()->rank; ++d) along.push_back(d);
  for (const std::int64_t axis : axes.vector()) along.push_back(checked_axis(op, axis, x, where));
  if (along.size() != lengths.size()) {
    TARRY_THROW(
        InvalidValue, op, where,
        std::to_string(lengths.size()) + " lengths for " + std::to_string(along.size()) + " axes of " + Typed(x).str());
  }
  Dims shape(x.node()->shape());
  if (shape.size() + static_cast<int>(along.size()) > kMaxRank) {
    TARRY_THROW(InvalidShape, op, where,
                "windows of " + Typed(x).str() + " would have more than " + std::to_string(kMaxRank) + " axes");
  }
  for (std::size_t i = 0; i < along.size(); ++i) {
    if (lengths[i] < 1 || lengths[i] > shape[along[i]]) {
      TARRY_THROW(InvalidShape, op, where,
                  "axis " + std::to_string(along[i]) + " of " + Typed(x).str() + " has no windows of " +
                      std::to_string(lengths[i]) + " elements");
    }
    shape[along[i]] -= lengths[i] - 1;
    shape.push_back(lengths[i]);
  }
  check_shape(op, {x.node()->dtype, shape.span()}, where);
  for (std::size_t i = 0; i < along.size(); ++i) {
    const Windows w{along[i], shape[along[i]], lengths[i]};
    x = w.taken(op, x, w.places(x, where), where);
  }
  return x;
}

// ---- Differences ----

/// The neighbour of x along an axis: of x's shape but for the axis, or one element.
Edge neighbour(const Edge& x, const Edge& beside, int axis, Where where) {
  Dims shape(x.node()->shape());
  shape[axis] = beside.node()->rank == 0 ? 1 : shape[axis];
  return beside.node()->rank == 0 ? to_shape(beside, shape.span(), where) : beside;
}

Edge with_neighbours(const Edge& x, const DiffOptions& options, int axis, Where where) {
  std::vector<Argument> given;
  if (options.prepend.is_defined()) given.push_back({detail::edge(options.prepend, "diff", where), 0});
  given.push_back({x, 0});
  if (options.append.is_defined()) given.push_back({detail::edge(options.append, "diff", where), 0});
  if (given.size() == 1) return x;
  const Dtype dtype = common_dtype("diff", given, where);
  std::vector<Edge> parts;
  for (const Argument& a : given) parts.push_back(record_cast(neighbour(x, a.edge, axis, where), dtype, where));
  return concatenated("diff", parts, axis, where);
}

Edge differences(Edge x, const DiffOptions& options, Where where) {
  check_rank("diff", x, 1, where);
  const int axis = checked_axis("diff", options.axis, x, where);
  check_number("diff", x, where);
  if (options.n < 0) {
    TARRY_THROW(InvalidValue, "diff", where,
                "differences of " + Typed(x).str() + " are taken " + std::to_string(options.n) + " times");
  }
  x = with_neighbours(x, options, axis, where);
  if (options.n >= extent(x, axis) && options.n > 0) return cut(x, axis, 0, 0, where);
  for (std::int64_t i = 0; i < options.n; ++i) {
    const std::int64_t count = extent(x, axis) - 1;
    x = mapped(Op::Subtract, cut(x, axis, 1, count, where), cut(x, axis, 0, count, where), where);
  }
  return x;
}

// ---- Convolution ----

/// `count` elements of the full convolution from `from` on. What leaves a is no term: 0 times an infinity is none.
Edge convolved(const Edge& a, const Edge& v, std::int64_t from, std::int64_t count, Where where) {
  const std::int64_t m = extent(a, 0), n = extent(v, 0), before = n - 1 - from, after = from + count - m;
  const Dtype dtype = a.node()->dtype, wide = is_floating(dtype) ? float_for_computing(dtype) : dtype;
  const bool leaves = before > 0 || after > 0;
  const Edge wider = leaves ? with_constant(a, {{before, after}}, {before + m + after}, 0, where) : a;
  const Windows w{0, count, n};
  const Edge places = w.places(a, where);
  const Edge values = record_cast(w.taken("convolve", wider, places, where), wide, where);
  const Edge weights = record_cast(backwards(v, 0, n - 1, n, where), wide, where);
  Edge terms = mapped(Op::Multiply, values, weights, where, "convolve");
  if (leaves) {
    const Edge is_term = mapped(Op::LogicalAnd, mapped(Op::GreaterEqual, places, before, where),
                                mapped(Op::Less, places, before + m, where), where);
    terms = chosen(is_term, terms, record_scalar(0, wide, "convolve", where), where);
  }
  return record_cast(reduce_widened(Op::Sum, prepare_reduction("convolve", terms, 1, where), where), dtype, where);
}

Edge convolution(const Array& left, const Array& right, Convolution mode, Where where) {
  const Array both[] = {left, right};
  std::vector<Edge> edges = promoted_operands("convolve", both, where);
  for (const Edge& e : edges) {
    if (e.node()->rank == 1 && extent(e, 0) > 0) continue;
    TARRY_THROW(InvalidShape, "convolve", where, Typed(e).str() + " is no sequence: one axis with elements is wanted");
  }
  if (extent(edges[0], 0) < extent(edges[1], 0)) std::swap(edges[0], edges[1]);
  const std::int64_t m = extent(edges[0], 0), n = extent(edges[1], 0);
  check_shape("convolve", {edges[0].node()->dtype, Dims{m, n}.span()}, where);
  const std::int64_t from = mode == Convolution::Full ? 0 : mode == Convolution::Same ? (n - 1) / 2 : n - 1;
  const std::int64_t count = mode == Convolution::Full ? m + n - 1 : mode == Convolution::Same ? m : m - n + 1;
  return convolved(edges[0], edges[1], from, count, where);
}

}  // namespace
}  // namespace graph

inline namespace v0 {

using graph::Edge;

Array pad(const Array& x, const PadWidths& widths, Pad mode, Scalar value, Where where) try {
  return detail::wrap(graph::padded(detail::edge(x, "pad", where), widths, mode, value, where));
}
TARRY_OR_OUT_OF_MEMORY("pad", where)

Array sliding_window_view(const Array& x, const Shape& lengths, const Axes& axes, Where where) try {
  return detail::wrap(graph::all_windows(detail::edge(x, "sliding_window_view", where), lengths, axes, where));
}
TARRY_OR_OUT_OF_MEMORY("sliding_window_view", where)

Array diff(const Array& x, const DiffOptions& options, Where where) try {
  return detail::wrap(graph::differences(detail::edge(x, "diff", where), options, where));
}
TARRY_OR_OUT_OF_MEMORY("diff", where)

Array convolve(const Array& a, const Array& v, Convolution mode, Where where) try {
  return detail::wrap(graph::convolution(a, v, mode, where));
}
TARRY_OR_OUT_OF_MEMORY("convolve", where)

}  // namespace v0
}  // namespace tarry
