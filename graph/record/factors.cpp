// Systems and factors of square matrices: a routine each, and what is made of it.
#include <tarry/linalg.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/views.h>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace linalg {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Op;
using graph::Typed;

/// Square matrices in the dtype in which they are computed.
class Matrices {
 public:
  Matrices(std::string_view called, const Array& x, Where where)
      : Matrices(called, detail::edge(x, called, where), where) {
    set_dtype(graph::statistic_dtype(x_.node()->dtype));
  }
  Matrices(std::string_view called, Edge x, Where where) : called_(called), where_(where), x_(std::move(x)) {
    graph::check_rank(called, x_, 2, where);
    const std::span<const std::int64_t> shape = x_.node()->shape();
    n = shape.back();
    if (shape[shape.size() - 2] != n)
      TARRY_THROW(InvalidShape, std::string(called), where, Typed(x_).str() + " is no stack of square matrices");
    front = Dims(shape.first(shape.size() - 2));
  }

  void set_dtype(Dtype result) {
    graph::check_available(called_, result, where_);
    result_ = result;
    computed_ = graph::float_for_computing(result);
  }

  /// The result of a routine of one input, whose shape is `behind` for each matrix.
  [[nodiscard]] Edge run(Op op, const Dims& behind) const {
    const Edge stack = stacked(x_, front, {n, n});
    return run(op, {&stack, 1}, front, behind);
  }
  [[nodiscard]] Edge run(Op op, std::span<const Edge> stacks, Dims shape, const Dims& behind) const {
    Dims flat = behind;
    flat.insert(0, graph::element_count(shape.span()));
    for (const std::int64_t extent : behind) shape.push_back(extent);
    if (graph::element_count(shape.span()) == 0)
      return graph::record_fill(graph::record_scalar(0, computed_, called_, where_), shape.span(), where_);
    const Edge result = graph::record_routine(op, called_, stacks, Typed(computed_, flat.span()), {}, where_);
    return graph::record_reshape(result, shape.span(), where_);
  }
  /// x in front of whose last axes `behind` is `shape`, as one stack.
  [[nodiscard]] Edge stacked(const Edge& x, const Dims& shape, const Dims& behind) const {
    Dims whole = shape, flat = behind;
    for (const std::int64_t extent : behind) whole.push_back(extent);
    flat.insert(0, graph::element_count(shape.span()));
    const Edge all = graph::to_shape(graph::record_cast(x, computed_, where_), whole.span(), where_);
    return graph::record_reshape(all, flat.span(), where_);
  }
  [[nodiscard]] Array given(const Edge& e) const { return detail::wrap(graph::record_cast(e, result_, where_)); }
  [[nodiscard]] const Edge& x() const { return x_; }

  Dims front;  ///< the dimensions in front of the matrices
  std::int64_t n = 0;

 private:
  const std::string_view called_;
  const Where where_;
  Edge x_;
  Dtype result_{}, computed_{};
};

/// n factors of each determinant.
Array pivots(const Matrices& m) { return detail::wrap(m.run(Op::Pivots, {m.n})); }

Eigh eigen(const Matrices& m, Where where) {
  const Edge both = m.run(Op::Eigh, {m.n + 1, m.n});
  const int rows = m.front.size();
  return {m.given(graph::part_at(both, rows, 0, where)), m.given(graph::cut(both, rows, 1, m.n, where))};
}

}  // namespace

Array solve(const Array& a, const Array& b, Where where) try {
  const Edge left = detail::edge(a, "solve", where);
  Edge right = detail::edge(b, "solve", where);
  const graph::Argument both[] = {{left, 0}, {right, 0}};
  Matrices m("solve", left, where);
  m.set_dtype(graph::statistic_dtype(graph::common_dtype("solve", both, where)));
  const bool vector = right.node()->rank == 1;
  const auto misfit = [&] {
    TARRY_THROW(InvalidShape, "solve", where,
                graph::list_arrays(both) + " do not fit: the right side is (n), or (..., n, m), with the matrices' n");
  };
  if (right.node()->rank == 0) misfit();
  if (vector) right = graph::with_axis(right, 1, where);
  const std::span<const std::int64_t> shape = right.node()->shape();
  if (shape[shape.size() - 2] != m.n) misfit();
  const std::int64_t columns = shape.back();
  Dims front = m.front;
  const Dims other(shape.first(shape.size() - 2));
  while (front.size() < other.size()) front.insert(0, 1);
  for (int d = 0; d < other.size(); ++d) {
    std::int64_t& extent = front[front.size() - other.size() + d];
    if (extent != other[d] && extent != 1 && other[d] != 1) misfit();
    if (other[d] != 1) extent = other[d];
  }
  const Edge stacks[] = {m.stacked(m.x(), front, {m.n, m.n}), m.stacked(right, front, {m.n, columns})};
  const Edge x = m.run(Op::Solve, stacks, front, {m.n, columns});
  return m.given(vector ? graph::part_at(x, front.size() + 1, 0, where) : x);
}
TARRY_OR_OUT_OF_MEMORY("solve", where)

Array inv(const Array& x, Where where) try {
  const Matrices m("inv", x, where);
  return m.given(m.run(Op::Inverse, {m.n, m.n}));
}
TARRY_OR_OUT_OF_MEMORY("inv", where)

Array det(const Array& x, Where where) try {
  const Matrices m("det", x, where);
  return m.given(detail::edge(prod(pivots(m), -1, {}, where), "det", where));
}
TARRY_OR_OUT_OF_MEMORY("det", where)

Slogdet slogdet(const Array& x, Where where) try {
  const Matrices m("slogdet", x, where);
  const Array factors = pivots(m);
  const Array signs = prod(sign(factors, where), -1, {}, where);
  const Array logs = sum(log(abs(factors, where), where), -1, {}, where);
  return {m.given(detail::edge(signs, "slogdet", where)), m.given(detail::edge(logs, "slogdet", where))};
}
TARRY_OR_OUT_OF_MEMORY("slogdet", where)

Array cholesky(const Array& x, CholeskyOptions options, Where where) try {
  const Matrices m("cholesky", options.upper ? matrix_transpose(x, where) : x, where);
  const Array lower = m.given(m.run(Op::Cholesky, {m.n, m.n}));
  return options.upper ? matrix_transpose(lower, where) : lower;
}
TARRY_OR_OUT_OF_MEMORY("cholesky", where)

Eigh eigh(const Array& x, Where where) try { return eigen(Matrices("eigh", x, where), where); }
TARRY_OR_OUT_OF_MEMORY("eigh", where)

Array eigvalsh(const Array& x, Where where) try { return eigen(Matrices("eigvalsh", x, where), where).eigenvalues; }
TARRY_OR_OUT_OF_MEMORY("eigvalsh", where)

}  // namespace linalg
}  // namespace v0
}  // namespace tarry
