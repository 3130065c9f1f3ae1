// find_loop_levels(), find_broken_loop(): loops node by node, inputs before their readers.
#include "graph/loops.h"

#include <algorithm>

namespace tarry::graph {
namespace {

using Broken = const char*;

bool broadcasts_to(const Dims& shape, const Dims& lanes) {
  const int lead = lanes.size() - shape.size();
  if (lead < 0) return false;
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && shape[d] != lanes[lead + d]) return false;
  return true;
}

class LoopJudge {
 public:
  explicit LoopJudge(const Graph& g) : g_(g), level_(find_loop_levels(g)), next_(g.nodes.size(), kNoId) {}

  Broken run() {
    for (id_ = 0; id_ < g_.nodes.size(); ++id_) {
      if (Broken broken = check(g_.nodes[id_])) return broken;
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (Broken broken = check_whole(id)) return broken;
    const bool inside = std::ranges::any_of(g_.roots, [&](const GraphEdge& r) { return is_inside(r.node); });
    return inside ? "a value of a level is no result" : nullptr;
  }

 private:
  [[nodiscard]] const GraphNode& input(int i) const { return g_.nodes[g_.nodes[id_].inputs[i].node]; }
  [[nodiscard]] const Dims& shape_of(int i) const { return g_.shapes[input(i).shape]; }
  [[nodiscard]] bool is_inside(NodeId id) const { return level_[id] != kNoId && !is_loop_result(g_.nodes[id].op); }
  [[nodiscard]] bool is_inside(const GraphNode& n, int i) const { return is_inside(n.inputs[i].node); }
  [[nodiscard]] bool is_token(int i) const {
    const Op op = input(i).op;
    return op == Op::LoopNext || op == Op::LoopWhile || op == Op::LoopLevel;
  }
  [[nodiscard]] std::int64_t levels() const { return g_.shape(level_[id_])[0]; }

  Broken check(const GraphNode& n) {
    if (n.op == Op::LoopLevel) {
      const bool combines = (n.payload & kCombines) != 0;
      const bool fits = g_.shape(id_).size() == 1 && g_.count(id_) > (combines ? 1 : 0) &&
                        n.payload <= (kFromLast | kCombines) && n.dtype == int64;
      return fits ? nullptr : "a loop without levels";
    }
    bool inside = false;
    for (int i = 0; i < n.n_inputs; ++i) {
      if (!is_inside(n, i)) continue;
      inside = true;
      if (level_[n.inputs[i].node] != level_[id_]) return "values of several loops";
      const bool value = i == (n.op == Op::LoopNext ? 1 : 0);
      if (is_token(i) && (!is_loop(n.op) || value)) return "a token of a loop is no value";
    }
    if (inside && combines() && !is_combined(n)) return "a loop that combines what is no state";
    if (is_loop(n.op)) return check_loop(n);
    if (!inside || (info(n.op).op_class == OpClass::Map && is_pure(n.op))) return nullptr;
    const bool view = n.op == Op::View && is_broadcast(g_.views[n.payload], shape_of(0), g_.shape(id_));
    return view ? nullptr : "an op of a level that is not elementwise";
  }

  [[nodiscard]] bool combines() const { return (g_.nodes[level_[id_]].payload & kCombines) != 0; }
  [[nodiscard]] bool is_number(GraphEdge e) const { return g_.nodes[without_views(e).node].op == Op::Scalar; }

  /// True for a node of a loop that combines, as far as its inputs say so.
  [[nodiscard]] bool is_combined(const GraphNode& n) const {
    switch (n.op) {
      case Op::LoopElement: return true;
      case Op::LoopCarry: return input(0).op == Op::LoopElement;
      case Op::LoopLater:
      case Op::LoopStack: return input(0).op == Op::LoopCarry;
      case Op::LoopWhile:
      case Op::LoopLast: return false;
      default: break;
    }
    const int first = n.op == Op::LoopNext ? 1 : 0, end = n.op == Op::LoopNext ? 2 : n.n_inputs;
    for (int i = first; i < end; ++i)
      if (input(i).op == Op::LoopElement || (!is_inside(n, i) && !is_number(n.inputs[i]))) return false;
    return true;
  }

  Broken check_loop(const GraphNode& n) {
    constexpr Broken kShapes = "shapes that a loop does not take", kInputs = "inputs that a loop does not take";
    const Dims& shape = g_.shape(id_);
    const int value = n.op == Op::LoopNext ? 1 : 0, token = n.n_inputs - 1;
    if (n.op == Op::LoopWhile)
      return input(1).op == Op::LoopLevel && n.dtype == bool_ && input(0).dtype == bool_ && shape.empty() ? nullptr
                                                                                                          : kInputs;
    if (n.op != Op::LoopNext && input(value).dtype != n.dtype) return "another dtype than the value has";
    if (n.op == Op::LoopLater) return is_inside(n, 0) && combines() && shape == shape_of(0) ? nullptr : kInputs;
    if (n.op == Op::LoopCarry || n.op == Op::LoopElement) {
      const bool from_outside = !is_inside(n, 0) || (n.op == Op::LoopCarry && combines());
      if (!from_outside || input(1).op != Op::LoopLevel) return kInputs;
    } else if (!is_token(token)) {
      return kInputs;
    }
    if (n.op == Op::LoopNext) {
      const NodeId carry = n.inputs[0].node;
      if (input(0).op != Op::LoopCarry || next_[carry] != kNoId) return kInputs;
      next_[carry] = id_;
      const bool fits = input(0).dtype == input(1).dtype && shape_of(0) == shape_of(1) && shape.empty();
      return fits && n.dtype == bool_ ? nullptr : kShapes;
    }
    if (!has_axis(n.op)) return shape == shape_of(0) ? nullptr : kShapes;
    Dims longer = n.op == Op::LoopElement ? shape_of(0) : shape;
    const Dims& lanes = n.op == Op::LoopElement ? shape : shape_of(0);
    const auto axis = static_cast<int>(n.payload);
    if (n.payload >= static_cast<std::uint32_t>(longer.size()) || longer[axis] != levels()) return kShapes;
    longer.erase(axis);
    return longer == lanes ? nullptr : kShapes;
  }

  [[nodiscard]] GraphEdge without_views(GraphEdge e) const {
    while (g_.nodes[e.node].op == Op::View) e = g_.nodes[e.node].inputs[0];
    return e;
  }

  /// Only carries differ from level to level, and only they lead out.
  [[nodiscard]] bool ends_well(NodeId level) const {
    std::vector<GraphEdge> nexts;
    for (NodeId id = level; id < g_.nodes.size(); ++id)
      if (level_[id] == level && g_.nodes[id].op == Op::LoopNext)
        nexts.push_back(without_views(g_.nodes[id].inputs[1]));
    for (NodeId id = level; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      if (level_[id] != level) continue;
      if (n.op == Op::LoopElement || n.op == Op::LoopStack) return false;
      if (n.op == Op::LoopLast && std::ranges::find(nexts, without_views(n.inputs[0])) == nexts.end()) return false;
    }
    return true;
  }

  /// The rules of a loop as a whole, at its level.
  Broken check_whole(NodeId level) {
    if (g_.nodes[level].op != Op::LoopLevel) return nullptr;
    const Dims* lanes = nullptr;
    GraphEdge chain;
    std::size_t carries = 0, bytes = 0;
    for (NodeId id = level; id < g_.nodes.size(); ++id) {
      if (level_[id] != level) continue;
      const GraphNode& n = g_.nodes[id];
      if (n.op == Op::LoopCarry && next_[id] == kNoId) return "a carry without a next value";
      carries += n.op == Op::LoopCarry ? 1 : 0;
      bytes += n.op == Op::LoopCarry ? bytes_of_state(n.dtype) : 0;
      if (!is_loop_result(n.op)) continue;
      const Dims& shape = g_.shape(n.inputs[0].node);
      if (lanes != nullptr && (*lanes != shape || n.inputs[1] != chain))
        return "results of different extents or chains";
      lanes = &shape;
      chain = n.inputs[1];
    }
    if (lanes == nullptr) return nullptr;  // nothing is left of it
    if ((g_.nodes[level].payload & kCombines) != 0 && bytes > kMostStateBytes) return "states too large to combine";
    NodeId foot = chain.node;
    for (; g_.nodes[foot].op == Op::LoopNext; foot = g_.nodes[foot].inputs[2].node) --carries;
    if (carries != 0) return "a carry that the results do not know";
    if (g_.nodes[foot].op == Op::LoopWhile && !ends_well(level)) return "a loop that ends, with values of its levels";
    std::vector<bool> behind(g_.nodes.size());  // made from results of the loop
    for (NodeId id = level + 1; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      behind[id] = level_[id] == level && is_loop_result(n.op);
      for (int i = 0; i < n.n_inputs; ++i)
        if (behind[n.inputs[i].node]) behind[id] = true;
      if (level_[id] == level && is_inside(id) && behind[id]) return "a loop that reads its own results";
      if (level_[id] == level && is_inside(id) && !broadcasts_to(g_.shape(id), *lanes))
        return "values beyond the results";
    }
    return element_count(lanes->span()) > 0 ? nullptr : "a loop over nothing";
  }

  const Graph& g_;
  const std::vector<NodeId> level_;
  std::vector<NodeId> next_;  // by LoopCarry
  NodeId id_ = 0;
};

}  // namespace

bool is_broadcast(const IndexMap& map, const Dims& source, const Dims& shape) {
  const int lead = shape.size() - source.size();
  for (int d = 0; d < source.size(); ++d) {
    if (source[d] == 1 && map[d].start == 0) continue;
    if (lead + d < 0 || shape[lead + d] != source[d]) return false;
    if (map[d].axis != lead + d || map[d].start != 0 || map[d].step != 1) return false;
  }
  return true;
}

std::vector<NodeId> find_loop_levels(const Graph& g) {
  std::vector<NodeId> level(g.nodes.size(), kNoId);
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    if (n.op == Op::LoopLevel) level[id] = id;
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId from = n.inputs[i].node;
      if (level[from] != kNoId && !is_loop_result(g.nodes[from].op)) level[id] = level[from];
    }
  }
  return level;
}

const char* find_broken_loop(const Graph& g) {
  const bool some = std::ranges::any_of(g.nodes, [](const GraphNode& n) { return n.op == Op::LoopLevel; });
  return some ? LoopJudge(g).run() : nullptr;
}

}  // namespace tarry::graph
