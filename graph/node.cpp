// Nodes: pool, reference counts and iterative destruction.
#include "graph/node.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "graph/pending.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// How many nodes a thread made more than it destroyed. Only that thread writes, so counting costs no read-modify-write.
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

[[gnu::noinline]] void list_live_count() {
  live_end.armed = true;
  const std::lock_guard lock(live_counts.mutex);
  live_here.next = live_counts.first;
  live_counts.first = &live_here;
  live_here.state = LiveCount::State::Listed;
}

inline void count_live(std::int64_t change) {
  if (live_here.state == LiveCount::State::Unlisted) list_live_count();
  if (live_here.state == LiveCount::State::Closed) {
    live_counts.ended.fetch_add(change, std::memory_order_relaxed);
  } else {
    live_here.value.store(live_here.value.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
}

#if defined(__has_feature)  // clang's way to say __SANITIZE_ADDRESS__
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
// Plain allocation, so that the sanitizer sees every use after destruction and every leak.
void* take_cell() { return ::operator new (sizeof(Node), std::align_val_t{alignof(Node)}); }
void give_cell(void* cell) noexcept { ::operator delete (cell, std::align_val_t{alignof(Node)}); }
#else

constexpr int kBatch = 128;  // cells that move between a thread and the shared list at a time: 16 KiB

/// A cell that holds no node. The first cell of a batch knows the batch.
struct FreeCell {
  FreeCell* next = nullptr;
  FreeCell* next_batch = nullptr;
  int count = 0;
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
    auto* slab = static_cast<std::byte*>(::operator new (kBatch * sizeof(Node), std::align_val_t{alignof(Node)}));
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

/// What a thread holds: an open list and at most one full batch, so that a thread that frees and records around a
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

void* take_cell() {
  ThreadCells& cells = thread_cells;
  if (cells.open == nullptr) {
    if (!cells.flushed) flush_at_thread_end.armed = true;
    cells.open = cells.full != nullptr ? std::exchange(cells.full, nullptr) : shared_cells.take();
    cells.count = cells.open->count;
  }
  FreeCell* cell = cells.open;
  cells.open = cell->next;
  --cells.count;
  if (cells.flushed && cells.open != nullptr) {
    shared_cells.give(std::exchange(cells.open, nullptr), std::exchange(cells.count, 0));
  }
  return cell;
}

void give_cell(void* memory) noexcept {
  ThreadCells& cells = thread_cells;
  auto* cell = new (memory) FreeCell;
  if (cells.flushed) return shared_cells.give(cell, 1);
  if (cells.count == kBatch) {
    if (cells.full != nullptr) shared_cells.give(cells.full, kBatch);
    cells.full = std::exchange(cells.open, nullptr);
    cells.full->count = kBatch;
    cells.count = 0;
  }
  if (cells.open == nullptr) flush_at_thread_end.armed = true;
  cell->next = cells.open;
  cells.open = cell;
  ++cells.count;
}
#endif

/// A node with everything but inputs and result.
Node* new_node(const NodeSpec& spec) {
  const int rank = static_cast<int>(spec.shape.size());
  TARRY_ASSERT(rank <= kMaxRank);
  std::unique_ptr<Extra> extra;
  if (spec.attributes != nullptr || rank > Node::kInlineRank) {
    extra = std::make_unique_for_overwrite<Extra>();
    if (spec.attributes != nullptr) extra->attributes.keep(*spec.attributes);
    if (rank > Node::kInlineRank) extra->dims.assign(spec.shape.begin(), spec.shape.end());
  }
  Node* n = new (take_cell()) Node;
  count_live(1);
  n->op = spec.op;
  n->dtype = spec.dtype;
  n->rank = static_cast<std::uint8_t>(rank);
  n->mode = spec.mode;
  n->device = spec.device;
  n->line = spec.where.line;
  n->file = spec.where.file;
  if (rank <= Node::kInlineRank) {
    for (int d = 0; d < rank; ++d) n->dims[d] = spec.shape[static_cast<std::size_t>(d)];
  }
  if (spec.op == Op::Scalar) std::memcpy(n->dims, spec.cell.bytes, sizeof spec.cell.bytes);
  n->extra = extra.release();
  return n;
}

/// Drops one reference that a node held; a node nobody else holds joins the list of the dying.
void drop(Node* n, Node*& dying) noexcept {
  if (!pending::drop_last(n)) return;
  n->dying = dying;
  dying = n;
}

}  // namespace

Edge make_node(const NodeSpec& spec, std::span<const Edge> inputs) {
  TARRY_ASSERT(inputs.size() <= Node::kMaxInputs);
  Node* n = new_node(spec);
  for (const Edge& input : inputs) {
    retain(input.node());
    n->inputs[n->n_inputs++] = reinterpret_cast<std::uintptr_t>(input.node()) | input.output();
  }
  pending::recorded(n);
  return {n, 0};
}

Edge make_node_from(const NodeSpec& spec, std::span<Edge> inputs) {
  TARRY_ASSERT(inputs.size() <= Node::kMaxInputs);
  Node* n = new_node(spec);
  for (Edge& input : inputs) {
    const std::uint32_t output = input.output();
    n->inputs[n->n_inputs++] = reinterpret_cast<std::uintptr_t>(input.release()) | output;
  }
  pending::recorded(n);
  return {n, 0};
}

Edge make_input(Dtype dtype, std::span<const std::int64_t> shape, std::shared_ptr<Storage> storage, Device device,
                Where where) {
  Edge edge = make_node(
      {.op = Op::Input, .dtype = dtype, .device = device, .shape = shape, .attributes = nullptr, .cell = {}, .where = where},
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

void release(Node* n) noexcept {
  Node* dying = nullptr;
  drop(n, dying);
  std::int64_t count = 0;
  for (; dying != nullptr; ++count) {
    Node* dead = dying;
    dying = dead->dying;
    for (int i = 0; i < dead->n_inputs; ++i) drop(dead->input(i), dying);
    delete std::exchange(dead->extra, nullptr);
    if (!pending::leave_to_recorder(dead)) free_cell(dead);
  }
  if (count != 0) count_live(-count);
}

void take_inputs(Node* n, std::vector<Edge>& out) {
  out.reserve(out.size() + n->n_inputs);
  for (int i = 0; i < n->n_inputs; ++i) {
    out.emplace_back(n->input(i), n->input_output(i));  // the reference moves
    n->inputs[i] = 0;
  }
  n->n_inputs = 0;
}

std::mutex& engine_mutex() {
  static constinit std::mutex mutex;
  return mutex;
}

std::int64_t live_nodes() noexcept {
  const std::lock_guard lock(live_counts.mutex);
  std::int64_t total = live_counts.ended.load(std::memory_order_relaxed);
  for (const LiveCount* c = live_counts.first; c != nullptr; c = c->next) total += c->value.load(std::memory_order_relaxed);
  return total;
}

}  // namespace tarry::graph
