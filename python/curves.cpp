// Curves that are given by points, and elementwise functions with arguments that the standard does not have.
#include "python/module.h"
#include "python/values.h"

#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace tarry::python {
namespace {

Array other_floats(Value& v, const Array& beside) {
  if (!v.convert()) v.convert_beside(beside.dtype());
  return v.array();
}

/// Slopes along one axis: of points a distance apart, or at these places.
Array slope(const Array& y, nb::handle spacing, int axis) {
  if (const auto distance = number(spacing.ptr())) return gradient(y, {axis, distance->to_double()}, here());
  Value places(spacing);
  const Array x = other_floats(places, y);
  if (x.ndim() != 0) return gradient(y, x, axis, here());
  return divide({gradient(y, {axis, 1}, here()), here()}, {x, here()});
}

/// NumPy's gradient: an array for each axis, or the one array of an only axis.
nb::object slopes(Value f, const nb::args& spacings, nb::handle axis) {
  const Array& y = f.array();
  std::vector<std::int64_t> axes;
  if (axis.is_none()) {
    for (int d = 0; d < y.ndim(); ++d) axes.push_back(d);
  } else if (!integers_from(axis.ptr(), axes)) {
    throw InvalidDtype("gradient", here(), "axis is an integer or a tuple of them, not " + class_name(axis));
  }
  if (spacings.size() > 1 && spacings.size() != axes.size()) {
    throw InvalidDtype("gradient", here(),
                       "takes one spacing, or one for each of " + std::to_string(axes.size()) + " axes");
  }
  std::vector<Array> made;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const nb::object one = nb::int_(1);
    const nb::handle spacing = spacings.size() == 0 ? nb::handle(one) : spacings[spacings.size() == 1 ? 0 : i];
    made.push_back(slope(y, spacing, static_cast<int>(axes[i])));
  }
  return made.size() == 1 ? object(made[0]) : nb::object(tuple_of(made));
}

Array area(Value& y, Value& x, double dx, int axis) {
  if (x.is_none()) return trapezoid(y.array(), {axis, dx}, here());
  return trapezoid(y.array(), other_floats(x, y.array()), axis, here());
}

Array rounded(const Array& x, int decimals) { return decimals == 0 ? round(x, here()) : round(x, decimals, here()); }

void bind_numbers(nb::module_& m, ArrayClass& array) {
  m.def(
      "round", [](Value x, int decimals) { return rounded(x.array(), decimals); }, "x"_a, "decimals"_a = 0,
      document("round"));
  array.def("round", &rounded, "decimals"_a = 0, document("round"));
  array.def(
      "__round__",
      [](const Array& x, std::optional<int> digits) -> nb::object {
        if (digits || x.ndim() != 0) return object(rounded(x, digits.value_or(0)));
        return nb::module_::import_("builtins").attr("round")(object(x).attr("item")());
      },
      "ndigits"_a = nb::none());
  m.def(
      "nan_to_num",
      [](Value x, bool, double nan, std::optional<double> posinf, std::optional<double> neginf) {
        return nan_to_num(x.array(), {nan, posinf, neginf}, here());
      },
      "x"_a, "copy"_a = true, "nan"_a = 0.0, "posinf"_a = nb::none(), "neginf"_a = nb::none(), document("nan_to_num"));
  using Unary = Array (*)(const Array&, Where);
  const auto unary = [&m](const char* name, Unary f) {
    m.def(name, [f](Value x) { return f(x.array(), here()); }, "x"_a, document(name));
  };
  unary("cbrt", &cbrt);
  unary("deg2rad", &deg2rad);
  unary("exp2", &exp2);
  unary("rad2deg", &rad2deg);
  unary("sinc", &sinc);
  using Binary = Array (*)(const Operand&, const Operand&);
  const auto binary = [&m](const char* name, Binary f) {
    m.def(
        name,
        [f](Value x1, Value x2) {
          const Where where = here();
          convert_both(x1, x2);
          return f(x1.operand(where), x2.operand(where));
        },
        "x1"_a, "x2"_a, document(name));
  };
  binary("fmax", &fmax);
  binary("fmin", &fmin);
  binary("fmod", &fmod);
  binary("heaviside", &heaviside);
}

}  // namespace

void bind_curves(nb::module_& m, ArrayClass& array) {
  bind_numbers(m, array);
  m.def(
      "_interp",
      [](Value x, Value xp, Value fp, std::optional<double> left, std::optional<double> right) {
        const Array &points = xp.array(), values = other_floats(fp, points);
        return interp(other_floats(x, points), points, values, {left, right}, here());
      },
      "x"_a, "xp"_a, "fp"_a, "left"_a = nb::none(), "right"_a = nb::none(), document("interp"));
  m.def("_gradient", &slopes, "f"_a, "spacings"_a, "axis"_a = nb::none(),
        "Slopes along each axis: differences of both neighbours, at the ends of the one that is there.\n\n"
        "`spacings` are the distance of neighbours, or the places of the points along the axis, for all axes or for "
        "each.\n\nShapes: each result has that of f; one array for one axis, else a tuple of them.\n\n"
        "Dtypes: floats, kept; integers give float64. Throws InvalidArgument for fewer than two points along an axis.");
  m.def(
      "trapezoid", [](Value y, Value x, double dx, int axis) { return area(y, x, dx, axis); }, "y"_a,
      "x"_a = nb::none(), "dx"_a = 1.0, "axis"_a = -1, document("trapezoid"));
}

}  // namespace tarry::python
