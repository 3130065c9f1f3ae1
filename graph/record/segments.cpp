// The segment functions and group_by.
#include "graph/record/segments.h"

#include <tarry/create.h>
#include <tarry/evaluate.h>
#include <tarry/index.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/sort.h>
#include <tarry/views.h>

#include <algorithm>
#include <limits>

#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

/// The fold of no element.
Array of_nothing(Op op, const Shape& shape, Dtype dtype, Where where) {
  if (op == Op::SegmentSum || op == Op::SegmentM2) return zeros(shape, dtype, where);
  const bool least = op == Op::SegmentMin;
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return full(shape, least ? infinity : -infinity, dtype, where);
  }
  if (dtype == uint64) return full(shape, least ? std::numeric_limits<std::uint64_t>::max() : 0, dtype, where);
  using Limits = std::numeric_limits<std::int64_t>;
  return full(shape, least ? Limits::max() : Limits::lowest(), dtype, where);
}

}  // namespace

Grouping::Grouping(std::string_view called, const Array& places, std::int64_t groups, Where where)
    : Grouping(called, places.size(where), groups, where) {
  const Array narrow = astype(places, dtype_of_numbers(groups), where);
  if (rows_ > 0) order_ = argsort(narrow, {}, where);
  find_offsets(rows_ > 0 ? take(narrow, order_, 0, Bounds::Error, where) : narrow);
}

Grouping::Grouping(std::string_view called, Array order, Array offsets, std::int64_t groups, Where where)
    : Grouping(called, order.size(where), groups, where) {
  order_ = std::move(order);
  offsets_ = std::move(offsets);
}

Grouping Grouping::sorted(std::string_view called, const Array& places, std::int64_t groups, Where where) {
  Grouping g(called, places.size(where), groups, where);
  g.find_offsets(astype(places, dtype_of_numbers(groups), where));
  return g;
}

void Grouping::find_offsets(const Array& in_order) {
  const PlacedLike placed(detail::edge(in_order, called_, where_));
  offsets_ = searchsorted(in_order, arange(groups_ + 1, in_order.dtype(where_), where_), {}, where_);
}

Array Grouping::in_groups(const Array& x) const {
  return order_.is_defined() ? take(x, order_, 0, Bounds::Error, where_) : x;
}

Array Grouping::fold(Op op, const Array& x) const {
  const Edge given = detail::edge(x, called_, where_);
  const PlacedLike placed(given);
  const Dims shape(given.node()->shape());
  const Dtype dtype = accumulator(Op::Sum, given.node()->dtype);
  Dims of_groups = shape;
  of_groups[0] = groups_;
  check_shape(called_, {dtype, of_groups.span()}, where_);
  const Shape result(of_groups.vector());
  const std::int64_t columns = rows_ == 0 ? 0 : element_count(shape.span()) / rows_;
  if (groups_ == 0 || columns == 0) return of_nothing(op, result, dtype, where_);
  const Array rows =
      permute_dims(reshape(in_groups(astype(x, dtype, where_)), {rows_, columns}, where_), {1, 0}, where_);
  const Edge inputs[] = {detail::edge(rows, called_, where_), detail::edge(offsets_, called_, where_)};
  const Dims folded{columns, groups_};
  const Edge e = record_routine(op, called_, inputs, {dtype, folded.span()}, {}, where_);
  return reshape(permute_dims(detail::wrap(e), {1, 0}, where_), result, where_);
}

Array Grouping::counts() const {
  const Edge offsets = detail::edge(offsets_, called_, where_);
  const auto part = [&](std::int64_t from) {
    IndexMap map;
    map.push_back({0, from, 1});
    return record_view(offsets, map, Dims{groups_}.span(), where_);
  };
  return detail::wrap(record_map(Op::Subtract, {{part(1), 0}, {part(0), 0}}, where_, called_));
}

Array Grouping::counts_beside(const Array& x, Dtype dtype) const {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim(where_)), 1);
  shape[0] = groups_;
  return reshape(astype(counts(), dtype, where_), shape, where_);
}

