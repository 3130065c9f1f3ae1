// Functions that are replayed: their traces, least recently used out first.
#include <tarry/replay.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>

#include "graph/record/record.h"
#include "runtime/evaluate/auto_evaluate.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/trace.h"
#include "support/out_of_memory.h"
#include "support/shared.h"

namespace tarry {
inline namespace v0 {
namespace detail {
namespace {

using graph::Edge;
using runtime::Trace;
using runtime::TracedCall;

class TracesImpl final : public Shared::Object {
 public:
  explicit TracesImpl(std::size_t most) : most_(std::max<std::size_t>(1, most)) {}

  std::shared_ptr<const Trace> find(const TracedCall& call) {
    const std::lock_guard lock(mutex_);
    for (auto it = traces_.begin(); it != traces_.end(); ++it) {
      if (!(*it)->fits(call)) continue;
      traces_.splice(traces_.begin(), traces_, it);
      return traces_.front();
    }
    return nullptr;
  }
  void insert(std::shared_ptr<const Trace> trace) {
    std::list<std::shared_ptr<const Trace>> evicted;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    traces_.push_front(std::move(trace));
    while (traces_.size() > most_) evicted.splice(evicted.end(), traces_, std::prev(traces_.end()));
  }
  std::atomic<std::int64_t> count{0};

 private:
  std::mutex mutex_;
  const std::size_t most_;
  std::list<std::shared_ptr<const Trace>> traces_;
};

/// The function itself: what it draws is drawn from the generators of the call.
Traced called(std::span<const Edge> arguments, std::span<random::Generator* const> generators, const TracedBody& body,
              Where where) {
  std::vector<Array> arrays;
  for (const Edge& e : arguments) arrays.push_back(wrap(e));
  std::vector<random::Generator> copies;
  for (const random::Generator* const g : generators) copies.push_back(*g);
  Traced done = body(arrays, copies);
  runtime::require_unwritten(arrays, arguments, where);
  for (std::size_t i = 0; i < copies.size(); ++i) *generators[i] = copies[i];
  return done;
}

/// Arrays that are not Scalars get their values.
void evaluate_arguments(std::span<const Edge> arguments, Where where) {
  std::vector<Edge> lazy;
  for (const Edge& e : arguments)
    if (e.node()->op != graph::Op::Scalar && e.node()->state.load(std::memory_order_acquire) != graph::State::Ready)
      lazy.push_back(e);
  runtime::evaluate_by_device(lazy, where);
}

Traced run(const Trace& trace, const TracedCall& call, std::span<const Edge> arguments) {
  try {
    return trace.run(call);
  } catch (const OutOfMemory&) {
    if (!runtime::evaluate_pending(arguments, call.where)) throw;
  }
  return trace.run(call);
}

}  // namespace

Traces::Traces(std::size_t most) : impl_(new TracesImpl(most)) {}

std::int64_t Traces::count() const noexcept { return static_cast<const TracesImpl&>(*impl_.get()).count.load(); }

Traced Traces::call(std::span<const Array* const> arguments, std::span<random::Generator* const> generators,
                    std::span<const std::uint64_t> structure, const TracedBody& body, Where where) const try {
  auto& traces = const_cast<TracesImpl&>(static_cast<const TracesImpl&>(*impl_.get()));
  std::vector<Edge> edges;
  edges.reserve(arguments.size());
  bool inside = graph::Tracing::here() != nullptr;
  for (const Array* const x : arguments) {
    edges.push_back(edge(*x, "replay", where));
    inside = inside || edges.back().node()->traced || edges.back().node()->in_loop;
  }
  if (inside) return called(edges, generators, body, where);
  evaluate_arguments(edges, where);
  const TracedCall call{edges, generators, structure, where};
  std::shared_ptr<const Trace> trace = traces.find(call);
  if (!trace) {
    trace = std::make_shared<const Trace>(call, body);
    traces.count.fetch_add(1, std::memory_order_relaxed);
    traces.insert(trace);
  }
  if (!trace->one_stream(call)) return called(edges, generators, body, where);
  return run(*trace, call, edges);
}
TARRY_OR_OUT_OF_MEMORY("replay", where)

}  // namespace detail
}  // namespace v0
}  // namespace tarry
