// An evaluate of a graph that was recorded before, whose leaves and scalars are given anew: what replay.cpp runs.
#pragma once

#include <span>

#include "graph/node.h"
#include "runtime/evaluate/dispatch.h"
#include "runtime/evaluate/plan_key.h"
#include "support/function_ref.h"

namespace tarry::runtime {

/// Finds the plan of what was walked over, or else makes the graph that it will be made from. engine_mutex() held.
void find_plan(Run& run, const PlanQuestion& asked);

/// Runs the plan that `bind` found for the run's walk, and gives `results` its values, by root. `bind` is called with
/// engine_mutex() held. `results` are nodes that nobody else knows yet; those of arrays that were computed keep their
/// ops. What fails before the first launch leaves everything as it was.
void evaluate_bound(std::span<const graph::Edge> results, support::FunctionRef<void(Run&)> bind,
                    support::FunctionRef<void(const Run&)> done, Where where);

}  // namespace tarry::runtime
