// drop_unused(): instructions that nothing stored needs, and the accesses, guards and scalars that only these named.
#include <algorithm>
#include <utility>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

bool is_free(const Instr& in) {
  return in.loop == kNone && (in.kind == InstrKind::Compute || in.kind == InstrKind::Load ||
                              in.kind == InstrKind::Inside || in.kind == InstrKind::Scalar);
}

std::vector<bool> needed(const KernelIr& ir) {
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
    if (!is_free(in)) needs[v] = true;
    if (!needs[v]) continue;
    for (const Value arg : in.args) need(arg);
  }
  return needs;
}

/// The new number of each element that stays.
std::vector<std::uint32_t> numbers(const std::vector<bool>& stays) {
  std::vector<std::uint32_t> now(stays.size(), kNone);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i]) now[i] = count++;
  return now;
}

template <class List>
void keep(List& list, const std::vector<bool>& stays) {
  List kept;
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i]) kept.push_back(std::move(list[i]));
  list = std::move(kept);
}

void drop_instructions(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  const std::vector<bool> stays = needed(ir);
  const std::vector<std::uint32_t> now = numbers(stays);
  keep(ir.instrs, stays);
  const auto rename = [&](Value& v) {
    if (v != kNone) v = now[v];
  };
  for (Instr& in : ir.instrs)
    for (Value& arg : in.args) rename(arg);
  for (Reduction& r : ir.reductions) {
    for (Value& arg : r.args) rename(arg);
    rename(r.combined);
  }
  for (Fold& f : ir.folds) rename(f.arg);
  for (RawAccess& a : s.accesses) rename(a.at);
}

void drop_guards(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  std::vector<bool> stays(ir.guards.size());
  const auto each = [&](const auto& f) {
    for (Instr& in : ir.instrs) f(in.kind == InstrKind::Inside ? in.index : in.guard);
  };
  each([&](std::uint32_t g) {
    if (g != kNone) stays[g] = true;
  });
  const std::vector<std::uint32_t> now = numbers(stays);
  const auto rename = [&](std::uint32_t& g) {
    if (g != kNone) g = now[g];
  };
  each(rename);
  for (RawAccess& a : s.accesses) rename(a.guard);
  keep(ir.guards, stays);
  keep(s.boxes, stays);
}

void drop_accesses(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  std::vector<bool> stays(s.accesses.size());
  const auto each = [&](const auto& f) {
    for (Instr& in : ir.instrs)
      if (names_access(in)) f(in.index);
    for (std::uint32_t& element : ir.checks) f(element);
    if (ir.faults != kNone) f(ir.faults);
    for (Guard& g : ir.guards)
      for (GuardTerm& term : g.terms) f(term.access);
  };
  each([&](std::uint32_t a) { stays[a] = true; });
  const std::vector<std::uint32_t> now = numbers(stays);
  each([&](std::uint32_t& a) { a = now[a]; });
  keep(s.accesses, stays);
}

}  // namespace

void drop_unused_scalars(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  std::vector<bool> stays(ir.scalars.size());
  const auto each = [&](const auto& f) {
    for (Instr& in : ir.instrs)
      if (in.kind == InstrKind::Scalar) f(in.index);
    for (Reduction& r : ir.reductions)
      if (r.weight != kNone) f(r.weight);
    for (std::uint32_t& extent : ir.loops) f(extent);
    for (CheckRef& check : s.lowered.checks) f(check.scalar);
    for (Guard& g : ir.guards)
      for (GuardTerm& term : g.terms) f(term.extent);
  };
  each([&](std::uint32_t scalar) { stays[scalar] = true; });
  const std::vector<std::uint32_t> now = numbers(stays);
  each([&](std::uint32_t& scalar) { scalar = now[scalar]; });
  keep(ir.scalars, stays);
  keep(s.lowered.scalars, stays);
}

void drop_unused(Selection& selection) {
  drop_instructions(selection);
  drop_guards(selection);
  drop_accesses(selection);
  drop_unused_scalars(selection);
}

}  // namespace tarry::codegen
