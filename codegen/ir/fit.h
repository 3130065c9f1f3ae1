// How much of a GPU's thread a kernel takes: registers and instructions, estimated before anything is compiled, and
// the smaller form of a kernel whose compiler reports that registers did not suffice. The estimate spares most kernels
// the second form; the compiler's report has the last word.
#pragma once

#include <optional>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// Demands of a point of a map. Registers are words of 32 bits; arguments of the kernel take none.
struct Pressure {
  int loaded = 0;        ///< all that the point loads
  int live = 0;          ///< values held at once, each from where it is loaded or computed to its last use
  int called = 0;        ///< beside them, within the function that takes most
  int instructions = 0;  ///< of machine code, a loop's once
  /// Registers of a thread that has `groups` vectors of `vector` points at once. What the later groups load is there
  /// before the first one stores.
  [[nodiscard]] int registers(int groups, int vector) const;
};
Pressure pressure_of(const KernelIr& ir);
/// Instructions of a GPU for one of the IR, about.
int instructions_of(const Instr& in);

/// True if words are drawn, from blocks that neighbouring points share.
bool has_draws(const KernelIr& ir);
/// True if so many points of a thread take more instructions than a GPU keeps at hand.
bool has_many_instructions(const KernelIr& ir, int points);
/// True if a thread had better have one point of a pointwise kernel at a time than `groups` vectors of `vector` points.
bool fits_one_point(const KernelIr& ir, int groups, int vector);
/// Text of a reduction's thread: `steps` elements of each of its lanes, of which it loads so many together. Beyond so
/// many registers or instructions it is long.
struct StepText {
  int steps = 1, lanes = 1, together = 1;
  int registers = 255, instructions = 2048;
};
/// True if the thread had better have one element of each lane at a time.
bool fits_one_step(const KernelIr& ir, const StepText& text);
/// Makes a map without tiles a pointwise kernel whose threads have one point at a time.
void take_single_points(KernelIr& ir);

/// The next form of a GPU's kernel that spills: one without a wish for thread blocks per multiprocessor, then one with
/// fewer points at once per thread. None where nothing smaller is left. Results are the same.
std::optional<KernelIr> smaller_form(const KernelIr& ir);

}  // namespace tarry::codegen
