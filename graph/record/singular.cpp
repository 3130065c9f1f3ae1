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

#include "graph/record/orthogonal.h"
#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::mapped;
using graph::Op;

/// A stack of matrices, its extents and the dtype of results.
class Stack {
 public:
  Stack(const char* op, const Array& x, Where where) : op_(op), where_(where) {
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
    if (!is_floating(given.node()->dtype)) refuse_tolerances<InvalidDtype>(given);
    if (shape.size() > static_cast<int>(front_.size())) refuse_tolerances<InvalidShape>(given);
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
  template <class Kind>
  [[noreturn]] void refuse_tolerances(const Edge& given) const {
    TARRY_THROW(Kind, std::string(op_), where_,
                "rtols are floats, one of each matrix or fewer (given " + graph::Typed(given).str() + " beside " +
                    graph::Typed(x_).str() + ")");
  }

  const char* op_;
  Where where_;
  Dtype dtype_ = float64;
  Edge x_;
  std::vector<std::int64_t> front_;
};

/// True where r of qr() has the singular values in far fewer numbers.
bool is_long(std::int64_t m, std::int64_t n) { return m > 2 * n && n > 0; }

/// x, or a matrix of the same singular values that is not long, in the dtype that they are computed in.
Array shortened(const char* op, const Array& x, Where where) {
  graph::check_rank(op, detail::edge(x, op, where), 2, where);
  const Dims shape(detail::edge(x, op, where).node()->shape());
  const std::int64_t m = shape[shape.size() - 2], n = shape[shape.size() - 1];
  if (!is_long(m, n) && !is_long(n, m)) return x;
  const Dtype dtype = x.dtype(where);
  const Array computed = astype(x, graph::float_for_computing(is_floating(dtype) ? dtype : float64), where);
  const Array tall = m > n ? computed : matrix_transpose(computed, where);
  return graph::record_qr(op, tall, linalg::QrMode::Reduced, where).r;
}

/// The options for a matrix that stands for an (m, n) one.
linalg::RankOptions options_of(const Stack& whole, linalg::RankOptions options) {
  if (!options.rtol && !options.rtols.is_defined())
    options.rtol =
        static_cast<double>(std::max(whole.m, whole.n)) * finfo(graph::float_for_computing(whole.dtype())).eps;
  return options;
}

/// Columns of length 1 that are orthogonal, each in the direction of that of x where that is orthogonal to those before
/// it; with others behind them that make them a square matrix where `mode` says so.
Array orthogonal(const Array& x, linalg::QrMode mode, Where where) {
  const linalg::Qr parts = graph::record_qr("svd", x, mode, where);
  const Dims shape(detail::edge(x, "svd", where).node()->shape());
  const int last = shape.size() - 1;
  const std::int64_t columns = detail::edge(parts.q, "svd", where).node()->shape().back(), given = shape[last];
  const Array along = diagonal(parts.r, 0, -2, -1, where);
  const Array sign = tarry::where({less({along, where}, {0, where}), where}, {-1, where}, {1, where});
  const Array turned = detail::wrap(graph::with_axis(
      graph::record_cast(detail::edge(sign, "svd", where), detail::edge(x, "svd", where).node()->dtype, where),
      last - 1, where));
  const Edge q = detail::edge(parts.q, "svd", where);
  const Array first = multiply({detail::wrap(graph::cut(q, last, 0, given, where)), where}, {turned, where});
  if (columns == given) return first;
  return concat({first, detail::wrap(graph::cut(q, last, given, columns - given, where))}, last, where);
}

}  // namespace

