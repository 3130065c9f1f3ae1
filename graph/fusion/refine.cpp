// Local search: merge kernels; store, compute again, move or share single nodes. Where launches are most of the time it
// begins again from few kernels. Then kernels are taken apart, one at a time and at random, or several that come last
// are found anew, and the search goes on from there; that is taken back unless it saves time. The sequence is the same
// for the same graph.
#include "graph/fusion/refine.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "graph/fusion/exact.h"
#include "graph/fusion/sequence.h"

namespace tarry::graph {
namespace {

constexpr double kLeast = 1e-12;                                 // seconds a move must save
constexpr double kWorthPart = 0.2;                               // of a kernel: what is worth looking for at first
constexpr double kLeastPart = 1e-4;                              // of all seconds: and in the end
constexpr std::uint64_t kEnd = 5;                                // the part of the work that is the end
constexpr std::size_t kAllPairs = 64;                            // kernels up to which every pair is tried
constexpr std::size_t kMostCounted = 1024;                       // numbers of kernels, to find how many there are
constexpr std::size_t kNeighbours = 4;                           // kernels next in number that are tried beyond
constexpr std::uint64_t kWorkPerNode = 2400, kWorkPerPair = 40;  // requests
constexpr std::uint64_t kMostWork = 3'200'000;
constexpr double kTangled = 0.4;                       // part of the nodes that is stored where all of that is spent
constexpr std::uint64_t kStraightWork = 60;            // requests a node where hardly any is
constexpr std::uint64_t kLeastWork = 24'000;           // of any graph
constexpr std::size_t kWindow = 8;                     // nodes of a window
constexpr std::size_t kBetween = 6;                    // kernels merged at once
constexpr std::size_t kRounds = 12;                    // times that a move is extended
constexpr std::uint64_t kRebuild = 64;                 // requests that choosing a kernel counts for
constexpr std::uint64_t kTrial = 8;                    // and a move
constexpr std::size_t kCountedPerVisit = 8;            // kernels counted through for one
constexpr std::size_t kApart = 32;                     // nodes taken apart at once
constexpr std::size_t kMostTargets = 16;               // kernels that one of them may be moved to
constexpr std::size_t kSome = 2;                       // nodes of a kernel that are tried after that
constexpr std::size_t kLarge = 2000;                   // nodes
constexpr double kSlack = 1.2;                         // of a kernel: by how much the best may be exceeded
constexpr double kPlateau = 1e-3;                      // of a launch: and in the end
constexpr double kLaunches = 0.5;                      // of all seconds: what is most of them
constexpr std::uint64_t kBegin = 10;                   // the part of the work that looks for few kernels
constexpr std::size_t kWide = 256, kNarrow = 4;        // sequences looked at side by side
constexpr std::size_t kBeginnings = 16, kEndings = 2;  // sequences that the search goes on from
constexpr std::size_t kLast = 6;                       // kernels found anew, at most
constexpr std::size_t kMore = 3;                       // kernels than before, which small moves may save
constexpr double kFindingPart = 0.3;                   // of the work
constexpr double kAlways = -std::numeric_limits<double>::infinity();

bool add_new(std::vector<std::uint32_t>& list, std::uint32_t x) {
  if (std::find(list.begin(), list.end(), x) != list.end()) return false;
  list.push_back(x);
  return true;
}

class Refiner {
 public:
  Refiner(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget)
      : p_(p), model_(model), f_(f), exact_(p, model, f), budget_(budget), end_(model.visits() + budget) {}

  void run() {
    least_ = kWorthPart * seconds_per_kernel();
    descend_all();
    if (p_.ideal() || whole()) return;
    limit_work();
    for (double before = p_.seconds() + 1; p_.seconds() < before && !spent();) {
      before = p_.seconds();
      windows();
    }
    begin_again();
    // A copy of the best is worth it where the graph is not large: there are hundreds of kernels to take apart.
    const double slack = f_.g.nodes.size() <= kLarge ? kSlack * seconds_per_kernel() : 0;
    rebuild_until(end_ - budget_ / kEnd, slack);
    least_ = kLeastPart * p_.seconds();
    descend_all();
    rebuild_until(end_, 0);
  }

