// Sites by costs, leaves as plans see them, plans, and ways by room and by what is worth it.
#include "runtime/plan/route.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/plan/placement.h"
#include "runtime/plan/room.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

/// True if the host may do such work instead of `device`: not where it would be interpreted. Where there is none, no
/// compiler is looked for.
template <class Work>
bool may_place(Device device, const PlanSwitches& switches, const std::vector<Work>& work) {
  return !work.empty() && device.kind != DeviceKind::Cpu && !switches.disabled("placement") &&
         !switches.disabled("compile") && !backend(cpu).compiler().empty();
}

/// False where the graph has a product and the device no library for it.
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

/// The parts that are uploaded, and the costs of reductions that either side could do.
void add_partial_uploads(CompiledPlan& plan, const graph::Snapshot& s, Device device, const PlanSwitches& switches) {
  std::vector<HostReduction> reductions =
      device.kind == DeviceKind::Cpu ? std::vector<HostReduction>() : find_host_reductions(s, device);
  if (!may_place(device, switches, reductions)) reductions.clear();
  plan.partial_uploads = find_partial_uploads(s, device, std::move(reductions));
  const std::vector<Placement>& placements = plan.partial_uploads.front().placements;
  if (!placements.empty()) plan.placements = std::make_shared<const std::vector<Placement>>(placements);
}

}  // namespace

Device device_of(Device placed) { return placed.kind == DeviceKind::Unplaced ? unplaced_device() : placed; }

Site find_site(const graph::Snapshot& s, Backend& asked, const PlanSwitches& switches) {
  std::vector<Placement> placements = place_small(s, asked.device());
  if (!may_place(asked.device(), switches, placements)) return {asked, {}};
  const bool on_host = placements.front().device.kind == DeviceKind::Cpu;
  return {on_host ? backend(cpu) : asked, std::move(placements)};
}

std::vector<LeafPlace> leaf_places(const graph::Snapshot& s, Device device) {
  std::vector<LeafPlace> places;
  for (std::size_t i = 0; i < s.leaves.size(); ++i)
    places.push_back({s.leaf_devices[i] == device, s.leaves[i]->buffer->owner == graph::Owner::Pool});
  return places;
}

Planner planner_of(graph::Snapshot& s, std::span<const LeafPlace> leaves, PlanSwitches switches,
                   PlanObserver* observer) {
  std::vector<bool> on_device, may_alias;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    on_device.push_back(leaves[i].on_device);
    graph::LeafLayout& layout = s.graph.leaves[i];
    may_alias.push_back(leaves[i].on_device && leaves[i].pooled && may_be_result(layout));
    if (!leaves[i].on_device) layout = arrived(layout);
  }
  return [&s, on_device = std::move(on_device), may_alias = std::move(may_alias), switches = std::move(switches),
          observer](const graph::Target& target) {
    return make_plan(s, target, on_device, may_alias, switches, observer);
  };
}

Planner planner_on(Backend& b, graph::Snapshot& s, PlanSwitches switches, PlanObserver* observer) {
  switches.library = switches.library && library_there(s.graph, b);
  return planner_of(s, leaf_places(s, b.device()), std::move(switches), observer);
}

Way find_way(const CompiledPlan& plan, const std::vector<std::shared_ptr<graph::Storage>>& leaves, Backend& b) {
  std::size_t needed = 0;
  if (!fits(plan, *plan.recorded, leaves, b, needed)) return Chunked{needed};
  if (const PartialUpload* const upload = that_pays(plan.partial_uploads, leaves, b.device()))
    return PartlyUploaded{upload};
  return Whole{};
}

Route find_route(Backend& b, const graph::Snapshot& s, const Planner& planned, const PlanSwitches& switches, Ways ways,
                 Level level) {
  const bool at_hand = level == Level::AtHand && !switches.disabled("compile");
  auto plan = std::make_shared<CompiledPlan>(at_hand ? plan_at_hand(b, planned) : planned(b.target()));
  plan->recorded = std::make_shared<const graph::Graph>(s.graph);
  if (ways == Ways::Any && !switches.disabled("partial_upload")) add_partial_uploads(*plan, s, b.device(), switches);
  const Way way = ways == Ways::Whole ? Whole{} : find_way(*plan, s.leaves, b);
  return {b, std::move(plan), way};
}

}  // namespace tarry::runtime
