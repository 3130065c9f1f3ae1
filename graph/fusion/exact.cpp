// For every set of nodes that could be stored: the ways to share them out to kernels, costliest bound first.
#include "graph/fusion/exact.h"

#include <algorithm>
#include <bit>

namespace tarry::graph {
namespace {

constexpr double kLeastGain = 1e-12;  // seconds it must save

}  // namespace

bool Exact::improve(const std::vector<NodeId>& window) {
  nodes_ = window;
  changed_.clear();
  steps_ = 0;
  options_.clear();
  cheapest_.clear();
  best_blocks_.clear();
  describe();
  best_ = -kLeastGain;
  for (KernelId k : kernels_) best_ += p_.seconds(k);
  const double stores = store_seconds(outside_);
  for (Set stored = must_;; stored = (stored + 1) | must_) {
    bound_of_.assign(std::size_t{all_} + 1, 0);
    bounds_.resize(std::size_t{all_} + 1);
    if (stored != 0 && stores + bound(stored, stored) < best_) descend(stored, stored, 0);
    if (stored == all_ || steps_ > kMostSteps) break;
  }
  model_.spend(steps_ / 8);
  if (!best_blocks_.empty()) apply();
  return steps_ <= kMostSteps;
}

// --- The window -----------------------------------------------------------------------------------------------------

void Exact::describe() {
  const std::size_t n = nodes_.size();
  all_ = (Set{1} << n) - 1;
  hard_ = late_ = must_ = outside_ = 0;
  kernels_.clear();
  for (NodeId v : nodes_)
    if (p_.kernel_of(v) != kNoId) kernels_.push_back(p_.kernel_of(v));
  std::sort(kernels_.begin(), kernels_.end());
  kernels_.erase(std::unique(kernels_.begin(), kernels_.end()), kernels_.end());
  above_.assign(n, 0);
  meets_.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const NodeId v = nodes_[i];
    if (!p_.again(v)) hard_ |= Set{1} << i;
    if (!f_.repeatable(v)) late_ |= Set{1} << i;
    if (!p_.can_repeat(v)) must_ |= Set{1} << i;
    for (KernelId r : p_.loaded_by(v)) {
      if (std::binary_search(kernels_.begin(), kernels_.end(), r)) continue;
      must_ |= Set{1} << i;
      for (const GraphEdge& l : p_.loads(r))
        if (l.node == v) outside_ |= Set{1} << (i + (l.output ? kSecond : 0));
    }
    for (int in = 0; in < g_.nodes[v].n_inputs; ++in) {
      const NodeId source = f_.source(v, in).edge.node;
      const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), source);
      if (at == nodes_.end() || *at != source || source == v) continue;
      const auto j = static_cast<std::size_t>(at - nodes_.begin());
      above_[i] |= above_[j] | Set{1} << j;
    }
    for (std::size_t j = 0; j < n; ++j)
      if (j != i && may_meet(v, nodes_[j])) meets_[i] |= Set{1} << j;
  }
  fits_.assign(std::size_t{all_} + 1, true);
  for (Set s = 1; s <= all_; ++s) {
    const Set rest = s & (s - 1);
    fits_[s] = fits_[rest] && (rest & ~meets_[static_cast<std::size_t>(std::countr_zero(s))]) == 0;
  }
}

bool Exact::in_space(NodeId id, SpaceId a, SpaceId b) const { return f_.space(id) == a || f_.space(id) == b; }

/// True if some kernel could store both: a quick no.
bool Exact::may_meet(NodeId a, NodeId b) const {
  if (g_.nodes[a].mode != g_.nodes[b].mode || f_.library(a) || f_.library(b)) return false;
  const bool reduces = f_.walks(a), other = f_.walks(b);
  if (reduces && other) return f_.key(a) == f_.key(b);
  if (f_.scatter(a) || f_.scatter(b)) return !reduces && !other && !(f_.scatter(a) && f_.scatter(b));
  if (reduces || other) {
    const ReduceSpace& r = f_.reduce_space(f_.key(reduces ? a : b));
    return in_space(reduces ? b : a, r.point, r.outer);
  }
  if (f_.space(a) == f_.space(b)) return true;
  return std::any_of(nodes_.begin(), nodes_.end(), [&](NodeId v) {
    if (!f_.walks(v)) return false;
    const ReduceSpace& r = f_.reduce_space(f_.key(v));
    return in_space(a, r.point, r.outer) && in_space(b, r.point, r.outer);
  });
}

// --- Kernels --------------------------------------------------------------------------------------------------------

/// The stores of loaded values that option() has left out.
double Exact::store_seconds(Set loaded) const {
  double seconds = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!(late_ >> i & 1)) continue;
    for (std::uint32_t o = 0; o < 2; ++o)
      if (loaded >> (i + (o ? kSecond : 0)) & 1 && !model_.root({nodes_[i], o}))
        seconds += static_cast<double>(g_.bytes(nodes_[i])) / model_.cost().bytes_per_second;
  }
  return seconds;
}

