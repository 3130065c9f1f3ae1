// The algorithms of codegen/cuda/matrix_text.h without branches: rows that may change places are chosen.
#include "graph/record/small_matrices.h"

#include <limits>

#include "support/check.h"

namespace tarry::graph {
namespace {

/// The matrix that an algorithm works on.
struct Table {
  int rows = 0, columns = 0;
  Elements elements;
  Table(int r, int c, Elements e) : rows(r), columns(c), elements(std::move(e)) {}
  Table(int r, int c, const Edge& e) : Table(r, c, Elements(static_cast<std::size_t>(r * c), e)) {}
  [[nodiscard]] Edge& at(int r, int c) { return elements[static_cast<std::size_t>(r * columns + c)]; }
  [[nodiscard]] const Edge& at(int r, int c) const { return elements[static_cast<std::size_t>(r * columns + c)]; }
};

class SmallMatrix {
 public:
  SmallMatrix(ElementOps& ops, Dtype dtype)
      : ops_(ops),
        zero_(ops.number(0, dtype)),
        one_(ops.number(1, dtype)),
        none_(ops.number(-1, dtype)),
        lost_(ops.number(std::numeric_limits<double>::quiet_NaN(), dtype)) {}

  /// The solutions of a x = b.
  [[nodiscard]] Table solved(const Table& a, const Table& b) {
    Table w(a.rows, a.columns + b.columns, zero_);
    for (int r = 0; r < w.rows; ++r)
      for (int c = 0; c < w.columns; ++c) w.at(r, c) = c < a.columns ? a.at(r, c) : b.at(r, c - a.columns);
    eliminate(w);
    substitute(w);
    Table x(b.rows, b.columns, zero_);
    for (int r = 0; r < x.rows; ++r)
      for (int c = 0; c < x.columns; ++c) x.at(r, c) = w.at(r, a.columns + c);
    return x;
  }
  [[nodiscard]] Table identity(int n) const {
    Table all(n, n, zero_);
    for (int k = 0; k < n; ++k) all.at(k, k) = one_;
    return all;
  }
  [[nodiscard]] Table pivots(Table w) {
    const Elements exchanges = eliminate(w);
    Table all(1, w.rows, zero_);
    for (int k = 0; k < w.rows; ++k) all.at(0, k) = w.at(k, k);
    if (exchanges.empty()) return all;
    Edge negative = exchanges.front();
    for (std::size_t k = 1; k < exchanges.size(); ++k) negative = ops_(Op::LogicalXor, {negative, exchanges[k]});
    all.at(0, 0) = ops_.chosen(negative, ops_(Op::Negative, {w.at(0, 0)}), w.at(0, 0));
    return all;
  }
  [[nodiscard]] Table cholesky(Table w) {
    const int n = w.rows;
    Edge definite;
    for (int k = 0; k < n; ++k) {
      const Edge pivot = ops_(Op::Sqrt, {w.at(k, k)});
      const Edge fits = ops_(Op::LogicalAnd, {ops_(Op::Greater, {pivot, zero_}), ops_(Op::Isfinite, {pivot})});
      definite = k == 0 ? fits : ops_(Op::LogicalAnd, {definite, fits});
      w.at(k, k) = pivot;
      for (int i = k + 1; i < n; ++i) w.at(i, k) = ops_(Op::Divide, {w.at(i, k), pivot});
      for (int j = k + 1; j < n; ++j)
        for (int i = j; i < n; ++i) w.at(i, j) = less(w.at(i, j), w.at(i, k), w.at(j, k));
    }
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) w.at(r, c) = c > r ? zero_ : ops_.chosen(definite, w.at(r, c), lost_);
    return w;
  }

 private:
  /// x - a b.
  [[nodiscard]] Edge less(const Edge& x, const Edge& a, const Edge& b) {
    return ops_(Op::Subtract, {x, ops_(Op::Multiply, {a, b})});
  }

  /// The elements from the diagonal on become the upper factor, and columns behind it what belongs to that. Returns for
  /// each column but the last one if rows change places. NaNs are smaller than all numbers.
  Elements eliminate(Table& w) {
    Elements exchanges;
    for (int k = 0; k < w.rows; ++k) {
      if (k + 1 < w.rows) exchanges.push_back(exchange(w, k));
      const Edge& pivot = w.at(k, k);
      const Edge nothing = ops_(Op::Equal, {pivot, zero_});
      for (int i = k + 1; i < w.rows; ++i) {
        const Edge factor = ops_.chosen(nothing, zero_, ops_(Op::Divide, {w.at(i, k), pivot}));
        for (int j = k + 1; j < w.columns; ++j) w.at(i, j) = less(w.at(i, j), factor, w.at(k, j));
      }
    }
    return exchanges;
  }

  /// Row k changes places with the first one from k on whose element of column k is largest.
  Edge exchange(Table& w, int k) {
    const Edge size = ops_(Op::Abs, {w.at(k, k)});
    Edge most = ops_.chosen(ops_(Op::Isnan, {size}), none_, size);
    Elements larger(static_cast<std::size_t>(w.rows), zero_), taken = larger;  // than rows before; the last that is
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (int i = k + 1; i < w.rows; ++i) {
      const Edge other = ops_(Op::Abs, {w.at(i, k)});
      larger[at(i)] = ops_(Op::Greater, {other, most});
      if (i + 1 < w.rows) most = ops_.chosen(larger[at(i)], other, most);
    }
    Edge later = taken[at(w.rows - 1)] = larger[at(w.rows - 1)];
    for (int i = w.rows - 2; i > k; --i) {
      taken[at(i)] = ops_(Op::LogicalAnd, {larger[at(i)], ops_(Op::LogicalNot, {later})});
      later = ops_(Op::LogicalOr, {later, larger[at(i)]});
    }
    for (int j = k; j < w.columns; ++j) {
      const Edge above = w.at(k, j);
      for (int i = k + 1; i < w.rows; ++i) {
        Edge& here = w.at(i, j);
        w.at(k, j) = ops_.chosen(taken[at(i)], here, w.at(k, j));
        here = ops_.chosen(taken[at(i)], above, here);
      }
    }
    return later;
  }

  /// Columns behind the upper factor become its solutions.
  void substitute(Table& w) {
    for (int k = w.rows - 1; k >= 0; --k) {
      for (int j = w.rows; j < w.columns; ++j) {
        w.at(k, j) = ops_(Op::Divide, {w.at(k, j), w.at(k, k)});
        for (int i = 0; i < k; ++i) w.at(i, j) = less(w.at(i, j), w.at(i, k), w.at(k, j));
      }
    }
  }

  ElementOps& ops_;
  const Edge zero_, one_, none_, lost_;
};

}  // namespace

Elements matrix_elements(ElementOps& ops, const Node& n, const Elements& matrix, const Elements& right) {
  const auto rows = static_cast<int>(n.input(0)->shape()[1]);
  SmallMatrix all(ops, n.dtype);
  Table a(rows, rows, matrix);
  switch (n.op) {
    case Op::Solve: return all.solved(a, Table(rows, static_cast<int>(n.shape()[2]), right)).elements;
    case Op::Inverse: return all.solved(a, all.identity(rows)).elements;
    case Op::Pivots: return all.pivots(std::move(a)).elements;
    default: TARRY_ASSERT(n.op == Op::Cholesky); return all.cholesky(std::move(a)).elements;
  }
}

}  // namespace tarry::graph
