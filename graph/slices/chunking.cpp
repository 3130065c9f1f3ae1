// One walk from leaves to roots.
#include "graph/slices/chunking.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/slices/slices.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// Ends of sorted rows are few elements: so many times fewer than a row has.
constexpr std::int64_t kFew = 16;

/// Axis `number` of those with more than one element, or -1.
int long_axis(const Dims& shape, int number) {
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && number-- == 0) return d;
  return -1;
}

/// True if a view has all of an axis of its source, in order.
bool keeps_whole(const AxisMap& m, const Dims& shape, std::int64_t extent) {
  return m.axis >= 0 && m.start == 0 && m.step == 1 && shape[m.axis] == extent;
}

class ChunkFinder {
 public:
  ChunkFinder(const Graph& g, int number, LeafAccess access) : g_(g), number_(number), access_(access) {
    c_.axis.assign(g.nodes.size(), -1);
    c_.pass.assign(g.nodes.size(), 0);
    sorted_.assign(g.nodes.size(), false);
    carried_.assign(g.nodes.size(), false);
    constexpr std::int64_t kSmall = 16;  // times
    std::int64_t largest = 0;
    for (NodeId id = 0; id < g.nodes.size(); ++id)
      if (begins(id)) largest = std::max(largest, g.bytes(id));
    small_ = largest / kSmall;
  }

