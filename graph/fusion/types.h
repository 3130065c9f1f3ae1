// A fusion as a value: its groups, the edges that go through memory and why; the limits and the objective of the
// search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/graph.h"

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
  Limit,           ///< statements, values at once, buffers or reductions per kernel
  Mode,            ///< strict and relaxed nodes do not share a kernel
  Library,         ///< a library reads or writes it
  Steps,           ///< a kernel of several steps begins or ends there
  Levels,          ///< a kernel of a recurrence begins or ends there
};

/// Constants of the objective for a target.
struct CostModel {
  double bytes_per_second;
  double instructions_per_second;
  double seconds_per_launch;
  double seconds_per_statement;     ///< time to compile it, spread over the launches of its kernel
  double walked_box;                ///< instructions of an update's box at a point of an axis that a kernel walks along
  double points_per_row_value;      ///< points of a reduction that share one evaluation of what does not vary along it
  std::int64_t longest_row_column;  ///< extent of the axes of a row-and-column group: one thread block folds a row's
                                    ///< partial states
  double apart;  ///< reads of memory that a thread's loop walks beside others, at most: bytes counted
                 ///< for each byte
  bool tiles;    ///< a kernel may compute a tile, whose points share what is wanted a few places apart
};

/// Slots: elements along short axes of a map that one point computes. The model and the lowering choose them alike.
struct SlotLimits {
  static constexpr std::int64_t last = 8;            ///< along last axes, where boxes end along them, on a GPU
  static constexpr std::int64_t last_on_cpu = 64;    ///< the same where no thread stands beside another
  static constexpr double first_bytes = 192;         ///< bytes that those along first axes store
  static constexpr double saves = 0.75;              ///< of the cost of as many points: worth fewer points
  static constexpr std::int64_t fewest_points = 32;  ///< a loop over fewer is not worth a text of its own
  static constexpr std::int64_t statements = 512;    ///< of all slots of a point
};

struct Limits {
  int statements = 640;  ///< what a compiler is asked for at once
  int walking = 256;     ///< the same along an axis, where the text of a point stands several times
  int live = 0;          ///< words of 32 bits that a long kernel holds at a point at once; 0: any number
  int unrelated = 128;   ///< instructions of parts that share a kernel to save a launch and nothing else
  int buffers = 32;
  int reductions = 8;
  int scans = 2;
  int recomputed = 64;                    ///< nodes recomputed for one edge
  std::int64_t slots = SlotLimits::last;  ///< along last axes
  int steps = 16;                         ///< of a chain in one kernel; none below three
  int window = 256;                       ///< groups a legality search may visit
  std::int64_t row_column = 128;          ///< shortest axes of a row-and-column group; 0: there are none
  std::int64_t row = 16384;   ///< longest row of a row group that a core or a thread block holds; clusters hold more
  int levels = 1;             ///< 0: recurrences are not found
  std::size_t chained = 256;  ///< operations of a chain of states, at least: fewer are a formula
  std::size_t kept = std::size_t{32} << 10;  ///< bytes that a lane of a recurrence keeps: small stacks hold two lanes
  std::size_t numbers = 256;                 ///< of all levels that a recurrence takes as parameters
  bool fuses = true;  ///< false: every scheduled node is its own group, the unfused twin of the tests
  /// True if a kernel of so many statements is held to `live`. Shorter ones hardly ever hold as much.
  [[nodiscard]] bool long_kernel(int count) const { return live > 0 && count > walking; }
};

struct Levels;

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
  int across = -1;                         ///< of a row-and-column group: position of the other reduced axis
  std::vector<NodeId> of_columns{};        ///< of the nodes those that belong to its reductions, ascending
  std::shared_ptr<const Levels> levels{};  ///< of a group of levels (levels.h)
  [[nodiscard]] bool iterated_stencil() const { return base.node != kNoId; }
  [[nodiscard]] bool row_column() const { return across >= 0; }
};

struct UnfusedEdge {
  NodeId producer, consumer;
  Reason reason;
};

struct Fusion {
  std::vector<Group> groups;            ///< in topological order
  std::vector<std::uint32_t> group_of;  ///< per node; kNoId: not scheduled
  /// Per edge (node * Node::kMaxInputs + input): index into recomputed_sets, or kNoId: the nodes that its reader
  /// computes again.
  std::vector<std::uint32_t> recomputed_set_of;
  std::vector<std::vector<NodeId>> recomputed_sets;  ///< each sorted
  std::vector<UnfusedEdge> unfused;                  ///< every edge between groups, with its reason
  double seconds = kUnknownSeconds;                  ///< by the objective of the search
  static constexpr double kUnknownSeconds = 1e300;
  [[nodiscard]] std::uint32_t recomputed_set(NodeId n, int input) const {
    return recomputed_set_of[n * static_cast<std::uint32_t>(Node::kMaxInputs) + static_cast<std::uint32_t>(input)];
  }
};

}  // namespace tarry::graph
