// Kernels in CUDA C on the emulated GPU beside the interpreter.
#pragma once

#include <vector>

#include "tests/cuda_kernels.h"

namespace tarry::test {

/// Compiles each text once, in one unit, and runs every case on the emulation and on the interpreter: the same bits.
void check_bits(const std::vector<KernelCase>& cases);

}  // namespace tarry::test
