// Singular values and what is made of them, by eigenvalues of the symmetric matrix [[0, x], [x^T, 0]]: they are the
// singular values and their negatives, each within a rounding error of the largest.
#include <tarry/create.h>
#include <tarry/linalg.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/type_info.h>
#include <tarry/views.h>
#include <tarry/windows.h>

#include <algorithm>
#include <vector>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Edge;
using graph::mapped;
using graph::Op;

/// A stack of matrices, its extents and the dtype of results.
class Stack {
 public:
  Stack(const char* op, const Array& x, std::source_location where) : op_(op), where_(where) {
    const Edge e = detail::edge(x, op, where);
    graph::check_rank(op, e, 2, where);
    dtype_ = is_floating(e.node()->dtype) ? e.node()->dtype : float64;
    x_ = graph::record_cast(e, dtype_, where);
    const auto shape = e.node()->shape();
    front_.assign(shape.begin(), shape.end() - 2);
    m = shape[shape.size() - 2];
    n = shape[shape.size() - 1];
  }

  /// The lower triangle of [[0, x], [x^T, 0]].
  [[nodiscard]] Array doubled() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> widths(front_.size() + 2, {0, 0});
    widths[front_.size()] = {m, 0};
    widths[front_.size() + 1] = {0, n};
    return pad(matrix_transpose(detail::wrap(x_), where_), widths, Pad::Constant, 0, where_);
  }
  /// The singular values of all matrices, descending.
  [[nodiscard]] Edge values() const {
    const std::int64_t count = std::min(m, n);
    if (count == 0) {
      std::vector<std::int64_t> shape = front_;
      shape.push_back(0);
      return detail::edge(zeros(shape, dtype_, where_), op_, where_);
    }
    const Edge all = detail::edge(linalg::eigvalsh(doubled(), where_), op_, where_);
    const int axis = static_cast<int>(front_.size());
    const Edge largest = graph::cut(all, axis, m + n - 1, count, where_, -1);
    return mapped(Op::Maximum, largest, 0, where_);
  }
  /// A singular value counts for nothing below this: of sizes along the last axis, which is kept.
  [[nodiscard]] Edge bound(const Edge& sizes, const linalg::RankOptions& options) const {
    const Edge most = largest(sizes);
    if (!options.rtols.is_defined()) {
      const double eps = finfo(graph::float_for_computing(dtype_)).eps;
      return mapped(Op::Multiply, most, options.rtol.value_or(static_cast<double>(std::max(m, n)) * eps), where_);
    }
    const Edge given = detail::edge(options.rtols, op_, where_);
    const graph::Dims shape(given.node()->shape());
    if (!is_floating(given.node()->dtype) || shape.size() > static_cast<int>(front_.size()))
      TARRY_THROW(InvalidArgument, std::string(op_), Where(where_),
                  "rtols are floats, one of each matrix or fewer (given " + graph::Typed(given).str() + " beside " +
                      graph::Typed(x_).str() + ")");
    return mapped(Op::Multiply, most,
                  graph::with_axis(graph::record_cast(given, most.node()->dtype, where_), shape.size(), where_), where_,
                  op_);
  }
  /// Largest of the elements along the last axis, kept.
  [[nodiscard]] Edge largest(const Edge& x) const {
    return detail::edge(max(detail::wrap(x), -1, {.keepdims = true}, where_), op_, where_);
  }
  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] bool is_empty() const { return m == 0 || n == 0; }
  [[nodiscard]] const std::vector<std::int64_t>& front() const { return front_; }

  std::int64_t m = 0, n = 0;

 private:
  const char* op_;
  std::source_location where_;
  Dtype dtype_ = float64;
  Edge x_;
  std::vector<std::int64_t> front_;
};

}  // namespace

namespace linalg {

Array svdvals(const Array& x, std::source_location where) try {
  return detail::wrap(Stack("svdvals", x, where).values());
}
TARRY_OR_OUT_OF_MEMORY("svdvals", where)

Array matrix_rank(const Array& x, const RankOptions& options, std::source_location where) try {
  const Stack matrices("matrix_rank", x, where);
  if (matrices.is_empty()) return zeros(matrices.front(), int64, where);
  const Edge values = matrices.values();
  const Array counted =
      detail::wrap(mapped(Op::Greater, values, matrices.bound(values, options), where, "matrix_rank"));
  return count_nonzero(counted, -1, {}, where);
}
TARRY_OR_OUT_OF_MEMORY("matrix_rank", where)

Array pinv(const Array& x, const RankOptions& options, std::source_location where) try {
  const Stack matrices("pinv", x, where);
  if (matrices.is_empty()) return matrix_transpose(astype(x, matrices.dtype(), where), where);
  const Eigh parts = eigh(matrices.doubled(), where);
  const Edge values = detail::edge(parts.eigenvalues, "pinv", where), size = mapped(Op::Abs, values, where);
  const Edge counts = mapped(Op::Greater, size, matrices.bound(size, options), where, "pinv");
  const Edge zero = graph::record_scalar(0, values.node()->dtype, "pinv", where);
  const Edge inverse = graph::chosen(counts, mapped(Op::Reciprocal, values, where), zero, where);
  const Edge vectors = detail::edge(parts.eigenvectors, "pinv", where);
  const int rows = static_cast<int>(matrices.front().size());
  const Array left = detail::wrap(graph::cut(vectors, rows, 0, matrices.m, where));
  const Edge right = graph::cut(vectors, rows, matrices.m, matrices.n, where);
  const Edge scaled = mapped(Op::Multiply, right, graph::with_axis(inverse, rows, where), where, "pinv");
  return matmul(detail::wrap(scaled), matrix_transpose(left, where), where);
}
TARRY_OR_OUT_OF_MEMORY("pinv", where)

}  // namespace linalg
}  // namespace v0
}  // namespace tarry
