// prepare_library: what a library does not do for this device is recorded operations again.
#include <algorithm>
#include <limits>

#include "graph/passes/passes.h"

namespace tarry::graph {
namespace {

class Preparer {
 public:
  Preparer(Rewriter& r, const GraphNode& product) : r_(r), product_(product) {}

  GraphEdge run(bool wide, bool expand) {
    const GraphEdge a = wide ? cast(product_.inputs[0], Dtype::Float32) : product_.inputs[0];
    const GraphEdge b = wide ? cast(product_.inputs[1], Dtype::Float32) : product_.inputs[1];
    GraphEdge result;
    if (expand) {
      result = sum_of_products(a, b);
    } else {
      result = add(Op::Matmul, wide ? Dtype::Float32 : product_.dtype, product_.shape, {a, b});
    }
    return wide ? cast(result, product_.dtype) : result;
  }

 private:
  /// (p, m, k, 1) * (q, 1, k, n), summed over k: neighbours in a row of the result read neighbours of b.
  GraphEdge sum_of_products(GraphEdge a, GraphEdge b) {
    const Dims left = r_.graph().shape(a.node), right = r_.graph().shape(b.node);
    const ShapeId all = intern({std::max(left[0], right[0]), left[1], left[2], right[2]});
    const GraphEdge products = add(Op::Multiply, dtype_of(a), all, {inserted(a, 3), inserted(b, 1)});
    ReduceAttributes along;
    along.axis = 2;
    r_.graph().reduces.push_back(along);
    const auto payload = static_cast<std::uint32_t>(r_.graph().reduces.size() - 1);
    return add(Op::Sum, dtype_of(a), product_.shape, {products}, payload);
  }

  /// With a new axis of extent 1.
  GraphEdge inserted(GraphEdge edge, int axis) {
    Dims shape = r_.graph().shape(edge.node);
    IndexMap map;
    for (int d = 0; d < shape.size(); ++d) map.push_back({d < axis ? d : d + 1, 0, 1});
    shape.insert(axis, 1);
    r_.graph().views.push_back(map);
    const auto payload = static_cast<std::uint32_t>(r_.graph().views.size() - 1);
    return add(Op::View, dtype_of(edge), intern(shape), {edge}, payload);
  }

  GraphEdge cast(GraphEdge edge, Dtype dtype) {
    return add(Op::Cast, dtype, r_.graph().nodes[edge.node].shape, {edge});
  }

  GraphEdge add(Op op, Dtype dtype, ShapeId shape, std::initializer_list<GraphEdge> inputs,
                std::uint32_t payload = kNoId) {
    GraphNode n = product_;  // stands for it in messages
    n.op = op;
    n.dtype = dtype;
    n.shape = shape;
    n.payload = payload;
    n.n_inputs = static_cast<std::uint8_t>(inputs.size());
    std::copy(inputs.begin(), inputs.end(), n.inputs);
    return r_.add(n);
  }

  [[nodiscard]] Dtype dtype_of(GraphEdge e) const { return r_.graph().nodes[e.node].dtype; }
  ShapeId intern(const Dims& shape) { return r_.graph().intern(shape); }

  Rewriter& r_;
  const GraphNode product_;
};

}  // namespace

Graph prepare_library(const Graph& g, LibraryUse use) {
  return Rewriter(g).run([use](Rewriter& r, const GraphNode& n) {
    if (n.op != Op::Matmul) return r.add(n);
    const auto countable = [&](GraphEdge e) {
      const Dims& shape = r.graph().shape(e.node);
      return std::all_of(shape.begin(), shape.end(),
                         [](auto extent) { return extent <= std::numeric_limits<std::int32_t>::max(); });
    };
    const bool expand = use == LibraryUse::Expand || !countable(n.inputs[0]) || !countable(n.inputs[1]);
    const bool wide = itemsize(n.dtype) == 2 && (expand || use == LibraryUse::Wide);
    return expand || wide ? Preparer(r, n).run(wide, expand) : r.add(n);
  });
}

}  // namespace tarry::graph
