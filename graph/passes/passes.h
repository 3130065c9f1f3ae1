// Passes: what happens to a Graph between snapshot and schedule. Each is a pure function; run_passes() is the harness
// that times, prints, verifies and can switch optimisations off by name (TARRY_DISABLE=cse).
//
// Strict mode allows only rewrites that keep every bit (any NaN equals any NaN). The closed list, with the proofs,
// stands in simplify.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tarry::graph {

/// Arrays of no elements become views of a number: nothing that comes later reads or computes one.
Graph empty_arrays(const Graph& g);
/// Ops on scalars alone become scalar sources, computed once when the plan runs, by the same functions as the kernels.
/// Only exact ops (ulp 0), so that CPU and GPU agree.
Graph fold(const Graph& g);
/// Identities that hold for every bit pattern, composition of views, reductions over one element.
Graph simplify(const Graph& g);
/// Reductions that keep a short axis become one for each of its places, where much of what they reduce does not vary
/// along it. Fewer instructions, another launch: make_plan compares both.
Graph split(const Graph& g);
/// Sums, products, minima and maxima of a few elements become terms, left to right. For a CPU: a GPU's threads have
/// loops for these, as good ones.
Graph unroll(const Graph& g);
/// Those over a stack alone: a loop along it would ask at each point which part is there. For a GPU.
Graph unroll_stacks(const Graph& g);
/// Elementwise ops of what a loop stacks, that end in results, are computed in the loop: the stack between is gone. Of
/// loops along the last axis only where no array is added, and for a GPU.
Graph behind_loops(const Graph& g);
Graph behind_row_loops(const Graph& g);
/// Equal nodes (op, dtype, mode, shape, inputs, attributes) become one.
Graph cse(const Graph& g);
/// Every Reshape ends up on memory: a contiguous leaf, a computed value, or a view that is to be copied (reshape.cpp);
/// so does every Update that is not dense; so do the operands of a library. Nodes that are read under one other shape
/// only are computed under it. Roots are what they reshape: a root may have another shape than was recorded, with the
/// same row-major sequence of elements.
Graph canonical_reshapes(const Graph& g);
/// Views of a long chain of updates read the last state that holds what they read, which a recurrence by levels stores
/// once. After dce: a state that nothing needs is none.
Graph latest(const Graph& g);
/// Nodes that no root needs disappear.
Graph dce(const Graph& g);

/// The treatment of Library nodes before all other passes.
enum class LibraryUse : std::uint8_t {
  Call,    ///< they stay
  Wide,    ///< those of 16-bit floats compute in float32, others stay
  Expand,  ///< they become products and sums: there is no library
};
/// Matrices with an extent beyond int32, which is what libraries count in, are expanded in any case.
Graph prepare_library(const Graph& g, LibraryUse use);
/// Bools that others wrote (LeafLayout::any_byte) are read as bytes, and what is not 0 is true. Before all other passes
/// too.
Graph read_bools(Graph g);

struct Pass {
  const char* name;
  Graph (*run)(const Graph&);
  bool required = false;  ///< cannot be switched off: what follows relies on it
};
/// In running order: fold makes scalars that simplify knows, simplify makes equal nodes that cse joins, dce cleans up.
inline constexpr Pass kPasses[] = {{"empty", empty_arrays, true},
                                   {"fold", fold},
                                   {"simplify", simplify},
                                   {"split", split},
                                   {"unroll", unroll},
                                   {"unroll_stacks", unroll_stacks},
                                   {"behind_loops", behind_loops},
                                   {"behind_row_loops", behind_row_loops},
                                   {"cse", cse},
                                   {"reshape", canonical_reshapes, true},
                                   {"dce", dce},
                                   {"latest", latest}};

struct PassTrace {
  std::string name;
  double seconds = 0;
  std::size_t nodes_before = 0, nodes_after = 0;
};

/// Runs kPasses but those for which `disabled(name)`, unless required; `observe(name, graph)` sees every result.
Graph run_passes(Graph g, const std::function<bool(std::string_view)>& disabled,
                 std::vector<PassTrace>* trace = nullptr,
                 const std::function<void(std::string_view, const Graph&)>& observe = {});

/// Helper of passes: copies nodes in order, mapping edges to what the pass made of their producers.
class Rewriter {
 public:
  explicit Rewriter(const Graph& from) : from_(from), to_(from.like()), map_(from.nodes.size()) {}
  /// Calls `rule(id, node)` for every node, its inputs already mapped; the rule returns the edge that replaces output 0
  /// (outputs keep their index where the edge is a copy made by add()).
  template <class Rule>
  Graph run(Rule&& rule) {
    for (NodeId id = 0; id < from_.nodes.size(); ++id) {
      GraphNode n = from_.nodes[id];
      for (int i = 0; i < n.n_inputs; ++i) n.inputs[i] = mapped(n.inputs[i]);
      map_[id] = rule(*this, n);
    }
    for (const GraphEdge& r : from_.roots) to_.roots.push_back(mapped(r));
    return std::move(to_);
  }
  GraphEdge add(const GraphNode& n) {
    to_.nodes.push_back(n);
    return {static_cast<NodeId>(to_.nodes.size() - 1), 0};
  }
  Graph& graph() { return to_; }

 private:
  [[nodiscard]] GraphEdge mapped(GraphEdge e) const {
    const GraphEdge m = map_[e.node];
    return {m.node, m.output + e.output};
  }
  const Graph& from_;
  Graph to_;
  std::vector<GraphEdge> map_;
};

}  // namespace tarry::graph
