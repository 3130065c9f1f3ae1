// Assigning buffers: in which buffer every value of a plan lives. Values with disjoint lifetimes share memory; a value
// may take over the buffer of one that it is computed from, so that updates and plain elementwise steps happen in
// place.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "codegen/lower/lower.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

struct EdgeLess {
  bool operator()(const graph::GraphEdge& a, const graph::GraphEdge& b) const {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};
/// Values that are results of the evaluation, and which output each is.
using OutputIndex = std::map<graph::GraphEdge, std::uint32_t, EdgeLess>;

/// Where a value lies: in memory of its own, or in memory that another needs no more.
enum class Reuse : std::uint8_t { Never, Memory };
/// Fills the operands of the plan's kernel and library steps, its temporaries and the leaves that outputs take over,
/// and inserts the copies that updates need.
///
/// A value takes over the buffer of another where that one is not needed afterwards and is no result (a temporary, or a
/// donated leaf), sizes are equal, and the kernel reads it nowhere but at the element that the same point writes. An
/// update's kernel may also read what it does not write.
void assign_buffers(const graph::Graph& g, const OutputIndex& outputs, Reuse reuse, CompiledPlan& plan);

}  // namespace tarry::runtime
