// The result of every elementwise op on one element, by its definition in docs/reference/numerics.md: integers in 128
// bits, floats in quad precision, elementary functions in long double. Shares no code with the library but the table of
// ulp bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tarry/dtype.h>

#include "graph/op.h"

namespace tarry::test {

/// One element of any dtype: its bits, zero-padded.
struct Cell {
  Dtype dtype{};
  std::uint64_t bits = 0;
};

/// "" where `got` is what `op` may give of `inputs`, else both values as text. The inputs are the user's, all of one
/// dtype (where: the condition first); `got.dtype` must be right already. Fails the test for an op without a
/// definition.
std::string judge(graph::Op op, std::span<const Cell> inputs, Cell got);

/// True if both have equal bits, where any NaN equals any NaN.
bool same_bits(Cell a, Cell b);

/// Values of a dtype that tell wrong implementations apart: special ones first, then random ones of all sizes.
std::vector<Cell> telling_values(Dtype dtype, std::size_t count);

std::string to_string(Cell c);

}  // namespace tarry::test
