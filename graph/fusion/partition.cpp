// Moves of a partition, their consequences and the way back.
#include "graph/fusion/partition.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace tarry::graph {
namespace {

template <class T>
bool contains(const std::vector<T>& v, const T& x) {
  return std::find(v.begin(), v.end(), x) != v.end();
}

template <class T>
void remove_one(std::vector<T>& v, const T& x) {
  const auto it = std::find(v.rbegin(), v.rend(), x);  // mostly what was added last
  if (it == v.rend()) return;
  *it = v.back();
  v.pop_back();
}

std::vector<Kernel> kernels_of(const Graph& g, const Fusion& start) {
  std::vector<Kernel> kernels(start.groups.size());
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    if (start.group_of[id] == kNoId) continue;
    Kernel& k = kernels[start.group_of[id]];
    k.members.push_back(id);
    for (int i = 0; i < g.nodes[id].n_inputs; ++i) {
      if (start.recomputed_set(id, i) == kNoId) continue;
      for (NodeId v : start.recomputed_sets[start.recomputed_set(id, i)])
        if (start.group_of[v] != start.group_of[id] && !contains(k.again, v)) k.again.push_back(v);
    }
  }
  return kernels;
}

/// Each node of the kernels listed in descending order as a kernel of its own.
void take_apart(std::vector<Kernel>& kernels, const std::vector<KernelId>& rejected) {
  std::vector<Kernel> apart;
  auto next = rejected.rbegin();
  for (KernelId k = 0; k < kernels.size(); ++k) {
    if (next == rejected.rend() || *next != k) {
      apart.push_back(std::move(kernels[k]));
      continue;
    }
    for (const NodeId m : kernels[k].members) apart.push_back({{m}, {}});
    ++next;
  }
  kernels = std::move(apart);
}

}  // namespace

Partition::Partition(const FusionGraph& f, KernelModel& model, const Fusion& start, const Limits& limits)
    : Partition(f, model, kernels_of(f.g, start), limits) {
  for (std::vector<Kernel> kernels = kernels_of(f.g, start); !rejected_.empty();) {
    take_apart(kernels, rejected_);
    *this = with(kernels);
  }
}

Partition::Partition(const FusionGraph& f, KernelModel& model, std::vector<Kernel> kernels, const Limits& limits)
    : f_(&f),
      model_(&model),
      memo_(std::make_shared<KernelMemo>(f, model)),
      limits_(&limits),
      kernels_(kernels.size()) {
  const std::size_t n = f.g.nodes.size();
  kernel_of_.assign(n, kNoId);
  readers_.assign(2 * n, 0);
  loaded_by_.resize(n);
  repeated_by_.resize(n);
  after_.resize(n);
  dead_.resize(n);
  base_.resize(n);
  noted_.resize(2 * n);
  linked_.resize(2 * n);
  rank_.resize(kernels_.size());
  std::iota(rank_.begin(), rank_.end(), 0u);
  for (NodeId id = 0; id < n; ++id)
    if (f.scatter(id)) base_[f.base(id).node] = true;
  for (KernelId k = 0; k < kernels_.size(); ++k) {
    kernels_[k].plan = std::move(kernels[k]);
    for (NodeId m : kernels_[k].plan.members) kernel_of_[m] = k;
  }
  // Stored is what others load: readers come later in the order of the groups.
  std::vector<std::size_t> nodes;
  for (const Entry& e : kernels_) nodes.push_back(e.plan.members.size());
  for (auto k = static_cast<KernelId>(kernels_.size()); k-- > 0;) {
    std::erase_if(kernels_[k].plan.members, [&](NodeId m) {
      const bool drop = droppable(m) && !read(m);
      if (drop) kernel_of_[m] = kNoId;
      return drop;
    });
    bool accepted = evaluate(k);
    if (!accepted && !kernels_[k].plan.again.empty()) {  // at too many places: it loads them
      kernels_[k].plan.again.clear();
      accepted = evaluate(k);
    }
    if (std::erase_if(kernels_[k].plan.members, [&](NodeId m) { return dead_[m] && (kernel_of_[m] = kNoId, true); }))
      accepted = accepted && evaluate(k);
    if (!accepted && nodes[k] > 1) rejected_.push_back(k);
    usable_ = usable_ && accepted;
  }
  for (const KernelId k : std::vector<KernelId>(dirty_))  // scatters, now that all that others load is known
    if (dirty_flag_[k] == Dirty::Nodes) usable_ = usable_ && evaluate(k);
  for (KernelId k = 0; k < kernels_.size() && usable_; ++k) {
    usable_ = std::all_of(loads(k).begin(), loads(k).end(),
                          [&](const GraphEdge& l) { return put_before(kernel_of_[l.node], k); });
  }
  for (const Link& l : circle_)
    if (nodes[l.to] > 1 && !contains(rejected_, l.to)) rejected_.push_back(l.to);
  std::ranges::sort(rejected_, std::greater());
  usable_ = usable_ && std::all_of(after_.begin(), after_.end(), [](std::uint32_t many) { return many <= 1; });
  keep();
}

