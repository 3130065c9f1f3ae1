// From coordinates of a group's space to those of the values in it; where updates give their values.
#include <algorithm>
#include <optional>

#include "codegen/lower/selection.h"
#include "graph/fusion/trace.h"
#include "graph/preimage.h"
#include "support/check.h"

namespace tarry::codegen {

using graph::AxisMap;
using graph::Dims;
using graph::IndexMap;

IndexMap home_map(const graph::Group& group, const Dims& shape, Coordinates coordinates) {
  const bool outer = coordinates == Coordinates::Outer;
  IndexMap m;
  int axis = -1;
  const auto next = [&] {
    do ++axis;
    while (axis < group.space.size() && ((outer && axis == group.axis) || group.space[axis] == 1));
  };
  for (std::int64_t extent : shape) {
    if (extent == 1) {
      m.push_back({-1, 0, 0});
    } else {
      next();
      m.push_back({axis, 0, 1});
    }
  }
  return m;
}

IndexMap point_map(const graph::Graph& g, const graph::Group& group, graph::NodeId reduce) {
  const Dims& shape = g.shape(g.nodes[reduce].inputs[0].node);
  if (group.scans) return home_map(group, shape, Coordinates::Points);
  const int axis = g.reduces[g.nodes[reduce].payload].axis;
  Dims kept = shape;
  kept.erase(axis);
  const IndexMap outer = home_map(group, kept, Coordinates::Outer);
  IndexMap m;
  for (int d = 0, at = 0; d < shape.size(); ++d) m.push_back(d == axis ? AxisMap{group.axis, 0, 1} : outer[at++]);
  return m;
}

IndexMap slot_map(const graph::Group& group, const Dims& shape, const Dims& slots, std::int64_t slot) {
  IndexMap m;
  int axis = -1, point = -1;
  const auto next = [&] {
    ++axis;
    if (slots[axis] == 0) ++point;
    return slots[axis] == 0 ? group.space[point] : slots[axis];
  };
  for (const std::int64_t extent : shape) {
    if (extent == 1) {
      m.push_back({-1, 0, 0});
      continue;
    }
    while (next() == 1) continue;
    if (slots[axis] == 0) {
      m.push_back({point, 0, 1});
    } else {
      m.push_back({-1, slot % slots[axis], 0});
      slot /= slots[axis];
    }
  }
  return m;
}

graph::Source traced(const graph::Graph& g, graph::GraphEdge edge, IndexMap map) {
  graph::Source s = graph::trace(g, edge, std::move(map));
  for (int i = 0; i < s.shape.size(); ++i)
    if (s.shape[i] == 1 || s.map[i].step == 0 || s.map[i].axis < 0)
      s.map[i] = {-1, s.shape[i] == 1 ? 0 : s.map[i].start, 0};
  return s;
}

RawAccess access_at(std::int64_t offset, const Dims& strides, const IndexMap& map, int rank) {
  RawAccess a;
  a.offset = offset;
  a.strides = Dims::filled(rank, 0);
  for (int d = 0; d < map.size; ++d) {
    a.offset += map[d].start * strides[d];
    if (map[d].axis >= graph::kGatheredAxis) continue;
    if (map[d].axis >= rank) {
      a.loop_stride += map[d].step * strides[d];
      if (a.loop_stride != 0) a.loop = static_cast<std::uint32_t>(map[d].axis - rank);
    } else if (map[d].axis >= 0) {
      a.strides[map[d].axis] += map[d].step * strides[d];
    }
  }
  return a;
}

bool contains(const Bounds& outer, const Bounds& inner) {
  for (int axis = 0; axis < inner.low.size(); ++axis)
    if (inner.low[axis] < outer.low[axis] || inner.high[axis] > outer.high[axis]) return false;
  return true;
}

std::optional<Bounds> update_box(const graph::Graph& g, graph::NodeId update, const IndexMap& map, Bounds box) {
  const graph::GraphNode& n = g.nodes[update];
  TARRY_ASSERT(g.updates[n.payload].dense());
  const Dims& start = g.updates[n.payload].start;
  const Dims& extents = g.shape(n.inputs[1].node);
  for (int d = 0; d < extents.size(); ++d) {
    const AxisMap& m = map[d];
    const std::int64_t from = m.start - start[d];  // first coordinate inside the box
    if (m.axis < 0) {
      if (from < 0 || from >= extents[d]) return std::nullopt;
      continue;
    }
    const auto [low, high] = graph::preimage(from, m.step, extents[d]);
    box.low[m.axis] = std::max(box.low[m.axis], low);
    box.high[m.axis] = std::min(box.high[m.axis], high);
    if (box.low[m.axis] >= box.high[m.axis]) return std::nullopt;
  }
  return box;
}

}  // namespace tarry::codegen
