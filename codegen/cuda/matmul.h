// A product of float32 matrices as a kernel of our own, for GPUs whose tensor cores take TF32.
//
// A float32 is split into two TF32: its nearest, and what is left. Of the four products of halves three are summed by
// the tensor cores; the fourth is below 2^-22 of the whole (Ootomo and Yokota, Recovering single precision accuracy
// from Tensor Cores, 2022). The sums of every 16 products are added in float32, since tensor cores truncate. A result
// that is not finite is computed again product by product, so that infinities, NaN and the largest numbers are those of
// float32.
#pragma once

#include <array>
#include <cstdint>

#include "codegen/render/kernel_source.h"

namespace tarry::codegen {

/// (a_count, m, k) times (b_count, k, n), all row-major; a count of 1 serves all.
struct MatmulShape {
  std::int64_t a_count = 1, b_count = 1, m = 1, k = 1, n = 1;
};

/// True if the kernel is for such products: where it was measured to be ahead of a library, which is where whole tiles
/// keep all of a Hopper GPU busy and rows are whole 16 bytes.
bool has_matmul_kernel(const MatmulShape& shape, const graph::Target& target);
/// One text serves all shapes of the same tile.
KernelSource render_matmul(const MatmulShape& shape, const graph::Target& target);
Geometry matmul_geometry(const MatmulShape& shape, const graph::Target& target);
/// The words of its parameters.
std::array<std::uint64_t, 8> matmul_parameters(const MatmulShape& shape, const void* a, const void* b,
                                               const void* result);

}  // namespace tarry::codegen