 private:
  /// The search chooses what is stored, so its work follows how much that is: a straight program of a thousand
  /// operations stores a few values, and trying them is all that there is to do.
  void limit_work() {
    std::size_t nodes = 0, stored = 0;
    for (NodeId v = 0; v < f_.g.nodes.size(); ++v) {
      nodes += f_.scheduled(v);
      stored += p_.kernel_of(v) != kNoId;
    }
    const double tangled =
        std::min(1.0, static_cast<double>(stored) / (kTangled * static_cast<double>(std::max<std::size_t>(nodes, 1))));
    const auto wanted = static_cast<std::uint64_t>(tangled * tangled * tangled * static_cast<double>(budget_));
    const std::uint64_t least = std::max(kLeastWork, kStraightWork * f_.g.nodes.size());
    budget_ = std::min(budget_, std::max(wanted, least));
    end_ = std::min(end_, model_.visits() + budget_);
  }

  [[nodiscard]] std::vector<KernelId> kernels() const {
    std::vector<KernelId> found;
    for (KernelId k = 0; k < p_.kernel_count(); ++k)
      if (!empty(k)) found.push_back(k);
    return found;
  }

  [[nodiscard]] double seconds_per_kernel() const {
    return p_.seconds() / static_cast<double>(std::max<std::size_t>(kernels().size(), 1));
  }

  /// From few kernels, where launches are most of the time: what small moves reach from there is often better.
  void begin_again() {
    const std::size_t count = kernels().size();
    find_ =
        f_.g.nodes.size() <= kLarge && count > 2 && launch_ * static_cast<double>(count) >= kLaunches * p_.seconds();
    if (!find_) return;
    const std::uint64_t part = left() / kBegin, stop = model_.visits() + part + part / 2;
    Partition best = p_;
    std::vector<std::vector<Kernel>> sequences = few_kernels(f_, model_, {}, kWide, f_.g.nodes.size(), part);
    for (std::size_t i = 0; i < std::min(sequences.size(), kBeginnings) && model_.visits() < stop; ++i) {
      if (!become(std::move(sequences[i]))) continue;
      descend_all();
      if (p_.seconds() < best.seconds() - kLeast) best = p_;
    }
    p_ = std::move(best);
  }

  bool become(std::vector<Kernel> kernels) {
    Partition other = p_.with(std::move(kernels));
    if (!other.usable()) return false;
    p_ = std::move(other);
    return true;
  }

  /// Finds the last kernels of some order anew.
  bool find_last() {
    const Partition before = p_;
    const std::size_t most = kernels().size() + kMore;
    std::vector<std::vector<Kernel>> sequences = few_kernels(f_, model_, some_first(), kNarrow, most, left());
    for (std::size_t i = 0; i < std::min(sequences.size(), kEndings); ++i) {
      if (!become(std::move(sequences[i]))) continue;
      thorough_ = false;
      descend_all();
      thorough_ = true;
      if (may_stay(before.seconds())) return better();
    }
    p_ = before;
    return false;
  }

  /// All kernels but two to kLast, each after those it loads from.
  std::vector<Kernel> some_first() {
    const std::vector<KernelId> all = kernels();
    const std::size_t count = all.size() - std::min(all.size(), 2 + pick(kLast - 1));
    std::vector<Kernel> first;
    std::vector<bool> done(p_.kernel_count());
    while (first.size() < count) {
      std::vector<KernelId> ready;
      for (KernelId k : all) {
        const auto stored = [&](const GraphEdge& l) { return done[p_.kernel_of(l.node)]; };
        if (!done[k] && std::all_of(p_.loads(k).begin(), p_.loads(k).end(), stored)) ready.push_back(k);
      }
      const KernelId next = ready[pick(ready.size())];
      done[next] = true;
      first.push_back(p_.kernel(next));
    }
    return first;
  }

  void descend_all() {
    changed_.assign(p_.kernel_count(), ++moment_);
    for (KernelId k = 0; k < p_.kernel_count(); ++k) enqueue(k);
    descend();
  }

  void rebuild_until(std::uint64_t end, double slack) {
    best_ = p_.seconds();
    std::optional<Partition> best;
    const std::uint64_t start = model_.visits();
    std::uint64_t finding = 0;
    for (bool more = several(); more && model_.visits() < end;) {
      slack_ = slack * (1 - static_cast<double>(model_.visits() - start) / static_cast<double>(end - start));
      if (slack > 0 && !best) best = p_;
      const std::uint64_t now = model_.visits();
      const bool find =
          find_ && slack > 0 && static_cast<double>(finding) < kFindingPart * static_cast<double>(now - start);
      const bool saved = find ? find_last() : rebuild(some_kernel());
      if (find) finding += model_.visits() - now;
      if (!saved) continue;
      if (best) best = p_;
      more = several();
    }
    if (best && best->seconds() < p_.seconds() - kLeast) p_ = *std::move(best);
  }

