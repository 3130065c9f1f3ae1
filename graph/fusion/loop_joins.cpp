// joined_parts(): a chain of updates along an axis, from its end to its beginning.
#include "graph/fusion/loop_joins.h"

#include <optional>
#include <utility>

#include "graph/fusion/trace.h"

namespace tarry::graph {
namespace {

/// The result that an update writes; none where it writes anything else.
std::optional<JoinedPart> part_of(const Graph& g, NodeId update, const std::function<bool(NodeId)>& is_result) {
  const GraphNode& n = g.nodes[update];
  const Dims& box = g.shape(n.inputs[1].node);
  const Source s = trace(g, n.inputs[1], identity_map(box.size()));
  if (!is_result(s.edge.node) || s.shape != g.shape(s.edge.node)) return std::nullopt;
  JoinedPart part{s.edge.node, update, {}};
  std::int64_t left = 1;
  for (int d = 0; d < box.size(); ++d) part.place.push_back({-1, g.updates[n.payload].start[d], 0});
  for (int d = 0; d < s.map.size; ++d) {
    if (s.shape[d] == 1) continue;
    if (s.map[d].axis < 0 || s.map[d].step != 1 || s.map[d].start != 0) return std::nullopt;
    AxisMap& to = part.place[s.map[d].axis];
    if (to.axis >= 0 || box[s.map[d].axis] != s.shape[d]) return std::nullopt;
    to = {d, to.start, 1};
    left *= s.shape[d];
  }
  return left == element_count(box.span()) ? std::optional(part) : std::nullopt;
}

}  // namespace

std::vector<JoinedPart> joined_parts(const Graph& g, NodeId array, const std::function<bool(NodeId)>& is_alone,
                                     const std::function<bool(NodeId)>& is_result) {
  std::vector<JoinedPart> parts;
  const Dims& shape = g.shape(array);
  int axis = -1;
  std::int64_t end = -1;  // updates go along the axis, the last one first
  for (NodeId id = array; g.nodes[id].op == Op::Update && end != 0; id = g.nodes[id].inputs[0].node) {
    const UpdateAttributes& place = g.updates[g.nodes[id].payload];
    if (id != array && !is_alone(id)) return {};
    std::optional<JoinedPart> part = place.dense() ? part_of(g, id, is_result) : std::nullopt;
    if (!part) return {};
    const Dims& box = g.shape(g.nodes[id].inputs[1].node);
    for (int d = 0; d < shape.size() && axis < 0; ++d)
      if (box[d] != shape[d]) axis = d;
    if (axis < 0) return {};
    for (int d = 0; d < shape.size(); ++d)
      if (d != axis && box[d] != shape[d]) return {};
    if (place.start[axis] + box[axis] != (end < 0 ? shape[axis] : end)) return {};
    end = place.start[axis];
    parts.push_back(std::move(*part));
  }
  return end == 0 ? parts : std::vector<JoinedPart>();
}

}  // namespace tarry::graph
