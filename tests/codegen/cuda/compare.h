// Kernels in CUDA C on the emulated GPU beside the interpreter.
#pragma once

#include <vector>

#include "tests/codegen/cuda/kernels.h"

namespace tarry::test {

/// Compiles each text once, in one unit, and runs every case on the emulation and on the interpreter: the same bits.
/// `chunk_blocks`: tree blocks of a chunk of ReduceInner, a power of two from 8 on; 0: what the geometry says.
void check_bits(const std::vector<KernelCase>& cases, std::int64_t chunk_blocks = 0);

}  // namespace tarry::test
