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
#include "runtime/evaluate/hoisted.h"
#include "runtime/evaluate/snapshots.h"
#include "runtime/observe/dump.h"
#include "runtime/observe/report.h"
#include "runtime/plan/hoisting.h"
#include "runtime/plan/preparation.h"
#include "runtime/plan/room.h"
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

/// The plan of a graph on a device of this machine.
CompiledPlan plan_here(graph::Snapshot& s, Device device, PlanSwitches switches, PlanObserver* observer) {
  Backend& b = backend(device);
  std::vector<bool> on_device, may_alias;
  localise(s, device, on_device, may_alias);
  switches.library = switches.library && library_there(s.graph, b);
  CompiledPlan plan = make_plan(s, b.target(), on_device, may_alias, switches, observer);
  count_transfers(plan, s, device);
  plan.interpreted = why_interpreted(b);
  if (!plan.interpreted.empty())
    plan.counters.interpreted = std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
      const auto* const k = std::get_if<KernelStep>(&step);
      return k != nullptr && !k->empty();
    });
  return plan;
}

/// The counters of what will be done instead of `plan`: reductions on the host, and the rest over what is brought.
Counters hoisted_counters(const CompiledPlan& plan, const HoistedGraphs& graphs, Device device,
                          const PlanSwitches& switches) {
  const auto counters_of = [&](std::vector<Edge> roots, Device on) {
    std::erase_if(roots,
                  [](const Edge& e) { return e.node()->state.load(std::memory_order_acquire) == graph::State::Ready; });
    if (roots.empty()) return Counters();
    graph::Snapshot s = present_snapshot(roots);
    return plan_here(s, on, switches, nullptr).counters;
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
  std::vector<bool> on_device, may_alias;
  localise(snapshot, device, on_device, may_alias);
  const std::unique_ptr<Dump> dump = Dump::start("plan", where);
  CompiledPlan plan = make_plan(snapshot, *target, on_device, may_alias, plan_switches(), dump.get());
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, snapshot, device, Dump::Plan::Predicted);
  }
  return describe_plan(plan, snapshot);
}

/// Nothing where there is no room for what would be stored besides.
std::optional<Plan> predicted(graph::Snapshot& snapshot, Where where) {
  const PlanSwitches switches = plan_switches();
  Device device = device_of(snapshot.placed);
  std::vector<Placement> placements;
  if (placements = place_small(snapshot, device); !may_place(device, switches, placements)) placements.clear();
  if (!placements.empty()) device = placements.front().device;
  const std::unique_ptr<Dump> dump = Dump::start("plan", where);
  const graph::Graph recorded = snapshot.graph;
  CompiledPlan plan = plan_here(snapshot, device, switches, dump.get());
  std::size_t needed = 0;
  const bool stores_more = recorded.roots.size() > snapshot.asked;
  if (stores_more && !fits(plan, recorded, snapshot.leaves, backend(device), needed)) return {};
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, snapshot, device, Dump::Plan::Predicted);
  }
  if (!switches.disabled("hoisting")) {
    const std::vector<Hoisting> all = find_hoistings(snapshot, device, switches);
    const Hoisting* const hoisting = that_pays(all, snapshot.leaves, device);
    const Hoisting* const decided = hoisting                                                      ? hoisting
                                    : all.front().reductions.empty() && plan.counters.uploads > 0 ? &all.front()
                                                                                                  : nullptr;
    if (decided) placements.insert(placements.end(), decided->placements.begin(), decided->placements.end());
    if (hoisting)
      plan.counters = hoisted_counters(
          plan, plan_hoisted({recorded, snapshot.leaves, snapshot.cells, backend(device), where}, *hoisting), device,
          switches);
  }
  if (!placements.empty()) plan.placements = std::make_shared<const std::vector<Placement>>(std::move(placements));
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
