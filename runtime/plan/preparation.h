// Shared by evaluate(), plan() and streaming to files before anything runs.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "runtime/device/backend.h"
#include "runtime/plan/compiled_plan.h"
#include "runtime/plan/hoisting.h"

namespace tarry::runtime {

/// Where work of explicit device `placed`, or of none, runs.
Device device_of(Device placed);
/// False where the graph has a product and the device no library for it: it is a sum then.
bool library_there(const graph::Graph& g, Backend& b);
/// Leaves as the plan will see them.
void localise(graph::Snapshot& s, Device device, std::vector<bool>& on_device, std::vector<bool>& may_alias);
/// True if such work may be done by the host instead of `device`: not where it would be interpreted. Where there is
/// none, no compiler is looked for.
template <class Work>
bool may_place(Device device, const PlanSwitches& switches, const std::vector<Work>& work) {
  return !work.empty() && device.kind != DeviceKind::Cpu && !switches.disabled("placement") &&
         !switches.disabled("compile") && !backend(cpu).compiler().empty();
}
/// The work to be done before leaves cross to `device`.
std::vector<Hoisting> find_hoistings(const graph::Snapshot& s, Device device, const PlanSwitches& switches);

}  // namespace tarry::runtime
