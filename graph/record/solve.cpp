// Recurrences with names, as scans.
#include <tarry/loop.h>
#include <tarry/ops.h>
#include <tarry/solve.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "graph/record/parts.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using Arrays = std::vector<Array>;
using Values = std::span<const Array>;

/// The arguments of a recurrence, in one floating dtype, with an axis that counts from the end.
class Lanes {
 public:
  Lanes(std::string_view op, const std::vector<const Array*>& arrays, int axis, Where where) : op_(op), where_(where) {
    std::vector<Edge> edges;
    for (const Array* a : arrays) edges.push_back(detail::edge(*a, op, where));
    std::vector<graph::Argument> arguments;
    for (const Edge& e : edges) arguments.push_back({e, 0});
    const Dtype common = graph::common_dtype(op, arguments, where);
    dtype = is_floating(common) ? common : float64;
    int rank = 0;
    for (const Edge& e : edges) rank = std::max<int>(rank, e.node()->rank);
    const Edge& deepest = *std::ranges::max_element(edges, {}, [](const Edge& e) { return e.node()->rank; });
    axis_ = graph::checked_axis(op, axis, deepest, where) - rank;
    for (const Edge& e : edges) {
      const std::span<const std::int64_t> shape = e.node()->shape();
      const int at = axis_ + static_cast<int>(shape.size());
      if (at < 0 || shape[static_cast<std::size_t>(at)] != extent_of(deepest))
        TARRY_THROW(InvalidShape, std::string(op), where,
                    fmt::format("{} and {} have different extents along the axis", graph::Typed(e).str(),
                                graph::Typed(deepest).str()));
      xs.push_back(detail::wrap(graph::record_cast(e, dtype, where)));
    }
    count = extent_of(deepest);
  }

  /// A number for every lane.
  [[nodiscard]] Array number(double value) const {
    return detail::wrap(graph::record_scalar(value, dtype, op_, where_));
  }
  /// 1 at a level, 0 at all others.
  [[nodiscard]] Array is_at(std::int64_t level) const {
    const Edge along = graph::coordinate(detail::edge(xs[0], op_, where_), count, 0, -axis_, where_);
    return detail::wrap(graph::mapped(graph::Op::Equal, along, level, where_));
  }
  /// Throws unless `initial` broadcasts to the lanes.
  void check_initial(const Array& initial) const {
    std::vector<Edge> all{detail::edge(initial, op_, where_)};
    for (const Array& x : xs) {
      const Edge e = detail::edge(x, op_, where_);
      all.push_back(graph::part_at(e, axis_ + e.node()->rank, 0, where_));
    }
    const Dims lanes = graph::broadcast_shape(op_, std::span(all).subspan(1), where_);
    if (graph::broadcast_shape(op_, all, where_) != lanes)
      TARRY_THROW(InvalidShape, std::string(op_), where_,
                  fmt::format("initial is {}, and there are {} lanes", graph::Typed(all[0]).str(),
                              graph::to_string(lanes.span())));
  }
  [[nodiscard]] LoopOptions options(bool reverse = false) const { return {axis_, reverse, {}}; }

  Arrays xs;
  Dtype dtype{};
  std::int64_t count = 0;

 private:
  [[nodiscard]] std::int64_t extent_of(const Edge& e) const {
    const std::span<const std::int64_t> shape = e.node()->shape();
    return shape[static_cast<std::size_t>(axis_ + static_cast<int>(shape.size()))];
  }

  const std::string_view op_;
  const Where where_;
  int axis_ = -1;
};

}  // namespace

Array tridiagonal_solve(const Array& lower, const Array& diagonal, const Array& upper, const Array& right,
                        AlongOptions options, Where where) try {
  Lanes lanes("tridiagonal_solve", {&lower, &diagonal, &upper, &right}, options.axis, where);
  const Array zero = lanes.number(0);
  Arrays xs = lanes.xs;
  xs.push_back(lanes.is_at(0));
  xs.push_back(lanes.is_at(lanes.count - 1));
  const Scanned eliminated = scan(
      Arrays{zero, zero}, xs,
      [&](Values before, Values at) -> Scanned {
        const Array below = tarry::where(at[4], zero, at[0]), above = tarry::where(at[5], zero, at[2]);
        const Array pivot = at[1] - below * before[0];
        const Array up = above / pivot, solved = (at[3] - below * before[1]) / pivot;
        return {{up, solved}, {up, solved}};
      },
      lanes.options(), where);
  return scan(
             Arrays{zero}, eliminated.ys,
             [](Values behind, Values at) -> Scanned {
               const Array x = at[1] - at[0] * behind[0];
               return {{x}, {x}};
             },
             lanes.options(true), where)
      .ys[0];
}
TARRY_OR_OUT_OF_MEMORY("tridiagonal_solve", where)

