// Sorting, searching, sets and quantiles; results of several arrays are named tuples.
#include <string_view>
#include <utility>
#include <vector>

#include "python/module.h"
#include "python/values.h"

#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace tarry::python {
namespace {

/// A type of named tuples, an attribute of the module so that they can be pickled.
nb::object named_tuple(nb::module_& m, const char* name, const char* fields) {
  const nb::object made = nb::module_::import_("collections").attr("namedtuple")(name, fields, "module"_a = "tarry");
  m.attr(name) = made;
  return made;
}

Side side_named(std::string_view side) {
  if (side != "left" && side != "right") refuse_value("searchsorted", "side is left or right");
  return side == "left" ? Side::Left : Side::Right;
}

QuantileMethod method_named(std::string_view method) {
  constexpr std::pair<std::string_view, QuantileMethod> kMethods[] = {
      {"linear", QuantileMethod::Linear},
      {"lower", QuantileMethod::Lower},
      {"higher", QuantileMethod::Higher},
      {"midpoint", QuantileMethod::Midpoint},
      {"nearest", QuantileMethod::Nearest},
      {"inverted_cdf", QuantileMethod::InvertedCdf},
      {"hazen", QuantileMethod::Hazen},
      {"weibull", QuantileMethod::Weibull},
      {"median_unbiased", QuantileMethod::MedianUnbiased},
      {"normal_unbiased", QuantileMethod::NormalUnbiased},
  };
  for (const auto& [name, value] : kMethods)
    if (name == method) return value;
  refuse_value("quantile", "there is no method " + std::string(method) + " of quantiles");
}

/// The array, flattened where no axis is named, and the axis.
std::pair<Array, int> along(Value& x, std::optional<int> axis) {
  if (axis) return {x.array(), *axis};
  return {reshape(x.array(), {-1}, here()), 0};
}

using Probability = std::variant<double, std::vector<double>>;

template <class One, class Several>
void bind_quantile(nb::module_& m, const char* name, One one, Several several) {
  m.def(
      name,
      [one, several](Value x, const Probability& q, std::optional<int> axis, std::string_view method, bool keepdims) {
        const QuantileOptions options{axis, method_named(method), keepdims};
        if (const auto* const single = std::get_if<double>(&q)) return one(x.array(), *single, options, here());
        return several(x.array(), std::get<std::vector<double>>(q), options, here());
      },
      "x"_a, "q"_a, "axis"_a = nb::none(), nb::kw_only(), "method"_a = "linear", "keepdims"_a = false,
      document(name + 1));
}

void bind_sets(nb::module_& m) {
  const nb::object all = named_tuple(m, "UniqueAllResult", "values indices inverse_indices counts");
  const nb::object counts = named_tuple(m, "UniqueCountsResult", "values counts");
  const nb::object inverse = named_tuple(m, "UniqueInverseResult", "values inverse_indices");
  m.def(
      "unique_all",
      [all](Value x) {
        const UniqueAll u = unique_all(x.array(), here());
        return all(object(u.values), object(u.indices), object(u.inverse_indices), object(u.counts));
      },
      "x"_a, document("unique_all"));
  m.def(
      "unique_counts",
      [counts](Value x) {
        const UniqueCounts u = unique_counts(x.array(), here());
        return counts(object(u.values), object(u.counts));
      },
      "x"_a, document("unique_counts"));
  m.def(
      "unique_inverse",
      [inverse](Value x) {
        const UniqueInverse u = unique_inverse(x.array(), here());
        return inverse(object(u.values), object(u.inverse_indices));
      },
      "x"_a, document("unique_inverse"));
  m.def("unique_values", [](Value x) { return unique_values(x.array(), here()); }, "x"_a, document("unique_values"));
}

}  // namespace

void bind_sorting(nb::module_& m, ArrayClass& array) {
  // Sorts are stable always: `kind` and `stable` ask for what holds.
  define(
      m, array, "argsort",
      [](Value x, std::optional<int> axis, nb::handle, bool descending, bool) {
        const auto [rows, last] = along(x, axis);
        return argsort(rows, {last, descending}, here());
      },
      "axis"_a = -1, "kind"_a = nb::none(), nb::kw_only(), "descending"_a = false, "stable"_a = true);
  m.def(
      "sort",
      [](Value x, std::optional<int> axis, nb::handle, bool descending, bool) {
        const auto [rows, last] = along(x, axis);
        return sort(rows, {last, descending}, here());
      },
      "x"_a, "axis"_a = -1, "kind"_a = nb::none(), nb::kw_only(), "descending"_a = false, "stable"_a = true,
      document("sort"));
  array.def(
      "sort",
      [](nb::handle self, int axis, nb::handle, bool descending, bool) {
        refuse_nameless(self.ptr(), "sort");
        Array& x = array_of(self.ptr());
        x = sort(x, {axis, descending}, here());
      },
      "axis"_a = -1, "kind"_a = nb::none(), nb::kw_only(), "descending"_a = false, "stable"_a = true,
      "Puts the array's own elements in order along the axis, as sort does.");
  m.def(
      "_partition",
      [](Value x, std::int64_t kth, std::optional<int> axis) {
        const auto [rows, last] = along(x, axis);
        return partition(rows, kth, last, here());
      },
      "x"_a, "kth"_a, "axis"_a = -1, document("partition"));
  const nb::object largest = named_tuple(m, "TopKResult", "values indices");
  m.def(
      "topk",
      [largest](Value x, std::int64_t k, int axis, bool of_largest) {
        const TopK top = topk(x.array(), k, {axis, of_largest}, here());
        return largest(object(top.values), object(top.indices));
      },
      "x"_a, "k"_a, nb::kw_only(), "axis"_a = -1, "largest"_a = true, document("topk"));
  m.def(
      "searchsorted",
      [](Value x1, Value x2, std::string_view side, Value sorter) {
        return searchsorted(x1.array(), x2.array(), {side_named(side), sorter.is_none() ? Array() : sorter.array()},
                            here());
      },
      "x1"_a, "x2"_a, "side"_a = "left", "sorter"_a = nb::none(), document("searchsorted"));
  m.def(
      "_isin", [](Value x, Value test) { return isin(x.array(), test.array(), here()); }, "x"_a, "test"_a,
      document("isin"));
  m.def(
      "_median",
      [](Value x, std::optional<int> axis, bool keepdims) {
        return median(x.array(), {axis, QuantileMethod::Linear, keepdims}, here());
      },
      "x"_a, "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, document("median"));
  using One = Array (*)(const Array&, double, QuantileOptions, Where);
  using Several = Array (*)(const Array&, const std::vector<double>&, QuantileOptions, Where);
  bind_quantile(m, "_quantile", static_cast<One>(&quantile), static_cast<Several>(&quantile));
  bind_quantile(m, "_percentile", static_cast<One>(&percentile), static_cast<Several>(&percentile));
  bind_sets(m);
}

}  // namespace tarry::python
