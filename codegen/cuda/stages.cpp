// The stages of a kernel as CUDA C runs them: what each computes, what registers hold in between, how rows lie on
// threads.
#include <algorithm>

#include "codegen/cuda/render.h"
#include "codegen/ir/fit.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kRegisters = 65536;      // of a multiprocessor
constexpr int kMostRegisters = 160;    // of a thread: more of them leave too few threads to hide the way to memory
constexpr int kMostWarps = 16;         // of a row
constexpr int kMostThreads = 1536;     // to ask for: with more, registers are few and loads in flight no more
constexpr int kStoringThreads = 1280;  // the same where rows are stored too

// Beyond these the text of a reduction is one copy: of a row, since two thread blocks share a multiprocessor; of a
// column, since ptxas takes more than it needs to load ahead. Moments gain less, as a step that may be any of them
// divides. A scan's warps then load one element at a time, which costs more than instructions do.
constexpr int kRowRegisters = 104, kColumnRegisters = 160, kMomentRegisters = 192, kScanRegisters = 192;
constexpr int kReduceInstructions =
    800;                           // beyond these a reduction is as fast in one copy, and compiles in half the time
constexpr int kWarpElements = 16;  // of a thread of a scan by warps

bool is_point(const Instr& in) { return in.region == Region::Point && in.kind != InstrKind::Scalar; }

int registers(Dtype dtype) { return itemsize(dtype) == 8 ? 2 : 1; }

/// Coordinates cost less to compute again than to hold.
bool worth_holding(const KernelIr& ir, Value v) {
  const Instr& in = ir.instrs[v];
  if (!ir.is_row() || in.kind == InstrKind::Inside) return false;
  return in.kind != InstrKind::Load || ir.accesses[in.index].buffer != kNone;
}

/// Instructions of a stage where `plan.kept` is held: what its reductions, stores and the values it keeps need.
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
  // Along an axis of one element an index has no say, but it may be out of range.
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].stage == number && only_checks(ir, v)) stack.push_back(v);
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

/// Elements of a row that a thread has.
int elements(const KernelIr& ir, const StagePlan& plan) {
  return ir.schedule() == Schedule::RowSerial ? ir.as<RowSerialLayout>().longest_row
                                              : items(ir) * lane_steps(ir) * plan.tile.units;
}

/// Registers that hold values between stage s - 1 and stage s.
int held_registers(const KernelIr& ir, const StagePlan& plan, int s) {
  int held = 0;
  for (const Value v : plan.kept) {
    const bool later = std::any_of(plan.stages.begin() + s, plan.stages.end(), [v](const Stage& stage) {
      return std::find(stage.held.begin(), stage.held.end(), v) != stage.held.end();
    });
    if (ir.instrs[v].stage < s && later) held += registers(ir.instrs[v].dtype);
  }
  return held * elements(ir, plan);
}

/// Registers of a thread in a stage: what is held, what is on its way from memory, four lanes' states, and the rest, of
/// which 64-bit arithmetic has more. Found by compiling.
int stage_registers(const KernelIr& ir, const StagePlan& plan, const Stage& stage) {
  int loaded = 0, states = 0, rest = 16;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& in = ir.instrs[v];
    if (!stage.runs[v]) continue;
    if (in.kind == InstrKind::Compute && registers(in.dtype) == 2) rest = 48;
    const bool kept = std::find(stage.keeps.begin(), stage.keeps.end(), v) != stage.keeps.end();
    if (in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone && !kept) loaded += registers(in.dtype);
  }
  for (const std::uint32_t r : stage.reductions) {
    const Reduction& reduction = ir.reductions[r];
    states += registers(reduction.dtype) * graph::output_count(reduction.op);
    if (graph::is_arg_reduce(reduction.op)) states += ir.wide_index ? 2 : 1;
  }
  const int held = std::max(held_registers(ir, plan, stage.number), held_registers(ir, plan, stage.number + 1));
  return rest + held + (loaded * 4 + states) * items(ir);
}

bool draws(const KernelIr& ir, const Stage& stage) {
  bool any = false;
  for (Value v = 0; v < ir.instrs.size(); ++v) any |= stage.runs[v] && shares_block(ir, v);
  return any && draws_late(ir);
}

