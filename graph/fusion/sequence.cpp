// A beam search over sequences of kernels. What is stored decides what can come next: a kernel of some key or space
// takes all that it can of what is still to be stored, so a sequence is told by the kinds of its kernels. Of all
// sequences of as many kernels those go on after which least is left. A call whose operands are stored comes next at
// once: no other kernel has room for it, and what follows it need not wait.
#include "graph/fusion/sequence.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tarry::graph {
namespace {

constexpr std::size_t kMostFound = 64;        // sequences kept
constexpr std::uint64_t kNodesPerVisit = 8;   // going through so many nodes counts as one request
constexpr std::uint64_t kNodesPerSource = 4;  // following the inputs of so many does

/// The properties that the nodes of a kernel share.
struct SharedTraits {
  enum class Of : std::uint8_t { Key, Space, Node } of;
  std::uint32_t id;  ///< a ReduceKey, a SpaceId, or the scatter or call of a library that is its own kind
  Mode mode;
  auto operator<=>(const SharedTraits&) const = default;
};

struct Sequence {
  std::vector<KernelId> kernel_of;
  std::vector<bool> stored;
  KernelId kernels = 0;
  double left = 0;
};

class Sequencer {
 public:
  Sequencer(const FusionGraph& f, KernelModel& model, const std::vector<Kernel>& first, std::size_t most,
            std::uint64_t budget)
      : f_(f),
        g_(f.g),
        model_(model),
        first_(first),
        most_(most),
        end_(model.visits() + budget),
        readers_(2 * f.g.nodes.size(), 1),
        seen_(f.g.nodes.size()),
        follows_(f.g.nodes.size()) {
    std::set<SharedTraits> kinds;
    for (NodeId v = 0; v < g_.nodes.size(); ++v) {
      if (!f_.scheduled(v)) continue;
      Node n{v, f_.root(v), f_.root(v) || !f_.repeatable(v), kind(v), {}};
      for (int i = 0; i < g_.nodes[v].n_inputs; ++i)
        if (const NodeId z = f_.source(v, i).edge.node; f_.scheduled(z)) n.inputs.push_back(z);
      if (f_.library(v)) calls_.push_back(nodes_.size());
      if (n.wanted && !f_.library(v)) kinds.insert(n.kind);
      nodes_.push_back(std::move(n));
    }
    kinds_.assign(kinds.begin(), kinds.end());
    model_.spend(nodes_.size() / kNodesPerSource);
  }

  std::vector<std::vector<Kernel>> run(std::size_t widest) {
    for (std::size_t width = 1; width <= widest && !spent(); width *= 2) search(width);
    const auto key = [](const Sequence& s) { return std::tie(s.kernels, s.kernel_of); };
    std::sort(found_.begin(), found_.end(), [&](const Sequence& a, const Sequence& b) { return key(a) < key(b); });
    const auto same = [&](const Sequence& a, const Sequence& b) { return key(a) == key(b); };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    std::vector<std::vector<Kernel>> all;
    for (const Sequence& s : found_) all.push_back(kernels(s));
    return all;
  }

 private:
  struct Node {
    NodeId id;
    bool root, wanted;  ///< must be stored; may have to be, as its readers may not compute it again
    SharedTraits kind;
    std::vector<NodeId> inputs;
  };

  [[nodiscard]] bool spent() const { return model_.visits() >= end_; }
  void count() { model_.spend(1 + nodes_.size() / kNodesPerVisit); }

  [[nodiscard]] SharedTraits kind(NodeId v) const {
    const Mode mode = g_.nodes[v].mode;
    if (f_.library(v) || f_.scatter(v)) return {SharedTraits::Of::Node, v, mode};
    if (f_.walks(v)) return {SharedTraits::Of::Key, f_.key(v), mode};
    return {SharedTraits::Of::Space, f_.space(v), mode};
  }