namespace linalg {

Svd svd(const Array& x, SvdOptions options, Where where) try {
  const Stack matrices("svd", x, where);
  const std::int64_t m = matrices.m, n = matrices.n;
  const int rows = static_cast<int>(matrices.front().size());
  const QrMode mode = options.full_matrices ? QrMode::Complete : QrMode::Reduced;
  if (n > m) {
    const Svd turned = svd(matrix_transpose(x, where), options, where);
    return {matrix_transpose(turned.vh, where), turned.s, matrix_transpose(turned.u, where)};
  }
  const Array computed = astype(x, graph::float_for_computing(matrices.dtype()), where);
  const auto kept = [&](const Array& u, const Array& s, const Array& vh) {
    return Svd{astype(u, matrices.dtype(), where), astype(s, matrices.dtype(), where),
               astype(vh, matrices.dtype(), where)};
  };
  if (n == 0) {
    std::vector<std::int64_t> square = matrices.front();
    square.insert(square.end(), 2, 0);
    const Array q = graph::record_qr("svd", computed, mode, where).q;
    return kept(q, svdvals(computed, where), zeros(square, computed.dtype(where), where));
  }
  if (is_long(m, n)) {
    const Qr parts = graph::record_qr("svd", computed, mode, where);
    const Edge q = detail::edge(parts.q, "svd", where), r = detail::edge(parts.r, "svd", where);
    const Svd small = svd(detail::wrap(graph::cut(r, rows, 0, n, where)), options, where);
    Array u = matmul(detail::wrap(graph::cut(q, rows + 1, 0, n, where)), small.u, where);
    if (options.full_matrices) u = concat({u, detail::wrap(graph::cut(q, rows + 1, n, m - n, where))}, rows + 1, where);
    return kept(u, small.s, small.vh);
  }
  // The vectors of the largest eigenvalues, u above v; where those are 0 the two halves are any vectors.
  const Eigh parts = eigh(Stack("svd", computed, where).doubled(), where);
  const Edge vectors = graph::cut(detail::edge(parts.eigenvectors, "svd", where), rows + 1, m + n - 1, n, where, -1);
  const Edge values = graph::cut(detail::edge(parts.eigenvalues, "svd", where), rows, m + n - 1, n, where, -1);
  const Array u = orthogonal(detail::wrap(graph::cut(vectors, rows, 0, m, where)), mode, where);
  const Array v = orthogonal(detail::wrap(graph::cut(vectors, rows, m, n, where)), mode, where);
  return kept(u, detail::wrap(mapped(Op::Maximum, values, 0, where)), matrix_transpose(v, where));
}
TARRY_OR_OUT_OF_MEMORY("svd", where)

Array svdvals(const Array& x, Where where) try {
  const Array values = detail::wrap(Stack("svdvals", shortened("svdvals", x, where), where).values());
  return astype(values, Stack("svdvals", x, where).dtype(), where);
}
TARRY_OR_OUT_OF_MEMORY("svdvals", where)

Array matrix_rank(const Array& x, const RankOptions& options, Where where) try {
  const Stack matrices("matrix_rank", x, where);
  if (matrices.is_empty()) return zeros(matrices.front(), int64, where);
  const Stack small("matrix_rank", shortened("matrix_rank", x, where), where);
  const Edge values = small.values();
  const Edge bound = small.bound(values, options_of(matrices, options));
  const Array counted = detail::wrap(mapped(Op::Greater, values, bound, where, "matrix_rank"));
  return count_nonzero(counted, -1, {}, where);
}
TARRY_OR_OUT_OF_MEMORY("matrix_rank", where)

Array pinv(const Array& x, const RankOptions& options, Where where) try {
  const Stack matrices("pinv", x, where);
  if (matrices.is_empty()) return matrix_transpose(astype(x, matrices.dtype(), where), where);
  if (is_long(matrices.n, matrices.m)) return matrix_transpose(pinv(matrix_transpose(x, where), options, where), where);
  if (is_long(matrices.m, matrices.n)) {
    const Qr parts = graph::record_qr("pinv", astype(x, graph::float_for_computing(matrices.dtype()), where),
                                      QrMode::Reduced, where);
    const Array inverse = pinv(parts.r, options_of(matrices, options), where);
    return astype(matmul(inverse, matrix_transpose(parts.q, where), where), matrices.dtype(), where);
  }
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

Lstsq lstsq(const Array& a, const Array& b, const RankOptions& options, Where where) try {
  const Stack matrices("lstsq", a, where);
  const Edge right = detail::edge(b, "lstsq", where);
  const Dims given(right.node()->shape());
  const bool vector = given.size() == 1;
  if (given.size() == 0 || (vector && !matrices.front().empty()) || given[vector ? 0 : given.size() - 2] != matrices.m)
    TARRY_THROW(InvalidShape, "lstsq", where,
                "b has a row for each row of a (given " + graph::Typed(right).str() + " beside " +
                    graph::Typed(detail::edge(a, "lstsq", where)).str() + ")");
  const Array x = matmul(pinv(a, options, where), b, where);
  const Array error = square(subtract({b, where}, {matmul(a, x, where), where}), where);
  return {x, sum(error, vector ? 0 : -2, {.keepdims = vector}, where), matrix_rank(a, options, where),
          svdvals(a, where)};
}
TARRY_OR_OUT_OF_MEMORY("lstsq", where)

}  // namespace linalg
}  // namespace v0
}  // namespace tarry