  Chunking run() {
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      for (int i = 0; i < n.n_inputs; ++i) c_.pass[id] = std::max(c_.pass[id], pass_of(n.inputs[i].node));
      c_.axis[id] = is_ready(id) ? axis_of(id) : -1;
    }
    for (const GraphEdge& r : g_.roots)
      if (sorted_[r.node]) needs_all(sort_below(r.node));
    return std::move(c_);
  }

 private:
  [[nodiscard]] bool begins(NodeId id) const { return g_.nodes[id].op == Op::Input || g_.nodes[id].op == Op::Iota; }
  /// The pass in which readers of a value can be computed.
  [[nodiscard]] std::uint32_t pass_of(NodeId id) const {
    const auto at = std::ranges::lower_bound(c_.cuts, id, {}, &Cut::node);
    return c_.pass[id] + (at != c_.cuts.end() && at->node == id ? 1U : 0U);
  }
  [[nodiscard]] int input_axis(const GraphNode& n, int i) const { return c_.axis[n.inputs[i].node]; }

  /// A leaf, perhaps under views: it is there as a whole while pieces of its readers are computed.
  [[nodiscard]] bool is_memory(NodeId id) const {
    while (g_.nodes[id].op == Op::View) id = g_.nodes[id].inputs[0].node;
    return g_.nodes[id].op == Op::Input;
  }
  [[nodiscard]] NodeId sort_below(NodeId id) const {
    while (!is_sort(g_.nodes[id].op)) id = g_.nodes[id].inputs[0].node;
    return id;
  }

  int needs_all(NodeId id) {
    if (c_.whole == kNoId) c_.whole = id;
    return -1;
  }

  int beside_leaf(NodeId id, int axis) {
    if (c_.beside == kNoId) c_.beside = id;
    return axis;
  }

  /// Adds a cut of a value whose operands have the axis where `axes` says.
  int cut(NodeId id, CutKind kind, std::int64_t n, std::vector<CutOperand> operands) {
    c_.cuts.push_back({id, kind, n, std::move(operands)});
    return -1;
  }
  /// The same along axes of a node's own inputs.
  int cut_inputs(NodeId id, CutKind kind, std::initializer_list<int> axes, int first = 0) {
    const GraphNode& n = g_.nodes[id];
    std::vector<CutOperand> operands;
    std::int64_t extent = 0;
    for (const int axis : axes) {
      const GraphEdge& e = n.inputs[first++];
      operands.push_back({e, axis});
      if (axis >= 0) extent = g_.shape(e.node)[axis];
    }
    return cut(id, kind, extent, std::move(operands));
  }

  /// False of readers of what pieces do not have: places in sorted rows, and running values at places of other pieces.
  bool is_ready(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId from = n.inputs[i].node;
      if (sorted_[from] && n.op != Op::View) {
        needs_all(sort_below(from));
        return false;
      }
      if (!carried_[from] || c_.axis[from] < 0) continue;
      if (!keeps_places(id, i)) {
        needs_all(carrier(from));
        return false;
      }
      carried_[id] = carried_[id] || !is_cut_along(id, i);
    }
    return true;
  }
  [[nodiscard]] bool is_cut_along(NodeId id, int input) const {
    const GraphNode& n = g_.nodes[id];
    return info(n.op).op_class == OpClass::Reduce && g_.reduces[n.payload].axis == input_axis(n, input);
  }
  /// True if element k of the axis depends on elements k of the input's axis alone, or pieces of it combine.
  [[nodiscard]] bool keeps_places(NodeId id, int input) const {
    const GraphNode& n = g_.nodes[id];
    const int axis = input_axis(n, input);
    const Dims& source = g_.shape(n.inputs[input].node);
    switch (info(n.op).op_class) {
      case OpClass::Map:
      case OpClass::Reduce:
      case OpClass::Scan: return true;
      case OpClass::View: return keeps_whole(g_.views[n.payload][axis], g_.shape(id), source[axis]);
      case OpClass::Reshape: {
        const int to = leading_axis(g_.shape(id));
        return axis == leading_axis(source) && !g_.shape(id).empty() && g_.shape(id)[to] == source[axis];
      }
      default: return false;
    }
  }
  /// The scan that a value goes back to.
  [[nodiscard]] NodeId carrier(NodeId id) const {
    for (;;) {
      const GraphNode& n = g_.nodes[id];
      if (std::ranges::binary_search(c_.carried, id)) return id;
      for (int i = 0; i < n.n_inputs; ++i)
        if (carried_[n.inputs[i].node]) {
          id = n.inputs[i].node;
          break;
        }
    }
  }

  int axis_of(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    const Dims& shape = g_.shape(id);
    switch (info(n.op).op_class) {
      case OpClass::Leaf:
      case OpClass::Iota: return g_.bytes(id) > small_ ? long_axis(shape, number_) : -1;
      case OpClass::Map: {
        int axis = -1;  // the outermost, where inputs differ
        for (int i = 0; i < n.n_inputs; ++i) {
          const int of_input = input_axis(n, i);
          const Dims& source = g_.shape(n.inputs[i].node);
          if (of_input < 0 || source[of_input] == 1) continue;
          const int here = of_input + shape.size() - source.size();
          if (axis < 0 || here < axis) axis = here;
        }
        for (int i = 0; i < n.n_inputs; ++i) {
          const NodeId from = n.inputs[i].node;
          if (carried_[from] && c_.axis[from] + shape.size() - g_.shape(from).size() != axis)
            return needs_all(carrier(from));
        }
        return axis;
      }
      case OpClass::View: return axis_of_view(id);
      case OpClass::Reshape: {
        const int of_input = input_axis(n, 0);
        if (of_input < 0) return -1;
        return of_input == leading_axis(g_.shape(n.inputs[0].node)) && !shape.empty() ? leading_axis(shape)
                                                                                      : needs_all(id);
      }
      case OpClass::Update: return input_axis(n, 0) >= 0 ? input_axis(n, 0) : input_axis(n, 1);
      case OpClass::Reduce: {
        const int of_input = input_axis(n, 0), axis = g_.reduces[n.payload].axis;
        if (of_input != axis) return of_input > axis ? of_input - 1 : of_input;
        if (g_.shape(n.inputs[0].node)[axis] <= kUncut) return needs_all(id);
        return n.n_inputs > 1 ? cut_inputs(id, CutKind::Tree, {axis, axis}) : cut_inputs(id, CutKind::Tree, {axis});
      }
      case OpClass::Scan: {
        const int of_input = input_axis(n, 0);
        if (of_input < 0 || of_input != g_.reduces[n.payload].axis) return of_input;
        c_.carried.push_back(id);
        carried_[id] = true;
        return of_input;
      }
      case OpClass::Gather: return axis_of_gather(id);
      case OpClass::Routine: return axis_of_routine(id);
      case OpClass::Loop:
        for (int i = 0; i < n.n_inputs; ++i)
          if (input_axis(n, i) >= 0) return needs_all(id);
        return -1;
      case OpClass::Library: return input_axis(n, 0) >= 0 || input_axis(n, 1) >= 0 ? needs_all(id) : -1;
      default: return -1;
    }
  }

  int axis_of_view(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    const NodeId from = n.inputs[0].node;
    const int of_input = c_.axis[from];
    if (of_input < 0) return -1;
    const AxisMap& m = g_.views[n.payload][of_input];
    if (!sorted_[from]) return m.step == 0 ? -1 : m.axis;
    if (keeps_whole(m, g_.shape(id), g_.shape(from)[of_input])) {
      sorted_[id] = true;
      return m.axis;
    }
    const RowEnds ends = row_ends(g_, id);
    const GraphEdge& rows = g_.nodes[sort_below(from)].inputs[0];
    const int last = g_.shape(rows.node).size() - 1;
    if (ends.sort == kNoId || ends.count > g_.shape(rows.node)[last] / kFew) return needs_all(sort_below(from));
    return cut(id, CutKind::Ends, g_.shape(rows.node)[last], {{rows, last}});
  }

  int axis_of_gather(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    const int of_input = input_axis(n, 0), of_index = input_axis(n, 1), along = static_cast<int>(n.payload);
    if (of_input != along)
      return of_input < 0 || of_index < 0 ? std::max(of_input, of_index) : std::min(of_input, of_index);
    const bool there = is_memory(n.inputs[0].node);
    if (of_index >= 0) return there ? beside_leaf(id, of_index) : needs_all(id);
    return there && access_ == LeafAccess::Direct ? -1 : cut_inputs(id, CutKind::Taken, {along, -1});
  }

  int axis_of_routine(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    const int first = input_axis(n, 0), second = n.n_inputs > 1 ? input_axis(n, 1) : -1;
    const int third = n.n_inputs > 2 ? input_axis(n, 2) : -1;
    const Dims& shape = g_.shape(id);
    if (std::max({first, second, third}) < 0) return -1;
    if (is_sort(n.op)) {
      sorted_[id] = first == shape.size() - 1;
      return first;
    }
    if (is_matrices(n.op)) return first <= 0 && (n.n_inputs < 2 || second == first) ? first : needs_all(id);
    if (n.op == Op::Searchsorted) {
      if (first < 0) return second;
      if (second >= 0 && is_memory(n.inputs[0].node)) return beside_leaf(id, second);
      return second >= 0 ? needs_all(id) : cut_inputs(id, CutKind::Joined, {0, -1});
    }
    if (n.op == Op::Bincount) return cut_inputs(id, CutKind::Joined, {0});
    if (is_segments(n.op)) return axis_of_segments(id, first, second);
    if (is_scatter(n.op)) {
      if (first < 0 && second <= 0 && third <= 0) return cut_inputs(id, CutKind::Written, {0, 0}, 1);
      return second < 0 && first != 0 && third != 0 ? 1 : needs_all(id);
    }
    return needs_all(id);
  }

  /// Folds of rows are apart from each other.
  int axis_of_segments(NodeId id, int of_values, int of_runs) {
    const GraphNode& n = g_.nodes[id];
    if (of_runs < 0 && of_values == 0) return 0;
    const bool by_number = RoutineAttributes::Way(n.payload) == RoutineAttributes::Way::Reversed;
    const bool exact =
        n.op == Op::SegmentMin || n.op == Op::SegmentMax || (n.op != Op::SegmentM2 && !is_floating(n.dtype));
    return by_number && exact && of_values != 0 ? cut_inputs(id, CutKind::Joined, {1, 0}) : needs_all(id);
  }

  const Graph& g_;
  const int number_;
  const LeafAccess access_;
  std::int64_t small_ = 0;
  std::vector<bool> sorted_;   ///< by node: rows of a sort along the axis, which pieces do not have
  std::vector<bool> carried_;  ///< by node: element k of the axis depends on elements before it
  Chunking c_;
};

}  // namespace

