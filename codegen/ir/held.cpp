// held_loops(): loads that stay where they are along a row, and what is computed from them alone.
#include "codegen/ir/held.h"

#include <algorithm>

namespace tarry::codegen {
namespace {

/// True if an instruction of a loop has the same value at every element of a row. `before`: those ahead of it that do.
bool stays(const KernelIr& ir, const Instr& in, const std::vector<bool>& before) {
  if (in.kind == InstrKind::Load) return ir.accesses[in.index].reduced == StrideClass::Zero && in.guard == kNone;
  if (in.kind != InstrKind::Compute) return false;
  return std::ranges::all_of(in.args, [&](Value v) {
    if (v == kNone || before[v]) return true;
    return ir.instrs[v].kind == InstrKind::Scalar || ir.instrs[v].region == Region::Row;
  });
}

HeldLoop held_loop(const KernelIr& ir, std::uint32_t loop) {
  HeldLoop held;
  held.before.resize(ir.instrs.size());
  std::vector<bool> used(ir.instrs.size());
  bool loads = false;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& in = ir.instrs[v];
    if (in.kind == InstrKind::Fold && ir.folds[in.index].loop == loop) used[ir.folds[in.index].arg] = true;
    if (in.loop != loop) continue;
    held.before[v] = stays(ir, in, held.before);
    loads |= held.before[v] && in.kind == InstrKind::Load && !is_iota(ir, v);
    for (const Value arg : in.args)
      if (arg != kNone && !held.before[v]) used[arg] = true;
  }
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (used[v] && held.before[v] && !is_iota(ir, v)) held.kept.push_back(v);
  return loads && !held.kept.empty() ? held : HeldLoop{};
}

}  // namespace

int held_registers(const KernelIr& ir, const HeldLoop& held) {
  int registers = 0;
  for (const Value v : held.kept)
    registers += ir.steps_of(ir.instrs[v].loop) * (itemsize(ir.instrs[v].dtype) == 8 ? 2 : 1);
  return registers;
}

std::vector<HeldLoop> held_loops(const KernelIr& ir) {
  std::vector<HeldLoop> loops(ir.loops.size());
  int left = kHeldRegisters;
  for (std::uint32_t l = 0; l < ir.loops.size(); ++l) {
    if (ir.steps_of(l) == 0 || ir.instrs[ir.first_fold(l)].region != Region::Point) continue;
    HeldLoop held = held_loop(ir, l);
    const int registers = held_registers(ir, held);
    if (registers > left) continue;
    left -= registers;
    loops[l] = std::move(held);
  }
  return loops;
}

}  // namespace tarry::codegen
