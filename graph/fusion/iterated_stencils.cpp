// find_iterated_stencils(): a state is a value that is read at several shifts; a step goes from one state to the first
// node that all its readers lead to; a chain of steps is cut into kernels by what they take.
#include "graph/fusion/iterated_stencils.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace tarry::graph {
namespace {

constexpr std::size_t kMostNodes = 64;   ///< of a step
constexpr std::size_t kFewestSteps = 3;  ///< two share a kernel by computing the first again
constexpr int kMostWords = 4;            ///< that a point holds
constexpr std::size_t kMostOperands = Node::kMaxInputs;
constexpr double kLeastInner = 0.25;  ///< of a tile that is not halo, along each of its dimensions

/// Points that a kernel computes together with their halo: on a GPU a thread block, whose registers hold them; on a CPU
/// a strip of columns, of which a core keeps a few rows.
struct StepTile {
  std::int64_t rows, columns;
};
StepTile step_tile(const Target& target, int words) {
  return target.is_cuda() ? StepTile{96 / words, 128} : StepTile{256, 1024};
}

struct Step {
  std::vector<NodeId> nodes;  ///< ascending; the last one is the state that it makes
  GraphEdge from;
  std::array<std::int64_t, 2> reach{};
  int words = 0;
  double instructions = 0, points = 0, bytes_read = 0, bytes_written = 0;
  std::size_t operands = 0;
};

class StepFinder {
 public:
  StepFinder(const FusionGraph& f, const Target& target, const CostModel& cost, const Limits& limits)
      : f_(f), g_(f.g), target_(target), cost_(cost), limits_(limits) {}

  std::vector<IteratedStencil> run() {
    if (!find_states()) return {};
    find_readers();
    find_memoryless();
    std::vector<bool> used(g_.nodes.size());
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (!state_[id] || used[id]) continue;
      std::vector<Step> chain;
      for (NodeId from = id; from != kNoId;) {
        std::optional<Step> step = step_from(from);
        if (!step) break;
        for (const NodeId n : step->nodes) used[n] = true;
        from = step->nodes.back();
        chain.push_back(std::move(*step));
      }
      share_out(chain);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool may_step(NodeId id) const {
    const OpClass c = f_.op_class(id);
    return f_.repeatable(id) &&
           (c == OpClass::Map || (c == OpClass::Update && g_.updates[g_.nodes[id].payload].dense()));
  }

  /// The node that an edge leads to through views and reshapes.
  [[nodiscard]] NodeId behind(GraphEdge e) const {
    while (g_.nodes[e.node].op == Op::View || g_.nodes[e.node].op == Op::Reshape) e = g_.nodes[e.node].inputs[0];
    return e.node;
  }

  /// Values read through views that begin at different elements.
  bool find_states() {
    state_.assign(g_.nodes.size(), false);
    updated_.assign(g_.nodes.size(), kNoId);
    std::vector<Dims> first(g_.nodes.size());
    std::vector<bool> seen(g_.nodes.size());
    bool any = false;
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      if (n.op == Op::Update)
        if (const NodeId value = updated_value(g_, id); value != kNoId && updated_[value] == kNoId)
          updated_[value] = id;
      if (n.op != Op::View) continue;
      const Source s = trace(g_, {id, 0}, identity_map(g_.shape(id).size()));
      if (f_.free(s.edge.node) || s.edge.output != 0) continue;
      Dims start;
      for (int d = 0; d < s.map.size; ++d) start.push_back(s.map[d].start);
      if (!seen[s.edge.node]) {
        seen[s.edge.node] = true;
        first[s.edge.node] = start;
      } else if (!(first[s.edge.node] == start)) {
        any = state_[s.edge.node] = true;
      }
    }
    return any;
  }

  /// Who reads a node; a state is read instead of the value that it was updated with, and instead of the array that it
  /// was made from where the same box of that is updated again.
  void find_readers() {
    readers_.resize(g_.nodes.size());
    before_.assign(g_.nodes.size(), kNoId);
    std::map<NodeId, NodeId> last;  // by base: the latest state that it was updated to
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (g_.nodes[id].op != Op::Update) continue;
      const auto [it, fresh] = last.try_emplace(g_.nodes[id].inputs[0].node, kNoId);
      if (it->second != kNoId && same_box(g_, id, it->second)) before_[id] = it->second;
      if (state_[id]) it->second = id;
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      const bool passes_on = n.op == Op::View || n.op == Op::Reshape;
      if (passes_on && !f_.scheduled(id)) continue;
      for (int i = 0; i < n.n_inputs; ++i) {
        NodeId z = i == 0 && before_[id] != kNoId ? before_[id] : behind(n.inputs[i]);
        const NodeId u = updated_[z];
        if (u != kNoId && u < id && state_[u]) z = u;
        if (readers_[z].empty() || readers_[z].back() != id) readers_[z].push_back(id);
      }
    }
  }

