// make_plan(): from a snapshot to a CompiledPlan, stage by stage. Everything here is pure and deterministic.
#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "graph/fusion/fusion.h"
#include "graph/fusion/trace.h"
#include "graph/passes/needed.h"
#include "graph/passes/unsorted.h"
#include "runtime/plan/assign_buffers.h"
#include "runtime/plan/compiled_plan.h"
#include "runtime/stopwatch.h"
#include "support/check.h"
#include "support/env.h"
#include "support/switch_check.h"

namespace tarry::runtime {
namespace {

constexpr std::size_t kMostNumbers = 16384;  ///< a kernel's parameters of series

using graph::Graph;
using graph::GraphEdge;
using graph::NodeId;

/// Bytes of what is computed or reduced stay within int64 everywhere below.
void check_addressable(const Graph& g) {
  const auto check = [&](NodeId id) {
    if (g.bytes(id) < Graph::kUnaddressable) return;
    const graph::GraphNode& n = g.nodes[id];
    TARRY_THROW(OutOfMemory, std::string(graph::name(n.op)), n.where(),
                std::string(name(n.dtype)) + " " + graph::to_string(g.shape(id)) + " is more than any memory holds");
  };
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const graph::OpClass c = graph::info(g.nodes[id].op).op_class;
    if (c == graph::OpClass::Map || c == graph::OpClass::Scan || graph::is_call(g.nodes[id].op) ||
        c == graph::OpClass::Gather || c == graph::OpClass::Loop || g.nodes[id].op == graph::Op::Update)
      check(id);
    if (c == graph::OpClass::Reduce) check(g.nodes[id].inputs[0].node);
  }
  for (const GraphEdge& r : g.roots) check(r.node);
}

class PlanMaker {
 public:
  PlanMaker(const graph::Target& target, const PlanSwitches& switches, PlanObserver* observer)
      : target_(target), switches_(switches), observer_(observer) {
    plan_.target = &target;
  }

  CompiledPlan run(const graph::Snapshot& snapshot, const std::vector<bool>& on_device,
                   const std::vector<bool>& may_alias) {
    Stopwatch watch;
    if (observer_) observer_->graph("recorded", snapshot.graph);
    check_addressable(snapshot.graph);
    Graph prepared = graph::read_bools(graph::prepare_library(snapshot.graph, library_use()));
    prepared =
        graph::fold_unsorted(prepared, target_.is_cuda() ? graph::Ascending::ByOffsets : graph::Ascending::ByNumbers);
    Draft draft = optimised(prepared, may_alias, Split::Allowed);
    plan_.seconds.optimise = watch.lap();
    graph::Limits limits = limits_of_target();
    draft.fusion = graph::fuse(draft.graph, target_, limits);
    if (is_split(draft)) {
      Draft whole = optimised(prepared, may_alias, Split::Never);
      whole.fusion = graph::fuse(whole.graph, target_, limits);
      if (!(draft.fusion.seconds < whole.fusion.seconds)) draft = std::move(whole);
    }
    for (const auto& [name, g] : draft.seen) observer_->graph(name, g);
    g_ = std::move(draft.graph);
    fusion_ = std::move(draft.fusion);
    plan_.passes = std::move(draft.passes);
    place_roots(may_alias);
    plan_.seconds.schedule = watch.lap();
    while (!lower_groups()) {  // a kernel has more parameters than the target takes: smaller kernels
      limits.statements = std::max(limits.statements / 2, 1);
      limits.walking = std::min(limits.walking, limits.statements);
      limits.buffers = std::max(limits.buffers / 2, 4);
      limits.numbers /= 2;
      if (limits.numbers == 0) limits.levels = 0;
      fusion_ = graph::fuse(g_, target_, limits);
    }
    if (observer_) observer_->fusion(g_, fusion_);
    list_checks();
    assign_buffers(g_, outputs_, switches_.reuse ? Reuse::Memory : Reuse::Never, plan_);
    add_transfers(snapshot, on_device);
    count(snapshot);
    plan_.scalars = std::move(g_.scalars);
    find_origins();
    plan_.seconds.generate = watch.lap();
    if (observer_) observer_->kernels(g_, plan_, snapshot);
    return std::move(plan_);
  }

