// Random arrays: Philox words of the row-major number, and what is made of them (docs/reference/numerics.md, "Random
// numbers").
#include <tarry/random.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "graph/record/body.h"
#include "graph/record/draws.h"
#include "graph/record/random.h"
#include "graph/record/record.h"
#include "graph/record/trace.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {

using graph::Edge;
using graph::Op;

namespace detail {

Edge Draws::number(const random::Generator& g, const char* op, Where where) {
  if (graph::OpenLoop::is_recording())
    TARRY_THROW(
        InvalidArgument, op, where,
        "a draw in the body of a loop, which is recorded once, would give the same numbers at every level; draw "
        "before the loop, with an axis for the levels, and scan over what is drawn");
  const graph::Node* const key = ArrayAccess::node(g.argument_);
  if (graph::Tracing* const t = graph::Tracing::here()) {
    if (key != nullptr && key->traced) return t->draw(key, g.draws_, where);
    require_own(g, op, where);
  }
  return graph::record_opaque(g.draws_ % kStream, uint32, where);
}

void Draws::skip(random::Generator& g, std::uint64_t count) {
  const std::uint64_t stream = g.draws_ / kStream;
  g.draws_ += count;
  if (g.draws_ / kStream != stream) renew(g);
}

void Draws::renew(random::Generator& g) {
  const Edge key = graph::record_opaque(g.stream_key(), uint64, {});
  if (graph::Tracing* const t = graph::Tracing::here()) t->made_generator(key);
  g.argument_ = wrap(key);
}

random::Generator Draws::stand_in(Edge key) {
  random::Generator g(0);
  g.argument_ = wrap(std::move(key));
  return g;
}

void Draws::require_known(const random::Generator& g, const char* op, Where where) {
  const graph::Node* const key = ArrayAccess::node(g.argument_);
  if (key == nullptr || !key->traced) return;
  TARRY_THROW(InvalidArgument, op, where,
              "the generator is an argument of a function that is recorded to be replayed, where its key and draws are "
              "not known; fork it outside and pass the fork");
}

void Draws::require_own(const random::Generator& g, const char* op, Where where) {
  require_known(g, op, where);
  const graph::Tracing* const t = graph::Tracing::here();
  if (t == nullptr || t->has_made(ArrayAccess::node(g.argument_))) return;
  TARRY_THROW(InvalidArgument, op, where,
              "a function that is recorded to be replayed draws from a generator from outside, and would give the same "
              "numbers at every call; pass the generator as an argument");
}

}  // namespace detail