Array pentadiagonal_solve(const Array& lower2, const Array& lower, const Array& diagonal, const Array& upper,
                          const Array& upper2, const Array& right, AlongOptions options, Where where) try {
  Lanes lanes("pentadiagonal_solve", {&lower2, &lower, &diagonal, &upper, &upper2, &right}, options.axis, where);
  const Array zero = lanes.number(0);
  Arrays xs = lanes.xs;
  for (const std::int64_t level : {std::int64_t{0}, std::int64_t{1}, lanes.count - 1, lanes.count - 2})
    xs.push_back(lanes.is_at(level));
  // Carries, of the last two levels: elements above the diagonal over the pivot, and the right side.
  const Scanned eliminated = scan(
      Arrays(6, zero), xs,
      [&](Values before, Values at) -> Scanned {
        const Array &first = at[6], &last = at[8];
        const Array ends = logical_or(first, at[7]), starts = logical_or(last, at[9]);
        const Array below2 = tarry::where(ends, zero, at[0]), below = tarry::where(first, zero, at[1]);
        const Array above = tarry::where(last, zero, at[3]), above2 = tarry::where(starts, zero, at[4]);
        const Array factor = below - below2 * before[3];
        const Array pivot = at[2] - below2 * before[4] - factor * before[0];
        const Array up = (above - factor * before[1]) / pivot, up2 = above2 / pivot;
        const Array solved = (at[5] - below2 * before[5] - factor * before[2]) / pivot;
        return {{up, up2, solved, before[0], before[1], before[2]}, {up, up2, solved}};
      },
      lanes.options(), where);
  return scan(
             Arrays{zero, zero}, eliminated.ys,
             [](Values behind, Values at) -> Scanned {
               const Array x = at[2] - at[0] * behind[0] - at[1] * behind[1];
               return {{x, behind[0]}, {x}};
             },
             lanes.options(true), where)
      .ys[0];
}
TARRY_OR_OUT_OF_MEMORY("pentadiagonal_solve", where)

Array linear_recurrence(const Array& a, const Array& b, const RecurrenceOptions& options, Where where) try {
  const Lanes lanes("linear_recurrence", {&a, &b}, options.axis, where);
  if (options.initial.is_defined()) lanes.check_initial(options.initial);
  const Array start = options.initial.is_defined() ? astype(options.initial, lanes.dtype, where) : lanes.number(0);
  return scan(
             Arrays{start}, lanes.xs,
             [](Values before, Values at) -> Scanned {
               const Array x = at[0] * before[0] + at[1];
               return {{x}, {x}};
             },
             lanes.options(options.reverse), where)
      .ys[0];
}
TARRY_OR_OUT_OF_MEMORY("linear_recurrence", where)

Array ewma(const Array& x, double alpha, AlongOptions options, Where where) try {
  if (!(alpha >= 0 && alpha <= 1))
    TARRY_THROW(InvalidValue, "ewma", where, fmt::format("alpha is {}, not within 0 and 1", alpha));
  const Lanes lanes("ewma", {&x}, options.axis, where);
  const Array share = lanes.number(alpha);
  return scan(
             Arrays{lanes.number(0)}, Arrays{lanes.xs[0], lanes.is_at(0)},
             [&](Values before, Values at) -> Scanned {
               const Array y = tarry::where(at[1], at[0], before[0] + share * (at[0] - before[0]));
               return {{y}, {y}};
             },
             lanes.options(), where)
      .ys[0];
}
TARRY_OR_OUT_OF_MEMORY("ewma", where)

Array lfilter(std::span<const double> b, std::span<const double> a, const Array& x, AlongOptions options,
              Where where) try {
  if (b.empty() || a.empty() || a[0] == 0)
    TARRY_THROW(InvalidValue, "lfilter", where,
                a.empty() || b.empty() ? "a filter has coefficients in b and in a" : "a[0] is 0");
  const Lanes lanes("lfilter", {&x}, options.axis, where);
  const std::size_t order = std::max(b.size(), a.size()) - 1;
  const auto coefficient = [&](std::span<const double> of, std::size_t i) {
    return lanes.number((i < of.size() ? of[i] : 0.0) / a[0]);
  };
  return scan(
             Arrays(order, lanes.number(0)), lanes.xs,
             [&](Values state, Values at) -> Scanned {
               const Array first = coefficient(b, 0) * at[0], y = order > 0 ? first + state[0] : first;
               Arrays next;
               for (std::size_t i = 1; i <= order; ++i) {
                 const Array more = coefficient(b, i) * at[0] - coefficient(a, i) * y;
                 next.push_back(i < order ? more + state[i] : more);
               }
               return {next, {y}};
             },
             lanes.options(), where)
      .ys[0];
}
TARRY_OR_OUT_OF_MEMORY("lfilter", where)

}  // namespace v0
}  // namespace tarry
