// Graph: one evaluation's snapshot as a value. Passes take one and return one; the scheduler reads it.
//
// Node ids are topological: inputs have smaller ids. Shapes are interned, so equal shapes are equal ids. Payloads (view
// maps, reduce attributes, scalar sources, leaf numbers) stand in side tables. Nothing points back to recorded nodes.
#pragma once

#include <tarry/error.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/attributes.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape.h"

namespace tarry::graph {

using NodeId = std::uint32_t;
using ShapeId = std::uint32_t;
inline constexpr std::uint32_t kNoId = ~std::uint32_t{0};

struct GraphEdge {
  NodeId node = kNoId;
  std::uint32_t output = 0;
  friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

/// The class of a scalar's value that a plan may know: rules that need more are not allowed (the plan is
/// reused).
enum class ScalarClass : std::uint8_t { Other, Zero, NegativeZero, One };
ScalarClass classify(Dtype dtype, const ScalarCell& cell);

/// Where a Scalar node's value comes from when the plan runs: a cell of the snapshot, a constant, or an exact op on
/// others.
struct ScalarSource {
  enum class Kind : std::uint8_t { Cell, Constant, Compute } kind = Kind::Cell;
  ScalarClass known = ScalarClass::Other;
  Op op{};
  Dtype input{};  ///< Compute: dtype of the operands
  Dtype dtype{};
  std::uint32_t cell = kNoId;                     ///< Cell: index into the snapshot's cells
  ScalarCell constant;                            ///< Constant
  std::uint32_t args[3] = {kNoId, kNoId, kNoId};  ///< Compute: indices of earlier sources
};

struct GraphNode {
  Op op{};
  Dtype dtype{};
  Mode mode{};
  std::uint8_t n_inputs = 0;
  ShapeId shape = 0;
  std::uint32_t payload = kNoId;  ///< Input: leaf; Scalar: source; View: map; Update, Reduce, Scan: attributes; Iota,
                                  ///< Gather, LoopElement, LoopStack: axis; LoopLevel: its bits; Index:
                                  ///< IndexAttributes; Routine: its way
  GraphEdge inputs[Node::kMaxInputs];
  NodeId origin = kNoId;  ///< the snapshot's node it stands for: where errors, dumps and reports point
  const char* file = nullptr;
  std::uint32_t line = 0;
  [[nodiscard]] Where where() const { return {file, line}; }
};

/// A leaf's place in memory, as far as plans depend on it.
struct LeafLayout {
  std::int64_t offset = 0;
  Dims strides;
  bool contiguous = true;
  bool donated = false;   ///< this evaluate is its last owner: its buffer may be overwritten (docs/design.md)
  bool any_byte = false;  ///< of bools: see Storage
};

class Graph {
 public:
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> roots;
  std::vector<Dims> shapes;
  std::vector<std::int64_t> counts;  ///< elements of each shape
  std::vector<IndexMap> views;
  std::vector<UpdateAttributes> updates;
  std::vector<ReduceAttributes> reduces;
  std::vector<ScalarSource> scalars;
  std::vector<LeafLayout> leaves;

  ShapeId intern(const Dims& shape);
  [[nodiscard]] const Dims& shape(NodeId n) const { return shapes[nodes[n].shape]; }
  [[nodiscard]] std::int64_t count(NodeId n) const { return counts[nodes[n].shape]; }
  /// Bytes of memory for all elements. At most kUnaddressable, which no device has: sums of a few stay within int64.
  [[nodiscard]] std::int64_t bytes(NodeId n) const {
    const auto size = static_cast<std::int64_t>(itemsize(nodes[n].dtype));
    return count(n) < kUnaddressable / size ? count(n) * size : kUnaddressable;
  }
  static constexpr std::int64_t kUnaddressable = std::int64_t{1} << 58;
  /// An empty graph that shares this one's tables, for a pass to fill.
  [[nodiscard]] Graph like() const;

 private:
  struct DimsHash {
    std::size_t operator()(const Dims& d) const;
  };
  std::unordered_map<Dims, ShapeId, DimsHash> shape_ids_;
};

/// Throws InternalError where a rule of this header is broken. Uses Boost.Graph's topological sort as the judge of
/// order.
void verify(const Graph& g);
/// By node: what `root` is computed from, itself included.
std::vector<bool> reachable(const Graph& g, NodeId root);
/// One line per node: %3 = add f32 (4, 5) %1, %2.
std::string to_string(const Graph& g);
/// Graphviz text; `group_of` (may be empty) draws nodes of one kernel in one cluster colour.
std::string to_dot(const Graph& g, const std::vector<std::uint32_t>& group_of = {});

/// Topological order of a directed graph given as predecessor lists (Boost.Graph); throws InternalError on a cycle.
std::vector<std::uint32_t> topological_order(const std::vector<std::vector<std::uint32_t>>& predecessors);

/// The part of the recorded graph that an evaluate took in one critical section.
struct Snapshot {
  Graph graph;
  std::vector<std::shared_ptr<Storage>> leaves;  ///< by leaf number, first-visit order
  std::vector<Device> leaf_devices;
  std::vector<bool> leaf_computed;  ///< an evaluate made it; else it came from the user's memory
  std::vector<ScalarCell> cells;    ///< by cell number
  std::string key;                  ///< canonical bytes: equal keys mean equal plans (for one target)
  Device placed{};                  ///< explicit device of any node, or unplaced
  std::vector<std::pair<NodeId, std::string>> own_code;  ///< values that the user's code makes, by what it is called
  std::size_t recorded_nodes = 0;
  std::size_t asked = 0;  ///< roots that were asked for; the others are stored besides
};

/// f(value, reader) for each node that reads a value, once, of those values that are wanted(value).
template <class Wanted, class F>
void each_reader(std::span<const GraphNode> nodes, const Wanted& wanted, F f) {
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const GraphEdge* const inputs = nodes[id].inputs;
    for (std::uint32_t i = 0; i < nodes[id].n_inputs; ++i)
      if (std::none_of(inputs, inputs + i, [&](const GraphEdge& e) { return e.node == inputs[i].node; }) &&
          wanted(inputs[i].node))
        f(inputs[i].node, id);
  }
}

/// The treatment of marks of values that were computed and not stored (key_walk.h).
enum class Marks : std::uint8_t { Ignore, Read, Set };

/// Walks from the roots (ready nodes are leaves); caller holds engine_mutex(). Sets `*blocked` to a node that another
/// evaluate has claimed and returns early, or takes it for lazy where `blocked` is null; rethrows the error of a failed
/// node. In two steps: key_walk.h.
Snapshot take_snapshot(std::span<const Edge> roots, Node** blocked, Marks marks = Marks::Ignore);

}  // namespace tarry::graph
