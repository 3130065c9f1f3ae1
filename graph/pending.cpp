// The lists of pending nodes: constant work per node, and no lock where the recording thread is the one that drops.
#include "graph/pending.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <unordered_map>

#include "graph/context.h"
#include "support/check.h"
#include "support/env.h"
#include "support/fork.h"

namespace tarry::graph::pending {
namespace {

constexpr std::uint32_t kMostRecorders = 4096;  // threads at a time; what further ones record is not counted
struct Recorders {
  std::mutex mutex;
  std::array<std::atomic<Recorder*>, kMostRecorders> all{};
  std::uint32_t made = 0;
  Recorder* idle = nullptr;
};
constinit Recorders recorders;
const support::AtFork recorders_at_fork(recorders.mutex);
/// A recorder is never freed.
struct MadeRecorder {
  Recorder recorder;
  support::AtFork at_fork{recorder.mutex};
};
constinit std::atomic<std::uintptr_t> periods{1};
constinit std::atomic<std::int64_t> memory_limit{0};
constinit std::atomic<std::uint64_t> memory_limit_generation{0};

constinit thread_local bool closed = false;

std::uint64_t generation() {
  return support::env::generation() + memory_limit_generation.load(std::memory_order_acquire);
}

std::int64_t default_bytes() noexcept {
  constexpr std::uint64_t kWithoutLimit = std::uint64_t{8} << 30;
  std::uint64_t limit = static_cast<std::uint64_t>(memory_limit.load(std::memory_order_acquire));
  try {
    if (limit == 0) limit = support::env::bytes("TARRY_MEMORY_LIMIT", kWithoutLimit);
  } catch (const std::bad_alloc&) {  // no memory to read the switch
    limit = kWithoutLimit;
  }
  return static_cast<std::int64_t>(limit / 4);
}

Amount budget() {
  const Budget& b = context().budget;
  return {b.nodes, b.bytes > 0 ? b.bytes : default_bytes()};
}

/// More than this is overdue. Where the list is above the budget even so, only what goes far beyond that is.
void set_most(Recorder& r) {
  const Amount wanted = budget();
  r.generation = generation();
  r.most.nodes = r.now.nodes < wanted.nodes ? wanted.nodes : 2 * r.now.nodes;
  r.most.bytes = r.now.bytes < wanted.bytes ? wanted.bytes : r.now.bytes + wanted.bytes / 2;
  r.over = false;
}

/// Drops what other threads left in the list. Its mutex is held.
void clear_away(Recorder& r, Node* n, bool leaving) noexcept {
  const bool dead = n->refs.load(std::memory_order_acquire) == 0;
  if (dead && n->state.load(std::memory_order_acquire) != State::Dead && !leaving) return;  // it is being taken apart
  const bool empty = dead && n->state.load(std::memory_order_acquire) == State::Dead;
  unlink(r, n);
  if (empty) free_cell(n);
}

struct End {
  bool armed = true;
  ~End() {
    closed = true;                // what later destructors record is in no list
    if (here == nullptr) return;  // there was no memory for one
    Recorder& r = *here;
    {
      const std::lock_guard lock(r.mutex);
      while (r.oldest != nullptr) clear_away(r, r.oldest, true);
      r.now = {};
    }
    here = nullptr;
    const std::lock_guard lock(recorders.mutex);
    r.next_idle = recorders.idle;
    recorders.idle = &r;
  }
};

/// True if the engine would get memory back if nobody held the value.
bool ours(const Node& n) {
  const auto& results = n.extra->results;
  return !results.empty() && results.front()->buffer->owner == Owner::Pool;
}

/// The next use says what is wrong with it.
void remember_use(UseCheck& check) noexcept {
  try {
    check.remember();
  } catch (...) {  // no host memory to look at it
  }
}

}  // namespace

constinit thread_local Recorder* here = nullptr;

Recorder* start() noexcept {
  if (closed) return nullptr;
  static thread_local End end;
  const std::lock_guard lock(recorders.mutex);
  if (recorders.idle != nullptr) {
    here = std::exchange(recorders.idle, recorders.idle->next_idle);
  } else {
    auto* const memory = recorders.made + 1 < kMostRecorders ? new (std::nothrow) MadeRecorder : nullptr;
    if (memory == nullptr) return nullptr;
    Recorder* const made = &memory->recorder;
    made->number = ++recorders.made;
    recorders.all[made->number].store(made, std::memory_order_release);
    here = made;
  }
  end.armed = true;
  here->pace = {};
  here->period = periods.fetch_add(1, std::memory_order_relaxed);
  set_most(*here);
  return here;
}

void pin(Recorder& r, Node* value) noexcept {
  if (const auto& check = value->extra->results.front()->check) return remember_use(*check);
  std::atomic_ref(value->inputs[0]).store(r.period, std::memory_order_relaxed);
  if (!ours(*value)) return;
  if (r.generation != generation()) set_most(r);
  r.now.bytes += bytes_of(*value);
  if (r.now.bytes >= r.most.bytes) r.over = true;
}

bool drop_last_elsewhere(Node* n, std::uint32_t count, std::uint32_t number) noexcept {
  std::uint32_t refs = n->refs.load(std::memory_order_acquire);
  while (refs > count)
    if (n->refs.compare_exchange_weak(refs, refs - count, std::memory_order_acq_rel)) return false;
  const std::lock_guard lock(recorders.all[number].load(std::memory_order_acquire)->mutex);
  return n->refs.fetch_sub(count, std::memory_order_acq_rel) == count;
}

bool leave_to_recorder(Node* dead, std::uint32_t number) noexcept {
  const std::lock_guard lock(recorders.all[number].load(std::memory_order_acquire)->mutex);
  if (dead->recorder.load(std::memory_order_relaxed) == 0) return false;  // the thread has ended
  dead->state.store(State::Dead, std::memory_order_release);
  return true;
}

bool exceeds(const Amount& amount) noexcept {
  const Amount most = budget();
  return amount.nodes >= most.nodes || amount.bytes >= most.bytes;
}

std::int64_t budgeted_bytes() { return budget().bytes; }

void budget_changed() noexcept {
  if (here == nullptr) return;
  Recorder& r = *here;
  const Amount wanted = budget();
  r.generation = generation();
  r.most = wanted;
  r.over = r.now.nodes >= wanted.nodes || r.now.bytes >= wanted.bytes;
}

void set_memory_limit(std::int64_t bytes) noexcept {
  memory_limit.store(bytes, std::memory_order_release);
  memory_limit_generation.fetch_add(1, std::memory_order_acq_rel);
  budget_changed();
}

namespace {

/// Pending nodes and the values they read, each with the number of references that these nodes hold. Made with both the
/// engine's mutex and the recorder's.
class Gathered {
 public:
  /// All of the list's nodes before the one for which `stop` is true.
  template <class Stop>
  Gathered(Recorder& r, Stop&& stop) {
    for (Node* n = r.oldest; n != nullptr;) {
      Node* const next = n->newer;
      const State state = n->state.load(std::memory_order_acquire);
      const bool dead = n->refs.load(std::memory_order_acquire) == 0;
      if (dead || state == State::Ready || state == State::Failed) {
        clear_away(r, n, false);
      } else if (state == State::Lazy) {
        if (stop(*n)) break;
        nodes.push_back(n);
      }
      n = next;
    }
    lazy = nodes.size();
    for (std::size_t i = 0; i < lazy; ++i) nodes[i]->mark = static_cast<std::uint32_t>(i);
    readers.assign(lazy, 0);
    for (std::size_t i = 0; i < lazy; ++i)
      for (int k = 0; k < nodes[i]->n_inputs; ++k) read(nodes[i]->input(k));
  }

