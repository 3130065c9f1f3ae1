// Counting and grouping: histograms, and values of segments.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "python/module.h"
#include "python/values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

namespace tarry::python {
namespace {

using Segment = Array (*)(const Array&, const Array&, SegmentOptions, std::source_location);

Array weights_of(Value& v) { return v.is_none() ? Array() : v.array(); }

void segment(nb::module_& m, const char* name, Segment f) {
  m.def(
      name,
      [f](Value x, Value ids, std::optional<std::int64_t> groups, bool sorted) {
        return f(x.array(), ids.array(), {groups, sorted}, line());
      },
      "x"_a, "ids"_a, nb::kw_only(), "groups"_a = nb::none(), "sorted"_a = false, document(name));
}

nb::tuple histogram_of(Value& x, nb::handle bins, std::optional<std::pair<double, double>> range, Value& weights,
                       bool density) {
  const HistogramOptions options{range, weights_of(weights), density};
  const bool counted = PyLong_Check(bins.ptr());
  const Histogram h = counted ? histogram(x.array(), nb::cast<std::int64_t>(bins), options, line())
                              : histogram(x.array(), Value(bins).array(), options, line());
  return nb::make_tuple(object(h.counts), object(h.edges));
}

}  // namespace

void bind_grouping(nb::module_& m) {
  m.def(
      "bincount",
      [](Value x, Value weights, std::int64_t minlength) {
        return bincount(x.array(), {weights_of(weights), minlength}, line());
      },
      "x"_a, "weights"_a = nb::none(), "minlength"_a = 0, document("bincount"));
  m.def(
      "digitize", [](Value x, Value bins, bool right) { return digitize(x.array(), bins.array(), {right}, line()); },
      "x"_a, "bins"_a, "right"_a = false, document("digitize"));
  m.def(
      "histogram",
      [](Value x, nb::handle bins, std::optional<std::pair<double, double>> range, Value weights, bool density) {
        return histogram_of(x, bins, range, weights, density);
      },
      "x"_a, "bins"_a = 10, "range"_a = nb::none(), nb::kw_only(), "weights"_a = nb::none(), "density"_a = false,
      document("histogram"));
  segment(m, "segment_sum", &segment_sum);
  segment(m, "segment_min", &segment_min);
  segment(m, "segment_max", &segment_max);
  segment(m, "segment_mean", &segment_mean);
  segment(m, "segment_var", &segment_var);
  m.def(
      "segment_count",
      [](Value ids, std::optional<std::int64_t> groups, bool sorted) {
        return segment_count(ids.array(), {groups, sorted}, line());
      },
      "ids"_a, nb::kw_only(), "groups"_a = nb::none(), "sorted"_a = false, document("segment_count"));
}

}  // namespace tarry::python
