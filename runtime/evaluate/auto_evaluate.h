// The automatic evaluate: pending work that exceeds its thread's budget, or that stands in the way of an allocation, is
// evaluated by the engine itself.
#pragma once

#include <tarry/error.h>

#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.h"

namespace tarry::runtime {

/// Evaluates what this thread recorded and has not evaluated, as far as it can be, so that memory which only pending
/// work keeps comes free. True where something was evaluated; false too where none keeps any. Never throws. Nothing of
/// an evaluate of this thread may be claimed. `but` is left alone: what is being evaluated when memory runs out.
bool evaluate_pending(std::span<const graph::Edge> but, Where where) noexcept;

/// One evaluate per device: arrays of different ones may wait together. Empties the list.
void evaluate_by_device(std::vector<graph::Edge>& roots, Where where);

/// Evaluates by the engine itself in this thread.
struct EvaluatedByItself {
  std::int64_t evaluates = 0, plan_hits = 0, launches = 0;
};
const EvaluatedByItself& evaluated_by_itself();

}  // namespace tarry::runtime
