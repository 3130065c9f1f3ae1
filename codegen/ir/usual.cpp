// From stores to loads, by the sides of choices that are taken.
#include "codegen/ir/usual.h"

namespace tarry::codegen {

std::vector<bool> needed_values(const KernelIr& ir) {
  std::vector<bool> needs(ir.instrs.size());
  const auto need = [&](Value v) {
    if (v != kNone) needs[v] = true;
  };
  for (const Reduction& r : ir.reductions) {
    for (const Value v : r.args) need(v);
    need(r.combined);
  }
  for (const Fold& f : ir.folds) need(f.arg);
  for (Value v = static_cast<Value>(ir.instrs.size()); v-- > 0;) {
    const Instr& in = ir.instrs[v];
    const bool is_free = in.kind == InstrKind::Compute || in.kind == InstrKind::Load || in.kind == InstrKind::Inside ||
                         in.kind == InstrKind::Scalar;
    if (!is_free || in.loop != kNone) needs[v] = true;
    if (!needs[v]) continue;
    for (const Value arg : in.args) need(arg);
  }
  return needs;
}

Value usual_value(const KernelIr& ir, Value v) {
  for (;;) {
    const Instr& in = ir.instrs[v];
    if (!is_choice(ir, in)) return v;
    v = in.args[ir.guards[ir.instrs[in.args[0]].index].usual ? 1 : 2];
  }
}

std::vector<bool> usually_needed(const KernelIr& ir) {
  std::vector<bool> needed(ir.instrs.size());
  for (Value v = static_cast<Value>(ir.instrs.size()); v-- > 0;) {
    const Instr& in = ir.instrs[v];
    if (in.kind == InstrKind::Store) needed[v] = true;
    if (!needed[v]) continue;
    for (const Value arg : in.args)
      if (arg != kNone) needed[usual_value(ir, arg)] = true;
  }
  return needed;
}

std::vector<bool> usually_loaded(const KernelIr& ir) {
  const std::vector<bool> needed = usually_needed(ir);
  std::vector<bool> loaded(ir.accesses.size());
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (needed[v] && ir.instrs[v].kind == InstrKind::Load && !is_usually_zero(ir, ir.instrs[v]))
      loaded[ir.instrs[v].index] = true;
  return loaded;
}

}  // namespace tarry::codegen
