// The definitions of docs/reference/numerics.md ("Tree R", "Scans", "Composite reductions", "Order") for short rows.
#include "graph/record/small_rows.h"

#include <optional>

#include "support/check.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kMostInOrder = 32;  // elements that tree R takes one after the other, and a row of a scan has

/// The elementwise op that a reduction or a scan is made of.
std::optional<Op> combines_by(Op op) {
  switch (op) {
    case Op::Sum:
    case Op::CumulativeSum: return Op::Add;
    case Op::Prod:
    case Op::CumulativeProd: return Op::Multiply;
    case Op::Min:
    case Op::CumulativeMin: return Op::Minimum;
    case Op::Max:
    case Op::CumulativeMax: return Op::Maximum;
    default: return std::nullopt;
  }
}

/// a / b, rounded to a dtype.
double quotient(std::int64_t a, std::int64_t b, Dtype dtype) {
  return dtype == float32 ? static_cast<double>(static_cast<float>(a) / static_cast<float>(b))
                          : static_cast<double>(a) / static_cast<double>(b);
}

class Row {
 public:
  Row(ElementOps& ops, const Node& n, const Elements& x) : ops_(ops), n_(n), x_(x), dtype_(n.input(0)->dtype) {}

  [[nodiscard]] Elements reduced() {
    Edge result = x_.front();
    for (std::size_t k = 1; k < x_.size(); ++k) result = ops_(*combines_by(n_.op), {result, x_[k]});
    return {result};
  }

  /// The place of the first extreme element, or of the first NaN.
  [[nodiscard]] Elements place() {
    Edge best = x_.front(), at = ops_.number(0, int64);
    for (std::size_t k = 1; k < x_.size(); ++k) {
      Edge better = ops_(n_.op == Op::ArgMin ? Op::Less : Op::Greater, {x_[k], best});
      if (is_floating(dtype_)) better = ops_(Op::LogicalOr, {better, only_first_is_nan(x_[k], best)});
      at = ops_.chosen(better, ops_.number(static_cast<std::int64_t>(k), int64), at);
      if (k + 1 < x_.size()) best = ops_.chosen(better, x_[k], best);
    }
    return {at};
  }

  /// Welford's steps.
  [[nodiscard]] Elements moments() {
    Edge mean = x_.front(), m2 = ops_.number(0, dtype_);
    for (std::size_t k = 1; k < x_.size(); ++k) {
      const Edge d = ops_(Op::Subtract, {x_[k], mean});
      const Edge part = ops_.number(quotient(1, static_cast<std::int64_t>(k + 1), dtype_), dtype_);
      mean = ops_(Op::Add, {mean, ops_(Op::Multiply, {d, part})});
      m2 = ops_(Op::Add, {m2, ops_(Op::Multiply, {d, ops_(Op::Subtract, {x_[k], mean})})});
    }
    return {mean, m2};
  }

  /// Chan's merges; `m2s` beside means.
  [[nodiscard]] Elements merged(const Elements& m2s) {
    const std::int64_t weight = decode_reduce(n_.attributes()).weight;
    Edge mean = x_.front(), m2 = m2s.front();
    for (std::size_t k = 1; k < x_.size(); ++k) {
      const std::int64_t before = static_cast<std::int64_t>(k) * weight;
      const Edge part = ops_.number(quotient(weight, before + weight, dtype_), dtype_);
      const Edge scale = ops_(Op::Multiply, {ops_.number(static_cast<double>(before), dtype_), part});
      const Edge d = ops_(Op::Subtract, {x_[k], mean});
      mean = ops_(Op::Add, {mean, ops_(Op::Multiply, {d, part})});
      const Edge between = ops_(Op::Multiply, {ops_(Op::Multiply, {d, d}), scale});
      m2 = ops_(Op::Add, {ops_(Op::Add, {m2, m2s[k]}), between});
    }
    return {mean, m2};
  }

  /// Combinations of the elements up to each one: by quads, and by the tree of these.
  [[nodiscard]] Elements scanned() {
    Elements own = x_;
    for (std::size_t k = 0; k < x_.size(); ++k)
      if (k % kQuad != 0) own[k] = combined(own[k - 1], x_[k]);
    Elements all = own;
    for (std::size_t k = kQuad; k < x_.size(); ++k) all[k] = combined(through(own, 0, kQuads, k / kQuad - 1), own[k]);
    return all;
  }

