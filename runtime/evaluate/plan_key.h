// The words by which an evaluate asks for its plan, beyond those of the walk.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/record/key_walk.h"
#include "runtime/device/backend.h"

namespace tarry::runtime {

/// All that a plan depends on besides the graph and its leaves.
struct PlanQuestion {
  Backend* backend = nullptr;  ///< nullptr: a plan is looked up by the graph alone, once there is one
  std::uint32_t words = 0;     ///< of the switches
  bool compiled = false;
};
/// That of an evaluate whose arrays are placed so.
PlanQuestion plan_question(Device placed);

/// Completes the key of a walk.
void finish_key(graph::KeyWalk& o, const PlanQuestion& asked);

/// The words that a plan for the same graph depends on: equal words mean the same plan.
void put_layout(const std::vector<std::shared_ptr<graph::Storage>>& leaves, Device placed, const PlanQuestion& asked,
                std::vector<std::uint64_t>& words);

}  // namespace tarry::runtime
