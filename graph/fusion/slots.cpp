// KernelModel: short axes whose elements one point computes (codegen/lower/slots.cpp).
#include <set>

#include "graph/fusion/model.h"

namespace tarry::graph {

/// Bits: axes of a map along which the boxes of updates end.
std::uint32_t KernelModel::ending_axes() const {
  std::uint32_t ends = 0;
  for (const Computed& c : requests_)
    if (g_.nodes[c.node].op == Op::Update && !c.decided) ends |= ending_axes(c);
  return ends;
}

std::uint32_t KernelModel::ending_axes(const Computed& update) const {
  std::uint32_t ends = 0;
  const Dims& box = g_.shape(g_.nodes[update.node].inputs[1].node);
  for (int d = 0; d < box.size(); ++d)
    if (const AxisMap& m = places_[update.place].dims[static_cast<std::size_t>(d)];
        m.axis >= 0 && box[d] < space_[m.axis])
      ends |= 1u << m.axis;
  return ends;
}

/// Runs of elements along an axis of a map that no box of an update parts.
std::int64_t KernelModel::runs_along(int axis) const {
  std::set<std::int64_t> starts{0};
  for (const Computed& c : requests_) {
    if (g_.nodes[c.node].op != Op::Update || c.decided) continue;
    const std::optional<std::vector<std::int64_t>> box = update_box(c.node, places_[c.place]);
    if (!box) continue;
    const auto i = static_cast<std::size_t>(axis) * 2;
    starts.insert({(*box)[i], std::min((*box)[i + 1], space_[axis])});
  }
  starts.erase(space_[axis]);
  return static_cast<std::int64_t>(starts.size());
}

/// Bits: short axes of a map, the last ones where the boxes of updates end along them, or the first ones where a part
/// of the work is the same along them. A point computes what does not move along them once for all of its slots there.
std::uint32_t KernelModel::slot_axes() const {
  if (key_ != kNoId || scatter_ != kNoId || nests_) return 0;
  const std::uint32_t ends = ending_axes();
  std::uint32_t slots = 0;
  std::int64_t count = 1;
  for (int axis = space_.size() - 1; axis > 0 && (ends >> axis & 1) != 0; --axis) {
    count *= space_[axis];
    if (count > limits_.slots) break;
    slots |= 1u << axis;
  }
  if (slots != 0) return slots;

  count = 1;
  std::int64_t runs = 1;
  for (int axis = 0; axis + 1 < space_.size(); ++axis) {
    count *= space_[axis];
    const auto all = static_cast<double>(count);
    if (static_cast<double>(stored_bytes_) * all > SlotLimits::first_bytes * points_ ||
        points_ < SlotLimits::fewest_points * all)
      break;
    const std::uint32_t first = (1u << (axis + 1)) - 1;
    double own = 0, shared = 0;
    std::int64_t statements = count;
    runs *= runs_along(axis);
    for (const Computed& c : requests_) {
      if (g_.nodes[c.node].op == Op::Update) continue;
      const bool moves = (places_[c.place].axes & first) != 0;
      (moves ? own : shared) += info(g_.nodes[c.node].op).cost;
      statements += moves ? count : 1;
    }
    if (statements > SlotLimits::statements) break;
    if (count > 1 && (runs == count || shared + own * all < SlotLimits::saves * (shared + own) * all)) slots = first;
  }
  return slots;
}

double KernelModel::slots_without(const Place& place, std::uint32_t slots) const {
  double count = 1;
  for (int axis = 0; axis < space_.size(); ++axis)
    if ((slots >> axis & 1) != 0 && (place.axes >> axis & 1) == 0) count *= static_cast<double>(space_[axis]);
  return count;
}

}  // namespace tarry::graph
