// Moves: the steps of a local search, until none saves time.
#include "graph/fusion/moves.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace tarry::graph {
namespace {

constexpr std::size_t kAllPairs = 64;        // kernels up to which every pair is tried
constexpr std::size_t kMostCounted = 1024;   // numbers of kernels, to find how many there are
constexpr std::size_t kNeighbours = 4;       // kernels next in number that are tried beyond
constexpr std::size_t kBetween = 6;          // kernels merged at once
constexpr std::size_t kRounds = 12;          // times that a move is extended
constexpr std::uint64_t kTrial = 8;          // requests that a move counts for
constexpr std::size_t kCountedPerVisit = 8;  // kernels counted through for one
constexpr std::size_t kSome = 2;             // nodes of a kernel that are tried after it was taken apart
constexpr std::size_t kCommon = 3;           // values that stored ones have in common, of a kernel
constexpr std::size_t kMostStored = 64;      // values of a kernel that one may be stored instead of

bool add_new(std::vector<std::uint32_t>& list, std::uint32_t x) {
  if (std::find(list.begin(), list.end(), x) != list.end()) return false;
  list.push_back(x);
  return true;
}

}  // namespace

std::size_t Moves::pick(std::size_t n) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<std::size_t>(random_ % n);
}

void Moves::shuffle(std::vector<std::uint32_t>& v) {
  for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[pick(i)]);
}

void Moves::enqueue(KernelId k) {
  waiting_.resize(std::max(waiting_.size(), p_.kernel_count() + 1));
  if (empty(k) || waiting_[k]) return;
  waiting_[k] = true;
  queue_.push_back(k);
}

