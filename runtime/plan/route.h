// Route: where a graph is worked off, by which plan, and whether in one piece. evaluate(), plan(), streaming and
// warm-up all find it here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "runtime/device/backend.h"
#include "runtime/plan/compiled_plan.h"
#include "runtime/plan/kernel_making.h"
#include "runtime/plan/partial_upload.h"

namespace tarry::runtime {

/// Where work of explicit device `placed`, or of none, runs.
Device device_of(Device placed);

/// Where a graph runs that was asked for on a device: there, or on the host where that takes less time.
struct Site {
  Backend& backend;
  std::vector<tarry::Placement> placements;  ///< what the costs decided; empty where nothing
};
Site find_site(const graph::Snapshot& s, Backend& asked, const PlanSwitches& switches);

/// Where a leaf is, as a plan for a device sees it.
struct LeafPlace {
  bool on_device = false;
  bool pooled = false;  ///< in memory of a pool of ours, which a result may take over
};
std::vector<LeafPlace> leaf_places(const graph::Snapshot& s, Device device);

/// Plans of `s`, whose leaves become what a plan sees of them. `s` and `observer` outlive it.
Planner planner_of(graph::Snapshot& s, std::span<const LeafPlace> leaves, PlanSwitches switches,
                   PlanObserver* observer);
/// The same on a device of this machine: products are sums where it has no library for them.
Planner planner_on(Backend& b, graph::Snapshot& s, PlanSwitches switches, PlanObserver* observer);

/// One plan, one run.
struct Whole {};
/// What makes operands smaller is done before they cross, then the rest.
struct PartlyUploaded {
  const PartialUpload* upload;  ///< of the plan
};
/// Piece by piece, as there is no room for all of it.
struct Chunked {
  std::size_t needed;  ///< bytes of memory in one piece
};
using Way = std::variant<Whole, PartlyUploaded, Chunked>;
/// The way to go now: it depends on which leaves are where, and on the room that there is.
Way find_way(const CompiledPlan& plan, const std::vector<std::shared_ptr<graph::Storage>>& leaves, Backend& b);

/// A plan without kernels, and how it is to be run.
struct Route {
  Backend& backend;
  std::shared_ptr<CompiledPlan> plan;
  Way way;
};
enum class Ways : std::uint8_t { Whole, Chunked, Any };  ///< Chunked: or whole
enum class Level : std::uint8_t { Own, AtHand };         ///< of a CPU: see plan_at_hand()
/// `planned` is of `s` and `b`.
Route find_route(Backend& b, const graph::Snapshot& s, const Planner& planned, const PlanSwitches& switches, Ways ways,
                 Level level);

}  // namespace tarry::runtime
