// Plan and Report as text and numbers.
#include "runtime/observe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <set>
#include <utility>

#include "graph/fusion/fusion.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

std::string amount(std::int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string counters_text(const Counters& c) {
  const std::string copies = c.copies ? fmt::format(", {} copies", c.copies) : "";
  const std::string interpreted = c.interpreted ? fmt::format(", {} interpreted", c.interpreted) : "";
  std::string s = fmt::format("  kernels        {} ({} launches{}{}), {} recorded nodes\n", c.kernels, c.launches,
                              interpreted, copies, c.nodes);
  s += fmt::format("  memory traffic {} read + {} written; lower bound {}\n", amount(c.bytes_read),
                   amount(c.bytes_written), amount(c.bytes_lower_bound));
  s += fmt::format("  temporaries    {}; peak of new memory {}\n", amount(c.bytes_temporary), amount(c.peak_bytes));
  if (c.uploads + c.downloads)
    s += fmt::format(
        "  transfers      {} up ({}), {} down ({}){}\n", c.uploads, amount(c.bytes_uploaded), c.downloads,
        amount(c.bytes_downloaded),
        c.bytes_overlapped ? fmt::format("; {} while the device was busy", amount(c.bytes_overlapped)) : "");
  return s;
}

/// Equal lines, as a loop records them, stand once, where the first was.
std::string counted(const std::vector<std::string>& lines) {
  std::map<std::string_view, std::int64_t> times;
  for (const std::string& line : lines) ++times[line];
  std::string s;
  for (const std::string& line : lines) {
    const std::int64_t n = std::exchange(times[line], 0);
    if (n > 0) s += line + (n > 1 ? fmt::format(" ({} times)\n", n) : "\n");
  }
  return s;
}

std::string unfused_text(const std::vector<Unfused>& unfused) {
  std::vector<std::string> lines;
  for (const Unfused& u : unfused)
    lines.push_back(fmt::format("  through memory: {} -> {}: {}", u.producer, u.consumer, u.reason));
  return counted(lines);
}

std::string placements_text(const std::vector<Placement>& placements) {
  std::string s;
  for (const Placement& p : placements)
    s += fmt::format("  placed         {} on {}: {:.3f} ms there, {:.3f} ms on {}\n", p.work, p.device.str(),
                     p.device.kind == DeviceKind::Cpu ? p.host_ms : p.device_ms,
                     p.device.kind == DeviceKind::Cpu ? p.device_ms : p.host_ms,
                     p.device.kind == DeviceKind::Cpu ? "a GPU" : "the host");
  return s;
}

std::string stored_text(const std::vector<Stored>& stored) {
  std::vector<std::string> lines;
  for (const Stored& v : stored)
    lines.push_back(fmt::format("  stored besides {}, {}: {}", v.value, amount(v.bytes), v.reason));
  return counted(lines);
}

std::string interpreted_text(const std::string& why) {
  return why.empty() ? why : fmt::format("  interpreted    {}\n", why);
}

std::string name_and_line(std::string_view name, Where where) { return fmt::format("{} at {}", name, where.str()); }
std::string op_and_line(graph::Op op, Where where) { return name_and_line(graph::name(op), where); }

template <class Impl>
const Impl& empty() {
  static const Impl none{};
  return none;
}

}  // namespace

const Plan::Impl* Plan::impl() const { return static_cast<const Impl*>(impl_.get()); }
const Report::Impl* Report::impl() const { return static_cast<const Impl*>(impl_.get()); }

const Counters& Plan::counters() const { return impl() ? impl()->counters : empty<Impl>().counters; }
const std::vector<Unfused>& Plan::unfused() const { return impl() ? impl()->unfused : empty<Impl>().unfused; }
const std::vector<Placement>& Plan::placements() const {
  return impl() ? impl()->placements : empty<Impl>().placements;
}
const std::vector<Stored>& Plan::stored() const { return impl() ? impl()->stored : empty<Impl>().stored; }
const std::string& Plan::interpreted() const { return impl() ? impl()->interpreted : empty<Impl>().interpreted; }
std::vector<std::string> Plan::sources(Where where) const try {
  return impl() ? impl()->sources : std::vector<std::string>();
}
TARRY_OR_OUT_OF_MEMORY("sources", where)
std::string Plan::str(Where where) const try {
  if (!impl()) return "plan: moved from\n";
  return impl()->text + placements_text(impl()->placements) + interpreted_text(impl()->interpreted) +
         counters_text(impl()->counters) + stored_text(impl()->stored) + unfused_text(impl()->unfused);
}
TARRY_OR_OUT_OF_MEMORY("str", where)
std::ostream& operator<<(std::ostream& out, const Plan& plan) { return out << plan.str(); }

