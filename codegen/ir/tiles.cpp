// Tiles of stencils and of interleaved and planar channels, and their rules.
#include <algorithm>

#include "codegen/ir/verify.h"

namespace tarry::codegen {

int StencilLayout::row_dimension(const KernelIr& ir) const { return ir.rank - 2; }

int StencilLayout::tile(const KernelIr& ir, int dimension) const {
  if (dimension == ir.rank - 1) return vector;
  return dimension >= 0 && dimension == ir.rank - 2 ? rows : 1;
}

int PlanarLayout::tile(const KernelIr& ir, int dimension) const {
  if (dimension == ir.rank - 1) return vector;
  return dimension >= 0 && dimension == channel_dimension ? channels : 1;
}

void verify_row_column_guards(const KernelIr& ir) {
  for (const Guard& g : ir.guards)
    for (const GuardTerm& term : g.terms)
      if (moves_along(ir.accesses[term.access], ir.rank - 1) &&
          moves_along(ir.accesses[term.access], ir.row_dimension()))
        broken(ir, "a guard's term varies along rows or along columns");
}

namespace {

void verify_window(const KernelIr& ir, std::uint32_t access) {
  const Access& a = ir.accesses[access];
  if (a.window == kNone) return;
  const Access& anchor = ir.accesses.at(a.window);
  const bool shifted = a.row != 0 || a.column != 0;
  if (anchor.window != a.window || a.window > access || (a.window == access && shifted)) broken(ir, "an anchor");
  if (anchor.buffer != a.buffer || anchor.strides != a.strides) broken(ir, "a window has one buffer and one walk");
  if ((a.row != 0 && !moves_along(a, ir.rank - 2)) || (a.column != 0 && !moves_along(a, ir.rank - 1)))
    broken(ir, "a shift along a dimension that does not move");
  if (a.phase >= ir.vector()) broken(ir, "a phase");
}

}  // namespace

void verify_stencil(const KernelIr& ir) {
  const auto& layout = ir.as<StencilLayout>();
  if (ir.rank < 1 || layout.rows < 1 || layout.rows > 8 || layout.vector > 8 || (ir.rank == 1 && layout.rows > 1))
    broken(ir, "a tile of up to 8 rows and 8 columns");
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) verify_window(ir, a);
  verify_row_column_guards(ir);
}

void verify_planar(const KernelIr& ir) {
  const auto& layout = ir.as<PlanarLayout>();
  if (layout.channel_dimension < 0 || layout.channel_dimension + 1 >= ir.rank)
    broken(ir, "channels lie along a dimension before the last one");
  if (layout.channels < 2 || layout.channels > kMostChannels || layout.vector > 4)
    broken(ir, "a tile of few channels and up to 4 columns");
}

}  // namespace tarry::codegen
