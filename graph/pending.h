// Pending work: what each thread recorded and nobody has evaluated yet, and the budget that bounds it.
//
// Every node that computes something is in the list of the thread that recorded it, oldest first, until it is evaluated
// or dies. The thread itself links and unlinks without a lock. Another thread that drops the last reference takes the
// node apart but leaves the empty cell in the list, under the recorder's mutex, and so does one that evaluates it; the
// recorder clears such cells away when it looks at the list.
//
// The budget counts nodes, and bytes of pool memory that only pending work keeps. Both are counted while recording, the
// latter as an upper bound: an evaluated input counts once per period, however often it is read. Where the budget seems
// exceeded, the next operation looks at the list, counts exactly, and lets the engine evaluate (overdue() below).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "graph/node.h"

namespace tarry::graph {

namespace pending {

struct Amount {
  std::int64_t nodes = 0;
  std::int64_t bytes = 0;
};

/// How work is taken from the list: whole rounds of the loop that recorded it, so many at a time that a kernel is full.
/// Rounds begin at a node of the given place and operation. Rounds that look alike make one plan.
struct Pace {
  Op op{};
  Where where;
  std::int64_t rounds = 0;  ///< of each portion; 0: no loop was found, and everything is one portion
};

/// The list of one thread. Never freed: nodes name it by number, and a thread that ends leaves it to the next.
struct Recorder {
  Node* oldest = nullptr;
  Node* newest = nullptr;
  Amount now;                 ///< nodes in the list, counted; bytes as an upper bound
  Amount most;                ///< above which overdue() is true
  std::uintptr_t period = 0;  ///< what an input is marked with that was counted
  std::uint64_t generation = 0;
  std::uint32_t number = 0;
  bool over = false;
  Pace pace;  ///< of the last time
  Recorder* next_idle = nullptr;
  std::mutex mutex;  ///< held by other threads for each change, and by its own while it looks at the list
};
extern constinit thread_local Recorder* here;

Recorder* start() noexcept;  ///< null where there are too many threads, and while one ends
void pin(Recorder& r, Node* value) noexcept;
bool drop_last_elsewhere(Node* n, std::uint32_t count, std::uint32_t number) noexcept;
bool leave_to_recorder(Node* dead, std::uint32_t number) noexcept;

inline void unlink(Recorder& r, Node* n) noexcept {
  (n->older != nullptr ? n->older->newer : r.oldest) = n->newer;
  (n->newer != nullptr ? n->newer->older : r.newest) = n->older;
  n->recorder.store(0, std::memory_order_release);  // whoever reads 0 may free the cell
  --r.now.nodes;
}

/// In the place of a period: memory of others, which is never counted.
inline constexpr std::uintptr_t kUncounted = ~std::uintptr_t{0};

/// Has a value that a kernel may read.
inline bool is_value(const Node& n) {
  return n.state.load(std::memory_order_acquire) == State::Ready && n.op != Op::Scalar;
}

// For node.cpp.

/// The edge to a node that has its inputs now.
inline Edge recorded(Node* n) noexcept {
  bool in_loop = n->op == Op::LoopLevel, traced = false;
  for (int i = 0; i < n->n_inputs; ++i) {
    in_loop |= n->input(i)->in_loop;
    traced |= n->input(i)->traced;
  }
  n->in_loop = in_loop && !is_loop_result(n->op);
  n->traced = traced;
  if (n->op == Op::Scalar || n->op == Op::Input) return {n, 0};
  Recorder* const r = here != nullptr ? here : start();
  if (r == nullptr) return {n, 0};
  n->recorder.store(r->number, std::memory_order_relaxed);
  n->older = r->newest;
  (r->newest != nullptr ? r->newest->newer : r->oldest) = n;
  r->newest = n;
  for (int i = 0; i < n->n_inputs; ++i) {
    Node* const input = n->input(i);
    // Inputs of an evaluated node are gone; the first of their places says in which period it was counted.
    if (!is_value(*input)) continue;
    const std::uintptr_t counted = std::atomic_ref(input->inputs[0]).load(std::memory_order_relaxed);
    if (counted != r->period && counted != kUncounted) pin(*r, input);
  }
  if (++r->now.nodes >= r->most.nodes) r->over = true;
  return {n, 0};
}

/// Gives `count` references up; true where they were the last, and the node is in nobody's way any more. `r` is this
/// thread's.
inline bool drop_last(Recorder* r, Node* n, std::uint32_t count) noexcept {
  const std::uint32_t number = n->recorder.load(std::memory_order_acquire);
  if (number != 0 && (r == nullptr || number != r->number)) return drop_last_elsewhere(n, count, number);
  // The last owner needs no read-modify-write: whoever could raise the count holds a reference, and nobody else does.
  if (n->refs.load(std::memory_order_acquire) != count && n->refs.fetch_sub(count, std::memory_order_acq_rel) != count)
    return false;
  if (number != 0) unlink(*r, n);
  return true;
}

/// True where the cell of a dead node stays in a list that only another thread may change.
inline bool leave_to_recorder(Node* dead) noexcept {
  const std::uint32_t number = dead->recorder.load(std::memory_order_acquire);
  return number != 0 && leave_to_recorder(dead, number);
}

/// The node has a value now, or an error. The caller holds engine_mutex().
inline void settled(Node* n) noexcept {
  if (here != nullptr && n->recorder.load(std::memory_order_relaxed) == here->number) unlink(*here, n);
}

/// True if this thread seems to have recorded more than its budget.
inline bool overdue() noexcept { return here != nullptr && here->over; }
/// Evaluates pending work if the budget is exceeded indeed, and never throws. The runtime defines it. `where` is the
/// user's line that recorded more.
void evaluate_overdue(Where where) noexcept;

/// Counts this thread's pending work exactly; a new period begins.
Amount count();
/// True if `amount` is more than this thread's budget.
bool exceeds(const Amount& amount) noexcept;
/// Bytes that this thread's pending work may keep.
std::int64_t budgeted_bytes();
/// The budget of this thread's context has changed, or what 0 bytes mean.
void budget_changed() noexcept;
/// The meaning of 0 bytes from now on: a quarter of the limit. 0: TARRY_MEMORY_LIMIT, or 2 GiB where that is not set.
void set_memory_limit(std::int64_t bytes) noexcept;

/// How this thread's pending work is best taken; the same for each portion of a loop.
Pace find_pace();
/// The roots of the oldest portion: what somebody outside of it holds. None where nothing is worth evaluating. Views of
/// evaluated memory are not: they take none.
std::vector<Edge> take_oldest(const Pace& pace);
/// Nodes that this thread recorded from `value` and somebody holds.
std::vector<Edge> take_readers(const Node& value);

}  // namespace pending
}  // namespace tarry::graph
