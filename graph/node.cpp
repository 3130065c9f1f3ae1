// Nodes: pool, reference counts and iterative destruction.
#include "graph/node.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "graph/pending.h"
#include "support/check.h"
#include "support/fork.h"

namespace tarry::graph {
namespace {

/// How many nodes a thread made more than it destroyed. Only that thread writes, so counting costs no
/// read-modify-write.
struct LiveCount {
  std::atomic<std::int64_t> value{0};
  LiveCount* next = nullptr;  // in the list of all; guarded by its mutex
  enum class State : std::uint8_t { Unlisted, Listed, Closed } state = State::Unlisted;
};
struct LiveCounts {
  std::mutex mutex;
  LiveCount* first = nullptr;
  std::atomic<std::int64_t> ended{0};  // of threads that have ended, and of what they do while they end
};
constinit LiveCounts live_counts;
const support::AtFork live_counts_at_fork(live_counts.mutex);
constinit thread_local LiveCount live_here;

struct LiveEnd {
  bool armed = true;
  ~LiveEnd() {
    const std::lock_guard lock(live_counts.mutex);
    for (LiveCount** at = &live_counts.first; *at != nullptr; at = &(*at)->next) {
      if (*at != &live_here) continue;
      *at = live_here.next;
      break;
    }
    live_counts.ended.fetch_add(live_here.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
    live_here.state = LiveCount::State::Closed;
  }
};
thread_local LiveEnd live_end;

/// False while the thread ends.
[[gnu::noinline]] bool list_live_count() {
  if (live_here.state == LiveCount::State::Closed) return false;
  live_end.armed = true;
  const std::lock_guard lock(live_counts.mutex);
  live_here.next = live_counts.first;
  live_counts.first = &live_here;
  live_here.state = LiveCount::State::Listed;
  return true;
}

inline void count_live(std::int64_t change) {
  LiveCount& count = live_here;
  if (count.state != LiveCount::State::Listed && !list_live_count()) {
    live_counts.ended.fetch_add(change, std::memory_order_relaxed);
    return;
  }
  count.value.store(count.value.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

#if defined(__has_feature)  // clang's way to say __SANITIZE_ADDRESS__
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
// Plain allocation, so that the sanitizer sees every use after destruction and every leak.
void* take_cell() { return ::operator new(sizeof(Node), std::align_val_t{alignof(Node)}); }
void give_cell(void* cell) noexcept { ::operator delete(cell, std::align_val_t{alignof(Node)}); }
#else

constexpr int kBatch = 128;  // cells that move between a thread and the shared list at a time: 16 KiB

/// A cell that holds no node. The first cell of a batch knows the batch.
struct FreeCell {
  FreeCell* next;
  FreeCell* next_batch;  // of the first cell, as the count is
  int count;
};

/// Batches that no thread holds. Trivially destructible: static arrays may die after every other static.
/// Memory goes back to the system only with the process.
struct SharedCells {
  std::mutex mutex;
  FreeCell* batches = nullptr;

  FreeCell* take() {
    {
      const std::lock_guard lock(mutex);
      if (FreeCell* batch = batches) {
        batches = batch->next_batch;
        return batch;
      }
    }
    auto* slab = static_cast<std::byte*>(::operator new(kBatch * sizeof(Node), std::align_val_t{alignof(Node)}));
    FreeCell* batch = nullptr;
    for (int i = kBatch - 1; i >= 0; --i) {
      batch = new (slab + static_cast<std::size_t>(i) * sizeof(Node)) FreeCell{batch, nullptr, kBatch - i};
    }
    return batch;
  }
  void give(FreeCell* batch, int count) noexcept {
    const std::lock_guard lock(mutex);
    batch->count = count;
    batch->next_batch = batches;
    batches = batch;
  }
};
static_assert(sizeof(FreeCell) <= sizeof(Node));
constinit SharedCells shared_cells;
const support::AtFork shared_cells_at_fork(shared_cells.mutex);

/// Cells that a thread holds: an open list and at most one full batch, so that a thread that frees and records around a
/// batch's edge leaves the mutex alone.
struct ThreadCells {
  FreeCell* open = nullptr;
  FreeCell* full = nullptr;
  int count = 0;  // of open
  bool flushed = false;
};
constinit thread_local ThreadCells thread_cells;

/// Hands a thread's cells back when it ends. Touched only on the slow path, so that take and give cost no guard.
struct Flush {
  bool armed = true;
  ~Flush() {
    ThreadCells& cells = thread_cells;
    if (cells.open != nullptr) shared_cells.give(cells.open, cells.count);
    if (cells.full != nullptr) shared_cells.give(cells.full, kBatch);
    cells = {nullptr, nullptr, 0, true};  // arrays that outlive this use the shared list directly
  }
};
thread_local Flush flush_at_thread_end;

/// Opens another batch; a thread that has ended takes a single cell of it.
[[gnu::noinline]] void refill(ThreadCells& cells) {
  if (!cells.flushed) flush_at_thread_end.armed = true;
  cells.open = cells.full != nullptr ? std::exchange(cells.full, nullptr) : shared_cells.take();
  cells.count = cells.open->count;
  if (!cells.flushed || cells.count == 1) return;
  shared_cells.give(std::exchange(cells.open->next, nullptr), cells.count - 1);
  cells.count = 1;
}

void* take_cell() {
  ThreadCells& cells = thread_cells;
  if (cells.open == nullptr) refill(cells);
  FreeCell* const cell = cells.open;
  cells.open = cell->next;
  --cells.count;
  return cell;
}

/// Begins a new open list with `cell`.
[[gnu::noinline]] void reopen(ThreadCells& cells, FreeCell* cell) noexcept {
  cell->next = nullptr;
  if (cells.flushed) return shared_cells.give(cell, 1);
  flush_at_thread_end.armed = true;
  if (cells.open != nullptr) {
    if (cells.full != nullptr) shared_cells.give(cells.full, kBatch);
    cells.full = cells.open;
    cells.full->count = kBatch;
  }
  cells.open = cell;
  cells.count = 1;
}

void give_cell(void* memory) noexcept {
  ThreadCells& cells = thread_cells;
  auto* const cell = new (memory) FreeCell;
  if (cells.open == nullptr || cells.count == kBatch) return reopen(cells, cell);
  cell->next = cells.open;
  cells.open = cell;
  ++cells.count;
}
#endif

inline Node* take_node() {
  Node* const n = new (take_cell()) Node;
  count_live(1);
  return n;
}

/// A node without attributes, and without a shape that has no room in it.
inline Node* plain_node(const NodeSpec& spec) {
  Node* const n = take_node();
  n->op = spec.op;
  n->dtype = spec.dtype;
  n->rank = spec.shape.size() & Node::kMostRank;
  n->mode = spec.mode;
  n->device = spec.device;
  n->line = spec.where.line;
  n->file = spec.where.file;
  if (n->rank <= Node::kInlineRank) {
    for (int d = 0; d < n->rank; ++d) n->dims[d] = spec.shape[static_cast<std::size_t>(d)];
  }
  if (spec.op == Op::Scalar) std::memcpy(n->dims, spec.cell.bytes, sizeof spec.cell.bytes);
  return n;
}

[[gnu::noinline]] Node* new_node_with_extra(const NodeSpec& spec) {
  TARRY_ASSERT(spec.shape.size() <= static_cast<std::size_t>(kMaxRank));
  auto extra = std::make_unique_for_overwrite<Extra>();
  if (spec.attributes != nullptr) extra->attributes.keep(*spec.attributes);
  if (spec.shape.size() > Node::kInlineRank) extra->dims.assign(spec.shape.begin(), spec.shape.end());
  Node* const n = plain_node(spec);
  n->extra = extra.release();
  return n;
}

/// Nodes that die with a node: those whose last reference was one of its own. References to a node that is read several
/// times are given up together where they follow each other.
class Dying {
 public:
  void drop(Node* n) noexcept {
    const std::uint32_t count = n == shared_ ? count_ + 1 : 1;
    if (n->refs.load(std::memory_order_acquire) != count) {
      if (n != shared_) settle();
      shared_ = n;
      count_ = count;
      return;
    }
    if (n == shared_) shared_ = nullptr;
    give_up(n, count);
  }
  /// The next node to take apart, or nullptr.
  Node* next() noexcept {
    if (first_ == nullptr) settle();
    Node* const n = first_;
    if (n != nullptr) first_ = n->dying;
    return n;
  }

 private:
  void give_up(Node* n, std::uint32_t count) noexcept {
    if (!pending::drop_last(here_, n, count)) return;
    n->dying = first_;
    first_ = n;
  }
  void settle() noexcept {
    if (shared_ != nullptr) give_up(std::exchange(shared_, nullptr), count_);
  }
  pending::Recorder* const here_ = pending::here;
  Node *first_ = nullptr, *shared_ = nullptr;
  std::uint32_t count_ = 0;  // of references to shared_ that are still to be given up
};

}  // namespace

Node* new_node(const NodeSpec& spec) {
  if (spec.attributes != nullptr || spec.shape.size() > Node::kInlineRank) return new_node_with_extra(spec);
  return plain_node(spec);
}

Node* blank_node() { return take_node(); }

AttributeBytes Node::attributes() const {
  if (!is_box()) return extra != nullptr ? AttributeBytes(std::string_view(extra->attributes)) : AttributeBytes();
  AttributeBytes bytes;
  put_box(bytes);
  return bytes;
}

Edge make_node(const NodeSpec& spec, std::span<const Edge> inputs) {
  TARRY_ASSERT(inputs.size() <= Node::kMaxInputs);
  Node* n = new_node(spec);
  for (const Edge& input : inputs) n->add_input(input);
  return pending::recorded(n);
}

Edge make_input(Dtype dtype, std::span<const std::int64_t> shape, std::shared_ptr<Storage> storage, Device device,
                Where where) {
  Edge edge = make_node({.op = Op::Input,
                         .dtype = dtype,
                         .device = device,
                         .shape = shape,
                         .attributes = nullptr,
                         .cell = {},
                         .where = where},
                        {});
  if (storage->buffer->owner != Owner::Pool && !storage->check) edge.node()->inputs[0] = pending::kUncounted;
  edge.node()->need_extra().results.push_back(std::move(storage));
  edge.node()->state.store(State::Ready, std::memory_order_release);
  return edge;
}

void free_cell(Node* dead) noexcept {
  dead->~Node();
  give_cell(dead);
}

namespace {

[[gnu::noinline]] void take_apart(Node* n) noexcept {
  std::int64_t count = 0;
  Dying dying;
  for (; n != nullptr; n = dying.next(), ++count) {
    for (int i = 0; i < n->n_inputs; ++i) dying.drop(n->input(i));
    delete std::exchange(n->extra, nullptr);
    if (!pending::leave_to_recorder(n)) free_cell(n);
  }
  count_live(-count);
}

}  // namespace

void release(Node* n) noexcept {
  if (pending::drop_last(pending::here, n, 1)) take_apart(n);
}

void take_inputs(Node* n, std::vector<Edge>& out) {
  out.reserve(out.size() + n->n_inputs);
  for (int i = 0; i < n->n_inputs; ++i) {
    out.emplace_back(n->input(i), n->input_output(i));  // the reference moves
    n->inputs[i] = 0;
  }
  n->n_inputs = 0;
}

std::int64_t bytes_of(const Node& n) {
  constexpr std::int64_t kMost = std::int64_t{1} << 58;
  const std::int64_t count = element_count(n.shape());
  const auto size = static_cast<std::int64_t>(itemsize(n.dtype));
  return count < kMost / size ? count * size : kMost;
}

std::mutex& engine_mutex() {
  static constinit std::mutex mutex;
  return mutex;
}
static const support::AtFork engine_mutex_at_fork(engine_mutex());

std::int64_t live_nodes() noexcept {
  const std::lock_guard lock(live_counts.mutex);
  std::int64_t total = live_counts.ended.load(std::memory_order_relaxed);
  for (const LiveCount* c = live_counts.first; c != nullptr; c = c->next)
    total += c->value.load(std::memory_order_relaxed);
  return total;
}

}  // namespace tarry::graph
