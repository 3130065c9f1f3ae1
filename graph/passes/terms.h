// Terms: a formula written again at given places of its axes, so that no view stands between its parts, and short
// reductions as what such places combine to. Shared by passes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"

namespace tarry::graph {

constexpr std::int64_t kMostTerms = 8;        ///< of a short reduction
constexpr std::int64_t kMostStatements = 96;  ///< of all terms

/// A formula at places of its own coordinates. Elements of a stack are what was stacked.
class PlacedFormula {
 public:
  /// `kept`: by node, true where places are read of the node as it is. `like` has the values' shape and stands for them
  /// in messages.
  PlacedFormula(Rewriter& r, const std::vector<bool>& kept, const GraphNode& like) : r_(r), kept_(kept), like_(like) {}

  /// `edge` read through `map`, of the given shape. Views end on what is computed or stored. As deep as a formula of
  /// kMostStatements.
  GraphEdge at(GraphEdge edge, IndexMap map);
  /// A node that stands for `like` in messages.
  GraphEdge add(Op op, Dtype dtype, std::initializer_list<GraphEdge> inputs, std::uint32_t payload = kNoId);
  GraphEdge view(GraphEdge edge, const IndexMap& map);

 private:
  void pass_updates(GraphEdge& edge, IndexMap& map) const;

  Rewriter& r_;
  const std::vector<bool>& kept_;
  const GraphNode like_;
  std::map<std::pair<std::uint64_t, std::string>, GraphEdge> known_;  // by node and output, and map
};

/// The map that reads a source of `rank` dimensions at number `place` of one axis, over the others.
IndexMap place_map(int rank, int axis, std::int64_t place);

/// A sum, product, minimum or maximum of one block of tree R as its terms.
GraphEdge as_terms(Rewriter& r, const std::vector<bool>& kept, const GraphNode& reduction);

/// True if a reduction may be terms, whatever their number: it combines two elements by an operation.
bool combines(const GraphNode& n);

}  // namespace tarry::graph
