// Arrays from a rule: scalars, iotas and arithmetic on them. No memory.
#include <tarry/create.h>
#include <tarry/ops.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/record/record.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Op;

std::span<const std::int64_t> extents(const Shape& shape) { return {shape.data(), shape.size()}; }

/// The dtype that the caller wants, else the default float.
Dtype float_or(std::optional<Dtype> dtype) { return dtype.value_or(graph::context().default_float); }

/// The dtype of the widest floating number; `otherwise` where there is none.
Dtype widest(std::initializer_list<Scalar> numbers, Dtype otherwise) {
  std::optional<Dtype> dtype;
  for (const Scalar s : numbers) {
    if (s.kind() == Scalar::Kind::Float) dtype = *graph::promote(dtype.value_or(s.default_dtype()), s.default_dtype());
  }
  return dtype.value_or(otherwise);
}

Array fill(const char* op, const Shape& shape, Scalar value, Dtype dtype, Where where) {
  graph::check_shape(op, {dtype, extents(shape)}, where);
  return detail::wrap(graph::record_fill(graph::record_scalar(value, dtype, op, where), extents(shape), where));
}

Array fill_like(const char* op, const Array& x, Scalar value, std::optional<Dtype> dtype, Where where) {
  const Edge e = detail::edge(x, op, where);
  const Dtype wanted = dtype.value_or(e.node()->dtype);
  const Edge scalar = graph::record_scalar(value, wanted, op, where);
  const Device device = e.node()->device == Device{} ? graph::context().device : e.node()->device;
  return detail::wrap(graph::record_view(scalar, graph::IndexMap{}, e.node()->shape(), where, device));
}

/// x * step + start in x's dtype.
Edge affine(const Edge& x, Scalar start, Scalar step, Where where) {
  const Edge scaled = graph::record_map(Op::Multiply, {{x, 0}, {Edge(), step}}, where);
  return graph::record_map(Op::Add, {{scaled, 0}, {Edge(), start}}, where);
}

void check_finite(const char* op, Scalar value, Where where) {
  if (!std::isfinite(value.to_double())) {
    TARRY_THROW(InvalidValue, op, where, "takes finite numbers, not " + std::to_string(value.to_double()));
  }
}

__extension__ typedef __int128 Wide;  // differences of any two integers

Wide whole(Scalar value) { return value.kind() == Scalar::Kind::UInt ? Wide{value.as_uint()} : Wide{value.as_int()}; }
Scalar as_scalar(Wide value) {
  return value < 0 ? Scalar(static_cast<std::int64_t>(value)) : Scalar(static_cast<std::uint64_t>(value));
}
std::string text(Wide value) {
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value))
                   : std::to_string(static_cast<std::uint64_t>(value));
}

/// start + i * step. int64 wraps, and the bits are those of every value that int64 or uint64 holds.
Array arange_integers(Wide start, Wide stop, Wide step, Dtype dtype, Where where) {
  const Wide steps = (stop - start + step + (step > 0 ? -1 : 1)) / step;
  const Wide count = steps > 0 ? steps : 0;
  if (count > INT64_MAX) {
    TARRY_THROW(InvalidShape, "arange", where,
                "from " + text(start) + " to " + text(stop) + " are more than 2^63 - 1 elements");
  }
  const Wide last = start + (count > 0 ? count - 1 : 0) * step;
  graph::ScalarCell cell;
  if (count > 0 && !(graph::to_cell(as_scalar(start), dtype, cell) && graph::to_cell(as_scalar(last), dtype, cell))) {
    TARRY_THROW(InvalidValue, "arange", where,
                text(start) + " to " + text(last) + " does not fit " + std::string(name(dtype)));
  }
  const Dims shape{static_cast<std::int64_t>(count)};
  const Edge index = graph::record_iota(shape.span(), 0, where);
  Edge e = index;
  if (start != 0 || step != 1) e = affine(e, static_cast<std::int64_t>(start), static_cast<std::int64_t>(step), where);
  const Wide least = std::min(start, last), most = std::max(start, last);
  if (is_integral(dtype) || most <= INT64_MAX) return detail::wrap(graph::record_cast(e, dtype, where));
  Edge floats = graph::record_cast(graph::record_cast(e, uint64, where), dtype, where);
  if (least < 0) {  // neither integer has all of them; `turn` elements are on the side of the first
    const std::int64_t turn = static_cast<std::int64_t>(step > 0 ? (step - 1 - start) / step : start / -step + 1);
    const Edge early = graph::record_map(Op::Less, {{index, 0}, {Edge(), turn}}, where);
    const Edge negatives = graph::record_cast(e, dtype, where);
    floats = graph::record_map(
        Op::Where, {{early, 0}, {step > 0 ? negatives : floats, 0}, {step > 0 ? floats : negatives, 0}}, where);
  }
  return detail::wrap(floats);
}

/// index * step + start in float64.
Edge spread(const Edge& index, double start, double step, Where where) {
  return affine(graph::record_cast(index, float64, where), start, step, where);
}

/// The same of halves, where float64 has no exponent for the way from the first to the last: a factor of two changes no
/// digit.
Edge spread_far(const Edge& index, double half_start, double half_step, Where where) {
  return graph::record_map(Op::Multiply, {{spread(index, half_start, half_step, where), 0}, {Edge(), 2.0}}, where);
}

