// evaluate(): snapshot, plan, prepare, commit, publish. Everything that can fail recoverably happens in prepare.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <forward_list>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "graph/pending.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/toolchain.h"
#include "runtime/evaluate/auto_evaluate.h"
#include "runtime/evaluate/bound.h"
#include "runtime/evaluate/chunks.h"
#include "runtime/evaluate/claims.h"
#include "runtime/evaluate/dispatch.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/faults.h"
#include "runtime/evaluate/plan_key.h"
#include "runtime/evaluate/reading.h"
#include "runtime/evaluate/run_lease.h"
#include "runtime/evaluate/snapshots.h"
#include "runtime/evaluate/uploaded_parts.h"
#include "runtime/observe/dump.h"
#include "runtime/observe/history.h"
#include "runtime/observe/recent_work.h"
#include "runtime/observe/report.h"
#include "runtime/plan/kernel_making.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/plan/route.h"
#include "runtime/plan/settings.h"
#include "runtime/rethrow.h"
#include "runtime/stopwatch.h"
#include "runtime/warm/recording.h"
#include "support/check.h"
#include "support/env.h"
#include "support/floating_point.h"
#include "support/log.h"
#include "support/out_of_memory.h"
#include "support/recycle.h"

namespace tarry::runtime {
namespace {

using graph::Edge;
using graph::Node;
using graph::State;

/// Process-wide and never destroyed: arrays in static storage may be evaluated and dropped at exit.
struct Engine {
  PlanCache plans;
  RecentWork recent;
};
Engine& engine() {
  static auto* e = new Engine;
  return *e;
}

bool is_done(const Edge& e) { return e.node()->state.load(std::memory_order_acquire) == State::Ready; }

/// The purpose of an evaluate, and what it does where that does not fit in memory.
enum class Manner : std::uint8_t {
  Whole,     ///< its roots; they run in one piece all the same
  Fitting,   ///< its roots; nothing is done
  Roots,     ///< its roots, in chunks
  Marked,    ///< also what is needed for the second time; nothing is done where there is such a thing
  Streamed,  ///< also what is needed for the second time and is small, in chunks
};

/// One evaluate on its way through the stages.
struct Evaluation {
  Run& run;
  Claim& claim;
  Report::Impl& report;
  Stopwatch& watch;
  Where where;
  Manner manner;
  bool started = false;  ///< set before the first launch
  [[nodiscard]] Ways ways() const { return manner == Manner::Whole ? Ways::Whole : Ways::Any; }
};

/// Chooses how a library computes each product that has no kernel; the largest workspace joins the plan's scratch
/// memory.
void prepare_calls(CompiledPlan& plan, Backend& b) {
  for (Step& s : plan.steps) {
    auto* const call = std::get_if<LibraryStep>(&s);
    if (!call || call->executable) continue;
    call->call = b.prepare(call->spec);
    plan.scratch_bytes = std::max(plan.scratch_bytes, call->call->workspace());
  }
}

/// Results of a plan that runs in one piece.
void make_results(Run& run) {
  const CompiledPlan& plan = *run.plan;
  for (std::size_t i = 0; i < run.outputs.size(); ++i)
    run.storages.push_back(storage_of(run.outputs[i], graph::row_major_strides(plan.outputs[i].shape.span())));
  for (const RootPlan& r : plan.roots)
    add_result(run, r.aliases_leaf ? run.key_walk.leaves[r.index] : run.storages[r.index]);
}

/// Kernels and what launches them, of a plan that runs in one piece.
void complete(CompiledPlan& plan, const graph::Snapshot& s, Backend& b, const PlanSwitches& switches,
              Report::Impl& report) {
  if (!b.target().is_cuda() && switches.disabled("compile")) {
    plan.interpreted = why_interpreted(b);
  } else {
    Stopwatch watch;
    const KernelCounts counts = make_kernels(plan, b);
    report.seconds.compile = watch.lap();
    report.counters.compiles = counts.compiles;
    report.counters.memory_hits = counts.memory_hits;
    report.counters.disk_hits = counts.disk_hits;
  }
  prepare_calls(plan, b);
  enter_history(plan, s, b.device());
  plan.dispatch = std::make_shared<Dispatch>(
      plan, b, switches.disabled("graphs") ? Dispatch::Repeats::Launched : Dispatch::Repeats::Replayed);
}

/// A plan is there: what it says of the evaluate, and how it is to be run now.
Route found_route(const Evaluation& e, Backend& asked) {
  Backend& b = e.run.plan->on_host ? backend(cpu) : asked;
  e.report.counters = e.run.plan->counters;
  e.report.counters.plan_hit = 1;
  return {b, nullptr, e.ways() == Ways::Whole ? Whole{} : find_way(*e.run.plan, e.run.key_walk.leaves, b)};
}

/// Makes the plan and, where it runs in one piece, its kernels.
Route made_route(const Evaluation& e, Backend& b, const PlanSwitches& switches, Dump* dump) {
  graph::Snapshot& s = e.run.snapshot;
  const Planner planned = planner_on(b, s, switches, dump);
  Route route = find_route(b, s, planned, switches, e.ways(), Level::AtHand);
  CompiledPlan& plan = *route.plan;
  e.report.seconds = plan.seconds;
  e.report.counters = plan.counters;
  if (!std::holds_alternative<Whole>(route.way) && !(dump && std::holds_alternative<PartlyUploaded>(route.way)))
    return route;
  try {
    complete(plan, s, b, switches, e.report);
  } catch (const NotCached& error) {
    rethrow(error, error.op(), error.where(), error.what() + level_that_hits(b, planned));
  }
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, s, b.device(), Dump::Plan::Made);
  }
  return route;
}

