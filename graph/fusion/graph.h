// FusionGraph: a graph as the scheduler sees it: what is scheduled, what it reads and how, spaces and reductions by
// number. Shared by the parts of fuse(); nothing else includes this.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/fusion/trace.h"
#include "graph/fusion/types.h"

namespace tarry::graph {

/// Number of a squeezed shape.
using SpaceId = std::uint32_t;
/// Number of a ReduceSpace: reductions of equal keys may share a kernel, and so may scans.
using ReduceKey = std::uint32_t;

inline constexpr std::int64_t kSerialRow = 32;  ///< one thread goes over a row of this length, wherever the axis is

struct ReduceSpace {
  SpaceId point, outer;  ///< equal for scans
  int position;          ///< extents other than 1 before the reduced axis
  std::int64_t extent;   ///< of the reduced axis
  Dims space;            ///< the point space; a reduced extent of 1 stays
  bool scans;
  /// True if one thread block can go over a row of this length and place again.
  [[nodiscard]] bool rows(const Limits& limits) const;
};

/// Places at which a kernel computes one node: two steps of a simulation share a kernel, three would compute the first
/// one for 13 neighbours, and their loads take longer than memory.
inline constexpr int kMostPlaces = 12;

class FusionGraph {
 public:
  FusionGraph(const Graph& g, const CostModel& cost);

  const Graph& g;

  [[nodiscard]] OpClass op_class(NodeId id) const { return info(g.nodes[id].op).op_class; }
  [[nodiscard]] bool scans(NodeId id) const { return op_class(id) == OpClass::Scan; }
  /// Goes over one axis as a whole: has a key.
  [[nodiscard]] bool walks(NodeId id) const { return op_class(id) == OpClass::Reduce || scans(id); }
  [[nodiscard]] bool root(NodeId id) const { return root_[id]; }
  /// A call, of a library or a routine: a step of its own, between memory and memory.
  [[nodiscard]] bool library(NodeId id) const { return is_call(g.nodes[id].op); }
  /// Stores into memory that holds its base.
  [[nodiscard]] bool scatter(NodeId id) const { return scatter_[id]; }
  /// The value that a scatter writes over.
  [[nodiscard]] GraphEdge base(NodeId scatter) const {
    const GraphEdge e = g.nodes[scatter].inputs[0];
    return computed(e.node) ? e : source(scatter, 0).edge;
  }
  /// A view whose memory is read.
  [[nodiscard]] bool materialised(NodeId id) const { return materialised_[id]; }
  /// Has a result that a kernel computes or stores.
  [[nodiscard]] bool computed(NodeId id) const {
    const OpClass c = op_class(id);
    return c == OpClass::Map || c == OpClass::Update || c == OpClass::Gather || library(id) || walks(id) ||
           materialised_[id];
  }
  [[nodiscard]] bool scheduled(NodeId id) const { return computed(id) || root_[id]; }
  /// True if a reader may compute it again, at any coordinates.
  [[nodiscard]] bool repeatable(NodeId id) const {
    const OpClass c = op_class(id);
    return c == OpClass::Map || c == OpClass::Gather || (c == OpClass::Update && !scatter_[id]);
  }
  /// A place that is computed, or what is read there. No kernel that scans has one: its registers hold a whole tile.
  [[nodiscard]] bool places(NodeId id) const { return op_class(id) == OpClass::Gather || !is_pure(g.nodes[id].op); }
  /// False where a gather would compute an update, whose box holds at coordinates that are known.
  [[nodiscard]] bool may_repeat(NodeId reader, int input, const std::vector<NodeId>& nodes) const;
  /// A reduction so short that a reader may compute it at each of its points, as a loop.
  [[nodiscard]] bool nestable(NodeId id) const {
    const Op op = g.nodes[id].op;
    if (op != Op::Sum && op != Op::Prod && op != Op::Min && op != Op::Max) return false;
    const std::int64_t extent = reduce_space(key(id)).extent;
    return extent >= 2 && extent <= kSerialRow;
  }
  /// Neither read from memory nor computed: a scalar argument or a coordinate.
  [[nodiscard]] bool free(NodeId id) const {
    return op_class(id) == OpClass::Scalar || (op_class(id) == OpClass::Iota && !materialised_[id]);
  }
  /// input_source, but the value of a scatter at its own coordinates.
  [[nodiscard]] Source source(NodeId id, int input) const;
  /// The shape whose coordinates input `input` of `id` is read at.
  [[nodiscard]] ShapeId read_shape(NodeId id, int input) const;
  /// True if input `input` reads memory that no kernel can hold in registers: below a reshape, the base of a scatter,
  /// an operand of a library.
  [[nodiscard]] bool from_memory(NodeId id, int input) const;

  [[nodiscard]] SpaceId space(NodeId id) const { return squeezed_[g.nodes[id].shape]; }
  [[nodiscard]] SpaceId space_of_shape(ShapeId shape) const { return squeezed_[shape]; }
  [[nodiscard]] const Dims& extents(SpaceId space) const { return spaces_[space]; }
  [[nodiscard]] ReduceKey key(NodeId reduce) const { return key_of_.at(reduce); }
  [[nodiscard]] const ReduceSpace& reduce_space(ReduceKey key) const { return keys_[key]; }

 private:
  void mark_roots();
  void mark_materialised();
  void mark_scatters(const CostModel& cost);
  void number_spaces();
  SpaceId space_id(const Dims& squeezed);

  std::vector<bool> root_, materialised_, scatter_;
  std::vector<SpaceId> squeezed_;  // by ShapeId
  std::vector<Dims> spaces_;
  std::vector<ReduceSpace> keys_;
  std::vector<ReduceKey> key_of_;  // by node
  std::map<std::vector<std::int64_t>, std::uint32_t> space_ids_;
};

/// The dimension of `shape` that is number `position` among those that are not 1.
int dimension_at(const Dims& shape, int position);

}  // namespace tarry::graph
