// pressure_of(): liveness over the instructions of a map, and what functions take. smaller_form().
#include "codegen/ir/fit.h"

#include <algorithm>

namespace tarry::codegen {
namespace {

constexpr int kIndexRegisters = 18;     // for the place of a point and for addresses
constexpr int kFunctionRegisters = 24;  // within a function of 64 bits, division among them
constexpr int kWideFunction = 5;        // instructions of a function of 64 bits to one of 32
constexpr int kBoundsCheck = 16;        // instructions of an index that may be out of range

// Measured on an H200: 40 loads and 8 tanh of float64, four points at once 2.8 ms, one at a time 0.9. Kernels of the
// tuned workloads take at most 50 registers and 1,000 instructions by this estimate.
constexpr int kManyRegisters = 128, kManyInstructions = 2048;
constexpr int kUnrolled = 4;  // rounds of a loop that the text has
// Up to so many registers of a point, thread blocks of kSingleThreads that a multiprocessor is to hold: ptxas then
// stays below 128 or 168 registers.
constexpr int kFewRegisters = 80, kSomeRegisters = 120;

int words(Dtype dtype) { return itemsize(dtype) > 4 ? 2 : 1; }

bool is_wide_function(const Instr& in) {
  return in.kind == InstrKind::Compute && itemsize(in.dtype) > 4 && graph::info(in.op).cost > 2;
}

/// By value, the last instruction that uses it; the end for what is stored, which leaves when all is computed.
std::vector<Value> last_readers(const KernelIr& ir) {
  const auto end = static_cast<Value>(ir.instrs.size());
  std::vector<Value> last(ir.instrs.size(), 0);
  for (Value v = 0; v < end; ++v) {
    const Instr& in = ir.instrs[v];
    for (const Value arg : in.args)
      if (arg != kNone) last[arg] = in.kind == InstrKind::Store ? end : std::max(last[arg], v);
    if (in.kind == InstrKind::Fold) last[ir.folds[in.index].arg] = std::max(last[ir.folds[in.index].arg], v);
  }
  return last;
}

/// A tile of a stencil becomes single points.
void leave_windows(KernelIr& ir) {
  for (Access& a : ir.accesses) {
    a.window = kNone;
    a.row = a.column = 0;
    a.phase = 0;
  }
}

/// True for a reduction or scan whose threads hold nothing from stage to stage and go over their elements at once.
bool rolls(const KernelIr& ir) {
  if (ir.rolled) return false;
  if (ir.schedule() == Schedule::ScanSerial || ir.schedule() == Schedule::ScanInner ||
      ir.schedule() == Schedule::ScanTiles)
    return !ir.combines();
  if (ir.stages() > 1) return false;
  return ir.schedule() == Schedule::ReduceInner || ir.schedule() == Schedule::ReduceOuter ||
         ir.schedule() == Schedule::RowInner || ir.is_row_column();
}

std::optional<KernelIr> smaller_stencil(KernelIr ir) {
  auto& layout = ir.as<StencilLayout>();
  if (layout.rows > 1) {
    layout.rows /= 2;
    return ir;
  }
  leave_windows(ir);
  take_single_points(ir);
  return ir;
}

}  // namespace

int instructions_of(const Instr& in) {
  if (in.kind == InstrKind::Index) return kBoundsCheck;
  if (in.kind != InstrKind::Compute) return 1;
  return std::max(1, graph::info(in.op).cost) * (is_wide_function(in) ? kWideFunction : 1);
}

Pressure pressure_of(const KernelIr& ir) {
  const std::vector<Value> last = last_readers(ir);
  std::vector<std::vector<Value>> ends(ir.instrs.size() + 1);
  for (Value v = 0; v < ir.instrs.size(); ++v) ends[std::max(last[v], v)].push_back(v);
  const auto takes = [&](Value v) {
    const InstrKind kind = ir.instrs[v].kind;
    return kind == InstrKind::Scalar || kind == InstrKind::Store ? 0 : words(ir.instrs[v].dtype);
  };
  Pressure p;
  int now = 0;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& in = ir.instrs[v];
    p.instructions += instructions_of(in);
    if (in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone) p.loaded += words(in.dtype);
    if (is_wide_function(in)) p.called = kFunctionRegisters;
    now += takes(v);
    p.live = std::max(p.live, now);
    for (const Value end : ends[v]) now -= takes(end);
  }
  return p;
}

int Pressure::registers(int groups, int vector) const {
  return kIndexRegisters + (groups - 1) * loaded * vector + vector * live + called;
}

bool has_draws(const KernelIr& ir) {
  return std::ranges::any_of(ir.instrs,
                             [](const Instr& in) { return in.kind == InstrKind::Compute && in.op == Op::RandomBits; });
}

bool has_many_instructions(const KernelIr& ir, int points) {
  return points * pressure_of(ir).instructions > kManyInstructions;
}

bool fits_one_point(const KernelIr& ir, int groups, int vector) {
  if (has_draws(ir)) return false;
  return pressure_of(ir).registers(groups, vector) > kManyRegisters || has_many_instructions(ir, groups * vector);
}

bool fits_one_step(const KernelIr& ir, const StepText& text) {
  int of_lane = 0;
  for (const Instr& in : ir.instrs) {
    if (in.region == Region::Point) of_lane += text.steps * instructions_of(in);
    if (in.region == Region::Loop) of_lane += text.together * kUnrolled * instructions_of(in);
  }
  return text.lanes * of_lane > text.instructions ||
         pressure_of(ir).registers(text.together, text.lanes) > text.registers;
}

void take_single_points(KernelIr& ir) {
  for (Access& a : ir.accesses) a.aligned = false;
  const int registers = pressure_of(ir).registers(1, 1);
  ir.layout = PointwiseLayout{1, true, registers <= kFewRegisters ? 4 : registers <= kSomeRegisters ? 3 : 0};
}

std::optional<KernelIr> smaller_form(const KernelIr& ir) {
  KernelIr smaller = ir;
  if (!ir.roomy) {
    smaller.roomy = true;
    return smaller;
  }
  if (ir.schedule() == Schedule::Stencil) return smaller_stencil(std::move(smaller));
  if (rolls(ir)) {
    smaller.rolled = true;
    return smaller;
  }
  if (ir.schedule() != Schedule::Pointwise || ir.as<PointwiseLayout>().single) return std::nullopt;
  take_single_points(smaller);
  return smaller;
}

}  // namespace tarry::codegen
