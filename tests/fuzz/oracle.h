// The oracle: what each function gives, computed one element at a time in higher precision and rounded once. Written
// from docs/reference/numerics.md; shares no code with the library but the table of ulp bounds.
#pragma once

#include <span>
#include <string>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {

/// Judges `got`, the library's result of `s` on `values` (operands as the library itself computed them): "" where it is
/// right, else what is wrong. Functions with ulp bound 0 and reductions must have exactly the bits that the document
/// defines; sums, means and variances must keep their error bounds as well.
std::string judge(const Statement& s, std::span<const Tensor> values, const Tensor& got);

/// "" where both have the same dtype, shape and bits, else the first difference.
std::string difference(const Tensor& got, const Tensor& expected);

}  // namespace tarry::test::fuzz