  [[nodiscard]] bool spent() const { return model_.visits() >= end_; }
  [[nodiscard]] std::uint64_t left() const { return spent() ? 0 : end_ - model_.visits(); }
  [[nodiscard]] bool empty(KernelId k) const { return k >= p_.kernel_count() || p_.kernel(k).members.empty(); }

  std::size_t pick(std::size_t n) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<std::size_t>(random_ % n);
  }

  void shuffle(std::vector<std::uint32_t>& v) {
    for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[pick(i)]);
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
    model_.spend(kTrial);
    if (!p_.settle() || p_.saved_seconds() <= least) {
      p_.undo();
      return false;
    }
    accept();
    return true;
  }

  void accept() {
    const std::vector<KernelId> changed = p_.changed_now();
    p_.keep();
    note(changed);
  }

  void note(const std::vector<KernelId>& changed) {
    changed_.resize(std::max(changed_.size(), p_.kernel_count()));
    ++moment_;
    for (KernelId k : changed) {
      if (k < changed_.size()) changed_[k] = moment_;
      enqueue(k);
    }
  }

  /// The time of a kernel beyond its launch: no more can be saved while it stays.
  [[nodiscard]] double work(KernelId k) const { return empty(k) ? 0 : p_.seconds(k) - launch_; }

  [[nodiscard]] bool several() const {
    int found = 0;
    for (KernelId k = 0; k < p_.kernel_count() && found < 2; ++k) found += !empty(k);
    return found == 2;
  }

  [[nodiscard]] KernelId some_kernel() {
    for (;;)
      if (const auto k = static_cast<KernelId>(pick(p_.kernel_count())); !empty(k)) return k;
  }

  /// Takes a kernel apart, or two, and lets the nodes find others. That saves a launch where they go to several kernels
  /// and none of them gains by going alone.
  bool rebuild(KernelId k) {
    model_.spend(kRebuild);
    const double before = p_.seconds();
    p_.begin_group();
    std::vector<NodeId> members = p_.kernel(k).members;
    if (const std::vector<KernelId> near = neighbours(k); pick(4) == 0 && !near.empty()) {
      const auto& others = p_.kernel(near[pick(near.size())]).members;
      members.insert(members.end(), others.begin(), others.end());
    }
    shuffle(members);
    const bool move_out = pick(2) == 0;
    if (members.size() > kApart) members.resize(kApart);
    for (NodeId v : members) {
      if (p_.kernel_of(v) == kNoId || p_.kernel(p_.kernel_of(v)).members.size() < 2) continue;
      if (move_out && evict(v)) continue;
      try_assign(v, p_.can_repeat(v) ? kNoId : p_.spare(), kAlways);
    }
    shuffle(queue_);
    thorough_ = false;
    descend();
    thorough_ = true;
    may_stay(before) ? p_.keep_group() : p_.undo_group();
    return better();
  }

  /// True if the search may go on from what it has come to, where it took `before` seconds last.
  bool may_stay(double before) {
    const double slack = std::max(slack_ * static_cast<double>(pick(1024)) / 1024, kPlateau * launch_);
    return p_.seconds() < std::max(before, best_ + slack);
  }

  bool better() {
    const bool saved = p_.seconds() < best_ - kLeast;
    best_ = std::min(best_, p_.seconds());
    return saved;
  }

  /// Moves a node to some other kernel that can store it, at whatever cost.
  bool evict(NodeId v) {
    std::vector<KernelId> to = neighbours(p_.kernel_of(v));
    std::erase_if(to, [&](KernelId o) { return !p_.may_store(v, o); });
    shuffle(to);
    if (to.size() > kMostTargets) to.resize(kMostTargets);
    return std::any_of(to.begin(), to.end(), [&](KernelId o) { return try_assign(v, o, kAlways); });
  }

