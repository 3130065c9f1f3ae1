// evaluate(): snapshot, plan, prepare, commit, publish. Everything that can fail recoverably happens in prepare.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "codegen/interpreter.h"
#include "runtime/backend.h"
#include "runtime/dump.h"
#include "runtime/engine.h"
#include "runtime/kernel_caches.h"
#include "runtime/plan_cache.h"
#include "runtime/recent_work.h"
#include "runtime/recording.h"
#include "runtime/report.h"
#include "runtime/rethrow.h"
#include "runtime/stopwatch.h"
#include "runtime/toolchain.h"
#include "runtime/transfer.h"
#include "support/check.h"
#include "support/env.h"
#include "support/floating_point.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

using graph::Edge;
using graph::Node;
using graph::State;

/// Process-wide and never destroyed: arrays in static storage may be evaluated and dropped at exit.
struct Engine {
  PlanCache plans;
  RecentWork recent;
  std::condition_variable resolved;  ///< with engine_mutex(): a claimed node became ready, failed or lazy again
};
Engine& engine() {
  static auto* e = new Engine;
  return *e;
}

/// The roots of one evaluate while it owns them: back to lazy unless they were published or failed.
class Claim {
 public:
  Claim() = default;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (nodes_.empty()) return;
    settle([](Node* n) { n->state.store(State::Lazy, std::memory_order_release); });
  }
  void take(Node* n) {  // engine_mutex() held
    n->state.store(State::Claimed, std::memory_order_release);
    nodes_.push_back(n);
  }
  [[nodiscard]] const std::vector<Node*>& nodes() const { return nodes_; }
  /// Applies `change` to every claimed node under the lock, wakes waiters and gives the nodes up.
  template <class Change>
  void settle(Change&& change) {
    {
      const std::lock_guard lock(graph::engine_mutex());
      for (Node* n : nodes_) change(n);
    }
    nodes_.clear();
    engine().resolved.notify_all();
  }

 private:
  std::vector<Node*> nodes_;
};

bool is_done(const Edge& e) { return e.node()->state.load(std::memory_order_acquire) == State::Ready; }

/// The lazy roots, each once, claimed together with the snapshot in one critical section.
graph::Snapshot claim_and_snapshot(std::span<const Edge> roots, std::vector<Edge>& lazy, Claim& claim) {
  std::unique_lock lock(graph::engine_mutex());
  for (;;) {
    lazy.clear();
    std::unordered_set<const Node*> seen;
    for (const Edge& e : roots)
      if (!is_done(e) && seen.insert(e.node()).second) lazy.push_back(e);
    Node* blocked = nullptr;
    graph::Snapshot s = graph::take_snapshot(lazy, &blocked);
    if (!blocked) {
      for (const Edge& e : lazy) claim.take(e.node());
      return s;
    }
    graph::retain(blocked);
    Edge keep(blocked, 0);
    engine().resolved.wait(lock, [&] { return blocked->state.load(std::memory_order_acquire) != State::Claimed; });
    lock.unlock();  // `keep` may be the last owner: never dropped under the lock
    keep = Edge();
    lock.lock();
  }
}

/// True where kernels run in the interpreter: asked for, or no C compiler is there.
bool interpreted(Backend& b) {
  if (b.target().is_cuda()) return false;
  if (support::env::has_word("TARRY_DISABLE", "compile")) return true;
  if (!b.compiler().empty()) return false;
  support::log::warn_once(
      "no C compiler was found: kernels run in the interpreter; install gcc or clang, or set TARRY_CC");
  return true;
}

KernelHit hit_of(cache::Hit hit) {
  if (hit == cache::Hit::Compiled) return KernelHit::Compiled;
  return hit == cache::Hit::Disk ? KernelHit::Disk : KernelHit::Memory;
}

struct CompileCounts {
  std::int64_t compiles = 0, memory_hits = 0, disk_hits = 0;
};

