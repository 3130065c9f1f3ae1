// The tile of a contraction, and which operands are shared.
#include "codegen/ir/contract.h"

#include <algorithm>

#include "codegen/ir/verify.h"

namespace tarry::codegen {
namespace {

constexpr std::size_t kSharedBytes = 44 * 1024;
constexpr std::size_t kRunBytes = 64 * 1024;    // what operands of a run of columns should fit
constexpr std::size_t kCoreBytes = 128 * 1024;  // what all arrays of a work item must fit

int registers(Dtype d) { return itemsize(d) > 4 ? 2 : 1; }

}  // namespace

ContractTile contract_tile(const KernelIr& ir) {
  int folds = 0, work = 0;
  bool wide = ir.wide_index;
  for (const Fold& f : ir.folds) folds += registers(f.dtype);
  for (const Instr& in : ir.instrs) {
    wide |= itemsize(in.dtype) > 4;
    if (in.kind == InstrKind::Compute) work = std::max<int>(work, graph::info(in.op).cost);
  }
  for (const Reduction& r : ir.reductions) wide |= graph::output_count(r.op) > 1 || graph::is_arg_reduce(r.op);
  // 32 results of a thread in 80 registers; anything longer than exp has registers to itself.
  constexpr int kLongest = 16;
  ContractTile tile;
  while (tile.rows > 1 && tile.rows * folds > 4) tile.rows /= 2;
  tile.resident = wide || work > kLongest || folds > 1 ? 1 : 3;
  return tile;
}

int loop_class(const KernelIr& ir) {
  return ir.is_map() ? ir.as<ContractLayout>().loop_class : ir.as<ContractReduceLayout>().loop_class;
}

std::vector<Staged> staged(const KernelIr& ir) {
  std::vector<Staged> found;
  const bool map = ir.is_map();
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
    const Access& access = ir.accesses[a];
    if (access.loop == kNone || access.buffer == kNone) continue;
    const auto back = access.strides.size();
    const StrideClass row = access.strides[back - (map ? 2 : 1)],
                      column = map ? access.strides[back - 1] : access.reduced;
    if ((row == StrideClass::Zero) == (column == StrideClass::Zero)) continue;
    found.push_back({a, row != StrideClass::Zero, row != StrideClass::Zero ? row : column});
  }
  return found;
}

int loop_cost(const KernelIr& ir, std::uint32_t loop) {
  int cost = 0;
  for (const Instr& in : ir.instrs)
    if (in.kind == InstrKind::Compute && in.loop == loop) cost += graph::info(in.op).cost;
  for (const Fold& f : ir.folds)
    if (f.loop == loop) cost += graph::info(f.op).cost;
  return cost;
}

namespace {

/// Bytes of the operands of a run of columns.
std::size_t run_bytes(const KernelIr& ir, int columns) {
  std::size_t bytes = 0;
  for (const Staged& s : staged(ir))
    if (!s.rows)
      bytes += static_cast<std::size_t>(kLongestLoop * columns) * itemsize(ir.buffers[ir.accesses[s.access].buffer]);
  return bytes;
}

bool fits_core(const KernelIr& ir, const ContractRun& run) {
  std::size_t bytes = run_bytes(ir, run.columns);
  for (const Fold& f : ir.folds) bytes += static_cast<std::size_t>(run.rows * run.columns) * itemsize(f.dtype);
  for (const Reduction& r : ir.reductions) bytes += 2 * static_cast<std::size_t>(run.columns) * itemsize(r.dtype);
  if (!ir.is_map()) bytes += (state_bytes(ir) + 8) * std::size_t{ContractRun::kItemRows * ContractRun::kLevels};
  return bytes <= kCoreBytes;
}

}  // namespace

ContractRun contract_run(const KernelIr& ir, const graph::Target& target) {
  // gcc unrolls loops of up to 16 before it vectorises; two vectors a row hide the latency of an addition.
  constexpr int kShortest = 32, kMostCost = 24, kPartials = 4;
  ContractRun run;
  std::size_t widest = 1;
  for (const Instr& in : ir.instrs)
    if (in.loop != kNone) widest = std::max(widest, itemsize(in.dtype));
  run.vector = std::max(kShortest, 2 * target.vector_bytes / static_cast<int>(widest));
  while (run.rows > 1 && run.rows * static_cast<int>(ir.folds.size()) > kPartials) run.rows /= 2;
  for (std::uint32_t l = 0; l < ir.loops.size(); ++l)
    if (loop_cost(ir, l) > kMostCost) run.rows = 1;  // a row's text is long, and hides latencies alone
  while (run.columns > 128 && run_bytes(ir, run.columns) > kRunBytes) run.columns /= 2;
  return run;
}

bool contract_fits(const KernelIr& ir, const graph::Target& target) {
  if (!target.is_cuda()) return fits_core(ir, contract_run(ir, target));
  const auto rows = static_cast<std::size_t>(contract_tile(ir).block_rows());
  std::size_t bytes = 0;
  for (const Staged& s : staged(ir))
    bytes += static_cast<std::size_t>(loop_class(ir)) * ((s.rows ? rows : std::size_t{ContractTile::kColumns}) + 4) *
             itemsize(ir.buffers[ir.accesses[s.access].buffer]);
  if (!ir.is_map()) bytes += state_bytes(ir) * rows * (ContractTile::kLevels + 1);
  return bytes <= kSharedBytes;
}

namespace {

void verify_shared(const KernelIr& ir, int least_rank) {
  if (ir.loops.empty() || loop_class(ir) < 4 || loop_class(ir) > kLongestLoop)
    broken(ir, "tiles share what loops read");
  if (ir.rank < least_rank) broken(ir, "tiles have two dimensions");
}

}  // namespace

void verify_contract(const KernelIr& ir) { verify_shared(ir, 2); }
void verify_contract_reduce(const KernelIr& ir) { verify_shared(ir, 1); }

}  // namespace tarry::codegen
