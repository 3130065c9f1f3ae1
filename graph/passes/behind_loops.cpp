// behind_loops(), behind_row_loops(): elementwise ops of what a loop stacks are computed in the loop, level by level.
//
// Proof: an element of the op is that of its operands at one level and lane; in the loop the same functions take the
// same elements, and what they give is stacked in its place. The loop reads nothing that is made of its own results.
// The stack that goes is not written and read again; none is added but results that are asked for.
#include <algorithm>
#include <map>
#include <utility>

#include "graph/loops.h"
#include "graph/passes/passes.h"

namespace tarry::graph {
namespace {

/// Fewer lanes than this have little to do at a time: what is dear is computed behind the loop, for all levels at once.
constexpr std::int64_t kManyLanes = 256;
constexpr int kMostCost = 8;
constexpr std::size_t kMostBeside = 8;  // arrays that a loop reads besides, for all ops together

/// Loops along any axis but the last, or along the last one: what these read and store is turned on its way, so that a
/// further array costs more than a kernel of its own.
enum class Along : std::uint8_t { Columns, Rows };

class BehindLoops {
 public:
  BehindLoops(const Graph& g, Along along)
      : g_(g),
        along_(along),
        level_(find_loop_levels(g)),
        readers_(g.nodes.size()),
        root_(g.nodes.size()),
        loop_(g.nodes.size(), kNoId) {
    for (NodeId id = 0; id < g.nodes.size(); ++id)
      for (int i = 0; i < g.nodes[id].n_inputs; ++i) readers_[g.nodes[id].inputs[i].node].push_back(id);
    for (const GraphEdge& r : g.roots) root_[r.node] = true;
  }

  [[nodiscard]] Graph run() {
    find();
    if (!any_) return g_;
    values_.resize(g_.nodes.size());
    NodeId id = 0;
    return Rewriter(g_).run([&](Rewriter& r, const GraphNode& n) { return rewritten(r, n, id++); });
  }

 private:
  [[nodiscard]] const GraphNode& node(NodeId id) const { return g_.nodes[id]; }
  [[nodiscard]] bool is_stack(NodeId id) const {
    return node(id).op == Op::LoopStack && (node(level_[id]).payload & kCombines) == 0;
  }
  [[nodiscard]] bool is_number(NodeId id) const { return node(id).op == Op::Scalar; }
  /// The loop that makes a stack, or in which an op is computed.
  [[nodiscard]] NodeId loop_of(NodeId id) const { return is_stack(id) ? level_[id] : loop_[id]; }
  [[nodiscard]] std::uint32_t axis_of(NodeId id) const { return is_stack(id) ? node(id).payload : axes_.at(id); }

  /// By node: made of results of the loop.
  const std::vector<bool>& made_of(NodeId level) {
    const auto [it, fresh] = made_of_.try_emplace(level);
    if (!fresh) return it->second;
    std::vector<bool>& made = it->second;
    made.resize(g_.nodes.size());
    for (NodeId id = level; id < g_.nodes.size(); ++id) {
      made[id] = level_[id] == level && is_loop_result(node(id).op);
      for (int i = 0; i < node(id).n_inputs; ++i)
        if (made[node(id).inputs[i].node]) made[id] = true;
    }
    return made;
  }

  /// The loop in which an op can be computed; kNoId for none.
  NodeId fitting(NodeId id) {
    const GraphNode& n = node(id);
    if (info(n.op).op_class != OpClass::Map || !is_pure(n.op) || level_[id] != kNoId) return kNoId;
    NodeId loop = kNoId;
    for (int i = 0; i < n.n_inputs; ++i)
      if (const NodeId of = loop_of(n.inputs[i].node); of != kNoId && (loop == kNoId || of > loop)) loop = of;
    if (loop == kNoId) return kNoId;
    std::uint32_t axis = kNoId;
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId from = n.inputs[i].node;
      if (loop_of(from) != loop) continue;
      if ((axis != kNoId && axis != axis_of(from)) || g_.shape(from) != g_.shape(id) || node(from).mode != n.mode)
        return kNoId;
      axis = axis_of(from);
    }
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId from = n.inputs[i].node;
      if (loop_of(from) == loop || is_number(from)) continue;
      if (made_of(loop)[from] || !(g_.shape(from) == g_.shape(id) || is_of_lanes(from, id, axis))) return kNoId;
    }
    const bool last = static_cast<int>(axis) + 1 == g_.shape(id).size();
    if (last != (along_ == Along::Rows)) return kNoId;
    axes_[id] = axis;
    return loop;
  }
  /// True for an array that has none but axes behind that of the levels: in the loop it broadcasts as it does here.
  [[nodiscard]] bool is_of_lanes(NodeId from, NodeId id, std::uint32_t axis) const {
    return static_cast<int>(axis) < g_.shape(id).size() - g_.shape(from).size();
  }

  /// Ops that end in results that are asked for, of loops that have time for them.
  void find() {
    for (NodeId id = 0; id < g_.nodes.size(); ++id) loop_[id] = fitting(id);
    keep_what_ends();
    leave_out_of_busy_loops();
    keep_what_ends();
    any_ = std::ranges::any_of(loop_, [](NodeId l) { return l != kNoId; });
  }