/// The route of a graph for which a device was asked; its plan is found, or made and kept.
Route route_of_graph(const Evaluation& e, Backend& asked) {
  Run& run = e.run;
  const PlanSwitches switches = plan_switches();
  Site site = find_site(run.snapshot, asked, switches);
  record_evaluate(run.snapshot, site.backend.device(), switches);
  const std::unique_ptr<Dump> dump = Dump::start("evaluate", e.where);
  const std::uint32_t words = number_of(dump ? switches.words + dump->key() : switches.words, kMostWords);
  const bool cached = !switches.disabled("plan_cache") && words < kMostWords;
  const bool compiled = compiles(site.backend);
  finish_key(run.key_walk, {&asked, words, compiled});
  if (cached) run.plan = engine().plans.find(run.key_walk.key());
  if (run.plan) {
    if (dump) dump->index(*run.plan, run.snapshot, site.backend.device(), Dump::Plan::Found);
    return found_route(e, asked);
  }
  Route route = made_route(e, site.backend, switches, dump.get());
  route.plan->on_host = &site.backend != &asked;
  if (!site.placements.empty())
    route.plan->placements = std::make_shared<const std::vector<Placement>>(std::move(site.placements));
  run.plan = route.plan;
  // Kernels that could not be compiled just now may be the next time.
  if (cached && (run.plan->interpreted.empty() || !compiled)) engine().plans.insert(run.key_walk.key(), run.plan);
  return route;
}

/// The report's edges that went through memory.
void note_edges(const Run& run, Report::Impl& report) {
  const std::vector<graph::GraphNode>& nodes = run.plan->recorded->nodes;
  for (const UnfusedOrigin& u : run.plan->unfused)
    report.edges.push_back({nodes[u.producer].op, nodes[u.consumer].op, run.key_walk.lines[u.producer],
                            run.key_walk.lines[u.consumer], u.reason, nullptr});
  if (run.key_walk.own_code == 0) return;
  const auto maker = [&](graph::NodeId id) {
    const Node& n = *run.key_walk.visits[id].node;
    return n.op == graph::Op::Input ? n.extra->own_code : nullptr;
  };
  graph::each_reader(
      nodes, [&](graph::NodeId id) { return maker(id) != nullptr; },
      [&](graph::NodeId made, graph::NodeId reader) {
        report.edges.push_back({nodes[made].op, nodes[reader].op, run.key_walk.lines[made], run.key_walk.lines[reader],
                                graph::Reason::Fused, maker(made)});
      });
}

/// The values stored beside the roots that were asked for.
void note_kept(const Run& run, Report::Impl& report) {
  for (std::size_t i = run.key_walk.asked; i < run.key_walk.roots.size(); ++i) {
    const graph::NodeId id = run.key_walk.roots[i].node;
    const Node& n = *run.key_walk.visits[id].node;
    const std::string_view reason = run.key_walk.is_shown(id) ? kSameMemory : kSecondUse;
    report.kept.push_back({n.op, n.where(), graph::bytes_of(n), reason});
  }
}

