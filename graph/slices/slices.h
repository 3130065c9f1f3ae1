// Slices: a part of some values of a graph, recorded anew over the parts of the leaves that it needs. What is computed
// is the same, element by element, so the bits are too.
//
// A box of a value is traced to boxes of what it is computed from, readers before producers. Boxes of one value that
// overlap become one, so that shifted views of an array share it, with the rows around as a halo; boxes that lie apart
// stay apart. Extents are those of boxes and starts are relative to them: slices of equal extents are graphs with equal
// plans.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/node.h"

namespace tarry::graph {

/// Elements lo <= index < lo + extent of a value.
struct Box {
  Dims lo, extent;
  static Box whole(const Dims& shape) { return {Dims::filled(shape.size(), 0), shape}; }
  [[nodiscard]] Box along(int axis, std::int64_t from, std::int64_t to) const;
  [[nodiscard]] bool contains(const Box& other) const;
  friend bool operator==(const Box&, const Box&) = default;
};

/// Bytes `from` <= at < `to` of a leaf's buffer that a slice reads.
struct LeafPart {
  std::shared_ptr<Buffer> buffer;
  std::size_t from = 0, to = 0;
  std::size_t touched = 0;  ///< on pages where something is read
};

struct SliceRequest {
  GraphEdge edge;
  Box box;
};

class Slicer {
 public:
  /// A recorded graph (no pass has seen it) with its leaves and scalars, for slices that run on `device`.
  Slicer(const Graph& g, std::vector<std::shared_ptr<Storage>> leaves, std::vector<ScalarCell> cells, Device device);

  /// From now on the evaluated `value` stands for the edge: what it was computed from is not asked for any more.
  void know(GraphEdge edge, Edge value);
  /// From now on boxes of a scan begin at element `from` of its axis, a multiple of the boxes' largest extent, a power
  /// of two of tree blocks: `before` is what the elements before it combine to, or undefined where there are none.
  void carry(NodeId scan, std::int64_t from, Edge before) { carried_[scan] = {from, std::move(before)}; }
  [[nodiscard]] bool knows(GraphEdge edge) const { return known_.contains({edge.node, edge.output}); }

  /// The boxes that were asked for, lazy, and the boxes of leaves that they read.
  struct Slices {
    std::vector<Edge> values;
    std::vector<LeafPart> parts;
    std::vector<Edge> inputs;  ///< nodes of those parts
  };
  [[nodiscard]] Slices slice(std::span<const SliceRequest> requests);
  /// The same, but only leaves of these nodes are read in part, and these remember the parts (Storage::parts): what was
  /// copied of them is found again.
  [[nodiscard]] Slices slice_leaves(std::span<const SliceRequest> requests, std::vector<NodeId> leaves);

  /// The boxes of leaves that would be read, without recording anything.
  [[nodiscard]] std::vector<SliceRequest> boxes_read_by(std::span<const SliceRequest> requests) const;
  /// The bytes of those.
  [[nodiscard]] std::vector<LeafPart> read_by(std::span<const SliceRequest> requests) const;

  /// A new node like `like`, a node of the graph, but of this op, shape and inputs.
  [[nodiscard]] Edge node(const GraphNode& like, Op op, Dtype dtype, const Dims& shape, std::span<const Edge> inputs,
                          const AttributeBytes& attributes = {}) const;
  /// A number that no rewrite looks at: all values of it have one kernel.
  [[nodiscard]] Edge number(const GraphNode& like, Dtype dtype, const ScalarCell& cell) const;
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] const Graph& graph() const { return g_; }

 private:
  using Made = std::pair<Box, Edge>;  ///< a box of a node and the edge of its output 0
  struct Carried {
    std::int64_t from = 0;
    Edge before;
  };
  struct Pass;

  [[nodiscard]] bool is_source(NodeId id) const;
  [[nodiscard]] Box normalised(NodeId id, Box box) const;
  [[nodiscard]] bool needs(NodeId id, const Box& box, int input, Box& needed) const;
  [[nodiscard]] Pass trace(std::span<const SliceRequest> requests) const;
  [[nodiscard]] Slices record(std::span<const SliceRequest> requests, Pass pass);
  [[nodiscard]] static LeafPart bytes_of(const GraphNode& n, const Storage& storage, const Box& box);
  [[nodiscard]] Edge make(NodeId id, const Box& box, Pass& pass);
  [[nodiscard]] Edge make_source(NodeId id, const Box& box, Pass& pass);
  [[nodiscard]] Edge part(const GraphNode& n, const Dims& shape, const std::shared_ptr<Storage>& storage,
                          const Box& box, Pass& pass) const;
  [[nodiscard]] Edge find(GraphEdge edge, const Box& box, Pass& pass) const;
  [[nodiscard]] Edge scan(NodeId id, const Box& box, const Edge& x) const;
  [[nodiscard]] Edge view(const GraphNode& like, const Edge& x, const IndexMap& map, const Dims& shape) const;
  [[nodiscard]] Edge reshaped(const GraphNode& like, const Edge& x, const Dims& shape) const;

  const Graph& g_;
  const std::vector<std::shared_ptr<Storage>> leaves_;
  const std::vector<ScalarCell> cells_;
  const Device device_;
  std::map<std::pair<NodeId, std::uint32_t>, Edge> known_;
  std::map<NodeId, Carried> carried_;
  std::vector<Edge> whole_;   ///< by node: leaves, scalars and iotas, made once
  std::vector<NodeId> kept_;  ///< leaves that remember their parts; empty: all are read in part, and none does
};

/// All of each root.
std::vector<SliceRequest> whole_roots(const Graph& g);

/// The leading dimension of a shape that has more than one element, or 0.
int leading_axis(const Dims& shape);

}  // namespace tarry::graph