  /// Values of scalars and coordinates alone: every step computes them again.
  void find_memoryless() {
    memoryless_.assign(g_.nodes.size(), false);
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (f_.op_class(id) != OpClass::Map || !is_pure(g_.nodes[id].op)) continue;
      const GraphNode& n = g_.nodes[id];
      memoryless_[id] = std::all_of(n.inputs, n.inputs + n.n_inputs, [&](const GraphEdge& e) {
        const NodeId z = behind(e);
        return f_.free(z) || memoryless_[z];
      });
    }
  }

  void add_memoryless(std::vector<NodeId>& nodes) const {
    for (std::size_t at = 0; at < nodes.size() && nodes.size() <= kMostNodes; ++at) {
      const GraphNode& n = g_.nodes[nodes[at]];
      for (int i = 0; i < n.n_inputs; ++i) {
        const NodeId z = behind(n.inputs[i]);
        if (memoryless_[z] && std::find(nodes.begin(), nodes.end(), z) == nodes.end()) nodes.push_back(z);
      }
    }
    std::sort(nodes.begin(), nodes.end());
  }

  /// From a state to the first node that all its readers lead to.
  std::optional<Step> step_from(NodeId from) {
    std::set<NodeId> open;
    for (const NodeId r : readers_[from])
      if (r > from && may_step(r)) open.insert(r);  // others take the state from memory
    std::vector<NodeId> nodes;
    Step step;
    while (!open.empty()) {
      const NodeId id = *open.begin();
      open.erase(open.begin());
      if (id <= from || !may_step(id) || nodes.size() == kMostNodes) return std::nullopt;
      nodes.push_back(id);
      if (open.empty()) break;
      if (f_.root(id)) return std::nullopt;
      open.insert(readers_[id].begin(), readers_[id].end());
    }
    if (nodes.empty() || g_.count(nodes.back()) == 0) return std::nullopt;
    add_memoryless(nodes);
    step.from = {from, 0};
    step.nodes = std::move(nodes);
    return measured(std::move(step));
  }

  [[nodiscard]] std::optional<Step> measured(Step step) const {
    const StencilPlaces places(g_, step.nodes, step.from);
    if (!places.valid() || places.words() > kMostWords || places.operands().size() > kMostOperands) return std::nullopt;
    for (int k = 0; k < 2; ++k)
      step.reach[static_cast<std::size_t>(k)] = places.reach()[static_cast<std::size_t>(k)].both();
    if (step.reach[0] < 0 || step.reach[1] < 0 || (step.reach[0] == 0 && step.reach[1] == 0)) return std::nullopt;
    step.words = places.words();
    step.operands = places.operands().size();
    step.points = static_cast<double>(g_.count(step.nodes.back()));
    for (const NodeId id : step.nodes) step.instructions += info(g_.nodes[id].op).cost;
    for (const GraphEdge& e : places.operands()) step.bytes_read += static_cast<double>(g_.bytes(e.node));
    step.bytes_written = static_cast<double>(g_.bytes(step.nodes.back()));
    return step;
  }

  // --- Kernels ------------------------------------------------------------------------------------------------------

  /// A step by itself.
  [[nodiscard]] double alone(const Step& s) const {
    return cost_.seconds_per_launch + (s.bytes_read + s.bytes_written) / cost_.bytes_per_second +
           s.points * s.instructions / cost_.instructions_per_second;
  }

  /// Several as one kernel: reads and instructions grow by the halo.
  struct Sum {
    std::array<std::int64_t, 2> reach{};
    int words = 0;
    double instructions = 0;
    std::size_t nodes = 0, operands = 1;
    void add(const Step& s) {
      for (std::size_t k = 0; k < 2; ++k) reach[k] += s.reach[k];
      words = std::max(words, s.words);
      instructions += s.points * s.instructions;
      nodes += s.nodes.size();
      operands += s.operands - 1;
    }
  };
  [[nodiscard]] std::optional<double> together(const Sum& sum, const Step& first, const Step& last) const {
    const StepTile tile = step_tile(target_, sum.words);
    const double rows = 1 - static_cast<double>(sum.reach[0]) / static_cast<double>(tile.rows);
    const double columns = 1 - static_cast<double>(sum.reach[1]) / static_cast<double>(tile.columns);
    if (rows < kLeastInner || columns < kLeastInner || sum.nodes > static_cast<std::size_t>(limits_.walking))
      return std::nullopt;
    const double part = rows * columns;
    return cost_.seconds_per_launch + (first.bytes_read / part + last.bytes_written) / cost_.bytes_per_second +
           sum.instructions / part / cost_.instructions_per_second;
  }

  /// Cuts a chain where the kernels together take least; keeps them where that is less than steps by themselves take.
  void share_out(std::vector<Step>& chain) {
    while (!chain.empty() && !closed(chain.size() - 1, chain)) chain.pop_back();
    for (std::size_t i = 0; i + 1 < chain.size(); ++i)
      if (!closed(i, chain)) return;
    if (chain.size() < kFewestSteps) return;
    std::vector<double> best(chain.size() + 1, 0);
    std::vector<std::size_t> start(chain.size() + 1);
    double plain = 0;
    for (std::size_t end = 1; end <= chain.size(); ++end) {
      plain += alone(chain[end - 1]);
      best[end] = HUGE_VAL;
      Sum sum;
      for (std::size_t from = end; from-- > 0 && end - from <= static_cast<std::size_t>(limits_.steps);) {
        sum.add(chain[from]);
        const std::optional<double> seconds = together(sum, chain[from], chain[end - 1]);
        if (!seconds) break;
        if (best[from] + *seconds < best[end]) {
          best[end] = best[from] + *seconds;
          start[end] = from;
        }
        if (from > 0 && cut_before(chain, from)) break;
      }
    }
    if (best.back() >= kGain * plain) return;
    std::vector<IteratedStencil> kernels;
    for (std::size_t end = chain.size(); end > 0; end = start[end]) {
      IteratedStencil k;
      k.base = chain[start[end]].from;
      for (std::size_t i = start[end]; i < end; ++i)
        k.nodes.insert(k.nodes.end(), chain[i].nodes.begin(), chain[i].nodes.end());
      std::sort(k.nodes.begin(), k.nodes.end());
      k.nodes.erase(std::unique(k.nodes.begin(), k.nodes.end()), k.nodes.end());
      const StencilPlaces places(g_, k.nodes, k.base);
      if (!places.valid() || places.words() > kMostWords || places.operands().size() > kMostOperands) return;
      kernels.push_back(std::move(k));
    }
    out_.insert(out_.end(), std::make_move_iterator(kernels.begin()), std::make_move_iterator(kernels.end()));
  }

  /// True if the state that a step begins with must be stored.
  [[nodiscard]] bool cut_before(const std::vector<Step>& chain, std::size_t step) const {
    const NodeId state = chain[step].from.node;
    return f_.root(state) || !read_within(state, chain[step]);
  }

  [[nodiscard]] bool read_within(NodeId id, const Step& step) const {
    return std::all_of(readers_[id].begin(), readers_[id].end(),
                       [&](NodeId r) { return std::binary_search(step.nodes.begin(), step.nodes.end(), r); });
  }

  /// True if nothing outside reads what a step computes on the way, but for the value of the state that the next step
  /// takes from the state.
  [[nodiscard]] bool closed(std::size_t at, const std::vector<Step>& chain) const {
    const Step& step = chain[at];
    const NodeId state = step.nodes.back();
    for (const NodeId id : step.nodes) {
      if (id == state || memoryless_[id]) continue;
      if (f_.root(id) || f_.materialised(id) || !read_within(id, step)) return false;
      if (updated_[id] == kNoId) continue;
      // The reader of the value itself: the next step of the chain, which is told to read the state.
      for (const NodeId r : direct_readers(id))
        if (!std::binary_search(step.nodes.begin(), step.nodes.end(), r) &&
            (at + 1 == chain.size() || !std::binary_search(chain[at + 1].nodes.begin(), chain[at + 1].nodes.end(), r)))
          return false;
    }
    return true;
  }

  /// Readers of the value of an update, those included that find_readers() gives to the update.
  [[nodiscard]] std::vector<NodeId> direct_readers(NodeId value) const {
    std::vector<NodeId> all = readers_[value];
    for (const NodeId r : readers_[updated_[value]])
      for (int i = 0; i < g_.nodes[r].n_inputs; ++i)
        if (behind(g_.nodes[r].inputs[i]) == value) all.push_back(r);
    return all;
  }

  static constexpr double kGain = 0.95;

  const FusionGraph& f_;
  const Graph& g_;
  const Target& target_;
  const CostModel& cost_;
  const Limits& limits_;
  std::vector<bool> state_, memoryless_;
  std::vector<NodeId> updated_;  // by node: the first update that takes it as its value
  std::vector<NodeId> before_;   // by update: a state made by another update of the same box
  std::vector<std::vector<NodeId>> readers_;
  std::vector<IteratedStencil> out_;
};

}  // namespace

