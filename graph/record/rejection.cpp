// Random numbers by rounds: each element draws again until it accepts a number (docs/reference/numerics.md, "Random
// numbers").
#include <tarry/loop.h>
#include <tarry/random.h>

#include <array>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "graph/record/draws.h"
#include "graph/record/parts.h"
#include "graph/record/random.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace random {
namespace {

using graph::Argument;
using graph::Edge;
using graph::Op;

/// A value of a formula that is written with operators. Its operations are recorded at `where`.
struct Value {
  Edge edge;
  Where where;
};

Value map(Op op, const Value& a) { return {graph::mapped(op, a.edge, a.where), a.where}; }
Value map(Op op, const Value& a, const Value& b) { return {graph::mapped(op, a.edge, b.edge, a.where), a.where}; }
Value map(Op op, const Value& a, double b) { return {graph::mapped(op, a.edge, b, a.where), a.where}; }
Value map(Op op, double a, const Value& b) {
  return {graph::record_map(op, {{Edge(), a}, {b.edge, 0}}, b.where), b.where};
}

template <class A, class B>
concept Operands =
    (std::same_as<A, Value> || std::same_as<B, Value>) && requires(const A& a, const B& b) { map(Op::Add, a, b); };
template <class A, class B>
  requires Operands<A, B>
Value operator+(const A& a, const B& b) {
  return map(Op::Add, a, b);
}
template <class A, class B>
  requires Operands<A, B>
Value operator-(const A& a, const B& b) {
  return map(Op::Subtract, a, b);
}
template <class A, class B>
  requires Operands<A, B>
Value operator*(const A& a, const B& b) {
  return map(Op::Multiply, a, b);
}
template <class A, class B>
  requires Operands<A, B>
Value operator/(const A& a, const B& b) {
  return map(Op::Divide, a, b);
}
template <class A, class B>
  requires Operands<A, B>
Value operator<(const A& a, const B& b) {
  return map(Op::Less, a, b);
}
template <class A, class B>
  requires Operands<A, B>
Value operator<=(const A& a, const B& b) {
  return map(Op::LessEqual, a, b);
}
Value operator&(const Value& a, const Value& b) { return map(Op::LogicalAnd, a, b); }
Value operator|(const Value& a, const Value& b) { return map(Op::LogicalOr, a, b); }
Value operator!(const Value& a) { return map(Op::LogicalNot, a); }
Value operator-(const Value& a) { return map(Op::Negative, a); }
Value log(const Value& a) { return map(Op::Log, a); }
Value log1p(const Value& a) { return map(Op::Log1p, a); }
Value exp(const Value& a) { return map(Op::Exp, a); }
Value sqrt(const Value& a) { return map(Op::Sqrt, a); }
Value floor(const Value& a) { return map(Op::Floor, a); }
Value abs(const Value& a) { return map(Op::Abs, a); }
Value cast(const Value& a, Dtype dtype) { return {graph::record_cast(a.edge, dtype, a.where), a.where}; }
Value constant(double value, Dtype dtype, Where where) {
  return {graph::record_scalar(value, dtype, "random", where), where};
}
Value choose(const Value& condition, const Value& a, const Value& b) {
  return {graph::chosen(condition.edge, a.edge, b.edge, condition.where), condition.where};
}
Value choose(const Value& condition, const Value& a, double b) {
  return {graph::record_map(Op::Where, {{condition.edge, 0}, {a.edge, 0}, {Edge(), b}}, condition.where),
          condition.where};
}

/// A draw of which each element takes words as it needs them. Word j of element i is the word of element i + j * 2^44
/// of the draw: of a loop's round r the words 4 r to 4 r + 3.
class Words {
 public:
  Words(Generator& g, const Shape& shape, const char* op, Where where)
      : where_(where),
        number_(graph::record_iota({shape.data(), shape.size()}, graph::IotaAttributes::kNumber, where)),
        key_(detail::Draws::key(g)),
        draw_(detail::Draws::number(g, op, where)) {
    detail::Draws::take(g);
  }

  /// The first round, to be carried on with next().
  [[nodiscard]] Value first() const { return {graph::record_scalar(0, int64, "random", where_), where_}; }
  [[nodiscard]] static Value next(const Value& round) {
    return {graph::mapped(Op::Add, round.edge, Scalar(std::int64_t{4} << kShift), round.where), round.where};
  }
  [[nodiscard]] Value uniform(const Value& round, int word, Dtype dtype) const {
    return drawn(Op::Uniform, round, word, dtype);
  }
  [[nodiscard]] Value normal(const Value& round, int word, Dtype dtype) const {
    return drawn(Op::Normal, round, word, dtype);
  }
  [[nodiscard]] Where where() const { return where_; }

 private:
  static constexpr int kShift = 44;