CompileCounts compile(CompiledPlan& plan, Backend& b) {
  CompileCounts counts;
  std::vector<cache::KernelRequest> requests;
  std::unordered_map<const codegen::KernelSource*, std::size_t> request_of;
  for (Step& s : plan.steps) {
    auto* k = std::get_if<KernelStep>(&s);
    if (!k || k->empty() || !request_of.try_emplace(k->source.get(), requests.size()).second) continue;
    const graph::Mode mode = k->lowered.ir.mode;
    requests.push_back(kernel_request(*k->source, mode, b.options(mode), b.target()));
  }
  if (requests.empty()) return counts;
  cache::Backend calls;
  calls.compile = [&b](std::span<const cache::KernelRequest* const> batch) { return b.compile(batch); };
  std::vector<double> load_seconds(requests.size());
  calls.load = [&](const cache::KernelRequest& r, const cache::Binary& image) {
    Stopwatch watch;
    auto executable = b.load(r, image);
    load_seconds[static_cast<std::size_t>(&r - requests.data())] = watch.lap();
    return executable;
  };
  calls.compiler = [&b] { return b.compiler(); };
  const std::vector<cache::Loaded> loaded = kernel_cache(b).get(requests, calls);
  for (const cache::Loaded& l : loaded) {
    counts.compiles += l.hit == cache::Hit::Compiled;
    counts.memory_hits += l.hit == cache::Hit::Memory;
    counts.disk_hits += l.hit == cache::Hit::Disk;
  }
  for (Step& s : plan.steps) {
    auto* k = std::get_if<KernelStep>(&s);
    if (!k || k->empty()) continue;
    const std::size_t i = request_of.at(k->source.get());
    k->executable = loaded[i].executable;
    k->making.hit = hit_of(loaded[i].hit);
    k->making.compile_seconds = loaded[i].compile_seconds;
    k->making.load_seconds = load_seconds[i];
  }
  return counts;
}

/// Chooses how each product is computed; the largest workspace joins the plan's scratch memory.
void prepare_calls(CompiledPlan& plan, Backend& b) {
  for (Step& s : plan.steps) {
    auto* const call = std::get_if<LibraryStep>(&s);
    if (!call) continue;
    call->call = b.prepare(call->spec);
    plan.scratch_bytes = std::max(plan.scratch_bytes, call->call->workspace());
  }
}

/// False where the graph has a product and the device no library for it: it is a sum then.
bool library_there(const graph::Graph& g, Backend& b) {
  const bool wanted = std::any_of(g.nodes.begin(), g.nodes.end(), [](const graph::GraphNode& n) { return n.op == graph::Op::Matmul; });
  if (!wanted) return true;
  const std::string missing = b.library_missing();
  if (missing.empty()) return true;
  support::log::warn_once(fmt::format("matmul on {} runs as a plain kernel, which is slow: {}", b.device().str(), missing));
  return false;
}

/// Leaves as the plan will see them.
void localise(graph::Snapshot& s, Device device, std::vector<bool>& on_device, std::vector<bool>& may_alias) {
  for (std::size_t i = 0; i < s.leaves.size(); ++i) {
    on_device.push_back(s.leaf_devices[i] == device);
    may_alias.push_back(localise_leaf(s.graph.leaves[i], on_device[i], s.leaves[i]->buffer->owner == graph::Owner::Pool));
  }
}

std::string plan_key(const graph::Snapshot& s, const graph::Target& target, const std::vector<bool>& on_device,
                     const std::vector<bool>& may_alias, const PlanSwitches& switches, bool interpret) {
  std::string key = fmt::format("{}|{}|{}|", target.name, switches.words, interpret ? "interpreter" : "compiled");
  for (std::size_t i = 0; i < on_device.size(); ++i) {
    const bool donated = s.graph.leaves[i].donated;
    key += static_cast<char>('0' + on_device[i] + 2 * may_alias[i] + 4 * donated);
  }
  return key + s.key;
}

