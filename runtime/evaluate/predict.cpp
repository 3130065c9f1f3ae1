// plan(): what an evaluate would do, without doing it.
#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/snapshots.h"
#include "runtime/evaluate/uploaded_parts.h"
#include "runtime/observe/dump.h"
#include "runtime/observe/report.h"
#include "runtime/plan/route.h"
#include "runtime/plan/settings.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry::runtime {

using graph::Edge;

namespace {

/// Which leaves will cross: not those that are there from an earlier evaluate.
void count_transfers(CompiledPlan& plan, const graph::Snapshot& s, Device to) {
  Counters& c = plan.counters;
  c.uploads = c.downloads = c.bytes_uploaded = c.bytes_downloaded = 0;
  for (const Step& step : plan.steps) {
    const auto* const t = std::get_if<TransferStep>(&step);
    if (!t) break;  // they come first
    graph::Storage& leaf = *s.leaves[t->leaf];
    {
      const std::lock_guard lock(leaf.replica_mutex);
      if (leaf.replica && leaf.replica->device == to) continue;
    }
    const std::int64_t bytes = graph::element_count(t->shape.span()) * static_cast<std::int64_t>(itemsize(t->dtype));
    const bool down = to.kind == DeviceKind::Cpu;
    ++(down ? c.downloads : c.uploads);
    (down ? c.bytes_downloaded : c.bytes_uploaded) += bytes;
    c.peak_bytes += bytes;
  }
}

/// What an evaluate on `b` would find, with the counters of one that runs now.
Route route_here(graph::Snapshot& s, Backend& b, const PlanSwitches& switches, Ways ways, PlanObserver* observer) {
  Route route = find_route(b, s, planner_on(b, s, switches, observer), switches, ways, Level::Own);
  CompiledPlan& plan = *route.plan;
  count_transfers(plan, s, b.device());
  plan.interpreted = why_interpreted(b);
  if (!plan.interpreted.empty())
    plan.counters.interpreted = std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
      const auto* const k = std::get_if<KernelStep>(&step);
      return k != nullptr && !k->empty();
    });
  return route;
}

/// The counters of what will be done instead of `plan`: reductions on the host, and the rest over what is brought.
Counters upload_counters(const CompiledPlan& plan, const UploadGraphs& graphs, Device device,
                         const PlanSwitches& switches) {
  const auto counters_of = [&](std::vector<Edge> roots, Device on) {
    std::erase_if(roots,
                  [](const Edge& e) { return e.node()->state.load(std::memory_order_acquire) == graph::State::Ready; });
    if (roots.empty()) return Counters();
    graph::Snapshot s = present_snapshot(roots);
    return route_here(s, backend(on), switches, Ways::Whole, nullptr).plan->counters;
  };
  Counters all = counters_of(graphs.rest, device);
  const Counters on_host = counters_of(graphs.on_host, cpu);
  add_work(all, on_host);
  all.kernels += on_host.kernels;
  add_transfers(all, graphs.counters);
  all.peak_bytes += graphs.counters.bytes_uploaded;
  keep_graph_counters(plan.counters, all);
  return all;
}

Plan plan_for(graph::Snapshot& snapshot, std::string_view target_name, Where where) {
  const graph::Target* const target = graph::find_target(target_name);
  if (!target) {
    std::vector<std::string_view> names;
    for (const graph::Target& t : graph::targets()) names.emplace_back(t.name);
    TARRY_THROW(InvalidArgument, "plan_for", where,
                fmt::format("no target is called {}; there are {}", target_name, fmt::join(names, ", ")));
  }
  const Device device{target->kind, 0};
  const std::unique_ptr<Dump> dump = Dump::start("plan", where);
  CompiledPlan plan = planner_of(snapshot, leaf_places(snapshot, device), plan_switches(), dump.get())(*target);
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, snapshot, device, Dump::Plan::Predicted);
  }
  return describe_plan(plan, snapshot);
}

/// Nothing where there is no room for what would be stored besides.
std::optional<Plan> predicted(graph::Snapshot& snapshot, Where where) {
  const PlanSwitches switches = plan_switches();
  auto [b, placements] = find_site(snapshot, backend(device_of(snapshot.placed)), switches);
  const Device device = b.device();
  const std::unique_ptr<Dump> dump = Dump::start("plan", where);
  const bool stores_more = snapshot.graph.roots.size() > snapshot.asked;
  const Route route = route_here(snapshot, b, switches, Ways::Any, dump.get());
  if (stores_more && std::holds_alternative<Chunked>(route.way)) return {};
  CompiledPlan& plan = *route.plan;
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, snapshot, device, Dump::Plan::Predicted);
  }
  if (!plan.partial_uploads.empty()) {
    const PartialUpload* const upload = that_pays(plan.partial_uploads, snapshot.leaves, device);
    const PartialUpload& usual = plan.partial_uploads.front();
    const PartialUpload* const decided = upload                                                  ? upload
                                         : usual.reductions.empty() && plan.counters.uploads > 0 ? &usual
                                                                                                 : nullptr;
    if (decided) placements.insert(placements.end(), decided->placements.begin(), decided->placements.end());
    if (upload)
      plan.counters = upload_counters(
          plan, plan_partial_upload({*plan.recorded, snapshot.leaves, snapshot.cells, b, where}, *upload), device,
          switches);
  }
  plan.placements =
      placements.empty() ? nullptr : std::make_shared<const std::vector<Placement>>(std::move(placements));
  return describe_plan(plan, snapshot);
}

}  // namespace

Plan plan(std::span<const Edge> roots, std::string_view target_name, Where where) {
  const support::DefaultFloatingPoint state;
  graph::Snapshot snapshot = present_snapshot(roots, settings().marks ? graph::Marks::Read : graph::Marks::Ignore);
  if (!target_name.empty()) return plan_for(snapshot, target_name, where);
  if (const std::optional<Plan> plan = predicted(snapshot, where)) return *plan;
  graph::Snapshot without = present_snapshot(roots);
  return *predicted(without, where);
}

}  // namespace tarry::runtime
