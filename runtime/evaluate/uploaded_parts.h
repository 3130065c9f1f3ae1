// Evaluation in two parts: what makes operands smaller on the host, and the rest over what was brought
// (plan/partial_upload.h).
#pragma once

#include <memory>
#include <vector>

#include <tarry/plan.h>

#include "graph/graph.h"
#include "runtime/device/backend.h"
#include "runtime/plan/partial_upload.h"

namespace tarry::runtime {

struct UploadWork {
  const graph::Graph& graph;
  const std::vector<std::shared_ptr<graph::Storage>>& leaves;
  const std::vector<graph::ScalarCell>& cells;
  Backend& backend;
  Where where;
};

struct UploadedValues {
  std::vector<std::shared_ptr<graph::Storage>> roots;
  Counters counters;
  std::vector<Transfer> transfers;
};

/// Evaluates the roots of the graph. Publishes nothing.
UploadedValues evaluate_partial_upload(const UploadWork& work, const PartialUpload& upload);

/// The graph that would be evaluated, without evaluating it.
struct UploadGraphs {
  std::vector<graph::Edge> on_host, rest;
  std::vector<std::shared_ptr<graph::Storage>> kept;  ///< what stays with leaves
  Counters counters;                                  ///< of what crosses between the two
};
UploadGraphs plan_partial_upload(const UploadWork& work, const PartialUpload& upload);

}  // namespace tarry::runtime
