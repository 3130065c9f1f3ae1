// Reductions and scans.
#include "python/module.h"
#include "python/values.h"

namespace tarry::python {
namespace {

using Plain = Array (*)(const Array&, const Axes&, ReduceOptions, std::source_location);
using Summing = Array (*)(const Array&, const Axes&, SumOptions, std::source_location);
using Moment = Array (*)(const Array&, const Axes&, MomentOptions, std::source_location);
using Position = Array (*)(const Array&, std::optional<int>, ReduceOptions, std::source_location);
using Running = Array (*)(const Array&, ScanOptions, std::source_location);
using Extreme = Array (*)(const Array&, RunningOptions, std::source_location);
using MaybeDtype = std::optional<Dtype>;

void plain(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define(
      m, array, name, [f](Value x, const Axes& axis, bool keepdims) { return f(x.array(), axis, {keepdims}, line()); },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
void summing(nb::module_& m, ArrayClass& array, const char* name, Summing f) {
  define(
      m, array, name,
      [f](Value x, const Axes& axis, MaybeDtype dtype, bool keepdims) {
        return f(x.array(), axis, {keepdims, dtype}, line());
      },
      "axis"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "keepdims"_a = false);
}
void moment(nb::module_& m, ArrayClass& array, const char* name, Moment f) {
  define(
      m, array, name,
      [f](Value x, const Axes& axis, double correction, bool keepdims) {
        return f(x.array(), axis, {keepdims, correction}, line());
      },
      "axis"_a = nb::none(), nb::kw_only(), "correction"_a = 0.0, "keepdims"_a = false);
}
void position(nb::module_& m, ArrayClass& array, const char* name, Position f) {
  define(
      m, array, name,
      [f](Value x, std::optional<int> axis, bool keepdims) { return f(x.array(), axis, {keepdims}, line()); },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
void running(nb::module_& m, ArrayClass& array, const char* name, Running f) {
  define(
      m, array, name,
      [f](Value x, std::optional<int> axis, MaybeDtype dtype, bool include_initial, bool reverse) {
        return f(x.array(), {axis, dtype, include_initial, reverse}, line());
      },
      nb::kw_only(), "axis"_a = nb::none(), "dtype"_a = nb::none(), "include_initial"_a = false, "reverse"_a = false);
}
void extreme(nb::module_& m, ArrayClass& array, const char* name, Extreme f) {
  define(
      m, array, name,
      [f](Value x, std::optional<int> axis, bool reverse) { return f(x.array(), {axis, reverse}, line()); },
      nb::kw_only(), "axis"_a = nb::none(), "reverse"_a = false);
}

}  // namespace

void bind_reductions(nb::module_& m, ArrayClass& array) {
  summing(m, array, "sum", &sum);
  summing(m, array, "prod", &prod);
  plain(m, array, "min", &min);
  plain(m, array, "max", &max);
  plain(m, array, "any", &any);
  plain(m, array, "all", &all);
  plain(m, array, "mean", &mean);
  plain(m, array, "count_nonzero", &count_nonzero);
  plain(m, array, "logsumexp", &logsumexp);
  moment(m, array, "var", &var);
  moment(m, array, "std", &std);
  position(m, array, "argmin", &argmin);
  position(m, array, "argmax", &argmax);
  running(m, array, "cumulative_sum", &cumulative_sum);
  running(m, array, "cumulative_prod", &cumulative_prod);
  extreme(m, array, "cumulative_min", &cumulative_min);
  extreme(m, array, "cumulative_max", &cumulative_max);
  m.def(
      "softmax", [](Value x, int axis) { return softmax(x.array(), axis, line()); }, "x"_a, "axis"_a = -1,
      document("softmax"));
  summing(m, array, "nansum", &nansum);
  summing(m, array, "nanprod", &nanprod);
  plain(m, array, "nanmin", &nanmin);
  plain(m, array, "nanmax", &nanmax);
  plain(m, array, "nanmean", &nanmean);
  moment(m, array, "nanvar", &nanvar);
  moment(m, array, "nanstd", &nanstd);
  plain(m, array, "ptp", &ptp);
  m.def(
      "average",
      [](Value x, const Axes& axis, Value weights, bool keepdims) {
        if (weights.is_none()) return mean(x.array(), axis, {keepdims}, line());
        return average(x.array(), weights.array(), axis, {keepdims}, line());
      },
      "x"_a, "axis"_a = nb::none(), "weights"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, document("average"));
  m.def(
      "cov", [](Value x, bool rowvar, double correction) { return cov(x.array(), {rowvar, correction}, line()); },
      "x"_a, nb::kw_only(), "rowvar"_a = true, "correction"_a = 1.0, document("cov"));
  m.def(
      "corrcoef", [](Value x, bool rowvar) { return corrcoef(x.array(), {rowvar}, line()); }, "x"_a, nb::kw_only(),
      "rowvar"_a = true, document("corrcoef"));
}

}  // namespace tarry::python