/// The recorded graph, with the lines of this evaluate.
graph::Graph recorded_graph(const Run& run) {
  graph::Graph g = *run.plan->recorded;
  for (std::size_t id = 0; id < run.key_walk.lines.size(); ++id) {
    g.nodes[id].file = run.key_walk.lines[id].file;
    g.nodes[id].line = run.key_walk.lines[id].line;
  }
  return g;
}

/// Values that others computed.
void publish_values(const Evaluation& e, const std::vector<std::shared_ptr<graph::Storage>>& values) {
  for (const std::shared_ptr<graph::Storage>& value : values) add_result(e.run, value);
  publish(e.run, e.claim);
}

/// Nothing is published before all chunks are done: a failure leaves the roots lazy.
void run_way(Evaluation& e, const Chunked& way, Backend& b) {
  const graph::Graph g = recorded_graph(e.run);
  e.report.needed = way.needed;
  e.report.room = b.room();
  ChunkedValues values = evaluate_in_chunks({g, e.run.key_walk.leaves, e.run.key_walk.cells, b, e.where, way.needed});
  const Counters whole = e.report.counters;
  e.report.counters = values.counters;
  keep_graph_counters(whole, e.report.counters);
  e.report.interpreted = std::move(values.interpreted);
  publish_values(e, values.roots);
}

/// As above: of operands only what is needed crosses.
void run_way(Evaluation& e, const PartlyUploaded& way, Backend& b) {
  const graph::Graph g = recorded_graph(e.run);
  UploadedValues values =
      evaluate_partial_upload({g, e.run.key_walk.leaves, e.run.key_walk.cells, b, e.where}, *way.upload);
  Report::Impl& report = e.report;
  const Counters whole = report.counters;
  report.counters = values.counters;
  keep_graph_counters(whole, report.counters);
  report.counters.plan_hit = whole.plan_hit;
  if (whole.plan_hit == 0) {
    report.counters.compiles += whole.compiles;
    report.counters.memory_hits += whole.memory_hits;
    report.counters.disk_hits += whole.disk_hits;
  }
  report.transfers = std::move(values.transfers);
  if (!way.upload->placements.empty()) report.placements = e.run.plan->placements;
  publish_values(e, values.roots);
}

/// Completes a plan that was not to run in one piece when it was made.
void complete_found(Run& run, Backend& b, Report::Impl& report) {
  graph::Snapshot s;
  s.graph = recorded_graph(run);
  const auto plan = std::make_shared<CompiledPlan>(*run.plan);
  complete(*plan, s, b, plan_switches(), report);
  run.plan = plan;
  if (run.key_walk.key().empty()) return;  // a trace knew the plan, and keeps this one
  const auto words = static_cast<std::uint32_t>(run.key_walk.head(0));
  if (words < kMostWords) engine().plans.insert(run.key_walk.key(), run.plan);
}

/// One plan, one run: prepare, commit, publish.
void run_way(Evaluation& e, const Whole&, Backend& b) {
  Run& run = e.run;
  Report::Impl& report = e.report;
  const std::int64_t allocations = b.allocations();
  if (!run.plan->dispatch) complete_found(run, b, report);
  const auto body = [&] {
    Dispatch& dispatch = *run.plan->dispatch;
    dispatch.prepare(run, b, report.counters);
    note_edges(run, report);
    report.interpreted = run.plan->interpreted;
    report.transfers = std::move(run.transfers);
    if (!report.transfers.empty() && !run.plan->partial_uploads.empty() &&
        run.plan->partial_uploads.front().reductions.empty())
      report.placements = run.plan->placements;
    make_results(run);
    const std::vector<std::shared_ptr<ValueFaults>> faults = make_faults(run, b, e.where);
    report.seconds.prepare = e.watch.lap();
    dispatch.commit(run, b, report.counters, e.watch.last(), e.started);
    const std::uint64_t ticket = b.mark(run.plan->counters.bytes_read + run.plan->counters.bytes_written);
    for (const std::shared_ptr<graph::Buffer>& o : run.outputs) o->last_write = ticket;
    if (run.faults) run.faults->last_write = ticket;
    note_faults(run, faults);
    publish(run, e.claim);
  };
  b.within(std::ref(body));
  if (b.target().is_cuda()) engine().recent.add(b.device(), e.where, run.plan);
  report.counters.allocations = b.allocations() - allocations;
}

