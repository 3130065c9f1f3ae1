// latest(): what a view reads of an earlier state of a long chain of updates it reads of the last one that holds it.
//
// Proof: the updates between the two write none of the elements that the view reads, and they were recorded before it,
// so none of them depends on it. Nodes stay as they are but for that edge.
#include "graph/fusion/writes.h"
#include "graph/passes/passes.h"

namespace tarry::graph {

Graph latest(const Graph& g) {
  const Writes writes(g);
  Graph out = g;
  for (NodeId id = 0; id < out.nodes.size(); ++id)
    if (out.nodes[id].op == Op::View) out.nodes[id].inputs[0].node = writes.latest(id);
  return out;
}

}  // namespace tarry::graph
