// Elementwise functions that are compositions of others (docs/reference/numerics.md, "Elementary functions").
#include <tarry/ops.h>
#include <tarry/type_info.h>

#include <cstdlib>
#include <numbers>

#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::chosen;
using graph::Edge;
using graph::mapped;
using graph::Op;

Edge number(const Edge& like, double value, Where where) {
  return graph::record_scalar(value, like.node()->dtype, "number", where);
}

/// An operand of a function of floats, in the dtype that it is computed in, and the dtype of the result.
struct Floating {
  Edge x;
  Dtype dtype;
};
Floating floating(const char* op, const Array& x, Where where) {
  const Edge e = detail::edge(x, op, where);
  graph::check_number(op, e, where);
  const Dtype dtype = is_floating(e.node()->dtype) ? e.node()->dtype : graph::fractional(e.node()->dtype);
  return {graph::record_cast(e, graph::float_for_computing(dtype), where), dtype};
}
Array finished(const Edge& result, Dtype dtype, Where where) {
  return detail::wrap(graph::record_cast(result, dtype, where));
}

/// Both operands in their common dtype; integers become floats where `fractions` is true.
struct Two {
  Edge a, b;
};
Two pair(const char* op, const Operand& left, const Operand& right, bool fractions = false) {
  const Where where = left.where();
  const Argument given[] = {detail::argument(left, op, where), detail::argument(right, op, where)};
  Dtype dtype = graph::common_dtype(op, given, where);
  if (dtype == bool_) {
    TARRY_THROW(InvalidDtype, op, where, "takes numbers, not bool; convert with astype first" + graph::given(given));
  }
  if (fractions && !is_floating(dtype)) dtype = graph::fractional(dtype);
  return {graph::bring_to(given[0], dtype, op, where), graph::bring_to(given[1], dtype, op, where)};
}

Edge truncated_remainder(const Two& p, Where where) {
  if (is_floating(p.a.node()->dtype)) {
    const Edge size = mapped(Op::Remainder, mapped(Op::Abs, p.a, where), mapped(Op::Abs, p.b, where), where, "fmod");
    return mapped(Op::Copysign, size, p.a, where);
  }
  const Edge rest = mapped(Op::Remainder, p.a, p.b, where, "fmod");
  const Edge differ = mapped(Op::NotEqual, mapped(Op::Less, p.a, 0, where), mapped(Op::Less, p.b, 0, where), where);
  const Edge wrong = mapped(Op::LogicalAnd, mapped(Op::NotEqual, rest, 0, where), differ, where);
  return chosen(wrong, mapped(Op::Subtract, rest, p.b, where), rest, where);
}

/// The number of both where one is NaN.
Array extreme(const char* op, Op of, const Operand& left, const Operand& right) {
  const Where where = left.where();
  const auto [a, b] = pair(op, left, right);
  const Edge both = mapped(of, a, b, where, op);
  if (!is_floating(a.node()->dtype)) return detail::wrap(both);
  const Edge second = chosen(mapped(Op::Isnan, b, where), a, both, where);
  return detail::wrap(chosen(mapped(Op::Isnan, a, where), b, second, where));
}

double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