/// False where nothing was done.
bool find_and_run(Evaluation& e) {
  Backend& asked = e.run.backend ? *e.run.backend : backend(device_of(e.run.key_walk.placed));
  for (graph::Storage* s : e.run.borrowed)
    if (s->check) s->check->use();
  const bool known = e.run.plan != nullptr;
  const Route route = known ? found_route(e, asked) : route_of_graph(e, asked);
  if (!known) e.watch.lap();
  e.report.device = route.backend.device();
  if (e.run.plan->on_host) e.report.placements = e.run.plan->placements;
  note_kept(e.run, e.report);
  const bool chunked = std::holds_alternative<Chunked>(route.way);
  if (chunked && (e.manner == Manner::Fitting || (e.manner == Manner::Marked && !e.report.kept.empty()))) return false;
  std::visit([&](const auto& way) { run_way(e, way, route.backend); }, route.way);
  e.report.seconds.launch = e.watch.lap();
  return true;
}

/// The ops of the evaluation, for messages.
std::string ops_of(const Run& run) {
  if (!run.plan || !run.plan->recorded) return describe_ops(run.snapshot.graph);
  return describe_ops(recorded_graph(run));
}

/// The last work of the device, where `e` concerns it; nothing where `placed` cannot be had at all.
std::string recent_work_of(const Error& e, Device placed) {
  try {
    return describe_recent_work(e, device_of(placed));
  } catch (const Error&) {
    return {};
  }
}

/// The error that is handled, with the user's view: which ops, where evaluate was called. As it is where there is no
/// memory for more words.
std::exception_ptr explained(const Error& e, const Run& run, Where where) noexcept {
  std::exception_ptr bare = std::current_exception();
  try {
    const std::string ops = ops_of(run);
    rethrow(e, "evaluate", where,
            fmt::format("{}{}{}", e.what(), ops.empty() ? "" : fmt::format(" (ops: {})", ops),
                        recent_work_of(e, run.key_walk.placed)));
  } catch (const Error&) {
    return std::current_exception();
  } catch (...) {
    return bare;
  }
}

/// Runs the plan of the claimed roots. After the first launch a failure is theirs.
bool run_or_explain(Evaluation& e) {
  std::exception_ptr error;
  try {
    return find_and_run(e);
  } catch (const Error& failure) {
    error = explained(failure, e.run, e.where);
  } catch (...) {
    error = std::current_exception();
  }
  if (e.started) fail(e.run, e.claim, error);
  std::rethrow_exception(error);
}

Device placed_of(std::span<const Edge> roots) {
  Device placed;
  for (const Edge& e : roots)
    if (e.node()->device.kind != DeviceKind::Unplaced) placed = e.node()->device;
  return placed;
}

/// The backend that the roots will run on, or nullptr where it cannot be had: then the evaluate itself will say why.
Backend* expected_backend(std::span<const Edge> roots) {
  try {
    return &backend(device_of(placed_of(roots)));
  } catch (const Error&) {
    return nullptr;
  }
}

void list_lazy(std::span<const Edge> roots, std::vector<Edge>& lazy) {
  constexpr std::size_t kFew = 16;
  lazy.clear();
  std::unordered_set<const Node*> seen;
  for (const Edge& e : roots) {
    if (is_done(e)) continue;
    const bool fresh = roots.size() <= kFew
                           ? std::none_of(lazy.begin(), lazy.end(), [&](const Edge& l) { return l.node() == e.node(); })
                           : seen.insert(e.node()).second;
    if (fresh) lazy.push_back(e);
  }
}

/// A value stored besides is a root like those that were asked for. The caller holds engine_mutex().
void add_kept(Run& run) {
  const graph::KeyWalk& o = run.key_walk;
  run.lazy.reserve(o.roots.size());
  for (std::size_t i = o.asked; i < o.roots.size(); ++i) {
    Node* const n = o.visits[o.roots[i].node].node;
    graph::retain(n);
    run.lazy.emplace_back(n, 0);
  }
}