  /// Leaves out what does not end in results, from the last op on, and then what reads it, from the first one on.
  void keep_what_ends() {
    for (bool changed = true; changed;) {
      changed = false;
      const auto keep = [&](NodeId id, auto holds) {
        if (loop_[id] == kNoId || holds()) return;
        loop_[id] = kNoId;
        changed = true;
      };
      for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;)
        keep(id, [&] {
          return root_[id] || std::ranges::all_of(readers_[id], [&](NodeId r) { return loop_[r] == loop_[id]; });
        });
      for (NodeId id = 0; id < g_.nodes.size(); ++id) keep(id, [&] { return fitting(id) == loop_[id]; });
    }
  }

  /// True for a stack that is stored, whatever is computed in its loop.
  [[nodiscard]] bool is_stored(NodeId id) const {
    return root_[id] || std::ranges::any_of(readers_[id], [&](NodeId r) { return loop_[r] == kNoId; });
  }

  void leave_out_of_busy_loops() {
    struct Load {
      int cost = 0;
      std::vector<NodeId> operands;  // in rows also stacks that are stored besides
      std::int64_t lanes = 0;
    };
    std::map<NodeId, Load> loads;
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (loop_[id] == kNoId) continue;
      Load& load = loads[loop_[id]];
      load.cost += info(node(id).op).cost;
      load.lanes = g_.count(id) / std::max<std::int64_t>(1, g_.shape(loop_[id])[0]);
      for (int i = 0; i < node(id).n_inputs; ++i) {
        const NodeId from = node(id).inputs[i].node;
        const bool is_own = loop_of(from) == loop_[id] && !(along_ == Along::Rows && is_stack(from) && is_stored(from));
        if (!is_own && !is_number(from) && std::ranges::find(load.operands, from) == load.operands.end())
          load.operands.push_back(from);
      }
    }
    const std::size_t most = along_ == Along::Rows ? 0 : kMostBeside;
    for (NodeId& loop : loop_) {
      if (loop == kNoId) continue;
      const Load& load = loads[loop];
      if (load.operands.size() > most || (load.lanes < kManyLanes && load.cost > kMostCost)) loop = kNoId;
    }
  }

  /// `n`, its inputs those of the new graph, as a node there.
  GraphEdge rewritten(Rewriter& r, const GraphNode& n, NodeId id) {
    if (is_stack(id)) values_[id] = n.inputs[0];
    if (level_[id] != kNoId && node(id).op == Op::LoopLevel)
      values_[id] = {static_cast<NodeId>(r.graph().nodes.size()), 0};
    if (is_stack(id)) chains_[level_[id]] = n.inputs[1];
    const NodeId loop = loop_[id];
    if (loop == kNoId) return r.add(n);
    Dims lanes = g_.shape(id);
    lanes.erase(static_cast<int>(axes_.at(id)));
    GraphNode inside = n;
    inside.shape = r.graph().intern(lanes);
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId from = node(id).inputs[i].node;
      if (loop_of(from) == loop) inside.inputs[i] = values_[from];
      if (loop_of(from) == loop || is_number(from) || is_of_lanes(from, id, axes_.at(id))) continue;
      const auto [it, fresh] = elements_.try_emplace({loop, from});
      if (fresh) {
        GraphNode element = n;
        element.op = Op::LoopElement;
        element.dtype = node(from).dtype;
        element.shape = inside.shape;
        element.payload = axes_.at(id);
        element.n_inputs = 2;
        element.inputs[0] = n.inputs[i];
        element.inputs[1] = values_[loop];
        it->second = r.add(element);
      }
      inside.inputs[i] = it->second;
    }
    values_[id] = r.add(inside);
    GraphNode stack = n;
    stack.op = Op::LoopStack;
    stack.payload = axes_.at(id);
    stack.n_inputs = 2;
    stack.inputs[0] = values_[id];
    stack.inputs[1] = chains_.at(loop);
    return r.add(stack);
  }

  const Graph& g_;
  const Along along_;
  const std::vector<NodeId> level_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> root_;
  std::vector<NodeId> loop_;              // by op that is computed in a loop: its level
  std::map<NodeId, std::uint32_t> axes_;  // of those
  std::map<NodeId, std::vector<bool>> made_of_;
  bool any_ = false;
  // In the new graph: values at a level, of stacks and ops; levels; chains by level; elements by loop and array.
  std::vector<GraphEdge> values_;
  std::map<NodeId, GraphEdge> chains_;
  std::map<std::pair<NodeId, NodeId>, GraphEdge> elements_;
};

Graph rewritten(const Graph& g, Along along) {
  const bool some = std::ranges::any_of(g.nodes, [](const GraphNode& n) { return n.op == Op::LoopStack; });
  return some ? BehindLoops(g, along).run() : g;
}

}  // namespace

Graph behind_loops(const Graph& g) { return rewritten(g, Along::Columns); }
Graph behind_row_loops(const Graph& g) { return rewritten(g, Along::Rows); }

}  // namespace tarry::graph
