// The public elementwise operations: most are rows of ops.def, the others follow.
#include <tarry/ops.h>

#include "graph/record/record.h"
#include "graph/record/selection.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Edge;
using graph::Op;

/// An operand as it is: a selection may stay one.
graph::Argument argument(const Operand& x, Op op, Where where) {
  if (x.array() == nullptr) return {Edge(), x.scalar()};
  return {detail::unsettled_edge(x, name(op), where), 0};
}

Array map(Op op, std::span<graph::Argument> arguments, Where where) {
  bool selects = false;
  for (const graph::Argument& a : arguments) selects |= a.edge && a.edge.node()->op == Op::Selection;
  if (selects) [[unlikely]]
    return detail::wrap(graph::record_selected(op, arguments, where));
  return detail::wrap(graph::record_map_from(op, arguments, where));
}

Array map(Op op, const Array& x, Where where) try {
  graph::Argument arguments[] = {{detail::unsettled_edge(x, name(op), where), 0}};
  return map(op, arguments, where);
}
TARRY_OR_OUT_OF_MEMORY(name(op), where)

Array map(Op op, const Operand& x) try {
  const Where where = x.where();
  graph::Argument arguments[] = {argument(x, op, where)};
  return map(op, arguments, where);
}
TARRY_OR_OUT_OF_MEMORY(name(op), x.where())

Array map(Op op, const Operand& a, const Operand& b) try {
  const Where where = a.where();
  graph::Argument arguments[] = {argument(a, op, where), argument(b, op, where)};
  return map(op, arguments, where);
}
TARRY_OR_OUT_OF_MEMORY(name(op), a.where())

Array map(Op op, const Operand& a, const Operand& b, const Operand& c) try {
  const Where where = a.where();
  graph::Argument arguments[] = {argument(a, op, where), argument(b, op, where), argument(c, op, where)};
  return map(op, arguments, where);
}
TARRY_OR_OUT_OF_MEMORY(name(op), a.where())

/// Integers are whole already.
Array rounded(Op op, const Array& x, Where where) try {
  return x.is_defined() && is_integral(x.dtype()) ? x : map(op, x, where);
}
TARRY_OR_OUT_OF_MEMORY(name(op), where)

/// `of_integers` is what every integer answers.
Array classified(Op op, const Array& x, bool of_integers, Where where) try {
  if (!x.is_defined() || !is_integral(x.dtype())) return map(op, x, where);
  const Edge e = detail::edge(x, name(op), where);
  return detail::wrap(graph::record_constant(e, of_integers, bool_, name(op), where));
}
TARRY_OR_OUT_OF_MEMORY(name(op), where)

}  // namespace

// One definition a row of ops.def, by its form.
#define TARRY_DEFINE_Unary(NAME, ENUM) \
  Array NAME(const Array& x, Where where) { return map(Op::ENUM, x, where); }
#define TARRY_DEFINE_Function TARRY_DEFINE_Unary
#define TARRY_DEFINE_Binary(NAME, ENUM) \
  Array NAME(const Operand& a, const Operand& b) { return map(Op::ENUM, a, b); }
#define TARRY_DEFINE_Whole(NAME, ENUM) \
  Array NAME(const Array& x, Where where) { return rounded(Op::ENUM, x, where); }
#define TARRY_DEFINE_Own(NAME, ENUM)
#define TARRY_OP(ENUM, NAME, ARITY, CLASS, RULE, INFIX, COST, ULP32, ULP64, FORM) TARRY_DEFINE_##FORM(NAME, ENUM)
#include "graph/ops.def"
#undef TARRY_OP

Array detail::negative(const Operand& x) { return map(Op::Negative, x); }
Array detail::bitwise_invert(const Operand& x) { return map(Op::BitwiseInvert, x); }

Array fma(const Operand& a, const Operand& b, const Operand& c) { return map(Op::Fma, a, b, c); }

Array isfinite(const Array& x, Where where) { return classified(Op::Isfinite, x, true, where); }
Array isinf(const Array& x, Where where) { return classified(Op::Isinf, x, false, where); }
Array isnan(const Array& x, Where where) { return classified(Op::Isnan, x, false, where); }

Array where(const Operand& condition, const Operand& a, const Operand& b) { return map(Op::Where, condition, a, b); }

Array astype(const Array& x, Dtype dtype, Where where) try {
  const Edge e = detail::unsettled_edge(x, "astype", where);
  return detail::wrap(e.node()->op == Op::Selection ? graph::record_selected_cast(e, dtype, where)
                                                    : graph::record_cast(e, dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("astype", where)

Array positive(const Array& x, Where where) try {
  if (const Edge e = detail::unsettled_edge(x, "positive", where); e.node()->dtype == bool_) {
    TARRY_THROW(InvalidDtype, "positive", where,
                "takes numbers, not " + graph::Typed(e).str() + "; convert with astype first");
  }
  return x;
}
TARRY_OR_OUT_OF_MEMORY("positive", where)

}  // namespace v0
}  // namespace tarry