std::vector<IteratedStencil> find_iterated_stencils(const FusionGraph& f, const Target& target, const CostModel& cost,
                                                    const Limits& limits) {
  if (limits.steps < static_cast<int>(kFewestSteps)) return {};
  return StepFinder(f, target, cost, limits).run();
}

CollapsedStencils::CollapsedStencils(const Graph& g, std::vector<IteratedStencil> kernels)
    : g_(g), kernels_(std::move(kernels)), small_(g.like()) {
  std::vector<std::uint32_t> result_of(g.nodes.size(), kNoId);
  std::vector<GraphNode> nodes = g.nodes;
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
    const StencilPlaces places(g, kernels_[k].nodes, kernels_[k].base);
    GraphNode& n = nodes[kernels_[k].nodes.back()];
    result_of[kernels_[k].nodes.back()] = k;
    n.op = Op::Matmul;
    n.payload = kNoId;
    n.n_inputs = 0;
    for (const GraphEdge& e : places.operands()) n.inputs[n.n_inputs++] = e;
  }
  std::vector<bool> live(nodes.size());
  for (const GraphEdge& r : g.roots) live[r.node] = true;
  for (NodeId id = static_cast<NodeId>(nodes.size()); id-- > 0;)
    for (int i = 0; live[id] && i < nodes[id].n_inputs; ++i) live[nodes[id].inputs[i].node] = true;
  std::vector<NodeId> now(nodes.size(), kNoId);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (!live[id]) continue;
    GraphNode& n = nodes[id];
    for (int i = 0; i < n.n_inputs; ++i) n.inputs[i].node = now[n.inputs[i].node];
    now[id] = static_cast<NodeId>(small_.nodes.size());
    small_.nodes.push_back(n);
    original_.push_back(id);
    kernel_of_.push_back(result_of[id]);
  }
  for (const GraphEdge& r : g.roots) small_.roots.push_back({now[r.node], r.output});
}