Array round(const Array& x, int decimals, Where where) try {
  const Edge e = detail::edge(x, "round", where);
  graph::check_number("round", e, where);
  const Dtype dtype = e.node()->dtype;
  if (decimals == 0 || (decimals > 0 && !is_floating(dtype))) return round(x, where);
  constexpr int kMost = 308;  // powers of ten that float64 holds
  if (decimals > kMost || decimals < -kMost) {
    TARRY_THROW(InvalidValue, "round", where,
                std::to_string(decimals) + " decimals of " + graph::Typed(e).str() + " are beyond 308");
  }
  const Edge wide = graph::record_cast(e, is_floating(dtype) ? graph::float_for_computing(dtype) : float64, where);
  const Edge power = number(wide, power_of_ten(std::abs(decimals)), where);
  const Op there = decimals > 0 ? Op::Multiply : Op::Divide, back = decimals > 0 ? Op::Divide : Op::Multiply;
  const Edge whole = mapped(Op::Round, mapped(there, wide, power, where), where);
  const Edge near = mapped(back, whole, power, where);
  return finished(chosen(mapped(Op::Isfinite, near, where), near, wide, where), dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("round", where)

Array nan_to_num(const Array& x, NumberOptions options, Where where) try {
  const Edge e = detail::edge(x, "nan_to_num", where);
  if (!is_floating(e.node()->dtype)) return x;
  const auto instead = [&](std::optional<double> given, double usual) {
    return number(e, given.value_or(usual), where);
  };
  const double most = finfo(e.node()->dtype, where).max;
  const Edge sides =
      chosen(mapped(Op::Greater, e, 0, where), instead(options.posinf, most), instead(options.neginf, -most), where);
  const Edge special = chosen(mapped(Op::Isnan, e, where), number(e, options.nan, where), sides, where);
  return detail::wrap(chosen(mapped(Op::Isfinite, e, where), e, special, where));
}
TARRY_OR_OUT_OF_MEMORY("nan_to_num", where)

Array fmod(const Operand& a, const Operand& b) try {
  return detail::wrap(truncated_remainder(pair("fmod", a, b), a.where()));
}
TARRY_OR_OUT_OF_MEMORY("fmod", a.where())

Array fmax(const Operand& a, const Operand& b) try { return extreme("fmax", Op::Maximum, a, b); }
TARRY_OR_OUT_OF_MEMORY("fmax", a.where())
Array fmin(const Operand& a, const Operand& b) try { return extreme("fmin", Op::Minimum, a, b); }
TARRY_OR_OUT_OF_MEMORY("fmin", a.where())

Array heaviside(const Operand& x, const Operand& at_zero) try {
  const Where where = x.where();
  const auto [a, b] = pair("heaviside", x, at_zero, true);
  const Edge side = graph::record_cast(mapped(Op::Greater, a, 0, where), a.node()->dtype, where);
  const Edge step = chosen(mapped(Op::Equal, a, 0, where), b, side, where);
  return detail::wrap(chosen(mapped(Op::Isnan, a, where), a, step, where));
}
TARRY_OR_OUT_OF_MEMORY("heaviside", x.where())

Array exp2(const Array& x, Where where) try {
  const auto [e, dtype] = floating("exp2", x, where);
  return finished(mapped(Op::Pow, number(e, 2, where), e, where), dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("exp2", where)

Array cbrt(const Array& x, Where where) try {
  const auto [e, dtype] = floating("cbrt", x, where);
  const Edge size = mapped(Op::Abs, e, where);
  const Edge third = mapped(Op::Divide, mapped(Op::Log, size, where), 3, where);
  const Edge near = mapped(Op::Exp, third, where);  // a step of Newton's method makes its last digits right
  const Edge square = mapped(Op::Square, near, where);
  const Edge over = mapped(Op::Subtract, near, mapped(Op::Divide, size, square, where), where);
  const Edge better = mapped(Op::Subtract, near, mapped(Op::Divide, over, 3, where), where);
  const Edge usual =
      mapped(Op::LogicalAnd, mapped(Op::Greater, size, 0, where), mapped(Op::Isfinite, size, where), where);
  return finished(mapped(Op::Copysign, chosen(usual, better, near, where), e, where), dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("cbrt", where)

Array sinc(const Array& x, Where where) try {
  const auto [e, dtype] = floating("sinc", x, where);
  const Edge angle = mapped(Op::Multiply, e, std::numbers::pi, where);
  const Edge ratio = mapped(Op::Divide, mapped(Op::Sin, angle, where), angle, where);
  return finished(chosen(mapped(Op::Equal, e, 0, where), number(e, 1, where), ratio, where), dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("sinc", where)

Array deg2rad(const Array& x, Where where) try {
  const auto [e, dtype] = floating("deg2rad", x, where);
  return finished(mapped(Op::Multiply, e, std::numbers::pi / 180, where), dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("deg2rad", where)

Array rad2deg(const Array& x, Where where) try {
  const auto [e, dtype] = floating("rad2deg", x, where);
  return finished(mapped(Op::Multiply, e, 180 / std::numbers::pi, where), dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("rad2deg", where)

}  // namespace v0
}  // namespace tarry
