// Room: the memory that a plan takes where it runs in one piece, and whether the device has it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "graph/slices/slices.h"
#include "runtime/device/backend.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

/// Pools hand out blocks that are up to an eighth larger than what is asked for.
constexpr std::size_t with_blocks(std::size_t bytes) { return bytes + bytes / 8; }
/// Bytes of files among what is read.
std::size_t pages_of(const std::vector<graph::LeafPart>& parts);

/// New memory that a plan takes where it runs in one piece: its own, copies of leaves that are elsewhere, pages of
/// files.
std::size_t memory_needed(const CompiledPlan& plan, const graph::Graph& recorded,
                          const std::vector<std::shared_ptr<graph::Storage>>& leaves, const Backend& b);
/// True if there is room for the plan in one piece; asks no driver about what is small beside any device.
bool fits(const CompiledPlan& plan, const graph::Graph& recorded,
          const std::vector<std::shared_ptr<graph::Storage>>& leaves, Backend& b, std::size_t& needed);

}  // namespace tarry::runtime
