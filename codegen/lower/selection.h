// Selection: the instructions of a group over its whole space, before dimensions are collapsed and a schedule is
// chosen. The steps of lower(), in order; nothing else includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/lower/lower.h"
#include "graph/fusion/trace.h"

namespace tarry::codegen {

/// An access with strides over every axis of the group's space.
struct RawAccess {
  std::uint32_t buffer = kNone;
  std::uint32_t guard = kNone;  ///< of the loads that use it
  bool store = false, outer_only = false;
  std::uint32_t loop = kNone;
  std::int64_t offset = 0, loop_stride = 0;
  graph::Dims strides;
  Value at = kNone;        ///< of a Gather: the place, which is computed
  std::uint32_t axes = 0;  ///< of a Gather: bits, those of the space that move it
  bool faults = false;     ///< the words that an Index writes
  friend bool operator==(const RawAccess&, const RawAccess&) = default;
};

/// The points of the group's space with low <= coordinate < high along every axis.
struct Bounds {
  graph::Dims low, high;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

struct Selection {
  Lowered lowered;                         ///< all but accesses, extents, stages, schedule and bytes
  std::vector<RawAccess> accesses;         ///< by access number of the IR
  std::vector<Bounds> boxes;               ///< by guard number of the IR: where it holds
  std::vector<std::int64_t> buffer_bytes;  ///< by buffer number: the size of the whole value
  std::vector<std::int64_t> loops;         ///< by loop: its extent
};

/// Coordinates of a group's space: all of them, or all but the reduced one.
enum class Coordinates : std::uint8_t { Points, Outer };
/// lower/maps.cpp: coordinates of the group's space -> dimensions of a shape that lives in it; -> dimensions of a
/// reduction's input, whose reduced one is the space's axis even at extent 1.
graph::IndexMap home_map(const graph::Group& group, const graph::Dims& shape, Coordinates coordinates);
graph::IndexMap point_map(const graph::Graph& g, const graph::Group& group, graph::NodeId reduce);
/// The coordinates of slot number `slot` of a point: constants along the axes that are slots. `slots`: by axis of the
/// whole space, its extent where it is one, else 0.
graph::IndexMap slot_map(const graph::Group& group, const graph::Dims& shape, const graph::Dims& slots,
                         std::int64_t slot);
/// A value followed through views. Coordinates that cannot move are dropped, so that equal requests have equal keys.
graph::Source traced(const graph::Graph& g, graph::GraphEdge edge, graph::IndexMap map);
/// An access whose dimensions have `strides`, at the coordinates of `map`: the space's `rank` axes, then those of
/// loops.
RawAccess access_at(std::int64_t offset, const graph::Dims& strides, const graph::IndexMap& map, int rank);
bool contains(const Bounds& outer, const Bounds& inner);
/// The points of a box where a dense update that is wanted at `map` gives its value, if there are any: along each
/// dimension 0 <= start + step * coordinate - update's start < extent of the value.
std::optional<Bounds> update_box(const graph::Graph& g, graph::NodeId update, const graph::IndexMap& map, Bounds box);

/// lower/values.cpp: what the outputs need, from the last to the first, as instructions in order. `walk` says what the
/// group goes over: the group itself, or one way of a row-and-column one.
Selection select(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group, const graph::Group& walk,
                 const std::vector<graph::GraphEdge>& outputs);
/// The same of a map, walked without the axes of which `slots` has extents: each point stores an element for each place
/// along them. Nothing where that takes more than `most` statements before the stores.
std::optional<Selection> select_slots(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group,
                                      const graph::Group& walk, const std::vector<graph::GraphEdge>& outputs,
                                      const graph::Dims& slots, std::size_t most);

/// lower/unused.cpp: takes out the instructions that nothing stored needs, and what only these named; scalars that
/// nothing names.
void drop_unused(Selection& selection);
void drop_unused_scalars(Selection& selection);

/// Axes of a group's space as collapsed outer dimensions, outermost first: neighbours that every access walks as one
/// merge. So do those along which every guard's box is one run.
using MergedAxes = std::vector<std::vector<int>>;
/// lower/merge.cpp: the merged axes; the same, with guards rewritten for them.
MergedAxes merged_axes(const Selection& selection, const graph::Group& group);
MergedAxes merge_axes(Selection& selection, const graph::Group& group);

/// lower/slots.cpp: axes of a map that may be slots of one point, as slot_map() takes them.
struct SlotAxes {
  graph::Dims extents;
  double most_cost;  ///< of the statements of all slots
};
/// Those to try, in order. Short last axes along which boxes of updates end, or which keep loops over guarded rows
/// short; short first axes whose elements share a part of their work.
std::vector<SlotAxes> slot_axes(const Selection& selection, const graph::Group& group, const graph::Target& target);
/// The cost of a point's statements.
double cost_of(const KernelIr& ir);

/// lower/row_column.cpp: the same of a row-and-column group, both ways in one, with stages. `walk` becomes what the
/// schedule is for: `axis` the one along which memory lies; a plain group where one way has no outputs.
Selection select_row_column(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group, graph::Group& walk,
                            const std::vector<graph::GraphEdge>& outputs);

/// lower/stages.cpp: the stage of every instruction and reduction, by dependence.
void assign_stages(KernelIr& ir);

/// lower/iterated_stencil.cpp: all of lower() for a group of steps.
Lowered lower_iterated_stencil(const graph::Graph& g, const graph::Group& group, const graph::Target& target);

/// lower/recurrence.cpp: all of lower() for a group of levels.
Lowered lower_levels(const graph::Graph& g, const graph::Group& group, const std::vector<graph::GraphEdge>& outputs,
                     const graph::Target& target);

/// lower/schedule.cpp: collapses dimensions, chooses a layout and counts bytes.
Lowered schedule(Selection selection, const graph::Group& group, const graph::Target& target);

/// True if an instruction's index is that of an access.
inline bool names_access(const Instr& in) {
  return in.kind == InstrKind::Load || in.kind == InstrKind::Store || in.kind == InstrKind::Gather;
}

/// True if a load of an access has a guard.
inline bool is_guarded(const KernelIr& ir, std::size_t access) {
  return std::ranges::any_of(ir.instrs, [&](const Instr& in) {
    return in.kind == InstrKind::Load && in.index == access && in.guard != kNone;
  });
}

}  // namespace tarry::codegen
