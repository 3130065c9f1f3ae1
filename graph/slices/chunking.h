// Chunking: how the values of a graph may be computed piece by piece along an axis of its large leaves. Pure.
//
// The axis is followed from the leaves to their readers. Where it ends, pieces may still give the value: such a node is
// a *cut*. Its pieces combine to a value that no longer has the axis. What reads that value begins a new pass over the
// pieces. A scan along the axis is *carried*: each piece needs what the elements before it combine to.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace tarry::graph {

/// How pieces along the axis give a value that does not have it.
enum class CutKind : std::uint8_t {
  Tree,     ///< a Reduce: partial states combine as tree R
  Joined,   ///< counts, and folds of groups in any order: values of pieces are joined element by element
  Written,  ///< a Scatter into what the pieces before left
  Taken,    ///< a Gather along the axis: each element comes from the piece that has it
  Ends      ///< a View of the first or the last elements of sorted rows: those of pieces are sorted again
};

/// A value that a cut is computed from: its pieces along an axis, or all of it where there is none (-1).
struct CutOperand {
  GraphEdge edge;
  int axis = -1;
};

struct Cut {
  NodeId node = kNoId;
  CutKind kind{};
  std::int64_t n = 0;  ///< extent of the axis
  std::vector<CutOperand> operands;
};

/// The first or the last elements of sorted rows, as a View of them reads.
struct RowEnds {
  NodeId sort = kNoId;
  std::int64_t count = 0;  ///< of each row
  bool last = false;
};

/// Where a device finds leaves: memory that it reads in place, or copies of it.
enum class LeafAccess : std::uint8_t { Direct, Copied };

struct Chunking {
  std::vector<int> axis;            ///< by node: where the axis is in its shape, or -1: it has none
  std::vector<std::uint32_t> pass;  ///< by node: passes that are over before it can be computed
  std::vector<Cut> cuts;            ///< in order of nodes
  std::vector<NodeId> carried;      ///< scans along the axis
  NodeId beside = kNoId;            ///< the first node that reads all of a leaf for each piece
  NodeId whole = kNoId;             ///< the first node that needs all of a value at once that has the axis
};

/// For axis number `number` (counting those with more than one element) of the leaves that are not small.
Chunking find_chunking(const Graph& g, int number, LeafAccess access);

/// The elementwise op that joins values of pieces of a node, where their order does not show in the bits.
Op join_of_pieces(const GraphNode& n);

/// The same of what a scan combines.
Op join_of_scan(Op scan);
/// The Reduce of all elements that a scan combines.
Op total_of_scan(Op scan);

/// The end of sorted rows that a view reads, through views that keep the rows whole. `sort` is kNoId where it is none.
RowEnds row_ends(const Graph& g, NodeId view);

/// Shortest axis that a reduction is cut along: up to here its order has no parts.
inline constexpr std::int64_t kUncut = 32;

}  // namespace tarry::graph
