// Reductions and scans.
#include <string>
#include <utility>

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

/// The arguments of the package's function of masked reductions beside the array.
struct Choice {
  nb::handle where, initial;
  /// True where a mask or an initial value is given.
  [[nodiscard]] bool given() const { return !initial.is_none() || !(where.is_none() || where.ptr() == Py_True); }
};

/// The reduction of this name of the elements where a mask is true, on from an initial value.
template <class... Argument>
Array masked(const char* name, Value& x, const Axes& axis, const Choice& choice, Argument&&... arguments) {
  nb::object axes = nb::none();
  if (!axis.all()) {
    nb::list each;
    for (const std::int64_t one : axis.vector()) each.append(one);
    axes = nb::tuple(each);
  }
  const nb::object reduce = nb::module_::import_("tarry._masked").attr("reduce");
  const nb::object made = reduce(name, object(x.array()), axes, "initial"_a = choice.initial, "where"_a = choice.where,
                                 std::forward<Argument>(arguments)...);
  return array_of(made.ptr());
}

/// As define, with words on what NumPy's arguments do.
template <class F, class... Extra>
void define_masked(nb::module_& m, ArrayClass& array, const char* name, const char* words, F f, const Extra&... extra) {
  const std::string text = std::string(document(name)) + "\n\n" + words;
  m.def(name, f, "x"_a, extra..., text.c_str());
  array.def(name, f, extra..., text.c_str());
}
constexpr const char* kWhere =
    "Elements where the mask `where`, which broadcasts to the shape of x, is false are left out.";
constexpr const char* kInitial =
    "Elements where the mask `where`, which broadcasts to the shape of x, is false are left out. The result goes on "
    "from `initial`, without which a mask has no smallest or largest element and is an error.";
constexpr const char* kTotal =
    "Elements where the mask `where`, which broadcasts to the shape of x, is false are left out. The result goes on "
    "from `initial`.";
constexpr const char* kMoment =
    "Elements where the mask `where`, which broadcasts to the shape of x, is false are left out. `mean`, with the axes "
    "that x has, saves its computation; `ddof` is `correction` under NumPy's name; x is converted to `dtype` first.";

void plain(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define(
      m, array, name, [f](Value x, const Axes& axis, bool keepdims) { return f(x.array(), axis, {keepdims}, here()); },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false);
}
/// Reductions of bools.
void deciding(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define_masked(
      m, array, name, kWhere,
      [f, name](Value x, const Axes& axis, bool keepdims, nb::handle where) {
        const Choice choice{where, nb::none()};
        if (choice.given()) return masked(name, x, axis, choice, "keepdims"_a = keepdims);
        return f(x.array(), axis, {keepdims}, here());
      },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "where"_a = true);
}
/// Smallest and largest elements.
void choosing(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define_masked(
      m, array, name, kInitial,
      [f, name](Value x, const Axes& axis, bool keepdims, nb::handle initial, nb::handle where) {
        const Choice choice{where, initial};
        if (choice.given()) return masked(name, x, axis, choice, "keepdims"_a = keepdims);
        return f(x.array(), axis, {keepdims}, here());
      },
      "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "initial"_a = nb::none(), "where"_a = true);
}
void summing(nb::module_& m, ArrayClass& array, const char* name, Summing f) {
  define_masked(
      m, array, name, kTotal,
      [f, name](Value x, const Axes& axis, MaybeDtype dtype, bool keepdims, nb::handle initial, nb::handle where) {
        const Choice choice{where, initial};
        if (choice.given()) return masked(name, x, axis, choice, "dtype"_a = dtype, "keepdims"_a = keepdims);
        return f(x.array(), axis, {keepdims, dtype}, here());
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "initial"_a = nb::none(),
      "where"_a = true);
}
/// Means: in another dtype where one is named.
void averaging(nb::module_& m, ArrayClass& array, const char* name, Plain f) {
  define_masked(
      m, array, name, kWhere,
      [f, name](Value x, const Axes& axis, MaybeDtype dtype, bool keepdims, nb::handle where) {
        const Choice choice{where, nb::none()};
        if (choice.given()) return masked(name, x, axis, choice, "dtype"_a = dtype, "keepdims"_a = keepdims);
        return f(dtype ? astype(x.array(), *dtype, here()) : x.array(), axis, {keepdims}, here());
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "where"_a = true);
}
/// Variances and deviations, in another dtype or from another mean where one is named.
void moment(nb::module_& m, ArrayClass& array, const char* name, Moment f) {
  define_masked(
      m, array, name, kMoment,
      [f, name](Value x, const Axes& axis, MaybeDtype dtype, double correction, bool keepdims,
                std::optional<double> ddof, nb::handle mean, nb::handle where) {
        const Choice choice{where, nb::none()};
        if (choice.given() || !mean.is_none()) {
          return masked(name, x, axis, choice, "dtype"_a = dtype, "keepdims"_a = keepdims,
                        "correction"_a = ddof.value_or(correction), "mean"_a = mean);
        }
        const Array given = dtype ? astype(x.array(), *dtype, here()) : x.array();
        return f(given, axis, {keepdims, ddof.value_or(correction)}, here());
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "correction"_a = 0.0, "keepdims"_a = false,
      "ddof"_a = nb::none(), "mean"_a = nb::none(), "where"_a = true);
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
  choosing(m, array, "min", &min);
  choosing(m, array, "max", &max);
  deciding(m, array, "any", &any);
  deciding(m, array, "all", &all);
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
  choosing(m, array, "nanmin", &nanmin);
  choosing(m, array, "nanmax", &nanmax);
  averaging(m, array, "nanmean", &nanmean);
  moment(m, array, "nanvar", &nanvar);
  moment(m, array, "nanstd", &nanstd);
  plain(m, array, "ptp", &ptp);
  m.def(
      "_average",
      [](Value x, const Axes& axis, Value weights, bool keepdims) {
        if (weights.is_none()) return mean(x.array(), axis, {keepdims}, here());
        return average(x.array(), weights.array(), axis, {keepdims}, here());
      },
      "x"_a, "axis"_a = nb::none(), "weights"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, document("average"));
  m.def(
      "_cov",
      [](Value x, Value y, bool rowvar, double correction, std::optional<double> ddof) {
        return cov(variables(x, y, rowvar), {rowvar, ddof.value_or(correction)}, here());
      },
      "x"_a, "y"_a = nb::none(), "rowvar"_a = true, nb::kw_only(), "correction"_a = 1.0, "ddof"_a = nb::none(),
      document("cov"));
  m.def(
      "_corrcoef", [](Value x, Value y, bool rowvar) { return corrcoef(variables(x, y, rowvar), {rowvar}, here()); },
      "x"_a, "y"_a = nb::none(), "rowvar"_a = true, document("corrcoef"));
}

}  // namespace tarry::python
