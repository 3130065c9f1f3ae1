// The public elementwise operations: one row per function.
#include <tarry/ops.h>

#include "graph/record/record.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Edge;
using graph::Op;

graph::Argument argument(const Operand& x, Op op, Where where) { return detail::argument(x, name(op), where); }

Array map(Op op, std::span<graph::Argument> arguments, Where where) {
  return detail::wrap(graph::record_map_from(op, arguments, where));
}

Array map(Op op, const Array& x, Where where) try {
  graph::Argument arguments[] = {{detail::edge(x, name(op), where), 0}};
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

#define TARRY_UNARY(NAME, ENUM) \
  Array NAME(const Array& x, std::source_location where) { return map(Op::ENUM, x, where); }
#define TARRY_BINARY(NAME, ENUM) \
  Array NAME(const Operand& a, const Operand& b) { return map(Op::ENUM, a, b); }
#define TARRY_ROUNDING(NAME, ENUM) \
  Array NAME(const Array& x, std::source_location where) { return rounded(Op::ENUM, x, where); }

TARRY_BINARY(add, Add)
TARRY_BINARY(subtract, Subtract)
TARRY_BINARY(multiply, Multiply)
TARRY_BINARY(divide, Divide)
TARRY_BINARY(floor_divide, FloorDivide)
TARRY_BINARY(remainder, Remainder)
TARRY_BINARY(pow, Pow)
TARRY_UNARY(negative, Negative)
TARRY_UNARY(abs, Abs)
TARRY_UNARY(sign, Sign)
TARRY_UNARY(square, Square)
TARRY_UNARY(reciprocal, Reciprocal)
TARRY_BINARY(minimum, Minimum)
TARRY_BINARY(maximum, Maximum)

TARRY_ROUNDING(ceil, Ceil)
TARRY_ROUNDING(floor, Floor)
TARRY_ROUNDING(round, Round)
TARRY_ROUNDING(trunc, Trunc)

TARRY_UNARY(sqrt, Sqrt)
TARRY_UNARY(rsqrt, Rsqrt)
TARRY_UNARY(exp, Exp)
TARRY_UNARY(expm1, Expm1)
TARRY_UNARY(log, Log)
TARRY_UNARY(log1p, Log1p)
TARRY_UNARY(log2, Log2)
TARRY_UNARY(log10, Log10)
TARRY_UNARY(sin, Sin)
TARRY_UNARY(cos, Cos)
TARRY_UNARY(tan, Tan)
TARRY_UNARY(asin, Asin)
TARRY_UNARY(acos, Acos)
TARRY_UNARY(atan, Atan)
TARRY_UNARY(sinh, Sinh)
TARRY_UNARY(cosh, Cosh)
TARRY_UNARY(tanh, Tanh)
TARRY_UNARY(asinh, Asinh)
TARRY_UNARY(acosh, Acosh)
TARRY_UNARY(atanh, Atanh)
TARRY_UNARY(erf, Erf)
TARRY_UNARY(sigmoid, Sigmoid)
TARRY_BINARY(atan2, Atan2)
TARRY_BINARY(hypot, Hypot)
TARRY_BINARY(logaddexp, Logaddexp)
TARRY_BINARY(copysign, Copysign)
TARRY_BINARY(nextafter, Nextafter)

TARRY_BINARY(bitwise_and, BitwiseAnd)
TARRY_BINARY(bitwise_or, BitwiseOr)
TARRY_BINARY(bitwise_xor, BitwiseXor)
TARRY_UNARY(bitwise_invert, BitwiseInvert)
TARRY_BINARY(bitwise_left_shift, BitwiseLeftShift)
TARRY_BINARY(bitwise_right_shift, BitwiseRightShift)

TARRY_BINARY(equal, Equal)
TARRY_BINARY(not_equal, NotEqual)
TARRY_BINARY(less, Less)
TARRY_BINARY(less_equal, LessEqual)
TARRY_BINARY(greater, Greater)
TARRY_BINARY(greater_equal, GreaterEqual)
TARRY_UNARY(signbit, Signbit)

TARRY_BINARY(logical_and, LogicalAnd)
TARRY_BINARY(logical_or, LogicalOr)
TARRY_BINARY(logical_xor, LogicalXor)
TARRY_UNARY(logical_not, LogicalNot)

#undef TARRY_UNARY
#undef TARRY_BINARY
#undef TARRY_ROUNDING

Array detail::negative(const Operand& x) { return map(Op::Negative, x); }
Array detail::bitwise_invert(const Operand& x) { return map(Op::BitwiseInvert, x); }

Array fma(const Operand& a, const Operand& b, const Operand& c) { return map(Op::Fma, a, b, c); }

Array isfinite(const Array& x, std::source_location where) { return classified(Op::Isfinite, x, true, where); }
Array isinf(const Array& x, std::source_location where) { return classified(Op::Isinf, x, false, where); }
Array isnan(const Array& x, std::source_location where) { return classified(Op::Isnan, x, false, where); }

Array where(const Operand& condition, const Operand& a, const Operand& b) { return map(Op::Where, condition, a, b); }

Array astype(const Array& x, Dtype dtype, std::source_location where) try {
  return detail::wrap(graph::record_cast(detail::edge(x, "astype", where), dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("astype", where)

Array positive(const Array& x, std::source_location where) try {
  if (const Edge e = detail::edge(x, "positive", where); e.node()->dtype == bool_) {
    TARRY_THROW(InvalidArgument, "positive", where,
                "takes numbers, not " + graph::Typed(e).str() + "; convert with astype first");
  }
  return x;
}
TARRY_OR_OUT_OF_MEMORY("positive", where)

}  // namespace v0
}  // namespace tarry