// --- Links ----------------------------------------------------------------------------------------------------------

void Partition::add_load(KernelId k, const GraphEdge& l, int by) {
  std::uint32_t& count = readers_[KernelModel::slot(l)];
  const bool was = count != 0;
  count = static_cast<std::uint32_t>(static_cast<int>(count) + by);
  if (by > 0)
    loaded_by_[l.node].push_back(k);
  else
    remove_one(loaded_by_[l.node], k);
  if (base_[l.node])  // a scatter copies what others load
    for (KernelId reader : loaded_by_[l.node]) mark(reader, Dirty::Nodes);
  if (was == (count != 0) || kernel_of_[l.node] == kNoId) return;
  if (by < 0) unread_.push_back(l.node);
  mark(kernel_of_[l.node], Dirty::Readers);
}

/// Gives a kernel another result; where the two agree nothing is touched.
void Partition::link(KernelId k, std::shared_ptr<const Evaluation> next) {
  const std::shared_ptr<const Evaluation> last = std::exchange(kernels_[k].known, std::move(next));
  const Evaluation &from = *last, &to = *kernels_[k].known;
  seconds_ += to.cost.seconds - from.cost.seconds;
  const auto difference = [&](const auto& old, const auto& fresh, const auto& slot, const auto& add,
                              const auto& remove) {
    linking_ += 2;
    for (const auto& x : fresh) linked_[slot(x)] = linking_;
    for (const auto& x : old) {
      if (linked_[slot(x)] == linking_)
        linked_[slot(x)] = linking_ + 1;
      else
        remove(x);
    }
    for (const auto& x : fresh)
      if (linked_[slot(x)] == linking_) add(x);
  };
  difference(
      from.cost.loads, to.cost.loads, KernelModel::slot, [&](const GraphEdge& l) { add_load(k, l, +1); },
      [&](const GraphEdge& l) { add_load(k, l, -1); });
  difference(
      from.repeated, to.repeated, [](NodeId v) { return std::size_t{v}; },
      [&](NodeId v) { repeated_by_[v].push_back(k); }, [&](NodeId v) { remove_one(repeated_by_[v], k); });
  for (NodeId v : from.after) --after_[v];
  for (NodeId v : to.after) ++after_[v];
}

/// Remembers which outputs of a kernel others load.
void Partition::note_readers(KernelId k) {
  for (NodeId m : kernels_[k].plan.members)
    for (std::size_t o = 0; o < 2; ++o) noted_[2 * std::size_t{m} + o] = readers_[2 * std::size_t{m} + o] != 0;
}

/// True if a kernel must be looked at: its nodes have moved, or others load other outputs of it than when it was.
bool Partition::stale(KernelId k) const {
  if (dirty_flag_[k] >= Dirty::Nodes) return true;
  const auto changed = [&](std::size_t slot) { return noted_[slot] != (readers_[slot] != 0); };
  const auto& members = kernels_[k].plan.members;
  return std::any_of(members.begin(), members.end(),
                     [&](NodeId m) { return changed(2 * std::size_t{m}) || changed(2 * std::size_t{m} + 1); });
}

bool Partition::evaluate(KernelId k) {
  Entry& e = kernels_[k];
  std::shared_ptr<const Evaluation> known = memo_->evaluate(k, e.plan, kernel_of_, readers_);
  if (!known->cost.legal) {
    const KernelCost& c = known->cost;
    obstacle_ = c.obstacle == kNoId ? Obstacle{c.inner, kNoId} : Obstacle{c.obstacle, k};
    return false;
  }
  note_readers(k);
  link(k, std::move(known));
  for (NodeId m : e.plan.members)
    if (f_->walks(m)) dead_[m] = false;
  for (NodeId m : e.known->dead) {
    dead_[m] = true;
    unread_.push_back(m);
  }
  return true;
}

