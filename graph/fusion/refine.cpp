// Local search by small moves. Where launches are most of the time it begins again from few kernels. Then kernels are
// taken apart, one at a time and at random, or several that come last are found anew, and the search goes on from
// there; that is taken back unless it saves time. The sequence is the same for the same graph.
#include "graph/fusion/refine.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "graph/fusion/exact.h"
#include "graph/fusion/moves.h"
#include "graph/fusion/sequence.h"

namespace tarry::graph {
namespace {

constexpr double kWorthPart = 0.2;                               // of a kernel: what is worth looking for at first
constexpr double kLeastPart = 1e-4;                              // of all seconds: and in the end
constexpr std::uint64_t kEnd = 5;                                // the part of the work that is the end
constexpr std::uint64_t kWorkPerNode = 2400, kWorkPerPair = 40;  // requests
constexpr std::uint64_t kMostWork = 3'200'000;
constexpr std::size_t kMany = 64;                      // kernels whose search follows their time
constexpr std::uint64_t kWorthAlways = 300'000;        // requests, where little time is to be saved
constexpr double kWorkPerSecond = 5e8;                 // of the time that there is to save from
constexpr double kTangled = 0.4;                       // part of the nodes that is stored where all of that is spent
constexpr std::uint64_t kStraightWork = 60;            // requests a node where hardly any is
constexpr std::uint64_t kLeastWork = 24'000;           // of any graph
constexpr std::size_t kWindow = 8;                     // nodes of a window
constexpr std::uint64_t kRebuild = 64;                 // requests that choosing a kernel counts for
constexpr std::size_t kApart = 32;                     // nodes taken apart at once
constexpr std::size_t kMostTargets = 16;               // kernels that one of them may be moved to
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
constexpr std::uint64_t kPatience = 2000;              // requests a node after which nothing more is to be found
constexpr double kAlways = -std::numeric_limits<double>::infinity();

class Refiner : private Moves {
 public:
  Refiner(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget)
      : Moves(p, model, f, budget), exact_(p, model, f), budget_(budget) {}

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
  /// operations stores a few values, and trying them is all that there is to do. What a library reads and writes is
  /// stored without a choice. A program of hundreds of short kernels is searched no longer than many runs of it take:
  /// it may be planned anew each time, with another extent.
  void limit_work() {
    std::size_t nodes = 0, stored = 0;
    std::vector<bool> read(f_.g.nodes.size());
    for (NodeId v = static_cast<NodeId>(f_.g.nodes.size()); v-- > 0;) {
      if (f_.library(v)) {
        for (int i = 0; i < f_.g.nodes[v].n_inputs; ++i) read[f_.source(v, i).edge.node] = true;
        continue;
      }
      nodes += f_.scheduled(v);
      stored += p_.kernel_of(v) != kNoId && !read[v];
    }
    const double tangled =
        std::min(1.0, static_cast<double>(stored) / (kTangled * static_cast<double>(std::max<std::size_t>(nodes, 1))));
    auto worth = static_cast<double>(budget_);
    if (kernels().size() > kMany)
      worth = std::min(worth, std::max(kWorkPerSecond * p_.seconds(), static_cast<double>(kWorthAlways)));
    const auto wanted = static_cast<std::uint64_t>(tangled * tangled * tangled * worth);
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
    const std::uint64_t start = model_.visits(), patience = kPatience * f_.g.nodes.size();
    std::uint64_t finding = 0, found = start;
    for (bool more = several(); more && model_.visits() < std::min(end, found + patience);) {
      slack_ = slack * (1 - static_cast<double>(model_.visits() - start) / static_cast<double>(end - start));
      if (slack > 0 && !best) best = p_;
      const std::uint64_t now = model_.visits();
      const bool find =
          find_ && slack > 0 && static_cast<double>(finding) < kFindingPart * static_cast<double>(now - start);
      const bool saved = find ? find_last() : rebuild(some_kernel());
      if (find) finding += model_.visits() - now;
      if (!saved) continue;
      found = model_.visits();
      if (best) best = p_;
      more = several();
    }
    if (best && best->seconds() < p_.seconds() - kLeast) p_ = *std::move(best);
  }

  [[nodiscard]] std::uint64_t left() const { return spent() ? 0 : end_ - model_.visits(); }

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

  Exact exact_;
  std::uint64_t budget_;  // requests
  bool find_ = false;     // whether launches are most of the time
  double slack_ = 0;      // seconds by which a kernel taken apart may leave more than the best at most
  double best_ = 0;       // seconds of the best so far
};

}  // namespace

std::uint64_t refinement_budget(std::size_t nodes) {
  return std::min<std::uint64_t>(std::max(kWorkPerNode, kWorkPerPair * nodes) * nodes, kMostWork);
}

void refine(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget) {
  Refiner(p, model, f, budget).run();
}

}  // namespace tarry::graph
