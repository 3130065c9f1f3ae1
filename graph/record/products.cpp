// Sums of products over named axes, and the public products that are one.
#include "graph/record/products.h"

#include <tarry/linalg.h>
#include <tarry/views.h>

#include <algorithm>
#include <numeric>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

using Labels = std::vector<int>;

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

std::int64_t extent_of(const Labelled& x, int label) {
  const auto at = std::ranges::find(x.labels, label) - x.labels.begin();
  return x.x.node()->shape()[static_cast<std::size_t>(at)];
}

/// x with an axis for each label, of extent 1 where x has none.
Edge aligned(const Labelled& x, const Labels& labels, Where where) {
  std::vector<int> order;
  for (const int label : labels) {
    const auto at = std::ranges::find(x.labels, label);
    order.push_back(at == x.labels.end() ? -1 : static_cast<int>(at - x.labels.begin()));
  }
  return arranged(x.x, order, where);
}

Labels joined(std::initializer_list<const Labels*> parts) {
  Labels all;
  for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

/// The sum over axes first..first + count - 1 in the dtype that floats compute in, back in x's.
Edge sum_over(const ProductCall& call, const Edge& x, Dtype dtype, int first, int count) {
  if (count == 0) return record_cast(x, dtype, call.where);
  std::vector<std::int64_t> axes(static_cast<std::size_t>(count));
  std::iota(axes.begin(), axes.end(), first);
  const Reduced r = prepare_reduction(call.op, x, axes, call.where);
  return record_cast(reduce_widened(Op::Sum, r, call.where), dtype, call.where);
}

/// The labels of two arrays by their part in the product.
struct Roles {
  Labels both, left, right, summed;
  Roles(const Labelled& a, const Labelled& b, const Labels& kept) {
    for (const int label : a.labels) (!has(b.labels, label) ? left : has(kept, label) ? both : summed).push_back(label);
    for (const int label : b.labels)
      if (!has(a.labels, label)) right.push_back(label);
  }
};

class Product {
 public:
  Product(const ProductCall& call, const Labelled& a, const Labelled& b, const Labels& kept)
      : call_(call), a_(a), b_(b), roles_(a, b, kept), dtype_(a.x.node()->dtype) {}

  [[nodiscard]] Labelled run() const {
    const Labels result = joined({&roles_.both, &roles_.left, &roles_.right});
    const Labels all = joined({&roles_.both, &roles_.left, &roles_.summed, &roles_.right});
    check_axes(all.size());
    Dims shape, of_result;
    for (const int label : all) shape.push_back(extent(label));
    check_shape(call_.op, {dtype_, shape.span()}, call_.where);
    for (const int label : result) of_result.push_back(extent(label));
    return {is_matrices() ? by_library(of_result) : by_sums(all), result};
  }

 private:
  [[nodiscard]] std::int64_t extent(int label) const {
    const std::int64_t a = has(a_.labels, label) ? extent_of(a_, label) : 1;
    const std::int64_t b = has(b_.labels, label) ? extent_of(b_, label) : 1;
    return a == 1 ? b : a;
  }
  [[nodiscard]] std::int64_t product(const Labels& labels) const {
    std::int64_t all = 1;
    for (const int label : labels) all *= extent(label);
    return all;
  }
  void check_axes(std::size_t axes) const {
    if (axes <= static_cast<std::size_t>(kMaxRank)) return;
    TARRY_THROW(InvalidShape, call_.op, call_.where,
                "the product of " + call_.given + " has more than " + std::to_string(kMaxRank) + " axes");
  }

  /// Products that read an element more often than once, for a library.
  [[nodiscard]] bool is_matrices() const {
    return is_floating(dtype_) && !roles_.summed.empty() && product(roles_.left) > 1 && product(roles_.right) > 1 &&
           product(roles_.both) > 0 && product(roles_.summed) > 0;
  }

  [[nodiscard]] Edge by_sums(const Labels& all) const {
    const Dtype wide = roles_.summed.empty() || !is_floating(dtype_) ? dtype_ : float_for_computing(dtype_);
    const Edge a = record_cast(aligned(a_, all, call_.where), wide, call_.where);
    const Edge b = record_cast(aligned(b_, all, call_.where), wide, call_.where);
    const Edge products = mapped(Op::Multiply, a, b, call_.where, call_.op);
    return sum_over(call_, products, dtype_, static_cast<int>(roles_.both.size() + roles_.left.size()),
                    static_cast<int>(roles_.summed.size()));
  }

  [[nodiscard]] Edge by_library(const Dims& result) const {
    const Edge a = matrices(a_, roles_.left, roles_.summed), b = matrices(b_, roles_.summed, roles_.right);
    const Argument operands[] = {{a, 0}, {b, 0}};
    (void)combine(a.node()->device, b.node()->device, call_.op, call_.where, operands);
    return record_reshape(record_matmul(a, b, call_.where), result.span(), call_.where);
  }
  /// A stack of matrices, one for each index of both.
  [[nodiscard]] Edge matrices(const Labelled& x, const Labels& rows, const Labels& columns) const {
    const Labels labels = joined({&roles_.both, &rows, &columns});
    Dims shape;
    for (const int label : labels) shape.push_back(extent(label));
    const Edge whole = to_shape(aligned(x, labels, call_.where), shape.span(), call_.where);
    const Dims stack{product(roles_.both), product(rows), product(columns)};
    return record_reshape(whole, stack.span(), call_.where);
  }

  const ProductCall& call_;
  const Labelled &a_, &b_;
  Roles roles_;
  Dtype dtype_;
};

}  // namespace

