// Other ways to a fusion: everything legal, the best of all, annealing.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "graph/passes/passes.h"
#include "tests/graph/fusion/quality.h"

namespace tarry::test {

using namespace graph;

Search::Search(const Graph& graph, const Target& t)
    : g(graph),
      target(t),
      cost(cost_model(t)),
      f(graph, cost),
      model(f, cost, limits),
      unfused(fuse(graph, t, {.fuses = false})) {
  limits.row_column = 0;  // pairs are made of the partition that is found
}

std::vector<NodeId> Search::scheduled_nodes() const {
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    if (f.scheduled(id)) nodes.push_back(id);
  return nodes;
}

Fusion fuse_all_legal(Search& s) {
  Partition p = s.fresh();
  constexpr double kAlways = -std::numeric_limits<double>::infinity();
  for (NodeId id = 0; id < s.g.nodes.size(); ++id) {
    for (int i = 0; s.f.scheduled(id) && i < s.g.nodes[id].n_inputs; ++i) {
      const NodeId producer = s.f.source(id, i).edge.node;
      const KernelId a = p.kernel_of(producer), b = p.kernel_of(id);
      if (a == kNoId || b == kNoId || a == b) continue;
      p.merge(a, b);
      p.improve(kAlways);
    }
  }
  return p.emit({});
}

namespace {

class Exhaustive {
 public:
  explicit Exhaustive(Search& s) : s_(s) {
    nodes_ = s.scheduled_nodes();
    all_ = (1u << nodes_.size()) - 1;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (s.f.root(nodes_[i]) || !again(nodes_[i])) must_ |= 1u << i;
    kernel_of_.assign(s.g.nodes.size(), kNoId);
    readers_.assign(2 * s.g.nodes.size(), 0);
    known_.resize(std::size_t{all_} + 1);
  }

  Fusion run() {
    for (std::uint32_t stored = 1; stored <= all_; ++stored)
      if ((stored & must_) == must_) try_stored(stored);
    return emit();
  }

 private:
  struct Option {
    std::uint32_t loads = 0;   // what it may load
    std::uint32_t loaded = 0;  // what it does load
    double seconds = kIllegal;
  };
  struct Block {
    std::uint32_t members;
    Option option;
  };
  static constexpr double kIllegal = 1e30;

  [[nodiscard]] double store_seconds(std::size_t i) const {
    return static_cast<double>(s_.g.bytes(nodes_[i])) / s_.cost.bytes_per_second;
  }

  /// The kernel of `members` that loads what is in `loads` and computes everything else. Stores of reductions are
  /// counted by finish().
  const Option& option(std::uint32_t members, std::uint32_t loads) {
    auto& table = known_[members];
    const auto [it, fresh] = table.try_emplace(loads);
    if (!fresh) return it->second;
    Kernel k;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const bool member = members >> i & 1;
      kernel_of_[nodes_[i]] = member ? 0 : loads >> i & 1 ? 1 : kNoId;
      readers_[2 * std::size_t{nodes_[i]}] = 1;
      if (member) k.members.push_back(nodes_[i]);
    }
    const KernelCost c = s_.model.evaluate(0, k, kernel_of_, readers_);
    Option& o = it->second;
    o.loads = loads;
    if (!c.legal) return o;
    o.seconds = c.seconds;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (members >> i & 1 && late(i)) o.seconds -= store_seconds(i);
    for (const GraphEdge& l : c.loads)
      o.loaded |= 1u << (std::lower_bound(nodes_.begin(), nodes_.end(), l.node) - nodes_.begin());
    return o;
  }