void make_stages(const KernelIr& ir, StagePlan& plan) {
  const int count = ir.stages();
  plan.stages.clear();
  for (int s = 0; s < count; ++s) plan.stages.push_back(make_stage(ir, plan, s, s == count - 1));
  for (Stage& stage : plan.stages) stage.draws = draws(ir, stage);
  for (Stage& stage : plan.stages) {
    stage.brief = plan.rolls;
    stage.rolled = plan.rolls && plan.kept.empty();
  }
  plan.registers = 0;
  for (const Stage& stage : plan.stages) plan.registers = std::max(plan.registers, stage_registers(ir, plan, stage));
}

/// Registers that a thread should need, as estimated: some slack below what it can have.
int most_registers(const RowTile& tile) { return std::min(kMostRegisters, kRegisters / tile.threads() * 7 / 8); }

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

/// All points belong to the second stage, which keeps what the reductions of the first take.
void row_column(const KernelIr& ir, StagePlan& plan) {
  const auto apart = [&](Stage& stage, int number) {
    stage.number = number;
    std::erase_if(stage.reductions, [&](std::uint32_t r) { return ir.reductions[r].stage != number; });
  };
  Stage along, across = std::move(plan.stages[0]);
  along.runs.resize(ir.instrs.size());
  along.reductions = across.reductions;
  apart(along, 0);
  apart(across, 1);
  for (const std::uint32_t r : along.reductions)
    for (const Value v : ir.reductions[r].args)
      if (v != kNone && ir.instrs[v].region == Region::Point) plan.kept.push_back(v);
  std::sort(plan.kept.begin(), plan.kept.end());
  plan.kept.erase(std::unique(plan.kept.begin(), plan.kept.end()), plan.kept.end());
  across.keeps = plan.kept;
  across.rolled = plan.rolls;
  plan.stages = {std::move(along), std::move(across)};
}

/// Instructions of all stages for an element. Where they go over elements in a loop they hold none, since registers
/// have no numbers, and compute some values again.
int work(const KernelIr& ir, const StagePlan& plan) {
  int sum = 0;
  for (const Stage& stage : plan.stages)
    for (Value v = 0; v < ir.instrs.size(); ++v) sum += stage.runs[v] ? instructions_of(ir.instrs[v]) : 0;
  return sum;
}
bool is_near(int more, int less) { return 4 * more <= 5 * less; }

/// True if the text of a thread had better go over its elements in a loop, one after the other. The rounds of an inner
/// loop follow each other anyhow, and keep memory busy by themselves. Stages that find values of such a loop held must
/// not go through it again.
bool is_long(const KernelIr& ir) {
  if (ir.staged() && !ir.loops.empty()) return false;
  for (std::size_t loop = 0; loop < ir.loops.size(); ++loop)
    if (ir.steps_of(loop) == 0) return true;
  const bool in_columns = ir.schedule() == Schedule::ReduceOuter || ir.is_row_column();
  StepText text{in_columns ? kColumnSteps : lane_steps(ir), items(ir), lane_steps(ir)};
  switch (ir.schedule()) {
    case Schedule::ScanTiles: return false;
    case Schedule::ScanInner: return pressure_of(ir).registers(kWarpElements, 1) > kScanRegisters;
    case Schedule::ScanSerial: return fits_one_step(ir, {kSerialElements, 1, kSerialElements / 2});
    default: break;
  }
  if (ir.has_moments()) {
    text.registers = kMomentRegisters;
    return fits_one_step(ir, text);
  }
  const bool inner = ir.schedule() == Schedule::ReduceInner, outer = ir.schedule() == Schedule::ReduceOuter;
  if ((inner || outer) && !has_draws(ir)) text.instructions = kReduceInstructions;
  if (inner && items(ir) <= kInnerItems) text.registers = kRowRegisters;
  if (outer) {
    text.together = kColumnSteps / 2;
    text.registers = kColumnRegisters;
  }
  return fits_one_step(ir, text);
}

}  // namespace

