// Matrix products on the CPU: float32 by oneDNN where it is, all else by OpenBLAS. Opened when the first product wants
// them; nothing of them is needed to build.
#pragma once

#include <memory>
#include <string>

#include "runtime/device/library_call.h"

namespace tarry::runtime {

/// Why there is none for a dtype, or "".
std::string cpu_blas_missing(Dtype dtype);
/// The libraries and which processor's kernels they run, or why there is none: one line for `tarry info`.
std::string describe_cpu_blas();
/// For float32 and float64.
std::unique_ptr<LibraryCall> make_cpu_matmul(const MatmulSpec& spec);

}  // namespace tarry::runtime
