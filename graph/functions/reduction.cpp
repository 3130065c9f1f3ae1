// reduction, associative_scan: axes and states checked; the tree is recorded.
#include <tarry/function.h>

#include <algorithm>

#include <fmt/format.h>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "graph/record/tree.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;

/// The states of a call in one shape.
std::vector<Edge> in_one_shape(std::string_view op, std::span<const Array> states, Where where) {
  if (states.empty()) TARRY_THROW(InvalidArgument, std::string(op), where, "no array is given");
  std::vector<Edge> edges = graph::edges_of(op, states, where);
  const Dims shape = graph::broadcast_shape(op, edges, where);
  for (Edge& e : edges) e = graph::to_shape(e, shape.span(), where);
  return edges;
}

std::vector<Operand> operands(std::span<const Array> a, std::span<const Array> b, Where where) {
  std::vector<Operand> all;
  for (const Array& x : a) all.emplace_back(x, where);
  for (const Array& x : b) all.emplace_back(x, where);
  return all;
}

}  // namespace

reduction::reduction(const function& combine, std::vector<Scalar> identity, std::optional<function> finish,
                     Where where) try
    : combine_(combine), identity_(std::move(identity)), finish_(std::move(finish)) {
  const std::size_t given = combine_.parameters(), results = combine_.results();
  if (given != 2 * results)
    TARRY_THROW(InvalidArgument, combine_.name(), where,
                fmt::format("two states of {} parts are {} parameters, not {}", results, 2 * results, given));
  if (!identity_.empty() && identity_.size() != results)
    TARRY_THROW(InvalidArgument, combine_.name(), where,
                fmt::format("{} identities for {} states", identity_.size(), results));
  if (finish_ && finish_->parameters() != results)
    TARRY_THROW(InvalidArgument, combine_.name(), where,
                fmt::format("{} has {} parameters for {} states", finish_->name(), finish_->parameters(), results));
}
TARRY_OR_OUT_OF_MEMORY("reduction", where)

std::vector<Array> reduction::all(std::span<const Array> states, const Axes& axes, ReduceOptions options,
                                  Where where) const try {
  const std::string& called = combine_.name();
  std::vector<Edge> now = in_one_shape(called, states, where);
  if (now.size() != combine_.results())
    TARRY_THROW(InvalidArgument, called, where, fmt::format("{} arrays for {} states", now.size(), combine_.results()));
  const Dims whole(now.front().node()->shape());
  const Dims along = graph::checked_axes(called, axes, now.front(), where);
  const Combine combine = [&](std::span<const Array> a, std::span<const Array> b) {
    return combine_.apply(operands(a, b, where), where);
  };
  for (int i = along.size(); i-- > 0;) {
    const auto axis = static_cast<int>(along[i]);
    if (whole[axis] > 0) {
      now = graph::CombinedAxis(called, combine, axis, where).reduced(now);
      continue;
    }
    if (identity_.empty())
      TARRY_THROW(InvalidShape, called, where,
                  fmt::format("{} has no element along axis {}, and there is no identity",
                              graph::Typed(now.front()).str(), axis));
    for (std::size_t s = 0; s < now.size(); ++s) {
      Dims shape(now[s].node()->shape());
      shape.erase(axis);
      const Edge value = graph::record_scalar(identity_[s], now[s].node()->dtype, called, where);
      now[s] = graph::record_view(value, graph::IndexMap{}, shape.span(), where, now[s].node()->device);
    }
  }
  std::vector<Array> results;
  for (Edge& e : now) {
    for (int i = 0; options.keepdims && i < along.size(); ++i)
      e = graph::with_axis(e, static_cast<int>(along[i]), where);
    results.push_back(detail::wrap(std::move(e)));
  }
  return finish_ ? finish_->apply(operands(results, {}, where), where) : results;
}
TARRY_OR_OUT_OF_MEMORY(combine_.name(), where)

Array reduction::operator()(const Array& x, const Axes& axes, ReduceOptions options, Where where) const {
  std::vector<Array> results = all(std::span(&x, 1), axes, options, where);
  if (results.size() != 1)
    TARRY_THROW(InvalidArgument, combine_.name(), where,
                fmt::format("{} results: call all() for a list of them", results.size()));
  return std::move(results.front());
}

std::vector<Array> associative_scan(const Combine& combine, std::span<const Array> states, CombineOptions options,
                                    Where where) try {
  constexpr std::string_view kCalled = "associative_scan";
  std::vector<Edge> now = in_one_shape(kCalled, states, where);
  const int axis = graph::checked_axis(kCalled, options.axis, now.front(), where);
  now = graph::CombinedAxis(kCalled, combine, axis, where)
            .scanned(now, options.reverse ? graph::From::Last : graph::From::First);
  std::vector<Array> results;
  for (Edge& e : now) results.push_back(detail::wrap(std::move(e)));
  return results;
}
TARRY_OR_OUT_OF_MEMORY("associative_scan", where)

}  // namespace v0
}  // namespace tarry
