// Chains of stencils: a kernel that computes one formula at several shifts of its point (the last step of a simulation
// needs the step before at five places) computes it once for all points of a tile.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// Rows and columns from a point.
using Shift = std::pair<int, int>;

/// A computation, or a window's elements; instructions that are equal but for their shift share it.
struct ChainValue {
  Value sample = kNone;                          ///< the first of its instructions
  Shift at;                                      ///< where that one lies
  std::set<Shift> needed;                        ///< from the point of a store
  int pass = -1;                                 ///< which computes it; -1: loaded, or not needed
  int top = 0, left = 0, bottom = 0, right = 0;  ///< of `needed`
};

/// Instructions that run at the same shifts, in order.
struct ChainPass {
  std::vector<std::uint32_t> values;
};

/// Where guards are as usual (usual.h): what a tile computes, each value once.
struct Chain {
  std::vector<ChainValue> values;
  std::vector<ChainPass> passes;
  std::vector<std::uint32_t> value_of;    ///< per instruction: its value; kNone for a store and for what is the same
                                          ///< everywhere: a scalar, an Inside, a load that is zero
  std::vector<Shift> shift_of;            ///< per instruction
  [[nodiscard]] bool worthwhile() const;  ///< true if something is computed at several shifts
};
Chain find_chain(const KernelIr& ir);

}  // namespace tarry::codegen