 private:
  /// A graph with its fusion that a plan may be made of.
  struct Draft {
    Graph graph;
    graph::Fusion fusion;
    std::vector<graph::PassTrace> passes;
    std::vector<std::pair<std::string, Graph>> seen;  // by the observer, if any
  };
  enum class Split : std::uint8_t { Allowed, Never };

  [[nodiscard]] Draft optimised(const Graph& prepared, const std::vector<bool>& may_alias, Split split) const {
    Draft d;
    const auto disabled = [&](std::string_view pass) {
      if (pass == "unroll" && target_.is_cuda()) return true;
      if (pass == "unroll_stacks" && (!target_.is_cuda() || switches_.disabled("unroll"))) return true;
      if (pass == "behind_row_loops" && (!target_.is_cuda() || switches_.disabled("behind_loops"))) return true;
      if (pass == "split" && (split == Split::Never || !switches_.fusion)) return true;
      return switches_.disabled(pass);
    };
    d.graph = graph::run_passes(prepared, disabled, &d.passes, [&](std::string_view name, const Graph& g) {
      if (observer_) d.seen.emplace_back(name, g);
    });
    for (graph::LeafLayout& leaf : d.graph.leaves) leaf.donated = leaf.donated && switches_.reuse;
    for (const GraphEdge& r : d.graph.roots)
      if (is_leaf_itself(d.graph, r, may_alias)) d.graph.leaves[d.graph.nodes[r.node].payload].donated = false;
    return d;
  }
  static bool is_leaf_itself(const Graph& g, const GraphEdge& root, const std::vector<bool>& may_alias) {
    return g.nodes[root.node].op == graph::Op::Input && may_alias[g.nodes[root.node].payload];
  }
  static bool is_split(const Draft& d) {
    return std::ranges::any_of(
        d.passes, [](const graph::PassTrace& p) { return p.name == "split" && p.nodes_after != p.nodes_before; });
  }

  [[nodiscard]] graph::Limits limits_of_target() const {
    graph::Limits limits;
    limits.fuses = switches_.fusion;
    if (!target_.is_cuda()) limits.slots = graph::SlotLimits::last_on_cpu;
    if (target_.is_cuda()) limits.row *= target_.max_cluster;
    if (target_.is_cuda()) limits.live = target_.registers_per_thread * 5 / 8;  // others have places and functions
    if (target_.is_cuda()) limits.unrelated *= 2;  // together they fill more of the machine
    if (target_.is_cuda())
      limits.chained = static_cast<std::size_t>(limits.statements);  // a kernel has steps of its own
    if (!switches_.steps) limits.steps = 0;
    if (!switches_.row_column) limits.row_column = 0;
    if (!switches_.levels) limits.levels = 0;
    limits.numbers = std::min<std::size_t>(static_cast<std::size_t>(target_.parameter_bytes) / 16, kMostNumbers);
    return limits;
  }

  [[nodiscard]] graph::LibraryUse library_use() const {
    if (!switches_.library) return graph::LibraryUse::Expand;
    return target_.is_cuda() ? graph::LibraryUse::Call : graph::LibraryUse::Wide;
  }

  void place_roots(const std::vector<bool>& may_alias) {
    for (const GraphEdge& r : g_.roots) {
      if (is_leaf_itself(g_, r, may_alias)) {
        plan_.roots.push_back({true, g_.nodes[r.node].payload});
        continue;
      }
      const auto [it, fresh] = outputs_.try_emplace(r, static_cast<std::uint32_t>(plan_.outputs.size()));
      if (fresh) plan_.outputs.push_back({static_cast<std::size_t>(g_.bytes(r.node)), g_.shape(r.node)});
      plan_.roots.push_back({false, it->second});
    }
  }

