// Iterated stencils: what is needed around a tile, what passes from stage to stage, stages that are alike.
#pragma once

#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// Points around those of the result.
struct Halo {
  int top = 0, left = 0, bottom = 0, right = 0;
  friend bool operator==(const Halo&, const Halo&) = default;
};
/// Where stage `stage` is needed: what later ones reach.
Halo halo_after(const KernelIr& ir, int stage);

/// The tile of a thread block, see IteratedStencilLayout. It stores what lies inside; columns of the halo are whole
/// runs of a lane.
struct IteratedTile {
  static constexpr int kLanes = 32;
  int rows, columns;  ///< computed
  int top, left;      ///< of them not stored
  int stored_rows, stored_columns;
};
IteratedTile iterated_tile(const KernelIr& ir, const IteratedStencilLayout& layout);
IteratedTile iterated_tile(const KernelIr& ir);

/// Values, other than scalars, that later stages use or neighbours ask for: held for all points of the tile.
std::vector<bool> kept_values(const KernelIr& ir);
/// 4-byte words of kept values that a point holds at once.
int kept_words(const KernelIr& ir);

/// The points of a kept value that a stage reads beyond its own.
struct IteratedReach {
  Value value = kNone;
  Halo by;
  int first = 0, last = 0;  ///< rows from the point's, where other columns are read: none if first > last
};
std::vector<IteratedReach> reaches(const KernelIr& ir, int stage);
/// Bytes that the warps of a thread block exchange in a stage; the most of any.
std::size_t exchanged_bytes(const KernelIr& ir, const IteratedStencilLayout& layout);

/// On a CPU rows pass stage after stage; of a kept value the last few are there.
struct IteratedRing {
  Value value = kNone;
  int rows = 1, columns = 1;
};
/// Rows that a stage is behind the first one.
int rows_behind(const KernelIr& ir, int stage);
std::vector<IteratedRing> rings(const KernelIr& ir, const IteratedStencilLayout& layout);
std::size_t ring_bytes(const KernelIr& ir, const IteratedStencilLayout& layout);

/// Neighbouring stages that do the same: each makes one kept value from that of the one before, which nobody else uses.
struct IteratedRun {
  int first = 1, count = 1;
  std::vector<Value> values;  ///< of several: what the first of them takes, then what each makes
};
std::vector<IteratedRun> find_runs(const KernelIr& ir);

}  // namespace tarry::codegen
