// Instructions: what selection says of values once it knows which ones are wanted where: loads, guards, places that are
// computed, and the region of each instruction.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/lower/arguments.h"
#include "graph/fusion/trace.h"

namespace tarry::codegen {

using ValueKey = std::array<std::uint32_t, 9>;

class Instructions : protected Arguments {
 protected:
  /// `walk`: what the group goes over.
  explicit Instructions(const graph::Group& walk);

  // --- Boxes and guards ---------------------------------------------------------------------------------------------

  /// kNone: everywhere.
  [[nodiscard]] const Bounds& box_of(std::uint32_t number) const { return number == kNone ? whole_ : boxes_[number]; }
  std::uint32_t box_number(const Bounds& box);
  /// The box, whole along the axes that do not matter.
  template <class Moves>
  [[nodiscard]] Bounds trimmed(Bounds box, const Moves& moves) const {
    for (int axis = 0; axis < box.low.size(); ++axis) {
      if (moves(axis)) continue;
      box.low[axis] = 0;
      box.high[axis] = group_.space[axis];
    }
    return box;
  }
  /// The guard that holds in a box: a term for each axis that the box does not cover.
  std::uint32_t guard(const Bounds& box);
  /// That it holds, as a value.
  Value inside(const Bounds& box);

  // --- Places that are computed -------------------------------------------------------------------------------------

  /// A coordinate that the kernel computes.
  struct Computed {
    Value place;
    std::uint32_t axes;  ///< bits: those of the space that move what is read there
    friend bool operator==(const Computed&, const Computed&) = default;
  };
  /// The axis that stands for it in maps.
  std::int32_t axis_of(const Computed& coordinate);
  /// Bits: the axes of the space that move a coordinate of a map.
  [[nodiscard]] std::uint32_t axes_of(const graph::AxisMap& coordinate) const;
  /// An element of a buffer, counted from its start: what coordinates give by strides, and what is computed besides.
  struct Place {
    RawAccess known;
    Value computed = kNone;
    std::uint32_t axes = 0;  ///< bits, those that move it
  };
  /// The element at `map` of dimensions of `strides`.
  Place place(std::uint32_t buffer, std::int64_t offset, const graph::Dims& strides, const graph::IndexMap& map);
  /// A place of which a part is computed, as a value.
  Value value_of(const Place& place);

  // --- Instructions -------------------------------------------------------------------------------------------------

  /// A load at the coordinates of `map` in a box, or a gather where some of those are computed.
  Instr load_at(Instr in, std::uint32_t buffer, std::int64_t offset, const graph::Dims& strides,
                const graph::IndexMap& map, std::uint32_t box);
  /// Where the access does not move the box does not matter.
  Instr load(Instr in, RawAccess from, std::uint32_t box);
  /// The check of in.args for an element of `shape` at `map`, of node `index`.
  Instr check(Instr in, graph::NodeId index, const graph::Dims& shape, const graph::IndexMap& map, std::uint32_t box);
  /// The instruction where its arguments and its guard let it run.
  [[nodiscard]] Instr placed(Instr in) const;
  Value push(Instr in);
  /// The same, unless one of equal value was pushed so.
  Value push_numbered(Instr in);

  const graph::Group& group_;
  std::vector<Bounds> boxes_;    ///< that requests name
  bool numbers_values_ = false;  ///< loads and computations of equal values are one instruction

 private:
  [[nodiscard]] bool varies_along_axis(std::uint32_t guard) const;
  [[nodiscard]] Region region(bool varies) const;
  Value arithmetic(Op op, Value a, Value b);
  [[nodiscard]] std::optional<RawAccess> by_strides(Value coordinate) const;
  Value constant(std::int64_t value);

  Bounds whole_;
  std::vector<bool> guard_outer_;  // by guard: made for the outer phase
  std::unordered_map<std::uint32_t, Value> inside_;
  std::map<ValueKey, Value> value_numbers_;
  std::vector<Computed> computed_;
};

}  // namespace tarry::codegen
