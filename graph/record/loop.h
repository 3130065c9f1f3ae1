// Loops whose body is recorded once.
#pragma once

#include <tarry/loop.h>

#include <cstdint>
#include <span>
#include <vector>

namespace tarry::graph {

/// while_loop for a place that is no std::source_location.
std::vector<Array> record_while(const LoopCondition& condition, const LoopStep& body, std::span<const Array> init,
                                std::int64_t limit, Where where);

}  // namespace tarry::graph