  /// Neighbours change places until all are in order, so that equal ones keep theirs.
  [[nodiscard]] Elements sorted() {
    const bool places = n_.op == Op::Argsort;
    Elements row = x_, at;
    for (std::size_t k = 0; k < row.size() && places; ++k)
      at.push_back(ops_.number(static_cast<std::int64_t>(k), int64));
    for (std::size_t end = 1; end < row.size(); ++end) {
      for (std::size_t k = end; k > 0; --k) {
        const Edge swaps = before(row[k], row[k - 1]);
        exchange(swaps, row[k - 1], row[k]);
        if (places) exchange(swaps, at[k - 1], at[k]);
      }
    }
    return places ? at : row;
  }

 private:
  static constexpr std::size_t kQuad = 4, kQuads = 8;  // elements; quads of a row

  [[nodiscard]] Edge combined(const Edge& a, const Edge& b) { return ops_(*combines_by(n_.op), {a, b}); }

  /// The quads from `first` to `last`, which is one of `count`.
  [[nodiscard]] Edge through(const Elements& own, std::size_t first, std::size_t count, std::size_t last) {
    if (count == 1) return own[first * kQuad + kQuad - 1];
    const std::size_t half = count / 2, middle = first + half;
    if (last < middle) return through(own, first, half, last);
    return combined(through(own, first, half, middle - 1), through(own, middle, half, last));
  }

  [[nodiscard]] Edge only_first_is_nan(const Edge& a, const Edge& b) {
    return ops_(Op::LogicalAnd, {ops_(Op::Isnan, {a}), ops_(Op::LogicalNot, {ops_(Op::Isnan, {b})})});
  }

  /// True if a, which stands behind b, belongs before it. Zeros go by their sign, NaNs come last.
  [[nodiscard]] Edge before(const Edge& a, const Edge& b) {
    const bool reversed = decode_routine(n_.attributes()).way == RoutineAttributes::Way::Reversed;
    const Edge beyond = ops_(reversed ? Op::Greater : Op::Less, {a, b});
    if (!is_floating(dtype_)) return beyond;
    const Edge &lower = reversed ? b : a, &upper = reversed ? a : b;
    const Edge signs =
        ops_(Op::LogicalAnd, {ops_(Op::Signbit, {lower}), ops_(Op::LogicalNot, {ops_(Op::Signbit, {upper})})});
    const Edge zeros = ops_(Op::LogicalAnd, {ops_(Op::Equal, {a, b}), signs});
    return ops_(Op::LogicalOr, {ops_(Op::LogicalOr, {beyond, zeros}), only_first_is_nan(b, a)});
  }

  void exchange(const Edge& swaps, Edge& a, Edge& b) {
    const Edge first = ops_.chosen(swaps, b, a);
    b = ops_.chosen(swaps, a, b);
    a = first;
  }

  ElementOps& ops_;
  const Node& n_;
  const Elements& x_;
  const Dtype dtype_;
};

}  // namespace

bool has_row_form(const Node& n) {
  const OpClass c = info(n.op).op_class;
  if (c != OpClass::Reduce && c != OpClass::Scan && !is_sort(n.op)) return false;
  const Node& x = *n.input(0);
  const std::int64_t extent = x.shape()[static_cast<std::size_t>(row_axis(n))];
  return extent >= 1 && extent <= kMostInOrder && (x.dtype != bool_ || combines_by(n.op));
}

int row_axis(const Node& n) { return is_sort(n.op) ? n.rank - 1 : decode_reduce(n.attributes()).axis; }

Elements row_elements(ElementOps& ops, const Node& n, std::span<const Elements> inputs) {
  Row row(ops, n, inputs[0]);
  switch (n.op) {
    case Op::ArgMin:
    case Op::ArgMax: return row.place();
    case Op::Moments: return row.moments();
    case Op::MomentsMerge: return row.merged(inputs[1]);
    case Op::Sort:
    case Op::Argsort: return row.sorted();
    default: return is_scan(n.op) ? row.scanned() : row.reduced();
  }
}

}  // namespace tarry::graph
