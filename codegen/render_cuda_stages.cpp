// The stages of a kernel as CUDA C runs them: what each computes, what registers hold in between, how rows lie on threads.
#include <algorithm>

#include "codegen/render_cuda.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kHeldRegisters = 64;  // per thread; what is left is for addresses, states and temporaries

bool is_point(const Instr& in) { return in.region == Region::Point && in.kind != InstrKind::Scalar; }

/// Registers of a thread that hold a value at all its points.
int registers(const KernelIr& ir, Value v) {
  return kInnerItems * 4 * row_tile(ir).units * static_cast<int>((itemsize(ir.instrs[v].dtype) + 3) / 4);
}

/// Coordinates cost less to compute again than to hold.
bool worth_holding(const KernelIr& ir, Value v) {
  const Instr& in = ir.instrs[v];
  if (ir.schedule != Schedule::RowInner || in.kind == InstrKind::Inside) return false;
  return in.kind != InstrKind::Load || ir.accesses[in.index].buffer != kNone;
}

/// What a stage runs where `plan.kept` is held: what its reductions, stores and the values it keeps need.
Stage make_stage(const KernelIr& ir, const StagePlan& plan, int number, bool last) {
  Stage stage;
  stage.number = number;
  stage.runs.resize(ir.instrs.size());
  std::vector<bool> held(ir.instrs.size());
  std::vector<Value> stack;
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r) {
    if (ir.reductions[r].stage != number) continue;
    stage.reductions.push_back(r);
    stack.insert(stack.end(), ir.reductions[r].args.begin(), ir.reductions[r].args.end());
  }
  // All Point stores wait for the last stage: a buffer may have been taken over from one that is loaded, and what is
  // computed again must load what was there.
  for (Value v = 0; v < ir.instrs.size() && last; ++v) {
    if (!is_point(ir.instrs[v]) || ir.instrs[v].kind != InstrKind::Store) continue;
    stage.stores = stage.runs[v] = true;
    stack.push_back(ir.instrs[v].args[0]);
  }
  for (const Value v : plan.kept) {
    if (ir.instrs[v].stage != number) continue;
    stage.keeps.push_back(v);
    stack.push_back(v);
  }
  while (!stack.empty()) {
    const Value v = stack.back();
    stack.pop_back();
    if (v == kNone || !is_point(ir.instrs[v]) || stage.runs[v]) continue;
    if (ir.instrs[v].stage < number && plan.keeps(v)) {
      held[v] = true;
      continue;
    }
    stage.runs[v] = true;
    stack.insert(stack.end(), ir.instrs[v].args.begin(), ir.instrs[v].args.end());
  }
  for (Value v = 0; v < held.size(); ++v)
    if (held[v]) stage.held.push_back(v);
  return stage;
}

void make_stages(const KernelIr& ir, StagePlan& plan) {
  const int count = ir.stages();
  plan.stages.clear();
  for (int s = 0; s < count; ++s) plan.stages.push_back(make_stage(ir, plan, s, s == count - 1));
  plan.registers = 0;
  for (int s = 1; s < count; ++s) {
    int live = 0;
    for (const Value v : plan.kept) {
      const bool later = std::any_of(plan.stages.begin() + s, plan.stages.end(), [v](const Stage& stage) {
        return std::find(stage.held.begin(), stage.held.end(), v) != stage.held.end();
      });
      if (ir.instrs[v].stage < s && later) live += registers(ir, v);
    }
    plan.registers = std::max(plan.registers, live);
  }
}

/// The last value that some stage computes again and that has not been decided on; kNone: all are decided.
Value next_candidate(const KernelIr& ir, const StagePlan& plan, const std::vector<bool>& decided) {
  for (Value v = static_cast<Value>(ir.instrs.size()); v-- > 0;) {
    if (decided[v] || ir.instrs[v].kind == InstrKind::Store) continue;
    for (const Stage& stage : plan.stages)
      if (stage.runs[v] && ir.instrs[v].stage < stage.number) return v;
  }
  return kNone;
}

/// Outer values that instructions or reductions of later stages use.
std::vector<Value> carried_values(const KernelIr& ir) {
  std::vector<bool> used(ir.instrs.size());
  auto use = [&](Value v, int stage) {
    if (v == kNone) return;
    const Instr& in = ir.instrs[v];
    if (in.region == Region::Outer && in.kind != InstrKind::Scalar && outer_stage(ir, v) < stage) used[v] = true;
  };
  for (const Instr& in : ir.instrs)
    for (const Value v : in.args) use(v, in.stage);
  for (const Reduction& r : ir.reductions)
    for (const Value v : r.args) use(v, r.stage);
  std::vector<Value> carried;
  for (Value v = 0; v < used.size(); ++v)
    if (used[v]) carried.push_back(v);
  return carried;
}

}  // namespace

int outer_stage(const KernelIr& ir, Value v) {
  const Instr& in = ir.instrs[v];
  return in.kind == InstrKind::Result ? ir.reductions[in.index].stage : in.stage;
}

bool StagePlan::keeps(Value v) const { return std::binary_search(kept.begin(), kept.end(), v); }

StagePlan plan_stages(const KernelIr& ir) {
  StagePlan plan;
  if (!ir.is_row()) {
    Stage& all = plan.stages.emplace_back();
    for (const Instr& in : ir.instrs) {
      all.runs.push_back(is_point(in));
      all.stores |= is_point(in) && in.kind == InstrKind::Store;
    }
    for (std::uint32_t r = 0; r < ir.reductions.size(); ++r) all.reductions.push_back(r);
    return plan;
  }
  plan.carried = carried_values(ir);
  make_stages(ir, plan);
  // The latest values first: with one of them held, those it was made of may not be needed any more.
  std::vector<bool> decided(ir.instrs.size());
  for (Value v; (v = next_candidate(ir, plan, decided)) != kNone;) {
    decided[v] = true;
    if (!worth_holding(ir, v)) continue;
    StagePlan with = plan;
    with.kept.insert(std::lower_bound(with.kept.begin(), with.kept.end(), v), v);
    make_stages(ir, with);
    if (with.registers <= kHeldRegisters) plan = std::move(with);
  }
  // A value kept early may have lost its readers to one kept later.
  std::erase_if(plan.kept, [&](Value v) {
    return std::none_of(plan.stages.begin(), plan.stages.end(), [v](const Stage& stage) {
      return std::find(stage.held.begin(), stage.held.end(), v) != stage.held.end();
    });
  });
  make_stages(ir, plan);
  return plan;
}

RowTile row_tile(const KernelIr& ir) {
  constexpr int kWarpBlocks = 4, kMostWarps = 16;
  RowTile tile;
  if (ir.schedule != Schedule::RowInner) return tile;
  TARRY_ASSERT(ir.rows_class >= 1 && ir.rows_class <= 128 && (ir.rows_class & (ir.rows_class - 1)) == 0);
  tile.blocks = std::min(ir.rows_class, kWarpBlocks);
  tile.warps = std::min(ir.rows_class / tile.blocks, kMostWarps);
  tile.units = ir.rows_class / (tile.blocks * tile.warps);
  if (tile.warps == 1) tile.rows = kThreads / (8 * tile.blocks);
  return tile;
}

}  // namespace tarry::codegen::cuda
