// Random graphs in which everything meets that fusion tells apart.
#pragma once

#include <random>
#include <vector>

#include "tests/helpers/graph_maker.h"

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
    for (int i = pick(-1, 2); i > 0; --i) m.g.roots.push_back(apart());
    if (pick(0, 2) == 0) beside_rows();
    graph::verify(m.g);
  }

  Maker m;

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  GraphEdge any() { return pool_[static_cast<std::size_t>(pick(0, static_cast<int>(pool_.size()) - 1))]; }

  /// Every value of the pool has the shape `shape_`, so that all of them meet.
  GraphEdge draw() {
    switch (pick(0, 11)) {
      case 0:
      case 1: return update(true);
      case 2: return update(false);
      case 3: return reversed(any());
      case 4: return reshaped();
      case 5:
      case 6: return row();
      case 7: return m.map(Op::Where, {m.map(Op::Less, {any(), any()}, bool_), any(), any()}, float64);
      case 8: return spread();
      case 9: return of_nothing();
      default: return m.map(pick(0, 1) ? Op::Maximum : Op::Subtract, {any(), any()});
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

  GraphEdge reduced(int axis) {
    static constexpr Op kOps[] = {Op::Sum, Op::Max, Op::Min, Op::ArgMax, Op::ArgMin};
    const Op op = kOps[pick(0, 4)];
    const GraphEdge r = m.reduce(op, any(), axis);
    return graph::is_arg_reduce(op) ? m.map(Op::Cast, {r}, float64) : r;
  }

  GraphEdge row() {
    const int axis = pick(0, shape_.size() - 1);
    return m.map(Op::Subtract, {m.keep(reduced(axis), axis), any()});
  }

  /// The result of a reduction, at every point that it is of: a view of it, or of what follows it.
  GraphEdge spread() {
    const int axis = pick(0, shape_.size() - 1);
    GraphEdge r = reduced(axis);
    if (pick(0, 1)) r = m.map(Op::Negative, {r});
    if (pick(0, 1)) results_.push_back(r);
    return m.broadcast(m.keep(r, axis), shape_);
  }

  /// A root beside rows: of a reduction's own shape, where one thread may go over what it is of again, or of a larger
  /// shape than the pool's.
  GraphEdge apart() {
    const int axis = pick(0, shape_.size() - 1);
    const GraphEdge r = !results_.empty() && pick(0, 1)
                            ? results_[static_cast<std::size_t>(pick(0, static_cast<int>(results_.size()) - 1))]
                            : reduced(axis);
    if (pick(0, 1)) return m.map(Op::Add, {r, m.leaf(Dims::filled(std::max(m.shape(r).size(), 1), 1))});
    Dims larger = m.shape(r);
    larger.insert(0, pick(2, 5));
    return m.map(Op::Negative, {m.broadcast(r, larger)});
  }

  /// One result at every point that it is of and in a larger shape, and another one of the same points apart, in any
  /// order.
  void beside_rows() {
    const int axis = pick(0, shape_.size() - 1);
    const GraphEdge x = any(), follows = m.map(Op::Negative, {m.reduce(Op::Sum, x, axis)});
    Dims larger = m.shape(follows);
    larger.insert(0, 3);
    const GraphEdge results[] = {
        m.broadcast(m.keep(follows, axis), shape_), m.map(Op::Negative, {m.broadcast(follows, larger)}),
        m.map(Op::Add, {m.reduce(pick(0, 1) ? Op::Max : Op::Sum, pick(0, 1) ? x : any(), axis), m.leaf({1})})};
    const int first = pick(0, 2);
    for (int i = 0; i < 3; ++i) m.g.roots.push_back(results[(first + i) % 3]);
  }

  /// A sum or a product of no elements.
  GraphEdge of_nothing() {
    Dims none = shape_;
    const int axis = pick(0, shape_.size());
    none.insert(axis, 0);
    GraphEdge x = m.leaf(none);
    if (pick(0, 1)) x = m.map(Op::Subtract, {x, m.keep(any(), axis)});
    if (pick(0, 1)) x = m.reshape(m.map(Op::Negative, {x}), none);
    return m.reduce(pick(0, 1) ? Op::Sum : Op::Prod, x, axis);
  }

  std::mt19937 random_;
  Dims shape_;
  std::vector<GraphEdge> pool_;
  std::vector<GraphEdge> results_;  // of reductions, each in its own shape
};

}  // namespace tarry::test
