// Groups grow in one pass over the nodes in topological order; see fusion.h for the rules.
#include "graph/fusion/greedy.h"

#include <algorithm>
#include <map>

#include "graph/fusion/draft.h"
#include "graph/fusion/live.h"
#include "graph/fusion/repeats.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

class Greedy {
 public:
  Greedy(const FusionGraph& f, const CostModel& cost, const Limits& limits)
      : f_(f), g_(f.g), limits_(limits), cost_(cost), last_use_(f.g.nodes.size()) {}

  [[nodiscard]] std::uint64_t visits() const { return visits_; }

  Fusion run() {
    const std::size_t n = g_.nodes.size();
    parent_.assign(n, kNoId);
    drafts_.resize(n);
    out_.recomputed_set_of.assign(n * Node::kMaxInputs, kNoId);
    find_reduce_keys();
    for (NodeId id = 0; id < n; ++id)
      if (f_.scheduled(id)) assign(id);
    collect();
    return std::move(out_);
  }

 private:
  /// How a node reads a producer. Memory: what a Reshape or a scatter reads is never in its own kernel.
  /// Row: over the point space of the producer's reductions, along their rows.
  enum class Access : std::uint8_t { Memory, Moved, Row, Elementwise };
  struct Pending {
    NodeId producer;
    std::int64_t bytes;
    int input;
    Access access;
    IndexMap map;
  };

  [[nodiscard]] OpClass op_class(NodeId id) const { return f_.op_class(id); }

  /// Backwards: a Map node whose readers all feed reductions of one key gets that key (its row-invariant inputs are
  /// cheap).
  void find_reduce_keys() {
    constexpr ReduceKey kMany = kNoId - 1;
    feeds_.assign(g_.nodes.size(), kNoId);
    const auto feed = [&](NodeId producer, ReduceKey key) {
      feeds_[producer] = feeds_[producer] == kNoId || feeds_[producer] == key ? key : kMany;
    };
    for (NodeId id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      const GraphNode& n = g_.nodes[id];
      if (op_class(id) == OpClass::Reduce) {
        for (int i = 0; i < n.n_inputs; ++i) feed(n.inputs[i].node, f_.key(id));
      } else if (op_class(id) == OpClass::Map) {
        for (int i = 0; i < n.n_inputs; ++i)
          if (g_.nodes[n.inputs[i].node].shape == n.shape) feed(n.inputs[i].node, feeds_[id]);
      }
    }
    for (ReduceKey& k : feeds_)
      if (k == kMany) k = kNoId;
  }

  std::uint32_t find(NodeId id) {
    while (parent_[id] != id) {
      parent_[id] = parent_[parent_[id]];
      id = parent_[id];
    }
    return id;
  }
  Draft& draft(NodeId id) { return drafts_[find(id)]; }

  /// A group of one node.
  void begin(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    parent_[id] = id;
    Draft& d = drafts_[id] = {};
    d.nodes = {id};
    d.mode = n.mode;
    d.statements = 1;
    d.instructions = info(n.op).cost;
    d.live = kWords;
    d.first = d.last = id;
    d.point_space = d.outer_space = f_.space(id);
    d.library = f_.library(id);
    d.places = f_.places(id);
    if (f_.scatter(id)) {
      d.scatter = true;
      d.point_space = d.outer_space = f_.space(n.inputs[1].node);
    }
    if (f_.walks(id)) {
      d.reduces = true;
      d.scans = f_.scans(id);
      d.reductions = 1;
      d.point_space = f_.space(n.inputs[0].node);
      d.key = f_.key(id);
    }
  }

