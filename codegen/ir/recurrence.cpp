// Rules of recurrences.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/ir/verify.h"

namespace tarry::codegen {
namespace {

bool ends(const KernelIr& ir, int stage) {
  return std::ranges::any_of(ir.instrs,
                             [&](const Instr& in) { return in.kind == InstrKind::While && in.stage == stage; });
}

bool is_next(const KernelIr& ir, Value v) {
  return std::ranges::any_of(ir.instrs,
                             [&](const Instr& in) { return in.kind == InstrKind::Carried && in.args[1] == v; });
}

}  // namespace

void verify_level(const KernelIr& ir, std::size_t i, const std::string& here) {
  const Instr& in = ir.instrs[i];
  if (!ir.is_recurrence()) broken(ir, here + ": only recurrences have levels");
  if (in.kind == InstrKind::Keep || in.kind == InstrKind::Kept) {
    if (in.output >= ir.arrays.size() || ir.arrays[in.output].dtype != in.dtype) broken(ir, here + " names no array");
    if (in.index >= ir.accesses.size() || ir.accesses[in.index].buffer != kNone) broken(ir, here + ": its element");
    const Access& a = ir.accesses[in.index];
    if (std::ranges::any_of(a.strides, [](StrideClass c) { return c != StrideClass::Zero; }))
      broken(ir, here + ": all lanes keep the same level at once");
    if (in.kind == InstrKind::Keep && ir.instrs[in.args[0]].dtype != in.dtype) broken(ir, here + ": dtype");
    return;
  }
  if (in.kind == InstrKind::Number) {
    if (in.region != Region::Point || in.index >= ir.series.size()) broken(ir, here + " names no series");
    const Series& s = ir.series[in.index];
    if (s.count == 0 || s.first + s.count > ir.scalars.size()) broken(ir, here + ": scalars of its series");
    for (std::uint32_t at = s.first; at < s.first + s.count; ++at)
      if (ir.scalars[at] != in.dtype) broken(ir, here + ": dtype of its series");
    return;
  }
  const Value of = in.args[in.kind == InstrKind::Carried ? 1 : 0];
  if (of >= ir.instrs.size() || ir.instrs[of].region != Region::Point || ir.instrs[of].dtype != in.dtype)
    broken(ir, here + ": what it was");
  if (in.kind == InstrKind::While) {
    if (in.region != Region::Point || ir.instrs[of].stage != in.stage || in.dtype != Dtype::Bool)
      broken(ir, here + ": a condition of another loop");
    return;
  }
  if (in.kind == InstrKind::Last) {
    if (ends(ir, ir.instrs[of].stage) && !is_next(ir, of)) broken(ir, here + ": what a loop that ends carries");
    if (in.region != Region::Row || ir.instrs[of].stage >= in.stage)
      broken(ir, here + ": a last level before its loop");
    return;
  }
  const Value first = in.args[0];
  if (in.region != Region::Point || ir.instrs[of].stage != in.stage) broken(ir, here + ": carried in another loop");
  if (first >= i || ir.instrs[first].region != Region::Row || ir.instrs[first].stage > in.stage ||
      ir.instrs[first].dtype != in.dtype)
    broken(ir, here + ": where it starts");
}

void verify_recurrence(const KernelIr& ir) {
  const auto is_count = [&](std::uint32_t s) { return s < ir.scalars.size() && ir.scalars[s] == Dtype::Int64; };
  if (ir.levels.empty() || !std::ranges::all_of(ir.levels, is_count)) broken(ir, "a recurrence has loops");
  for (const KeptLevels& a : ir.arrays)
    if (!is_count(a.extent)) broken(ir, "an extent of an array");
  for (const Instr& in : ir.instrs) {
    const int loops = static_cast<int>(ir.levels.size());
    if (in.region != Region::Row && in.region != Region::Point) broken(ir, "a recurrence has row and point values");
    if (in.stage >= loops + (in.region == Region::Row ? 1 : 0)) broken(ir, "a stage without a loop");
    if (in.guard != kNone || in.kind == InstrKind::Inside) broken(ir, "a recurrence has no guards");
    if (in.kind != InstrKind::Store) continue;
    const std::uint32_t stored = ir.accesses[in.index].buffer;
    if (std::ranges::any_of(ir.instrs, [&](const Instr& other) {
          return other.kind == InstrKind::Load && ir.accesses[other.index].buffer == stored &&
                 (in.region == Region::Point || other.region == Region::Point || other.stage > in.stage);
        }))
      broken(ir, "a recurrence loads what it stores at some level");
  }
}

}  // namespace tarry::codegen