  void find_origins() {
    for (Step& s : plan_.steps) {
      auto* const k = std::get_if<KernelStep>(&s);
      if (!k) continue;
      for (const NodeId id : k->lowered.notes) k->origins.push_back(g_.nodes[id].origin);
      std::sort(k->origins.begin(), k->origins.end());
      k->origins.erase(std::unique(k->origins.begin(), k->origins.end()), k->origins.end());
    }
  }

  /// The checks of all kernels, in order, and which of them each output depends on.
  void list_checks() {
    std::vector<NodeId> checked;  // by check: its node
    for (const Step& s : plan_.steps) {
      const auto* const k = std::get_if<KernelStep>(&s);
      if (!k) continue;
      for (const codegen::CheckRef& c : k->lowered.checks) {
        checked.push_back(c.index);
        plan_.checks.push_back({g_.nodes[c.index].origin, k->lowered.scalars[c.scalar].source});
      }
    }
    if (checked.empty()) return;
    for (const auto& [edge, index] : outputs_) {
      const std::vector<bool> below = graph::reachable(g_, edge.node);
      for (std::uint32_t c = 0; c < checked.size(); ++c)
        if (below[checked[c]]) plan_.outputs[index].checks.push_back(c);
    }
  }

  /// Last group first: what a kernel loads from memory becomes an output of the group that makes it. False where a
  /// kernel of several statements has more parameters than the target takes.
  bool lower_groups() {
    plan_.steps.clear();
    sources_.clear();
    plan_.scratch_bytes = plan_.ticket_count = 0;
    std::vector<std::vector<GraphEdge>> wanted(fusion_.groups.size());
    for (const auto& [edge, index] : outputs_) wanted[fusion_.group_of[edge.node]].push_back(edge);
    std::vector<Step> reversed;
    for (auto group = static_cast<std::uint32_t>(fusion_.groups.size()); group-- > 0;) {
      if (wanted[group].empty()) continue;
      std::sort(wanted[group].begin(), wanted[group].end(), EdgeLess{});
      const auto want = [&](const GraphEdge& load) {
        const std::uint32_t producer = fusion_.group_of[load.node];
        TARRY_ASSERT(producer < group);
        if (std::find(wanted[producer].begin(), wanted[producer].end(), load) == wanted[producer].end())
          wanted[producer].push_back(load);
      };
      if (const NodeId call = fusion_.groups[group].library;
          call != graph::kNoId && graph::info(g_.nodes[call].op).op_class == graph::OpClass::Routine) {
        RoutineStep step = routine_step(call);
        for (std::size_t i = 0; i + 1 < step.buffers.size(); ++i)
          if (!step.buffers[i].is_leaf) want(step.buffers[i].value);
        if (step.base && !step.base->is_leaf) want(step.base->value);
        reversed.emplace_back(std::move(step));
        continue;
      }
      if (fusion_.groups[group].library != graph::kNoId) {
        LibraryStep step = library_step(fusion_.groups[group].library);
        if (of_our_own(step.spec)) step.source = shared_source(codegen::render_matmul(step.spec.shape(), target_));
        for (int i = 0; i < 2; ++i)
          if (!step.buffers[static_cast<std::size_t>(i)].is_leaf) want(step.buffers[static_cast<std::size_t>(i)].value);
        reversed.emplace_back(std::move(step));
        continue;
      }
      Stopwatch watch;
      KernelStep step;
      step.lowered = codegen::lower(g_, fusion_, group, wanted[group], target_);
      std::for_each(step.lowered.loads.begin(), step.lowered.loads.end(), want);
      step.source = shared_source(step.lowered.ir);
      if (step.source->slots.size() * 8 > static_cast<std::size_t>(target_.parameter_bytes) &&
          fusion_.groups[group].nodes.size() > 1)
        return false;
      step.geometry = codegen::geometry(step.lowered.ir, target_, step.lowered.args);
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, step.geometry.scratch_bytes);
      plan_.ticket_count = std::max(plan_.ticket_count, step.geometry.ticket_count);
      step.making.codegen_seconds = watch.lap();
      reversed.emplace_back(std::move(step));
    }
    plan_.steps.assign(std::make_move_iterator(reversed.rbegin()), std::make_move_iterator(reversed.rend()));
    return true;
  }

