// The sources of a node: edges followed through views and reshapes, and the shapes of squeezed spaces.
#include "graph/fusion/trace.h"

namespace tarry::graph {

Dims squeeze(const Dims& shape) {
  Dims out;
  for (std::int64_t extent : shape)
    if (extent != 1) out.push_back(extent);
  return out;
}

IndexMap identity_map(int rank) {
  IndexMap m;
  for (int i = 0; i < rank; ++i) m.push_back({i, 0, 1});
  return m;
}

bool is_elementwise(const IndexMap& map, const Dims& source, const Dims& space) {
  int axis = 0;
  for (int i = 0; i < source.size(); ++i) {
    if (source[i] == 1) {
      if (map[i].start != 0) return false;
      continue;
    }
    while (axis < space.size() && space[axis] == 1) ++axis;
    if (axis >= space.size() || map[i].axis != axis || map[i].start != 0 || map[i].step != 1 ||
        space[axis] != source[i])
      return false;
    ++axis;
  }
  while (axis < space.size() && space[axis] == 1) ++axis;
  return axis == space.size();
}

Source trace(const Graph& g, GraphEdge edge, IndexMap map) {
  while (g.nodes[edge.node].op == Op::View) {
    const GraphNode& view = g.nodes[edge.node];
    map = compose(g.views[view.payload], map);
    edge = view.inputs[0];
  }
  const Dims& shape = g.shape(edge.node);
  while (g.nodes[edge.node].op == Op::Reshape) edge = g.nodes[edge.node].inputs[0];
  return {edge, map, shape};
}

Source input_source(const Graph& g, NodeId consumer, int input) {
  const GraphNode& n = g.nodes[consumer];
  const Dims& source = g.shape(n.inputs[input].node);
  switch (info(n.op).op_class) {
    case OpClass::Map: return trace(g, n.inputs[input], broadcast_map(source.span(), g.shape(consumer).span()));
    case OpClass::View: return trace(g, n.inputs[input], g.views[n.payload]);
    case OpClass::Reshape: return trace(g, {consumer, 0}, identity_map(g.shape(consumer).size()));
    case OpClass::Update: {
      const UpdateAttributes& u = g.updates[n.payload];
      IndexMap map = identity_map(source.size());
      if (input == 1 && u.dense())
        for (int d = 0; d < map.size; ++d) map[d].start = -u.start[d];
      return trace(g, n.inputs[input], map);
    }
    case OpClass::Gather: {
      IndexMap map = identity_map(source.size());
      if (input == 0) map[static_cast<int>(n.payload)].axis = kGatheredAxis;
      return trace(g, n.inputs[input], map);
    }
    default: return trace(g, n.inputs[input], identity_map(source.size()));
  }
}

}  // namespace tarry::graph
