// Chunks: evaluating what does not fit in memory piece by piece, by the kernels that evaluate it whole.
//
// Each piece is a slice of the graph (graph/slices/slices.h), evaluated like any other graph: pieces of equal extents
// share a plan. Where the axis ends, a piece gives a partial state, of a reduction that of an aligned subtree of tree R
// (docs/reference/numerics.md), and the states combine in the order of the definition (piece_folds.h): the bits are
// those of one kernel over everything. Results that have the axis are collected in host memory, or handed on as they
// come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tarry/plan.h>

#include "graph/graph.h"
#include "runtime/device/backend.h"

namespace tarry::runtime {

/// Takes the elements of one result, row-major, in pieces of any order. Throws what the evaluate is to throw.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::size_t offset, const void* data, std::size_t bytes) = 0;
};

/// The work to evaluate: a graph as it was recorded, with what it runs on.
struct ChunkedWork {
  const graph::Graph& graph;
  const std::vector<std::shared_ptr<graph::Storage>>& leaves;
  const std::vector<graph::ScalarCell>& cells;
  Backend& backend;
  Where where;             ///< of the evaluate
  std::size_t needed = 0;  ///< bytes of memory that it takes as one piece
  Sink* sink = nullptr;    ///< of the only root, whose value is then not kept
};

struct ChunkedValues {
  std::vector<std::shared_ptr<graph::Storage>> roots;  ///< their values, whole
  Counters counters;
  std::string interpreted;  ///< why kernels were, or empty
};

/// Throws OutOfMemory where even pieces do not fit, saying what keeps them from being smaller. Publishes nothing.
ChunkedValues evaluate_in_chunks(const ChunkedWork& work);

}  // namespace tarry::runtime