  void assign(NodeId id) {
    ++visits_;
    begin(id);
    Draft& d = drafts_[id];
    std::vector<Pending> pending = read_inputs(id);
    if (!limits_.fuses) {
      for (const Pending& p : pending) note(p.producer, id, Reason::FusionDisabled);
      return;
    }
    // Edges that must go through memory come first, so that no merge below closes a cycle; then the costliest edges.
    for (Pending& p : pending)
      if (reads_row(id, p)) p.access = Access::Row;
    std::stable_sort(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) {
      return std::max(a.access, Access::Moved) != std::max(b.access, Access::Moved) ? a.access < b.access
                                                                                    : a.bytes > b.bytes;
    });
    for (const Pending& p : pending) join_producer(id, p);
    if (!d.scatter && !d.library) join_siblings(id);
  }

  /// Adds what node `id` reads to its draft; returns its computed producers, once each.
  std::vector<Pending> read_inputs(NodeId id) {
    std::vector<Pending> pending;
    const GraphNode& n = g_.nodes[id];
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId direct = n.inputs[i].node;
      const bool same_shape = op_class(id) == OpClass::Map && op_class(direct) != OpClass::View &&
                              op_class(direct) != OpClass::Reshape && g_.nodes[direct].shape == n.shape;
      Source s;
      if (same_shape)
        s.edge = n.inputs[i];
      else
        s = f_.source(id, i);
      const NodeId p = s.edge.node;
      if (f_.free(p)) continue;
      Draft::add(drafts_[id].producers, p);
      Access access = Access::Moved;
      if (same_shape || is_elementwise(s.map, s.shape, g_.shapes[f_.read_shape(id, i)])) access = Access::Elementwise;
      if (access == Access::Elementwise) Draft::add(drafts_[id].at_point, p);
      if (!f_.computed(p)) continue;
      if (f_.from_memory(id, i)) access = Access::Memory;
      pending.push_back({p, g_.bytes(p), i, access, s.map});
    }
    return pending;
  }

  void join_producer(NodeId id, const Pending& p) {
    Reason reason = Reason::Fused;
    if (p.access >= Access::Row) {
      if (find(p.producer) == find(id)) return;
      reason = merge(find(p.producer), find(id), p.producer, p.access == Access::Elementwise ? Via::Edge : Via::Row);
    } else {
      reason = why_moved(id, p);
    }
    if (reason == Reason::Fused) return;
    if (p.access != Access::Memory && recompute(id, p)) return;
    if (p.access != Access::Elementwise) {
      draft(p.producer).barriers.emplace_back(p.producer, id);
      draft(id).barriers.emplace_back(p.producer, id);
    }
    note(p.producer, id, reason);
  }

  [[nodiscard]] Reason why_moved(NodeId id, const Pending& p) const {
    if (f_.library(id) || f_.library(p.producer)) return Reason::Library;
    if (p.access == Access::Memory) return Reason::OtherSpace;
    if (f_.walks(p.producer)) return Reason::WholeReduction;
    return g_.nodes[g_.nodes[id].inputs[p.input].node].op == Op::View ? Reason::ThroughView : Reason::BroadcastCost;
  }

  /// True if `id` works over the point space of the producer's reductions and reads it along their rows, and those rows
  /// are of a length and place that one thread block can go over again.
  bool reads_row(NodeId id, const Pending& p) {
    const Draft& d = draft(p.producer);
    if (p.access != Access::Moved || !d.reduces || d.scans || f_.walks(id) || op_class(id) == OpClass::View ||
        f_.scatter(id))
      return false;
    if (d.point_space != f_.space(id) || d.outer_space != f_.space(p.producer)) return false;
    const Dims& shape = g_.shape(id);
    const ReduceSpace& r = f_.reduce_space(d.key);
    if (!r.rows(limits_)) return false;
    const int axis = dimension_at(shape, r.position);
    Dims rows = shape;
    rows[axis] = 1;
    return is_elementwise(p.map, g_.shape(p.producer), rows);
  }

  void join_siblings(NodeId id) {
    for (NodeId p : std::vector<NodeId>(draft(id).producers)) {
      const auto [last, first_reader] = last_reader_.try_emplace({p, draft(id).point_space}, id);
      if (first_reader) continue;
      if (find(last->second) != find(id) && worth(draft(last->second), draft(id), p))
        merge(find(last->second), find(id), kNoId, Via::Sibling);
      last->second = id;
    }
  }

  /// False for two long groups that may read different parts of `p`: the search weighs them.
  [[nodiscard]] bool worth(const Draft& a, const Draft& b, NodeId p) const {
    return a.instructions + b.instructions <= limits_.unrelated ||
           (Draft::among(a.at_point, p) && Draft::among(b.at_point, p));
  }

  void note(NodeId producer, NodeId consumer, Reason reason) { out_.unfused.push_back({producer, consumer, reason}); }

  /// A reason for a merge: an elementwise edge, an edge that reads a row's result at every point, a common input.
  enum class Via : std::uint8_t { Edge, Row, Sibling };

  /// Merges two groups if that is allowed; `producer`: where the edge starts.
  Reason merge(std::uint32_t a, std::uint32_t b, NodeId producer, Via via) {
    const Reason shape = compatible(drafts_[a], drafts_[b], producer, via);
    if (shape != Reason::Fused) return shape;
    if (over_limit(drafts_[a], drafts_[b])) return Reason::Limit;
    if (has_barrier(a, b) || depends_through_others(a, b) || depends_through_others(b, a)) return Reason::Cycle;
    unite(a, b);
    return Reason::Fused;
  }

  [[nodiscard]] static bool reads(const Draft& consumer, const Draft& producer) {
    return std::any_of(consumer.producers.begin(), consumer.producers.end(),
                       [&](NodeId p) { return Draft::among(producer.nodes, p); });
  }

  [[nodiscard]] Reason compatible(const Draft& a, const Draft& b, NodeId producer, Via via) const {
    if (a.library || b.library) return Reason::Library;
    if (a.mode != b.mode) return Reason::Mode;
    if ((a.scans && b.places) || (b.scans && a.places)) return Reason::Limit;
    if (a.scatter || b.scatter) {  // `b` is the scatter alone, joined by what makes its value
      const bool value = via == Via::Edge && !a.scatter && b.nodes.size() == 1 && !a.reduces;
      return value && a.point_space == b.point_space ? Reason::Fused : Reason::OtherSpace;
    }
    if (a.scans && b.scans) return a.key != b.key || chained(a, b) ? Reason::ReductionChain : Reason::Fused;
    if (a.reduces && b.reduces) {
      // Along an extent of 1 a reduction of the other's result has the other's key.
      const bool chained = a.key != b.key || (a.point_space == a.outer_space && (reads(a, b) || reads(b, a)));
      return chained ? Reason::ReductionChain : Reason::Fused;
    }
    if (!a.reduces && !b.reduces) return a.point_space == b.point_space ? Reason::Fused : Reason::OtherSpace;
    const Draft& reducing = a.reduces ? a : b;
    const Draft& mapping = a.reduces ? b : a;
    if (mapping.point_space == reducing.point_space) {
      // A map over the point space that reads a result of the same kernel would need the whole reduction first.
      return via == Via::Edge && op_class(producer) == OpClass::Reduce && reducing.point_space != reducing.outer_space
                 ? Reason::WholeReduction
                 : Reason::Fused;
    }
    const bool epilogue = !reducing.scans && via == Via::Edge && mapping.point_space == reducing.outer_space;
    return epilogue ? Reason::Fused : Reason::OtherSpace;
  }

  /// True if a scan of the two groups depends on another within them.
  [[nodiscard]] bool chained(const Draft& a, const Draft& b) const {
    const auto inside = [&](NodeId id) { return Draft::among(a.nodes, id) || Draft::among(b.nodes, id); };
    std::vector<NodeId> queue;
    const auto push = [&](NodeId id) {
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i) {
        const NodeId p = f_.source(id, i).edge.node;
        if (inside(p)) Draft::add(queue, p);
      }
    };
    for (const Draft* d : {&a, &b})
      for (NodeId id : d->nodes)
        if (f_.scans(id)) push(id);
    for (std::size_t at = 0; at < queue.size(); ++at) {
      if (f_.scans(queue[at])) return true;
      push(queue[at]);
    }
    return false;
  }

  bool over_limit(const Draft& a, const Draft& b) {
    const int most = a.reduces || b.reduces ? limits_.walking : limits_.statements;
    if (a.statements + b.statements > most ||
        a.reductions + b.reductions > (a.scans || b.scans ? limits_.scans : limits_.reductions))
      return true;
    std::size_t buffers = a.producers.size();
    for (NodeId p : b.producers) buffers += !Draft::among(a.producers, p);
    if (static_cast<int>(buffers) > limits_.buffers) return true;
    united_live_ = a.live + b.live;
    for (const Draft* d : {&a, &b})
      for (NodeId p : d->producers)
        united_live_ += f_.scheduled(p) && (&draft(p) == &a || &draft(p) == &b) ? kWords : 0;
    if (!limits_.long_kernel(a.statements + b.statements) || united_live_ <= limits_.live) return false;
    united_live_ = live_words(a, b);
    return united_live_ > limits_.live;
  }

  /// Words that a point of both groups holds at once where it computes their nodes in order.
  [[nodiscard]] int live_words(const Draft& a, const Draft& b) {
    std::vector<NodeId> order = a.nodes;
    order.insert(order.end(), b.nodes.begin(), b.nodes.end());
    std::ranges::sort(order);
    for (NodeId v : order) {
      last_use_[v] = v;
      for (int i = 0; i < g_.nodes[v].n_inputs; ++i) last_use_[f_.source(v, i).edge.node] = v;
    }
    return most_live(order, [&](NodeId v) { return last_use_[v]; }, [&](NodeId v) { return words(g_.nodes[v].dtype); });
  }

  bool has_barrier(std::uint32_t a, std::uint32_t b) {
    const Draft& fewer = drafts_[a].barriers.size() < drafts_[b].barriers.size() ? drafts_[a] : drafts_[b];
    return std::any_of(fewer.barriers.begin(), fewer.barriers.end(), [&](const auto& e) {
      const std::uint32_t p = find(e.first), c = find(e.second);
      return (p == a && c == b) || (p == b && c == a);
    });
  }

  /// True if `to` depends on `from` through a third group. Groups whose nodes all precede `from` cannot; beyond the
  /// window the answer is yes, which only costs a fusion.
  bool depends_through_others(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> queue, seen;
    const auto push = [&](std::uint32_t group, bool direct) {
      for (NodeId p : drafts_[group].producers) {
        ++visits_;
        if (!f_.scheduled(p)) continue;
        const std::uint32_t next = find(p);
        if (next == from && !direct) return true;
        if (next == from || next == to || drafts_[next].last < drafts_[from].first) continue;
        if (Draft::among(seen, next)) continue;
        seen.push_back(next);
        queue.push_back(next);
      }
      return false;
    };
    push(to, true);
    while (!queue.empty()) {
      if (static_cast<int>(seen.size()) > limits_.window) return true;
      const std::uint32_t group = queue.back();
      queue.pop_back();
      if (push(group, false)) return true;
    }
    return false;
  }

  void unite(std::uint32_t a, std::uint32_t b) {
    if (drafts_[a].nodes.size() < drafts_[b].nodes.size()) std::swap(a, b);
    Draft& to = drafts_[a];
    Draft from = std::move(drafts_[b]);
    drafts_[b] = {};
    parent_[b] = a;
    to.nodes.insert(to.nodes.end(), from.nodes.begin(), from.nodes.end());
    for (NodeId p : from.producers) Draft::add(to.producers, p);
    for (NodeId p : from.at_point) Draft::add(to.at_point, p);
    std::erase_if(to.producers, [&](NodeId p) { return f_.scheduled(p) && parent_[p] != kNoId && find(p) == a; });
    to.scatter |= from.scatter;
    to.places |= from.places;
    to.barriers.insert(to.barriers.end(), from.barriers.begin(), from.barriers.end());
    to.statements += from.statements;
    to.instructions += from.instructions;
    to.live = united_live_;
    to.reductions += from.reductions;
    to.first = std::min(to.first, from.first);
    to.last = std::max(to.last, from.last);
    if (from.reduces && !to.reduces) {
      to.reduces = true;
      to.scans = from.scans;
      to.point_space = from.point_space;
      to.outer_space = from.outer_space;
      to.key = from.key;
    }
  }

  /// Decides for the edge into `id` between memory and computing the producer again for every reader.
  bool recompute(NodeId id, const Pending& p) {
    if (!f_.repeatable(p.producer) || g_.nodes[p.producer].mode != g_.nodes[id].mode) return false;
    std::vector<NodeId> recomputed, boundary;
    double instructions = 0;
    if (!find_recomputed(p.producer, recomputed, boundary, instructions)) return false;
    const bool places = std::ranges::any_of(recomputed, [&](NodeId r) { return f_.places(r); });
    if ((places && draft(id).scans) || !f_.may_repeat(id, p.input, recomputed)) return false;
    const double points = static_cast<double>(g_.counts[f_.read_shape(id, p.input)]);
    const double repeats = row_invariant(id, p.input) ? std::max(points / cost_.points_per_row_value,
                                                                 static_cast<double>(g_.count(p.producer)))
                                                      : points;
    double extra_bytes = 0;
    for (NodeId b : boundary)
      if (b != p.producer && !Draft::among(draft(id).producers, b))
        extra_bytes += static_cast<double>(std::min(g_.bytes(b), static_cast<std::int64_t>(points) * 8));
    const double work = instructions * repeats / cost_.instructions_per_second + extra_bytes / cost_.bytes_per_second;
    const double again = work + static_cast<double>(recomputed.size()) * cost_.seconds_per_statement;
    const double writes = f_.root(p.producer) ? 1 : 2;
    const double memory = writes * static_cast<double>(p.bytes) / cost_.bytes_per_second +
                          (p.access == Access::Elementwise ? 0 : cost_.seconds_per_launch);
    if (again >= memory) return false;
    Draft& d = draft(id);
    if (d.statements + static_cast<int>(recomputed.size()) > (d.reduces ? limits_.walking : limits_.statements))
      return false;
    if (repeats_too_often(f_, recomputed, p.producer)) return false;
    if (d.repeated_reads(f_, out_, p.producer) >= kMostPlaces) return false;
    if (would_cycle(id, boundary)) return false;
    d.statements += static_cast<int>(recomputed.size());
    d.live += kWords * static_cast<int>(recomputed.size());
    d.places |= places;
    for (NodeId b : boundary) {
      Draft::add(d.producers, b);
      if (f_.computed(b)) {
        d.barriers.emplace_back(b, id);
        draft(b).barriers.emplace_back(b, id);
      }
    }
    std::sort(recomputed.begin(), recomputed.end());
    out_.recomputed_set_of[edge_slot(id, p.input)] = static_cast<std::uint32_t>(out_.recomputed_sets.size());
    out_.recomputed_sets.push_back(std::move(recomputed));
    if (!d.reads(f_, out_, p.producer)) std::erase(d.producers, p.producer);
    return true;
  }

  /// A boundary inside the reader's own group, or one that depends on it, could never be read from memory.
  bool would_cycle(NodeId id, const std::vector<NodeId>& boundary) {
    const std::uint32_t reader = find(id);
    for (NodeId b : boundary) {
      if (!f_.computed(b)) continue;
      if (find(b) == reader || depends_on(find(b), reader)) return true;
    }
    return false;
  }
  bool depends_on(std::uint32_t group, std::uint32_t on) {
    for (NodeId p : drafts_[group].producers)
      if (f_.scheduled(p) && find(p) == on) return true;
    return depends_through_others(on, group);
  }

  static std::size_t edge_slot(NodeId id, int input) {
    return static_cast<std::size_t>(id) * Node::kMaxInputs + static_cast<std::size_t>(input);
  }

  [[nodiscard]] bool row_invariant(NodeId id, int input) const {
    if (op_class(id) != OpClass::Map || feeds_[id] == kNoId) return false;
    const int axis = dimension_at(g_.shape(id), f_.reduce_space(feeds_[id]).position);
    const Source s = input_source(g_, id, input);
    for (int i = 0; i < s.map.size; ++i)
      if (s.map[i].axis == axis) return false;
    return true;
  }

  /// The nodes that must be recomputed to have `top`: Map nodes of its own kernel or already recomputed for it. The
  /// boundary is read from memory.
  bool find_recomputed(NodeId top, std::vector<NodeId>& recomputed, std::vector<NodeId>& boundary,
                       double& instructions) {
    constexpr int kMostNested = 2;
    std::vector<NodeId> moved;
    recomputed = {top};
    for (std::size_t at = 0; at < recomputed.size(); ++at) {
      const NodeId w = recomputed[at];
      ++visits_;
      const GraphNode& n = g_.nodes[w];
      if (n.mode != g_.nodes[top].mode) return false;
      instructions += info(n.op).cost;
      for (int i = 0; i < n.n_inputs; ++i) {
        const NodeId z = f_.source(w, i).edge.node;
        if (f_.free(z)) continue;
        const bool again = f_.repeatable(z) && !f_.from_memory(w, i) &&
                           (out_.recomputed_set_of[edge_slot(w, i)] != kNoId || find(z) == find(w));
        const bool nested = again && out_.recomputed_set_of[edge_slot(w, i)] != kNoId;
        if (nested && std::count(moved.begin(), moved.end(), z) == kMostNested) return false;  // at places of places
        if (nested) moved.push_back(z);
        Draft::add(again ? recomputed : boundary, z);
        if (static_cast<int>(recomputed.size()) > limits_.recomputed) return false;
      }
    }
    const auto is_again = [&](NodeId b) { return Draft::among(recomputed, b); };
    std::erase_if(boundary, is_again);
    return std::ranges::all_of(recomputed, [&](NodeId w) {  // what one of them reads from memory another may compute
      return f_.may_repeat(w, 0, recomputed) || !is_again(f_.source(w, 0).edge.node);
    });
  }

  /// depends_through_others() leaves out groups that precede, and one of those may read a group that grew later. Groups
  /// that wait for each other become single nodes, which read what they computed again: that may close another circle.
  /// True if a group changed.
  bool dissolve_circles() {
    std::vector<NodeId> open;
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (parent_[id] == id) open.push_back(id);
    std::vector<std::vector<NodeId>> edges[2];  // producers, consumers
    for (auto& e : edges) e.resize(g_.nodes.size());
    for (NodeId id : open) {
      for (NodeId p : drafts_[id].producers) {
        if (!f_.scheduled(p) || find(p) == id) continue;
        edges[0][id].push_back(find(p));
        edges[1][find(p)].push_back(id);
      }
    }
    std::vector<bool> peeled(g_.nodes.size());
    for (int side : {0, 1}) {  // what waits for none of the rest, then what none of the rest waits for
      std::vector<std::size_t> waits(g_.nodes.size());
      std::vector<NodeId> ready;
      for (NodeId id : open) {
        for (NodeId p : edges[side][id]) waits[id] += !peeled[p];
        if (waits[id] == 0 && !peeled[id]) ready.push_back(id);
      }
      for (std::size_t at = 0; at < ready.size(); ++at) {
        peeled[ready[at]] = true;
        for (NodeId next : edges[1 - side][ready[at]])
          if (!peeled[next] && --waits[next] == 0) ready.push_back(next);
      }
    }
    std::erase_if(open, [&](NodeId id) { return peeled[id] || (drafts_[id].nodes.size() == 1 && !repeats(id)); });
    for (NodeId id : open)
      for (NodeId n : std::vector<NodeId>(std::move(drafts_[id].nodes))) {
        begin(n);
        std::fill_n(&out_.recomputed_set_of[edge_slot(n, 0)], Node::kMaxInputs, kNoId);
        for (const Pending& p : read_inputs(n)) note(p.producer, n, Reason::Cycle);
      }
    return !open.empty();
  }
  /// True if a node computes one of its producers again.
  [[nodiscard]] bool repeats(NodeId id) const {
    const auto* const sets = &out_.recomputed_set_of[edge_slot(id, 0)];
    return std::any_of(sets, sets + Node::kMaxInputs, [](std::uint32_t set) { return set != kNoId; });
  }

  void collect() {
    while (limits_.fuses && dissolve_circles()) continue;
    std::vector<std::uint32_t> index(g_.nodes.size(), kNoId);
    std::vector<Group> groups;
    out_.group_of.assign(g_.nodes.size(), kNoId);
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (parent_[id] == kNoId) continue;
      const std::uint32_t d = find(id);
      if (index[d] == kNoId) {
        index[d] = static_cast<std::uint32_t>(groups.size());
        groups.push_back(finish(drafts_[d]));
      }
      out_.group_of[id] = index[d];
    }
    std::vector<std::vector<std::uint32_t>> predecessors(groups.size());
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (parent_[id] != id) continue;
      for (NodeId p : drafts_[id].producers)
        if (f_.scheduled(p) && out_.group_of[p] != index[id]) predecessors[index[id]].push_back(out_.group_of[p]);
    }
    const std::vector<std::uint32_t> order = topological_order(predecessors);
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    out_.groups.resize(groups.size());
    for (std::uint32_t i = 0; i < groups.size(); ++i) out_.groups[rank[i]] = std::move(groups[i]);
    for (std::uint32_t& g : out_.group_of)
      if (g != kNoId) g = rank[g];
    std::erase_if(out_.unfused,
                  [&](const UnfusedEdge& e) { return out_.group_of[e.producer] == out_.group_of[e.consumer]; });
  }

  Group finish(Draft& d) {
    Group out;
    std::sort(d.nodes.begin(), d.nodes.end());
    out.reduces = d.reduces;
    out.scans = d.scans;
    out.mode = d.mode;
    if (d.reduces) {
      out.axis = f_.reduce_space(d.key).position;
      out.space = f_.reduce_space(d.key).space;
    }
    if (d.scatter) {
      out.scatter = *std::find_if(d.nodes.begin(), d.nodes.end(), [&](NodeId id) { return f_.scatter(id); });
      out.space = squeeze(g_.shape(g_.nodes[out.scatter].inputs[1].node));
    } else if (!d.reduces) {
      out.space = squeeze(g_.shape(d.nodes.front()));
    }
    if (d.library) out.library = d.nodes.front();
    out.nodes = std::move(d.nodes);
    return out;
  }

  const FusionGraph& f_;
  const Graph& g_;
  const Limits& limits_;
  const CostModel& cost_;
  Fusion out_;
  std::vector<std::uint32_t> parent_;
  std::vector<Draft> drafts_;
  std::map<std::pair<NodeId, std::uint32_t>, NodeId> last_reader_;  // by value read and point space
  std::vector<ReduceKey> feeds_;
  std::vector<NodeId> last_use_;  // by node, of the groups at hand
  int united_live_ = 0;           // of the groups that over_limit() saw last
  std::uint64_t visits_ = 0;
};

}  // namespace

Fusion greedy_fusion(const FusionGraph& f, const CostModel& cost, const Limits& limits, std::uint64_t* visits) {
  Greedy greedy(f, cost, limits);
  Fusion out = greedy.run();
  if (visits) *visits += greedy.visits();
  return out;
}

}  // namespace tarry::graph
