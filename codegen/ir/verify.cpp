// verify(): rules that kernels of all schedules keep, and those of reductions, rows and scans.
#include "codegen/ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr const char* kSeveralStages =
    "several stages belong to schedules of rows, scans, rows and columns, iterated stencils and recurrences";

/// The values that an instruction of `region` and `stage` may use.
bool visible(Region region, int stage, const Instr& used) {
  switch (region) {
    case Region::Row: return used.region == Region::Row;
    case Region::Point:
      return used.region == Region::Row || (used.region == Region::Point ? used.stage <= stage : used.stage < stage);
    case Region::Outer: return (used.region == Region::Row || used.region == Region::Outer) && used.stage <= stage;
    case Region::Combine: return used.region == Region::Combine || used.kind == InstrKind::Scalar;
    case Region::Loop: break;
  }
  return false;
}

/// The same of an instruction of a recurrence.
bool visible_at_levels(const Instr& user, const Instr& used) {
  if (used.region == Region::Row) return used.stage <= user.stage;
  return user.region == Region::Point && used.region == Region::Point && used.stage == user.stage;
}

/// The same of any instruction.
bool visible(const KernelIr& ir, const Instr& user, const Instr& used) {
  if (ir.is_recurrence()) return visible_at_levels(user, used);
  if (user.region != Region::Loop) return visible(user.region, user.stage, used);
  if (used.region == Region::Loop) return used.loop == user.loop;
  if (ir.is_contraction()) return used.kind == InstrKind::Scalar;
  return visible(ir.home_region(user), 0, used);
}

/// True if an instruction of `region` and `stage` runs where the last outer dimension has been reduced.
bool across(const KernelIr& ir, Region region, int stage) {
  return ir.is_row_column() && region == Region::Outer && stage == 1;
}

/// An access that instructions of `region` may load or store, or whose value a guard of theirs tests.
void verify_use(const KernelIr& ir, std::uint32_t access, Region region, int stage, const std::string& here,
                std::uint32_t loop = kNone) {
  if (access >= ir.accesses.size()) broken(ir, here + " names no access");
  const Access& a = ir.accesses[access];
  if (a.loop != loop) broken(ir, here + ": the loop of an access");
  if (a.outer_only != (region == Region::Outer && !across(ir, region, stage))) broken(ir, here + ": access region");
  if (across(ir, region, stage) && a.strides.back() != StrideClass::Zero)
    broken(ir, here + ": it moves along the dimension that is reduced");
  if (region == Region::Row && a.reduced != StrideClass::Zero)
    broken(ir, here + ": a row value varies along the reduced axis");
}

void verify_guard(const KernelIr& ir, std::uint32_t guard, Region region, int stage, const std::string& here) {
  if (guard >= ir.guards.size()) broken(ir, here + " names no guard");
  if (ir.guards[guard].terms.empty()) broken(ir, here + ": a guard without a term");
  for (const GuardTerm& term : ir.guards[guard].terms) {
    verify_use(ir, term.access, region, stage, here);
    if (ir.accesses[term.access].buffer != kNone) broken(ir, here + ": a guard tests an iota");
    if (term.extent >= ir.scalars.size() || ir.scalars[term.extent] != Dtype::Int64)
      broken(ir, here + ": an extent of a guard");
  }
}

void verify_memory(const KernelIr& ir, const Instr& in, const std::string& here) {
  verify_use(ir, in.index, ir.home_region(in), in.stage, here, in.loop);
  const Access& a = ir.accesses[in.index];
  if (a.store != (in.kind == InstrKind::Store)) broken(ir, here + ": access direction");
  const Dtype element = a.buffer == kNone ? Dtype::Int64 : ir.buffers.at(a.buffer);
  const Dtype value = in.kind == InstrKind::Load ? in.dtype : ir.instrs[in.args[0]].dtype;
  if (element != value || in.dtype != element) broken(ir, here + ": element type");
  if (in.kind == InstrKind::Store && a.buffer == kNone) broken(ir, here + " stores to an iota");
  if (in.guard == kNone) return;
  if (in.kind == InstrKind::Store || a.buffer == kNone) broken(ir, here + ": only a load of a buffer has a guard");
  verify_guard(ir, in.guard, in.region, in.stage, here);
}

void verify_result(const KernelIr& ir, const Instr& in, const std::string& here) {
  if (in.index >= ir.reductions.size() || in.region != (ir.is_scan() ? Region::Point : Region::Outer))
    broken(ir, here + ": result");
  const Reduction& r = ir.reductions[in.index];
  if (ir.is_scan() && in.stage <= r.stage) broken(ir, here + ": a result beside its scan");
  if (static_cast<int>(in.output) >= graph::output_count(r.op)) broken(ir, here + ": output of a reduction");
  if (in.dtype != (graph::is_arg_reduce(r.op) ? Dtype::Int64 : r.dtype)) broken(ir, here + ": dtype of a result");
  if (in.stage < r.stage) broken(ir, here + ": a result before its reduction");
}