  /// True if a kernel of kind `k` has room for a node.
  [[nodiscard]] bool fits(const Node& n, const SharedTraits& k) const {
    if (n.kind == k) return true;
    if (n.kind.of != SharedTraits::Of::Space || n.kind.mode != k.mode) return false;
    if (k.of == SharedTraits::Of::Key)
      return n.kind.id == f_.reduce_space(k.id).point || n.kind.id == f_.reduce_space(k.id).outer;
    return k.of == SharedTraits::Of::Node && f_.scatter(k.id) && n.kind.id == f_.space(g_.nodes[k.id].inputs[1].node);
  }

  void search(std::size_t width) {
    Sequence first{std::vector<KernelId>(g_.nodes.size(), kNoId), std::vector<bool>(g_.nodes.size())};
    for (const Kernel& k : first_) append(first, k.members);
    first.left = left(first);
    std::vector<Sequence> beam{std::move(first)};
    while (!beam.empty() && beam.front().kernels < most_) {
      std::vector<Sequence> next;
      std::set<std::vector<bool>> met;
      const auto go_on = [&](const Sequence& s, const std::vector<NodeId>& members) {
        if (members.empty()) return;
        Sequence longer = s;
        append(longer, members);
        if (!met.insert(longer.stored).second) return;
        longer.left = left(longer);
        next.push_back(std::move(longer));
      };
      for (const Sequence& s : beam) {
        if (spent()) return;
        if (const NodeId call = ready_call(s); call != kNoId) {
          go_on(s, {call});
          continue;
        }
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
          if (spent()) return;
          go_on(s, next_kernel(s, k));
        }
      }
      const auto done = std::partition(next.begin(), next.end(), [](const Sequence& s) { return s.left == 0; });
      if (done != next.begin()) {
        for (auto it = next.begin(); it != done && found_.size() < kMostFound; ++it) found_.push_back(std::move(*it));
        return;
      }
      std::stable_sort(next.begin(), next.end(), [](const Sequence& a, const Sequence& b) { return a.left < b.left; });
      if (next.size() > width) next.resize(width);
      beam = std::move(next);
    }
  }

  [[nodiscard]] NodeId ready_call(const Sequence& s) const {
    const auto ready = [&](std::size_t i) {
      const Node& n = nodes_[i];
      return !s.stored[n.id] && std::ranges::all_of(n.inputs, [&](NodeId z) { return s.stored[z]; });
    };
    const auto at = std::ranges::find_if(calls_, ready);
    return at == calls_.end() ? kNoId : nodes_[*at].id;
  }

  static void append(Sequence& s, const std::vector<NodeId>& members) {
    for (NodeId v : members) {
      s.kernel_of[v] = s.kernels;
      s.stored[v] = true;
    }
    ++s.kernels;
  }

  /// The nodes that are still to be stored: each root, and the kernels that it waits for at least.
  [[nodiscard]] double left(const Sequence& s) {
    struct Chain {
      int kernels = 0;
      ReduceKey last = kNoId;
    };
    std::vector<Chain> chains(g_.nodes.size());
    double sum = 0;
    count();
    for (const Node& n : nodes_) {
      if (s.kernel_of[n.id] != kNoId) continue;
      Chain& c = chains[n.id];
      for (NodeId z : n.inputs) {
        if (chains[z].kernels > c.kernels)
          c = chains[z];
        else if (chains[z].kernels == c.kernels && chains[z].last != c.last)
          c.last = kNoId;
      }
      if (f_.walks(n.id) && !f_.nestable(n.id)) {
        if (c.last != f_.key(n.id)) ++c.kernels;
        c.last = f_.key(n.id);
      }
      if (n.root) sum += 1 + c.kernels;
    }
    return sum;
  }

  /// The members of a kernel of one kind after `s`, as many as it takes: what is stored tells them.
  const std::vector<NodeId>& next_kernel(const Sequence& s, std::size_t kind) {
    const auto [it, fresh] = filled_.try_emplace({s.stored, kind});
    if (fresh) it->second = fill(s, kinds_[kind]);
    return it->second;
  }

