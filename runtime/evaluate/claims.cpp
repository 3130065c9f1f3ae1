// Claims of all threads in one list, and what becomes of claimed nodes.
#include "runtime/evaluate/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <new>
#include <thread>
#include <utility>

#include "graph/call.h"
#include "graph/pending.h"
#include "runtime/evaluate/reading.h"
#include "support/check.h"
#include "support/fork.h"
#include "support/recycle.h"

namespace tarry::runtime {
namespace {

using graph::Node;
using graph::State;

/// Never destroyed: arrays in static storage may be evaluated at exit.
struct Claims {
  std::condition_variable resolved;  ///< a claimed node became ready, failed or lazy again
  Claim* first = nullptr;            ///< of those that hold nodes
};
/// With engine_mutex().
Claims& claims() noexcept {
  alignas(Claims) static std::byte memory[sizeof(Claims)];
  static auto& all = *new (memory) Claims;
  return all;
}

thread_local constinit Waiting waiting;
const support::AtFork lost_at_fork([](void*) { Claim::fail_lost(); }, nullptr);

/// The node's Extra: its own, or the one that was made for its result.
graph::Extra& extra_of(Node* n, std::unique_ptr<graph::Extra>& made) noexcept {
  if (n->extra == nullptr) n->extra = made.release();
  return *n->extra;
}

}  // namespace

Claim::Claim(Run& run) noexcept : run_(run), nodes_(run.claimed), holder_(waiting) {}

Claim::~Claim() {
  if (nodes_.empty()) return;
  settle([](Node* n) noexcept { n->state.store(State::Lazy, std::memory_order_release); });
}

void Claim::take(Node* n) noexcept {
  if (nodes_.empty()) next_ = std::exchange(claims().first, this);
  nodes_.push_back(n);
  n->state.store(State::Claimed, std::memory_order_release);
}

void Claim::unlist() noexcept {
  Claim** at = &claims().first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

void Claim::wake() noexcept { claims().resolved.notify_all(); }

const Waiting* Claim::holder(const Node* n) noexcept {
  for (const Claim* c = claims().first; c != nullptr; c = c->next_)
    if (std::ranges::find(c->nodes_, n) != c->nodes_.end()) return &c->holder_;
  return nullptr;
}

Node* Claim::reader(const graph::Storage& s) noexcept {
  for (const Claim* c = claims().first; c != nullptr; c = c->next_)
    if (std::ranges::find(c->run_.borrowed, &s) != c->run_.borrowed.end()) return c->nodes_.front();
  return nullptr;
}

void Claim::fail_lost() noexcept {
  Claims& all = claims();
  new (&all.resolved) std::condition_variable;  // threads that it waits for are not here
  Claim** at = &all.first;
  while (*at != nullptr) {
    Claim& claim = **at;
    if (&claim.holder_ == &waiting) {
      at = &claim.next_;
      continue;
    }
    *at = claim.next_;
    for (graph::Storage* s : claim.run_.borrowed) s->readers.fetch_sub(1, std::memory_order_release);
    for (Node* n : claim.nodes_) {
      try {
        n->need_extra().error = std::make_exception_ptr(DeviceError(
            "fork", n->where(),
            "another thread was computing the array when this process was forked; fork while nothing is evaluated"));
      } catch (...) {  // no memory to say it: then it is computed anew, if nothing of its was overwritten
      }
      n->state.store(n->extra != nullptr && n->extra->error ? State::Failed : State::Lazy, std::memory_order_release);
    }
  }
}

namespace {

/// Runs the call that makes the value of an Input. `lock` is given up meanwhile.
void make_value(Node* input, std::unique_lock<std::mutex>& lock, Where where) {
  graph::retain(input);
  graph::Edge keep(input, 0);
  std::shared_ptr<graph::Call> call = input->extra->call;
  const std::uint32_t result = input->extra->call_result;
  lock.unlock();
  std::shared_ptr<graph::Storage> value = call->value(result, where);
  lock.lock();
  if (input->state.load(std::memory_order_acquire) == State::Lazy) {
    input->extra->results.push_back(std::move(value));
    input->extra->call.reset();  // `call` holds it still
    input->state.store(State::Ready, std::memory_order_release);
  }
  lock.unlock();  // `call` and `keep` may be the last owners: never dropped under the lock
  call.reset();
  keep = graph::Edge();
  lock.lock();
}

}  // namespace

void wait_for(Node* blocked, std::unique_lock<std::mutex>& lock, std::string_view op, Where where) {
  if (blocked->op == graph::Op::Input) return make_value(blocked, lock, where);
  const Waiting* by = Claim::holder(blocked);
  while (by != nullptr && by != &waiting && by->node != nullptr) by = Claim::holder(by->node);
  if (by == &waiting)
    TARRY_THROW(
        InvalidArgument, std::string(op), where,
        fmt::format(
            "{} {} {} at {} is being computed by the evaluate that called this callback; use it once that is done",
            graph::name(blocked->op), name(blocked->dtype), graph::to_string(blocked->shape()),
            blocked->where().str()));
  graph::retain(blocked);
  graph::Edge keep(blocked, 0);
  waiting.node = blocked;
  claims().resolved.wait(lock, [&] { return blocked->state.load(std::memory_order_acquire) != State::Claimed; });
  waiting.node = nullptr;
  lock.unlock();  // `keep` may be the last owner: never dropped under the lock
  keep = graph::Edge();
  lock.lock();
}

void wait_for_readers(const graph::Storage& s, std::unique_lock<std::mutex>& lock, std::string_view op, Where where) {
  while (s.readers.load(std::memory_order_acquire) != 0) {
    if (Node* const reader = Claim::reader(s)) {
      wait_for(reader, lock, op, where);
    } else if (Reading::is_here(s)) {
      TARRY_THROW(InvalidArgument, std::string(op), where,
                  "the memory is being read by the call that called this callback; touch it once that is done");
    } else {  // a read of another thread, or the end of an evaluate
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      lock.lock();
    }
  }
}

std::shared_ptr<graph::Storage> storage_of(std::shared_ptr<graph::Buffer> buffer, const graph::Dims& strides) {
  auto s = std::allocate_shared<graph::Storage>(support::Recycler<graph::Storage>());
  s->buffer = std::move(buffer);
  s->strides = strides;
  return s;
}

void add_result(Run& run, const std::shared_ptr<graph::Storage>& value) {
  const Node& n = *run.claimed[run.results.size()];
  run.dropped.reserve(run.claimed.size() * Node::kMaxInputs);
  // A reshaping of the same elements is a value of its own: strides belong to the node's shape.
  const graph::Dims strides = graph::row_major_strides(n.shape());
  auto made = std::make_unique<graph::Extra>();
  made->results.push_back(value->strides == strides ? value : storage_of(value->buffer, strides));
  made->results.back()->faults = value->faults;
  run.results.push_back(std::move(made));
}

void publish(Run& run, Claim& claim) noexcept {
  std::size_t at = 0;
  claim.settle([&](Node* n) noexcept {
    std::unique_ptr<graph::Extra>& made = run.results[at++];
    if (n->extra != nullptr) n->extra->results.swap(made->results);
    extra_of(n, made);
    graph::take_inputs(n, run.dropped);
    graph::pending::settled(n);
    n->state.store(State::Ready, std::memory_order_release);
  });
}

void fail(Run& run, Claim& claim, const std::exception_ptr& error) noexcept {
  for (const std::unique_ptr<graph::Extra>& made : run.results) made->results.clear();
  std::size_t at = 0;
  claim.settle([&](Node* n) noexcept {
    extra_of(n, run.results[at++]).error = error;
    n->state.store(State::Failed, std::memory_order_release);
  });
}

}  // namespace tarry::runtime
