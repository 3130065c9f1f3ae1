// Selection: the instructions of a group over its whole space, before dimensions are collapsed and a schedule is
// chosen. The steps of lower(), in order; nothing else includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/lower/lower.h"

namespace tarry::codegen {

/// An access with strides over every axis of the group's space.
struct RawAccess {
  std::uint32_t buffer = kNone;
  std::uint32_t guard = kNone;  ///< of the loads that use it
  bool store = false, outer_only = false;
  std::uint32_t loop = kNone;
  std::int64_t offset = 0, loop_stride = 0;
  graph::Dims strides;
  friend bool operator==(const RawAccess&, const RawAccess&) = default;
};

/// The points of the group's space with low <= coordinate < high along every axis.
struct Box {
  graph::Dims low, high;
  friend bool operator==(const Box&, const Box&) = default;
};

struct Selection {
  Lowered lowered;                         ///< all but accesses, extents, stages, schedule and bytes
  std::vector<RawAccess> accesses;         ///< by access number of the IR
  std::vector<Box> boxes;                  ///< by guard number of the IR: where it holds
  std::vector<std::int64_t> buffer_bytes;  ///< by buffer number: the size of the whole value
  std::vector<std::int64_t> loops;         ///< by loop: its extent
};

/// Coordinates of a group's space: all of them, or all but the reduced one.
enum class Coordinates : std::uint8_t { Points, Outer };
/// lower/maps.cpp: coordinates of the group's space -> dimensions of a shape that lives in it; -> dimensions of a
/// reduction's input, whose reduced one is the space's axis even at extent 1.
graph::IndexMap home_map(const graph::Group& group, const graph::Dims& shape, Coordinates coordinates);
graph::IndexMap point_map(const graph::Graph& g, const graph::Group& group, graph::NodeId reduce);
/// The points of a box where a dense update that is wanted at `map` gives its value, if there are any: along each
/// dimension 0 <= start + step * coordinate - update's start < extent of the value.
std::optional<Box> update_box(const graph::Graph& g, graph::NodeId update, const graph::IndexMap& map, Box box);

/// lower/values.cpp: what the outputs need, from the last to the first, as instructions in order. `walk` says what the
/// group goes over: the group itself, or one way of a row-and-column one.
Selection select(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group, const graph::Group& walk,
                 const std::vector<graph::GraphEdge>& outputs);

/// lower/row_column.cpp: the same of a row-and-column group, both ways in one, with stages. `walk` becomes what the
/// schedule is for: `axis` the one along which memory lies; a plain group where one way has no outputs.
Selection select_row_column(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group, graph::Group& walk,
                            const std::vector<graph::GraphEdge>& outputs);

/// lower/stages.cpp: the stage of every instruction and reduction, by dependence.
void assign_stages(KernelIr& ir);

/// lower/iterated_stencil.cpp: all of lower() for a group of steps.
Lowered lower_steps(const graph::Graph& g, const graph::Group& group, const graph::Target& target);

/// lower/schedule.cpp: collapses dimensions, chooses a layout and counts bytes.
Lowered schedule(Selection selection, const graph::Group& group, const graph::Target& target);

/// True if a load of an access has a guard.
inline bool is_guarded(const KernelIr& ir, std::size_t access) {
  return std::ranges::any_of(ir.instrs, [&](const Instr& in) {
    return in.kind == InstrKind::Load && in.index == access && in.guard != kNone;
  });
}

}  // namespace tarry::codegen