std::vector<Edge> promoted_operands(const std::string& op, std::span<const Array> arrays, Where where) {
  std::vector<Edge> edges = edges_of(op, arrays, where);
  std::vector<Argument> arguments;
  for (const Edge& e : edges) arguments.push_back({e, 0});
  const Dtype dtype = common_dtype(op, arguments, where);
  if (dtype == bool_) {
    TARRY_THROW(InvalidDtype, op, where, "takes numbers, not bool; convert with astype first" + given(arguments));
  }
  for (Edge& e : edges) e = record_cast(e, dtype, where);
  return edges;
}

ProductCall product_call(const std::string& op, std::span<const Array> arrays, Where where) {
  std::vector<Argument> arguments;
  for (const Edge& e : edges_of(op, arrays, where)) arguments.push_back({e, 0});
  return {op, where, list_arrays(arguments)};
}

Labelled summed(const ProductCall& call, Labelled x, const Labels& kept) {
  Labels order, gone;
  for (const int label : x.labels) (has(kept, label) ? order : gone).push_back(label);
  if (gone.empty()) return x;
  const Dtype dtype = x.x.node()->dtype;
  const Edge e = aligned(x, joined({&order, &gone}), call.where);
  const Dtype wide = is_floating(dtype) ? float_for_computing(dtype) : dtype;
  return {sum_over(call, record_cast(e, wide, call.where), dtype, static_cast<int>(order.size()),
                   static_cast<int>(gone.size())),
          order};
}

Labelled contracted(const ProductCall& call, Labelled a, Labelled b, const Labels& kept) {
  a = summed(call, std::move(a), joined({&kept, &b.labels}));
  b = summed(call, std::move(b), joined({&kept, &a.labels}));
  return Product(call, a, b, kept).run();
}

Labelled vectors_along(const Edge& x, int axis) {
  Labels labels;
  for (int d = 0, left = x.node()->rank - 1; d < x.node()->rank; ++d) labels.push_back(d == axis ? -1 : --left);
  return {x, labels};
}

bool broadcast_by_label(const Labelled& a, const Labelled& b) {
  return std::ranges::all_of(a.labels, [&](int label) {
    if (!has(b.labels, label)) return true;
    const std::int64_t left = extent_of(a, label), right = extent_of(b, label);
    return left == right || left == 1 || right == 1;
  });
}

Edge in_order(const Labelled& x, const Labels& labels, Where where) {
  return x.labels == labels ? x.x : aligned(x, labels, where);
}

}  // namespace graph

inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Labelled;
using graph::Op;
using graph::ProductCall;
using graph::Typed;

/// Two operands of one dtype and their call.
struct Pair {
  ProductCall call;
  Edge a, b;
  Pair(const std::string& op, const Array& left, const Array& right, Where where) {
    const Array both[] = {left, right};
    call = graph::product_call(op, both, where);
    std::vector<Edge> edges = graph::promoted_operands(op, both, where);
    a = std::move(edges[0]);
    b = std::move(edges[1]);
  }
  template <class Kind>
  [[noreturn]] void fail(const std::string& message) const {
    TARRY_THROW(Kind, call.op, call.where, call.given + message);
  }
};

std::vector<int> labels_from(int first, int count) {
  std::vector<int> labels(static_cast<std::size_t>(count));
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}

