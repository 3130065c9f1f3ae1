// lower(): the steps of selection.h in order.
#include "codegen/lower/lower.h"

#include <iterator>
#include <optional>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::size_t kMostText = 8192;

/// Statements, counted for each guard: loops are cut where one ends.
std::size_t text_of(const KernelIr& ir) { return ir.instrs.size() * (ir.guards.size() + 1); }

bool is_long(const KernelIr& ir) {
  return std::ssize(ir.instrs) > graph::SlotLimits::statements || text_of(ir) > kMostText;
}

/// A map whose points compute the elements along short axes, as many of these axes as make no long text; a
/// text that is long without them may be shorter with them.
void take_slots(Selection& selection, const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group,
                graph::Group& walk, const std::vector<graph::GraphEdge>& outputs, const graph::Target& target) {
  for (const SlotAxes& slots : slot_axes(selection, walk, target)) {
    graph::Group points = walk;
    for (int axis = slots.extents.size(); axis-- > 0;)
      if (slots.extents[axis] != 0) points.space.erase(axis);
    const KernelIr& without = selection.lowered.ir;
    const std::size_t most = std::max<std::size_t>(graph::SlotLimits::statements, without.instrs.size());
    std::optional<Selection> of_slots = select_slots(g, fusion, group, points, outputs, slots.extents, most);
    if (!of_slots) continue;
    const KernelIr& ir = of_slots->lowered.ir;
    if ((is_long(ir) && text_of(ir) >= text_of(without)) || cost_of(ir) > slots.most_cost) continue;
    selection = *std::move(of_slots);
    walk = std::move(points);
    return;
  }
}

}  // namespace

Lowered lower(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group,
              const std::vector<graph::GraphEdge>& outputs, const graph::Target& target) {
  if (fusion.groups[group].iterated_stencil() || fusion.groups[group].levels) {
    Lowered out = fusion.groups[group].levels ? lower_levels(g, fusion.groups[group], outputs, target)
                                              : lower_iterated_stencil(g, fusion.groups[group], target);
    verify(out.ir);
    return out;
  }
  graph::Group walk = fusion.groups[group];
  Selection selection =
      walk.row_column() ? select_row_column(g, fusion, group, walk, outputs) : select(g, fusion, group, walk, outputs);
  take_slots(selection, g, fusion, group, walk, outputs, target);
  if (!walk.row_column()) assign_stages(selection.lowered.ir);
  Lowered out = schedule(std::move(selection), walk, target);
  verify(out.ir);
  return out;
}

}  // namespace tarry::codegen