/// Everything the launches need, allocated and bound before the first of them.
struct Prepared {
  std::vector<std::shared_ptr<graph::Buffer>> leaves, outputs, temporaries;
  std::shared_ptr<graph::Buffer> scratch;
  std::vector<std::vector<void*>> addresses;           ///< per kernel step
  std::vector<std::vector<std::uint64_t>> scalars;     ///< per kernel step
  std::vector<std::vector<std::uint64_t>> parameters;  ///< per kernel step, compiled ones

  [[nodiscard]] graph::Buffer& buffer(const Operand& o) const {
    const auto& of_kind = o.kind == Operand::Kind::Leaf     ? leaves
                          : o.kind == Operand::Kind::Output ? outputs
                                                            : temporaries;
    return *of_kind[o.index];
  }
};

Prepared prepare(const CompiledPlan& plan, const graph::Snapshot& snapshot, Backend& b, Counters& counters) {
  Prepared p;
  p.leaves.resize(snapshot.leaves.size());
  for (std::size_t i = 0; i < p.leaves.size(); ++i) p.leaves[i] = snapshot.leaves[i]->buffer;
  counters.uploads = counters.downloads = counters.bytes_uploaded = counters.bytes_downloaded = 0;
  for (const Step& s : plan.steps) {
    const auto* transfer = std::get_if<TransferStep>(&s);
    if (transfer)
      p.leaves[transfer->leaf] = bring(*snapshot.leaves[transfer->leaf], snapshot, transfer->leaf, b, counters);
  }
  // A donated buffer changes owner at publication: until then its old value holds it too.
  for (const OutputPlan& o : plan.outputs)
    p.outputs.push_back(o.leaf == graph::kNoId ? b.allocate(o.bytes) : p.leaves[o.leaf]);
  for (std::size_t bytes : plan.temporaries) p.temporaries.push_back(b.allocate(bytes));
  if (plan.scratch_bytes) p.scratch = b.allocate(plan.scratch_bytes);
  void* tickets = plan.ticket_count ? b.tickets(plan.ticket_count) : nullptr;
  const std::vector<std::uint64_t> values = scalar_values(plan, snapshot);
  for (const Step& s : plan.steps) {
    const auto* k = std::get_if<KernelStep>(&s);
    if (!k) continue;
    std::vector<void*> addresses;
    for (const Operand& o : k->operands) addresses.push_back(p.buffer(o).data);
    std::vector<std::uint64_t> scalars = kernel_scalars(*k, values);
    std::vector<std::uint64_t> parameters;
    if (k->executable) {
      const codegen::Binding binding{addresses, scalars, p.scratch ? p.scratch->data : nullptr, tickets};
      parameters = codegen::pack_parameters(k->lowered.ir, *k->source, k->lowered.args, k->geometry, binding);
    }
    p.addresses.push_back(std::move(addresses));
    p.scalars.push_back(std::move(scalars));
    p.parameters.push_back(std::move(parameters));
  }
  return p;
}

/// Runs the kernels; `started` is set before the first launch, from when on failures belong to the device.
std::int64_t commit(const CompiledPlan& plan, const Prepared& p, Backend& b, bool& started) {
  const bool timed = b.launch_waits();
  std::int64_t launches = 0;
  std::size_t at = 0;
  for (const Step& s : plan.steps) {
    if (const auto* copy = std::get_if<CopyStep>(&s)) {
      started = true;
      b.copy(p.buffer(copy->to), p.buffer(copy->from), copy->offset, copy->bytes);
      continue;
    }
    if (const auto* call = std::get_if<LibraryStep>(&s)) {
      started = true;
      b.run(*call->call, p.buffer(call->operands[0]).data, p.buffer(call->operands[1]).data,
            p.buffer(call->operands[2]).data, p.scratch ? p.scratch->data : nullptr);
      ++launches;
      continue;
    }
    const auto* k = std::get_if<KernelStep>(&s);
    if (!k) continue;
    const std::size_t i = at++;
    if (k->empty()) continue;
    started = true;
    const auto start = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    if (k->executable) {
      b.launch({k->executable.get(), k->source.get(), p.parameters[i], k->geometry});
    } else {
      codegen::interpret(k->lowered.ir, k->lowered.args, p.addresses[i], p.scalars[i]);
    }
    if (timed) k->sums->ran(std::chrono::steady_clock::now() - start);
    k->sums->launched(k->lowered.bytes_read, k->lowered.bytes_written);
    ++launches;
  }
  return launches;
}

