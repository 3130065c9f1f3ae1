// KernelModel: places that a gather computes, and where updates give their values.
#include <algorithm>

#include "graph/fusion/model.h"
#include "graph/preimage.h"

namespace tarry::graph {

/// The coordinate that the index of a gather is at a place.
AxisMap KernelModel::gathered(NodeId gather, std::uint32_t place) {
  const Step index = step(gather, 1, place);
  const std::uint32_t axes = places_[place].axes, parts[] = {index.edge.node, index.edge.output, index.place, axes};
  std::string key(reinterpret_cast<const char*>(parts), sizeof parts);
  const auto [it, fresh] =
      gathered_ids_.try_emplace(std::move(key), kGatheredAxis + static_cast<std::int32_t>(gathered_axes_.size()));
  if (fresh) gathered_axes_.push_back(axes);
  return {it->second, 0, 1};
}

/// Where a dense update gives its value, if anywhere: low and high along each axis of the space, to kUnbounded where
/// the whole axis is meant.
std::optional<std::vector<std::int64_t>> KernelModel::update_box(NodeId update, const Place& place) const {
  const GraphNode& n = g_.nodes[update];
  const Dims& starts = g_.updates[n.payload].start;
  const Dims& extents = g_.shape(n.inputs[1].node);
  std::vector<std::int64_t> box = place.box;
  if (box.empty())
    for (int axis = 0; axis < space_.size(); ++axis) box.insert(box.end(), {0, kUnbounded});
  for (int d = 0; d < extents.size(); ++d) {
    const AxisMap& m = place.dims[static_cast<std::size_t>(d)];
    const std::int64_t from = m.start - starts[d];
    if (m.axis < 0) {
      if (from < 0 || from >= extents[d]) return std::nullopt;
      continue;
    }
    const auto [low, high] = preimage(from, m.step, extents[d]);
    const auto i = static_cast<std::size_t>(m.axis) * 2;
    box[i] = std::max(box[i], low);
    box[i + 1] = std::min({box[i + 1], high, space_[m.axis]});
    if (box[i] >= box[i + 1]) return std::nullopt;
    if (box[i] == 0 && box[i + 1] == space_[m.axis]) box[i + 1] = kUnbounded;
  }
  return box;
}

bool KernelModel::is_everywhere(const std::vector<std::int64_t>& box) {
  for (std::size_t i = 0; i < box.size(); i += 2)
    if (box[i] != 0 || box[i + 1] != kUnbounded) return false;
  return true;
}

/// Where a value is wanted along axes that do not move it is all the same.
void KernelModel::trim(Place& place) {
  for (std::size_t axis = 0; axis * 2 < place.box.size(); ++axis) {
    if ((place.axes >> axis & 1) != 0) continue;
    place.box[axis * 2] = 0;
    place.box[axis * 2 + 1] = kUnbounded;
  }
}

/// The input that an update is everywhere in the place's box, or -1.
int KernelModel::decide(NodeId update, std::uint32_t place) {
  const std::optional<std::uint64_t> key = key_in_space(update, place);
  if (!key) return find_decision(update, place);
  if (const std::optional<std::uint32_t> known = decisions_.find(*key)) return static_cast<int>(*known) - 1;
  const int found = find_decision(update, place);
  decisions_.insert(*key, static_cast<std::uint32_t>(found + 1));
  return found;
}

int KernelModel::find_decision(NodeId update, std::uint32_t place) const {
  const std::optional<std::vector<std::int64_t>> box = update_box(update, places_[place]);
  if (!box) return 0;
  const std::vector<std::int64_t>& wanted = places_[place].box;
  return (wanted.empty() ? is_everywhere(*box) : *box == wanted) ? 1 : -1;
}

}  // namespace tarry::graph