  /// In relaxed mode a library rounds operands to TF32, which is a third of the work.
  [[nodiscard]] bool of_our_own(const MatmulSpec& spec) const {
    return switches_.matmul && spec.dtype == float32 && spec.mode == graph::Mode::Strict &&
           codegen::has_matmul_kernel(spec.shape(), target_);
  }

  /// canonical_reshapes has put the operands in memory, from the start of a buffer and row-major.
  [[nodiscard]] LibraryStep library_step(NodeId id) const {
    const graph::GraphNode& n = g_.nodes[id];
    const graph::Dims &a = g_.shape(n.inputs[0].node), &b = g_.shape(n.inputs[1].node);
    LibraryStep step;
    step.spec = {n.dtype, n.mode, a[0], b[0], a[1], a[2], b[2]};
    put_buffers(id, step);
    return step;
  }

  /// Operands and the result of a call.
  template <class CallStep>
  void put_buffers(NodeId id, CallStep& step) const {
    const graph::GraphNode& n = g_.nodes[id];
    for (int i = 0; i < n.n_inputs; ++i) {
      const graph::Source s = graph::input_source(g_, id, i);
      const graph::GraphNode& from = g_.nodes[s.edge.node];
      const bool leaf = from.op == graph::Op::Input;
      TARRY_ASSERT(g_.count(s.edge.node) == g_.count(n.inputs[i].node));
      TARRY_ASSERT(!leaf || (g_.leaves[from.payload].contiguous && g_.leaves[from.payload].offset == 0));
      step.buffers.push_back(leaf ? codegen::BufferRef{true, from.payload, {}}
                                  : codegen::BufferRef{false, graph::kNoId, s.edge});
      if (i == 0 || !(step.buffers[0] == step.buffers[1])) step.bytes_read += g_.bytes(s.edge.node);
    }
    step.buffers.push_back({false, graph::kNoId, {id, 0}});
    step.bytes_written = g_.bytes(id);
  }

  /// A Scatter goes on in the memory of its base.
  void take_base(NodeId id, RoutineStep& step) const {
    const graph::GraphNode& n = g_.nodes[id];
    const graph::Dims& base = g_.shape(id);
    step.spec.n = base[0];
    step.spec.rows = base[1];
    step.spec.m = g_.count(n.inputs[1].node);
    step.base = step.buffers.front();
    step.buffers.erase(step.buffers.begin());
    step.bytes_written = g_.bytes(n.inputs[2].node);
    step.bytes_read = g_.bytes(n.inputs[1].node) + step.bytes_written;
  }

  /// Which elements of a row of a result are read: ranges in order, apart from each other; none where all may be.
  [[nodiscard]] std::vector<codegen::RankRange> ranks_read(NodeId id) const {
    const int last = g_.shape(id).size() - 1;
    for (const GraphEdge& r : g_.roots)
      if (r.node == id) return {};
    std::vector<codegen::RankRange> ranges;
    for (NodeId reader = id + 1; reader < g_.nodes.size(); ++reader) {
      const graph::GraphNode& n = g_.nodes[reader];
      for (int i = 0; i < n.n_inputs; ++i) {
        if (n.inputs[i].node != id || g_.count(reader) == 0) continue;
        if (n.op != graph::Op::View) return {};
        const graph::AxisMap& along = g_.views[n.payload][last];
        const std::int64_t way = along.axis < 0 ? 0 : (g_.shape(reader)[along.axis] - 1) * along.step;
        ranges.push_back(
            {along.start + std::min<std::int64_t>(way, 0), along.start + std::max<std::int64_t>(way, 0) + 1});
      }
    }
    std::ranges::sort(ranges, {}, &codegen::RankRange::from);
    std::vector<codegen::RankRange> apart;
    for (const codegen::RankRange& r : ranges) {
      if (!apart.empty() && r.from <= apart.back().to)
        apart.back().to = std::max(apart.back().to, r.to);
      else
        apart.push_back(r);
    }
    return apart.size() > codegen::kMostRanks ? std::vector<codegen::RankRange>{} : apart;
  }

