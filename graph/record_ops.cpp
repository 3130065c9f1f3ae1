// The public elementwise operations.
#include <tarry/ops.h>

#include "graph/record.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Op;

graph::Argument argument(const Operand& x, Op op, Where where) {
  if (x.array() == nullptr) return {graph::Edge(), x.scalar()};
  return {detail::edge(*x.array(), name(op), where), 0};
}

Array map(Op op, const Operand& a, const Operand& b) {
  const Where where = a.where();
  return detail::wrap(graph::record_map(op, {argument(a, op, where), argument(b, op, where)}, where));
}

Array map(Op op, const Array& x, Where where) {
  return detail::wrap(graph::record_map(op, {{detail::edge(x, name(op), where), 0}}, where));
}

}  // namespace

Array add(const Operand& a, const Operand& b) { return map(Op::Add, a, b); }
Array subtract(const Operand& a, const Operand& b) { return map(Op::Subtract, a, b); }
Array multiply(const Operand& a, const Operand& b) { return map(Op::Multiply, a, b); }
Array divide(const Operand& a, const Operand& b) { return map(Op::Divide, a, b); }
Array floor_divide(const Operand& a, const Operand& b) { return map(Op::FloorDivide, a, b); }
Array remainder(const Operand& a, const Operand& b) { return map(Op::Remainder, a, b); }
Array negative(const Array& x, std::source_location where) { return map(Op::Negative, x, where); }
Array abs(const Array& x, std::source_location where) { return map(Op::Abs, x, where); }
Array minimum(const Operand& a, const Operand& b) { return map(Op::Minimum, a, b); }
Array maximum(const Operand& a, const Operand& b) { return map(Op::Maximum, a, b); }
Array sqrt(const Array& x, std::source_location where) { return map(Op::Sqrt, x, where); }
Array exp(const Array& x, std::source_location where) { return map(Op::Exp, x, where); }
Array log(const Array& x, std::source_location where) { return map(Op::Log, x, where); }
Array erf(const Array& x, std::source_location where) { return map(Op::Erf, x, where); }
Array equal(const Operand& a, const Operand& b) { return map(Op::Equal, a, b); }
Array not_equal(const Operand& a, const Operand& b) { return map(Op::NotEqual, a, b); }
Array less(const Operand& a, const Operand& b) { return map(Op::Less, a, b); }
Array less_equal(const Operand& a, const Operand& b) { return map(Op::LessEqual, a, b); }
Array greater(const Operand& a, const Operand& b) { return map(Op::Greater, a, b); }
Array greater_equal(const Operand& a, const Operand& b) { return map(Op::GreaterEqual, a, b); }
Array logical_and(const Operand& a, const Operand& b) { return map(Op::LogicalAnd, a, b); }
Array logical_or(const Operand& a, const Operand& b) { return map(Op::LogicalOr, a, b); }
Array logical_not(const Array& x, std::source_location where) { return map(Op::LogicalNot, x, where); }

Array detail::negative(const Operand& x) {
  return wrap(graph::record_map(Op::Negative, {argument(x, Op::Negative, x.where())}, x.where()));
}

Array where(const Operand& condition, const Operand& a, const Operand& b) {
  const Where at = condition.where();
  return detail::wrap(graph::record_map(
      Op::Where, {argument(condition, Op::Where, at), argument(a, Op::Where, at), argument(b, Op::Where, at)}, at));
}

Array astype(const Array& x, Dtype dtype, std::source_location where) {
  return detail::wrap(graph::record_cast(detail::edge(x, "astype", where), dtype, where));
}

}  // namespace v0
}  // namespace tarry
