// Contract and ContractReduce: how they cut their space, and what the points of a tile share. The schedule is chosen by
// what fits, the text follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// A thread block is 16 by 16 threads of `rows` rows and eight columns each. Columns are the last outer dimension of
/// Contract, the reduced axis of ContractReduce; rows are the dimension before.
struct ContractTile {
  int rows = 4;
  int resident = 1;  ///< thread blocks per multiprocessor that the registers are for
  static constexpr int kColumns = 128;
  static constexpr int kLevels = 12;  ///< ContractReduce: a chunk has at most 2^(levels - 1) tree blocks
  [[nodiscard]] int block_rows() const { return 16 * rows; }
};
ContractTile contract_tile(const KernelIr& ir);
/// loop_class of the longest loop, on a CPU of any.
int loop_class(const KernelIr& ir);

/// On a CPU `rows` by `vector` points are folded in registers. A work item is kItemRows rows of a run of `columns`
/// columns, whose operands lie in an array near the core.
struct ContractRun {
  int rows = 4, vector = 32, columns = 512;
  static constexpr int kItemRows = 32;
  static constexpr int kLevels = 12;  ///< ContractReduce: a chunk has at most 2^(levels - 1) tree blocks
};
ContractRun contract_run(const KernelIr& ir, const graph::Target& target);

/// An operand of a loop that lies in shared memory, or of a CPU's columns in the array: it moves along one dimension of
/// the tile and not along the other.
struct Staged {
  std::uint32_t access;
  bool rows;         ///< moves along the rows
  StrideClass side;  ///< of its stride along that dimension
};
std::vector<Staged> staged(const KernelIr& ir);

/// Instructions of a step of a loop.
int loop_cost(const KernelIr& ir, std::uint32_t loop);

/// True if the tile's operands and states fit the shared memory that every GPU grants a thread block, a CPU's the cache
/// of a core and the small stacks that evaluate() must run on.
bool contract_fits(const KernelIr& ir, const graph::Target& target);

}  // namespace tarry::codegen
