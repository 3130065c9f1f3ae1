// slot_axes(): short last axes whose elements are slots of a point, each with statements of its own.
#include <cstdlib>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kMostSlots = 8;
constexpr std::int64_t kFewestPoints = 32;  ///< a loop over fewer is not worth a text of its own
constexpr std::size_t kMostStatements = 512;

/// True where an access goes through memory in another order than the points: tiles take those.
bool turned(const Selection& s, const MergedAxes& axes) {
  if (axes.size() < 2) return false;
  const int fast = axes[axes.size() - 2].back();
  for (const RawAccess& a : s.accesses)
    for (std::size_t d = 0; d + 2 < axes.size(); ++d) {
      const std::int64_t slow = std::abs(a.strides[axes[d].back()]);
      if (slow != 0 && slow < std::abs(a.strides[fast])) return true;
    }
  return false;
}

}  // namespace

graph::Dims slot_axes(const Selection& s, const graph::Group& group, const graph::Target& target) {
  const KernelIr& ir = s.lowered.ir;
  if (group.reduces || group.scatter != graph::kNoId || s.boxes.empty() || !ir.loops.empty()) return {};
  const MergedAxes axes = merged_axes(s, group);
  graph::Dims slots;
  for (const int d : axes.back()) slots.push_back(group.space[d]);
  const std::int64_t count = graph::element_count(slots.span());
  const std::int64_t points = graph::element_count(group.space.span()) / std::max<std::int64_t>(count, 1);
  const bool fits = count >= 2 && count <= kMostSlots && points >= kFewestPoints;
  if (!fits || ir.instrs.size() * static_cast<std::size_t>(count) > kMostStatements) return {};
  if (turned(s, axes)) return {};
  // A GPU's threads take the elements of a short axis side by side, unless they would go different ways.
  for (const Box& box : s.boxes)
    for (const int d : axes.back())
      if (!target.is_cuda() || box.low[d] != 0 || box.high[d] != group.space[d]) return slots;
  return {};
}

}  // namespace tarry::codegen