  [[nodiscard]] bool has(const Node& n) const { return n.mark < nodes.size() && nodes[n.mark] == &n; }
  /// Nobody but these nodes holds it.
  [[nodiscard]] bool inner(const Node& n) const {
    return has(n) && n.refs.load(std::memory_order_acquire) == readers[n.mark];
  }

  std::vector<Node*> nodes;  ///< the lazy ones first
  std::vector<std::uint32_t> readers;
  std::size_t lazy = 0;

 private:
  void read(Node* n) {
    if (!has(*n)) {
      n->mark = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back(n);
      readers.push_back(0);
    }
    ++readers[n->mark];
  }
};

bool is_at(const Node& n, const Pace& p) { return n.op == p.op && n.line == p.where.line && n.file == p.where.file; }

/// Nodes of one place: how many, how far apart, and how often that was as far as the time before.
struct Site {
  std::int64_t count = 0, last = 0, gap = 0, even = 0;
};
struct SiteHash {
  std::size_t operator()(const std::pair<const char*, std::uint64_t>& s) const {
    return std::hash<const char*>()(s.first) ^ (s.second * 0x9E3779B97F4A7C15U);
  }
};

}  // namespace

Amount count() {
  if (here == nullptr) return {};
  Recorder& r = *here;
  const std::lock_guard engine(engine_mutex());
  const std::lock_guard lock(r.mutex);
  const Gathered g(r, [](const Node&) { return false; });
  Amount exact{static_cast<std::int64_t>(g.lazy), 0};
  r.period = periods.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = g.lazy; i < g.nodes.size(); ++i)
    if (const Node& n = *g.nodes[i]; is_value(n) && ours(n) && g.inner(n)) exact.bytes += bytes_of(n);
  r.now.bytes = exact.bytes;
  set_most(r);
  return exact;
}