bool Partition::ideal() {
  KernelId only = kNoId;
  for (KernelId k = 0; k < kernels_.size(); ++k) {
    if (kernels_[k].plan.members.empty()) continue;
    if (only != kNoId) return false;
    only = k;
  }
  return only != kNoId && model_->evaluate(only, kernels_[only].plan, kernel_of_, readers_).legal &&
         model_->computes_once();
}

Walk Partition::walk(KernelId k) {
  if (kernels_[k].plan.members.empty() || kernels_[k].known->walks == kNoId) return {};
  (void)model_->evaluate(k, kernels_[k].plan, kernel_of_, readers_);
  return model_->walk();
}

void Partition::touch(KernelId k) {
  touched_.resize(kernels_.size());
  if (touched_[k] == trial_) return;
  touched_[k] = trial_;
  saved_.emplace_back(k, kernels_[k]);
}

void Partition::mark(KernelId k, Dirty why) {
  dirty_flag_.resize(kernels_.size());
  if (dirty_flag_[k] == Dirty::No) dirty_.push_back(k);
  dirty_flag_[k] = std::max(dirty_flag_[k], why);
}

void Partition::set_kernel(NodeId v, KernelId k) {
  moved_.emplace_back(v, kernel_of_[v]);
  if (const KernelId from = kernel_of_[v]; from != kNoId) {
    touch(from);
    std::erase(kernels_[from].plan.members, v);
    mark(from, Dirty::Nodes);
  }
  kernel_of_[v] = k;
  if (k == kNoId) return;
  touch(k);
  kernels_[k].plan.members.push_back(v);
  mark(k, Dirty::More);
}

// --- Moves ----------------------------------------------------------------------------------------------------------

bool Partition::may_meet(NodeId a, NodeId b) const {
  if (f_->scatter(a) || f_->scatter(b)) return true;
  if (f_->walks(a) && f_->walks(b)) return f_->key(a) == f_->key(b);
  if (!f_->walks(a) && !f_->walks(b)) return true;
  const ReduceSpace& r = f_->reduce_space(f_->key(f_->walks(a) ? a : b));
  const SpaceId s = f_->space(f_->walks(a) ? b : a);
  return s == r.point || s == r.outer;
}

bool Partition::may_store(NodeId v, KernelId k) const { return may_meet(v, landmark(k)); }

bool Partition::may_merge(KernelId a, KernelId b) const { return may_meet(landmark(a), landmark(b)); }

void Partition::merge(KernelId a, KernelId b) {
  touch(a);
  touch(b);
  Kernel &to = kernels_[a].plan, &from = kernels_[b].plan;
  // `a` may load what `b` was told to compute and computes no more.
  for (NodeId v : from.again)
    if (contains(repeated_by_[v], b) && !contains(to.again, v)) to.again.push_back(v);
  for (NodeId v : from.members) {
    moved_.emplace_back(v, b);
    kernel_of_[v] = a;
  }
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  from = {};
  mark(b, Dirty::Nodes);
  mark(a, Dirty::More);
}

/// The member that tells most about the others: one that goes along an axis, if any.
NodeId Partition::landmark(KernelId k) const {
  const NodeId walks = kernels_[k].known->walks;
  return walks != kNoId ? walks : kernels_[k].plan.members.front();
}

void Partition::assign(NodeId v, KernelId k) {
  if (k == kernels_.size()) {
    rank_.push_back(k);
    kernels_.emplace_back();
  }
  const bool elsewhere = kernel_of_[v] != kNoId && k != kNoId;  // for all others
  set_kernel(v, k);
  if (elsewhere) return;
  for (KernelId reader : loaded_by_[v]) mark(reader, Dirty::Nodes);
  for (KernelId reader : repeated_by_[v]) mark(reader, Dirty::Nodes);
}

void Partition::toggle_again(KernelId k, NodeId v) {
  touch(k);
  auto& again = kernels_[k].plan.again;
  if (contains(again, v))
    std::erase(again, v);
  else
    again.push_back(v);
  mark(k, Dirty::Nodes);
}

void Partition::repeat(KernelId k, std::vector<NodeId> again) {
  touch(k);
  kernels_[k].plan.again = std::move(again);
  mark(k, Dirty::Nodes);
}