bool folds(Op op) { return op == Op::Sum || op == Op::Prod || op == Op::Min || op == Op::Max; }

/// A fold, where it is the first of its loop also that the loop has all it needs.
void verify_fold(const KernelIr& ir, Value at, const std::string& here) {
  const Instr& in = ir.instrs[at];
  if (in.index >= ir.folds.size() || in.region == Region::Loop) broken(ir, here + " names no fold");
  const Fold& f = ir.folds[in.index];
  const Instr& first = ir.instrs[ir.first_fold(f.loop)];
  if (in.region != first.region || in.stage != first.stage)
    broken(ir, here + ": the folds of a loop are in one region");
  if (!folds(f.op) || in.dtype != f.dtype || ir.instrs.at(f.arg).dtype != f.dtype) broken(ir, here + ": fold");
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].loop == f.loop && v > at) broken(ir, here + " comes before its loop");
  Instr user = in;
  user.region = Region::Loop;
  user.loop = f.loop;
  if (f.arg >= at || !visible(ir, user, ir.instrs[f.arg])) broken(ir, here + ": what a fold takes");
}

void verify_loops(const KernelIr& ir) {
  for (std::uint32_t l = 0; l < ir.loops.size(); ++l) {
    if (ir.loops[l] >= ir.scalars.size() || ir.scalars[ir.loops[l]] != Dtype::Int64) broken(ir, "an extent of a loop");
    if (ir.first_fold(l) == kNone) broken(ir, "a loop without a result");
    if (ir.is_contraction() && ir.instrs[ir.first_fold(l)].region != Region::Point)
      broken(ir, "loops of tiles are at points");
  }
  for (const Fold& f : ir.folds)
    if (f.loop >= ir.loops.size()) broken(ir, "a fold names no loop");
  if (ir.has(trait::kStages | trait::kTiles) && !ir.loops.empty())
    broken(ir, "schedules of rows, scans, rows and columns, and tiles have no loops");
  if (!ir.short_loops.empty() && (ir.short_loops.size() != ir.loops.size() || ir.is_contraction()))
    broken(ir, "short loops");
}

void verify_neighbour(const KernelIr& ir, const Instr& in, const std::string& here) {
  const Instr& of = ir.instrs[in.args[0]];
  if (!ir.has(trait::kNeighbours)) broken(ir, here + ": only iterated stencils have neighbours");
  if (of.stage >= in.stage) broken(ir, here + ": a neighbour's value is of an earlier stage");
  if (of.dtype != in.dtype || of.kind == InstrKind::Scalar) broken(ir, here + ": what a neighbour has");
  if ((in.row == 0 && in.column == 0) || (in.row != 0 && ir.rank < 2)) broken(ir, here + ": where a neighbour is");
}

/// Rules of both instructions.
void verify_place(const KernelIr& ir, const Instr& in, const std::string& here) {
  if (ir.has(trait::kTiles | trait::kContraction | trait::kRowColumn | trait::kNeighbours))
    broken(ir, here + ": schedules of tiles know their places");
  for (int k = 0; k < arity(in); ++k)
    if (ir.instrs[in.args[static_cast<std::size_t>(k)]].dtype != Dtype::Int64) broken(ir, here + ": a place is int64");
  if (in.guard != kNone) verify_guard(ir, in.guard, in.region, in.stage, here);
}

void verify_index(const KernelIr& ir, const Instr& in, const std::string& here) {
  verify_place(ir, in, here);
  if (in.dtype != Dtype::Int64) broken(ir, here + ": a place is int64");
  if (in.index >= ir.checks.size()) broken(ir, here + " names no check");
  if (ir.faults >= ir.accesses.size() || !ir.accesses[ir.faults].faults) broken(ir, here + ": words for faults");
  verify_use(ir, ir.checks[in.index], ir.home_region(in), in.stage, here, in.loop);
  if (ir.accesses[ir.checks[in.index]].buffer != kNone) broken(ir, here + ": the number of an element is an iota");
}

void verify_gather(const KernelIr& ir, const Instr& in, const std::string& here) {
  verify_place(ir, in, here);
  verify_use(ir, in.index, ir.home_region(in), in.stage, here, in.loop);
  const Access& a = ir.accesses[in.index];
  if (!a.gathered || a.store || a.buffer == kNone || ir.buffers.at(a.buffer) != in.dtype)
    broken(ir, here + ": what a gather reads");
  const auto moves = [](StrideClass s) { return s != StrideClass::Zero; };
  if (std::ranges::any_of(a.strides, moves) || moves(a.reduced) || moves(a.step))
    broken(ir, here + ": the place of a gather is its argument");
}

