// Comparisons that no dtype of both operands would answer exactly: composed of exact ones (docs/reference/numerics.md,
// "Comparisons").
#include "graph/record/record.h"

namespace tarry::graph {
namespace {

/// One comparison, for messages and nodes.
struct Comparison {
  Op op;
  Where where;
  std::string_view called;
};

/// The op with its operands exchanged.
Op mirrored(Op op) {
  switch (op) {
    case Op::Less: return Op::Greater;
    case Op::LessEqual: return Op::GreaterEqual;
    case Op::Greater: return Op::Less;
    case Op::GreaterEqual: return Op::LessEqual;
    default: return op;
  }
}

bool is_order(Op op) { return op != Op::Equal && op != Op::NotEqual; }
bool is_upward(Op op) { return op == Op::Less || op == Op::LessEqual; }  // x below y

Edge promoted(const Comparison& call, Op op, Edge a, Edge b) {
  Argument both[] = {{std::move(a), 0}, {std::move(b), 0}};
  return record_promoted(op, both, call.where, call.called);
}
Edge map(const Comparison& call, Op op, Edge a) {
  Argument one[] = {{std::move(a), 0}};
  return record_promoted(op, one, call.where, call.called);
}
Edge number(const Comparison& call, Scalar value, Dtype dtype) {
  return record_scalar(value, dtype, call.called, call.where);
}
Edge cast(const Comparison& call, const Edge& x, Dtype dtype) { return record_cast(x, dtype, call.where); }

/// uint64 u with a signed s: a negative s is below every u.
Edge unsigned_with_signed(const Comparison& call, const Edge& u, const Edge& s) {
  const Edge answer = promoted(call, call.op, u, cast(call, s, uint64)), zero = number(call, 0, s.node()->dtype);
  if (call.op == Op::Equal || is_upward(call.op)) {
    return promoted(call, Op::LogicalAnd, promoted(call, Op::GreaterEqual, s, zero), answer);
  }
  return promoted(call, Op::LogicalOr, promoted(call, Op::Less, s, zero), answer);
}

/// int64 or uint64 x with a float y. x < y is x < ceil(y) and x <= y is x <= floor(y), among integers; the conversion
/// saturates, so only a y at the end that it saturates to wants a test. NaN fails every test here.
Edge wide_with_float(const Comparison& call, const Edge& x, const Edge& given) {
  const Dtype integer = x.node()->dtype;
  const Edge y = cast(call, given, float64);
  const auto below_end = [&] {
    return promoted(call, Op::Less, y, number(call, integer == int64 ? 0x1p63 : 0x1p64, float64));
  };
  const auto from_start = [&] {
    return promoted(call, Op::GreaterEqual, y, number(call, integer == int64 ? -0x1p63 : 0.0, float64));
  };
  if (!is_order(call.op)) {
    const Edge whole = cast(call, y, integer);
    const Edge equal = promoted(call, Op::Equal, x, whole),
               exact = promoted(call, Op::Equal, cast(call, whole, float64), y);
    const Edge answer = promoted(call, Op::LogicalAnd, promoted(call, Op::LogicalAnd, equal, exact), below_end());
    return call.op == Op::Equal ? answer : map(call, Op::LogicalNot, answer);
  }
  const bool up = call.op == Op::Less || call.op == Op::GreaterEqual;
  const Edge bound = cast(call, map(call, up ? Op::Ceil : Op::Floor, y), integer);
  const Edge inside = promoted(call, call.op, x, bound), tested = up ? below_end() : from_start();
  if (call.op == Op::LessEqual || call.op == Op::GreaterEqual) return promoted(call, Op::LogicalAnd, tested, inside);
  Argument choice[] = {{tested, 0}, {inside, 0}, {promoted(call, Op::Equal, y, y), 0}};
  return record_promoted(Op::Where, choice, call.where, call.called);
}

Edge compare_arrays(const Comparison& call, Edge a, Edge b) {
  const Dtype x = a.node()->dtype, y = b.node()->dtype;
  const Comparison exchanged{mirrored(call.op), call.where, call.called};
  if (is_integral(x) && is_floating(y)) {
    if (itemsize(x) == 8) return wide_with_float(call, a, b);
    const Dtype both = float_of_both(x, y);
    return promoted(call, call.op, cast(call, a, both), cast(call, b, both));
  }
  if (is_floating(x) && is_integral(y)) {
    if (itemsize(y) == 8) return wide_with_float(exchanged, b, a);
    const Dtype both = float_of_both(y, x);
    return promoted(call, call.op, cast(call, a, both), cast(call, b, both));
  }
  if (x == uint64 && info(y).kind == DtypeKind::Int) return unsigned_with_signed(call, a, b);
  if (y == uint64 && info(x).kind == DtypeKind::Int) return unsigned_with_signed(exchanged, b, a);
  return promoted(call, call.op, std::move(a), std::move(b));
}

/// x with a number; `op` as if x stood on the left.
Edge compare_with_number(const Comparison& call, Argument& a, Argument& b) {
  const bool first = static_cast<bool>(a.edge);
  Argument &array = first ? a : b, &value = first ? b : a;
  if (array.edge.node()->dtype == bool_) {
    if (value.scalar.kind() == Scalar::Kind::Bool) {
      Argument both[] = {std::move(a), std::move(b)};
      return record_promoted(call.op, both, call.where, call.called);
    }
    array.edge = cast(call, array.edge, uint8);
  }
  const Dtype dtype = array.edge.node()->dtype;
  const Threshold t = threshold(first ? call.op : mirrored(call.op), value.scalar, dtype);
  if (t.answer) return record_constant(array.edge, *t.answer, bool_, call.called, call.where);
  value.edge = record_cell(t.cell, dtype, call.where);
  return promoted(call, call.op, std::move(a.edge), std::move(b.edge));
}

/// A number that meets a number.
Edge own(const Comparison& call, Scalar value) {
  const bool wide = value.kind() == Scalar::Kind::UInt && value.as_uint() > std::uint64_t{INT64_MAX};
  return number(call, value, wide ? uint64 : value.default_dtype());
}

}  // namespace

Dtype float_of_both(Dtype integer, Dtype floating) {
  if (itemsize(integer) == 4) return float64;
  return itemsize(integer) == 2 && itemsize(floating) == 2 ? float32 : floating;
}

Edge record_comparison(Op op, Argument a, Argument b, Where where, std::string_view called) {
  const Comparison call{op, where, called.empty() ? name(op) : called};
  if (a.edge && b.edge) {
    if (a.edge.node()->dtype == b.edge.node()->dtype) return promoted(call, op, std::move(a.edge), std::move(b.edge));
    const Argument both[] = {a, b};  // as they were given, for messages
    check_broadcast(call.called, bool_, both, where);
    return compare_arrays(call, std::move(a.edge), std::move(b.edge));
  }
  if (a.edge || b.edge) return compare_with_number(call, a, b);
  return compare_arrays(call, own(call, a.scalar), own(call, b.scalar));
}

}  // namespace tarry::graph
