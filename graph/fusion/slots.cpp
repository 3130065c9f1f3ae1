// KernelModel: short last axes whose elements one point computes (codegen/lower/slots.cpp).
#include "graph/fusion/model.h"

namespace tarry::graph {

/// Bits: short last axes of a map along which the boxes of updates end. A point computes what does not move along them
/// once for all of its slots there.
std::uint32_t KernelModel::slot_axes() const {
  constexpr std::int64_t kMostSlots = 8;
  if (key_ != kNoId || scatter_ != kNoId) return 0;
  std::uint32_t ends = 0, slots = 0;
  for (const Computed& c : requests_) {
    if (g_.nodes[c.node].op != Op::Update || c.decided) continue;
    const Dims& box = g_.shape(g_.nodes[c.node].inputs[1].node);
    for (int d = 0; d < box.size(); ++d)
      if (const AxisMap& m = places_[c.place].dims[static_cast<std::size_t>(d)]; m.axis >= 0 && box[d] < space_[m.axis])
        ends |= 1u << m.axis;
  }
  std::int64_t count = 1;
  for (int axis = space_.size() - 1; axis > 0 && (ends >> axis & 1) != 0; --axis) {
    count *= space_[axis];
    if (count > kMostSlots) break;
    slots |= 1u << axis;
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
