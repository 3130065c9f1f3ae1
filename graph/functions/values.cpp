// TextValues: C's conversions, and the operations behind its operators and functions.
#include "graph/functions/values.h"

#include <tarry/ops.h>

#include <algorithm>
#include <limits>

namespace tarry::graph {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

bool is_unsigned(Dtype d) { return d >= uint8 && d <= uint64; }

/// Dtypes of two sizes of integers: as C, the unsigned one where it is no smaller.
Dtype wider(Dtype a, Dtype b) {
  if (a == b) return a;
  const bool ua = is_unsigned(a), ub = is_unsigned(b);
  if (ua == ub) return itemsize(a) >= itemsize(b) ? a : b;
  const Dtype of_unsigned = ua ? a : b, of_signed = ua ? b : a;
  return itemsize(of_unsigned) >= itemsize(of_signed) ? of_unsigned : of_signed;
}

Dtype promoted_dtype(Dtype d) { return !is_floating(d) && itemsize(d) < 4 ? int32 : d; }

struct Composed {
  std::string_view name;
  int arity;
  Array (*of)(std::span<const Array> x, Where where);
};
constexpr Composed kComposed[] = {
    {"cbrt", 1, [](std::span<const Array> x, Where w) { return tarry::cbrt(x[0], w); }},
    {"clip", 3,
     [](std::span<const Array> x, Where w) { return tarry::clip(x[0], Operand(x[1], w), Operand(x[2], w), w); }},
    {"deg2rad", 1, [](std::span<const Array> x, Where w) { return tarry::deg2rad(x[0], w); }},
    {"exp2", 1, [](std::span<const Array> x, Where w) { return tarry::exp2(x[0], w); }},
    {"fmod", 2, [](std::span<const Array> x, Where w) { return tarry::fmod(Operand(x[0], w), Operand(x[1], w)); }},
    {"heaviside", 2,
     [](std::span<const Array> x, Where w) { return tarry::heaviside(Operand(x[0], w), Operand(x[1], w)); }},
    {"rad2deg", 1, [](std::span<const Array> x, Where w) { return tarry::rad2deg(x[0], w); }},
    {"sinc", 1, [](std::span<const Array> x, Where w) { return tarry::sinc(x[0], w); }}};

struct Alias {
  std::string_view name;
  Op op;
};
constexpr Alias kAliases[] = {{"fabs", Op::Abs},   {"min", Op::Minimum},     {"max", Op::Maximum},
                              {"rint", Op::Round}, {"signbit", Op::Signbit}, {"rsqrt", Op::Rsqrt}};

bool is_callable(Op op) {
  return info(op).op_class == OpClass::Map && is_pure(op) && op != Op::Where && op != Op::Cast &&
         op != Op::RandomBits && op != Op::MultiplyHigh && op != Op::Uniform && op != Op::Normal;
}

std::optional<Op> operation(std::string_view name) {
  if (const auto* const it = std::ranges::find(kAliases, name, &Alias::name); it != std::end(kAliases)) return it->op;
  for (std::size_t i = 0; i < std::size(kOpTable); ++i)
    if (const auto op = static_cast<Op>(i); graph::name(op) == name && is_callable(op)) return op;
  return std::nullopt;
}

}  // namespace

Dtype TextValues::dtype(const Value& v) {
  if (!v.number) return v.edge.node()->dtype;
  if (v.number->is_real) return float64;
  return v.number->integer >= -kMostInt - 1 && v.number->integer <= kMostInt ? int32 : int64;
}

Edge TextValues::as(const Value& v, Dtype to) const {
  if (!v.number) return record_cast(v.edge, to, where_);
  const Number& n = *v.number;
  if (is_floating(to)) return record_scalar(n.is_real ? n.real : static_cast<double>(n.integer), to, called_, where_);
  if (n.is_real) return record_cast(record_scalar(n.real, float64, called_, where_), to, where_);
  return record_cast(record_scalar(n.integer, int64, called_, where_), to, where_);
}

Dtype TextValues::promoted(const Value& v) { return promoted_dtype(dtype(v)); }

Dtype TextValues::common(const Value& a, const Value& b) {
  if (a.is_weak() != b.is_weak()) {
    const Dtype other = dtype(a.is_weak() ? b : a);
    return is_floating(other) ? other : float64;
  }
  return common(dtype(a), dtype(b));
}

