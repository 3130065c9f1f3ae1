// Totals combine lazily while pieces are recorded, and are evaluated pair by pair, each before the piece that needs it.
#include "runtime/evaluate/scan_carry.h"

namespace tarry::runtime {

using graph::Dims;
using graph::Edge;

Dims ScanCarry::shape() const {
  const graph::Graph& g = slicer_.graph();
  Dims shape = g.shape(scan_);
  shape.erase(g.reduces[g.nodes[scan_].payload].axis);
  return shape;
}

Edge ScanCarry::joined(const Edge& a, const Edge& b, std::int64_t before) {
  const graph::GraphNode& n = slicer_.graph().nodes[scan_];
  const Edge both[] = {a, b};
  Edge e = slicer_.node(n, graph::join_of_scan(n.op), n.dtype, shape(), both);
  waiting_.emplace_back(before, e);
  return e;
}

void ScanCarry::expect(std::int64_t at) {
  Edge before;
  if (at > 0 && !evaluate_) {
    before = stand_in(slicer_.graph().nodes[scan_].dtype, shape(), slicer_.device());
  } else if (at > 0) {
    before = stack_.front();
    for (std::size_t i = 1; i < stack_.size(); ++i) before = joined(before, stack_[i], at);
  }
  slicer_.carry(scan_, at, std::move(before));
}

PartialState ScanCarry::record(std::span<const Edge> operands, std::int64_t at, std::int64_t count) {
  const graph::Graph& g = slicer_.graph();
  const graph::GraphNode& n = g.nodes[scan_];
  Edge total = slicer_.node(n, graph::total_of_scan(n.op), n.dtype, shape(), operands, encode(g.reduces[n.payload]));
  const PartialState state{total, {}, at, count, {}};
  for (std::int64_t p = ++pieces_; p % 2 == 0; p /= 2) {
    total = joined(stack_.back(), total, at + count);
    stack_.pop_back();
  }
  stack_.push_back(std::move(total));
  return state;
}

void ScanCarry::start(PartialState& state) {
  for (; !waiting_.empty() && waiting_.front().first <= state.at; waiting_.pop_front())
    evaluate_({&waiting_.front().second, 1});
}

}  // namespace tarry::runtime