  /// Roots first. What follows reductions of the kernel's own key comes with them; reductions that only others need
  /// get the places that are left.
  std::vector<NodeId> fill(const Sequence& s, const SharedTraits& k) {
    kernel_of_ = s.kernel_of;
    id_ = s.kernels;
    members_.clear();
    std::vector<NodeId> roots, others;
    candidates(k, roots, others);
    insert(roots);
    std::vector<NodeId> again = rejected(roots);
    std::erase_if(again, [&](NodeId v) { return !follows_[v]; });
    insert(again, &k);
    insert(rejected(others));
    insert(rejected(again));
    return members_;
  }

  /// Nodes that are to be stored, fit, and need nothing that another kernel must store first. Others than roots: first
  /// what no reader can do by itself, then what leads to most.
  void candidates(const SharedTraits& k, std::vector<NodeId>& roots, std::vector<NodeId>& others) {
    struct Mark {
      bool blocked = false, walked = false, follows = false;
      double ways = 0;  // to what is to be stored
    };
    std::vector<Mark> marks(g_.nodes.size());
    count();
    for (const Node& n : nodes_) {
      if (kernel_of_[n.id] != kNoId) continue;
      Mark& m = marks[n.id];
      for (NodeId z : n.inputs) {
        m.blocked |= marks[z].blocked;
        m.walked |= marks[z].walked;
        m.follows |=
            kernel_of_[z] == kNoId && (marks[z].follows || (k.of == SharedTraits::Of::Key && node(z).kind == k));
      }
      follows_[n.id] = m.follows;
      if (n.kind != k && n.kind.of != SharedTraits::Of::Space) m.blocked |= !f_.nestable(n.id) || m.walked;
      m.walked |= f_.walks(n.id);
      if (m.blocked || !n.wanted || !fits(n, k)) continue;
      (n.root ? roots : others).push_back(n.id);
    }
    for (auto n = nodes_.rbegin(); n != nodes_.rend(); ++n) {
      if (kernel_of_[n->id] != kNoId) continue;
      marks[n->id].ways += n->wanted;
      for (NodeId z : n->inputs) marks[z].ways += marks[n->id].ways;
    }
    std::erase_if(others, [&](NodeId v) { return marks[v].ways <= 1; });
    std::stable_sort(others.begin(), others.end(), [&](NodeId a, NodeId b) {
      return std::tuple(nestable(a), -marks[a].ways) < std::tuple(nestable(b), -marks[b].ways);
    });
  }
  [[nodiscard]] bool nestable(NodeId v) const { return f_.walks(v) && f_.nestable(v); }

  [[nodiscard]] std::vector<NodeId> rejected(const std::vector<NodeId>& nodes) const {
    std::vector<NodeId> found;
    for (NodeId v : nodes)
      if (kernel_of_[v] == kNoId) found.push_back(v);
    return found;
  }

  /// All of them, or each half by itself; with what they need of the kernel's own kind, if that is given.
  void insert(const std::vector<NodeId>& nodes, const SharedTraits* k = nullptr) { insert(nodes, k, 0, nodes.size()); }

  void insert(const std::vector<NodeId>& nodes, const SharedTraits* k, std::size_t from, std::size_t to) {
    if (from == to || spent()) return;
    std::vector<NodeId> some;
    std::copy_if(nodes.begin() + static_cast<std::ptrdiff_t>(from), nodes.begin() + static_cast<std::ptrdiff_t>(to),
                 std::back_inserter(some), [&](NodeId v) { return kernel_of_[v] == kNoId; });
    if (add(k ? with_reductions(some, *k) : some) || to - from == 1) return;
    const std::size_t middle = from + (to - from) / 2;
    insert(nodes, k, from, middle);
    insert(nodes, k, middle, to);
  }