  [[nodiscard]] Value drawn(Op op, const Value& round, int word, Dtype dtype) const {
    const Scalar apart(static_cast<std::int64_t>(word) << kShift);
    const Edge number = graph::mapped(Op::Add, graph::mapped(Op::Add, number_, round.edge, where_), apart, where_);
    const std::array<Edge, 3> inputs{number, key_, draw_};
    const Edge bits = graph::record_draw(Op::RandomBits, inputs, dtype == float64 ? uint64 : uint32, where_);
    return {graph::record_draw(op, {&bits, 1}, dtype, where_), where_};
  }

  Where where_;
  Edge number_, key_, draw_;
};

using State = std::vector<Value>;

/// Rounds while the condition holds, element by element. An element that takes more than `limit` stays as it is.
State repeat(const State& init, const std::function<Value(const State&)>& condition,
             const std::function<State(const State&)>& body, std::int64_t limit) {
  const Where where = init[0].where;
  const auto values = [where](std::span<const Array> arrays) {
    State s;
    for (const Array& x : arrays) s.push_back({detail::edge(x, "random", where), where});
    return s;
  };
  const auto arrays = [](const State& s) {
    std::vector<Array> made;
    for (const Value& v : s) made.push_back(detail::wrap(v.edge));
    return made;
  };
  const std::vector<Array> done = detail::while_loop(
      [&](std::span<const Array> s) { return detail::wrap(condition(values(s)).edge); },
      [&](std::span<const Array> s) { return arrays(body(values(s))); }, arrays(init), {.limit = limit}, where);
  return values(done);
}

constexpr std::int64_t kMostRounds = 1 << 16;  // each accepts more than half of the numbers

/// A parameter as a value of `dtype`, and the number that it is where it is one.
struct Parameter {
  Value value;
  std::optional<double> number;
};
Parameter parameter(const char* op, const char* name, const Operand& given, const Shape& shape, Dtype dtype,
                    Where where) {
  const Argument a = detail::argument(given, op, where);
  if (!a.edge) return {{graph::bring_to(a, dtype, op, where), where}, a.scalar.to_double()};
  graph::check_parameter(op, name, a.edge, shape, where);
  return {{graph::record_cast(a.edge, dtype, where), where}, {}};
}

/// Throws where a parameter that is a number is not in range.
void check_number(const char* op, const char* name, const Operand& given, bool (*fits)(double), const char* range,
                  Where where) {
  const Argument a = detail::argument(given, op, where);
  if (a.edge) return;
  if (const double value = a.scalar.to_double(); !fits(value))
    TARRY_THROW(InvalidValue, op, where, std::string(name) + " " + std::to_string(value) + " is not in " + range);
}

/// The dtype that is asked for, else that of floating arrays, else the default float.
Dtype float_of(const char* op, std::initializer_list<const Operand*> parameters, std::optional<Dtype> asked,
               Where where) {
  std::vector<Argument> arrays;
  for (const Operand* const p : parameters) {
    Argument a = detail::argument(*p, op, where);
    if (a.edge && is_floating(a.edge.node()->dtype)) arrays.push_back(std::move(a));
  }
  const Dtype dtype = asked            ? *asked
                      : arrays.empty() ? graph::context().default_float
                                       : graph::common_dtype(op, arrays, where);
  graph::check_floating(op, dtype, where);
  return dtype;
}

/// A gamma number of a, as x * exp(more): where a is small the number itself may be too small for its dtype.
struct Gamma {
  Value x, more;
};

Gamma gamma_of(const Words& words, const Value& a, Dtype dtype) {
  const Value small = a < 1.0, d = choose(small, a + 1.0, a) - 1.0 / 3, c = 1.0 / sqrt(9.0 * d);
  const Value fits = (0.0 < a) & (a < std::numeric_limits<double>::infinity());
  const auto open = [](const State& s) { return s[1]; };
  const auto round = [&](const State& s) {
    const Value x = words.normal(s[2], 0, dtype), u = words.uniform(s[2], 1, dtype), root = 1.0 + c * x;
    const Value v = root * root * root;
    const Value accepted = (0.0 < v) & (log1p(-u) < 0.5 * x * x + d * (1.0 - v + log(v)));
    return State{v, !accepted, Words::next(s[2])};
  };
  const State found =
      repeat({constant(std::nan(""), dtype, words.where()), fits, words.first()}, open, round, kMostRounds);
  const Value power = choose(small, log1p(-words.uniform(words.first(), 2, dtype)) / a, 0.0);
  return {d * found[0], power};
}

/// log(k!), to 2e-11: Stirling's series of k + 1 from 8 on, below it of k + 8 and the factors between.
Value log_factorial(const Value& k) {
  const Value x = k + 1.0, low = x < 8.0, z = choose(low, x + 7.0, x), square = z * z;
  const Value series = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / z;
  const Value between = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) * (x + 5.0) * (x + 6.0);
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return (z - 0.5) * log(z) - z + kHalfLogTwoPi + series - choose(low, log(between), 0.0);
}