Dtype TextValues::common(Dtype a, Dtype b) {
  const Dtype da = promoted_dtype(a), db = promoted_dtype(b);
  if (is_floating(da) && is_floating(db)) return *promote(da, db);
  if (is_floating(da) || is_floating(db)) return is_floating(da) ? da : db;
  return wider(da, db);
}

TextValues::Number TextValues::folded(char op, const Number& a, const Number& b) {
  const double x = a.is_real ? a.real : static_cast<double>(a.integer);
  const double y = b.is_real ? b.real : static_cast<double>(b.integer);
  return {true, op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y, 0};
}

/// Towards zero, where floor_divide goes down.
Edge TextValues::quotient(const Edge& a, const Edge& b) const {
  const Edge down = mapped(Op::FloorDivide, a, b, where_, called_);
  const Dtype d = a.node()->dtype;
  if (is_unsigned(d)) return down;
  const Edge rest = mapped(Op::Subtract, a, mapped(Op::Multiply, down, b, where_, called_), where_, called_);
  const Edge signs = mapped(Op::NotEqual, mapped(Op::Less, a, Scalar(0), where_),
                            mapped(Op::Less, b, Scalar(0), where_), where_, called_);
  const Edge up =
      both(mapped(Op::NotEqual, rest, Scalar(0), where_), both(signs, mapped(Op::NotEqual, b, Scalar(0), where_)));
  return mapped(Op::Add, down, record_cast(up, d, where_), where_, called_);
}

std::optional<TextValues::Value> TextValues::unary(std::string_view op, const Value& v) const {
  if (op == "!") return Value{neither(truth(v)), std::nullopt};
  if (op == "+") return v.number ? v : Value{as(v, promoted(v)), std::nullopt};
  if (op == "-" && v.number) return number({v.number->is_real, -v.number->real, -v.number->integer});
  const Dtype d = promoted(v);
  if (op == "-") return Value{mapped(Op::Negative, as(v, d), where_), std::nullopt};
  if (is_floating(d)) return std::nullopt;
  return Value{mapped(Op::BitwiseInvert, as(v, d), where_), std::nullopt};
}

std::optional<TextValues::Value> TextValues::binary(std::string_view op, const Value& a, const Value& b) const {
  const auto value = [](Edge e) { return Value{std::move(e), std::nullopt}; };
  if (op == "&&") return value(both(truth(a), truth(b)));
  if (op == "||") return value(either(truth(a), truth(b)));
  const bool arithmetic = op == "+" || op == "-" || op == "*" || op == "/";
  if (arithmetic && a.number && b.number && (a.is_weak() || b.is_weak()))
    return number(folded(op[0], *a.number, *b.number));
  if (op == "<<" || op == ">>") {
    const Dtype d = promoted(a);
    if (is_floating(d) || is_floating(dtype(b))) return std::nullopt;
    return value(
        mapped(op == "<<" ? Op::BitwiseLeftShift : Op::BitwiseRightShift, as(a, d), as(b, d), where_, called_));
  }
  const bool bits = op == "&" || op == "|" || op == "^";
  Dtype d = common(a, b);
  if (bits && dtype(a) == bool_ && dtype(b) == bool_) d = bool_;
  if ((bits || op == "%") && is_floating(d)) return std::nullopt;
  const Edge x = as(a, d), y = as(b, d);
  if (op == "/" && !is_floating(d)) return value(quotient(x, y));
  if (op == "%")
    return value(mapped(Op::Subtract, x, mapped(Op::Multiply, quotient(x, y), y, where_, called_), where_, called_));
  struct Row {
    std::string_view sign;
    Op op;
  };
  constexpr Row kRows[] = {{"+", Op::Add},          {"-", Op::Subtract},  {"*", Op::Multiply},   {"/", Op::Divide},
                           {"&", Op::BitwiseAnd},   {"|", Op::BitwiseOr}, {"^", Op::BitwiseXor}, {"==", Op::Equal},
                           {"!=", Op::NotEqual},    {"<", Op::Less},      {"<=", Op::LessEqual}, {">", Op::Greater},
                           {">=", Op::GreaterEqual}};
  const auto* const row = std::ranges::find(kRows, op, &Row::sign);
  return row == std::end(kRows) ? std::nullopt : std::optional(value(mapped(row->op, x, y, where_, called_)));
}

