// Powers of known exponents as products, inverses and roots.
#include "graph/record/powers.h"

#include <array>
#include <limits>

namespace tarry::graph {
namespace {

Edge computed(Op op, const Edge& x, Where where) { return record_map(op, {{x, 0}}, where); }
Edge computed(Op op, const Edge& a, const Argument& b, Where where) { return record_map(op, {{a, 0}, b}, where); }
Edge inverse(const Edge& x, Where where) { return record_map(Op::Divide, {{Edge(), 1.0}, {x, 0}}, where); }

/// x^2 to x^8, each product rounded: up to seven roundings, 3.5 units in the last place.
Edge product(const Edge& x, int count, Where where) {
  const Edge square = computed(Op::Square, x, where);
  if (count == 2) return square;
  if (count == 3) return computed(Op::Multiply, square, {x, 0}, where);
  const Edge fourth = computed(Op::Square, square, where);
  if (count == 4) return fourth;
  if (count == 5) return computed(Op::Multiply, fourth, {x, 0}, where);
  if (count == 8) return computed(Op::Square, fourth, where);
  const Edge sixth = computed(Op::Multiply, fourth, {square, 0}, where);
  return count == 6 ? sixth : computed(Op::Multiply, sixth, {x, 0}, where);
}

/// A root, or x times it, or one over that. pow has no minus: of -0 it is that of 0, of -inf that of inf.
Edge halves(const Edge& given, double exponent, Where where) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Edge x = computed(Op::Add, given, {Edge(), 0.0}, where), root = computed(Op::Sqrt, x, where);
  Edge power = exponent < 0 ? inverse(root, where) : root;
  if (exponent == 1.5) power = computed(Op::Multiply, x, {root, 0}, where);
  if (exponent == -1.5) power = computed(Op::Multiply, inverse(x, where), {power, 0}, where);
  const Edge is_least = computed(Op::Equal, given, {Edge(), -kInf}, where);
  const Scalar there = exponent < 0 ? 0.0 : kInf;
  return record_map(Op::Where, {{is_least, 0}, {Edge(), there}, {power, 0}}, where);
}

}  // namespace

std::optional<Edge> known_power(const Argument& x, Scalar exponent, Where where) {
  const double number = exponent.to_double();
  const bool is_small = number >= 1 && number <= 8 && number == static_cast<int>(number);
  const bool is_inverse = number <= -1 && number >= -4 && number == static_cast<int>(number);
  const bool is_other = is_inverse || number == 0.5 || number == 1.5 || number == -0.5 || number == -1.5;
  if (!x.edge || x.edge.node()->dtype == bool_ || exponent.kind() == Scalar::Kind::Bool || (!is_small && !is_other))
    return {};
  const std::array<Argument, 2> both{x, {Edge(), exponent}};
  const Dtype dtype = common_dtype("pow", both, where);
  if (!is_floating(dtype) && !is_small) return {};
  // Numbers of half precision are rounded once.
  const bool once = number <= 2 && number >= -1 && number != -0.5 && number != 1.5;
  if (itemsize(dtype) == 2 && is_floating(dtype) && !once) return {};
  const Edge e = record_cast(x.edge, dtype, where);
  if (number == 1) return e;
  if (is_small) return product(e, static_cast<int>(number), where);
  if (number == -1) return inverse(e, where);
  if (is_inverse) return product(inverse(e, where), static_cast<int>(-number), where);
  return halves(e, number, where);
}

}  // namespace tarry::graph
