// KeyWalk: what one walk over recorded nodes finds: the canonical key of the evaluation and the leaves and scalars that
// it runs on. Enough to find a plan and run it again; expand() makes the graph where there is no plan yet.
//
// Scalars. Equal numbers that one line recorded not long before are one scalar, so that `cdf(x)` and `cdf(-x)` share
// what they compute, though each call records constants of its own. Equal numbers of different lines stay apart:
// kernels take scalars as arguments, and their text should not depend on which values happen to be equal.
//
// Donation. A leaf may be overwritten where this evaluate is all that keeps it: its memory is a whole buffer of our
// pool that nothing else holds, and every reference to its node comes from a root, which drops its inputs when it is
// published, or from a node that only such nodes refer to. Reference counts are read under the engine's mutex. Who
// could raise one afterwards would have to hold a reference now, and it would have been counted.
//
// Marks. A value that is computed on the way, and that somebody will need again, is stored the second time: the first
// walk marks its node, the next one that finds it marked makes it a root more. Needed again is what has references from
// elsewhere, or is read by such a node that stays lazy. So of a chain only the last marked value is stored, and a loop
// that reads nothing but its error stores one state a round. A view stands for what it views, unless that is larger and
// nobody holds it. Of a large value that is needed in part (through a view) a part was computed: it is stored where the
// graph has grown on it meanwhile, else never. All stored besides is within the budget of pending work, or no more than
// the leaves.
// A value that a result shows in another shape is in memory with it: where somebody holds it, it is stored the first
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace tarry::graph {

/// Kept and filled anew by each walk, so that its memory is.
struct KeyWalk {
  /// A node, or another output of an evaluated node, which is a leaf of its own.
  struct Visit {
    Node* node;
    std::uint32_t output;
    std::uint32_t readers;  ///< references to the node from nodes of the walk, where this is its first output; flags
  };
  // Flags beside the number of readers, which stays far below.
  static constexpr std::uint32_t kRoot = std::uint32_t{1} << 31, kKept = kRoot >> 1, kWhole = kRoot >> 2,
                                 kGrown = kRoot >> 3, kShown = kRoot >> 4;
  static constexpr std::uint32_t kReaders = kShown - 1;
  /// True for a value that is stored besides because a result shows its memory.
  [[nodiscard]] bool is_shown(NodeId id) const { return (visits[id].readers & kShown) != 0; }
  /// Words at the front of the key that are the caller's: what else the plan depends on.
  static constexpr std::size_t kHead = 2;

  std::vector<Visit> visits;  ///< by graph id: inputs before their readers
  std::vector<GraphEdge> roots;
  std::size_t asked = 0;                         ///< of the roots: the others are stored besides
  std::vector<std::shared_ptr<Storage>> leaves;  ///< by leaf number, first-visit order
  std::vector<std::uint8_t> donated;             ///< by leaf number
  std::vector<ScalarCell> cells;                 ///< by cell number
  std::uint32_t own_code = 0;                    ///< how many leaves code of the user's made
  std::vector<Where> lines;                      ///< by graph id, from note_lines()
  Device placed{};                               ///< explicit device of any node, or unplaced

  /// Canonical: equal words mean equal plans. The first kHead and those after the walk's own are the caller's.
  [[nodiscard]] std::span<const std::uint64_t> key() const { return {words.data(), length}; }
  [[nodiscard]] std::uint64_t& head(std::size_t i) { return words[i]; }
  void append(std::uint64_t word) { *room(1) = word, ++length; }
  void drop_appended() { length = walked; }

  /// Forgets a walk; a very large one's memory too.
  void clear();

  // State of the walk itself. Words beyond `length` are of an earlier one.
  std::vector<std::uint64_t> words;
  std::size_t length = 0, walked = 0;
  std::uint64_t* room(std::size_t count) {
    if (words.size() - length < count) words.resize(2 * (length + count));
    return words.data() + length;
  }
  void advance(const std::uint64_t* end) { length = static_cast<std::size_t>(end - words.data()); }
  struct Frame {
    Node* node;
    int next;
  };
  std::vector<Frame> stack;
  std::vector<std::pair<NodeId, NodeId>> second_outputs;  ///< a node's id and that of its second output
  /// A leaf that may be donated if nothing but this evaluate holds its node.
  struct Candidate {
    NodeId id;
    std::uint32_t leaf;
  };
  std::vector<Candidate> candidates;
  std::vector<NodeId>
      viewed;  ///< by graph id: what a view or a reshape stands for, itself where it is none; made where needed
  std::vector<const Node*> scalars;
  /// A scalar for which an equal one stands, and the id of that. Its mark is kAlias and the place in this list.
  struct Alias {
    const Node* node;
    NodeId id;
  };
  static constexpr std::uint32_t kAlias = std::uint32_t{1} << 31;
  std::vector<Alias> aliases;
  /// The graph id of a node that this walk has been at.
  [[nodiscard]] NodeId id_of(const Node& n) const { return n.mark & kAlias ? aliases[n.mark & ~kAlias].id : n.mark; }
};

/// The choice of a walk at a node that another evaluate has claimed. Its inputs are there as long as it is.
enum class Claimed : std::uint8_t { Blocks, IsLazy };
/// Nodes that stand for a function's arguments have values where a call has bound them, and only then.
enum class StandIns : std::uint8_t { Refused, Bound };
struct WalkOptions {
  Marks marks = Marks::Ignore;
  Claimed claimed = Claimed::Blocks;
  std::int64_t most_kept = INT64_MAX;  ///< bytes of what is needed again
  StandIns stand_ins = StandIns::Refused;
};
/// Walks from the roots; ready nodes are leaves. The caller holds engine_mutex(). Returns a node that another evaluate
/// has claimed where that blocks, or nullptr; rethrows the error of a failed node. A graph with stand-ins is walked
/// over again by other calls: nothing of it is donated.
[[nodiscard]] Node* walk(std::span<const Edge> roots, KeyWalk& key_walk, const WalkOptions& options);
/// The user's line of every node. In the critical section of the walk.
void note_lines(KeyWalk& key_walk);
/// The graph that was walked over. In the critical section of the walk.
[[nodiscard]] Snapshot expand(const KeyWalk& key_walk);

}  // namespace tarry::graph