/// Merges first: they are few, and they leave fewer kernels to look at.
void Moves::descend() {
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

bool Moves::improve(double least) {
  model_.spend(kTrial);
  legal_ = p_.settle();
  if (!legal_ || p_.saved_seconds() <= least) {
    p_.undo();
    return false;
  }
  accept();
  return true;
}

void Moves::accept() {
  const std::vector<KernelId> changed = p_.changed_now();
  p_.keep();
  note(changed);
}

void Moves::note(const std::vector<KernelId>& changed) {
  changed_.resize(std::max(changed_.size(), p_.kernel_count()));
  ++moment_;
  for (KernelId k : changed) {
    if (k < changed_.size()) changed_[k] = moment_;
    enqueue(k);
  }
}

std::vector<KernelId> Moves::neighbours(KernelId k) {
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

void Moves::merges(KernelId k) {
  std::vector<KernelId> near = neighbours(k);
  count_ways(k);
  std::erase_if(near, [&](KernelId o) { return ways_.length(o) > kBetween + 1; });
  std::ranges::stable_sort(near, {}, [&](KernelId o) { return ways_.length(o); });
  for (KernelId o : near) {
    if (spent() || empty(k)) return;
    if (!empty(o) && p_.may_merge(k, o) && launch_ + std::min(work(k), work(o)) > least_ && fresh(k, o) && merge(k, o))
      count_ways(k);
  }
}

void Moves::count_ways(KernelId k) {
  full_.clear();
  model_.spend(1 + ways_.count_from(k) / kCountedPerVisit);
}

/// True if one of the two has changed since this was asked.
bool Moves::fresh(KernelId a, KernelId b) {
  changed_.resize(std::max(changed_.size(), p_.kernel_count()));
  const auto [it, first] = tried_.try_emplace(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), moment_);
  if (!first && it->second >= std::max(changed_[a], changed_[b])) return false;
  it->second = moment_;
  return true;
}

/// With what lies between the two, where they would wait for each other: all of it, or what the one needs. More than
/// what had no room has none.
bool Moves::merge(KernelId k, KernelId o) {
  std::vector<KernelId> all = ways_.between(o, kBetween);
  all.push_back(o);
  const auto within = [&](KernelId x) { return std::ranges::find(all, x) != all.end(); };
  if (std::ranges::any_of(full_, [&](const auto& some) { return std::ranges::all_of(some, within); })) return false;
  if (all.size() <= kBetween) {
    const Merged merged = merge_all(k, all);
    if (merged == Merged::Saves) return true;
    if (merged == Merged::HasNoRoom) full_.push_back(all);
    if (merged == Merged::HasNoRoom && all.size() > 2) return false;
  }
  return all.size() > 1 && merge_needed(k, o);
}

Moves::Merged Moves::merge_all(KernelId k, std::vector<KernelId> others) {
  std::vector<NodeId> stored;
  for (std::size_t round = 0; round < kRounds && others.size() <= kBetween; ++round) {
    if (merge_with(k, others, stored)) return Merged::Saves;
    if (legal_) return Merged::SavesNothing;
    bool more = p_.obstacle().kernel == k && add_new(stored, p_.obstacle().node);
    for (const Partition::Link& l : p_.circle())
      if (l.from != k && !empty(l.from)) more |= add_new(others, l.from);
    if (!more) return p_.circle().empty() && p_.obstacle().node == kNoId ? Merged::HasNoRoom : Merged::SavesNothing;
  }
  return Merged::SavesNothing;
}

bool Moves::merge_needed(KernelId k, KernelId o) {
  std::vector<NodeId> stored;
  for (std::size_t round = 0; round < kRounds; ++round) {
    if (merge_with(k, {o}, stored)) return true;
    bool more = p_.obstacle().kernel == k && add_new(stored, p_.obstacle().node);
    for (const Partition::Link& l : p_.circle())
      if (l.to == k) more |= add_new(stored, l.node);
    if (!more) return false;
  }
  return false;
}

bool Moves::merge_with(KernelId k, const std::vector<KernelId>& others, const std::vector<NodeId>& stored) {
  for (KernelId x : others) p_.merge(k, x);
  for (NodeId v : stored)
    if (p_.kernel_of(v) != k) p_.assign(v, k);
  return improve();
}

void Moves::nodes(KernelId k) {
  for (NodeId v : some(p_.kernel(k).members)) {
    if (spent()) return;
    stored_node(v, k);
  }
  if (!empty(k) && thorough_) store_common(k);
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

/// Values that several stored ones are made of: one is stored instead of all that a kernel stores, of all of these, or
/// of all but one. Readers make them of it. None of the steps towards that need save time.
void Moves::store_common(KernelId k) {
  std::vector<NodeId> all;
  for (NodeId v : p_.kernel(k).members)
    if (p_.can_repeat(v)) all.push_back(v);
  const auto instead_of = [&](const std::vector<NodeId>& stored, NodeId but) {
    for (NodeId v : stored)
      if (v != but) p_.assign(v, kNoId);
    return improve();
  };
  double most = 0;
  for (NodeId v : all) most += load_seconds(v) * static_cast<double>(1 + p_.loaded_by(v).size());
  for (const Common& c : common_values(k)) {
    if (spent() || most <= least_ || !p_.may_store(c.node, k)) continue;
    p_.assign(c.node, k);
    if (instead_of(all, kNoId)) return;
    if (all.size() > c.stored.size()) {
      p_.assign(c.node, k);
      if (instead_of(c.stored, kNoId)) return;
    }
    if (c.stored.size() == 2) continue;
    for (NodeId but : c.stored) {
      if (spent()) return;
      p_.assign(c.node, k);
      if (instead_of(c.stored, but)) return;
    }
  }
}

/// The nearest values of which a kernel makes at least two that it stores, those of the most first.
std::vector<Moves::Common> Moves::common_values(KernelId k) {
  std::vector<NodeId> stored;
  for (NodeId v : p_.kernel(k).members)
    if (p_.can_repeat(v) && !p_.loaded_by(v).empty()) stored.push_back(v);
  if (stored.size() < 2 || stored.size() > kMostStored) return {};
  std::vector<NodeId> inside;
  for (NodeId v : p_.repeated(k))
    if (p_.kernel_of(v) == kNoId) inside.push_back(v);
  std::ranges::sort(inside, std::greater());
  model_.spend(1 + inside.size() / kCountedPerVisit);
  struct Use {
    std::uint64_t by = 0;  // bits, by number in `stored`
    bool nearest = true;   // no other value of the kernel between it and all of these
  };
  std::unordered_map<NodeId, Use> uses;
  for (NodeId v : inside) uses[v] = {};
  const auto each_source = [&](NodeId reader, const auto& f) {
    for (int i = 0; i < f_.g.nodes[reader].n_inputs; ++i)
      if (const auto it = uses.find(f_.source(reader, i).edge.node); it != uses.end()) f(it->second);
  };
  for (std::size_t i = 0; i < stored.size(); ++i)
    each_source(stored[i], [&](Use& source) { source.by |= std::uint64_t{1} << i; });
  for (NodeId v : inside) each_source(v, [by = uses[v].by](Use& source) { source.by |= by; });
  for (NodeId v : inside)
    each_source(v, [by = uses[v].by](Use& source) { source.nearest = source.nearest && source.by != by; });
  std::vector<Common> found;
  for (NodeId v : inside) {
    const Use& use = uses[v];
    if (std::popcount(use.by) < 2 || !use.nearest) continue;
    Common c{v, {}};
    for (std::size_t i = 0; i < stored.size(); ++i)
      if ((use.by >> i & 1) != 0) c.stored.push_back(stored[i]);
    found.push_back(std::move(c));
  }
  std::ranges::stable_sort(found, std::greater(), [](const Common& c) { return c.stored.size(); });
  if (found.size() > kCommon) found.resize(kCommon);
  return found;
}

std::vector<NodeId> Moves::loaded(KernelId k) const {
  std::vector<NodeId> found;
  for (const GraphEdge& l : p_.loads(k)) found.push_back(l.node);
  return found;
}

/// All of them, or a few at random.
std::vector<NodeId> Moves::some(std::vector<NodeId> nodes) {
  if (thorough_ || nodes.size() <= kSome) return nodes;
  shuffle(nodes);
  nodes.resize(kSome);
  return nodes;
}

std::vector<NodeId> Moves::worth_storing(KernelId k) const {
  const SpaceId space = f_.space(p_.kernel(k).members.front());
  std::vector<NodeId> found;
  for (NodeId v : p_.repeated(k))
    if (p_.kernel_of(v) == kNoId && (p_.repeated_by(v).size() > 1 || f_.space(v) != space)) found.push_back(v);
  for (NodeId v : p_.widened(k))
    if (p_.kernel_of(v) == kNoId) add_new(found, v);
  return found;
}

void Moves::stored_node(NodeId v, KernelId k) {
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
double Moves::seconds_without(NodeId v, KernelId k) {
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
std::vector<KernelId> Moves::around(NodeId v) const {
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

bool Moves::try_assign(NodeId v, KernelId k, double least) {
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
KernelId Moves::reducer(NodeId reduce) {
  const std::size_t count = std::min(p_.kernel_count(), kMostCounted);
  model_.spend(1 + count / kCountedPerVisit);
  for (KernelId k = 0; k < count; ++k)
    if (!empty(k) && p_.walks(k) != kNoId && f_.key(p_.walks(k)) == f_.key(reduce)) return k;
  return kNoId;
}

/// A reader that computes `v` again saves its load; the last one also what only `v` needed.
double Moves::most_by_repeating(NodeId v) const {
  const double load = load_seconds(v);
  if (p_.loaded_by(v).size() > 1) return load;
  const KernelId owner = p_.kernel_of(v);
  return load + work(owner) + (p_.kernel(owner).members.size() == 1 ? launch_ : 0);
}

bool Moves::try_again(KernelId k, NodeId v) {
  if (empty(k) || p_.kernel_of(v) == k) return false;
  p_.toggle_again(k, v);
  return improve();
}

}  // namespace tarry::graph
