// Reductions and scans.
#include "python/module.h"
#include "python/values.h"

namespace tarry::python {
namespace {

using Plain = Array (*)(const Array&, const Axes&, ReduceOptions, Where);
using Summing = Array (*)(const Array&, const Axes&, SumOptions, Where);
using Moment = Array (*)(const Array&, const Axes&, MomentOptions, Where);
using Position = Array (*)(const Array&, std::optional<int>, ReduceOptions, Where);
using Running = Array (*)(const Array&, ScanOptions, Where);
using Extreme = Array (*)(const Array&, RunningOptions, Where);
using MaybeDtype = std::optional<Dtype>;

void plain(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define(
      m, array, name, [f](Value x, const Axes& axis, bool keepdims) { return f(x.array(), axis, {keepdims}, here()); },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
void summing(nb::module_& m, ArrayClass& array, const char* name, Summing f) {
  define(
      m, array, name,
      [f](Value x, const Axes& axis, MaybeDtype dtype, bool keepdims) {
        return f(x.array(), axis, {keepdims, dtype}, here());
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
/// Means: in another dtype where one is named.
void averaging(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define(
      m, array, name,
      [f](Value x, const Axes& axis, MaybeDtype dtype, bool keepdims) {
        return f(dtype ? astype(x.array(), *dtype, here()) : x.array(), axis, {keepdims}, here());
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
void moment(nb::module_& m, ArrayClass& array, const char* name, Moment f) {
  define(
      m, array, name,
      [f](Value x, const Axes& axis, double correction, bool keepdims, std::optional<double> ddof) {
        return f(x.array(), axis, {keepdims, ddof.value_or(correction)}, here());
      },
      "axis"_a = nb::none(), nb::kw_only(), "correction"_a = 0.0, "keepdims"_a = false, "ddof"_a = nb::none());
}
void position(nb::module_& m, ArrayClass& array, const char* name, Position f) {
  define(
      m, array, name,
      [f](Value x, std::optional<int> axis, bool keepdims) { return f(x.array(), axis, {keepdims}, here()); },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
void running(nb::module_& m, ArrayClass& array, const char* name, Running f) {
  define(
      m, array, name,
      [f](Value x, std::optional<int> axis, MaybeDtype dtype, bool include_initial, bool reverse) {
        return f(x.array(), {axis, dtype, include_initial, reverse}, here());
      },
      "axis"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "include_initial"_a = false, "reverse"_a = false);
}
/// As running, but of the flattened array where no axis is named: NumPy's cumsum and cumprod.
void flattened(nb::module_& m, ArrayClass& array, const char* name, Running f, const char* doc) {
  const auto run = [f](Value x, std::optional<int> axis, MaybeDtype dtype) {
    if (axis) return f(x.array(), {axis, dtype}, here());
    return f(reshape(x.array(), {-1}, here()), {0, dtype}, here());
  };
  m.def(name, run, "x"_a, "axis"_a = nb::none(), "dtype"_a = nb::none(), doc);
  array.def(name, run, "axis"_a = nb::none(), "dtype"_a = nb::none(), doc);
}
void extreme(nb::module_& m, ArrayClass& array, const char* name, Extreme f) {
  define(
      m, array, name,
      [f](Value x, std::optional<int> axis, bool reverse) { return f(x.array(), {axis, reverse}, here()); },
      "axis"_a = nb::none(), nb::kw_only(), "reverse"_a = false);
}

/// The variables of both, as cov takes them.
Array variables(Value& x, Value& y, bool in_rows) {
  if (y.is_none()) return x.array();
  const auto table = [](const Array& one) { return one.ndim() == 1 ? expand_dims(one, 0, here()) : one; };
  const Array& left = x.array();
  const Array& right = y.array();
  const bool turned = !in_rows && left.ndim() != 1;
  const Array both = concat(
      {turned ? matrix_transpose(left, here()) : table(left), turned ? matrix_transpose(right, here()) : table(right)},
      0, here());
  return in_rows ? both : matrix_transpose(both, here());
}

}  // namespace

void bind_reductions(nb::module_& m, ArrayClass& array) {
  summing(m, array, "sum", &sum);
  summing(m, array, "prod", &prod);
  plain(m, array, "min", &min);
  plain(m, array, "max", &max);
  plain(m, array, "any", &any);
  plain(m, array, "all", &all);
  averaging(m, array, "mean", &mean);
  plain(m, array, "count_nonzero", &count_nonzero);
  plain(m, array, "logsumexp", &logsumexp);
  moment(m, array, "var", &var);
  moment(m, array, "std", &std);
  position(m, array, "argmin", &argmin);
  position(m, array, "argmax", &argmax);
  running(m, array, "cumulative_sum", &cumulative_sum);
  running(m, array, "cumulative_prod", &cumulative_prod);
  flattened(m, array, "cumsum", &cumulative_sum,
            "Running sums along an axis; without one, of the flattened array.\n\n"
            "Shapes: that of x; without an axis one dimension.\n\nDtypes: as sum.");
  flattened(m, array, "cumprod", &cumulative_prod,
            "Running products along an axis; without one, of the flattened array.\n\n"
            "Shapes: that of x; without an axis one dimension.\n\nDtypes: as prod.");
  extreme(m, array, "cumulative_min", &cumulative_min);
  extreme(m, array, "cumulative_max", &cumulative_max);
  m.def(
      "softmax", [](Value x, int axis) { return softmax(x.array(), axis, here()); }, "x"_a, "axis"_a = -1,
      document("softmax"));
  summing(m, array, "nansum", &nansum);
  summing(m, array, "nanprod", &nanprod);
  plain(m, array, "nanmin", &nanmin);
  plain(m, array, "nanmax", &nanmax);
  averaging(m, array, "nanmean", &nanmean);
  moment(m, array, "nanvar", &nanvar);
  moment(m, array, "nanstd", &nanstd);
  plain(m, array, "ptp", &ptp);
  m.def(
      "average",
      [](Value x, const Axes& axis, Value weights, bool keepdims) {
        if (weights.is_none()) return mean(x.array(), axis, {keepdims}, here());
        return average(x.array(), weights.array(), axis, {keepdims}, here());
      },
      "x"_a, "axis"_a = nb::none(), "weights"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, document("average"));
  m.def(
      "cov",
      [](Value x, Value y, bool rowvar, double correction, std::optional<double> ddof) {
        return cov(variables(x, y, rowvar), {rowvar, ddof.value_or(correction)}, here());
      },
      "x"_a, "y"_a = nb::none(), "rowvar"_a = true, nb::kw_only(), "correction"_a = 1.0, "ddof"_a = nb::none(),
      document("cov"));
  m.def(
      "corrcoef", [](Value x, Value y, bool rowvar) { return corrcoef(variables(x, y, rowvar), {rowvar}, here()); },
      "x"_a, "y"_a = nb::none(), "rowvar"_a = true, document("corrcoef"));
}

}  // namespace tarry::python