/// How many probabilities, from that of 0 on, add up to more than u: `first` is that of 0, ratio(k) that of k to that
/// of k - 1. 0 where first is 0.
Value by_inversion(const Words& words, const Value& first, const std::function<Value(const Value&)>& ratio) {
  static constexpr double kNothing = 0x1p-64;  // what is left then is below what u tells
  constexpr std::int64_t kMostTerms = 200;     // of a mean of up to 10
  const auto open = [](const State& s) { return (0.0 <= s[2]) & (kNothing < s[1]); };
  const auto round = [&](const State& s) {
    const Value k = s[0] + 1.0, p = s[1] * ratio(k);
    return State{k, p, s[2] - p};
  };
  const Value u = words.uniform(words.first(), 2, float64);
  return repeat({constant(0, float64, words.where()), first, u - first}, open, round, kMostTerms)[0];
}

/// Transformed rejection: k = floor((2 a / us + b) u + c) is accepted where v is small, or below its probability times
/// `weight` and the hat's slope.
struct Hat {
  Value a, b, c, v_r, weight;
  std::function<Value(const Value& k)> log_probability;
  std::function<Value(const Value& k)> is_possible;
};
Value by_rejection(const Words& words, const Value& wanted, const Hat& hat) {
  const auto open = [](const State& s) { return s[1]; };
  const auto round = [&](const State& s) {
    const Value u = words.uniform(s[2], 0, float64) - 0.5, v = 1.0 - words.uniform(s[2], 1, float64);
    const Value us = 0.5 - abs(u), k = floor((2.0 * hat.a / us + hat.b) * u + hat.c);
    const Value slowly = log(v * hat.weight / (hat.a / (us * us) + hat.b)) <= hat.log_probability(k);
    const Value accepted = ((0.07 <= us) & (v <= hat.v_r)) | (hat.is_possible(k) & slowly);
    return State{k, !accepted, Words::next(s[2])};
  };
  return repeat({constant(0, float64, words.where()), wanted, words.first()}, open, round, kMostRounds)[0];
}

constexpr double kInverted = 10;  // a mean up to which probabilities are added up

/// One way for a mean that is known, else each element its own.
Value by_mean(const Value& mean, std::optional<double> known, const std::function<Value(const Value& wanted)>& inverted,
              const std::function<Value(const Value& wanted)>& rejected) {
  const Value low = mean < kInverted;
  if (known) return *known < kInverted ? inverted(low) : rejected(!low);
  return choose(low, inverted(low), rejected(!low));
}

Value poisson_of(const Words& words, const Parameter& mean) {
  const Value& m = mean.value;
  return by_mean(
      m, mean.number,
      [&](const Value& wanted) {
        return by_inversion(words, choose(wanted, exp(-m), 0.0), [&](const Value& k) { return m / k; });
      },
      [&](const Value& wanted) {
        const Value b = 0.931 + 2.53 * sqrt(m), log_mean = log(m);
        const Hat hat{.a = 0.02483 * b - 0.059,
                      .b = b,
                      .c = m + 0.43,
                      .v_r = 0.9277 - 3.6224 / (b - 2.0),
                      .weight = 1.1239 + 1.1328 / (b - 3.4),
                      .log_probability = [&](const Value& k) { return k * log_mean - m - log_factorial(k); },
                      .is_possible = [](const Value& k) { return 0.0 <= k; }};
        return by_rejection(words, wanted, hat);
      });
}

Value binomial_of(const Words& words, const Parameter& trials, const Parameter& probability) {
  const Value &n = trials.value, &p = probability.value;
  const Value many = 0.5 < p, q = choose(many, 1.0 - p, p), mean = n * q, odds = q / (1.0 - q);
  std::optional<double> known;
  if (trials.number && probability.number)
    known = *trials.number * std::min(*probability.number, 1 - *probability.number);
  const Value few = by_mean(
      mean, known,
      [&](const Value& wanted) {
        return by_inversion(words, choose(wanted, exp(n * log1p(-q)), 0.0),
                            [&](const Value& k) { return odds * (n - k + 1.0) / k; });
      },
      [&](const Value& wanted) {
        const Value deviation = sqrt(mean * (1.0 - q)), b = 1.15 + 2.53 * deviation, mode = floor((n + 1.0) * q);
        const Value log_odds = log(odds), top = log_factorial(mode) + log_factorial(n - mode) - mode * log_odds;
        const Hat hat{.a = 0.0248 * b + 0.01 * q - 0.0873,
                      .b = b,
                      .c = mean + 0.5,
                      .v_r = 0.92 - 4.2 / b,
                      .weight = (2.83 + 5.1 / b) * deviation,
                      .log_probability =
                          [&](const Value& k) { return k * log_odds + top - log_factorial(k) - log_factorial(n - k); },
                      .is_possible = [&](const Value& k) { return (0.0 <= k) & (k <= n); }};
        return by_rejection(words, wanted, hat);
      });
  return choose(many, n - few, few);
}

}  // namespace