/// Sums over pairs of axes; what is left of a comes before what is left of b.
Array over_axes(const Pair& p, const std::vector<int>& of_a, const std::vector<int>& of_b) {
  const auto left = p.a.node()->shape(), right = p.b.node()->shape();
  std::vector<int> a = labels_from(0, p.a.node()->rank), b = labels_from(p.a.node()->rank, p.b.node()->rank), kept;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const auto x = static_cast<std::size_t>(of_a[i]), y = static_cast<std::size_t>(of_b[i]);
    if (left[x] != right[y]) {
      p.fail<InvalidShape>(" do not go together: axis " + std::to_string(of_a[i]) + " has " + std::to_string(left[x]) +
                           " elements, axis " + std::to_string(of_b[i]) + " has " + std::to_string(right[y]));
    }
    b[y] = a[x];
  }
  for (const int label : a)
    if (std::ranges::find(b, label) == b.end()) kept.push_back(label);
  for (const int label : b)
    if (std::ranges::find(a, label) == a.end()) kept.push_back(label);
  return detail::wrap(graph::in_order(contracted(p.call, {p.a, a}, {p.b, b}, kept), kept, p.call.where));
}

std::vector<int> axes_in_order(const Pair& p, const Axes& axes, const Edge& x) {
  (void)graph::checked_axes(p.call.op, axes, x, p.call.where);  // in range, none twice
  std::vector<int> found;
  if (axes.all()) return labels_from(0, x.node()->rank);
  for (const std::int64_t axis : axes.vector()) found.push_back(graph::checked_axis(p.call.op, axis, x, p.call.where));
  return found;
}

}  // namespace

Array tensordot(const Array& a, const Array& b, int axes, Where where) try {
  const Pair p("tensordot", a, b, where);
  const int left = p.a.node()->rank, right = p.b.node()->rank;
  if (axes < 0 || axes > std::min(left, right))
    p.fail<InvalidValue>(" do not have " + std::to_string(axes) + " axes in common");
  return over_axes(p, labels_from(left - axes, axes), labels_from(0, axes));
}
TARRY_OR_OUT_OF_MEMORY("tensordot", where)

Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes, Where where) try {
  const Pair p("tensordot", a, b, where);
  const std::vector<int> of_a = axes_in_order(p, a_axes, p.a), of_b = axes_in_order(p, b_axes, p.b);
  if (of_a.size() != of_b.size()) {
    p.fail<InvalidValue>(" do not go together: " + std::to_string(of_a.size()) + " axes of the first meet " +
                         std::to_string(of_b.size()) + " of the second");
  }
  return over_axes(p, of_a, of_b);
}
TARRY_OR_OUT_OF_MEMORY("tensordot", where)

Array inner(const Array& a, const Array& b, Where where) try {
  const Pair p("inner", a, b, where);
  const int left = p.a.node()->rank, right = p.b.node()->rank;
  if (left == 0 || right == 0) return over_axes(p, {}, {});
  return over_axes(p, {left - 1}, {right - 1});
}
TARRY_OR_OUT_OF_MEMORY("inner", where)

Array outer(const Array& a, const Array& b, Where where) try {
  Pair p("outer", a, b, where);
  p.a = graph::flattened(p.a, where);
  p.b = graph::flattened(p.b, where);
  return over_axes(p, {}, {});
}
TARRY_OR_OUT_OF_MEMORY("outer", where)

Array vecdot(const Array& a, const Array& b, int axis, Where where) try {
  const Pair p("vecdot", a, b, where);
  const int of_a = graph::checked_axis("vecdot", axis, p.a, where);
  const int of_b = graph::checked_axis("vecdot", axis, p.b, where);
  const auto length = [](const Edge& x, int at) { return x.node()->shape()[static_cast<std::size_t>(at)]; };
  if (length(p.a, of_a) != length(p.b, of_b)) {
    p.fail<InvalidShape>(" have vectors of " + std::to_string(length(p.a, of_a)) + " and " +
                         std::to_string(length(p.b, of_b)) + " elements along axis " + std::to_string(axis));
  }
  const Labelled left = graph::vectors_along(p.a, of_a), right = graph::vectors_along(p.b, of_b);
  if (!graph::broadcast_by_label(left, right))
    p.fail<InvalidShape>(" do not broadcast but for axis " + std::to_string(axis));
  std::vector<int> kept = labels_from(0, std::max(p.a.node()->rank, p.b.node()->rank) - 1);
  std::ranges::reverse(kept);
  return detail::wrap(graph::in_order(contracted(p.call, left, right, kept), kept, where));
}
TARRY_OR_OUT_OF_MEMORY("vecdot", where)

}  // namespace v0
}  // namespace tarry
