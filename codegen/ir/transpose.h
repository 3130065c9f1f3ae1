// Transpose: which loads are transposed, which rows hold interleaved channels, what a tile costs a thread block.
#pragma once

#include <cstdint>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// True if the kernel is a Transpose and an access, or its interleaved channels, are contiguous along the tile's rows
/// and not along the last dimension.
bool is_transposed(const KernelIr& ir, std::uint32_t access);
/// True if what is stored has channels interleaved.
bool stores_interleaved(const KernelIr& ir);
/// Channels that are interleaved where they are stored.
int row_channels(const KernelIr& ir);
/// The narrowest store.
std::uint32_t narrowest_store(const KernelIr& ir);
/// Columns by which a row of a tile begins earlier at most.
int columns_before(const KernelIr& ir);
/// On a GPU: threads of a thread block, and registers of each for the elements that it loads.
int transpose_threads(const KernelIr& ir);
int transpose_registers(const KernelIr& ir);
/// Rows less of a tile, where lines begin inside of words: a word's elements, for those that cover a line are one more.
int transpose_rows_less(const KernelIr& ir);

}  // namespace tarry::codegen