Array gamma(Generator& g, const Shape& shape, const Operand& a, GammaOptions options, Where where) try {
  const support::DefaultFloatingPoint state;
  const Dtype dtype = float_of("gamma", {&a}, options.dtype, where), computed = graph::float_for_computing(dtype);
  check_number("gamma", "a", a, [](double x) { return x >= 0 && std::isfinite(x); }, "[0, inf)", where);
  const Value alpha = parameter("gamma", "a", a, shape, computed, where).value;
  graph::check_shape("gamma", {dtype, {shape.data(), shape.size()}}, where);
  const Gamma made = gamma_of(Words(g, shape, "gamma", where), alpha, computed);
  const Value x = choose(map(Op::Equal, alpha, 0.0), constant(0, computed, where), made.x * exp(made.more));
  return detail::wrap(cast(x, dtype).edge);
}
TARRY_OR_OUT_OF_MEMORY("gamma", where)

Array beta(Generator& g, const Shape& shape, const Operand& a, const Operand& b, GammaOptions options,
           Where where) try {
  const support::DefaultFloatingPoint state;
  const Dtype dtype = float_of("beta", {&a, &b}, options.dtype, where), computed = graph::float_for_computing(dtype);
  const auto fits = [](double x) { return x > 0 && std::isfinite(x); };
  check_number("beta", "a", a, fits, "(0, inf)", where);
  check_number("beta", "b", b, fits, "(0, inf)", where);
  const Value first = parameter("beta", "a", a, shape, computed, where).value,
              second = parameter("beta", "b", b, shape, computed, where).value;
  graph::check_shape("beta", {dtype, {shape.data(), shape.size()}}, where);
  const Words words_x(g, shape, "beta", where), words_y(g, shape, "beta", where);
  const Gamma x = gamma_of(words_x, first, computed), y = gamma_of(words_y, second, computed);
  const Value ratio = exp(log(y.x) + y.more - (log(x.x) + x.more));
  return detail::wrap(cast(1.0 / (1.0 + ratio), dtype).edge);
}
TARRY_OR_OUT_OF_MEMORY("beta", where)

namespace {

/// Counts; -1 where the parameters are none.
Array counts(const Value& found, const Value& valid) {
  return detail::wrap(cast(choose(valid, found, -1.0), int64).edge);
}

}  // namespace

Array poisson(Generator& g, const Shape& shape, const Operand& mean, Where where) try {
  const support::DefaultFloatingPoint state;
  constexpr double kMost = 0x1p62;
  check_number("poisson", "mean", mean, [](double x) { return x >= 0 && x <= kMost; }, "[0, 2^62]", where);
  const Parameter m = parameter("poisson", "mean", mean, shape, float64, where);
  graph::check_shape("poisson", {int64, {shape.data(), shape.size()}}, where);
  const Value found = poisson_of(Words(g, shape, "poisson", where), m);
  return counts(found, (0.0 <= m.value) & (m.value <= kMost));
}
TARRY_OR_OUT_OF_MEMORY("poisson", where)

Array binomial(Generator& g, const Shape& shape, const Operand& n, const Operand& p, Where where) try {
  const support::DefaultFloatingPoint state;
  constexpr double kMost = 0x1p52;
  const Argument trials = detail::argument(n, "binomial", where);
  const bool whole = trials.edge ? is_integral(trials.edge.node()->dtype) : trials.scalar.is_integer();
  if (!whole) {
    const std::string given =
        trials.edge ? "of " + graph::Typed(trials.edge).str() : std::to_string(trials.scalar.to_double());
    TARRY_THROW(InvalidDtype, "binomial", where, "n " + given + " is no integer");
  }
  check_number("binomial", "n", n, [](double x) { return x >= 0 && x <= kMost; }, "[0, 2^52]", where);
  check_number("binomial", "p", p, [](double x) { return x >= 0 && x <= 1; }, "[0, 1]", where);
  const Parameter count = parameter("binomial", "n", n, shape, float64, where),
                  probability = parameter("binomial", "p", p, shape, float64, where);
  graph::check_shape("binomial", {int64, {shape.data(), shape.size()}}, where);
  const Value &c = count.value, &q = probability.value;
  const Value found = binomial_of(Words(g, shape, "binomial", where), count, probability);
  return counts(found, (0.0 <= c) & (c <= kMost) & (0.0 <= q) & (q <= 1.0));
}
TARRY_OR_OUT_OF_MEMORY("binomial", where)

}  // namespace random
}  // namespace v0
}  // namespace tarry
