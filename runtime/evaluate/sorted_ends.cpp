// Pieces are sorted, and what their ends give is joined and sorted again.
#include "runtime/evaluate/sorted_ends.h"

#include <algorithm>
#include <utility>

#include "graph/fusion/trace.h"

namespace tarry::runtime {

using graph::Dims;
using graph::Edge;
using graph::Op;

SortedEnds::SortedEnds(const graph::Slicer& slicer, const graph::Cut& cut, EvaluateEdges evaluate)
    : slicer_(slicer), view_(cut.node), ends_(row_ends(slicer.graph(), cut.node)), evaluate_(std::move(evaluate)) {}

Edge SortedEnds::node(Op op, Dtype dtype, const Dims& shape, std::span<const Edge> inputs,
                      const graph::AttributeBytes& attributes) const {
  return slicer_.node(slicer_.graph().nodes[ends_.sort], op, dtype, shape, inputs, attributes);
}

/// The wanted elements of sorted rows, or all where there are fewer.
Edge SortedEnds::end_of(const Edge& sorted) const {
  Dims shape(sorted.node()->shape());
  const int last = shape.size() - 1;
  const std::int64_t count = std::min(ends_.count, shape[last]);
  graph::IndexMap map = graph::identity_map(shape.size());
  if (ends_.last) map[last].start = shape[last] - count;
  shape[last] = count;
  return node(Op::View, sorted.node()->dtype, shape, {&sorted, 1}, encode(map));
}

/// Elements of rows at places along them.
Edge SortedEnds::taken(const Edge& rows, const Edge& places) const {
  const Dims shape(places.node()->shape());
  const Edge both[] = {rows, places};
  return node(Op::Gather, rows.node()->dtype, shape, both,
              encode(graph::IotaAttributes{static_cast<std::int32_t>(shape.size() - 1)}));
}

Edge SortedEnds::joined(const Edge& a, const Edge& b) const {
  Dims shape(a.node()->shape());
  const int last = shape.size() - 1;
  const std::int64_t first = shape[last];
  shape[last] += b.node()->shape()[static_cast<std::size_t>(last)];
  const Edge zero = slicer_.number(slicer_.graph().nodes[ends_.sort], a.node()->dtype, {});
  graph::UpdateAttributes at{Dims::filled(shape.size(), 0), Dims::filled(shape.size(), 1)};
  const Edge with_a[] = {node(Op::View, a.node()->dtype, shape, {&zero, 1}, encode(graph::IndexMap())), a};
  Edge with_both[] = {node(Op::Update, a.node()->dtype, shape, with_a, encode(at)), b};
  at.start[last] = first;
  return node(Op::Update, a.node()->dtype, shape, with_both, encode(at));
}

Edge SortedEnds::zeros(const Dims& shape) const {
  const Edge zero = slicer_.number(slicer_.graph().nodes[ends_.sort], int64, {});
  return node(Op::View, int64, shape, {&zero, 1}, encode(graph::IndexMap()));
}

SortedEnds::Rows SortedEnds::ends_of(const Rows& rows) const {
  const graph::GraphNode& sort = slicer_.graph().nodes[ends_.sort];
  const Dims shape(rows.values.node()->shape());
  if (shape[shape.size() - 1] == 1)
    return {rows.values, sort.op == Op::Sort || rows.places ? rows.places : zeros(shape)};
  const graph::AttributeBytes way = encode(graph::RoutineAttributes{graph::RoutineAttributes::Way(sort.payload)});
  const Edge end = end_of(node(sort.op, sort.dtype, shape, {&rows.values, 1}, way));
  if (sort.op == Op::Sort) return {end, {}};
  return {taken(rows.values, end), rows.places ? taken(rows.places, end) : end};
}

PartialState SortedEnds::record(std::span<const Edge> operands, std::int64_t at, std::int64_t count) {
  Rows rows = ends_of({operands[0], {}});
  if (rows.places) {
    const Edge from_start[] = {rows.places,
                               slicer_.number(slicer_.graph().nodes[ends_.sort], int64, graph::ScalarCell::of(at))};
    rows.places = node(Op::Add, int64, Dims(rows.places.node()->shape()), from_start, {});
  }
  return {std::move(rows.values), std::move(rows.places), at, count, {}};
}

void SortedEnds::take(PartialState state) {
  if (found_.first) {
    Rows all{joined(found_.first, state.first), {}};
    if (state.second) all.places = joined(found_.second, state.second);
    Rows ends = ends_of(all);
    const Edge both[] = {ends.values, ends.places};
    evaluate_(std::span(both).first(ends.places ? 2 : 1));
    state.first = std::move(ends.values);
    state.second = std::move(ends.places);
  }
  found_ = std::move(state);
}

/// The view, and those below it, of the elements that there are.
PartialState SortedEnds::total() {
  const graph::Graph& g = slicer_.graph();
  std::vector<graph::NodeId> views;
  for (graph::NodeId id = view_; id != ends_.sort; id = g.nodes[id].inputs[0].node) views.push_back(id);
  Edge x = found_.second ? found_.second : found_.first;
  int axis = g.shape(ends_.sort).size() - 1;
  const std::int64_t left_out = g.shape(ends_.sort)[axis] - ends_.count;
  for (std::size_t v = views.size(); v-- > 0;) {
    const graph::GraphNode& n = g.nodes[views[v]];
    graph::IndexMap map = g.views[n.payload];
    Dims shape = g.shape(views[v]);
    if (v == 0 && ends_.last) map[axis].start -= left_out;
    if (v > 0) {
      axis = map[axis].axis;
      shape[axis] = ends_.count;
    }
    x = slicer_.node(n, Op::View, n.dtype, shape, {&x, 1}, encode(map));
  }
  evaluate_({&x, 1});
  return {std::move(x), {}, 0, 0, {}};
}

}  // namespace tarry::runtime