/// The state of a neighbour that is combined.
void verify_neighbour_state(const KernelIr& ir, const Instr& in, const std::string& here) {
  if (in.region != Region::Combine || in.index >= ir.reductions.size() || ir.reductions[in.index].dtype != in.dtype)
    broken(ir, here + ": the state of a neighbour");
}

void verify_instr(const KernelIr& ir, std::size_t i) {
  const Instr& in = ir.instrs[i];
  const auto here = fmt::format("instruction {}", i);
  if (in.region == Region::Combine && (!ir.combines() || in.stage != 0)) broken(ir, here + " combines nothing");
  if (in.region == Region::Combine && in.kind != InstrKind::Earlier && in.kind != InstrKind::Later &&
      in.kind != InstrKind::Compute)
    broken(ir, here + ": a combination computes");
  if (ir.is_scan() && in.region == Region::Outer) broken(ir, here + ": a scan has no outer instructions");
  if (ir.is_scan() && in.kind == InstrKind::Store && in.stage != 1)
    broken(ir, here + " stores before the scan is done");
  if (ir.is_map() && in.region != Region::Point && in.region != Region::Loop)
    broken(ir, here + ": a pointwise kernel has point instructions only");
  if ((in.region == Region::Loop) != (in.loop != kNone) || (in.loop != kNone && in.loop >= ir.loops.size()))
    broken(ir, here + ": its loop");
  if (in.loop != kNone && (in.stage != 0 || in.guard != kNone || (in.kind != InstrKind::Load && arity(in) == 0)))
    broken(ir, here + ": a loop loads and computes");
  if (in.region == Region::Row && in.stage != 0 && !ir.is_recurrence()) broken(ir, here + ": a row value has no stage");
  const bool takes_one = in.kind == InstrKind::Store || in.kind == InstrKind::Neighbour || in.kind == InstrKind::Keep;
  for (int k = 0; k < (takes_one ? 1 : arity(in)); ++k) {
    const Value v = in.args[static_cast<std::size_t>(k)];
    if (v >= i) broken(ir, here + " uses a later value");
    if (ir.instrs[v].kind == InstrKind::Store || ir.instrs[v].kind == InstrKind::Keep)
      broken(ir, here + " uses a store as a value");
    if (!visible(ir, in, ir.instrs[v])) broken(ir, here + " uses a value that it cannot see");
  }
  switch (in.kind) {
    case InstrKind::Load:
    case InstrKind::Store: return verify_memory(ir, in, here);
    case InstrKind::Scalar:
      if (in.index >= ir.scalars.size() || ir.scalars[in.index] != in.dtype) broken(ir, here + ": scalar");
      return;
    case InstrKind::Result: return verify_result(ir, in, here);
    case InstrKind::Inside:
      if (in.dtype != Dtype::Bool) broken(ir, here + ": inside is a bool");
      return verify_guard(ir, in.index, in.region, in.stage, here);
    case InstrKind::Fold: return verify_fold(ir, static_cast<Value>(i), here);
    case InstrKind::Neighbour: return verify_neighbour(ir, in, here);
    case InstrKind::Carried:
    case InstrKind::While:
    case InstrKind::Last:
    case InstrKind::Number:
    case InstrKind::Keep:
    case InstrKind::Kept: return verify_level(ir, i, here);
    case InstrKind::Earlier:
    case InstrKind::Later: return verify_neighbour_state(ir, in, here);
    case InstrKind::Index: return verify_index(ir, in, here);
    case InstrKind::Gather: return verify_gather(ir, in, here);
    case InstrKind::Compute: return;
  }
}

/// All loads of an access have the same guard.
void verify_one_guard(const KernelIr& ir) {
  std::vector<std::uint32_t> load_of(ir.accesses.size(), kNone);
  for (std::uint32_t i = 0; i < ir.instrs.size(); ++i) {
    if (ir.instrs[i].kind != InstrKind::Load) continue;
    std::uint32_t& first = load_of[ir.instrs[i].index];
    if (first != kNone && ir.instrs[first].guard != ir.instrs[i].guard)
      broken(ir, fmt::format("instructions {} and {} load one access under two guards", first, i));
    first = i;
  }
}

void verify_reduction(const KernelIr& ir, const Reduction& r) {
  if (is_scan(r) != ir.is_scan() || (ir.is_scan() && r.stage != 0)) broken(ir, "scans belong to scan schedules");
  if ((r.op == Op::LoopStack) != ir.combines() || (r.combined != kNone) != ir.combines())
    broken(ir, "states are combined together");
  if (ir.combines() && (r.combined >= ir.instrs.size() || ir.instrs[r.combined].region != Region::Combine ||
                        ir.instrs[r.combined].dtype != r.dtype))
    broken(ir, "what neighbours combine to");
  const int inputs = r.op == Op::MomentsMerge ? 2 : 1;
  for (int k = 0; k < inputs; ++k) {
    const Value v = r.args[static_cast<std::size_t>(k)];
    if (v >= ir.instrs.size() || !visible(Region::Point, r.stage, ir.instrs[v])) broken(ir, "a reduction's input");
    if (ir.instrs[v].dtype != r.dtype) broken(ir, "a reduction's dtype");
  }
  if (r.op == Op::MomentsMerge && (r.weight >= ir.scalars.size() || ir.scalars[r.weight] != Dtype::Int64))
    broken(ir, "a weight");
}