  /// The cheapest way to compute `members` when `stored` is there, whatever it repeats.
  const Option& cheapest(std::uint32_t members, std::uint32_t stored) {
    const std::uint32_t others = stored & ~members, fixed = others & hard();
    const auto [it, fresh] = best_option_.try_emplace(std::uint64_t{members} << 32 | others);
    if (!fresh) return it->second;
    Option best;
    const std::uint32_t choice = others & ~fixed;
    for (std::uint32_t sub = choice;; sub = (sub - 1) & choice) {
      const Option& o = option(members, fixed | sub);
      if (o.seconds < best.seconds) best = o;
      if (sub == 0) break;
    }
    return best_option_[std::uint64_t{members} << 32 | others] = best;
  }
  /// Nodes that cannot be repeated.
  std::uint32_t hard() {
    if (hard_ == 0)
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (!again(nodes_[i])) hard_ |= 1u << i;
    return hard_;
  }
  /// Values that are stored only where they are loaded, and need not be loaded: the choice decides whether a store is
  /// paid for.
  std::uint32_t optional() {
    if (!optional_) {
      optional_ = 0;
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (late(i) && again(nodes_[i])) *optional_ |= 1u << i;
    }
    return *optional_;
  }
  [[nodiscard]] bool again(NodeId v) const { return s_.f.repeatable(v) || s_.f.nestable(v); }
  /// A reduction, which is stored only where others load it: its stores are counted in the end.
  [[nodiscard]] bool late(std::size_t i) const { return !s_.f.repeatable(nodes_[i]) && !s_.f.root(nodes_[i]); }

  void try_stored(std::uint32_t stored) {
    bound_.clear();
    blocks_.clear();
    if (bound(stored, stored) < best_) descend(stored, stored, 0);
  }

  /// The least for the members in `left`, cycles and stores of reductions left aside.
  double bound(std::uint32_t left, std::uint32_t stored) {
    if (left == 0) return 0;
    const auto it = bound_.find(left);
    if (it != bound_.end()) return it->second;
    double least = kIllegal;
    const std::uint32_t first = left & -left, rest = left & ~first;
    for (std::uint32_t sub = rest;; sub = (sub - 1) & rest) {
      const double here = cheapest(first | sub, stored).seconds;
      if (here < least) least = std::min(least, here + bound(rest & ~sub, stored));
      if (sub == 0) break;
    }
    return bound_[left] = least;
  }

  void descend(std::uint32_t left, std::uint32_t stored, double so_far) {
    if (left == 0) return finish(so_far);
    const std::uint32_t first = left & -left, rest = left & ~first;
    for (std::uint32_t sub = rest;; sub = (sub - 1) & rest) {
      const std::uint32_t members = first | sub, others = stored & ~members, choice = others & optional();
      std::vector<Option> chosen = {option(members, others)};
      for (std::uint32_t without = choice;; without = (without - 1) & choice) {
        chosen.push_back(cheapest(members, stored & ~without));
        if (without == 0) break;
      }
      std::sort(chosen.begin(), chosen.end(), [](const Option& a, const Option& b) { return a.loads < b.loads; });
      const auto same = [](const Option& a, const Option& b) { return a.loads == b.loads; };
      chosen.erase(std::unique(chosen.begin(), chosen.end(), same), chosen.end());
      for (const Option& o : chosen) {
        const double seconds = so_far + o.seconds;
        if (seconds + bound(rest & ~sub, stored) >= best_) continue;
        blocks_.push_back({members, o});
        descend(rest & ~sub, stored, seconds);
        blocks_.pop_back();
      }
      if (sub == 0) break;
    }
  }

