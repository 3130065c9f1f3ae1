// promote and result_type: the promotion of two dtypes (docs/reference/numerics.md, "Promotion").
#include <tarry/type_info.h>

#include <algorithm>

#include "graph/record/record.h"

#include "support/check.h"

namespace tarry {
namespace graph {
namespace {

Dtype signed_of_size(std::size_t bytes) {
  switch (bytes) {
    case 1: return int8;
    case 2: return int16;
    case 4: return int32;
    default: return int64;
  }
}

/// The smallest signed dtype that holds all values of both.
std::optional<Dtype> mixed_sign(Dtype signed_, Dtype unsigned_) {
  if (unsigned_ == uint64) return {};
  return signed_of_size(std::max(itemsize(signed_), 2 * itemsize(unsigned_)));
}

Dtype wider(Dtype a, Dtype b) { return itemsize(a) >= itemsize(b) ? a : b; }

Dtype floats(Dtype a, Dtype b) {
  const bool two_halves = a != b && itemsize(a) == 2 && itemsize(b) == 2;  // neither half format holds the other
  return two_halves ? float32 : wider(a, b);
}

/// The dtype that a weak scalar and an array dtype compute in.
Dtype with_scalar(Dtype array, Scalar scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return array;
    case Scalar::Kind::Int:
    case Scalar::Kind::UInt: return array == bool_ ? int64 : array;
    case Scalar::Kind::Float: break;
  }
  return is_floating(array) ? array : fractional(array);
}

Dtype complex_with(Dtype complex, Dtype other) {
  return other == float64 || other == complex128 ? complex128 : complex;
}

}  // namespace

std::optional<Dtype> promote(Dtype a, Dtype b) noexcept {
  if (tarry::info(a).kind > tarry::info(b).kind) std::swap(a, b);  // Bool < Int < UInt < Float < Complex
  const DtypeKind low = tarry::info(a).kind, high = tarry::info(b).kind;
  if (high == DtypeKind::Complex) return complex_with(b, a);
  if (high == DtypeKind::Float) return low == DtypeKind::Float ? floats(a, b) : b;
  if (low == DtypeKind::Bool) return b;
  return low == high ? wider(a, b) : mixed_sign(a, b);
}

void throw_not_promoted(std::string_view op, Dtype a, Dtype b, std::span<const Argument> values, Where where) {
  TARRY_THROW(InvalidDtype, std::string(op), where,
              "no integer dtype holds both " + std::string(tarry::name(std::min(a, b))) + " and " +
                  std::string(tarry::name(std::max(a, b))) + "; convert one of them with astype first" + given(values));
}

namespace {

/// Floats first: what they hold never meets an integer that it clashes with.
[[gnu::noinline]] Dtype promote_arrays(std::string_view op, std::span<const Argument> values, Where where) {
  std::optional<Dtype> arrays;
  for (const bool floating : {true, false}) {
    for (const Argument& v : values) {
      if (!v.edge || is_floating(v.edge.node()->dtype) != floating) continue;
      const Dtype next = v.edge.node()->dtype, so_far = arrays.value_or(next);
      arrays = promote(so_far, next);
      if (!arrays) throw_not_promoted(op, so_far, next, values, where);
    }
  }
  return arrays.value_or(bool_);
}

/// Numbers among themselves keep their types.
Dtype promote_numbers(std::span<const Argument> values) {
  Dtype dtype = bool_;
  for (const Argument& v : values) dtype = *promote(dtype, v.scalar.default_dtype());  // no uint64: see Scalar
  return dtype;
}

}  // namespace

Dtype fractional(Dtype dtype) { return itemsize(dtype) > 2 ? float64 : context().default_float; }

Dtype common_dtype(std::string_view op, std::span<const Argument> values, Where where) {
  const Node* first = nullptr;
  bool mixed = false;
  for (const Argument& v : values) {
    if (!v.edge) continue;
    if (first == nullptr) first = v.edge.node();
    mixed = mixed || v.edge.node()->dtype != first->dtype;
  }
  if (first == nullptr) return promote_numbers(values);
  Dtype dtype = mixed ? promote_arrays(op, values, where) : first->dtype;
  for (const Argument& v : values) {
    if (!v.edge) dtype = with_scalar(dtype, v.scalar);
  }
  return dtype;
}

}  // namespace graph

inline namespace v0 {

Dtype result_type(Dtype a, Dtype b, Where where) {
  if (const auto dtype = graph::promote(a, b)) return *dtype;
  graph::throw_not_promoted("result_type", a, b, {}, where);
}

Dtype result_type(std::span<const TypeOperand> values, Where where) {
  if (values.empty()) TARRY_THROW(InvalidArgument, "result_type", where, "takes a dtype, an array or a number");
  std::optional<Dtype> dtype;
  for (const bool floating : {true, false}) {  // in the order of promote_arrays
    for (const TypeOperand& v : values) {
      if (!v.dtype() || is_floating(*v.dtype()) != floating) continue;
      const Dtype so_far = dtype.value_or(*v.dtype());
      dtype = graph::promote(so_far, *v.dtype());
      if (!dtype) graph::throw_not_promoted("result_type", so_far, *v.dtype(), {}, where);
    }
  }
  const bool only_numbers = !dtype;
  for (const TypeOperand& v : values) {
    if (v.dtype()) continue;
    dtype = only_numbers ? *graph::promote(dtype.value_or(bool_), v.scalar().default_dtype())
                         : graph::with_scalar(*dtype, v.scalar());
  }
  return *dtype;
}

}  // namespace v0
}  // namespace tarry