namespace random {

Generator::Generator(std::uint64_t seed, std::uint64_t draws) : key_(seed), draws_(draws) {
  detail::Draws::renew(*this);
}

namespace {

std::span<const std::int64_t> extents(const Shape& shape) { return {shape.data(), shape.size()}; }
std::string text(Dtype d) { return std::string(name(d)); }

/// The next draw's words. Everything that can be wrong with the call was checked, or is here before the draw is taken.
Edge words(Generator& g, const Shape& shape, Dtype dtype, const char* op, Where where) {
  graph::check_shape(op, {dtype, extents(shape)}, where);
  const Edge number = graph::record_iota(extents(shape), graph::IotaAttributes::kNumber, where);
  const std::array<Edge, 3> inputs{number, detail::Draws::key(g), detail::Draws::number(g, op, where)};
  Edge drawn = graph::record_draw(Op::RandomBits, inputs, dtype, where);
  detail::Draws::take(g);
  return drawn;
}

/// A float of a word each.
Edge floats(Generator& g, const Shape& shape, Op op, Dtype dtype, const char* called, Where where) {
  const Edge word = words(g, shape, dtype == float64 ? uint64 : uint32, called, where);
  return graph::record_draw(op, {&word, 1}, dtype, where);
}

/// A parameter as the dtype holds it.
double held(double value, Dtype dtype, const char* op, const char* what, Where where) {
  graph::ScalarCell cell;
  if (!std::isfinite(value) || !graph::to_cell(value, dtype, cell)) {
    TARRY_THROW(InvalidValue, op, where,
                std::string(what) + " " + std::to_string(value) + " is not a finite " + text(dtype));
  }
  switch (dtype) {
    case Dtype::Float16: return static_cast<double>(cell.as<Half>());
    case Dtype::BFloat16: return static_cast<double>(cell.as<BFloat16>());
    case Dtype::Float32: return static_cast<double>(cell.as<float>());
    default: return cell.as<double>();
  }
}

Edge times(const Edge& x, double by, const char* op, Where where) {
  return by == 1 ? x : graph::record_map(Op::Multiply, {{x, 0}, {Edge(), by}}, where, op);
}
Edge plus(const Edge& x, double by, const char* op, Where where) {
  return by == 0 ? x : graph::record_map(Op::Add, {{x, 0}, {Edge(), by}}, where, op);
}

}  // namespace

Array bits(Generator& g, const Shape& shape, Dtype dtype, Where where) try {
  if (dtype != uint32 && dtype != uint64) {
    graph::check_available("bits", dtype, where);
    TARRY_THROW(InvalidDtype, "bits", where, "gives uint32 or uint64, not " + text(dtype));
  }
  return detail::wrap(words(g, shape, dtype, "bits", where));
}
TARRY_OR_OUT_OF_MEMORY("bits", where)

Array uniform(Generator& g, const Shape& shape, UniformOptions options, Where where) try {
  const support::DefaultFloatingPoint state;
  const Dtype dtype = options.dtype.value_or(graph::context().default_float);
  graph::check_floating("uniform", dtype, where);
  const double low = held(options.low, dtype, "uniform", "low", where);
  const double high = held(options.high, dtype, "uniform", "high", where);
  if (low >= high) {
    TARRY_THROW(InvalidValue, "uniform", where,
                "low " + std::to_string(low) + " is not less than high " + std::to_string(high) + " in " + text(dtype));
  }
  const double width = held(high - low, dtype, "uniform", "high - low", where);
  Edge x = floats(g, shape, Op::Uniform, dtype, "uniform", where);
  if (low == 0 && high == 1) return detail::wrap(std::move(x));
  x = plus(times(x, width, "uniform", where), low, "uniform", where);
  // The sum may round up to high.
  const Edge end = graph::record_scalar(high, dtype, "uniform", where),
             start = graph::record_scalar(low, dtype, "uniform", where);
  const Edge last = graph::record_map(Op::Nextafter, {{end, 0}, {start, 0}}, where, "uniform");
  return detail::wrap(graph::record_map(Op::Minimum, {{x, 0}, {last, 0}}, where, "uniform"));
}
TARRY_OR_OUT_OF_MEMORY("uniform", where)

Array normal(Generator& g, const Shape& shape, NormalOptions options, Where where) try {
  const support::DefaultFloatingPoint state;
  const Dtype dtype = options.dtype.value_or(graph::context().default_float);
  graph::check_floating("normal", dtype, where);
  const double mean = held(options.mean, dtype, "normal", "mean", where);
  const double deviation = held(options.deviation, dtype, "normal", "deviation", where);
  if (deviation < 0)
    TARRY_THROW(InvalidValue, "normal", where, "deviation " + std::to_string(deviation) + " is negative");
  const Edge x = floats(g, shape, Op::Normal, dtype, "normal", where);
  return detail::wrap(plus(times(x, deviation, "normal", where), mean, "normal", where));
}
TARRY_OR_OUT_OF_MEMORY("normal", where)

Array exponential(Generator& g, const Shape& shape, ExponentialOptions options, Where where) try {
  const support::DefaultFloatingPoint state;
  const Dtype dtype = options.dtype.value_or(graph::context().default_float);
  graph::check_floating("exponential", dtype, where);
  const double scale = held(options.scale, dtype, "exponential", "scale", where);
  if (scale < 0) TARRY_THROW(InvalidValue, "exponential", where, "scale " + std::to_string(scale) + " is negative");
  const Edge u = floats(g, shape, Op::Uniform, dtype, "exponential", where);
  const Edge minus = graph::record_map(Op::Negative, {{u, 0}}, where, "exponential");
  const Edge log = graph::record_map(Op::Log1p, {{minus, 0}}, where, "exponential");
  return detail::wrap(
      times(graph::record_map(Op::Negative, {{log, 0}}, where, "exponential"), scale, "exponential", where));
}
TARRY_OR_OUT_OF_MEMORY("exponential", where)

namespace {

__extension__ typedef __int128 Wide;  // holds every int64 and uint64

Wide whole(Scalar value, const char* what, Where where) {
  if (!value.is_integer())
    TARRY_THROW(
        InvalidDtype, "integers", where,
        std::string(what) + " is a " + (value.kind() == Scalar::Kind::Bool ? "bool" : "fraction") + ", not an integer");
  return value.kind() == Scalar::Kind::UInt ? static_cast<Wide>(value.as_uint()) : static_cast<Wide>(value.as_int());
}
std::string text(Wide value) {
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value))
                   : std::to_string(static_cast<std::uint64_t>(value));
}
Scalar as_scalar(Wide value) {
  return value < 0 ? Scalar(static_cast<std::int64_t>(value)) : Scalar(static_cast<std::uint64_t>(value));
}

}  // namespace

