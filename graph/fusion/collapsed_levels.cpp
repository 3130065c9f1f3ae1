// CollapsedLevels: for the search a kernel of levels is a chain of calls, as one takes few operands; its first output
// ends the chain, the others come after it.
#include <algorithm>

#include "graph/fusion/levels.h"
#include "graph/fusion/types.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

GraphNode call(const Graph& g, NodeId output) {
  GraphNode n = g.nodes[output];
  n.op = Op::Matmul;
  n.payload = kNoId;
  n.n_inputs = 0;
  return n;
}

}  // namespace

std::size_t Levels::kept_bytes() const {
  std::size_t bytes = 0;
  for (const Array& a : arrays) bytes += static_cast<std::size_t>(a.extent) * itemsize(a.dtype);
  return bytes;
}

std::size_t Levels::number_count() const {
  std::size_t count = 0;
  for (const std::vector<GraphEdge>& series : numbers) count += series.size();
  return count;
}

CollapsedLevels::CollapsedLevels(const Graph& g, std::vector<std::shared_ptr<const Levels>> kernels)
    : g_(g), kernels_(std::move(kernels)), small_(g.like()) {
  std::vector<std::uint32_t> inside(g.nodes.size(), kNoId);
  for (std::uint32_t k = 0; k < kernels_.size(); ++k)
    for (const NodeId id : kernels_[k]->nodes) inside[id] = k;
  // Live nodes, each after those it reads: a kernel may read what was recorded after its first nodes.
  const std::size_t n = g.nodes.size(), all = n + kernels_.size();
  const auto unit = [&](NodeId id) { return inside[id] == kNoId ? std::size_t{id} : n + inside[id]; };
  const auto each_input = [&](std::size_t of, const auto& f) {
    if (of >= n)
      for (const GraphEdge& e : kernels_[of - n]->operands) f(unit(e.node));
    else
      for (int i = 0; i < g.nodes[of].n_inputs; ++i) f(unit(g.nodes[of].inputs[i].node));
  };
  std::vector<std::size_t> order, open;
  std::vector<std::uint8_t> state(all);  // 1: waits for its inputs, 2: done
  for (const GraphEdge& r : g.roots) open.push_back(unit(r.node));
  while (!open.empty()) {
    const std::size_t at = open.back();
    if (state[at] != 0) {
      open.pop_back();
      if (state[at] == 1) order.push_back(at);
      state[at] = 2;
      continue;
    }
    state[at] = 1;
    each_input(at, [&](std::size_t in) {
      TARRY_ASSERT(state[in] != 1 || in != at);
      if (state[in] == 0) open.push_back(in);
    });
  }
  std::vector<GraphEdge> now(n);
  const auto add = [&](GraphNode node, NodeId original, std::uint32_t kernel) {
    small_.nodes.push_back(node);
    original_.push_back(original);
    kernel_of_.push_back(kernel);
    return static_cast<NodeId>(small_.nodes.size() - 1);
  };
  // A kernel reads the memory of a view, behind a reshape that it has taken for itself.
  const auto in_memory = [&](NodeId original, std::uint32_t kernel) {
    const OpClass c = info(g.nodes[original].op).op_class;
    if (c != OpClass::View && c != OpClass::Iota) return now[original].node;
    GraphNode reshape = g.nodes[original];
    reshape.op = Op::Reshape;
    reshape.payload = kNoId;
    reshape.n_inputs = 1;
    reshape.inputs[0] = {now[original].node, 0};
    return add(reshape, kNoId, kernel);
  };
  for (const std::size_t at : order) {
    if (at < n) {
      GraphNode node = g.nodes[at];
      for (int i = 0; i < node.n_inputs; ++i) node.inputs[i].node = now[node.inputs[i].node].node;
      now[at].node = add(node, static_cast<NodeId>(at), kNoId);
      continue;
    }
    const auto k = static_cast<std::uint32_t>(at - n);
    GraphNode node = call(g, kernels_[k]->outputs.front().node);
    for (const GraphEdge& e : kernels_[k]->operands) {
      if (node.n_inputs == Node::kMaxInputs) {
        const NodeId part = add(node, kNoId, k);
        node.n_inputs = 0;
        node.inputs[node.n_inputs++] = {part, 0};
      }
      node.inputs[node.n_inputs++] = {in_memory(e.node, k), e.output};
    }
    for (const GraphEdge& e : kernels_[k]->outputs) {
      GraphNode one = call(g, e.node);
      if (&e == kernels_[k]->outputs.data()) {
        std::copy(node.inputs, node.inputs + node.n_inputs, one.inputs);
        one.n_inputs = node.n_inputs;
      } else {
        one.inputs[one.n_inputs++] = {now[kernels_[k]->outputs.front().node].node, 0};
      }
      now[e.node].node = add(one, e.node, k);
    }
  }
  for (const GraphEdge& r : g.roots) small_.roots.push_back({now[r.node].node, r.output});
}

