// qr: Householder's reflections, as a loop over the columns. A level turns the whole matrix about the vector that takes
// its column to a multiple of a unit vector; a second loop, from the last one on, turns the identity about the same
// vectors.
#include "graph/record/orthogonal.h"

#include <tarry/create.h>
#include <tarry/index.h>
#include <tarry/loop.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/views.h>

#include <algorithm>
#include <array>

#include "graph/record/order.h"
#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

class Reflecting {
 public:
  /// `rows`: the numbers of the rows, (m, 1).
  Reflecting(Array rows, Where where) : rows_(std::move(rows)), where_(where) {}

  /// x turned about v: x - v (v^T x) share.
  [[nodiscard]] Array turned(const Array& x, const Array& v, const Array& share) const {
    const Array along = multiply(on(of_column(multiply(on(v), on(x)))), on(share));
    return subtract(on(x), on(multiply(on(v), on(along))));
  }

  /// The matrix of level k turned, the vector and its share. The column is divided by its largest element, so that no
  /// square overflows. What is 0 below row k already stays.
  [[nodiscard]] Scanned level(const Array& r, const Array& k) const {
    const Array column = take(r, reshape(k, {1}, where_), -1, Bounds::Error, where_);
    const Array below = tarry::where(on(greater_equal(on(rows_), on(k))), on(column), number(0));
    const Array most = max(abs(below, where_), -2, {.keepdims = true}, where_);
    const Array scaled = divide(on(below), on(tarry::where(on(greater(on(most), number(0))), on(most), number(1))));
    const Array is_pivot = equal(on(rows_), on(k)), squared = multiply(on(scaled), on(scaled));
    const Array pivot = of_column(tarry::where(on(is_pivot), on(scaled), number(0)));
    const Array rest = of_column(tarry::where(on(is_pivot), number(0), on(squared)));
    const Array squares = of_column(squared), length = copysign(on(sqrt(squares, where_)), on(pivot));
    const Array v = tarry::where(on(is_pivot), on(add(on(scaled), on(length))), on(scaled));
    const Array half = add(on(squares), on(abs(multiply(on(length), on(pivot)), where_)));
    const Array share = tarry::where(on(greater(on(rest), number(0))), on(divide(number(1), on(half))), number(0));
    return {{turned(r, v, share)}, {v, share}};
  }

 private:
  [[nodiscard]] Operand on(const Array& x) const { return {x, where_}; }
  [[nodiscard]] Operand number(int x) const { return {x, where_}; }
  [[nodiscard]] Array of_column(const Array& x) const { return sum(x, -2, {.keepdims = true}, where_); }

  Array rows_;
  Where where_;
};

}  // namespace

linalg::Qr record_qr(std::string_view called, const Array& x, linalg::QrMode mode, Where where) {
  const Edge given = detail::edge(x, called, where);
  const PlacedLike placed(given);
  const Dtype dtype = given.node()->dtype, kept = is_floating(dtype) ? dtype : float64;
  std::vector<std::int64_t> shape = Dims(given.node()->shape()).vector();
  const std::int64_t n = shape.back(), m = shape[shape.size() - 2], levels = std::min(m, n);
  const std::int64_t count = mode == linalg::QrMode::Complete ? m : levels;
  shape.back() = count;
  Array r = astype(x, float_for_computing(kept), where);
  Array q = broadcast_to(eye(m, {.columns = count, .dtype = r.dtype(where)}, where), shape, where);
  if (element_count(given.node()->shape()) > 0) {
    const Reflecting parts(reshape(arange(m, int64, where), {m, 1}, where), where);
    const std::array numbers{arange(levels, int64, where)};
    const Scanned triangle = scan(
        std::span(&r, 1), numbers,
        [&](std::span<const Array> carry, std::span<const Array> k) { return parts.level(carry[0], k[0]); }, {}, where);
    r = triangle.carries[0];
    q = scan(
            std::span(&q, 1), triangle.ys,
            [&](std::span<const Array> carry, std::span<const Array> v) {
              return Scanned{{parts.turned(carry[0], v[0], v[1])}, {}};
            },
            {.reverse = true}, where)
            .carries[0];
  }
  const int rows = static_cast<int>(shape.size()) - 2;
  const Array upper = detail::wrap(cut(detail::edge(r, called, where), rows, 0, count, where));
  return {astype(q, kept, where), astype(triu(upper, 0, where), kept, where)};
}

}  // namespace graph

inline namespace v0 {
namespace linalg {

Qr qr(const Array& x, QrMode mode, Where where) try {
  graph::check_rank("qr", detail::edge(x, "qr", where), 2, where);
  return graph::record_qr("qr", x, mode, where);
}
TARRY_OR_OUT_OF_MEMORY("qr", where)

}  // namespace linalg
}  // namespace v0
}  // namespace tarry
