// Values before each piece of a scan along the axis: the subtrees of tree R before it, folded from the largest, as
// docs/reference/numerics.md writes the offset of a block.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "runtime/evaluate/piece_folds.h"

namespace tarry::runtime {

/// A fold whose states are the totals of pieces, a power of two of tree blocks long. It tells the slicer what comes
/// before the piece that is expected, and has no value of its own.
class ScanCarry final : public PieceFold {
 public:
  ScanCarry(graph::Slicer& slicer, graph::NodeId scan, EvaluateEdges evaluate)
      : slicer_(slicer), scan_(scan), evaluate_(std::move(evaluate)) {}

  void expect(std::int64_t at) override;
  [[nodiscard]] PartialState record(std::span<const graph::Edge> operands, std::int64_t at,
                                    std::int64_t count) override;
  void start(PartialState& state) override;
  void take(PartialState) override {}
  [[nodiscard]] PartialState total() override { return {}; }

 private:
  [[nodiscard]] graph::Dims shape() const;
  [[nodiscard]] graph::Edge joined(const graph::Edge& a, const graph::Edge& b, std::int64_t before);

  graph::Slicer& slicer_;
  const graph::NodeId scan_;
  const EvaluateEdges evaluate_;
  std::int64_t pieces_ = 0;
  std::vector<graph::Edge> stack_;                            ///< aligned subtrees so far, the largest first; lazy
  std::deque<std::pair<std::int64_t, graph::Edge>> waiting_;  ///< to be evaluated before the piece at an element
};

}  // namespace tarry::runtime