int outer_stage(const KernelIr& ir, Value v) {
  const Instr& in = ir.instrs[v];
  return in.kind == InstrKind::Result ? ir.reductions[in.index].stage : in.stage;
}

bool StagePlan::keeps(Value v) const { return std::binary_search(kept.begin(), kept.end(), v); }

bool only_checks(const KernelIr& ir, Value v) {
  return ir.instrs[v].kind == InstrKind::Index && std::ranges::none_of(ir.instrs, [v](const Instr& in) {
           return std::ranges::find(in.args, v) != in.args.end();
         });
}

StagePlan plan_stages(const KernelIr& ir) {
  StagePlan plan;
  plan.rolls = ir.rolled || is_long(ir);
  if (!ir.staged()) {
    Stage& all = plan.stages.emplace_back();
    for (const Instr& in : ir.instrs) {
      all.runs.push_back(is_point(in));
      all.stores |= is_point(in) && in.kind == InstrKind::Store;
    }
    all.draws = draws(ir, all);
    all.rolled = all.brief = plan.rolls && !ir.reductions.empty() && !ir.is_row_column();
    for (std::uint32_t r = 0; r < ir.reductions.size(); ++r) all.reductions.push_back(r);
    if (ir.is_row_column()) row_column(ir, plan);
    return plan;
  }
  plan.carried = carried_values(ir);
  plan.tile = row_tile(ir, kMostWarps);
  make_stages(ir, plan);
  if (plan.registers > most_registers(plan.tile)) plan.tile = row_tile(ir, kMostWarps / 2);
  // The latest values first: with one of them held, those it was made of may not be needed any more.
  const int most = std::max(plan.registers, most_registers(plan.tile));
  const StagePlan bare = plan;
  std::vector<bool> decided(ir.instrs.size());
  for (Value v; (v = next_candidate(ir, plan, decided)) != kNone;) {
    decided[v] = true;
    if (!worth_holding(ir, v)) continue;
    StagePlan with = plan;
    with.kept.insert(std::lower_bound(with.kept.begin(), with.kept.end(), v), v);
    make_stages(ir, with);
    if (with.registers <= most) plan = std::move(with);
  }
  // A value kept early may have lost its readers to one kept later.
  std::erase_if(plan.kept, [&](Value v) {
    return std::none_of(plan.stages.begin(), plan.stages.end(), [v](const Stage& stage) {
      return std::find(stage.held.begin(), stage.held.end(), v) != stage.held.end();
    });
  });
  make_stages(ir, plan);
  const bool rolls = plan.rolls && ir.schedule() == Schedule::RowInner;
  return rolls && is_near(work(ir, bare), work(ir, plan)) ? bare : plan;
}

int StagePlan::resident() const {
  // Rows within a warp: left alone, ptxas does better.
  if (tile.warps == 1) return 1;
  const int threads = tile.threads(), most = stages.back().stores ? kStoringThreads : kMostThreads;
  return std::max(1, std::min(kRegisters / registers / threads, (most + threads / 2) / threads));
}

RowTile row_tile(const KernelIr& ir, int most_warps) {
  RowTile tile;
  const auto* row = std::get_if<RowInnerLayout>(&ir.layout);
  if (!row) return tile;
  const int blocks = row->blocks_per_row;
  TARRY_ASSERT(blocks >= 1 && blocks <= kClusterBlocks && blocks == row_class(std::int64_t{blocks} * kTreeBlock));
  int held = std::min(blocks, kRowBlocks);  // large parts: few thread blocks wait for each other
  while (blocks % held != 0) held /= 2;
  tile.cluster = blocks / held;
  tile.width = 32 / items(ir);
  tile.blocks = std::min(held, items(ir));
  tile.warps = std::min(held / tile.blocks, most_warps);
  tile.units = held / (tile.blocks * tile.warps);
  if (tile.warps == 1) tile.rows = kThreads / (tile.width * tile.blocks);
  return tile;
}

std::int64_t row_thread_blocks(const KernelIr& ir, std::int64_t rows) {
  const RowTile tile = row_tile(ir, kMostWarps);
  return (rows + tile.rows - 1) / tile.rows * tile.cluster;
}

}  // namespace tarry::codegen::cuda
