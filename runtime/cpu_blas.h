// OpenBLAS: matrix products on the CPU. Opened when the first product wants it; nothing of it is needed to build.
#pragma once

#include <memory>
#include <string>

#include "runtime/library_call.h"

namespace tarry::runtime {

/// Why there is none, or "".
const std::string& cpu_blas_missing();
/// The library and which processor's kernels it runs, or why there is none: one line for `tarry info`.
std::string describe_cpu_blas();
/// Of float32 and float64.
std::unique_ptr<LibraryCall> make_cpu_matmul(const MatmulSpec& spec);

}  // namespace tarry::runtime
