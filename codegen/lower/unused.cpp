// drop_unused(): instructions that nothing stored needs, and the accesses, guards and scalars that only these named.
#include <utility>

#include "codegen/ir/usual.h"
#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

/// The new number of each element that stays; kNone for the others.
std::vector<std::uint32_t> numbers(const std::vector<bool>& stays) {
  std::vector<std::uint32_t> now(stays.size(), kNone);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i]) now[i] = count++;
  return now;
}

template <class List>
void keep(List& list, const std::vector<std::uint32_t>& now) {
  List kept;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] != kNone) kept.push_back(std::move(list[i]));
  list = std::move(kept);
}

/// Numbers anew what `each` calls a function with, of `count`, and drops the rest: the new number of each, or kNone.
template <class Each>
std::vector<std::uint32_t> renumbered(std::size_t count, const Each& each) {
  std::vector<bool> stays(count);
  each([&](std::uint32_t& n) {
    if (n != kNone) stays[n] = true;
  });
  const std::vector<std::uint32_t> now = numbers(stays);
  each([&](std::uint32_t& n) {
    if (n != kNone) n = now[n];
  });
  return now;
}

void drop_instructions(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  const std::vector<std::uint32_t> now = numbers(needed_values(ir));
  keep(ir.instrs, now);
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
  const std::vector<std::uint32_t> now = renumbered(ir.guards.size(), [&](const auto& f) {
    for (Instr& in : ir.instrs) f(in.kind == InstrKind::Inside ? in.index : in.guard);
  });
  for (RawAccess& a : s.accesses)
    if (a.guard != kNone) a.guard = now[a.guard];
  keep(ir.guards, now);
  keep(s.boxes, now);
}

void drop_accesses(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  keep(s.accesses, renumbered(s.accesses.size(), [&](const auto& f) {
         for (Instr& in : ir.instrs)
           if (names_access(in)) f(in.index);
         for (std::uint32_t& element : ir.checks) f(element);
         f(ir.faults);
         for (Guard& g : ir.guards)
           for (GuardTerm& term : g.terms) f(term.access);
       }));
}

}  // namespace

void drop_unused_scalars(Selection& s) {
  KernelIr& ir = s.lowered.ir;
  const std::vector<std::uint32_t> now = renumbered(ir.scalars.size(), [&](const auto& f) {
    for (Instr& in : ir.instrs)
      if (in.kind == InstrKind::Scalar) f(in.index);
    for (Reduction& r : ir.reductions) f(r.weight);
    for (std::uint32_t& extent : ir.loops) f(extent);
    for (CheckRef& check : s.lowered.checks) f(check.scalar);
    for (Guard& g : ir.guards)
      for (GuardTerm& term : g.terms) f(term.extent);
  });
  keep(ir.scalars, now);
  keep(s.lowered.scalars, now);
}

void drop_unused(Selection& selection) {
  drop_instructions(selection);
  drop_guards(selection);
  drop_accesses(selection);
  drop_unused_scalars(selection);
}

}  // namespace tarry::codegen