  [[nodiscard]] RoutineStep routine_step(NodeId id) {
    const graph::GraphNode& n = g_.nodes[id];
    const graph::Dims &from = g_.shape(n.inputs[0].node), &to = g_.shape(id);
    RoutineStep step;
    step.mode = n.mode;
    codegen::RoutineSpec& spec = step.spec;
    spec = {n.op, g_.nodes[n.inputs[0].node].dtype, static_cast<graph::RoutineAttributes::Way>(n.payload)};
    spec.n = from[from.size() - 1];
    spec.rows = g_.count(n.inputs[0].node) / spec.n;
    spec.m = graph::is_segments(n.op) ? to[1] : g_.count(id);
    if (graph::is_segments(n.op)) spec.numbers = g_.nodes[n.inputs[1].node].dtype;
    if (graph::is_matrices(n.op)) {
      spec.rows = from[0];
      spec.m = n.op == graph::Op::Solve ? to[2] : spec.n;
    }
    if (graph::is_sort(n.op)) {
      std::vector<codegen::RankRange> ranks = ranks_read(id);
      if (n.op == graph::Op::Sort)
        spec.ranks = std::move(ranks);
      else
        spec.m = ranks.empty() ? spec.n : ranks.back().to;
    }
    put_buffers(id, step);
    if (graph::is_scatter(n.op)) take_base(id, step);
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, codegen::routine_scratch(spec, target_));
    if (target_.is_cuda())
      for (codegen::KernelSource& source : codegen::render_routine(spec, target_))
        step.sources.push_back(shared_source(std::move(source)));
    return step;
  }

  /// Long chains repeat one kernel thousands of times; equal IR is rendered once.
  std::shared_ptr<const codegen::KernelSource> shared_source(const codegen::KernelIr& ir) {
    auto& entry = sources_[codegen::to_string(ir)];
    if (!entry) entry = std::make_shared<const codegen::KernelSource>(codegen::render(ir, target_));
    return entry;
  }
  std::shared_ptr<const codegen::KernelSource> shared_source(codegen::KernelSource source) {
    auto& entry = sources_[source.entry];
    if (!entry) entry = std::make_shared<const codegen::KernelSource>(std::move(source));
    return entry;
  }

  void add_transfers(const graph::Snapshot& snapshot, const std::vector<bool>& on_device) {
    std::vector<bool> used(on_device.size());
    const auto use = [&](const Operand& o) {
      if (o.kind == Operand::Kind::Leaf) used[o.index] = true;
    };
    for (const Step& s : plan_.steps) {
      if (const auto* copy = std::get_if<CopyStep>(&s)) use(copy->from);
      if (const auto* kernel = std::get_if<KernelStep>(&s))
        std::for_each(kernel->operands.begin(), kernel->operands.end(), use);
      if (const auto* call = std::get_if<LibraryStep>(&s))
        std::for_each(call->operands.begin(), call->operands.end(), use);
      if (const auto* call = std::get_if<RoutineStep>(&s))
        std::for_each(call->operands.begin(), call->operands.end(), use);
    }
    std::vector<Step> transfers;
    for (const graph::GraphNode& n : snapshot.graph.nodes)
      if (n.op == graph::Op::Input && used[n.payload] && !on_device[n.payload])
        transfers.emplace_back(TransferStep{n.payload, snapshot.graph.shapes[n.shape], n.dtype});
    plan_.steps.insert(plan_.steps.begin(), transfers.begin(), transfers.end());
  }

  void count(const graph::Snapshot& snapshot) {
    Counters& c = plan_.counters;
    c.nodes = static_cast<std::int64_t>(snapshot.recorded_nodes);
    std::vector<std::int64_t> leaf_bytes(snapshot.leaves.size());
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (g_.nodes[id].op == graph::Op::Input) leaf_bytes[g_.nodes[id].payload] = g_.bytes(id);
    for (const Step& s : plan_.steps) {
      if (const auto* transfer = std::get_if<TransferStep>(&s)) {
        ++c.uploads;
        c.bytes_uploaded += leaf_bytes[transfer->leaf];
        continue;
      }
      if (const auto* copy = std::get_if<CopyStep>(&s)) {
        ++c.copies;
        c.bytes_read += static_cast<std::int64_t>(copy->bytes);
        c.bytes_written += static_cast<std::int64_t>(copy->bytes);
        continue;
      }
      if (const auto* call = std::get_if<LibraryStep>(&s)) {
        ++c.launches;
        c.bytes_read += call->bytes_read;
        c.bytes_written += call->bytes_written;
        continue;
      }
      if (const auto* call = std::get_if<RoutineStep>(&s)) {
        c.launches += codegen::routine_launch_count(call->spec, call->sources.size());
        c.bytes_read += call->bytes_read;
        c.bytes_written += call->bytes_written;
        continue;
      }
      const auto& k = std::get<KernelStep>(s);
      if (!k.empty()) ++c.launches;
      c.bytes_read += k.lowered.bytes_read;
      c.bytes_written += k.lowered.bytes_written;
    }
    c.kernels = static_cast<std::int64_t>(sources_.size());
    std::vector<GraphEdge> stored;
    for (const auto& [edge, index] : outputs_) stored.push_back(edge);
    const graph::LeastWork least = graph::least_work(g_, stored);
    c.bytes_lower_bound = least.bytes;
    c.operations_lower_bound = least.operations;
    for (const OutputPlan& o : plan_.outputs) {
      if (o.leaf == graph::kNoId) c.peak_bytes += static_cast<std::int64_t>(o.bytes);
    }
    for (std::size_t t : plan_.temporaries) {
      c.bytes_temporary += static_cast<std::int64_t>(t);
      c.peak_bytes += static_cast<std::int64_t>(arena_bytes(t));
    }
    c.peak_bytes += static_cast<std::int64_t>(arena_bytes(plan_.scratch_bytes));
    c.peak_bytes += static_cast<std::int64_t>(plan_.fault_bytes());
    for (const graph::UnfusedEdge& e : fusion_.unfused)
      plan_.unfused.push_back({g_.nodes[e.producer].origin, g_.nodes[e.consumer].origin, e.reason});
  }

  const graph::Target& target_;
  const PlanSwitches& switches_;
  PlanObserver* observer_;
  Graph g_;
  graph::Fusion fusion_;
  CompiledPlan plan_;
  OutputIndex outputs_;
  std::unordered_map<std::string, std::shared_ptr<const codegen::KernelSource>> sources_;
};

