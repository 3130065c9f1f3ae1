// Iterated stencils, chains of steps, are found before the search for kernels, which sees each of their kernels as one
// node: like a call of a library, between memory and memory.
#pragma once

#include <vector>

#include "graph/fusion/graph.h"
#include "graph/fusion/stencil_places.h"
#include "graph/target.h"

namespace tarry::graph {

/// A kernel of several steps: its nodes, ascending, and the stored value that they begin with.
struct IteratedStencil {
  std::vector<NodeId> nodes;
  GraphEdge base;
};

/// Kernels for the chains of `f`, where they take less time than kernels of a step or two. Work is linear in the graph.
std::vector<IteratedStencil> find_iterated_stencils(const FusionGraph& f, const Target& target, const CostModel& cost,
                                                    const Limits& limits);

/// A graph in which each iterated stencil is one node.
class CollapsedStencils {
 public:
  CollapsedStencils(const Graph& g, std::vector<IteratedStencil> kernels);
  [[nodiscard]] const Graph& graph() const { return small_; }
  /// The result for graph(), as groups of the whole graph.
  [[nodiscard]] Fusion expand(Fusion found) const;

 private:
  const Graph& g_;
  std::vector<IteratedStencil> kernels_;
  Graph small_;
  std::vector<NodeId> original_;          // by node of small_
  std::vector<std::uint32_t> kernel_of_;  // by node of small_: the kernel that it stands for, or kNoId
};

}  // namespace tarry::graph
