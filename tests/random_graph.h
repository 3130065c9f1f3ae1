// Random graphs in which everything meets that fusion tells apart.
#pragma once

#include <random>
#include <vector>

#include "tests/graph_maker.h"

namespace tarry::test {

using graph::AxisMap;
using graph::IndexMap;

/// A random graph of whole numbers: maps, views, updates, reshapes, reductions and rows.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed, int fewest = 3, int most = 14) : random_(seed) {
    for (int d = 0, rank = pick(1, 3); d < rank; ++d) shape_.push_back(pick(0, 9) == 0 ? 1 : pick(2, 40));
    for (int i = 0; i < 3; ++i) pool_.push_back(m.leaf(shape_));
    if (shape_.size() == 2) pool_.push_back(m.transposed_leaf(shape_[0], shape_[1], pick(0, 3)));
    for (int i = 0, n = pick(fewest, most); i < n; ++i) pool_.push_back(draw());
    m.g.roots.push_back(pool_.back());
    for (int i = pick(0, 2); i > 0; --i) m.g.roots.push_back(any());
    graph::verify(m.g);
  }

  Maker m;

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  GraphEdge any() { return pool_[static_cast<std::size_t>(pick(0, static_cast<int>(pool_.size()) - 1))]; }

  /// Every value of the pool has the shape `shape_`, so that all of them meet.
  GraphEdge draw() {
    switch (pick(0, 9)) {
      case 0:
      case 1:
        return update(true);
      case 2:
        return update(false);
      case 3:
        return reversed(any());
      case 4:
        return reshaped();
      case 5:
      case 6:
        return row();
      case 7:
        return m.map(Op::Where, {m.map(Op::Less, {any(), any()}, bool_), any(), any()}, float64);
      default:
        return m.map(pick(0, 1) ? Op::Maximum : Op::Subtract, {any(), any()});
    }
  }

  GraphEdge update(bool dense) {
    Dims start, step, extents;
    IndexMap box;
    for (int d = 0; d < shape_.size(); ++d) {
      const std::int64_t n = shape_[d], s = dense || n == 1 ? 1 : pick(1, 3) * (pick(0, 1) ? 1 : -1);
      const std::int64_t from = pick(0, static_cast<int>(n) - 1);
      const std::int64_t most = s > 0 ? (n - 1 - from) / s + 1 : from / -s + 1;
      extents.push_back(pick(0, 3) == 0 ? most : pick(1, static_cast<int>(most)));
      start.push_back(from);
      step.push_back(s);
      box.push_back({d, pick(0, static_cast<int>(n - extents[d])), 1});
    }
    GraphEdge base = any(), whole = pick(0, 2) ? m.map(Op::Negative, {any()}) : any();
    // Memory that a scatter may go on with is a contiguous leaf's or a kernel's.
    const Op op = m.g.nodes[base.node].op;
    if (!dense && (op == Op::View || op == Op::Input)) base = m.map(Op::Negative, {base});
    return m.update(base, m.view(whole, box, extents), start, step);
  }

  GraphEdge reversed(GraphEdge x) {
    IndexMap map;
    for (int d = 0; d < shape_.size(); ++d)
      map.push_back(shape_[d] > 1 && pick(0, 1) ? AxisMap{d, shape_[d] - 1, -1} : AxisMap{d, 0, 1});
    return m.view(x, map, shape_);
  }

  /// Through one dimension and back, with something in between. A reshape stands on what fusion may find below one.
  GraphEdge reshaped() {
    const GraphEdge flat = m.reshape(m.map(Op::Negative, {any()}), {graph::element_count(shape_.span())});
    IndexMap back;
    back.push_back({0, m.shape(flat)[0] - 1, -1});
    const GraphEdge turned = m.map(Op::Negative, {m.view(flat, back, m.shape(flat))});
    return m.reshape(turned, shape_);
  }

  GraphEdge row() {
    const int axis = pick(0, shape_.size() - 1);
    static constexpr Op kOps[] = {Op::Sum, Op::Max, Op::Min, Op::ArgMax, Op::ArgMin};
    const Op op = kOps[pick(0, 4)];
    GraphEdge r = m.reduce(op, any(), axis);
    if (graph::is_arg_reduce(op)) r = m.map(Op::Cast, {r}, float64);
    return m.map(Op::Subtract, {m.keep(r, axis), any()});
  }

  std::mt19937 random_;
  Dims shape_;
  std::vector<GraphEdge> pool_;
};

}  // namespace tarry::test