  [[nodiscard]] std::vector<KernelId> neighbours(KernelId k) {
    std::vector<KernelId> found;
    model_.spend(1 + std::min(p_.kernel_count(), kMostCounted) / kCountedPerVisit);
    const auto add = [&](KernelId o) {
      if (o != k && !empty(o)) found.push_back(o);
    };
    if (p_.kernel_count() <= kMostCounted) {
      for (KernelId o = 0; o < p_.kernel_count(); ++o) add(o);
      if (found.size() <= kAllPairs) return found;
      found.clear();
    }
    for (const GraphEdge& l : p_.loads(k)) {
      add(p_.kernel_of(l.node));
      for (KernelId o : p_.loaded_by(l.node)) add(o);
    }
    for (NodeId m : p_.kernel(k).members)
      for (KernelId o : p_.loaded_by(m)) add(o);
    for (KernelId o = k + 1; o <= k + kNeighbours; ++o) add(o);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void merges(KernelId k) {
    for (KernelId o : neighbours(k)) {
      if (spent() || empty(k)) return;
      if (!empty(o) && p_.may_merge(k, o) && launch_ + std::min(work(k), work(o)) > least_ && fresh(k, o)) merge(k, o);
    }
  }

  /// True if one of the two has changed since this was asked.
  bool fresh(KernelId a, KernelId b) {
    changed_.resize(std::max(changed_.size(), p_.kernel_count()));
    const auto [it, first] = tried_.try_emplace(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), moment_);
    if (!first && it->second >= std::max(changed_[a], changed_[b])) return false;
    it->second = moment_;
    return true;
  }

  /// With what lies between the two, where they would wait for each other: all of it, or what the one needs.
  bool merge(KernelId k, KernelId o) { return merge(k, o, true) || (met_circle_ && merge(k, o, false)); }