std::shared_ptr<graph::Storage> storage_of(std::shared_ptr<graph::Buffer> buffer, std::span<const std::int64_t> shape) {
  auto s = std::make_shared<graph::Storage>();
  s->buffer = std::move(buffer);
  s->strides = graph::row_major_strides(shape);
  return s;
}

void publish(const CompiledPlan& plan, const graph::Snapshot& snapshot, Prepared& p, Backend& b, Claim& claim) {
  const std::uint64_t ticket = b.record();
  for (auto& o : p.outputs) o->last_write = ticket;
  std::vector<std::shared_ptr<graph::Storage>> storages;
  for (std::size_t i = 0; i < p.outputs.size(); ++i)
    storages.push_back(storage_of(p.outputs[i], plan.outputs[i].shape.span()));
  std::vector<Edge> dropped;
  std::size_t at = 0;
  claim.settle([&](Node* n) {
    const RootPlan& r = plan.roots[at++];
    const auto& value = r.aliases_leaf ? snapshot.leaves[r.index] : storages[r.index];
    // A reshaping of the same elements is a value of its own: strides belong to the node's shape.
    const bool same_shape = value->strides == graph::row_major_strides(n->shape());
    n->need_extra().results = {same_shape ? value : storage_of(value->buffer, n->shape())};
    graph::take_inputs(n, dropped);
    n->state.store(State::Ready, std::memory_order_release);
  });
}

/// Where a snapshot runs.
Device device_of(const graph::Snapshot& s) {
  return s.placed.kind == DeviceKind::Unplaced ? default_device() : s.placed;
}

/// Finds or makes the plan and its kernels.
std::shared_ptr<const CompiledPlan> planned(graph::Snapshot& s, Backend& b, Report::Impl& report, Where where) {
  std::vector<bool> on_device, may_alias;
  PlanSwitches switches = plan_switches();
  record_evaluate(s, b.device(), switches);
  localise(s, b.device(), on_device, may_alias);
  const bool interpret = interpreted(b);
  const std::unique_ptr<Dump> dump = Dump::start("evaluate", where);
  const bool cached = !switches.disabled("plan_cache");
  std::string key = plan_key(s, b.target(), on_device, may_alias, switches, interpret);
  if (dump) key += dump->key();
  if (cached) {
    if (auto hit = engine().plans.find(key)) {
      report.counters = hit->counters;
      report.counters.plan_hit = 1;
      if (dump) dump->index(*hit, s, b.device(), Dump::Plan::Found);
      return hit;
    }
  }
  switches.library = switches.library && library_there(s.graph, b);
  auto plan = std::make_shared<CompiledPlan>(make_plan(s, b.target(), on_device, may_alias, switches, dump.get()));
  prepare_calls(*plan, b);
  report.seconds = plan->seconds;
  report.counters = plan->counters;
  if (!interpret) {
    Stopwatch watch;
    const CompileCounts counts = compile(*plan, b);
    report.seconds.compile = watch.lap();
    report.counters.compiles = counts.compiles;
    report.counters.memory_hits = counts.memory_hits;
    report.counters.disk_hits = counts.disk_hits;
  }
  enter_history(*plan, s, b.device());
  if (dump) {
    plan->dump_number = dump->number();
    dump->index(*plan, s, b.device(), Dump::Plan::Made);
  }
  if (cached) engine().plans.insert(std::move(key), plan);
  return plan;
}