const Counters& Report::counters() const { return impl() ? impl()->counters : empty<Impl>().counters; }
const Seconds& Report::seconds() const { return impl() ? impl()->seconds : empty<Impl>().seconds; }
const std::vector<Unfused>& Report::unfused(Where where) const try {
  return impl() ? impl()->unfused() : empty<Impl>().unfused();
}
TARRY_OR_OUT_OF_MEMORY("unfused", where)
const std::vector<Transfer>& Report::transfers() const { return impl() ? impl()->transfers : empty<Impl>().transfers; }
const std::vector<Placement>& Report::placements() const {
  static const std::vector<Placement> none;
  return impl() && impl()->placements ? *impl()->placements : none;
}
const std::vector<Stored>& Report::stored() const { return impl() ? impl()->stored() : empty<Impl>().stored(); }
const std::string& Report::interpreted() const { return impl() ? impl()->interpreted : empty<Impl>().interpreted; }
const std::vector<Unfused>& Report::Impl::unfused() const {
  const std::lock_guard lock(mutex_);
  if (!unfused_) {
    std::vector<Unfused> all;
    for (const Edge& e : edges)
      all.push_back({e.own_code ? name_and_line(*e.own_code, e.produced) : op_and_line(e.producer, e.produced),
                     op_and_line(e.consumer, e.consumed),
                     std::string(e.own_code ? runtime::kUser : graph::to_string(e.reason))});
    unfused_ = std::make_unique<const std::vector<Unfused>>(std::move(all));
  }
  return *unfused_;
}
const std::vector<Stored>& Report::Impl::stored() const {
  const std::lock_guard lock(mutex_);
  if (!stored_) {
    std::vector<Stored> all;
    for (const Kept& k : kept) all.push_back({op_and_line(k.op, k.where), k.bytes, std::string(k.reason)});
    stored_ = std::make_unique<const std::vector<Stored>>(std::move(all));
  }
  return *stored_;
}
std::string Report::str(Where where) const try {
  if (!impl()) return "report: nothing was lazy\n";
  const Counters& c = impl()->counters;
  const Seconds& s = impl()->seconds;
  std::string text = fmt::format("report on {}{}{}\n", impl()->device.str(), c.plan_hit ? ", plan from the cache" : "",
                                 c.replays ? ", launched as one CUDA graph" : "");
  if (c.chunks)
    text +=
        fmt::format("  streamed       {} chunks: one piece needs {}, and there was room for {}\n", c.chunks,
                    amount(static_cast<std::int64_t>(impl()->needed)), amount(static_cast<std::int64_t>(impl()->room)));
  text +=
      placements_text(placements()) + interpreted_text(impl()->interpreted) + counters_text(c) + stored_text(stored());
  for (const Transfer& t : impl()->transfers)
    text += fmt::format("  transfer       {} from {} to {}: {}\n", amount(t.bytes), t.from.str(), t.to.str(), t.reason);
  text += fmt::format("  kernel cache   {} compiled, {} from disk, {} from memory\n", c.compiles, c.disk_hits,
                      c.memory_hits);
  text += fmt::format(
      "  milliseconds   snapshot {:.3f}, optimise {:.3f}, schedule {:.3f}, generate {:.3f}, compile {:.3f}, prepare "
      "{:.3f}, launch {:.3f}\n",
      s.snapshot * 1e3, s.optimise * 1e3, s.schedule * 1e3, s.generate * 1e3, s.compile * 1e3, s.prepare * 1e3,
      s.launch * 1e3);
  return text + unfused_text(impl()->unfused());
}
TARRY_OR_OUT_OF_MEMORY("str", where)
std::ostream& operator<<(std::ostream& out, const Report& report) { return out << report.str(); }

}  // namespace v0
}  // namespace tarry