KernelCost Partition::probe(const std::vector<NodeId>& window, std::uint32_t members, std::uint32_t loads) {
  constexpr KernelId kHere = kNoId - 1, kElsewhere = kNoId - 2;
  std::array<KernelId, 16> owners{};
  std::array<std::uint32_t, 32> counts{};
  Kernel k;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::size_t v = window[i];
    owners[i] = std::exchange(kernel_of_[v], members >> i & 1 ? kHere : loads >> i & 1 ? kElsewhere : kNoId);
    for (std::size_t o = 0; o < 2; ++o) counts[2 * i + o] = std::exchange(readers_[2 * v + o], 1);
    if (members >> i & 1) k.members.push_back(window[i]);
  }
  KernelCost cost = model_->evaluate(kHere, k, kernel_of_, readers_);
  for (std::size_t i = 0; i < window.size(); ++i) {
    kernel_of_[window[i]] = owners[i];
    for (std::size_t o = 0; o < 2; ++o) readers_[2 * std::size_t{window[i]} + o] = counts[2 * i + o];
  }
  return cost;
}

/// The kernel to look at next. Readers first, so that a kernel knows what it must store; before them what is empty, and
/// what has more to do than before, where the move is most likely to end.
KernelId Partition::next_dirty() {
  const auto late = [&](KernelId k) {
    const std::uint64_t soon = kernels_[k].plan.members.empty() ? 2 : dirty_flag_[k] == Dirty::More ? 1 : 0;
    return soon << 32 | rank_[k];
  };
  return *std::max_element(dirty_.begin(), dirty_.end(), [&](KernelId a, KernelId b) { return late(a) < late(b); });
}

/// A kernel that is illegal while others are still to be looked at is looked at again after them, `patience` times in
/// all.
bool Partition::settle(int patience) {
  std::size_t rounds = 0;
  circle_.clear();
  obstacle_ = {};
  std::vector<KernelId> illegal;
  do {
    while (!dirty_.empty()) {
      const KernelId k = next_dirty();
      remove_one(dirty_, k);
      const bool look = stale(k);
      dirty_flag_[k] = Dirty::No;
      if (!look) continue;
      if (++rounds > 32 + 4 * saved_.size()) return false;
      touch(k);
      if (!evaluate(k)) {
        if (dirty_.empty() || patience-- == 0) return false;
        illegal.push_back(k);
      } else if (!kernels_[k].plan.members.empty()) {
        for (KernelId again : illegal) mark(again, Dirty::Nodes);
        illegal.clear();
      }
    }
    if (!illegal.empty()) return false;
  } while (drop_unread());
  obstacle_ = {};
  return one_home() && in_order();
}

/// A value that nobody loads is not stored: whoever needs it computes it.
bool Partition::drop_unread() {
  for (NodeId v : unread_) {
    if (kernel_of_[v] == kNoId || !(droppable(v) || dead_[v]) || read(v)) continue;
    set_kernel(v, kNoId);
  }
  unread_.clear();
  return !dirty_.empty();
}

/// A group computes what follows its reductions itself, so that cannot be two groups.
bool Partition::one_home() {
  for (const auto& [k, entry] : saved_) {
    for (NodeId v : kernels_[k].known->after) {
      if (after_[v] <= 1) continue;
      obstacle_ = {v, k};
      return false;
    }
  }
  return true;
}

// --- Order ----------------------------------------------------------------------------------------------------------

/// True if no kernel waits for itself. Ranks give an order, kept by the algorithm of Pearce and Kelly: where a kernel
/// loads from one of a higher rank, what lies between them moves. Beyond the window the answer is no, which only costs
/// a fusion.
bool Partition::in_order() {
  for (const auto& [k, entry] : saved_) {
    for (const GraphEdge& l : loads(k))
      if (!put_before(kernel_of_[l.node], k)) return false;
    for (NodeId m : kernels_[k].plan.members)
      for (KernelId reader : loaded_by_[m])
        if (!put_before(k, reader)) return false;
  }
  return true;
}

void Partition::add_link(KernelId from, KernelId to) {
  for (const GraphEdge& l : loads(to))
    if (kernel_of_[l.node] == from) circle_.push_back({from, to, l.node});
}

