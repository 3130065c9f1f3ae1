// Evaluation in two parts: what makes operands smaller on the host, and the rest over what was brought
// (plan/hoisting.h).
#pragma once

#include <memory>
#include <vector>

#include <tarry/plan.h>

#include "graph/graph.h"
#include "runtime/device/backend.h"
#include "runtime/plan/hoisting.h"

namespace tarry::runtime {

struct HoistedWork {
  const graph::Graph& graph;
  const std::vector<std::shared_ptr<graph::Storage>>& leaves;
  const std::vector<graph::ScalarCell>& cells;
  Backend& backend;
  Where where;
};

struct HoistedValues {
  std::vector<std::shared_ptr<graph::Storage>> roots;
  Counters counters;
  std::vector<Transfer> transfers;
};

/// Evaluates the roots of the graph. Publishes nothing.
HoistedValues evaluate_hoisted(const HoistedWork& work, const Hoisting& hoisting);

/// The graph that would be evaluated, without evaluating it.
struct HoistedGraphs {
  std::vector<graph::Edge> on_host, rest;
  std::vector<std::shared_ptr<graph::Storage>> kept;  ///< what stays with leaves
  Counters counters;                                  ///< of what crosses between the two
};
HoistedGraphs plan_hoisted(const HoistedWork& work, const Hoisting& hoisting);

}  // namespace tarry::runtime
