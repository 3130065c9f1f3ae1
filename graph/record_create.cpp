// Arrays from a rule: scalars, iotas and arithmetic on them. No memory.
#include <tarry/create.h>
#include <tarry/ops.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/record.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Op;

std::span<const std::int64_t> extents(const Shape& shape) { return {shape.data(), shape.size()}; }

/// What the caller wants, else the default float.
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
  graph::check_shape(op, extents(shape), where);
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
    TARRY_THROW(InvalidArgument, op, where, "takes finite numbers, not " + std::to_string(value.to_double()));
  }
}

/// An integer argument of arange as int64.
std::int64_t whole(Scalar value, Where where) {
  graph::ScalarCell cell;
  if (!graph::to_cell(value, int64, cell)) {
    TARRY_THROW(InvalidArgument, "arange", where,
                "the argument " + std::to_string(value.as_uint()) + " does not fit int64");
  }
  return cell.as<std::int64_t>();
}

__extension__ typedef __int128 Wide;  // differences of two int64

Array arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step, Dtype dtype, Where where) {
  const Wide steps = (static_cast<Wide>(stop) - start + step + (step > 0 ? -1 : 1)) / step;
  const Wide count = steps > 0 ? steps : 0;
  if (count > INT64_MAX) {
    TARRY_THROW(InvalidArgument, "arange", where,
                "from " + std::to_string(start) + " to " + std::to_string(stop) + " are more than 2^63 - 1 elements");
  }
  const auto last = static_cast<std::int64_t>(start + (count > 0 ? count - 1 : 0) * step);
  graph::ScalarCell cell;
  if (count > 0 && !(graph::to_cell(start, dtype, cell) && graph::to_cell(last, dtype, cell))) {
    TARRY_THROW(InvalidArgument, "arange", where,
                std::to_string(start) + " to " + std::to_string(last) + " does not fit " + std::string(name(dtype)));
  }
  const Dims shape{static_cast<std::int64_t>(count)};
  Edge e = graph::record_iota(shape.span(), 0, where);
  if (start != 0 || step != 1) e = affine(e, start, step, where);
  return detail::wrap(graph::record_cast(e, dtype, where));
}

Array arange_floats(double start, double stop, double step, Dtype dtype, Where where) {
  const double steps = std::ceil((stop - start) / step);
  if (!(steps < 9.2e18)) TARRY_THROW(InvalidArgument, "arange", where, "the range has more than 2^63 - 1 elements");
  const Dims shape{steps > 0 ? static_cast<std::int64_t>(steps) : 0};
  const Edge index = graph::record_cast(graph::record_iota(shape.span(), 0, where), float64, where);
  return detail::wrap(graph::record_cast(affine(index, start, step, where), dtype, where));
}

}  // namespace

Array full(const Shape& shape, Scalar value, std::optional<Dtype> dtype, std::source_location where) {
  return fill("full", shape, value, dtype.value_or(value.default_dtype()), where);
}
Array zeros(const Shape& shape, std::optional<Dtype> dtype, std::source_location where) {
  return fill("zeros", shape, 0, float_or(dtype), where);
}
Array ones(const Shape& shape, std::optional<Dtype> dtype, std::source_location where) {
  return fill("ones", shape, 1, float_or(dtype), where);
}

Array full_like(const Array& x, Scalar value, std::optional<Dtype> dtype, std::source_location where) {
  return fill_like("full_like", x, value, dtype, where);
}
Array zeros_like(const Array& x, std::optional<Dtype> dtype, std::source_location where) {
  return fill_like("zeros_like", x, 0, dtype, where);
}
Array ones_like(const Array& x, std::optional<Dtype> dtype, std::source_location where) {
  return fill_like("ones_like", x, 1, dtype, where);
}

Array arange(Scalar start, Scalar stop, Scalar step, std::optional<Dtype> dtype, std::source_location where) {
  const support::DefaultFloatingPoint state;
  bool integers = true;
  for (const Scalar s : {start, stop, step}) {
    check_finite("arange", s, where);
    if (s.kind() == Scalar::Kind::Bool) TARRY_THROW(InvalidArgument, "arange", where, "takes numbers, not bool");
    integers = integers && s.is_integer();
  }
  if (step.to_double() == 0) TARRY_THROW(InvalidArgument, "arange", where, "step is 0");
  const Dtype wanted = dtype.value_or(widest({start, stop, step}, int64));
  graph::check_available("arange", wanted, where);
  if (wanted == bool_) TARRY_THROW(InvalidArgument, "arange", where, "makes numbers, not bool");
  if (integers) return arange_integers(whole(start, where), whole(stop, where), whole(step, where), wanted, where);
  if (is_integral(wanted)) {
    TARRY_THROW(InvalidArgument, "arange", where,
                "floating arguments do not make " + std::string(name(wanted)) + "; convert with astype");
  }
  return arange_floats(start.to_double(), stop.to_double(), step.to_double(), wanted, where);
}

Array arange(Scalar stop, std::optional<Dtype> dtype, std::source_location where) {
  return arange(0, stop, 1, dtype, where);
}

Array linspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options, std::source_location where) {
  check_finite("linspace", start, where);
  check_finite("linspace", stop, where);
  const Dtype dtype = options.dtype.value_or(widest({start, stop}, graph::context().default_float));
  graph::check_available("linspace", dtype, where);
  if (count < 0) TARRY_THROW(InvalidArgument, "linspace", where, "count " + std::to_string(count) + " is negative");
  if (!is_floating(dtype)) {
    TARRY_THROW(InvalidArgument, "linspace", where, "dtype " + std::string(name(dtype)) + " is not floating");
  }
  const support::DefaultFloatingPoint state;
  const double first = start.to_double(), last = stop.to_double();
  const std::int64_t intervals = options.endpoint ? count - 1 : count;
  const double step = intervals > 0 ? (last - first) / static_cast<double>(intervals) : 0;
  const Dims shape{count};
  const Edge index = graph::record_iota(shape.span(), 0, where);
  Edge e = affine(graph::record_cast(index, float64, where), first, step, where);
  if (options.endpoint && count > 1) {
    const Edge at_end = graph::record_map(Op::Equal, {{index, 0}, {Edge(), count - 1}}, where);
    e = graph::record_map(Op::Where, {{at_end, 0}, {Edge(), last}, {e, 0}}, where);
  }
  return detail::wrap(graph::record_cast(e, dtype, where));
}

Array eye(std::int64_t rows, EyeOptions options, std::source_location where) {
  const std::int64_t columns = options.columns == -1 ? rows : options.columns;
  const Dims shape{rows, columns}, down{rows, 1}, across{1, columns};
  graph::check_shape("eye", shape.span(), where);
  const Dtype dtype = float_or(options.dtype);
  graph::check_available("eye", dtype, where);
  // column == row + k; k beyond the matrix is all zeros, and the sum must not wrap.
  const std::int64_t k = std::clamp(options.k, -rows, columns);
  const Edge row = affine(graph::record_iota(down.span(), 0, where), k, 1, where);
  const Edge column = graph::record_iota(across.span(), 1, where);
  const Edge diagonal = graph::record_map(Op::Equal, {{row, 0}, {column, 0}}, where);
  return detail::wrap(graph::record_cast(diagonal, dtype, where));
}

}  // namespace v0
}  // namespace tarry
