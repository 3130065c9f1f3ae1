// Choices by guards, and kernels where guards are as usual: each holds, or does not, as in the largest part of the
// space in which none changes (Guard::usual). There an Inside is a constant, a choice by it is one of its sides, and
// what only the other side uses is not needed.
#pragma once

#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// True for a choice between two values by a guard.
inline bool is_choice(const KernelIr& ir, const Instr& in) {
  return in.kind == InstrKind::Compute && in.op == Op::Where && ir.instrs[in.args[0]].kind == InstrKind::Inside;
}
/// Values that something stored, reduced, folded or checked needs, by number; those of loops all count.
std::vector<bool> needed_values(const KernelIr& ir);
/// The value that `v` is there: of choices by a guard, the side that is taken.
Value usual_value(const KernelIr& ir, Value v);
/// True for a load whose guard does not hold there: it is zero.
inline bool is_usually_zero(const KernelIr& ir, const Instr& in) {
  return in.kind == InstrKind::Load && in.guard != kNone && !ir.guards[in.guard].usual;
}
/// Instructions of a map that its stores need there, the stores included.
std::vector<bool> usually_needed(const KernelIr& ir);
/// By access: whether such instructions load it.
std::vector<bool> usually_loaded(const KernelIr& ir);

}  // namespace tarry::codegen
