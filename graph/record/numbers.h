// Numbers as elements: what a dtype holds of a C++ number, and what stands for the rest.
#pragma once

#include <tarry/shape.h>

#include <optional>
#include <string>

#include "graph/node.h"

namespace tarry::graph {

/// False where a number of that dtype cannot hold the value: out of range, or a fraction for an integer. A float that
/// is out of range is an infinity in the cell then.
bool to_cell(Scalar value, Dtype dtype, ScalarCell& cell) noexcept;
/// As messages name it.
std::string to_string(Scalar value);
/// The nearest number that the dtype holds, of integers for an integer dtype; infinities stay in floats.
Scalar clamped(Scalar value, Dtype dtype);

/// The bound that elements compare with instead of a number, so that every answer is the exact one.
struct Threshold {
  ScalarCell cell = {};             ///< of the elements' dtype
  std::optional<bool> answer = {};  ///< of all elements, where no cell gives it
};
/// The bound of `element op value` for elements of an integer or floating dtype. A floating number beside floats is
/// weak: it rounds.
Threshold threshold(Op op, Scalar value, Dtype dtype);

}  // namespace tarry::graph
