// FusionGraph: analysis before any decision.
#include "graph/fusion/graph.h"

#include <algorithm>

namespace tarry::graph {
bool ReduceSpace::rows(const Limits& limits) const {
  return !scans && extent != 1 && (extent <= kSerialRow || (position + 1 == space.size() && extent <= limits.row));
}

int dimension_at(const Dims& shape, int position) {
  int axis = 0;
  for (; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && position-- == 0) break;
  return axis;
}

FusionGraph::FusionGraph(const Graph& graph, const CostModel& cost) : g(graph) {
  mark_roots();
  mark_materialised();
  mark_scatters(cost);
  number_spaces();
}

void FusionGraph::mark_roots() {
  root_.assign(g.nodes.size(), false);
  for (const GraphEdge& r : g.roots) root_[r.node] = true;
}

/// Views whose memory is read: below a Reshape, and as the base of an Update that works on memory.
void FusionGraph::mark_materialised() {
  materialised_.assign(g.nodes.size(), false);
  const auto mark = [&](NodeId id) {
    const OpClass c = op_class(id);
    materialised_[id] = c == OpClass::View || c == OpClass::Iota;
  };
  for (const GraphNode& n : g.nodes) {
    if (n.op == Op::Reshape) mark(n.inputs[0].node);
    if (n.op == Op::Update && !g.updates[n.payload].dense()) mark(n.inputs[0].node);
  }
}

/// Updates that store into memory which holds the base: those that no box guard describes, and those whose base dies
/// here and is large enough that not copying it pays for a launch.
void FusionGraph::mark_scatters(const CostModel& cost) {
  scatter_.assign(g.nodes.size(), false);
  if (g.updates.empty()) return;
  std::vector<std::uint32_t> readers(g.nodes.size());
  for (const GraphNode& n : g.nodes)
    for (int i = 0; i < n.n_inputs; ++i) ++readers[n.inputs[i].node];
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    if (n.op != Op::Update) continue;
    const NodeId base = n.inputs[0].node;
    const LeafLayout* leaf = op_class(base) == OpClass::Leaf ? &g.leaves[g.nodes[base].payload] : nullptr;
    const bool dies = leaf && leaf->donated && leaf->contiguous && readers[base] == 1 && !root_[base];
    const double saved = 2 * static_cast<double>(g.bytes(id) - g.bytes(n.inputs[1].node)) / cost.bytes_per_second;
    scatter_[id] = !g.updates[n.payload].dense() || (dies && saved > cost.seconds_per_launch);
  }
}

SpaceId FusionGraph::space_id(const Dims& squeezed) {
  const auto [it, fresh] = space_ids_.try_emplace(squeezed.vector(), static_cast<SpaceId>(spaces_.size()));
  if (fresh) spaces_.push_back(squeezed);
  return it->second;
}

void FusionGraph::number_spaces() {
  for (const Dims& s : g.shapes) squeezed_.push_back(space_id(squeeze(s)));
  key_of_.assign(g.nodes.size(), kNoId);
  std::map<std::vector<std::int64_t>, ReduceKey> ids;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    if (!walks(id)) continue;
    const GraphNode& n = g.nodes[id];
    const Dims& shape = g.shape(n.inputs[0].node);
    const int axis = g.reduces[n.payload].axis;
    ReduceSpace r{space(n.inputs[0].node), space(id), 0, shape[axis], squeeze(g.shape(id)), scans(id)};
    r.position = static_cast<int>(std::count_if(shape.begin(), shape.begin() + axis, [](auto e) { return e != 1; }));
    if (!r.scans) r.space.insert(r.position, r.extent);
    const auto [it, fresh] =
        ids.try_emplace({r.point, r.outer, r.position, r.extent, r.scans}, static_cast<ReduceKey>(keys_.size()));
    if (fresh) keys_.push_back(r);
    key_of_[id] = it->second;
  }
}

Source FusionGraph::source(NodeId id, int input) const {
  if (op_class(id) == OpClass::Leaf || op_class(id) == OpClass::Iota || op_class(id) == OpClass::Scalar)
    return {{id, 0}, identity_map(g.shape(id).size()), g.shape(id)};  // a root that is copied
  if (!scatter_[id]) return input_source(g, id, input);
  const GraphEdge edge = g.nodes[id].inputs[input];
  return trace(g, edge, identity_map(g.shape(edge.node).size()));
}

ShapeId FusionGraph::read_shape(NodeId id, int input) const {
  const bool at_input = op_class(id) == OpClass::Reduce || scatter_[id];
  return at_input ? g.nodes[g.nodes[id].inputs[input].node].shape : g.nodes[id].shape;
}

bool FusionGraph::may_repeat(NodeId reader, int input, const std::vector<NodeId>& nodes) const {
  if (op_class(reader) != OpClass::Gather || input != 0) return true;
  return std::ranges::none_of(nodes, [this](NodeId id) { return op_class(id) == OpClass::Update; });
}

bool FusionGraph::from_memory(NodeId id, int input) const {
  if ((scatter_[id] && input == 0) || library(id)) return true;
  NodeId at = id;
  if (g.nodes[id].op != Op::Reshape) at = g.nodes[id].inputs[input].node;
  while (g.nodes[at].op == Op::View) at = g.nodes[at].inputs[0].node;
  return g.nodes[at].op == Op::Reshape;
}

}  // namespace tarry::graph