/// A walk that comes again for the same evaluate marks nothing.
graph::Marks marks_of(Manner manner, const Settings& now) {
  if (!now.marks) return graph::Marks::Ignore;
  if (manner == Manner::Streamed) return graph::Marks::Read;
  return manner == Manner::Marked ? graph::Marks::Set : graph::Marks::Ignore;
}

/// Bytes; chunks and what was asked for need the rest.
std::int64_t kept_beside_chunks(std::span<const Edge> roots) {
  constexpr std::size_t kShare = 4;
  const Backend* const b = expected_backend(roots);
  return b == nullptr ? 0 : static_cast<std::int64_t>(std::min<std::size_t>(b->room() / kShare, INT64_MAX));
}

/// The nodes to compute are claimed and borrowed memory is being read. engine_mutex() held.
void claim_roots(Run& run, Claim& claim) {
  run.claimed.reserve(run.lazy.size());
  run.borrowed.reserve(run.key_walk.leaves.size());
  for (const Edge& lazy : run.lazy) claim.take(lazy.node());
  for (const std::shared_ptr<graph::Storage>& leaf : run.key_walk.leaves) {
    if (leaf->buffer->owner != graph::Owner::Borrowed) continue;
    leaf->readers.fetch_add(1, std::memory_order_relaxed);
    run.borrowed.push_back(leaf.get());
  }
}

/// The lazy roots, each once, claimed in one critical section with the walk over what they need; there too the plan is
/// found, or the graph is made that it will be made from.
void claim_and_walk(std::span<const Edge> roots, const Evaluation& e) {
  Run& run = e.run;
  const graph::WalkOptions options{.marks = marks_of(e.manner, settings()),
                                   .most_kept = e.manner == Manner::Streamed ? kept_beside_chunks(roots) : INT64_MAX};
  const PlanQuestion asked = plan_question(placed_of(roots));
  std::unique_lock lock(graph::engine_mutex());
  for (;;) {
    list_lazy(roots, run.lazy);
    Node* const blocked = graph::walk(run.lazy, run.key_walk, options);
    if (!blocked) break;
    wait_for(blocked, lock, "evaluate", e.where);
  }
  if (run.lazy.empty()) return;
  add_kept(run);
  find_plan(run, asked);
  claim_roots(run, e.claim);
}

/// Throws where a root is placed on a device that is not there: of what is evaluated elsewhere no kernel would say so.
void require_devices(std::span<const Edge> roots, Where where) {
  for (const Edge& e : roots) {
    const Node& n = *e.node();
    if (n.device.kind != DeviceKind::Cuda || !is_done(e)) continue;
    try {
      (void)backend(n.device);
    } catch (const Error& error) {
      rethrow(error, "evaluate", where,
              fmt::format("{} ({} {} at {} is placed on {})", error.what(), name(n.dtype), graph::to_string(n.shape()),
                          n.where().str(), n.device.str()));
    }
  }
}

bool any_failed(std::span<const Edge> roots) {
  return std::any_of(roots.begin(), roots.end(),
                     [](const Edge& e) { return e.node()->state.load(std::memory_order_acquire) == State::Failed; });
}

/// Nothing where the manner does nothing, or where there is no room for what would be stored besides.
std::optional<Report> try_evaluate(std::span<const Edge> roots, Where where, Manner manner) {
  require_devices(roots, where);
  if (std::all_of(roots.begin(), roots.end(), is_done)) return Report();
  const support::DefaultFloatingPoint state;  // constants, the interpreter and compilers in this process compute too
  try {
    auto* const report = new Report::Impl;
    Report done{detail::Shared(report)};
    RunLease run;
    Claim claim(*run);
    Stopwatch watch;
    Evaluation e{*run, claim, *report, watch, where, manner};
    const auto keeps_more = [&] { return run->key_walk.roots.size() > run->key_walk.asked; };
    try {
      claim_and_walk(roots, e);
      const double took = watch.lap();
      if (!run->lazy.empty() && !run_or_explain(e)) return {};
      report->seconds.snapshot = took;
      return done;
    } catch (const OutOfMemory&) {
      if (!keeps_more() || any_failed(roots)) throw;
      return {};
    } catch (const std::bad_alloc&) {
      if (!keeps_more() || any_failed(roots)) throw;
      return {};
    }
  } catch (const std::bad_alloc&) {
    support::throw_out_of_memory("evaluate", where);
  }
}

}  // namespace