Pace find_pace() {
  if (here == nullptr) return {};
  Recorder& r = *here;
  const std::lock_guard engine(engine_mutex());
  const std::lock_guard lock(r.mutex);
  const auto each = [&r](auto&& visit) {
    std::int64_t at = 0;
    for (const Node* n = r.oldest; n != nullptr; n = n->newer)
      if (n->refs.load(std::memory_order_acquire) != 0 && n->state.load(std::memory_order_acquire) == State::Lazy)
        visit(*n, at++);
  };
  if (r.pace.rounds != 0) {  // the loop of the last time, if it goes on
    std::int64_t rounds = 0;
    each([&](const Node& n, std::int64_t) { rounds += is_at(n, r.pace); });
    if (rounds > r.pace.rounds) return r.pace;
  }
  std::unordered_map<std::pair<const char*, std::uint64_t>, Site, SiteHash> sites;
  Site best;
  Pace pace;
  each([&](const Node& n, std::int64_t at) {
    Site& s = sites[{n.file, std::uint64_t{n.line} << 8U | static_cast<std::uint64_t>(n.op)}];
    const std::int64_t gap = at - s.last;
    if (s.count > 1 && gap == s.gap) ++s.even;
    s.gap = gap;
    s.last = at;
    ++s.count;
    const bool regular = s.count >= 3 && 10 * s.even >= 8 * (s.count - 2);
    if (!regular || s.count <= best.count) return;
    best = s;
    pace.op = n.op;
    pace.where = n.where();
  });
  constexpr std::int64_t kFull = 256;  // statements of a kernel
  if (best.count >= 3) pace.rounds = std::min(std::max<std::int64_t>(1, kFull / best.gap), best.count - 1);
  return r.pace = pace;
}

std::vector<Edge> take_oldest(const Pace& pace) {
  std::vector<Edge> roots;
  if (here == nullptr) return roots;
  Recorder& r = *here;
  const std::lock_guard engine(engine_mutex());
  const std::lock_guard lock(r.mutex);
  std::int64_t rounds = 0;
  bool whole = pace.rounds == 0;
  const Gathered g(r, [&](const Node& n) { return !whole && is_at(n, pace) && (whole = ++rounds > pace.rounds); });
  if (!whole) return roots;                       // less than a portion is left
  std::vector<const Node*> base(g.nodes.size());  // what a node is but an index map of; itself where it computes
  for (std::size_t i = 0; i < g.nodes.size(); ++i) base[i] = g.nodes[i];
  for (std::size_t i = 0; i < g.lazy; ++i) {
    const Node& n = *g.nodes[i];
    const OpClass c = info(n.op).op_class;
    if (c != OpClass::View && c != OpClass::Reshape) continue;
    const Node& from = *n.input(0);
    if (!g.has(from)) continue;
    const Node& under = *base[from.mark];
    const bool shrinks = is_value(under) && ours(under) && g.inner(under) && bytes_of(n) < bytes_of(under);
    if (!shrinks && (under.op == Op::Scalar || under.op == Op::Iota || is_value(under))) base[i] = &under;
  }
  for (std::size_t i = 0; i < g.lazy; ++i) {
    Node* const n = g.nodes[i];
    const bool computes = base[i] == n && n->op != Op::Iota;
    if (!computes || g.inner(*n) || output_count(n->op) > 1 || n->in_loop || n->traced) continue;
    retain(n);
    roots.emplace_back(n, 0);
  }
  return roots;
}

std::vector<Edge> take_readers(const Node& value) {
  std::vector<Edge> readers;
  if (here == nullptr) return readers;
  Recorder& r = *here;
  const std::lock_guard engine(engine_mutex());
  const std::lock_guard lock(r.mutex);
  const Gathered g(r, [](const Node&) { return false; });
  if (!g.has(value)) return readers;
  std::vector<bool> reads(g.nodes.size());
  reads[value.mark] = true;
  for (std::size_t i = 0; i < g.lazy; ++i) {
    Node* const n = g.nodes[i];
    for (int k = 0; k < n->n_inputs; ++k) reads[i] = reads[i] || reads[n->input(k)->mark];
    if (!reads[i] || g.inner(*n) || output_count(n->op) > 1 || n->in_loop || n->traced) continue;
    retain(n);
    readers.emplace_back(n, 0);
  }
  return readers;
}

}  // namespace tarry::graph::pending
