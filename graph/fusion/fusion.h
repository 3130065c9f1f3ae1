// The fusion scheduler: which nodes become one kernel, what is recomputed, what goes through memory and why.
//
// Objective: bytes to and from memory + seconds per launch + recomputation (CostModel), under limits. Scheduled nodes
// are Map, Update, Reduce, Scan and Library nodes, roots of any other class (they are copies) and views whose memory a
// Reshape reads.
// Other views, reshapes, scalars and iotas belong to their readers. A group has one point space (a squeezed shape:
// extents of 1 dropped) and, where it reduces, one axis of it; all its reductions share both. Map nodes over the outer
// space may follow the reductions (the epilogue). A row group goes back: Map nodes over the point space read results of
// its own reductions, and may feed further reductions of the same key (softmax); its rows are kept or read again by one
// thread block. A scan group walks one axis too: its scans share it, and Map nodes over the same space come before and
// after them; no scan of a group depends on another. A scatter group has the point space of one Update's value: it
// writes that Update's box into memory that holds the base already. Its other nodes are Map nodes and dense Updates
// over the same space. A library group is a call: one node, whose operands and result are memory. A group of steps is a
// chain of maps and dense updates of shifted views (steps.h): one result, each node computed once for a tile and the
// points around it. A crossed group is two groups that reduce different axes of one space and read the same arrays
// (fusion/crossed.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/target.h"

namespace tarry::graph {

/// Why an edge goes through memory. The words are stable; docs/reference/plan.md explains each.
enum class Reason : std::uint8_t {
  Fused,
  FusionDisabled,
  WholeReduction,  ///< the consumer needs a finished reduction at every point of a larger space
  ReductionChain,  ///< a reduction of a reduction along another axis
  OtherSpace,      ///< different iteration spaces
  BroadcastCost,   ///< recomputing the producer for every reader costs more than memory
  ThroughView,     ///< read through a view that moves elements, and recomputing costs more than memory
  Cycle,           ///< one kernel would wait for itself
  Limit,           ///< statements, buffers or reductions per kernel
  Mode,            ///< strict and relaxed nodes do not share a kernel
  Library,         ///< a library reads or writes it
  Steps,           ///< a kernel of several steps begins or ends there
};
std::string_view to_string(Reason r);

/// Constants of the objective for a target.
struct CostModel {
  double bytes_per_second;
  double instructions_per_second;
  double seconds_per_launch;
  double points_per_row_value;  ///< points of a reduction that share one evaluation of what does not vary along it
  std::int64_t
      longest_crossed;  ///< extent of the axes of a crossed group: one thread block folds a row's partial states
};
CostModel cost_model(const Target& target);

struct Limits {
  int statements = 256;
  int buffers = 32;
  int reductions = 8;
  int scans = 2;
  int cone = 64;               ///< nodes recomputed for one edge
  int steps = 16;              ///< of a chain in one kernel; none below three
  int window = 256;            ///< groups a legality search may visit
  std::int64_t crossed = 128;  ///< shortest axes of a crossed group; 0: there are none
  std::int64_t row = 16384;    ///< longest row of a row group that a core or a thread block holds; clusters hold more
};

struct Group {
  std::vector<NodeId> nodes;  ///< ascending
  bool reduces = false;       ///< walks an axis: reductions, or scans
  bool scans = false;
  Dims space;              ///< point space, extents of 1 dropped (a reduced extent of 1 stays)
  int axis = -1;           ///< position of the reduced axis in `space`
  NodeId scatter = kNoId;  ///< of a scatter group: the Update whose box it writes into memory
  NodeId library = kNoId;  ///< of a library group: its only node
  GraphEdge base{};        ///< of a group of steps: the stored value that they begin with
  Mode mode{};
  int across = -1;                 ///< of a crossed group: position of the other reduced axis
  std::vector<NodeId> crossing{};  ///< of the nodes those that belong to its reductions, ascending
  [[nodiscard]] bool steps() const { return base.node != kNoId; }
  [[nodiscard]] bool crossed() const { return across >= 0; }
};

struct UnfusedEdge {
  NodeId producer, consumer;
  Reason reason;
};

struct Fusion {
  std::vector<Group> groups;            ///< in topological order
  std::vector<std::uint32_t> group_of;  ///< per node; kNoId: not scheduled
  /// Per edge (node * Node::kMaxInputs + input): index into cones, or kNoId. A cone is what its reader computes again.
  std::vector<std::uint32_t> cone_of;
  std::vector<std::vector<NodeId>> cones;  ///< sorted
  std::vector<UnfusedEdge> unfused;        ///< every edge between groups, with its reason
  [[nodiscard]] std::uint32_t cone(NodeId n, int input) const {
    return cone_of[n * static_cast<std::uint32_t>(Node::kMaxInputs) + static_cast<std::uint32_t>(input)];
  }
};

/// Groups for `target`. With `enabled` false every scheduled node is its own group: the unfused twin of the tests.
Fusion fuse(const Graph& g, const Target& target, bool enabled = true, const Limits& limits = {});

/// `edge` read at coordinates `map` of some space, followed through views and reshapes to what is really read. `shape`
/// is that of `edge`, or the one a Reshape gave to its row-major memory: `map` has one entry per dimension of it.
struct Source {
  GraphEdge edge;
  IndexMap map;
  Dims shape;
};
Source trace(const Graph& g, GraphEdge edge, IndexMap map);
/// The source of input i of a scheduled node, at coordinates of that node (of its input for a Reduce; of the value for
/// the value of an Update that is not dense).
Source input_source(const Graph& g, NodeId consumer, int input);

Dims squeeze(const Dims& shape);
IndexMap identity_map(int rank);
/// Whether a map from coordinates of `space` reads every element of `source` once, in the same row-major order.
bool is_elementwise(const IndexMap& map, const Dims& source, const Dims& space);

}  // namespace tarry::graph
