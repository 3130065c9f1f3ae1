// empty_arrays: what has no elements is not computed and not read.
//
// An array without elements has no bits, whatever it is made of, so a view of the number 0 in its shape is that array.
// Memory of no elements may be no address at all, and steps through it lead nowhere: a kernel that reads such an array
// along one of its axes only, as one over rows of nothing does, would read before it knows that there is nothing.
#include <algorithm>

#include "graph/passes/passes.h"

namespace tarry::graph {
namespace {

/// An array like that of `n`, but made of nothing.
GraphEdge without_elements(Graph& g, const GraphNode& n) {
  GraphNode zero = n;
  zero.op = Op::Scalar;
  zero.n_inputs = 0;
  zero.shape = g.intern(Dims{});
  zero.payload = static_cast<std::uint32_t>(g.scalars.size());
  ScalarSource source;
  source.kind = ScalarSource::Kind::Constant;
  source.known = ScalarClass::Zero;
  source.dtype = n.dtype;
  g.scalars.push_back(source);
  g.nodes.push_back(zero);
  GraphNode view = n;
  view.op = Op::View;
  view.n_inputs = 1;
  view.inputs[0] = {static_cast<NodeId>(g.nodes.size() - 1), 0};
  view.payload = static_cast<std::uint32_t>(g.views.size());
  g.views.emplace_back();
  g.nodes.push_back(view);
  return {static_cast<NodeId>(g.nodes.size() - 1), 0};
}

}  // namespace

Graph empty_arrays(const Graph& g) {
  if (std::ranges::find(g.counts, 0) == g.counts.end()) return g;
  const auto known = [](Graph& to, GraphEdge e) {
    return to.count(e.node) == 0 ? without_elements(to, GraphNode(to.nodes[e.node])) : e;
  };
  Graph out = Rewriter(g).run([&](Rewriter& r, GraphNode n) {
    for (int i = 0; i < n.n_inputs; ++i) n.inputs[i] = known(r.graph(), n.inputs[i]);
    return r.add(n);
  });
  for (GraphEdge& root : out.roots) root = known(out, root);
  return out;
}

}  // namespace tarry::graph
