// Levels: a recurrence along an axis, as loops over the levels with carried values. It was recorded level by level, or
// as a loop (graph/loops.h).
//
// A kernel of levels goes over the lanes, the points of the other axes. For each lane it runs loops, one after the
// other; before each, and behind the last, come values that a lane has once (`once`). A value of a loop is computed at
// each of its levels, in order. Carried: what another value of the loop was a level before. Kept values are written to
// an array of the lane, which later loops read at other levels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/fusion/trace.h"
#include "graph/fusion/types.h"

namespace tarry::graph {

struct Levels {
  enum class Kind : std::uint8_t {
    Memory,
    Free,
    Number,
    Compute,
    Copy,
    Carried,
    Later,
    Running,
    While,
    Last,
    Keep,
    Kept,
    Store
  };
  struct Value {
    Kind kind{};
    bool once = false;
    std::uint8_t loop = 0;  ///< that it belongs to, or comes before
    GraphEdge edge{};       ///< Memory, Free: what is read; Compute: the node; Store: what is written
    /// Values. Compute: its inputs. Copy: what the loop takes as its own. Carried: at the first level (once), and the
    /// value of the loop, which may come later. While: where it is false no carried value changes any more. Last: of
    /// which the last level. Keep: what is kept. Store: what is stored. Where the loop combines, of Carried: the
    /// element of a level, and what two neighbours combine to; Later, the later neighbour, and Running, what the levels
    /// up to it combine to: the Carried.
    std::array<std::uint32_t, 3> args{kNoId, kNoId, kNoId};
    /// Memory, Free, Store: coordinates of the lanes -> dimensions of `shape`, at level 0 of the loop, and elements
    /// along each dimension from level to level.
    IndexMap map{};
    Dims steps{}, shape{};
    std::uint32_t array = 0;              ///< Keep, Kept; Number: which series
    std::int64_t position = 0, step = 0;  ///< in it, at level 0 and from level to level
  };
  struct Array {
    Dtype dtype{};
    std::int64_t extent = 0;
  };
  Dims lanes;
  std::vector<Value> values;        ///< in order: once before loop 0, loop 0, once before loop 1, ..., once at the end
  std::vector<std::int64_t> loops;  ///< levels of each
  bool combines = false;            ///< neighbours, in the order of scans; one loop
  std::vector<Array> arrays;
  std::vector<std::vector<GraphEdge>> numbers;   ///< series: scalars, one a level of a loop
  std::vector<NodeId> nodes;                     ///< that the kernel computes, ascending
  std::vector<GraphEdge> outputs;                ///< of them those that others read
  std::vector<GraphEdge> operands;               ///< stored values and leaves that it reads, each once
  [[nodiscard]] std::size_t kept_bytes() const;  ///< of a lane's arrays
  [[nodiscard]] std::size_t number_count() const;
};

/// The canonical bytes of a source: equal ones are equal values.
std::string key(const Source& s);

class FusionGraph;
class Orbits;
struct Layers;

/// The kernel of the orbits that `arrays` lead to; nullptr where it would not be one. Levels of which none reads an
/// earlier one are points of a map, unless they are more than its slots.
std::shared_ptr<const Levels> make_levels(const FusionGraph& f, const Limits& limits, const Orbits& orbits,
                                          const std::vector<Layers>& arrays);

/// The kernels of recurrences that were recorded level by level, without nodes that are `taken`. Work is linear in the
/// graph.
std::vector<std::shared_ptr<const Levels>> find_levels(const FusionGraph& f, const Limits& limits,
                                                       std::vector<bool> taken);
/// The kernels of the graph's loops: those that read each other's results lane by lane are one, where lanes may keep
/// them.
std::vector<std::shared_ptr<const Levels>> find_loops(const Graph& g, const Limits& limits);

/// A graph in which each kernel of levels is a call between memory and memory.
class CollapsedLevels {
 public:
  CollapsedLevels(const Graph& g, std::vector<std::shared_ptr<const Levels>> kernels);
  [[nodiscard]] const Graph& graph() const { return small_; }
  /// The result for graph(), as groups of the whole graph.
  [[nodiscard]] Fusion expand(Fusion found) const;

 private:
  const Graph& g_;
  std::vector<std::shared_ptr<const Levels>> kernels_;
  Graph small_;
  std::vector<NodeId> original_;          // by node of small_; kNoId: stands for part of a kernel
  std::vector<std::uint32_t> kernel_of_;  // by node of small_: the kernel that it stands for, or kNoId
};

}  // namespace tarry::graph
