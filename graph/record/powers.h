// Powers whose exponent is a number that a few products or a root give.
#pragma once

#include <optional>

#include "graph/record/record.h"

namespace tarry::graph {

/// x to a known power, or nothing where pow itself is as good: see "Compositions" in docs/reference/numerics.md.
std::optional<Edge> known_power(const Argument& x, Scalar exponent, Where where);

}  // namespace tarry::graph
