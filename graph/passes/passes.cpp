// The pass harness, common subexpressions and dead code.
#include "graph/passes/passes.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "support/hash.h"

namespace tarry::graph {
namespace {

/// The canonical bytes by which two nodes are equal.
std::string identity(const Graph& g, const GraphNode& n) {
  std::string key;
  const auto append = [&key](const auto& v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
  append(n.op);
  append(n.dtype);
  append(n.mode);
  append(n.shape);
  for (int i = 0; i < n.n_inputs; ++i) append(n.inputs[i]);
  switch (info(n.op).op_class) {
    case OpClass::View: key += std::string_view(encode(g.views[n.payload])); break;
    case OpClass::Update: key += std::string_view(encode(g.updates[n.payload])); break;
    case OpClass::Reduce:
    case OpClass::Scan: key += std::string_view(encode(g.reduces[n.payload])); break;
    case OpClass::Scalar:
      // Scalars whose class tells the value (0, -0, 1) are equal by it; others only where they are one recorded scalar.
      append(g.scalars[n.payload].known);
      if (g.scalars[n.payload].known == ScalarClass::Other) append(n.payload);
      break;
    case OpClass::Loop:  // each loop is one of its own, and so is each of its carries
      append(n.payload);
      if (n.op == Op::LoopLevel || n.op == Op::LoopCarry) append(g.nodes.size());
      break;
    default: append(n.payload);
  }
  return key;
}

}  // namespace

Graph read_bools(Graph g) {
  const bool some = std::any_of(g.leaves.begin(), g.leaves.end(), [](const LeafLayout& l) { return l.any_byte; });
  if (!some) return g;
  Graph read = Rewriter(g).run([](Rewriter& r, GraphNode n) {
    if (n.op != Op::Input || n.dtype != bool_ || !r.graph().leaves[n.payload].any_byte) return r.add(n);
    n.dtype = uint8;
    GraphNode truth = n;
    truth.op = Op::Cast;
    truth.dtype = bool_;
    truth.n_inputs = 1;
    truth.inputs[0] = r.add(n);
    truth.payload = kNoId;
    return r.add(truth);
  });
  for (std::size_t i = 0; i < g.roots.size(); ++i) {  // what is a root is not computed
    const GraphNode& root = read.nodes[read.roots[i].node];
    if (g.nodes[g.roots[i].node].op == Op::Input && root.op == Op::Cast) read.roots[i] = root.inputs[0];
  }
  return read;
}

Graph cse(const Graph& g) {
  std::unordered_map<std::string, GraphEdge> seen;
  return Rewriter(g).run([&seen](Rewriter& r, const GraphNode& n) {
    const auto [it, fresh] = seen.try_emplace(identity(r.graph(), n));
    if (fresh) it->second = r.add(n);
    return it->second;
  });
}

Graph dce(const Graph& g) {
  std::vector<bool> live(g.nodes.size());
  for (const GraphEdge& r : g.roots) live[r.node] = true;
  for (NodeId id = static_cast<NodeId>(g.nodes.size()); id-- > 0;)
    if (live[id])
      for (int i = 0; i < g.nodes[id].n_inputs; ++i) live[g.nodes[id].inputs[i].node] = true;
  NodeId at = 0;
  return Rewriter(g).run([&](Rewriter& r, const GraphNode& n) { return live[at++] ? r.add(n) : GraphEdge{}; });
}

Graph run_passes(Graph g, const std::function<bool(std::string_view)>& disabled, std::vector<PassTrace>* trace,
                 const std::function<void(std::string_view, const Graph&)>& observe) {
  verify(g);
  for (const Pass& pass : kPasses) {
    if (!pass.required && disabled && disabled(pass.name)) continue;
    const auto start = std::chrono::steady_clock::now();
    Graph next = pass.run(g);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    verify(next);
    if (trace) trace->push_back({pass.name, took.count(), g.nodes.size(), next.nodes.size()});
    if (observe) observe(pass.name, next);
    g = std::move(next);
  }
  return g;
}

}  // namespace tarry::graph
