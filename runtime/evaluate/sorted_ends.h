// The first or the last elements of sorted rows, of pieces of the rows: those of a piece are among those of the whole,
// or are not read. Equal elements keep their order, since those of earlier pieces stand first.
#pragma once

#include "runtime/evaluate/piece_folds.h"

namespace tarry::runtime {

class SortedEnds final : public PieceFold {
 public:
  SortedEnds(const graph::Slicer& slicer, const graph::Cut& cut, EvaluateEdges evaluate);

  [[nodiscard]] PartialState record(std::span<const graph::Edge> operands, std::int64_t at,
                                    std::int64_t count) override;
  void take(PartialState state) override;
  [[nodiscard]] PartialState total() override;

 private:
  /// Elements of rows, in order; of an Argsort also their places in the whole rows.
  struct Rows {
    graph::Edge values, places;
  };
  [[nodiscard]] graph::Edge node(graph::Op op, Dtype dtype, const graph::Dims& shape,
                                 std::span<const graph::Edge> inputs, const graph::AttributeBytes& attributes) const;
  [[nodiscard]] graph::Edge end_of(const graph::Edge& sorted) const;
  [[nodiscard]] graph::Edge taken(const graph::Edge& rows, const graph::Edge& places) const;
  [[nodiscard]] graph::Edge joined(const graph::Edge& a, const graph::Edge& b) const;
  [[nodiscard]] graph::Edge zeros(const graph::Dims& shape) const;
  [[nodiscard]] Rows ends_of(const Rows& rows) const;

  const graph::Slicer& slicer_;
  const graph::NodeId view_;
  const graph::RowEnds ends_;
  const EvaluateEdges evaluate_;
  PartialState found_;
};

}  // namespace tarry::runtime
