// The tile of a contraction, and which operands are shared.
#include "codegen/contract.h"

#include <algorithm>

namespace tarry::codegen {
namespace {

constexpr std::size_t kSharedBytes = 44 * 1024;

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

std::vector<Staged> staged(const KernelIr& ir) {
  std::vector<Staged> found;
  const bool map = ir.is_map();
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
    const Access& access = ir.accesses[a];
    if (access.loop == kNone || access.buffer == kNone) continue;
    const auto back = access.strides.size();
    const StrideClass row = access.strides[back - (map ? 2 : 1)], column = map ? access.strides[back - 1] : access.reduced;
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

bool contract_fits(const KernelIr& ir) {
  const auto rows = static_cast<std::size_t>(contract_tile(ir).block_rows());
  std::size_t bytes = 0;
  for (const Staged& s : staged(ir))
    bytes += static_cast<std::size_t>(ir.rows_class) * ((s.rows ? rows : std::size_t{ContractTile::kColumns}) + 4) *
             itemsize(ir.buffers[ir.accesses[s.access].buffer]);
  if (!ir.is_map()) bytes += state_bytes(ir) * rows * (ContractTile::kLevels + 1);
  return bytes <= kSharedBytes;
}

}  // namespace tarry::codegen
