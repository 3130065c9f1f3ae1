// What stands behind the public Plan and Report handles.
#pragma once

#include <tarry/plan.h>

#include <span>
#include <string>
#include <vector>

#include "runtime/compiled_plan.h"
#include "support/shared.h"

namespace tarry {
inline namespace v0 {

struct Plan::Impl : detail::Shared::Object {
  Counters counters;
  std::vector<Unfused> unfused;
  std::vector<std::string> sources;
  std::string text;
};

struct Report::Impl : detail::Shared::Object {
  Counters counters;
  Seconds seconds;
  std::vector<Unfused> unfused;
  std::string device;
};

}  // namespace v0
}  // namespace tarry

namespace tarry::runtime {

/// "multiply float32 (4,) at main.cpp:12; ...": what the first nodes of a graph do, for messages.
std::string describe_ops(const graph::Graph& g);
std::string describe_ops(const graph::Graph& g, std::span<const graph::NodeId> nodes);
std::vector<Unfused> describe_unfused(const CompiledPlan& plan, const graph::Snapshot& snapshot);
Plan describe_plan(const CompiledPlan& plan, const graph::Snapshot& snapshot);

}  // namespace tarry::runtime
