// The public functions of linear algebra.
#include <tarry/linalg.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/views.h>

#include <algorithm>

#include "graph/record/record.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

/// Two stacks of matrices of one dtype, their dimensions in front not yet broadcast.
class Product {
 public:
  Product(const Array& a, const Array& b, Where where) : where_(where) {
    const graph::Argument both[] = {detail::argument({a, where}, "matmul", where),
                                    detail::argument({b, where}, "matmul", where)};
    const Dtype dtype = graph::common_dtype("matmul", both, where);
    operands_ = graph::list_arrays(both);
    if (dtype == bool_)
      fail<InvalidDtype>("takes numbers, not bool; convert with astype first (given " + operands_ + ")");
    (void)graph::combine(both[0].edge.node()->device, both[1].edge.node()->device, "matmul", where, both);
    a_ = astype(a, dtype, where);
    b_ = astype(b, dtype, where);
    if (a.ndim(where) == 0 || b.ndim(where) == 0)
      fail<InvalidShape>(operands_ + " do not multiply: an array of no dimensions is no matrix");
    row_ = a.ndim(where) == 1;
    column_ = b.ndim(where) == 1;
    if (row_) a_ = expand_dims(a_, 0, where);
    if (column_) b_ = expand_dims(b_, 1, where);
    m_ = extent(a_, -2);
    k_ = extent(a_, -1);
    n_ = extent(b_, -1);
    if (extent(b_, -2) != k_)
      fail<InvalidShape>(operands_ + " do not multiply: rows of " + std::to_string(k_) + " meet columns of " +
                         std::to_string(extent(b_, -2)));
    find_front();
  }

  [[nodiscard]] Array run() const {
    Array result = is_matrices() ? by_library() : by_sums();
    if (column_) result = squeeze(result, -1, where_);
    return row_ ? squeeze(result, column_ ? -1 : -2, where_) : result;
  }

 private:
  template <class Kind>
  [[noreturn]] void fail(const std::string& message) const {
    TARRY_THROW(Kind, "matmul", where_, message);
  }

  [[nodiscard]] std::int64_t extent(const Array& x, int axis) const {
    const Shape shape = x.shape(where_);
    return shape[static_cast<std::size_t>(static_cast<int>(shape.size()) + axis)];
  }
  [[nodiscard]] std::vector<std::int64_t> front(const Array& x) const {
    std::vector<std::int64_t> shape = x.shape(where_).vector();
    shape.resize(shape.size() - 2);
    return shape;
  }
  /// `front` and two more extents.
  [[nodiscard]] static Shape with(std::vector<std::int64_t> front, std::int64_t rows, std::int64_t columns) {
    front.insert(front.end(), {rows, columns});
    return front;
  }
  static std::int64_t product(const std::vector<std::int64_t>& extents) { return graph::element_count(extents); }

  void find_front() {
    const std::vector<std::int64_t> left = front(a_), right = front(b_);
    front_.assign(std::max(left.size(), right.size()), 1);
    for (const auto& side : {left, right}) {
      for (std::size_t d = 0; d < side.size(); ++d) {
        std::int64_t& to = front_[front_.size() - side.size() + d];
        if (to != 1 && side[d] != 1 && to != side[d])
          fail<InvalidShape>(operands_ + " do not multiply: the dimensions in front of the matrices do not broadcast");
        if (side[d] != 1) to = side[d];
      }
    }
    graph::check_shape("matmul", {a_.dtype(where_), with(front_, m_, n_).vector()}, where_);
  }

  /// Products for a library: products that read an element more often than once.
  [[nodiscard]] bool is_matrices() const {
    const bool empty = product(front_) == 0 || k_ == 0;
    return is_floating(a_.dtype(where_)) && m_ > 1 && n_ > 1 && !empty && !is_small();
  }

  /// Matrices of a few numbers: a call takes longer than they do, and what stands around can be part of the kernel.
  [[nodiscard]] bool is_small() const {
    constexpr std::int64_t kSmall = 4;
    return m_ <= kSmall && k_ <= kSmall && n_ <= kSmall;
  }

  /// The sum of products over k; neighbours in a row of the result read neighbours of b.
  [[nodiscard]] Array by_sums() const {
    const Dtype dtype = a_.dtype(where_);
    const Dtype computed = is_floating(dtype) ? graph::float_for_computing(dtype) : dtype;
    const Array a = expand_dims(astype(a_, computed, where_), -1, where_);
    const Array b = expand_dims(astype(b_, computed, where_), -3, where_);
    const Array products = multiply({a, where_}, {b, where_});
    return astype(sum(products, -2, {.keepdims = false, .dtype = computed}, where_), dtype, where_);
  }

  /// One matrix on the right serves all rows of a stack on the left. Else both sides are stacks of as many matrices, or
  /// of one.
  [[nodiscard]] Array by_library() const {
    const std::int64_t count = product(front_);
    Array a, b;
    if (product(front(b_)) == 1) {
      a = reshape(a_, {std::int64_t{1}, count * m_, k_}, where_);
      b = reshape(b_, {std::int64_t{1}, k_, n_}, where_);
    } else {
      a = stacked(a_, m_, k_);
      b = stacked(b_, k_, n_);
    }
    const graph::Edge result =
        graph::record_matmul(detail::edge(a, "matmul", where_), detail::edge(b, "matmul", where_), where_);
    return reshape(detail::wrap(result), with(front_, m_, n_), where_);
  }
  [[nodiscard]] Array stacked(const Array& x, std::int64_t rows, std::int64_t columns) const {
    if (product(front(x)) == 1) return reshape(x, {std::int64_t{1}, rows, columns}, where_);
    return reshape(broadcast_to(x, with(front_, rows, columns), where_), {product(front_), rows, columns}, where_);
  }

  Where where_;
  std::string operands_;
  Array a_, b_;
  bool row_ = false, column_ = false;
  std::int64_t m_ = 0, k_ = 0, n_ = 0;
  std::vector<std::int64_t> front_;
};

}  // namespace

Array matmul(const Array& a, const Array& b, Where where) try { return Product(a, b, where).run(); }
TARRY_OR_OUT_OF_MEMORY("matmul", where)

}  // namespace v0
}  // namespace tarry
