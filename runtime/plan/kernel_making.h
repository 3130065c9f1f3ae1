// Kernels of a plan: found in the cache or compiled; what cannot be had either way is left to the interpreter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/device/backend.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

KernelHit hit_of(cache::Hit hit);

struct KernelCounts {
  std::int64_t compiles = 0, memory_hits = 0, disk_hits = 0;
};
/// Gives the steps of `plan` their executables. Those of a CPU that no layer holds stay without where no compiler
/// works; then plan.interpreted says why. Throws NotCached and CompileError.
KernelCounts make_kernels(CompiledPlan& plan, Backend& b);

/// The same work planned for another target.
using Planner = std::function<CompiledPlan(const graph::Target&)>;

/// The plan for the target of `b`. Where kernels may not or cannot be compiled, TARRY_CPU names no level, and the
/// layers hold all kernels of a lower level of this CPU but not all of its own: the plan for that one, whose results
/// are the same.
CompiledPlan plan_at_hand(Backend& b, const Planner& planned);
/// A line for a message, "TARRY_CPU=x86-64-v3 finds all of them", where the layers hold all kernels of another level of
/// this CPU.
std::string level_that_hits(Backend& b, const Planner& planned);

}  // namespace tarry::runtime
