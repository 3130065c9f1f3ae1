// Linear algebra, by its names in the Python array API standard. Calls record and check; nothing is computed.
#pragma once

#include <tarry/array.h>

#include <source_location>

namespace tarry {
inline namespace v0 {

/// Matrix product.  Shapes: (..., m, k) and (..., k, n) give (..., m, n), the dimensions in front broadcast; a 1-d a is
/// a row and a 1-d b a column, and that axis is not in the result.  Dtypes: numbers, promoted; the result has that
/// dtype. float16 and bfloat16 sum in float32 and round once; integers wrap. Throws InvalidArgument where an array is
/// 0-d, inner extents differ, dimensions in front do not broadcast, or for bool. Algorithm: matrices of floats go to
/// cuBLASLt, oneDNN or OpenBLAS, large ones of float32 on a GPU to a kernel that sums products of TF32 halves with the
/// errors of float32; relaxed scopes round operands to TF32; products with a vector and products of integers are sum(a
/// * b), fused like it (docs/reference/numerics.md, "Matrix products").
/// Example: `ta::matmul(ta::array({{1, 2}, {3, 4}}), ta::array({5, 6}))` is `[17 39]`.
[[nodiscard]] TARRY_EXPORT Array matmul(const Array& a, const Array& b,
                                        std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