Array Grouping::aggregate(Aggregate what, const Array& x) const {
  const Dtype given = x.dtype(where_), whole = is_floating(given) ? given : float64;
  const Dtype computed = float_for_computing(whole);
  const auto share = [&](Op op) {
    const Array folded = fold(op, astype(x, computed, where_));
    return astype(divide({folded, where_}, {counts_beside(x, computed), where_}), whole, where_);
  };
  switch (what) {
    case Aggregate::Sum: {
      const Array sum = fold(Op::SegmentSum, x);
      return is_floating(given) ? astype(sum, given, where_) : sum;
    }
    case Aggregate::Min:
    case Aggregate::Max: {
      if (given == bool_) return not_equal({aggregate(what, astype(x, uint8, where_)), where_}, {0, where_});
      const Op op = what == Aggregate::Min ? Op::SegmentMin : Op::SegmentMax;
      const Array most = fold(op, x);
      if (is_floating(given) || itemsize(given) == sizeof(std::int64_t)) return astype(most, given, where_);
      // The end of the wide range becomes that of the narrow one.
      const int bits = static_cast<int>(8 * itemsize(given)) - (tarry::info(given).kind == DtypeKind::Int ? 1 : 0);
      const std::int64_t top = (std::int64_t{1} << bits) - 1;
      const std::int64_t bottom = tarry::info(given).kind == DtypeKind::Int ? -top - 1 : 0;
      return astype(clip(most, Operand(bottom, where_), Operand(top, where_), where_), given, where_);
    }
    case Aggregate::Mean: return share(Op::SegmentSum);
    case Aggregate::Var: return share(Op::SegmentM2);
    case Aggregate::Count: return counts();
    case Aggregate::First: break;
  }
  const Edge offsets = detail::edge(offsets_, called_, where_);
  IndexMap map;
  map.push_back({0, 0, 1});
  const Array first = detail::wrap(record_view(offsets, map, Dims{groups_}.span(), where_));
  if (groups_ == 0) return take(x, first, 0, Bounds::Error, where_);
  return take(x, take(order_, first, 0, Bounds::Error, where_), 0, Bounds::Error, where_);
}

Array count_places(std::string_view called, const Array& places, std::int64_t groups, Where where) {
  const Edge e = detail::edge(places, called, where);
  const PlacedLike placed(e);
  if (groups == 0 || element_count(e.node()->shape()) == 0) return zeros({groups}, int64, where);
  const Dims shape{groups};
  const Edge numbers = record_cast(e, dtype_of_numbers(groups), where);
  return detail::wrap(record_routine(Op::Bincount, called, {&numbers, 1}, {int64, shape.span()}, {}, where));
}

std::pair<Array, Array> evaluated_extremes(const Array& x, Dtype dtype, Where where) {
  std::pair<Array, Array> e{astype(min(x, {}, {}, where), dtype, where), astype(max(x, {}, {}, where), dtype, where)};
  // The operand is computed beside them and kept, since bins or groups are made of it; a long one may go in parts.
  constexpr std::size_t kKept = std::size_t{256} << 20;
  const Array* const all[] = {&e.first, &e.second, &x};
  const bool keeps = static_cast<std::size_t>(x.size(where)) * itemsize(x.dtype(where)) <= kKept;
  if (keeps) {
    try {
      detail::evaluate(all, where);
      return e;
    } catch (const OutOfMemory&) {  // in chunks it is computed again
    }
  }
  detail::evaluate(std::span(all).first(2), where);
  return e;
}

}  // namespace graph