std::vector<std::string_view> names_of_passes() {
  std::vector<std::string_view> names;
  for (const graph::Pass& pass : graph::kPasses)
    if (!pass.required) names.emplace_back(pass.name);
  return names;
}

}  // namespace

PlanSwitches plan_switches() {
  static const std::vector<std::string_view>& passes = *new std::vector<std::string_view>(names_of_passes());
  support::env::warn_of_unknown_switches(passes);
  PlanSwitches s;
  std::vector<std::string> words = support::env::words("TARRY_DISABLE");
  std::sort(words.begin(), words.end());
  for (const std::string& w : words) s.words += w + ",";
  const auto has = [words](std::string_view w) { return std::find(words.begin(), words.end(), w) != words.end(); };
  s.fusion = !has("fusion");
  s.reuse = !has("reuse");
  s.library = !has("library");
  s.matmul = !has("matmul");
  s.steps = !has("steps");
  s.row_column = !has("row_column");
  s.levels = !has("levels");
  s.disabled = has;
  return s;
}

CompiledPlan make_plan(const graph::Snapshot& snapshot, const graph::Target& target, const std::vector<bool>& on_device,
                       const std::vector<bool>& may_alias, const PlanSwitches& switches, PlanObserver* observer) {
  return PlanMaker(target, switches, observer).run(snapshot, on_device, may_alias);
}

}  // namespace tarry::runtime
