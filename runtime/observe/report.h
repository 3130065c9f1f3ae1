// The data behind the public Plan and Report handles.
#pragma once

#include <tarry/plan.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/compiled_plan.h"
#include "support/recycle.h"
#include "support/shared.h"

namespace tarry {
inline namespace v0 {

struct Plan::Impl : detail::Shared::Object {
  Counters counters;
  std::vector<Unfused> unfused;
  std::vector<Placement> placements;
  std::vector<Stored> stored;
  std::string interpreted;
  std::vector<std::string> sources;
  std::string text;
};

/// Numbers, and what texts are made from when somebody asks.
struct Report::Impl : detail::Shared::Object, support::Recycled {
  using support::Recycled::operator new;
  using support::Recycled::operator delete;
  struct Edge {
    graph::Op producer, consumer;
    Where produced, consumed;
    graph::Reason reason;
    std::shared_ptr<const std::string> own_code;  ///< what the producer is called, where it is code of the user's
  };
  struct Kept {
    graph::Op op;
    Where where;
    std::int64_t bytes;
    std::string_view reason;  ///< one of the words below
  };
  Counters counters;
  Seconds seconds;
  Device device;
  std::string interpreted;
  std::size_t needed = 0, room = 0;  ///< bytes, where it was worked off in chunks: in one piece, and there were
  std::vector<Transfer> transfers;
  std::shared_ptr<const std::vector<Placement>> placements;  ///< null where there are none
  std::vector<Edge, support::Recycler<Edge>> edges;          ///< that went through memory
  std::vector<Kept, support::Recycler<Kept>> kept;           ///< stored besides
  const std::vector<Unfused>& unfused() const;
  const std::vector<Stored>& stored() const;

 private:
  mutable std::mutex mutex_;  // guards what is rendered once it is asked for
  mutable std::unique_ptr<const std::vector<Unfused>> unfused_;
  mutable std::unique_ptr<const std::vector<Stored>> stored_;
};

}  // namespace v0
}  // namespace tarry

namespace tarry::runtime {

/// The reason of an edge from code of the user's.
inline constexpr std::string_view kUser = "user";
/// The reasons of what is stored besides.
inline constexpr std::string_view kSecondUse = "second-use", kSameMemory = "same-memory";

/// "multiply float32 (4,) at main.cpp:12; ...": what the first nodes of a graph do, for messages.
std::string describe_ops(const graph::Graph& g);
std::string describe_ops(const graph::Graph& g, std::span<const graph::NodeId> nodes);
/// Adds what kernels of another evaluate did, but for how many different ones there are, and what crossed for them.
void add_work(Counters& to, const Counters& c);
void add_transfers(Counters& to, const Counters& c);
/// `done` is of other graphs that give the results of one, of which `whole` are the counters: what they say of the
/// graph stays.
void keep_graph_counters(const Counters& whole, Counters& done);
/// Readers of values that code of the user's makes.
std::vector<Unfused> edges_of_own_code(const graph::Snapshot& snapshot);
Plan describe_plan(const CompiledPlan& plan, const graph::Snapshot& snapshot);

}  // namespace tarry::runtime