  void finish(double seconds) {
    std::uint32_t loaded = 0;
    for (const Block& b : blocks_) loaded |= b.option.loaded;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!(loaded >> i & 1) || !late(i)) continue;
      seconds += store_seconds(i);
    }
    if (seconds >= best_) return;
    std::vector<bool> done(blocks_.size());
    std::uint32_t ready = 0;
    for (std::size_t round = 0; round < blocks_.size(); ++round)
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (!done[b] && (blocks_[b].option.loaded & ~ready) == 0) {
          done[b] = true;
          ready |= blocks_[b].members;
        }
    if (std::find(done.begin(), done.end(), false) != done.end()) return;
    best_ = seconds;
    best_blocks_ = blocks_;
  }

  Fusion emit() {
    Partition p = s_.fresh();
    std::uint32_t stored = 0;
    for (const Block& b : best_blocks_) {
      const auto first = static_cast<std::size_t>(std::countr_zero(b.members));
      const KernelId k = p.kernel_of(nodes_[first]);
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (i != first && (b.members >> i & 1)) p.assign(nodes_[i], k);
      stored |= b.members;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!(stored >> i & 1)) p.assign(nodes_[i], kNoId);
    for (const Block& b : best_blocks_) {
      const KernelId k = p.kernel_of(nodes_[static_cast<std::size_t>(std::countr_zero(b.members))]);
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if ((stored & ~b.members & ~b.option.loads) >> i & 1) p.toggle_again(k, nodes_[i]);
    }
    if (!p.settle(100)) throw InternalError("", {}, "the best partition is not legal");
    p.keep();
    return p.emit({});
  }

  Search& s_;
  std::vector<NodeId> nodes_;
  std::uint32_t all_ = 0, must_ = 0, hard_ = 0;
  std::optional<std::uint32_t> optional_;
  std::vector<KernelId> kernel_of_;
  std::vector<std::uint32_t> readers_;
  std::vector<std::unordered_map<std::uint32_t, Option>> known_;
  std::unordered_map<std::uint64_t, Option> best_option_;
  std::unordered_map<std::uint32_t, double> bound_;
  std::vector<Block> blocks_, best_blocks_;
  double best_ = kIllegal;
};

}  // namespace

Fusion exhaustive(Search& s) { return Exhaustive(s).run(); }

bool is_easy(Search& s, double least) {
  const double all = measure(s.g, fuse_all_legal(s), s.target).seconds,
               none = measure(s.g, s.unfused, s.target).seconds;
  return std::min(all, none) <= least * (1 + 1e-9);
}

Graph quality_case(std::uint64_t seed, int nodes, const Target& target) {
  for (std::uint64_t draw = 0;; ++draw) {
    Graph g = dce(quality_graph(seed + (draw << 32), nodes));
    if (seed % 10 == 0) return g;
    Search s(g, target);
    if (!is_easy(s, measure(g, exhaustive(s), target).seconds)) return g;
  }
}

bool begin_random_move(Search& s, Partition& p, const std::vector<NodeId>& nodes, std::mt19937_64& random) {
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const NodeId v = nodes[pick(nodes.size())];
  const KernelId k = p.kernel_of(v);
  const NodeId near = pick(2) && s.g.nodes[v].n_inputs ? s.f.source(v, 0).edge.node : nodes[pick(nodes.size())];
  const KernelId other = s.f.scheduled(near) ? p.kernel_of(near) : kNoId;
  switch (pick(4)) {
    case 0:
      if (k == kNoId || other == kNoId || k == other) return false;
      p.merge(k, other);
      break;
    case 1:
      if (k == kNoId ? !s.f.computed(v) : !p.can_repeat(v)) return false;
      p.assign(v, k == kNoId ? p.spare() : kNoId);
      break;
    case 2:
      if (other == kNoId || k == other) return false;
      p.assign(v, other);
      break;
    default: {
      if (k == kNoId || p.loads(k).empty()) return false;
      const NodeId z = p.loads(k)[pick(p.loads(k).size())].node;
      if (!p.again(z)) return false;
      p.toggle_again(k, z);
    }
  }
  return true;
}

Fusion anneal(Search& s, std::uint64_t moves, double seconds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<NodeId> nodes = s.scheduled_nodes();
  Partition p = s.fresh(), best = p;
  const double hot = 2 * s.cost.seconds_per_launch, cold = 0.01 * s.cost.seconds_per_launch;
  double heat = hot;
  for (std::uint64_t step = 0;; ++step) {
    if (step % 64 == 0) {
      const double spent =
          moves != 0 ? static_cast<double>(step) / static_cast<double>(moves)
                     : std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / seconds;
      if (spent >= 1) break;
      heat = hot * std::pow(cold / hot, spent);
    }
    if (!begin_random_move(s, p, nodes, random)) continue;
    const double chance = std::uniform_real_distribution<>(1e-9, 1)(random);
    p.improve(heat * std::log(chance));
    if (p.seconds() < best.seconds() - 1e-12) best = p;
  }
  return best.emit({});
}

}  // namespace tarry::test