TextValues::Value TextValues::choice(const Edge& condition, const Value& a, const Value& b) const {
  const bool truths = dtype(a) == bool_ && dtype(b) == bool_;
  const Dtype d = truths ? bool_ : common(a, b);
  return {chosen_of(condition, as(a, d), as(b, d)), std::nullopt};
}

std::optional<TextValues::Callee> TextValues::find(std::string_view name) {
  using Kind = Callee::Kind;
  if (name == "select" || name == "where") return Callee{Kind::Select, {}, 3, {}};
  if (name == "fmin" || name == "fminf")
    return Callee{Kind::LeastNumber, {}, 2, name.ends_with('f') ? std::optional(float32) : std::nullopt};
  if (name == "fmax" || name == "fmaxf")
    return Callee{Kind::MostNumber, {}, 2, name.ends_with('f') ? std::optional(float32) : std::nullopt};
  const auto known = [](std::string_view called, std::optional<Dtype> exact) -> std::optional<Callee> {
    if (const auto op = operation(called)) return Callee{Kind::Map, *op, info(*op).arity, exact};
    const auto* const c = std::ranges::find(kComposed, called, &Composed::name);
    return c == std::end(kComposed) ? std::nullopt : std::optional(Callee{Kind::Composed, {}, c->arity, exact, c->of});
  };
  if (const auto found = known(name, {})) return found;
  if (name.empty() || name.back() != 'f') return std::nullopt;
  return known(name.substr(0, name.size() - 1), float32);
}

std::optional<TextValues::Value> TextValues::call(const Callee& f, const std::vector<Value>& args) const {
  if (f.kind == Callee::Kind::Select) return choice(truth(args[0]), args[1], args[2]);
  Dtype d = promoted(args[0]);
  bool weak = args[0].is_weak();
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Dtype other = dtype(args[i]);
    if (weak != args[i].is_weak())
      d = !is_floating(weak ? other : d) ? float64 : weak ? other : d;
    else
      d = common(d, other);
    weak = weak && args[i].is_weak();
  }
  if (f.exact) d = *f.exact;
  const bool logical = f.op >= Op::LogicalAnd && f.op <= Op::LogicalNot;
  const bool bits = f.op >= Op::BitwiseAnd && f.op <= Op::BitwiseRightShift;
  if (f.kind == Callee::Kind::Map && logical) d = bool_;
  if (f.kind == Callee::Kind::Map && bits && is_floating(d)) return std::nullopt;
  const bool of_floats = f.kind != Callee::Kind::Map || info(f.op).rule == DtypeRule::Float || f.op == Op::Isnan ||
                         f.op == Op::Isinf || f.op == Op::Isfinite || f.op == Op::Signbit;
  if (of_floats && !is_floating(d)) d = float64;
  const bool rounds = f.op == Op::Ceil || f.op == Op::Floor || f.op == Op::Round || f.op == Op::Trunc;
  std::vector<Argument> arguments;
  for (const Value& v : args) arguments.push_back({as(v, d), 0});
  if (f.kind == Callee::Kind::Map && rounds && !is_floating(d)) return Value{arguments[0].edge, std::nullopt};
  if (f.kind == Callee::Kind::Map) return Value{record_map(f.op, arguments, where_, called_), std::nullopt};
  if (f.kind == Callee::Kind::Composed) {
    std::vector<Array> arrays;
    for (const Argument& x : arguments) arrays.push_back(detail::wrap(x.edge));
    return Value{detail::defined_edge(f.composed(arrays, where_), called_, where_), std::nullopt};
  }
  const Edge &a = arguments[0].edge, &b = arguments[1].edge;
  const Op least = f.kind == Callee::Kind::LeastNumber ? Op::Minimum : Op::Maximum;
  const Edge one = chosen_of(mapped(Op::Isnan, b, where_), a, mapped(least, a, b, where_, called_));
  return Value{chosen_of(mapped(Op::Isnan, a, where_), b, one), std::nullopt};
}

}  // namespace tarry::graph