/// `started` is set before the first launch.
void run(graph::Snapshot& snapshot, Claim& claim, Report::Impl& report, Where where, bool& started) {
  Stopwatch watch;
  snapshot.placed = device_of(snapshot);
  Backend& b = backend(snapshot.placed);
  report.device = b.device().str();
  const MemoryStats before = b.memory();
  const std::shared_ptr<const CompiledPlan> plan = planned(snapshot, b, report, where);
  watch.lap();
  Prepared prepared = prepare(*plan, snapshot, b, report.counters);
  report.unfused = describe_unfused(*plan, snapshot);
  report.seconds.prepare = watch.lap();
  report.counters.launches = commit(*plan, prepared, b, started);
  publish(*plan, snapshot, prepared, b, claim);
  if (b.target().is_cuda()) engine().recent.add(b.device(), where, plan);
  report.seconds.launch = watch.lap();
  report.counters.allocations = b.memory().allocations - before.allocations;
}

/// run(), with the ops and the place of the evaluate in its errors. Where a kernel had started, arrays keep the error.
void run_or_explain(graph::Snapshot& snapshot, Claim& claim, Report::Impl& report, Where where) {
  bool started = false;
  std::exception_ptr error;
  try {
    try {
      return run(snapshot, claim, report, where, started);
    } catch (const Error& e) {
      const std::string ops = describe_ops(snapshot.graph);
      rethrow(e, "evaluate", where,
              fmt::format("{}{}{}", e.what(), ops.empty() ? "" : fmt::format(" (ops: {})", ops),
                          describe_recent_work(e, snapshot.placed)));
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (started) {
    claim.settle([&](Node* n) {
      n->need_extra().error = error;
      n->state.store(State::Failed, std::memory_order_release);
    });
  }
  std::rethrow_exception(error);
}

}  // namespace

Report evaluate(std::span<const Edge> roots, Where where) {
  if (std::all_of(roots.begin(), roots.end(), is_done)) return {};
  const support::DefaultFloatingPoint state;  // constants, the interpreter and compilers in this process compute too
  auto* const report = new Report::Impl;
  Report done{detail::Shared(report)};
  std::vector<Edge> lazy;
  Claim claim;
  Stopwatch watch;
  try {
    graph::Snapshot snapshot = claim_and_snapshot(roots, lazy, claim);
    const double took = watch.lap();
    if (!lazy.empty()) run_or_explain(snapshot, claim, *report, where);
    report->seconds.snapshot = took;
  } catch (const std::bad_alloc&) {
    TARRY_THROW(OutOfMemory, "evaluate", where, "the host is out of memory");
  }
  return done;
}

std::string describe_recent_work(const Error& e, Device device) {
  const bool fault = e.code() == ErrorCode::DeviceError || e.code() == ErrorCode::DeviceLost;
  return fault && device.kind != DeviceKind::Cpu ? engine().recent.describe(device) : std::string();
}

Plan plan(std::span<const Edge> roots, std::string_view target_name, Where where) {
  graph::Snapshot snapshot;
  {
    std::unique_lock lock(graph::engine_mutex());
    for (;;) {
      Node* blocked = nullptr;
      snapshot = graph::take_snapshot(roots, &blocked);
      if (!blocked) break;
      graph::retain(blocked);
      Edge keep(blocked, 0);
      engine().resolved.wait(lock, [&] { return blocked->state.load(std::memory_order_acquire) != State::Claimed; });
      lock.unlock();
      keep = Edge();
      lock.lock();
    }
  }
  const graph::Target* target = nullptr;
  Device device = device_of(snapshot);
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
  if (target_name.empty()) switches.library = switches.library && library_there(snapshot.graph, backend(device));
  CompiledPlan plan = make_plan(snapshot, *target, on_device, may_alias, switches, dump.get());
  if (dump) {
    plan.dump_number = dump->number();
    dump->index(plan, snapshot, device, Dump::Plan::Predicted);
  }
  return describe_plan(plan, snapshot);
}

}  // namespace tarry::runtime