Array arange_floats(double start, double stop, double step, Dtype dtype, Where where) {
  const bool far = !std::isfinite(stop - start);
  const double steps = std::ceil(far ? (stop / 2 - start / 2) / (step / 2) : (stop - start) / step);
  if (!(steps < 9.2e18)) TARRY_THROW(InvalidShape, "arange", where, "the range has more than 2^63 - 1 elements");
  const Dims shape{steps > 0 ? static_cast<std::int64_t>(steps) : 0};
  const Edge index = graph::record_iota(shape.span(), 0, where);
  const Edge e = far ? spread_far(index, start / 2, step / 2, where) : spread(index, start, step, where);
  return detail::wrap(graph::record_cast(e, dtype, where));
}

}  // namespace

Array full(const Shape& shape, Scalar value, std::optional<Dtype> dtype, Where where) try {
  return fill("full", shape, value, dtype.value_or(value.default_dtype()), where);
}
TARRY_OR_OUT_OF_MEMORY("full", where)
Array zeros(const Shape& shape, std::optional<Dtype> dtype, Where where) try {
  return fill("zeros", shape, 0, float_or(dtype), where);
}
TARRY_OR_OUT_OF_MEMORY("zeros", where)
Array ones(const Shape& shape, std::optional<Dtype> dtype, Where where) try {
  return fill("ones", shape, 1, float_or(dtype), where);
}
TARRY_OR_OUT_OF_MEMORY("ones", where)

Array full_like(const Array& x, Scalar value, std::optional<Dtype> dtype, Where where) try {
  return fill_like("full_like", x, value, dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("full_like", where)
Array zeros_like(const Array& x, std::optional<Dtype> dtype, Where where) try {
  return fill_like("zeros_like", x, 0, dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("zeros_like", where)
Array ones_like(const Array& x, std::optional<Dtype> dtype, Where where) try {
  return fill_like("ones_like", x, 1, dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("ones_like", where)

Array arange(Scalar start, Scalar stop, Scalar step, std::optional<Dtype> dtype, Where where) try {
  const support::DefaultFloatingPoint state;
  bool integers = true;
  for (const Scalar s : {start, stop, step}) {
    check_finite("arange", s, where);
    if (s.kind() == Scalar::Kind::Bool) TARRY_THROW(InvalidDtype, "arange", where, "takes numbers, not bool");
    integers = integers && s.is_integer();
  }
  if (step.to_double() == 0) TARRY_THROW(InvalidValue, "arange", where, "step is 0");
  const Dtype wanted = dtype.value_or(widest({start, stop, step}, int64));
  graph::check_available("arange", wanted, where);
  if (wanted == bool_) TARRY_THROW(InvalidDtype, "arange", where, "makes numbers, not bool");
  if (integers) return arange_integers(whole(start), whole(stop), whole(step), wanted, where);
  if (is_integral(wanted)) {
    TARRY_THROW(InvalidDtype, "arange", where,
                "floating arguments do not make " + std::string(name(wanted)) + "; convert with astype");
  }
  return arange_floats(start.to_double(), stop.to_double(), step.to_double(), wanted, where);
}
TARRY_OR_OUT_OF_MEMORY("arange", where)

Array arange(Scalar stop, std::optional<Dtype> dtype, Where where) try { return arange(0, stop, 1, dtype, where); }
TARRY_OR_OUT_OF_MEMORY("arange", where)

Array linspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options, Where where) try {
  check_finite("linspace", start, where);
  check_finite("linspace", stop, where);
  const Dtype dtype = options.dtype.value_or(widest({start, stop}, graph::context().default_float));
  graph::check_available("linspace", dtype, where);
  if (count < 0) TARRY_THROW(InvalidValue, "linspace", where, "count " + std::to_string(count) + " is negative");
  if (!is_floating(dtype)) {
    TARRY_THROW(InvalidDtype, "linspace", where, "dtype " + std::string(name(dtype)) + " is not floating");
  }
  const support::DefaultFloatingPoint state;
  const double first = start.to_double(), last = stop.to_double();
  const std::int64_t intervals = options.endpoint ? count - 1 : count;
  const bool far = !std::isfinite(last - first);
  const auto parts = static_cast<double>(std::max<std::int64_t>(intervals, 1));
  const Dims shape{count};
  const Edge index = graph::record_iota(shape.span(), 0, where);
  Edge e = far ? spread_far(index, first / 2, (last / 2 - first / 2) / parts, where)
               : spread(index, first, (last - first) / parts, where);
  if (options.endpoint && count > 1) {
    const Edge at_end = graph::record_map(Op::Equal, {{index, 0}, {Edge(), count - 1}}, where);
    e = graph::record_map(Op::Where, {{at_end, 0}, {Edge(), last}, {e, 0}}, where);
  }
  return detail::wrap(graph::record_cast(e, dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("linspace", where)

Array eye(std::int64_t rows, EyeOptions options, Where where) try {
  const std::int64_t columns = options.columns == -1 ? rows : options.columns;
  const Dims shape{rows, columns}, down{rows, 1}, across{1, columns};
  const Dtype dtype = float_or(options.dtype);
  graph::check_shape("eye", {dtype, shape.span()}, where);
  graph::check_available("eye", dtype, where);
  // column == row + k; k beyond the matrix is all zeros, and the sum must not wrap.
  const std::int64_t k = std::clamp(options.k, -rows, columns);
  const Edge row = affine(graph::record_iota(down.span(), 0, where), k, 1, where);
  const Edge column = graph::record_iota(across.span(), 1, where);
  const Edge diagonal = graph::record_map(Op::Equal, {{row, 0}, {column, 0}}, where);
  return detail::wrap(graph::record_cast(diagonal, dtype, where));
}
TARRY_OR_OUT_OF_MEMORY("eye", where)

}  // namespace v0
}  // namespace tarry
