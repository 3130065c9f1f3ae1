// Shared by the public reductions.
#include "graph/record/reductions.h"

#include <algorithm>

#include "support/check.h"

namespace tarry::graph {

Dtype accumulator(Op op, Dtype dtype) {
  const bool adds = op == Op::Sum || op == Op::Prod || op == Op::CumulativeSum || op == Op::CumulativeProd;
  switch (tarry::info(dtype).kind) {
    case DtypeKind::Int: return adds ? int64 : itemsize(dtype) < 4 ? int32 : dtype;
    case DtypeKind::Bool: return adds ? int64 : int32;
    case DtypeKind::UInt: return adds ? uint64 : itemsize(dtype) < 4 ? uint32 : dtype;
    default: return float_for_computing(dtype);
  }
}

bool Reduced::reduces(int axis) const { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

Dims Reduced::kept() const {
  Dims result;
  for (int d = 0; d < shape.size(); ++d) {
    if (!reduces(d)) result.push_back(shape[d]);
  }
  return result;
}

Reduced prepare_reduction(std::string_view op, Edge x, const Axes& axes, Where where) {
  Reduced r;
  r.x = std::move(x);
  r.shape = Dims(r.x.node()->shape());
  r.axes = checked_axes(op, axes, r.x, where);
  for (const std::int64_t axis : r.axes) r.count *= r.shape[static_cast<int>(axis)];
  return r;
}

Edge reduce_chain(Op op, const Reduced& r, Where where) {
  Edge e = r.x;
  for (int i = r.axes.size() - 1; i >= 0; --i) {
    e = record_reduce(op, {&e, 1}, {static_cast<std::int32_t>(r.axes[i]), 1}, where);
  }
  return e;
}

Reduced widened(Op op, Reduced r, Where where) {
  r.x = record_cast(r.x, accumulator(op, r.x.node()->dtype), where);
  return r;
}

Edge reduce_widened(Op op, const Reduced& r, Where where) {
  return record_cast(reduce_chain(op, widened(op, r, where), where), r.x.node()->dtype, where);
}

Edge truth(const Edge& x, Where where) {
  return x.node()->dtype == bool_ ? x : record_map(Op::NotEqual, {{x, 0}, {Edge(), 0}}, where);
}

Edge quantify(Op extreme, Reduced r, Where where) {
  TARRY_ASSERT(extreme == Op::Min || extreme == Op::Max);
  if (r.count == 0) return constant_result(r, extreme == Op::Min, bool_, name(extreme), where);
  r.x = record_cast(truth(r.x, where), int32, where);
  return record_cast(reduce_chain(extreme, r, where), bool_, where);
}

void check_not_empty(std::string_view op, const Reduced& r, Where where) {
  for (const std::int64_t axis : r.axes) {
    if (r.shape[static_cast<int>(axis)] == 0) {
      TARRY_THROW(InvalidShape, std::string(op), where,
                  "axis " + std::to_string(axis) + " of " + Typed(r.x.node()->dtype, r.shape.span()).str() +
                      " is empty: nothing has no " + std::string(op));
    }
  }
}

void check_numbers(std::string_view op, const Reduced& r, Where where) {
  if (r.x.node()->dtype == bool_) {
    TARRY_THROW(InvalidDtype, std::string(op), where,
                "takes numbers, not " + Typed(r.x).str() + "; convert with astype first");
  }
}

Edge keep_dimensions(const Reduced& r, const Edge& e, Where where) {
  if (r.axes.empty()) return e;
  IndexMap map;
  Dims shape;
  for (int d = 0; d < r.shape.size(); ++d) {
    if (!r.reduces(d)) map.push_back({d, 0, 1});
    shape.push_back(r.reduces(d) ? 1 : r.shape[d]);
  }
  return record_view(e, map, shape.span(), where);
}

Edge constant_result(const Reduced& r, Scalar value, Dtype dtype, std::string_view op, Where where) {
  return record_view(record_scalar(value, dtype, op, where), IndexMap{}, r.kept().span(), where, r.x.node()->device);
}

Dtype float_for_computing(Dtype dtype) { return is_floating(dtype) && itemsize(dtype) == 2 ? float32 : dtype; }

Dtype statistic_dtype(Dtype given) { return is_floating(given) ? given : float64; }

Edge for_statistics(const Edge& x, Where where) {
  return record_cast(x, float_for_computing(statistic_dtype(x.node()->dtype)), where);
}

}  // namespace tarry::graph
