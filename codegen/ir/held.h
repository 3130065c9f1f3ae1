// Values of loops at points that are the same at every element of a row: a thread makes them once, before the row, and
// holds them.
#pragma once

#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

inline constexpr int kHeldRegisters = 64;  ///< of a thread, for what it holds of all loops

/// A loop whose values are held. Where nothing is, both lists are empty.
struct HeldLoop {
  std::vector<bool> before;  ///< by instruction: one of the loop that varies with its step alone, along a row
  std::vector<Value> kept;   ///< those of them that other instructions of the loop and its folds use, but coordinates
  [[nodiscard]] bool runs_before(Value v) const { return !before.empty() && before[v]; }
};

int held_registers(const KernelIr& ir, const HeldLoop& held);
/// One for each loop; loops whose steps are part of the text hold values, in order as far as kHeldRegisters go.
std::vector<HeldLoop> held_loops(const KernelIr& ir);

}  // namespace tarry::codegen
