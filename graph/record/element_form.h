// Axes of a value as elements over lanes: parts that are lanes, and small ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "graph/shape.h"

namespace tarry::graph {

/// A value as elements: one for each place along its axes without their lanes, in row-major order.
struct ElementForm {
  static constexpr int kSmall = -1;
  /// A part of an axis: a lane, or small.
  struct Part {
    std::int64_t extent;
    int lane;
    friend bool operator==(const Part&, const Part&) = default;
  };
  using Parts = std::vector<Part>;  ///< of an axis, the slowest first; none where there is a single place

  std::vector<Parts> axes;

  /// All axes are small.
  [[nodiscard]] static ElementForm of(std::span<const std::int64_t> shape);
  [[nodiscard]] static Parts small(std::int64_t extent);

  [[nodiscard]] int rank() const { return static_cast<int>(axes.size()); }
  [[nodiscard]] Parts& operator[](int axis) { return axes[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] const Parts& operator[](int axis) const { return axes[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] bool has_lane(int axis) const;
  /// True if axes have these extents, and each of the lanes is there once.
  [[nodiscard]] bool fits(std::span<const std::int64_t> shape, int lanes) const;
  /// Places along an axis.
  [[nodiscard]] std::int64_t extent(int axis) const;
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t number(const Dims& at) const;
  [[nodiscard]] std::vector<Dims> places() const;
  /// The same elements in another shape; none where a lane would be cut, or has no extent.
  [[nodiscard]] std::optional<ElementForm> reshaped(std::span<const std::int64_t> shape) const;
};

}  // namespace tarry::graph
