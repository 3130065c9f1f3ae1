// nonzero, argwhere, flatnonzero, where(condition), compress; masks in x(...) and in updates.
#include "graph/record/mask.h"

#include <tarry/evaluate.h>
#include <tarry/views.h>

#include "graph/record/selection.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

using Called = IndexAttributes::Called;

Edge as_mask(const Edge& x, std::string_view op, Where where) {
  if (x.node()->dtype == bool_) return x;
  return record_comparison(Op::NotEqual, {x, 0}, {Edge(), Scalar(0)}, where, op);
}

/// v, a row for each true element of a mask over the leading axes of x, in the shape of x: each row where the mask is
/// true, anything elsewhere. Whether there are as many is asked by a check, as that of an index: whoever reads the
/// result gets the error.
Edge spread_rows(std::string_view op, const Edge& x, const Edge& mask, const Edge& v, Where where) {
  const Dims shape(x.node()->shape());
  const auto leading = mask.node()->shape();
  const std::int64_t rows = element_count(leading), given = v.node()->shape()[0];
  const auto with = [&](Op join, const Edge& a, std::int64_t b) {
    return record_map(join, {{a, 0}, {Edge(), Scalar(b)}}, where, op);
  };
  const Edge ones = record_cast(record_reshape(mask, Dims{rows}.span(), where), int64, where);
  const Edge through = rows == 1 ? ones : record_scan(Op::CumulativeSum, ones, 0, where);  // true elements so far
  // Twice the difference is an index of an axis of one element where it is 0, and nowhere else.
  const Edge more = with(Op::Subtract, record_view(through, IndexMap{{-1, rows - 1, 0}}, {}, where), given);
  const Edge fits = record_index(record_map(Op::Add, {{more, 0}, {more, 0}}, where, op), 1, {Called::Mask, 0}, where);
  const Edge place = given == 0 ? record_numbers(Dims{rows}.span(), where)
                                : with(Op::Minimum, with(Op::Maximum, with(Op::Subtract, through, 1), 0), given - 1);
  const Gathered places[] = {{0, 0, record_map(Op::Add, {{place, 0}, {fits, 0}}, where, op)}};
  Dims numbered{rows};
  for (const std::int64_t extent : shape.span().subspan(leading.size())) numbered.push_back(extent);
  const Edge from = given == 0 ? record_reshape(x, numbered.span(), where) : v;
  return record_reshape(record_gathered({Called::Mask, Bounds::Error, where}, from, places, 0), shape.span(), where);
}

/// A mask beside arrays of `rank` axes, whose first ones are its own.
struct Column {
  const Edge& mask;
  int rank;
};

/// x where the mask is false, elsewhere `value`, joined to x by the way of writing.
Edge written(std::string_view op, Write write, const Edge& x, const Column& column, Edge value, Where where) {
  if (write != Write::Set) value = record_map(join_of(write), {{x, 0}, {value, 0}}, where, op);
  Dims extents(column.mask.node()->shape());
  while (extents.size() < column.rank) extents.push_back(1);
  const Edge mask = record_reshape(column.mask, extents.span(), where);
  return record_map(Op::Where, {{mask, 0}, {std::move(value), 0}, {x, 0}}, where, op);
}

}  // namespace

Edge record_true_places(std::string_view op, const Edge& x, const Edge* beside, Where where) {
  const std::int64_t n = element_count(x.node()->shape());
  const Edge mask = record_reshape(as_mask(x, op, where), Dims{n}.span(), where);
  if (n == 0) return record_numbers(Dims{0}.span(), where);
  const Dims size{n + 1};
  const Edge found = record_routine(Op::Compact, op, {&mask, 1}, Typed(int64, size.span()), {}, where);
  const Array places = detail::wrap(found), given = detail::wrap(x);
  const Array also = beside == nullptr ? Array() : detail::wrap(*beside);
  const Array* const all[] = {&places, &given, &also};
  detail::evaluate(std::span(all).first(beside == nullptr ? 2 : 3), where);
  std::int64_t count = 0;
  detail::ArrayAccess::read(detail::wrap(record_view(found, IndexMap{{-1, n, 0}}, {}, where)), &count, where);
  return record_view(found, IndexMap{{0, 0, 1}}, Dims{count}.span(), where);
}

std::vector<Edge> record_coordinates(std::string_view op, const Edge& x, Where where) {
  const auto shape = x.node()->shape();
  const Edge numbers = record_true_places(op, x, nullptr, where);
  if (shape.size() == 1) return {numbers};
  std::vector<Edge> coordinates;
  std::int64_t stride = element_count(shape);
  for (const std::int64_t extent : shape) {
    if (stride > 0) stride /= extent;
    Edge along = numbers;
    if (stride > 1) along = record_map(Op::FloorDivide, {{along, 0}, {Edge(), Scalar(stride)}}, where, op);
    if (!coordinates.empty() && extent > 0)
      along = record_map(Op::Remainder, {{along, 0}, {Edge(), Scalar(extent)}}, where, op);
    coordinates.push_back(std::move(along));
  }
  return coordinates;
}

