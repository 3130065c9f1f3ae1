// Steps: maps and dense updates of one array, one after the other, each of shifted views of what came before. A kernel
// may do several of them on a tile and the points around it; here is where its nodes lie.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/fusion/trace.h"

namespace tarry::graph {

/// The nodes of a group of steps, at coordinates of the last one (of its squeezed space).
class StencilPlaces {
 public:
  /// Rows or columns between a point and what it reads.
  static constexpr std::int64_t kFarthest = 3;

  /// `nodes`: ascending; the last one is the result, all others have their readers among them. `base`: the stored value
  /// that they begin with.
  StencilPlaces(const Graph& g, std::span<const NodeId> nodes, GraphEdge base);

  /// True if every node is a map or a dense update that lies along the space's axes, a small shift away, and what is
  /// read elsewhere is memory, a scalar or a coordinate.
  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] bool contains(NodeId id) const { return index_.contains(id); }
  [[nodiscard]] const IndexMap& place(NodeId id) const { return at_[index_.at(id)].place; }
  /// True if it is read at several places, or the result: computed once for all of them.
  [[nodiscard]] bool kept(NodeId id) const { return at_[index_.at(id)].kept; }
  /// The value that input i of a node reads, at coordinates of the space: a node of the group, or what is not.
  [[nodiscard]] Source read(NodeId id, int input) const;
  /// The values in memory that they read, each once; the base is the first.
  [[nodiscard]] const std::vector<GraphEdge>& operands() const { return operands_; }
  /// Where an operand is read, or near it: all reads of one are a small shift apart.
  [[nodiscard]] const IndexMap& operand_place(std::size_t operand) const { return operand_places_[operand]; }
  /// Rows and columns, along the last two axes, from a place to where a map reads: nothing where that is another walk
  /// or too far.
  [[nodiscard]] std::optional<std::array<std::int64_t, 2>> shift(const IndexMap& from, const IndexMap& to) const;
  /// For the last two axes: how far before and behind a point of the result the base is read.
  struct Reach {
    std::int64_t before = 0, behind = 0;
    [[nodiscard]] std::int64_t both() const { return before + behind; }
  };
  [[nodiscard]] const std::array<Reach, 2>& reach() const { return base_.window; }
  /// Values that a point holds at once, in 4-byte words: operands, and what is kept from step to step.
  [[nodiscard]] int words() const;

 private:
  struct At {
    IndexMap place;
    std::vector<IndexMap> wanted;
    std::array<Reach, 2> window{};  // around the place
    bool kept = false;
    std::size_t owner = ~std::size_t{0};  // position of the kept node that it is computed for
    std::size_t last = 0;                 // and of the last one that reads it
  };
  void find_updates();
  bool find_places();
  bool settle(At& at, const Dims& shape);
  bool want(NodeId reader, int input);
  [[nodiscard]] bool lies_along(const IndexMap& map, const Dims& shape) const;
  [[nodiscard]] std::int64_t start(const IndexMap& map, int from_last) const;

  const Graph& g_;
  const std::span<const NodeId> nodes_;
  const GraphEdge from_;
  int rank_ = 0;
  bool valid_ = false;
  std::unordered_map<NodeId, std::size_t> index_;
  std::unordered_map<NodeId, NodeId> updated_;  // the value of an update -> the update, which is read instead
  std::unordered_map<NodeId, NodeId> before_;   // an update -> one of the same box, which is its base instead
  std::vector<At> at_;                          // by position in nodes_
  At base_;
  std::vector<GraphEdge> operands_;
  std::vector<IndexMap> operand_places_;
};

/// The value of a dense update, where a map or an update computes it, or kNoId. An optimiser makes what follows read
/// the value where it can; a step reads the updated array instead, which is the same.
NodeId updated_value(const Graph& g, NodeId update);
/// True if two dense updates write the same box of the same array: then either may be the base of the other, which is
/// what an optimiser leaves out.
bool same_box(const Graph& g, NodeId update, NodeId other);

}  // namespace tarry::graph