/// Accesses have windows where the schedule has, and elsewhere none.
void verify_windows(const KernelIr& ir) {
  for (const Access& a : ir.accesses)
    if ((a.window != kNone) != (ir.has(trait::kWindows) && a.buffer != kNone && !a.store))
      broken(ir, "loads of a stencil have windows");
}

void verify_accesses(const KernelIr& ir) {
  for (const Access& a : ir.accesses) {
    if (static_cast<int>(a.strides.size()) != ir.rank) broken(ir, "an access has one stride per outer dimension");
    if (a.buffer != kNone && a.buffer >= ir.buffers.size()) broken(ir, "an access names no buffer");
    if (a.aligned && !std::has_single_bit(static_cast<unsigned>(ir.vector())))
      broken(ir, "a vector of which memory has parts");
  }
}

}  // namespace

void broken(const KernelIr& ir, const std::string& rule) {
  TARRY_THROW(InternalError, "", Where{}, "kernel IR breaks a rule: " + rule + "\n" + to_string(ir));
}

void no_rules(const KernelIr&) {}

void verify_scan(const KernelIr& ir) {
  if (ir.stages() != 2) broken(ir, "a scan has two stages");
}

void verify_row_serial(const KernelIr& ir) {
  if (ir.stages() == 1) broken(ir, kSeveralStages);
}

/// Striped items are no vectors.
void verify_striped(const KernelIr& ir, int vector, bool striped) {
  if (striped && (vector != 4 || std::ranges::any_of(ir.accesses, &Access::aligned)))
    broken(ir, "striped items are no vectors");
}

void verify_reduce_inner(const KernelIr& ir) {
  const auto& layout = ir.as<ReduceInnerLayout>();
  verify_striped(ir, layout.vector, layout.striped);
}

// It has one stage where a short row is reduced by part of a warp.
void verify_row_inner(const KernelIr& ir) {
  const auto& layout = ir.as<RowInnerLayout>();
  verify_striped(ir, layout.vector, layout.striped);
  if (layout.half_block && (layout.blocks_per_row != 1 || layout.striped))
    broken(ir, "half a tree block is a row in registers of a few lanes");
}

/// Two dimensions, each by itself.
void verify_row_column(const KernelIr& ir) {
  if (ir.rank < 1 || ir.stages() != 2) broken(ir, "a kernel of rows and columns reduces two dimensions");
  bool any[2] = {};
  for (const Reduction& r : ir.reductions) any[r.stage] = true;
  if (!any[0] || !any[1]) broken(ir, "a kernel of rows and columns reduces both ways");
  for (const Instr& in : ir.instrs) {
    if (in.region == Region::Row && in.kind != InstrKind::Scalar)
      broken(ir, "row values of a kernel of rows and columns are scalars");
    if (in.region == Region::Point && in.stage != 0)
      broken(ir, "points of a kernel of rows and columns serve both ways");
    if (in.region != Region::Outer) continue;
    if (in.kind == InstrKind::Result && in.stage != ir.reductions[in.index].stage)
      broken(ir, "a result of the other way");
    for (const Value v : in.args)
      if (v != kNone && ir.instrs[v].region == Region::Outer && ir.instrs[v].stage != in.stage)
        broken(ir, "a value of the other way");
  }
  for (const Reduction& r : ir.reductions)
    for (const Value v : r.args)
      if (v != kNone && ir.instrs[v].region == Region::Outer) broken(ir, "a reduction of what the other way gives");
}

void verify(const KernelIr& ir) {
  constexpr void (*kVerifiers[])(const KernelIr&) = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, ...) verify,
#include "codegen/ir/schedules.def"
  };
  verify_loops(ir);
  for (std::size_t i = 0; i < ir.instrs.size(); ++i) verify_instr(ir, i);
  verify_one_guard(ir);
  verify_windows(ir);
  verify_accesses(ir);
  if ((ir.is_map() || ir.is_recurrence()) != ir.reductions.empty()) broken(ir, "reductions belong to reduce schedules");
  if (ir.stages() > 1 && !ir.has(trait::kStages)) broken(ir, kSeveralStages);
  for (const Reduction& r : ir.reductions) verify_reduction(ir, r);
  kVerifiers[ir.layout.index()](ir);
}

}  // namespace tarry::codegen