Edge record_chosen(const Edge& x, const Edge& mask, Where where) {
  const Gathered places[] = {{0, 0, record_true_places("index", mask, &x, where), mask.node()->rank}};
  return record_gathered({Called::Index, Bounds::Error, where}, x, places, 0);
}

Edge record_masked(std::string_view op, Write write, const Edge& x, const Edge& mask, const Edge& all, Where where) {
  const Array elements = detail::wrap(all);
  const Edge value = record_value(op, x.node()->dtype, {elements, where}, x.node()->shape());
  return written(op, write, x, {mask, x.node()->rank}, value, where);
}

Edge record_masked_write(std::string_view op, Write write, const Edge& x, const Edge& mask, const Operand& v) {
  const Where where = v.where();
  const auto shape = x.node()->shape(), extents = mask.node()->shape();
  const std::size_t depth = extents.size();
  const bool fits = broadcasts(extents, shape);
  const bool leads = depth > 0 && depth <= shape.size() && std::ranges::equal(extents, shape.first(depth));
  if (!fits && !leads) {
    TARRY_THROW(OutOfRange, std::string(op), where,
                "a mask of " + Typed(mask).str() + " does not broadcast to " + Typed(x).str());
  }
  // Elsewhere the place that a value goes to depends on how many elements are true.
  if (leads && (!fits || shape.size() == 1))
    if (const std::optional<Edge> all = all_for(v, mask, shape)) return record_masked(op, write, x, mask, *all, where);
  const Edge given = v.array() == nullptr ? Edge() : detail::edge(*v.array(), op, where);
  const bool has_rows = leads && given && given.node()->rank == shape.size() - depth + 1 &&
                        given.node()->shape()[0] != 1 && (!fits || !broadcasts(given.node()->shape(), shape));
  Edge value;
  if (has_rows) {
    Dims selected{given.node()->shape()[0]};
    for (const std::int64_t extent : shape.subspan(depth)) selected.push_back(extent);
    value = record_broadcast(record_value(op, x.node()->dtype, v, selected.span()), selected.span(), where);
    if (element_count(shape) == 0) return x;
    value = spread_rows(op, x, mask, value, where);
  } else {
    value = record_value(op, x.node()->dtype, v, shape);
  }
  return written(op, write, x, {mask, leads && (has_rows || !fits) ? x.node()->rank : mask.node()->rank}, value, where);
}

namespace {

std::vector<Array> coordinates(const Array& x, const char* op, Where where) {
  const Edge given = detail::edge(x, op, where);
  if (given.node()->rank == 0) {
    TARRY_THROW(InvalidShape, op, where, Typed(given).str() + " is 0-d: its elements have no coordinates");
  }
  std::vector<Array> arrays;
  for (Edge& e : record_coordinates(op, given, where)) arrays.push_back(detail::wrap(std::move(e)));
  return arrays;
}

Edge compressed(const Array& condition, const Array& x, std::optional<int> axis, Where where) {
  constexpr const char* op = "compress";
  const Edge chosen = detail::edge(condition, op, where);
  Edge from = detail::edge(x, op, where);
  if (!axis) from = record_reshape(from, Dims{element_count(from.node()->shape())}.span(), where);
  const int along = checked_axis(op, axis.value_or(0), from, where);
  const std::int64_t extent = from.node()->shape()[static_cast<std::size_t>(along)];
  if (chosen.node()->rank != 1 || chosen.node()->shape()[0] > extent) {
    TARRY_THROW(OutOfRange, op, where,
                "a condition of " + Typed(chosen).str() + " does not fit axis " + std::to_string(along) + " of " +
                    Typed(from).str() + ": it is 1-d and no longer");
  }
  const Edge places = record_true_places(op, chosen, &from, where);
  return record_taken({Called::Compress, Bounds::Error, where}, from, places, along);
}

}  // namespace
}  // namespace graph

inline namespace v0 {

std::vector<Array> nonzero(const Array& x, Where where) try { return graph::coordinates(x, "nonzero", where); }
TARRY_OR_OUT_OF_MEMORY("nonzero", where)

std::vector<Array> where(const Array& condition, Where location) try {
  return graph::coordinates(condition, "where", location);
}
TARRY_OR_OUT_OF_MEMORY("where", location)

Array argwhere(const Array& x, Where where) try {
  if (detail::edge(x, "argwhere", where).node()->rank == 0) {
    const graph::Edge numbers =
        graph::record_true_places("argwhere", detail::edge(x, "argwhere", where), nullptr, where);
    return detail::wrap(graph::record_numbers(graph::Dims{numbers.node()->shape()[0], 0}.span(), where));
  }
  return stack(graph::coordinates(x, "argwhere", where), -1, where);
}
TARRY_OR_OUT_OF_MEMORY("argwhere", where)

Array flatnonzero(const Array& x, Where where) try {
  return detail::wrap(graph::record_true_places("flatnonzero", detail::edge(x, "flatnonzero", where), nullptr, where));
}
TARRY_OR_OUT_OF_MEMORY("flatnonzero", where)

Array compress(const Array& condition, const Array& x, std::optional<int> axis, Where where) try {
  return detail::wrap(graph::compressed(condition, x, axis, where));
}
TARRY_OR_OUT_OF_MEMORY("compress", where)

}  // namespace v0
}  // namespace tarry