void find_plan(Run& run, const PlanQuestion& asked) {
  if (asked.backend && device_of(run.key_walk.placed) == asked.backend->device()) {
    finish_key(run.key_walk, asked);
    run.plan = engine().plans.find(run.key_walk.key());
    run.backend = asked.backend;
  }
  graph::note_lines(run.key_walk);
  if (!run.plan) run.snapshot = graph::expand(run.key_walk);
}

void evaluate_bound(std::span<const Edge> results, support::FunctionRef<void(Run&)> bind,
                    support::FunctionRef<void(const Run&)> done, Where where) {
  const support::DefaultFloatingPoint state;
  auto* const report = new Report::Impl;
  const Report owner{detail::Shared(report)};
  RunLease run;
  Claim claim(*run);
  Stopwatch watch;
  Evaluation e{*run, claim, *report, watch, where, Manner::Roots};
  run->lazy.assign(results.begin(), results.end());
  {
    const std::lock_guard lock(graph::engine_mutex());
    bind(*run);
    claim_roots(*run, claim);
  }
  run_or_explain(e);
  done(*run);
}

Report evaluate(std::span<const Edge> roots, Where where) {
  try {
    for (const Manner manner : {Manner::Marked, Manner::Fitting, Manner::Streamed})
      if (const std::optional<Report> done = try_evaluate(roots, where, manner)) return *done;
    return *try_evaluate(roots, where, Manner::Roots);
  } catch (const OutOfMemory&) {
    if (any_failed(roots) || !evaluate_pending(roots, where)) throw;
  }
  return *try_evaluate(roots, where, Manner::Roots);
}
Report evaluate_whole(std::span<const Edge> roots, Where where) { return *try_evaluate(roots, where, Manner::Whole); }

bool forget_half_of_plans() { return engine().plans.forget_half(); }

graph::Snapshot present_snapshot(std::span<const Edge> roots, graph::Marks marks) {
  const std::lock_guard lock(graph::engine_mutex());
  return graph::take_snapshot(roots, nullptr, marks);
}

graph::Snapshot settled_snapshot(std::span<const Edge> roots, graph::Marks marks, std::string_view op, Where where) {
  std::unique_lock lock(graph::engine_mutex());
  for (;;) {
    Node* blocked = nullptr;
    graph::Snapshot snapshot = graph::take_snapshot(roots, &blocked, marks);
    if (!blocked) return snapshot;
    wait_for(blocked, lock, op, where);
  }
}

bool stream(const Edge& root, Sink& sink, Where where) {
  if (is_done(root)) return false;
  const support::DefaultFloatingPoint state;
  graph::Snapshot s = settled_snapshot({&root, 1}, graph::Marks::Ignore, "evaluate", where);
  Backend& b = backend(device_of(s.placed));
  if (b.limit() == SIZE_MAX && !b.target().is_cuda()) return false;
  try {
    const PlanSwitches switches = plan_switches();
    const Route route = find_route(b, s, planner_on(b, s, switches, nullptr), switches, Ways::Chunked, Level::Own);
    const auto* const way = std::get_if<Chunked>(&route.way);
    if (!way) return false;
    std::forward_list<Reading> readings;  // the last one ends first
    for (const std::shared_ptr<graph::Storage>& leaf : s.leaves)
      if (leaf->buffer->owner == graph::Owner::Borrowed) readings.emplace_front(*leaf);
    (void)evaluate_in_chunks({*route.plan->recorded, s.leaves, s.cells, b, where, way->needed, &sink});
    return true;
  } catch (const OutOfMemory& e) {
    rethrow(e, "evaluate", where, fmt::format("{} (ops: {})", e.what(), describe_ops(s.graph)));
  }
}

std::string describe_recent_work(const Error& e, Device device) {
  const bool fault = e.code() == ErrorCode::DeviceError || e.code() == ErrorCode::DeviceLost;
  return fault && device.kind != DeviceKind::Cpu ? engine().recent.describe(device) : std::string();
}

}  // namespace tarry::runtime