namespace {

void check_integer(Dtype dtype, Where where) {
  graph::check_available("integers", dtype, where);
  if (!is_integral(dtype)) TARRY_THROW(InvalidDtype, "integers", where, "dtype " + text(dtype) + " is no integer");
}

/// The `range` numbers from `first` on, which the dtype has. Numbers wrap: those of int64 and uint64 have the same
/// bits.
Array integers_from(Generator& g, const Shape& shape, Wide first, Wide range, Dtype dtype, Where where) {
  constexpr Wide kOneWord = Wide{1} << 16;  // up to here a word of 32 bits tells the range well enough
  constexpr Wide kAll = Wide{1} << 64;      // as many as there are words: the word is the number
  const Dtype word = range <= kOneWord ? uint32 : uint64;
  Edge number = words(g, shape, word, "integers", where);
  if (range != kAll) {
    const std::array<Edge, 2> factors{number, graph::record_scalar(as_scalar(range), word, "integers", where)};
    number = graph::record_draw(Op::MultiplyHigh, factors, word, where);
  }
  number = graph::record_cast(number, dtype, where);
  if (first == 0) return detail::wrap(number);
  return detail::wrap(graph::record_map(Op::Add, {{number, 0}, {Edge(), as_scalar(first)}}, where, "integers"));
}

}  // namespace

Array integers(Generator& g, const Shape& shape, Dtype dtype, Where where) try {
  check_integer(dtype, where);
  const Wide range = Wide{1} << (8 * itemsize(dtype));
  return integers_from(g, shape, tarry::info(dtype).kind == DtypeKind::Int ? -range / 2 : 0, range, dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("integers", where)

Array integers(Generator& g, const Shape& shape, Scalar low, Scalar high, Dtype dtype, Where where) try {
  check_integer(dtype, where);
  const Wide first = whole(low, "low", where), end = whole(high, "high", where);
  graph::ScalarCell cell;
  if (first >= end)
    TARRY_THROW(InvalidValue, "integers", where, "low " + text(first) + " is not less than high " + text(end));
  if (!graph::to_cell(as_scalar(first), dtype, cell) || !graph::to_cell(as_scalar(end - 1), dtype, cell)) {
    TARRY_THROW(InvalidValue, "integers", where, text(first) + " to " + text(end - 1) + " does not fit " + text(dtype));
  }
  return integers_from(g, shape, first, end - first, dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("integers", where)

Array bernoulli(Generator& g, const Shape& shape, const Operand& p, Where where) try {
  const support::DefaultFloatingPoint state;
  const graph::Argument probability = detail::argument(p, "bernoulli", where);
  Dtype dtype = float32;
  if (probability.edge) {
    const graph::Node& n = *probability.edge.node();
    graph::check_floating("bernoulli", n.dtype, where);
    if (n.dtype == float64) dtype = float64;
    graph::check_parameter("bernoulli", "p", probability.edge, shape, where);
  } else if (const double value = probability.scalar.to_double(); !(value >= 0 && value <= 1)) {
    TARRY_THROW(InvalidValue, "bernoulli", where, "p " + std::to_string(value) + " is not in [0, 1]");
  }
  const Edge u = floats(g, shape, Op::Uniform, dtype, "bernoulli", where);
  if (!probability.edge)
    return detail::wrap(
        graph::record_map(Op::Less, {{u, 0}, {Edge(), probability.scalar.to_double()}}, where, "bernoulli"));
  return detail::wrap(graph::record_map(Op::Less, {{u, 0}, probability}, where, "bernoulli"));
}
TARRY_OR_OUT_OF_MEMORY("bernoulli", where)

Array bernoulli(Generator& g, const Array& p, Where where) try {
  const Edge e = detail::edge(p, "bernoulli", where);
  const auto shape = e.node()->shape();
  return bernoulli(g, Shape(std::vector<std::int64_t>(shape.begin(), shape.end())), p, where);
}
TARRY_OR_OUT_OF_MEMORY("bernoulli", where)

}  // namespace random
}  // namespace v0

void graph::check_floating(const char* op, Dtype dtype, Where where) {
  check_available(op, dtype, where);
  if (!is_floating(dtype))
    TARRY_THROW(InvalidDtype, op, where, "dtype " + std::string(name(dtype)) + " is not floating");
}

void graph::check_parameter(const char* op, const char* name, const Edge& given, const Shape& shape, Where where) {
  const auto extents = given.node()->shape();
  bool fits = extents.size() <= shape.size();
  for (std::size_t d = 0; fits && d < extents.size(); ++d)
    fits = extents[d] == 1 || extents[d] == shape[shape.size() - extents.size() + d];
  if (!fits) {
    TARRY_THROW(InvalidShape, op, where,
                std::string(name) + " of " + Typed(given).str() + " does not broadcast to " + shape.str());
  }
}

}  // namespace tarry