Fusion CollapsedStencils::expand(Fusion found) const {
  Fusion out;
  out.seconds = found.seconds;
  out.groups = std::move(found.groups);
  out.group_of.assign(g_.nodes.size(), kNoId);
  out.recomputed_set_of.assign(g_.nodes.size() * Node::kMaxInputs, kNoId);
  for (std::uint32_t i = 0; i < out.groups.size(); ++i) {
    Group& group = out.groups[i];
    const std::uint32_t k = group.library == kNoId ? kNoId : kernel_of_[group.library];
    if (k != kNoId) {
      group.library = kNoId;
      group.base = kernels_[k].base;
      group.nodes = kernels_[k].nodes;
    } else {
      for (NodeId& id : group.nodes) id = original_[id];
      for (NodeId& id : group.of_columns) id = original_[id];
      if (group.scatter != kNoId) group.scatter = original_[group.scatter];
      if (group.library != kNoId) group.library = original_[group.library];
    }
    for (const NodeId id : group.nodes)
      if (k == kNoId || out.group_of[id] == kNoId) out.group_of[id] = i;
  }
  for (NodeId id = 0; id < original_.size(); ++id)
    for (std::size_t i = 0; i < Node::kMaxInputs; ++i)
      out.recomputed_set_of[original_[id] * std::size_t{Node::kMaxInputs} + i] =
          found.recomputed_set_of[id * std::size_t{Node::kMaxInputs} + i];
  out.recomputed_sets = std::move(found.recomputed_sets);
  for (std::vector<NodeId>& recomputed : out.recomputed_sets)
    for (NodeId& id : recomputed) id = original_[id];
  for (const UnfusedEdge& e : found.unfused) {
    const bool steps = kernel_of_[e.producer] != kNoId || kernel_of_[e.consumer] != kNoId;
    out.unfused.push_back({original_[e.producer], original_[e.consumer], steps ? Reason::Steps : e.reason});
  }
  return out;
}

}  // namespace tarry::graph
