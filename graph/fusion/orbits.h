// Orbits: what one statement of a recurrence is at each level. Levels are numbered along the axis of the array that
// they are written to.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/fusion/graph.h"
#include "graph/fusion/writes.h"

namespace tarry::graph {

/// An array made of levels: an update of updates, or of such arrays, whose boxes part an axis. Or the states of a
/// chain, which are in no array.
struct Layers {
  NodeId array = kNoId;  ///< kNoId: a chain, which has levels and lanes alone
  int axis = -1;
  Dims lanes;                   ///< extents other than 1 of the other axes
  IndexMap place;               ///< coordinates of the lanes -> dimensions of the array; the axis stands at 0
  std::vector<Source> levels;   ///< what each level is, at coordinates of the lanes
  std::int64_t pieces = 0;      ///< boxes that the array is made of
  std::vector<NodeId> updates;  ///< that make it
};

/// An input of an orbit at level k: the same at all levels; a number of each level; memory that moves by `steps`; or
/// what orbit `orbit` is at level k - shift.
struct OrbitInput {
  enum class Kind : std::uint8_t { Same, Number, Moving, Orbit } kind{};
  Source at;  ///< Same; Moving: at level `level`
  std::int64_t level = 0;
  Dims steps;
  std::vector<GraphEdge> numbers;  ///< by level, from `level` on
  std::uint32_t orbit = kNoId;
  std::int64_t shift = 0;
};

struct Orbit {
  bool copies = false;            ///< no statement: its levels are what its one input is
  int run = 0;                    ///< of levels of its array, each of which is a loop
  std::int64_t low = 0;           ///< the first level that is known
  std::vector<Source> at;         ///< by level from there on
  std::int64_t from = 0, to = 0;  ///< levels at which its nodes are one statement
  std::vector<OrbitInput> inputs;
  [[nodiscard]] bool knows(std::int64_t level) const {
    return level >= low && level < low + static_cast<std::int64_t>(at.size());
  }
  [[nodiscard]] const Source& operator[](std::int64_t level) const { return at[static_cast<std::size_t>(level - low)]; }
};

class Orbits {
 public:
  static constexpr std::int64_t kFewestLevels = Writes::kFewestPlaces;

  /// At coordinates of `lanes`.
  Orbits(const FusionGraph& f, const Writes& writes, const Dims& lanes)
      : f_(&f), g_(&f.g), writes_(&writes), lanes_(lanes) {}

  /// The orbits that the levels of an array lead to. False where they do not repeat; then nothing may be used.
  bool add(const Layers& layers);
  /// Orbits of the levels that are not in that of the last array, as far as they repeat: they are copied, or another
  /// statement.
  void add_other_runs(const Layers& layers);

  std::vector<Orbit> all;
  /// An array, by the order of add(), and an orbit of it, of which level k + shift is level first + k * step of the
  /// array.
  struct OfArray {
    std::size_t array;
    std::uint32_t orbit;
    std::int64_t shift, first = 0, step = 1;
    [[nodiscard]] std::int64_t place(std::int64_t level) const { return first + (level - shift) * step; }
  };
  std::vector<OfArray> of_arrays;
  struct Place {
    std::uint32_t orbit;
    std::int64_t level;
  };
  /// Where a node is, read at `map`.
  [[nodiscard]] std::optional<Place> find(const Source& s) const;
  /// Numbers the levels of orbits anew so that none reads a later level of another, where that can be: they are one
  /// loop then, which carries as few values as it may.
  void settle_levels();
  /// The source of input i of a node, at coordinates of the lanes.
  [[nodiscard]] Source input(const Source& of, int i) const;

 private:
  /// Levels from..to-1 that are one statement, or copied.
  struct Run {
    std::int64_t from = 0, to = 0;
    bool copies = false;
    [[nodiscard]] std::int64_t count() const { return to - from; }
  };
  bool join(const Layers& layers, const Place& place, std::int64_t level);
  bool add_run(const Layers& layers, const Run& run, std::int64_t first = 0, std::int64_t step = 1);
  bool add_in_turns(const Layers& layers);
  std::uint32_t make(Orbit orbit);
  bool settle_from(std::size_t first);
  bool settle(std::uint32_t orbit);
  bool settle_input(std::uint32_t orbit, int i);
  [[nodiscard]] Run best_run(std::span<const Source> levels) const;
  [[nodiscard]] bool is_copied(const Source& a, const Source& b, const std::optional<Dims>& steps) const;
  [[nodiscard]] bool is_number(const Source& s) const;
  [[nodiscard]] bool alike(const Source& a, const Source& b) const;
  [[nodiscard]] bool is_statement(const Source& s) const;

  const FusionGraph* f_;
  const Graph* g_;
  const Writes* writes_;
  Dims lanes_;
  std::size_t arrays_ = 0;
  std::unordered_map<NodeId, Place> places_;
};

/// Coordinates of the lanes -> dimensions of an array that has a value for each lane.
IndexMap at_lanes(const Dims& shape);

/// Chains whose last states are read by others, without nodes that are `taken`. Work is linear in the graph.
std::vector<Layers> find_chains(const FusionGraph& f, const std::vector<bool>& taken);

/// The layers of an array, the axis along which they lie found by its last update. Nothing where it has none.
std::optional<Layers> find_layers(const FusionGraph& f, NodeId array);

}  // namespace tarry::graph