/// The kernel of `members` that loads what is in `loads` and computes everything else of the window. A reduction is
/// stored only where others load it, so its stores are counted in the end.
const Exact::Option& Exact::option(Set members, Set loads) {
  const auto [it, fresh] = options_.try_emplace(std::uint64_t{members} << 32 | loads);
  Option& o = it->second;
  if (!fresh) return o;
  steps_ += 16;
  const KernelCost c = p_.probe(nodes_, members, loads);
  o.loads = loads;
  if (!c.legal) return o;
  o.seconds = c.seconds;
  const auto number = [&](NodeId v) {
    const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), v);
    return at == nodes_.end() || *at != v ? -1 : static_cast<int>(at - nodes_.begin());
  };
  for (const GraphEdge& l : c.loads)
    if (const int i = number(l.node); i >= 0) o.loaded |= Set{1} << (i + (l.output ? kSecond : 0));
  for (const Computed& r : model_.computed())
    if (const int i = number(r.node); i >= 0) o.computed |= Set{1} << i;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (members >> i & 1)
      for (int out = 0; out < output_count(g_.nodes[nodes_[i]].op); ++out)
        o.seconds -= store_seconds(Set{1} << (i + (out ? kSecond : 0)));
  return o;
}

/// The cheapest way to compute `members` when `stored` is there, whatever it repeats.
const Exact::Option& Exact::cheapest(Set members, Set stored) {
  Set needs = 0;
  for (Set m = members; m != 0; m &= m - 1) needs |= above_[static_cast<std::size_t>(std::countr_zero(m))];
  const Set others = stored & ~members, choice = others & needs & ~hard_, fixed = others & (needs & hard_);
  const auto [it, fresh] = cheapest_.try_emplace(std::uint64_t{members} << 32 | fixed | choice);
  if (!fresh) return it->second;
  Option best;
  for (Set sub = choice;; sub = (sub - 1) & choice) {
    const Option& o = option(members, fixed | sub);
    if (o.seconds < best.seconds) best = o;
    if (sub == 0) break;
  }
  return cheapest_[std::uint64_t{members} << 32 | fixed | choice] = best;
}

// --- The search -----------------------------------------------------------------------------------------------------

/// The least for the members in `left`, cycles and stores of reductions left aside.
double Exact::bound(Set left, Set stored) {
  if (left == 0) return 0;
  if (bound_of_[left]) return bounds_[left];
  double least = kIllegal;
  const auto first = static_cast<std::size_t>(std::countr_zero(left));
  const Set rest = left & (left - 1), with = rest & meets_[first];
  for (Set sub = with;; sub = (sub - 1) & with) {
    ++steps_;
    if (fits_[sub] && steps_ <= kMostSteps) {
      const double here = cheapest(Set{1} << first | sub, stored).seconds;
      if (here < least) least = std::min(least, here + bound(rest & ~sub, stored));
    }
    if (sub == 0) break;
  }
  bound_of_[left] = 1;
  return bounds_[left] = least;
}

void Exact::descend(Set left, Set stored, double so_far) {
  if (left == 0) return finish(so_far);
  const auto first = static_cast<std::size_t>(std::countr_zero(left));
  const Set rest = left & (left - 1), with = rest & meets_[first];
  for (Set sub = with;; sub = (sub - 1) & with) {
    ++steps_;
    if (fits_[sub] && steps_ <= kMostSteps) {
      const Set members = Set{1} << first | sub;
      // Loading may close a cycle where repeating does not, and the other way round.
      const Option chosen[] = {cheapest(members, stored), option(members, stored & ~members)};
      for (int i = 0; i < (chosen[0].loaded == chosen[1].loaded ? 1 : 2); ++i) {
        const double seconds = so_far + chosen[i].seconds;
        if (seconds + bound(rest & ~sub, stored) >= best_) continue;
        blocks_.push_back({members, chosen[i]});
        descend(rest & ~sub, stored, seconds);
        blocks_.pop_back();
      }
    }
    if (sub == 0) break;
  }
}

/// All members have kernels: is there an order, and what do the stores cost?
void Exact::finish(double so_far) {
  Set loaded = outside_;
  for (const Block& b : blocks_) loaded |= b.option.loaded;
  so_far += store_seconds(loaded);
  if (so_far >= best_) return;
  Set ready = 0;
  std::vector<bool> done(blocks_.size());
  for (std::size_t round = 0; round < blocks_.size(); ++round) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Set needs = blocks_[b].option.loaded | blocks_[b].option.loaded >> kSecond;
      if (done[b] || (needs & all_ & ~ready) != 0) continue;
      done[b] = true;
      ready |= blocks_[b].members;
    }
  }
  if (std::find(done.begin(), done.end(), false) != done.end()) return;
  best_ = so_far;
  best_blocks_ = blocks_;
}

void Exact::apply() {
  Set stored = 0;
  for (const Block& b : best_blocks_) stored |= b.members;
  std::size_t used = 0;
  for (const Block& b : best_blocks_) {
    const KernelId k = used < kernels_.size() ? kernels_[used++] : static_cast<KernelId>(p_.kernel_count());
    std::vector<NodeId> again;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (b.members >> i & 1) p_.assign(nodes_[i], k);
      if ((stored & ~b.members & b.option.computed) >> i & 1) again.push_back(nodes_[i]);
    }
    p_.repeat(k, std::move(again));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!(stored >> i & 1) && p_.kernel_of(nodes_[i]) != kNoId) p_.assign(nodes_[i], kNoId);
  for (; used < kernels_.size(); ++used) p_.repeat(kernels_[used], {});
  if (p_.settle(static_cast<int>(nodes_.size())) && p_.saved_seconds() > kLeastGain) {
    changed_ = p_.changed_now();
    p_.keep();
  } else {
    p_.undo();
  }
}

}  // namespace tarry::graph
