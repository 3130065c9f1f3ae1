// Counting and grouping: histograms, values of segments, groups of rows.
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

namespace tarry::python {
namespace {

using Segment = Array (*)(const Array&, const Array&, SegmentOptions, Where);

Array weights_of(Value& v) { return v.is_none() ? Array() : v.array(); }

void segment(nb::module_& m, const char* name, Segment f) {
  m.def(
      name,
      [f](Value x, Value ids, std::optional<std::int64_t> groups, bool sorted) {
        return f(x.array(), ids.array(), {groups, sorted}, here());
      },
      "x"_a, "ids"_a, nb::kw_only(), "groups"_a = nb::none(), "sorted"_a = false, document(name));
}

nb::tuple histogram_of(Value& x, nb::handle bins, std::optional<std::pair<double, double>> range, Value& weights,
                       bool density) {
  const HistogramOptions options{range, weights_of(weights), density};
  const bool counted = PyLong_Check(bins.ptr());
  const Histogram h = counted ? histogram(x.array(), nb::cast<std::int64_t>(bins), options, here())
                              : histogram(x.array(), Value(bins).array(), options, here());
  return nb::make_tuple(object(h.counts), object(h.edges));
}

nb::tuple histogramdd_of(Value& x, nb::handle bins, Value& weights, bool density) {
  const HistogramDd h = histogramdd(x.array(), arrays_of(bins), {{}, weights_of(weights), density}, here());
  return nb::make_tuple(object(h.counts), tuple_of(h.edges));
}

Aggregate aggregate_named(std::string_view how) {
  constexpr std::pair<std::string_view, Aggregate> kAggregates[] = {
      {"sum", Aggregate::Sum}, {"min", Aggregate::Min},     {"max", Aggregate::Max},    {"mean", Aggregate::Mean},
      {"var", Aggregate::Var}, {"count", Aggregate::Count}, {"first", Aggregate::First}};
  for (const auto& [name, value] : kAggregates)
    if (name == how) return value;
  refuse_value("aggregate", "a group has sum, min, max, mean, var, count and first, but no " + std::string(how));
}

/// A column, or a pair of a column and what is asked of it.
Aggregated aggregated_of(nb::handle o) {
  if (!PyTuple_Check(o.ptr())) return {Value(o).array()};
  const auto [column, how] = nb::cast<std::pair<nb::object, std::string>>(o);
  return {Value(column).array(), aggregate_named(how)};
}

void bind_groups(nb::module_& m) {
  const nb::object groups =
      nb::module_::import_("collections").attr("namedtuple")("Groups", "keys values", "module"_a = "tarry");
  m.attr("Groups") = groups;
  nb::class_<GroupBy>(m, "GroupBy", "Rows that are equal in all of their keys, in order of the keys.")
      .def_prop_ro("size", &GroupBy::size, "How many groups there are.")
      .def("__len__", &GroupBy::size)
      .def(
          "aggregate",
          [groups](const GroupBy& g, const nb::args& columns) {
            std::vector<Aggregated> asked;
            for (const nb::handle column : columns) asked.push_back(aggregated_of(column));
            const Groups made = g.aggregate(asked, here());
            return groups(tuple_of(made.keys), tuple_of(made.values));
          },
          "columns"_a,
          "The keys of the groups, and an array for each column, which is as long as the keys.\n\n"
          "A column stands alone and is added up, or in a pair with \"sum\", \"min\", \"max\", \"mean\", \"var\", "
          "\"count\" or \"first\".");
  m.def(
      "group_by",
      [](const nb::args& keys) {
        const std::vector<Array> made = arrays_of(keys);
        Where where = here();
        const Unlocked unlocked;
        return group_by(made, where);
      },
      "keys"_a, document("group_by"));
}

}  // namespace

void bind_grouping(nb::module_& m) {
  m.def(
      "bincount",
      [](Value x, Value weights, std::int64_t minlength) {
        return bincount(x.array(), {weights_of(weights), minlength}, here());
      },
      "x"_a, "weights"_a = nb::none(), "minlength"_a = 0, document("bincount"));
  m.def(
      "_digitize", [](Value x, Value bins, bool right) { return digitize(x.array(), bins.array(), {right}, here()); },
      "x"_a, "bins"_a, "right"_a = false, document("digitize"));
  m.def(
      "_histogram",
      [](Value x, nb::handle bins, std::optional<std::pair<double, double>> range, Value weights, bool density) {
        return histogram_of(x, bins, range, weights, density);
      },
      "x"_a, "bins"_a = 10, "range"_a = nb::none(), nb::kw_only(), "weights"_a = nb::none(), "density"_a = false,
      document("histogram"));
  m.def(
      "_histogramdd",
      [](Value x, nb::handle bins, Value weights, bool density) { return histogramdd_of(x, bins, weights, density); },
      "x"_a, "bins"_a, nb::kw_only(), "weights"_a = nb::none(), "density"_a = false, document("histogramdd"));
  bind_groups(m);
  segment(m, "segment_sum", &segment_sum);
  segment(m, "segment_min", &segment_min);
  segment(m, "segment_max", &segment_max);
  segment(m, "segment_mean", &segment_mean);
  segment(m, "segment_var", &segment_var);
  m.def(
      "segment_count",
      [](Value ids, std::optional<std::int64_t> groups, bool sorted) {
        return segment_count(ids.array(), {groups, sorted}, here());
      },
      "ids"_a, nb::kw_only(), "groups"_a = nb::none(), "sorted"_a = false, document("segment_count"));
}

}  // namespace tarry::python
