// Partition::emit(): groups, recomputed sets and reasons that make the lowering compute what the model has counted.
#include <algorithm>
#include <unordered_map>

#include "graph/fusion/partition.h"

namespace tarry::graph {
namespace {

/// A kernel as the model saw it.
struct Seen {
  std::vector<Computed> computed;
  std::vector<MemberInput> member_inputs;
};

class Emitter {
 public:
  Emitter(const FusionGraph& f, const Partition& p, const std::vector<UnfusedEdge>& known,
          const std::vector<RowColumnPair>& pairs)
      : f_(f), g_(f.g), p_(p), joins_(p.kernel_count(), kNoId), joined_by_(p.kernel_count(), kNoId) {
    for (const RowColumnPair& c : pairs) {
      joins_[c.across] = c.along;
      joined_by_[c.along] = c.across;
    }
    for (const UnfusedEdge& e : known) known_.try_emplace(pair(e.producer, e.consumer), e.reason);
    out_.group_of.assign(g_.nodes.size(), kNoId);
    out_.recomputed_set_of.assign(g_.nodes.size() * Node::kMaxInputs, kNoId);
  }

  Fusion run(std::vector<Seen> seen) {
    seen_ = std::move(seen);
    order();
    for (KernelId k = 0; k < seen_.size(); ++k)
      for (NodeId m : p_.kernel(k).members) claim(k, m);
    // A node that depends on a reduction belongs to its kernel; the rest to the first that computes it.
    for (bool depends : {true, false})
      for (KernelId k = 0; k < seen_.size(); ++k)
        for (const Computed& c : seen_[k].computed)
          if (c.home && c.depends == depends && out_.group_of[c.node] == kNoId && p_.kernel_of(c.node) == kNoId)
            claim(k, c.node);
    for (Group& group : out_.groups) {
      std::sort(group.nodes.begin(), group.nodes.end());
      std::sort(group.of_columns.begin(), group.of_columns.end());
    }
    for (KernelId k = 0; k < seen_.size(); ++k) connect(k);
    return std::move(out_);
  }

 private:
  static std::uint64_t pair(NodeId a, NodeId b) { return std::uint64_t{a} << 32 | b; }

  void order() {
    std::vector<std::vector<std::uint32_t>> before;
    std::vector<KernelId> full;
    index_.assign(seen_.size(), kNoId);
    for (KernelId k = 0; k < seen_.size(); ++k) {
      if (p_.kernel(k).members.empty() || joins_[k] != kNoId) continue;
      index_[k] = static_cast<std::uint32_t>(full.size());
      full.push_back(k);
    }
    join();
    for (KernelId k : full) {
      before.emplace_back();
      for (const KernelId part : {k, joined_by_[k]}) {
        if (part == kNoId) continue;
        for (const GraphEdge& l : p_.loads(part)) before.back().push_back(index_[p_.kernel_of(l.node)]);
      }
    }
    const std::vector<std::uint32_t> sorted = topological_order(before);
    out_.groups.resize(full.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
      const KernelId k = full[sorted[i]];
      index_[k] = i;
      describe(out_.groups[i], p_.kernel(k));
      if (joined_by_[k] == kNoId) continue;
      Group columns;
      describe(columns, p_.kernel(joined_by_[k]));
      out_.groups[i].across = columns.axis;
    }
    join();
  }

  /// The second kernel of a pair has the group of the first.
  void join() {
    for (KernelId k = 0; k < joins_.size(); ++k)
      if (joins_[k] != kNoId) index_[k] = index_[joins_[k]];
  }

  void describe(Group& group, const Kernel& kernel) const {
    group.mode = g_.nodes[kernel.members.front()].mode;
    group.space = squeeze(g_.shape(kernel.members.front()));
    for (NodeId m : kernel.members) {
      if (f_.library(m)) group.library = m;
      if (f_.scatter(m)) {
        group.scatter = m;
        group.space = squeeze(g_.shape(g_.nodes[m].inputs[1].node));
      }
      if (!f_.walks(m)) continue;
      group.reduces = true;
      group.scans = f_.scans(m);
      group.axis = f_.reduce_space(f_.key(m)).position;
      group.space = f_.reduce_space(f_.key(m)).space;
      return;
    }
  }

  void claim(KernelId k, NodeId id) {
    out_.group_of[id] = index_[k];
    out_.groups[index_[k]].nodes.push_back(id);
    if (joins_[k] != kNoId) out_.groups[index_[k]].of_columns.push_back(id);
  }