  bool merge(KernelId k, KernelId o, bool whole) {
    std::vector<KernelId> others{o};
    std::vector<NodeId> stored;
    met_circle_ = false;
    for (std::size_t round = 0; round < kRounds && others.size() <= kBetween; ++round) {
      for (KernelId x : others) p_.merge(k, x);
      for (NodeId v : stored)
        if (p_.kernel_of(v) != k) p_.assign(v, k);
      if (improve()) return true;
      bool more = p_.obstacle().kernel == k && add_new(stored, p_.obstacle().node);
      for (const Partition::Link& l : p_.circle()) {
        met_circle_ = true;
        if (whole && l.from != k && !empty(l.from)) more |= add_new(others, l.from);
        if (!whole && l.to == k) more |= add_new(stored, l.node);
      }
      if (!more) return false;
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
    for (NodeId v : some(p_.kernel(k).members)) {
      if (spent()) return;
      stored_node(v, k);
    }
    if (empty(k)) return;
    for (NodeId v : some(worth_storing(k))) {
      if (spent()) return;
      double most = 0;
      for (KernelId r : p_.repeated_by(v)) most += work(r);
      if (p_.kernel_of(v) != kNoId || most <= least_ || try_assign(v, k)) continue;
      if (most > launch_) try_assign(v, p_.spare());
    }
    for (NodeId v : some(loaded(k))) {
      if (!p_.again(v) || p_.kernel_of(v) == kNoId) continue;
      if (most_by_repeating(v) > least_) try_again(k, v);
    }
    if (work(k) <= least_) return;  // loading saves no more than computing takes
    for (NodeId v : some(p_.kernel(k).again)) try_again(k, v);
  }

  [[nodiscard]] std::vector<NodeId> loaded(KernelId k) const {
    std::vector<NodeId> found;
    for (const GraphEdge& l : p_.loads(k)) found.push_back(l.node);
    return found;
  }

  /// All of them, or a few at random.
  std::vector<NodeId> some(std::vector<NodeId> nodes) {
    if (thorough_ || nodes.size() <= kSome) return nodes;
    shuffle(nodes);
    nodes.resize(kSome);
    return nodes;
  }

  /// The values that the kernel computes and nobody stores: what others compute as well, or this one at other points
  /// than its own.
  [[nodiscard]] std::vector<NodeId> worth_storing(KernelId k) const {
    const SpaceId space = f_.space(p_.kernel(k).members.front());
    std::vector<NodeId> found;
    for (NodeId v : p_.repeated(k))
      if (p_.kernel_of(v) == kNoId && (p_.repeated_by(v).size() > 1 || f_.space(v) != space)) found.push_back(v);
    return found;
  }

  void stored_node(NodeId v, KernelId k) {
    if (p_.kernel_of(v) != k) return;
    const bool alone = p_.kernel(k).members.size() == 1;
    const double most = work(k) + load_seconds(v) + (alone ? launch_ : 0);
    const double loads = load_seconds(v) * static_cast<double>(p_.loaded_by(v).size());
    if (p_.can_repeat(v) && most + loads > least_ && try_assign(v, kNoId)) return;
    if (alone || most <= least_) return;
    const double without = seconds_without(v, k);
    if (p_.kernel_of(v) != k) return;
    for (KernelId o : around(v)) {
      if (spent()) return;
      const bool reads = std::find(p_.loaded_by(v).begin(), p_.loaded_by(v).end(), o) != p_.loaded_by(v).end();
      if (o != k && !empty(o) && p_.may_store(v, o) && without + (reads ? load_seconds(v) : 0) > least_ &&
          try_assign(v, o))
        return;
    }
  }

  /// The saving of kernel `k` if another stores `v`, which may then be one of its own: where that helps it is done.
  double seconds_without(NodeId v, KernelId k) {
    const double before = p_.seconds(k);
    p_.assign(v, p_.spare());
    if (!p_.settle()) {
      p_.undo();
      return before;
    }
    const double without = before - p_.seconds(k);
    if (p_.saved_seconds() > kLeast)
      accept();
    else
      p_.undo();
    return without;
  }

  /// Kernels that load it, or store or load what it reads.
  [[nodiscard]] std::vector<KernelId> around(NodeId v) const {
    std::vector<KernelId> found = p_.loaded_by(v);
    for (int i = 0; i < f_.g.nodes[v].n_inputs; ++i) {
      const NodeId source = f_.source(v, i).edge.node;
      if (p_.kernel_of(source) != kNoId) found.push_back(p_.kernel_of(source));
      const auto& readers = p_.loaded_by(source);
      found.insert(found.end(), readers.begin(), readers.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// With what kernels must store then; kept if it saves more than `least`.
  bool try_assign(NodeId v, KernelId k, double least = kLeast) {
    if (p_.kernel_of(v) == k) return false;
    std::vector<Partition::Obstacle> stored{{v, k}};
    while (stored.size() <= kRounds) {
      for (const auto& s : stored)
        if (p_.kernel_of(s.node) != s.kernel) p_.assign(s.node, s.kernel);
      if (improve(least)) return true;
      Partition::Obstacle next = p_.obstacle();
      const auto same = [&](const Partition::Obstacle& s) { return s.node == next.node; };
      if (next.node == kNoId || std::any_of(stored.begin(), stored.end(), same)) return false;
      if (next.kernel == kNoId) next.kernel = reducer(next.node);
      if (next.kernel == kNoId) return false;
      stored.push_back(next);
    }
    return false;
  }

  /// A kernel along the axis of a reduction.
  [[nodiscard]] KernelId reducer(NodeId reduce) {
    const std::size_t count = std::min(p_.kernel_count(), kMostCounted);
    model_.spend(1 + count / kCountedPerVisit);
    for (KernelId k = 0; k < count; ++k)
      if (!empty(k) && p_.walks(k) != kNoId && f_.key(p_.walks(k)) == f_.key(reduce)) return k;
    return kNoId;
  }

  [[nodiscard]] double load_seconds(NodeId v) const {
    return static_cast<double>(f_.g.bytes(v)) / model_.cost().bytes_per_second;
  }

  /// A reader that computes `v` again saves its load; the last one also what only `v` needed.
  [[nodiscard]] double most_by_repeating(NodeId v) const {
    const double load = load_seconds(v);
    if (p_.loaded_by(v).size() > 1) return load;
    const KernelId owner = p_.kernel_of(v);
    return load + work(owner) + (p_.kernel(owner).members.size() == 1 ? launch_ : 0);
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
  std::uint64_t budget_, end_;  // requests; of model_.visits(): when to stop
  double launch_ = model_.cost().seconds_per_launch, least_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
  std::vector<KernelId> queue_;
  std::vector<bool> waiting_;
  bool thorough_ = true;
  bool find_ = false;                   // whether launches are most of the time
  double slack_ = 0;                    // seconds by which a kernel taken apart may leave more than the best at most
  double best_ = 0;                     // seconds of the best so far
  bool met_circle_ = false;             // by the last merge
  std::uint64_t moment_ = 0;            // moves kept
  std::vector<std::uint64_t> changed_;  // by kernel: when
  std::unordered_map<std::uint64_t, std::uint64_t> tried_;  // by pair: when its merge was tried
};

}  // namespace

std::uint64_t refinement_budget(std::size_t nodes) {
  return std::min<std::uint64_t>(std::max(kWorkPerNode, kWorkPerPair * nodes) * nodes, kMostWork);
}

void refine(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget) {
  Refiner(p, model, f, budget).run();
}

}  // namespace tarry::graph
