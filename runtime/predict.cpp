// plan(): what an evaluate would do, without doing it.
#include <algorithm>
#include <mutex>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/dump.h"
#include "runtime/engine.h"
#include "runtime/hoisting.h"
#include "runtime/preparation.h"
#include "runtime/report.h"
#include "support/check.h"

namespace tarry::runtime {

using graph::Edge;

namespace {

/// Which leaves will cross: not those that are there from an earlier evaluate, and of some only parts.
void count_transfers(CompiledPlan& plan, const graph::Snapshot& s, Device to, const Hoisting& hoisting) {
  Counters& c = plan.counters;
  c.uploads = c.downloads = c.bytes_uploaded = c.bytes_downloaded = 0;
  for (const Step& step : plan.steps) {
    const auto* const t = std::get_if<TransferStep>(&step);
    if (!t) break;  // they come first
    graph::Storage& leaf = *s.leaves[t->leaf];
    Missing m{graph::element_count(t->shape.span()) * static_cast<std::int64_t>(itemsize(t->dtype)), 1};
    const auto hoisted = std::find_if(hoisting.begin(), hoisting.end(), [&](const HoistedLeaf& h) { return h.leaf == t->leaf; });
    if (hoisted != hoisting.end()) {
      m = missing(*hoisted, leaf, to);
    } else {
      const std::lock_guard lock(leaf.replica_mutex);
      if (leaf.replica && leaf.replica->device == to) continue;
    }
    const bool down = to.kind == DeviceKind::Cpu;
    (down ? c.downloads : c.uploads) += m.copies;
    (down ? c.bytes_downloaded : c.bytes_uploaded) += m.bytes;
    c.peak_bytes += m.bytes;
  }
}

}  // namespace

Plan plan(std::span<const Edge> roots, std::string_view target_name, Where where) {
  graph::Snapshot snapshot = settled_snapshot(roots);
  const graph::Target* target = nullptr;
  Device device = device_of(snapshot.placed);
  if (target_name.empty()) {
    target = &backend(device).target();
  } else {
    target = graph::find_target(target_name);
    if (!target) {
      std::vector<std::string_view> names;
      for (const graph::Target& t : graph::targets()) names.emplace_back(t.name);
      TARRY_THROW(InvalidArgument, "plan_for", where,
                  fmt::format("no target is called {}; there are {}", target_name, fmt::join(names, ", ")));
    }
    device = {target->kind, 0};
  }
  std::vector<bool> on_device, may_alias;
  localise(snapshot, device, on_device, may_alias);
  const std::unique_ptr<Dump> dump = Dump::start("plan", where);
  PlanSwitches switches = plan_switches();
  Hoisting hoisting;
  if (target_name.empty() && !switches.disabled("hoisting")) hoisting = find_hoisting(snapshot.graph, snapshot.leaves, device);
  if (!pays(hoisting, snapshot.leaves, device)) hoisting.clear();
  if (target_name.empty()) switches.library = switches.library && library_there(snapshot.graph, backend(device));
  CompiledPlan plan = make_plan(snapshot, *target, on_device, may_alias, switches, dump.get());
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, snapshot, device, Dump::Plan::Predicted);
  }
  if (target_name.empty()) count_transfers(plan, snapshot, device, hoisting);
  return describe_plan(plan, snapshot);
}

}  // namespace tarry::runtime