Fusion CollapsedLevels::expand(Fusion found) const {
  Fusion out;
  out.seconds = found.seconds;
  out.group_of.assign(g_.nodes.size(), kNoId);
  out.recomputed_set_of.assign(g_.nodes.size() * Node::kMaxInputs, kNoId);
  std::vector<bool> made(kernels_.size());
  for (Group& group : found.groups) {
    const auto own = static_cast<std::uint32_t>(out.groups.size());
    const std::uint32_t k = group.library == kNoId ? kNoId : kernel_of_[group.library];
    if (k != kNoId) {
      // The first output's group stands for all.
      const bool is_it = original_[group.library] == kernels_[k]->outputs.front().node;
      if (!is_it) continue;
      TARRY_ASSERT(!made[k]);
      made[k] = true;
      group.library = kNoId;
      group.levels = kernels_[k];
      group.space = kernels_[k]->lanes;
      group.nodes = kernels_[k]->nodes;
    } else {
      for (std::vector<NodeId>* ids : {&group.nodes, &group.of_columns}) {
        for (NodeId& id : *ids) id = original_[id];
        std::sort(ids->begin(), ids->end());  // nodes stand here in another order than in the graph
      }
      if (group.scatter != kNoId) group.scatter = original_[group.scatter];
      if (group.library != kNoId) group.library = original_[group.library];
      if (group.base.node != kNoId) group.base.node = original_[group.base.node];
    }
    for (const NodeId id : group.nodes)
      if (k != kNoId || out.group_of[id] == kNoId) out.group_of[id] = own;
    out.groups.push_back(std::move(group));
  }
  for (NodeId id = 0; id < original_.size(); ++id) {
    if (original_[id] == kNoId || kernel_of_[id] != kNoId) continue;
    for (std::size_t i = 0; i < Node::kMaxInputs; ++i)
      out.recomputed_set_of[original_[id] * std::size_t{Node::kMaxInputs} + i] =
          found.recomputed_set_of[id * std::size_t{Node::kMaxInputs} + i];
  }
  out.recomputed_sets = std::move(found.recomputed_sets);
  for (std::vector<NodeId>& set : out.recomputed_sets) {
    for (NodeId& id : set) id = original_[id];
    std::sort(set.begin(), set.end());
  }
  for (const UnfusedEdge& e : found.unfused) {
    const std::uint32_t from = kernel_of_[e.producer], to = kernel_of_[e.consumer];
    if (from != kNoId && from == to) continue;
    const NodeId producer = original_[e.producer];
    const NodeId consumer = original_[e.consumer] == kNoId ? kernels_[to]->outputs.front().node : original_[e.consumer];
    out.unfused.push_back({producer, consumer, from != kNoId || to != kNoId ? Reason::Levels : e.reason});
  }
  return out;
}

}  // namespace tarry::graph
