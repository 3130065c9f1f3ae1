// lower(): the steps of selection.h in order.
#include "codegen/lower/lower.h"

#include "codegen/lower/selection.h"

namespace tarry::codegen {

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
  if (const graph::Dims slots = slot_axes(selection, walk, target); !slots.empty()) {
    for (int i = 0; i < slots.size(); ++i) walk.space.erase(walk.space.size() - 1);
    selection = select(g, fusion, group, walk, outputs, slots);
  }
  if (!walk.row_column()) assign_stages(selection.lowered.ir);
  Lowered out = schedule(std::move(selection), walk, target);
  verify(out.ir);
  return out;
}

}  // namespace tarry::codegen
