// Local search: merge kernels; store, compute again, move or share single nodes. Then kicks: a few random moves near
// each other and the search from there, taken back unless that saves time. The sequence is the same for the same graph.
#include "graph/fusion_refine.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "graph/fusion_exact.h"

namespace tarry::graph {
namespace {

constexpr double kLeast = 1e-12;                                   // seconds a move must save
constexpr std::size_t kAllPairs = 64;                              // kernels up to which every pair is tried
constexpr std::size_t kNeighbours = 4;                             // kernels next in number that are tried beyond
constexpr std::uint64_t kWorkPerNode = 2000, kMostWork = 800'000;  // requests
constexpr std::uint64_t kPatience = 50'000;                        // requests
constexpr std::size_t kWindow = 8;                                 // nodes of a window
constexpr std::size_t kBetween = 6;                                // kernels merged at once
constexpr double kAlways = -std::numeric_limits<double>::infinity();

class Refiner {
 public:
  Refiner(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget)
      : p_(p), model_(model), f_(f), exact_(p, model, f), end_(model.visits() + budget) {}

  void run() {
    for (KernelId k = 0; k < p_.kernel_count(); ++k) enqueue(k);
    descend();
    if (whole()) return;
    for (double before = p_.seconds() + 1; p_.seconds() < before && !spent();) {
      before = p_.seconds();
      windows();
    }
    // As long as it pays: not much longer without success than it took to the last one.
    const std::uint64_t start = model_.visits();
    for (std::uint64_t last = start; !spent() && model_.visits() - last <= kPatience + 3 * (last - start);)
      if (kick()) last = model_.visits();
  }

 private:
  [[nodiscard]] bool spent() const { return model_.visits() >= end_; }
  [[nodiscard]] bool empty(KernelId k) const { return k >= p_.kernel_count() || p_.kernel(k).members.empty(); }

  std::size_t pick(std::size_t n) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<std::size_t>(random_ % n);
  }

  /// The best of a small graph.
  bool whole() {
    std::vector<NodeId> nodes;
    for (NodeId v = 0; v < f_.g.nodes.size(); ++v) {
      if (!f_.scheduled(v)) continue;
      if (nodes.size() == Exact::kMostNodes) return false;
      nodes.push_back(v);
    }
    return exact_.improve(nodes);
  }

  void enqueue(KernelId k) {
    waiting_.resize(std::max(waiting_.size(), p_.kernel_count() + 1));
    if (empty(k) || waiting_[k]) return;
    waiting_[k] = true;
    queue_.push_back(k);
  }

  /// Merges first: they are few, and they leave fewer kernels to look at.
  void descend() {
    std::vector<KernelId> merged;
    while (!queue_.empty()) {
      for (std::size_t at = 0; at < queue_.size(); ++at) {
        const KernelId k = queue_[at];
        waiting_[k] = false;
        if (empty(k) || spent()) continue;
        merges(k);
        merged.push_back(k);
      }
      queue_.clear();
      for (KernelId k : merged)
        if (!empty(k) && !spent()) nodes(k);
      merged.clear();
    }
  }

  bool improve(double least = kLeast) {
    if (!p_.settle() || p_.saved_seconds() <= least) {
      p_.undo();
      return false;
    }
    const std::vector<KernelId> changed = p_.changed_now();
    p_.keep();
    note(changed);
    return true;
  }

  void note(const std::vector<KernelId>& changed) {
    changed_.resize(std::max(changed_.size(), p_.kernel_count()));
    ++moment_;
    for (KernelId k : changed) {
      if (k < changed_.size()) changed_[k] = moment_;
      enqueue(k);
    }
  }

  bool kick() {
    const double before = p_.seconds();
    p_.begin_group();
    KernelId k = static_cast<KernelId>(pick(p_.kernel_count()));
    for (std::size_t moves = 1 + pick(3), tries = 0; moves > 0 && tries < 12; ++tries) {
      while (empty(k)) k = static_cast<KernelId>(pick(p_.kernel_count()));
      if (random_move(k)) --moves;
      const std::vector<KernelId> near = neighbours(k);
      if (!near.empty() && pick(2)) k = near[pick(near.size())];
    }
    descend();
    const bool better = p_.seconds() < before - kLeast;
    p_.end_group(better);
    return better;
  }

  bool random_move(KernelId k) {
    const std::vector<KernelId> near = neighbours(k);
    const auto& members = p_.kernel(k).members;
    const NodeId v = members[pick(members.size())];
    switch (pick(5)) {
      case 0:
        if (near.empty()) return false;
        p_.merge(k, near[pick(near.size())]);
        break;
      case 1:
        if (!p_.can_repeat(v)) return false;
        p_.place(v, kNoId);
        break;
      case 2:
        if (near.empty()) return false;
        p_.place(v, near[pick(near.size())]);
        break;
      case 3:
        if (p_.repeated(k).empty()) return false;
        p_.place(p_.repeated(k)[pick(p_.repeated(k).size())], pick(2) ? k : p_.spare());
        break;
      default:
        if (members.size() < 2) return false;
        p_.place(v, p_.spare());
    }
    return improve(kAlways);
  }