namespace tarry::runtime {

std::string describe_ops(const graph::Graph& g) {
  std::vector<graph::NodeId> all(g.nodes.size());
  std::iota(all.begin(), all.end(), 0U);
  return describe_ops(g, all);
}

std::string describe_ops(const graph::Graph& g, std::span<const graph::NodeId> nodes) {
  constexpr std::size_t kNamed = 6;
  std::vector<std::string> parts;
  for (graph::NodeId id : nodes) {
    const graph::GraphNode& n = g.nodes[id];
    const graph::OpClass c = graph::info(n.op).op_class;
    if (c != graph::OpClass::Map && c != graph::OpClass::Reduce && c != graph::OpClass::Scan && !graph::is_call(n.op) &&
        c != graph::OpClass::Gather && !graph::is_loop_result(n.op))
      continue;
    std::string part = fmt::format("{} {} {} at {}", graph::name(n.op), name(n.dtype),
                                   graph::to_string(g.shapes[n.shape]), n.where().str());
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
    if (parts.size() == kNamed) {
      parts.emplace_back("...");
      break;
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

void add_work(Counters& to, const Counters& c) {
  to.launches += c.launches;
  to.interpreted += c.interpreted;
  to.copies += c.copies;
  to.bytes_read += c.bytes_read;
  to.bytes_written += c.bytes_written;
  to.bytes_lower_bound += c.bytes_lower_bound;
  to.compiles += c.compiles;
  to.memory_hits += c.memory_hits;
  to.disk_hits += c.disk_hits;
}

void add_transfers(Counters& to, const Counters& c) {
  to.uploads += c.uploads;
  to.downloads += c.downloads;
  to.bytes_uploaded += c.bytes_uploaded;
  to.bytes_downloaded += c.bytes_downloaded;
  to.bytes_overlapped += c.bytes_overlapped;
}

void keep_graph_counters(const Counters& whole, Counters& done) {
  done.nodes = whole.nodes;
  done.bytes_lower_bound =
      std::min(whole.bytes_lower_bound, done.bytes_lower_bound);  // fewer bytes may do for the others
  done.operations_lower_bound = whole.operations_lower_bound;
}

std::vector<Unfused> edges_of_own_code(const graph::Snapshot& snapshot) {
  const std::map<graph::NodeId, std::string> called(snapshot.own_code.begin(), snapshot.own_code.end());
  std::vector<Unfused> edges;
  const std::vector<graph::GraphNode>& nodes = snapshot.graph.nodes;
  if (called.empty()) return edges;
  graph::each_reader(
      nodes, [&](graph::NodeId id) { return called.contains(id); },
      [&](graph::NodeId made, graph::NodeId reader) {
        edges.push_back({name_and_line(called.at(made), nodes[made].where()),
                         op_and_line(nodes[reader].op, nodes[reader].where()), std::string(kUser)});
      });
  return edges;
}

Plan describe_plan(const CompiledPlan& plan, const graph::Snapshot& snapshot) {
  auto* const impl = new Plan::Impl;
  Plan made{detail::Shared(impl)};
  impl->counters = plan.counters;
  impl->interpreted = plan.interpreted;
  if (plan.placements) impl->placements = *plan.placements;
  const auto described = [&](graph::NodeId id) {
    return fmt::format("{} at {}", graph::name(snapshot.graph.nodes[id].op), snapshot.graph.nodes[id].where().str());
  };
  for (std::size_t i = snapshot.asked; i < snapshot.graph.roots.size(); ++i) {
    const graph::NodeId id = snapshot.graph.roots[i].node;
    impl->stored.push_back({described(id), snapshot.graph.bytes(id), std::string(kSecondUse)});
  }
  for (const UnfusedOrigin& u : plan.unfused)
    impl->unfused.push_back({described(u.producer), described(u.consumer), std::string(graph::to_string(u.reason))});
  std::ranges::move(edges_of_own_code(snapshot), std::back_inserter(impl->unfused));
  impl->text = fmt::format("plan for {}\n", plan.target->name);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (const auto* t = std::get_if<TransferStep>(&plan.steps[i])) {
      impl->text += fmt::format("  step {}: transfer leaf {}\n", i, t->leaf);
      continue;
    }
    if (const auto* copy = std::get_if<CopyStep>(&plan.steps[i])) {
      impl->text += fmt::format("  step {}: copy {} bytes\n", i, copy->bytes);
      continue;
    }
    if (const auto* call = std::get_if<LibraryStep>(&plan.steps[i])) {
      impl->text +=
          fmt::format("  step {}: {}{}, {} read, {} written\n", i, call->spec.str(),
                      call->source ? " by " + call->source->entry : "", call->bytes_read, call->bytes_written);
      if (call->source && seen.insert(call->source->entry).second) impl->sources.push_back(call->source->text);
      continue;
    }
    if (const auto* call = std::get_if<RoutineStep>(&plan.steps[i])) {
      impl->text += fmt::format("  step {}: {}, {} read, {} written\n", i, call->spec.str(), call->bytes_read,
                                call->bytes_written);
      for (const auto& source : call->sources)
        if (seen.insert(source->entry).second) impl->sources.push_back(source->text);
      continue;
    }
    const auto& k = std::get<KernelStep>(plan.steps[i]);
    impl->text +=
        fmt::format("  step {}: {} over {}{}{}, {} read, {} written\n", i, k.source->entry,
                    graph::to_string(k.lowered.args.extents),
                    k.lowered.ir.reductions.empty() ? "" : fmt::format(" reducing {}", k.lowered.args.reduced),
                    k.source->cluster > 1 ? fmt::format(" by clusters of {} thread blocks", k.source->cluster) : "",
                    k.lowered.bytes_read, k.lowered.bytes_written);
    if (seen.insert(k.source->entry).second) impl->sources.push_back(k.source->text);
  }
  return made;
}

}  // namespace tarry::runtime
