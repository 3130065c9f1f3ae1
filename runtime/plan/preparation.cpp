// Devices, libraries and leaves.
#include "runtime/plan/preparation.h"

#include <fmt/format.h>

#include "support/log.h"

namespace tarry::runtime {

Device device_of(Device placed) { return placed.kind == DeviceKind::Unplaced ? unplaced_device() : placed; }

bool library_there(const graph::Graph& g, Backend& b) {
  for (const graph::GraphNode& n : g.nodes) {
    const std::string missing = n.op == graph::Op::Matmul ? b.library_missing(n.dtype) : "";
    if (missing.empty()) continue;
    support::log::warn_once(
        fmt::format("matmul on {} runs as a plain kernel, which is slow: {}", b.device().str(), missing));
    return false;
  }
  return true;
}

void localise(graph::Snapshot& s, Device device, std::vector<bool>& on_device, std::vector<bool>& may_alias) {
  for (std::size_t i = 0; i < s.leaves.size(); ++i) {
    on_device.push_back(s.leaf_devices[i] == device);
    may_alias.push_back(
        localise_leaf(s.graph.leaves[i], on_device[i], s.leaves[i]->buffer->owner == graph::Owner::Pool));
  }
}

std::vector<Hoisting> find_hoistings(const graph::Snapshot& s, Device device, const PlanSwitches& switches) {
  std::vector<HostReduction> reductions =
      device.kind == DeviceKind::Cpu ? std::vector<HostReduction>() : find_host_reductions(s, device);
  if (!may_place(device, switches, reductions)) reductions.clear();
  return find_hoistings(s, device, std::move(reductions));
}

}  // namespace tarry::runtime