bool Partition::put_before(KernelId first, KernelId second) {
  if (rank_[first] < rank_[second]) return true;
  if (first == second) return false;
  const std::uint32_t low = rank_[second], high = rank_[first];
  std::vector<KernelId> after{second}, before{first};
  std::vector<std::size_t> from{0};  // by `after`: which led to it
  seen_.resize(kernels_.size());
  ++epoch_;
  seen_[second] = epoch_;
  for (std::size_t at = 0; at < after.size(); ++at) {
    for (NodeId m : kernels_[after[at]].plan.members) {
      for (KernelId r : loaded_by_[m]) {
        if (r == first) {
          add_link(after[at], first);
          for (std::size_t i = at; i != 0; i = from[i]) add_link(after[from[i]], after[i]);
          add_link(first, second);
          return false;
        }
        if (seen_[r] == epoch_ || rank_[r] <= rank_[after[at]] || rank_[r] > high) continue;
        seen_[r] = epoch_;
        after.push_back(r);
        from.push_back(at);
      }
    }
    if (after.size() > static_cast<std::size_t>(limits_->window)) return false;
  }
  for (std::size_t at = 0; at < before.size(); ++at) {
    for (const GraphEdge& l : loads(before[at])) {
      const KernelId r = kernel_of_[l.node];
      if (seen_[r] == epoch_ || rank_[r] >= rank_[before[at]] || rank_[r] < low) continue;
      seen_[r] = epoch_;
      before.push_back(r);
    }
    if (before.size() > static_cast<std::size_t>(limits_->window)) return false;
  }
  const auto by_rank = [&](KernelId a, KernelId b) { return rank_[a] < rank_[b]; };
  std::sort(before.begin(), before.end(), by_rank);
  std::sort(after.begin(), after.end(), by_rank);
  before.insert(before.end(), after.begin(), after.end());
  std::vector<std::uint32_t> ranks;
  for (KernelId k : before) ranks.push_back(rank_[k]);
  std::sort(ranks.begin(), ranks.end());
  for (std::size_t i = 0; i < before.size(); ++i) {
    ranked_.emplace_back(before[i], rank_[before[i]]);
    rank_[before[i]] = ranks[i];
  }
  return true;
}

// --- The way back ---------------------------------------------------------------------------------------------------

void Partition::keep() {
  if (grouped_) {
    for (auto& [k, entry] : saved_) {
      group_touched_.resize(std::max(group_touched_.size(), kernels_.size()));
      if (group_touched_[k] == group_) continue;
      group_touched_[k] = group_;
      group_saved_.emplace_back(k, std::move(entry));
    }
    group_moved_.insert(group_moved_.end(), moved_.begin(), moved_.end());
    group_ranked_.insert(group_ranked_.end(), ranked_.begin(), ranked_.end());
  }
  for (const auto& [k, entry] : saved_)
    if (kernels_[k].plan.members.empty()) spare_ = k;
  kernels_before_ = kernels_.size();
  seconds_before_ = seconds_;
  reset();
}

void Partition::reset() {
  saved_.clear();
  moved_.clear();
  ranked_.clear();
  ++trial_;
  for (KernelId k : dirty_) dirty_flag_[k] = Dirty::No;
  dirty_.clear();
  unread_.clear();
}

void Partition::undo() {
  for (auto it = moved_.rbegin(); it != moved_.rend(); ++it) kernel_of_[it->first] = it->second;
  for (auto it = ranked_.rbegin(); it != ranked_.rend(); ++it) rank_[it->first] = it->second;
  for (auto& [k, entry] : saved_) {
    kernels_[k].plan = std::move(entry.plan);
    link(k, std::move(entry.known));
  }
  for (const auto& [k, entry] : saved_) note_readers(k);
  reset();
  kernels_.resize(kernels_before_);
  rank_.resize(kernels_before_);
  seconds_ = seconds_before_;
}

void Partition::begin_group() {
  grouped_ = true;
  ++group_;
  group_saved_.clear();
  group_moved_.clear();
  group_ranked_.clear();
  group_kernels_ = kernels_.size();
  group_seconds_ = seconds_;
}

void Partition::keep_group() { grouped_ = false; }

void Partition::undo_group() {
  grouped_ = false;
  saved_.swap(group_saved_);
  moved_.swap(group_moved_);
  ranked_.swap(group_ranked_);
  kernels_before_ = group_kernels_;
  seconds_before_ = group_seconds_;
  undo();
}

KernelId Partition::spare() const {
  if (spare_ < kernels_.size() && kernels_[spare_].plan.members.empty()) return spare_;
  return static_cast<KernelId>(kernels_.size());
}

bool Partition::improve(double least) {
  if (settle() && seconds_ < seconds_before_ - least) {
    keep();
    return true;
  }
  undo();
  return false;
}

}  // namespace tarry::graph