  /// With the unstored nodes of the kernel's own kind below them.
  std::vector<NodeId> with_reductions(std::vector<NodeId> nodes, const SharedTraits& k) {
    std::vector<NodeId> queue;
    ++moment_;
    for (NodeId v : nodes) {
      seen_[v] = moment_;
      if (follows_[v]) queue.push_back(v);
    }
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (NodeId z : node(queue[at]).inputs) {
        if (kernel_of_[z] != kNoId || std::exchange(seen_[z], moment_) == moment_) continue;
        if (node(z).kind == k) nodes.push_back(z);
        if (follows_[z]) queue.push_back(z);
      }
    }
    model_.spend(1 + queue.size() / kNodesPerVisit);
    return nodes;
  }

  const Node& node(NodeId v) const {
    return *std::lower_bound(nodes_.begin(), nodes_.end(), v, [](const Node& n, NodeId id) { return n.id < id; });
  }

  /// Adds members to the kernel at hand if it stays legal.
  bool add(const std::vector<NodeId>& nodes) {
    const std::size_t before = members_.size();
    members_.insert(members_.end(), nodes.begin(), nodes.end());
    if (legal()) return true;
    for (NodeId v : nodes) kernel_of_[v] = kNoId;
    members_.resize(before);
    return false;
  }

  bool legal() {
    for (NodeId v : members_) kernel_of_[v] = id_;
    model_.spend(1);
    const KernelCost c = model_.evaluate(id_, {members_, {}}, kernel_of_, readers_);
    return c.legal &&
           std::all_of(c.loads.begin(), c.loads.end(), [&](const GraphEdge& l) { return kernel_of_[l.node] < id_; });
  }

  /// A sequence as kernels, each told what it computes again although a later one stores it.
  std::vector<Kernel> kernels(const Sequence& s) {
    std::vector<Kernel> all(s.kernels);
    kernel_of_.assign(g_.nodes.size(), kNoId);
    for (NodeId v = 0; v < g_.nodes.size(); ++v)
      if (s.kernel_of[v] != kNoId) all[s.kernel_of[v]].members.push_back(v);
    for (id_ = 0; id_ < s.kernels; ++id_) {
      Kernel& k = all[id_];
      if (id_ < first_.size()) k.again = first_[id_].again;
      for (NodeId m : k.members) kernel_of_[m] = id_;
      (void)model_.evaluate(id_, k, kernel_of_, readers_);
      ++moment_;
      for (NodeId v : k.again) seen_[v] = moment_;
      for (const Computed& c : model_.computed()) {
        const KernelId owner = s.kernel_of[c.node];
        if (owner != kNoId && owner > id_ && std::exchange(seen_[c.node], moment_) != moment_)
          k.again.push_back(c.node);
      }
    }
    return all;
  }

  const FusionGraph& f_;
  const Graph& g_;
  KernelModel& model_;
  const std::vector<Kernel>& first_;
  std::size_t most_;                    // kernels
  std::uint64_t end_;                   // of model_.visits()
  std::vector<std::uint32_t> readers_;  // all outputs count as read
  std::vector<Node> nodes_;             // ascending
  std::vector<std::size_t> calls_;      // of nodes_: those of a library, which are kernels by themselves
  std::vector<SharedTraits> kinds_;
  std::vector<Sequence> found_;
  std::map<std::pair<std::vector<bool>, std::size_t>, std::vector<NodeId>> filled_;  // by what is stored, and kind
  // The kernel at hand.
  KernelId id_ = 0;
  std::vector<KernelId> kernel_of_;
  std::vector<NodeId> members_;
  std::vector<std::uint32_t> seen_;
  std::vector<bool> follows_;  // by node: whether a reduction of its key lies below it
  std::uint32_t moment_ = 0;
};

}  // namespace

std::vector<std::vector<Kernel>> few_kernels(const FusionGraph& f, KernelModel& model, const std::vector<Kernel>& first,
                                             std::size_t widest, std::size_t most, std::uint64_t budget) {
  return Sequencer(f, model, first, most, budget).run(widest);
}

}  // namespace tarry::graph
