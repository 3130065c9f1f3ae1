// What evaluate(), plan() and streaming to files share before anything runs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "runtime/device/backend.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

/// Where work of explicit device `placed`, or of none, runs.
Device device_of(Device placed);
/// A snapshot once nobody else computes any of it. `op`, `where`: of the user's call, which may not wait for itself.
graph::Snapshot settled_snapshot(std::span<const graph::Edge> roots, graph::Marks marks, std::string_view op,
                                 Where where);
/// A snapshot now: what is being evaluated counts as lazy.
graph::Snapshot present_snapshot(std::span<const graph::Edge> roots, graph::Marks marks = graph::Marks::Ignore);
/// False where the graph has a product and the device no library for it: it is a sum then.
bool library_there(const graph::Graph& g, Backend& b);
/// Leaves as the plan will see them.
void localise(graph::Snapshot& s, Device device, std::vector<bool>& on_device, std::vector<bool>& may_alias);
/// Whether such work may be done by the host instead of `device`: not where it would be interpreted. Where there is
/// none, no compiler is looked for.
template <class Work>
bool may_place(Device device, const PlanSwitches& switches, const std::vector<Work>& work) {
  return !work.empty() && device.kind != DeviceKind::Cpu && !switches.disabled("placement") &&
         !switches.disabled("compile") && !backend(cpu).compiler().empty();
}
/// What is to be done before leaves cross to `device`.
std::vector<Hoisting> find_hoistings(const graph::Snapshot& s, Device device, const PlanSwitches& switches);
/// Whether there is room for the plan in one piece; asks no driver about what is small beside any device.
bool fits(const CompiledPlan& plan, const graph::Graph& recorded,
          const std::vector<std::shared_ptr<graph::Storage>>& leaves, Backend& b, std::size_t& needed);

}  // namespace tarry::runtime