Op join_of_pieces(const GraphNode& n) {
  switch (n.op) {
    case Op::Searchsorted:
    case Op::Bincount:
    case Op::SegmentSum: return Op::Add;
    case Op::SegmentProd: return Op::Multiply;
    case Op::SegmentMin: return Op::Minimum;
    default: TARRY_ASSERT(n.op == Op::SegmentMax); return Op::Maximum;
  }
}

Op join_of_scan(Op scan) {
  switch (scan) {
    case Op::CumulativeSum: return Op::Add;
    case Op::CumulativeProd: return Op::Multiply;
    case Op::CumulativeMin: return Op::Minimum;
    default: TARRY_ASSERT(scan == Op::CumulativeMax); return Op::Maximum;
  }
}

Op total_of_scan(Op scan) {
  switch (scan) {
    case Op::CumulativeSum: return Op::Sum;
    case Op::CumulativeProd: return Op::Prod;
    case Op::CumulativeMin: return Op::Min;
    default: TARRY_ASSERT(scan == Op::CumulativeMax); return Op::Max;
  }
}

RowEnds row_ends(const Graph& g, NodeId view) {
  std::vector<NodeId> views{view};
  NodeId below = g.nodes[view].inputs[0].node;
  for (; g.nodes[below].op == Op::View; below = g.nodes[below].inputs[0].node) views.push_back(below);
  if (!is_sort(g.nodes[below].op)) return {};
  int axis = g.shape(below).size() - 1;
  const std::int64_t n = g.shape(below)[axis];
  for (std::size_t v = views.size(); v-- > 1;) {
    const AxisMap& m = g.views[g.nodes[views[v]].payload][axis];
    if (!keeps_whole(m, g.shape(views[v]), n)) return {};
    axis = m.axis;
  }
  const AxisMap& m = g.views[g.nodes[view].payload][axis];
  const std::int64_t reach = m.axis < 0 ? 0 : m.step * (g.shape(view)[m.axis] - 1);
  const std::int64_t low = m.start + std::min<std::int64_t>(reach, 0),
                     high = m.start + std::max<std::int64_t>(reach, 0);
  const bool last = n - low < high + 1;
  return {below, last ? n - low : high + 1, last};
}

Chunking find_chunking(const Graph& g, int number, LeafAccess access) { return ChunkFinder(g, number, access).run(); }

}  // namespace tarry::graph
