// One walk from leaves to roots.
#include "graph/slices/chunking.h"

#include <algorithm>

#include "graph/slices/slices.h"

namespace tarry::graph {
namespace {

/// Axis `number` of those with more than one element, or -1.
int long_axis(const Dims& shape, int number) {
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && number-- == 0) return d;
  return -1;
}

class ChunkFinder {
 public:
  ChunkFinder(const Graph& g, int number) : g_(g), number_(number) {
    c_.axis.assign(g.nodes.size(), -1);
    c_.pass.assign(g.nodes.size(), 0);
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
      c_.axis[id] = axis_of(id);
    }
    return std::move(c_);
  }

 private:
  [[nodiscard]] bool begins(NodeId id) const { return g_.nodes[id].op == Op::Input || g_.nodes[id].op == Op::Iota; }
  /// The pass in which readers of a value can be computed.
  [[nodiscard]] std::uint32_t pass_of(NodeId id) const {
    return c_.pass[id] + (!c_.cuts.empty() && std::binary_search(c_.cuts.begin(), c_.cuts.end(), id) ? 1U : 0U);
  }
  [[nodiscard]] int input_axis(const GraphNode& n, int i) const { return c_.axis[n.inputs[i].node]; }

  /// A leaf, perhaps under views: it is there as a whole while pieces of its readers are computed.
  [[nodiscard]] bool is_memory(NodeId id) const {
    while (g_.nodes[id].op == Op::View) id = g_.nodes[id].inputs[0].node;
    return g_.nodes[id].op == Op::Input;
  }

  int needs_all(NodeId id) {
    if (c_.whole == kNoId) c_.whole = id;
    return -1;
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
        return axis;
      }
      case OpClass::View: {
        const int of_input = input_axis(n, 0);
        if (of_input < 0) return -1;
        const AxisMap& m = g_.views[n.payload][of_input];
        return m.step == 0 ? -1 : m.axis;
      }
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
        c_.cuts.push_back(id);
        return -1;
      }
      case OpClass::Scan: {
        const int of_input = input_axis(n, 0);
        return of_input >= 0 && of_input == g_.reduces[n.payload].axis ? needs_all(id) : of_input;
      }
      case OpClass::Gather: {
        const int of_input = input_axis(n, 0), of_index = input_axis(n, 1);
        if (of_input == static_cast<int>(n.payload)) return is_memory(n.inputs[0].node) ? of_index : needs_all(id);
        return of_input < 0 || of_index < 0 ? std::max(of_input, of_index) : std::min(of_input, of_index);
      }
      case OpClass::Routine: {
        const int of_input = input_axis(n, 0);
        if (is_sort(n.op) && of_input < shape.size() - 1) return of_input;
        if (is_matrices(n.op) && of_input <= 0 && (n.n_inputs < 2 || input_axis(n, 1) == of_input)) return of_input;
        return of_input >= 0 || (n.n_inputs > 1 && input_axis(n, 1) >= 0) ? needs_all(id) : -1;
      }
      case OpClass::Loop:
        for (int i = 0; i < n.n_inputs; ++i)
          if (input_axis(n, i) >= 0) return needs_all(id);
        return -1;
      case OpClass::Library: return input_axis(n, 0) >= 0 || input_axis(n, 1) >= 0 ? needs_all(id) : -1;
      default: return -1;
    }
  }

  const Graph& g_;
  const int number_;
  std::int64_t small_ = 0;
  Chunking c_;
};

}  // namespace

Chunking find_chunking(const Graph& g, int number) { return ChunkFinder(g, number).run(); }

}  // namespace tarry::graph
