// Windows and borders.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "python/module.h"
#include "python/values.h"

namespace tarry::python {
namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

PadWidths widths_of(const std::variant<std::int64_t, Pair, std::vector<Pair>>& widths) {
  if (const auto* const one = std::get_if<std::int64_t>(&widths)) return *one;
  if (const auto* const pair = std::get_if<Pair>(&widths)) return {pair->first, pair->second};
  return std::get<std::vector<Pair>>(widths);
}

Pad pad_named(std::string_view mode) {
  if (mode == "constant") return Pad::Constant;
  if (mode == "edge") return Pad::Edge;
  if (mode == "reflect") return Pad::Reflect;
  if (mode == "symmetric") return Pad::Symmetric;
  if (mode == "wrap") return Pad::Wrap;
  refuse_value("pad", "mode is constant, edge, reflect, symmetric or wrap");
}

Convolution convolution_named(std::string_view mode) {
  if (mode == "full") return Convolution::Full;
  if (mode == "same") return Convolution::Same;
  if (mode == "valid") return Convolution::Valid;
  refuse_value("convolve", "mode is full, same or valid");
}

Scalar filling(nb::handle value) {
  if (const auto scalar = number(value.ptr())) return *scalar;
  throw InvalidDtype("pad", here(), "constant_values is a number, not " + class_name(value));
}

Array other(Value& v) { return v.is_none() ? Array() : v.array(); }

}  // namespace

void bind_windows(nb::module_& m) {
  m.def(
      "_pad",
      [](Value x, const std::variant<std::int64_t, Pair, std::vector<Pair>>& pad_width, std::string_view mode,
         nb::handle constant_values) {
        return pad(x.array(), widths_of(pad_width), pad_named(mode), filling(constant_values), here());
      },
      "x"_a, "pad_width"_a, "mode"_a = "constant", nb::kw_only(), "constant_values"_a = 0, document("pad"));
  m.def(
      "sliding_window_view",
      [](Value x, const Shape& window_shape, const Axes& axis) {
        return sliding_window_view(x.array(), window_shape, axis, here());
      },
      "x"_a, "window_shape"_a, "axis"_a = nb::none(), document("sliding_window_view"));
  m.def(
      "diff",
      [](Value x, std::int64_t n, int axis, Value prepend, Value append) {
        if (n == 0) return x.array();
        return diff(x.array(), {axis, n, other(prepend), other(append)}, here());
      },
      "x"_a, "n"_a = 1, "axis"_a = -1, nb::kw_only(), "prepend"_a = nb::none(), "append"_a = nb::none(),
      document("diff"));
  m.def(
      "convolve",
      [](Value a, Value v, std::string_view mode) {
        return convolve(a.array(), v.array(), convolution_named(mode), here());
      },
      "a"_a, "v"_a, "mode"_a = "full", document("convolve"));
  m.def(
      "correlate",
      [](Value a, Value v, std::string_view mode) {
        return correlate(a.array(), v.array(), convolution_named(mode), here());
      },
      "a"_a, "v"_a, "mode"_a = "valid", document("correlate"));
}

}  // namespace tarry::python