inline namespace v0 {
namespace {

using graph::Edge;
using graph::Grouping;
using graph::Op;
using graph::Typed;
using Called = graph::IndexAttributes::Called;

/// The ids of a call.
class Ids {
 public:
  Ids(Called called, const Array& ids, const SegmentOptions& options, Where where)
      : called_(called), where_(where), sorted_(options.sorted) {
    Edge e = ids_ = detail::edge(ids, op(), where);
    constexpr const char* kWanted = "ids are integers of one dimension";
    if (!is_integral(e.node()->dtype) || e.node()->dtype == bool_) fail<InvalidDtype>(kWanted);
    if (e.node()->rank != 1) fail<InvalidShape>(kWanted);
    rows_ = e.node()->shape()[0];
    groups_ = options.groups ? *options.groups : evaluated_groups(ids);
    if (groups_ < 0) fail<InvalidValue>("there are no " + std::to_string(groups_) + " groups");
    if (groups_ == 0 && rows_ > 0) fail<OutOfRange>("ids name none of 0 groups");
    if (e.node()->dtype == uint64)  // what only uint64 holds is out of range, and stays so
      e = graph::record_map(Op::Minimum, {{e, 0}, {Edge(), Scalar(INT64_MAX)}}, where, op());
    e = graph::record_cast(e, int64, where);
    places_ = detail::wrap(groups_ == 0 ? e : graph::record_index(e, groups_, {called, 0}, where));
  }

  [[nodiscard]] Array aggregate(Aggregate what, const Array& x) const {
    const Edge e = detail::edge(x, op(), where_);
    if (e.node()->rank == 0 || e.node()->shape()[0] != rows_)
      fail<InvalidShape>(Typed(e).str() + " has not a row for each of " + std::to_string(rows_) + " ids");
    const Grouping g =
        sorted_ ? Grouping::sorted(op(), places_, groups_, where_) : Grouping(op(), places_, groups_, where_);
    return g.aggregate(what, x);
  }
  [[nodiscard]] Array count() const { return graph::count_places(op(), places_, groups_, where_); }

 private:
  [[nodiscard]] std::string op() const { return std::string(graph::to_string(called_)); }
  template <class Kind>
  [[noreturn]] void fail(const std::string& message) const {
    TARRY_THROW(Kind, op(), where_, message + " (ids " + Typed(ids_).str() + ")");
  }
  [[nodiscard]] std::int64_t evaluated_groups(const Array& ids) const {
    if (rows_ == 0) return 0;
    const auto [smallest, largest] = graph::evaluated_extremes(ids, int64, where_);
    const auto least = smallest.item<std::int64_t>(where_);
    if (least < 0)
      fail<OutOfRange>("without a number of groups ids are not negative; the smallest is " + std::to_string(least));
    const auto most = largest.item<std::int64_t>(where_);
    if (most == std::numeric_limits<std::int64_t>::max())
      fail<OutOfRange>("there are no 2^63 groups, which the largest id would ask for");
    return most + 1;
  }

  Called called_;
  Where where_;
  bool sorted_;
  Edge ids_;
  std::int64_t rows_ = 0, groups_ = 0;
  Array places_;
};

}  // namespace

#define TARRY_SEGMENT(NAME, CALLED, AGGREGATE)                                            \
  Array NAME(const Array& x, const Array& ids, SegmentOptions options, Where where) try { \
    return Ids(Called::CALLED, ids, options, where).aggregate(Aggregate::AGGREGATE, x);   \
  }                                                                                       \
  TARRY_OR_OUT_OF_MEMORY(#NAME, where)
TARRY_SEGMENT(segment_sum, SegmentSum, Sum)
TARRY_SEGMENT(segment_min, SegmentMin, Min)
TARRY_SEGMENT(segment_max, SegmentMax, Max)
TARRY_SEGMENT(segment_mean, SegmentMean, Mean)
TARRY_SEGMENT(segment_var, SegmentVar, Var)
#undef TARRY_SEGMENT

Array segment_count(const Array& ids, SegmentOptions options, Where where) try {
  return Ids(Called::SegmentCount, ids, options, where).count();
}
TARRY_OR_OUT_OF_MEMORY("segment_count", where)

GroupBy group_by(std::span<const Array> keys, Where where) try {
  constexpr const char* op = "group_by";
  if (keys.empty()) TARRY_THROW(InvalidArgument, op, where, "there is no array of keys");
  const Edge first = detail::edge(keys.front(), op, where);
  for (const Array& key : keys) {
    const Edge e = detail::edge(key, op, where);
    if (e.node()->rank != 1 || e.node()->shape()[0] != first.node()->shape()[0]) {
      TARRY_THROW(InvalidShape, op, where,
                  "keys have one dimension and one extent, not " + Typed(first).str() + " and " + Typed(e).str());
    }
  }
  const graph::Runs runs = graph::find_runs(op, keys, graph::Nans::Together, where);
  GroupBy g;
  for (const Array& key : keys) g.keys_.push_back(runs.first_of(key, where));
  g.order_ = runs.order;
  g.offsets_ = runs.offsets;
  g.count_ = runs.count;
  return g;
}
TARRY_OR_OUT_OF_MEMORY("group_by", where)

Groups GroupBy::aggregate(std::span<const Aggregated> columns, Where where) const try {
  constexpr const char* op = "aggregate";
  Groups groups{keys_, {}};
  const Grouping grouping(op, order_, offsets_, count_, where);
  for (const Aggregated& a : columns) {
    const Edge e = detail::edge(a.column, op, where);
    if (e.node()->rank == 0 || e.node()->shape()[0] != grouping.rows()) {
      TARRY_THROW(
          InvalidShape, op, where,
          "a column of " + Typed(e).str() + " has not a row for each of " + std::to_string(grouping.rows()) + " keys");
    }
    groups.values.push_back(grouping.aggregate(a.what, a.column));
  }
  return groups;
}
TARRY_OR_OUT_OF_MEMORY("aggregate", where)

Groups GroupBy::aggregate(std::initializer_list<Aggregated> columns, Where where) const {
  return aggregate(std::span(columns.begin(), columns.size()), where);
}

}  // namespace v0
}  // namespace tarry