  [[nodiscard]] std::vector<KernelId> neighbours(KernelId k) const {
    std::vector<KernelId> found;
    const auto add = [&](KernelId o) {
      if (o != k && !empty(o)) found.push_back(o);
    };
    if (p_.kernel_count() <= kAllPairs) {
      for (KernelId o = 0; o < p_.kernel_count(); ++o) add(o);
    } else {
      for (const GraphEdge& l : p_.loads(k)) {
        add(p_.kernel_of(l.node));
        for (KernelId o : p_.loaded_by(l.node)) add(o);
      }
      for (NodeId m : p_.kernel(k).members)
        for (KernelId o : p_.loaded_by(m)) add(o);
      for (KernelId o = k + 1; o <= k + kNeighbours; ++o) add(o);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void merges(KernelId k) {
    for (KernelId o : neighbours(k)) {
      if (spent() || empty(k)) return;
      if (!empty(o) && fresh(k, o)) merge(k, o);
    }
  }

  /// Whether one of the two has changed since this was asked.
  bool fresh(KernelId a, KernelId b) {
    changed_.resize(std::max(changed_.size(), p_.kernel_count()));
    const auto [it, first] = tried_.try_emplace(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), moment_);
    if (!first && it->second >= std::max(changed_[a], changed_[b])) return false;
    it->second = moment_;
    return true;
  }

  /// With what lies between the two, where they would wait for each other.
  bool merge(KernelId k, KernelId o) {
    std::vector<KernelId> others{o};
    for (int rounds = 0; rounds < 4; ++rounds) {
      for (KernelId x : others) p_.merge(k, x);
      if (improve()) return true;
      const std::size_t before = others.size();
      for (KernelId x : p_.circle())
        if (x != k && !empty(x) && std::find(others.begin(), others.end(), x) == others.end()) others.push_back(x);
      if (others.size() == before || others.size() > kBetween) return false;
    }
    return false;
  }

  /// The best of what the kernels around each one store.
  void windows() {
    for (KernelId k = 0; k < p_.kernel_count() && !spent(); ++k) {
      if (empty(k) || p_.kernel(k).members.size() > kWindow) continue;
      std::vector<NodeId> nodes = p_.kernel(k).members;
      const auto add = [&](const std::vector<NodeId>& more, bool all) {
        if (all && nodes.size() + more.size() > kWindow) return;
        for (NodeId v : more)
          if (nodes.size() < kWindow && std::find(nodes.begin(), nodes.end(), v) == nodes.end()) nodes.push_back(v);
      };
      const std::vector<KernelId> near = neighbours(k);
      for (KernelId o : near) add(p_.kernel(o).members, true);
      add(worth_storing(k), false);
      std::sort(nodes.begin(), nodes.end());
      if (nodes.size() < 2) continue;
      exact_.improve(nodes);
      if (exact_.changed().empty()) continue;
      note(exact_.changed());
    }
    descend();
  }

  void nodes(KernelId k) {
    for (NodeId v : std::vector<NodeId>(p_.kernel(k).members)) {
      if (spent()) return;
      stored_node(v, k);
    }
    for (NodeId v : worth_storing(k)) {
      if (spent()) return;
      if (p_.kernel_of(v) == kNoId && !try_place(v, k)) try_place(v, p_.spare());
    }
    for (const GraphEdge& l : std::vector<GraphEdge>(p_.loads(k)))
      if (f_.repeatable(l.node)) try_again(k, l.node);
    for (NodeId v : std::vector<NodeId>(p_.kernel(k).again)) try_again(k, v);
  }

  /// Of what the kernel computes and nobody stores: what others compute as well, or this one at other points than its
  /// own.
  [[nodiscard]] std::vector<NodeId> worth_storing(KernelId k) const {
    const SpaceId space = f_.space(p_.kernel(k).members.front());
    std::vector<NodeId> found;
    for (NodeId v : p_.repeated(k))
      if (p_.repeated_by(v).size() > 1 || f_.space(v) != space) found.push_back(v);
    return found;
  }

  void stored_node(NodeId v, KernelId k) {
    if (p_.kernel_of(v) != k) return;
    if (p_.can_repeat(v) && try_place(v, kNoId)) return;
    if (p_.kernel(k).members.size() > 1 && try_place(v, p_.spare())) return;
    for (KernelId o : neighbours(k))
      if (!spent() && !empty(o) && try_place(v, o)) return;
  }

  bool try_place(NodeId v, KernelId k) {
    if (p_.kernel_of(v) == k) return false;
    p_.place(v, k);
    return improve();
  }

  bool try_again(KernelId k, NodeId v) {
    if (empty(k) || p_.kernel_of(v) == k) return false;
    p_.toggle_again(k, v);
    return improve();
  }

  Partition& p_;
  KernelModel& model_;
  const FusionGraph& f_;
  Exact exact_;
  std::uint64_t end_;
  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
  std::vector<KernelId> queue_;
  std::vector<bool> waiting_;
  std::uint64_t moment_ = 0;                                // moves kept
  std::vector<std::uint64_t> changed_;                      // by kernel: when
  std::unordered_map<std::uint64_t, std::uint64_t> tried_;  // by pair: when its merge was tried
};

}  // namespace

std::uint64_t refinement_budget(std::size_t nodes) { return std::min<std::uint64_t>(kWorkPerNode * nodes, kMostWork); }

void refine(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget) {
  Refiner(p, model, f, budget).run();
}

}  // namespace tarry::graph