  void connect(KernelId k) {
    recomputed_at_.clear();
    for (const MemberInput& m : seen_[k].member_inputs) edge(k, m.member, m.input, m.found);
    for (const Computed& c : seen_[k].computed) {
      if (!c.home || out_.group_of[c.node] != index_[k]) continue;
      for (int i = 0; i < g_.nodes[c.node].n_inputs; ++i) edge(k, c.node, i, c.inputs[i]);
    }
  }

  void edge(KernelId k, NodeId reader, int input, std::uint32_t found) {
    if (found == KernelModel::kLoad || found == KernelModel::kVaryingLoad) return note(reader, input);
    if (found >= KernelModel::kLoad) return;
    const Computed& c = seen_[k].computed[found];
    if (c.home && out_.group_of[c.node] == index_[k]) return;
    const auto [it, fresh] = recomputed_at_.try_emplace(found, static_cast<std::uint32_t>(out_.recomputed_sets.size()));
    if (fresh) out_.recomputed_sets.push_back(closure(k, found));
    out_.recomputed_set_of[reader * std::size_t{Node::kMaxInputs} + static_cast<std::size_t>(input)] = it->second;
  }

  [[nodiscard]] std::vector<NodeId> closure(KernelId k, std::uint32_t top) const {
    std::vector<std::uint32_t> queue{top};
    std::vector<bool> seen(seen_[k].computed.size());
    seen[top] = true;
    std::vector<NodeId> nodes;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const Computed& c = seen_[k].computed[queue[at]];
      nodes.push_back(c.node);
      for (std::uint32_t in : c.inputs) {
        if (in >= KernelModel::kLoad || seen[in]) continue;
        seen[in] = true;
        queue.push_back(in);
      }
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  /// An edge through memory, with the reason that the greedy pass gave or that follows from the kernels.
  void note(NodeId reader, int input) {
    const NodeId direct = g_.nodes[reader].n_inputs ? g_.nodes[reader].inputs[input].node : reader;
    if (f_.op_class(direct) == OpClass::Leaf) return;
    const Source s = f_.source(reader, input);
    const NodeId producer = s.edge.node;
    if (!f_.computed(producer) || producer == reader) return;
    const auto known = known_.find(pair(producer, reader));
    out_.unfused.push_back({producer, reader, known != known_.end() ? known->second : why(s, reader, input)});
  }

  [[nodiscard]] Reason why(const Source& s, NodeId reader, int input) const {
    const NodeId producer = s.edge.node;
    if (f_.library(reader) || f_.library(producer)) return Reason::Library;
    if (f_.from_memory(reader, input)) return Reason::OtherSpace;
    if (g_.nodes[producer].mode != g_.nodes[reader].mode) return Reason::Mode;
    if (!is_elementwise(s.map, s.shape, g_.shapes[f_.read_shape(reader, input)])) {
      if (f_.walks(producer)) return Reason::WholeReduction;
      return g_.nodes[g_.nodes[reader].inputs[input].node].op == Op::View ? Reason::ThroughView : Reason::BroadcastCost;
    }
    const Group& a = out_.groups[out_.group_of[producer]];
    const Group& b = out_.groups[out_.group_of[reader]];
    if (a.reduces && b.reduces && (a.scans || b.scans || !(a.space == b.space && a.axis == b.axis)))
      return Reason::ReductionChain;
    if (!(a.space == b.space)) return Reason::OtherSpace;
    return Reason::Cycle;
  }

  const FusionGraph& f_;
  const Graph& g_;
  const Partition& p_;
  Fusion out_;
  std::vector<Seen> seen_;
  std::vector<KernelId> joins_,
      joined_by_;  // by kernel: the other one of a row-and-column group, if it is the second or the first
  std::vector<std::uint32_t> index_;  // by kernel: its group
  std::unordered_map<std::uint64_t, Reason> known_;
  std::unordered_map<std::uint32_t, std::uint32_t> recomputed_at_;  // by request of the kernel at hand
};

}  // namespace

Fusion Partition::emit(const std::vector<UnfusedEdge>& known, const std::vector<RowColumnPair>& pairs) {
  std::vector<Seen> seen(kernels_.size());
  for (KernelId k = 0; k < kernels_.size(); ++k) {
    if (kernels_[k].plan.members.empty()) continue;
    model_->evaluate(k, kernels_[k].plan, kernel_of_, readers_);
    seen[k] = {model_->computed(), model_->member_inputs()};
  }
  return Emitter(*f_, *this, known, pairs).run(std::move(seen));
}

}  // namespace tarry::graph
