// slot_axes(): short last axes whose elements are slots of a point, each with statements of its own.
#include <cstdlib>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kMostSlots = 16;
constexpr std::int64_t kVector = 8;         ///< elements side by side that one instruction takes
constexpr std::int64_t kFewestPoints = 32;  ///< a loop over fewer is not worth a text of its own
constexpr std::size_t kMostTried = 4096;    ///< statements, those that several slots share counted for each

/// True where an access goes through memory in another order than the points: tiles take those.
bool turned(const Selection& s, const MergedAxes& axes) {
  for (const RawAccess& a : s.accesses) {
    std::int64_t outer = 0;
    for (const std::vector<int>& axis : axes) {
      const std::int64_t stride = std::abs(a.strides[axis.back()]);
      if (stride == 0) continue;
      if (outer != 0 && stride > outer) return true;
      outer = stride;
    }
  }
  return false;
}

/// Extents of the last axes that are slots of a point: the last one, up to `longest`, and those before it for as long
/// as they are few together.
graph::Dims short_axes(const MergedAxes& axes, const graph::Group& group, std::int64_t longest) {
  std::int64_t count = 1;
  int dims = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    for (const int d : axes[i]) count *= group.space[d];
    if (count > (i + 1 == axes.size() ? longest : kMostSlots)) break;
    dims += static_cast<int>(axes[i].size());
  }
  graph::Dims slots;
  for (int d = group.space.size() - dims; d < group.space.size(); ++d) slots.push_back(group.space[d]);
  return slots;
}

}  // namespace

graph::Dims slot_axes(const Selection& s, const graph::Group& group, const graph::Target& target) {
  const KernelIr& ir = s.lowered.ir;
  if (group.reduces || group.scatter != graph::kNoId || !ir.loops.empty()) return {};
  const MergedAxes axes = merged_axes(s, group);
  const graph::Dims slots = short_axes(axes, group, s.boxes.empty() ? kVector - 1 : kVector);
  const std::int64_t count = graph::element_count(slots.span());
  const std::int64_t points = graph::element_count(group.space.span()) / std::max<std::int64_t>(count, 1);
  const bool fits = count >= 2 && points >= kFewestPoints;
  if (!fits || ir.instrs.size() * static_cast<std::size_t>(count) > kMostTried) return {};
  if (turned(s, axes)) return {};
  if (!target.is_cuda()) return slots;
  // A GPU's threads take the elements of a short axis side by side, unless they would go different ways.
  for (const Bounds& box : s.boxes)
    for (int d = group.space.size() - slots.size(); d < group.space.size(); ++d)
      if (box.low[d] != 0 || box.high[d] != group.space[d]) return slots;
  return {};
}

}  // namespace tarry::codegen
