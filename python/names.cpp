// NumPy's names for what the standard names otherwise, and NumPy's functions that are another choice of arguments.
#include "python/module.h"
#include "python/values.h"

#include <string>

namespace tarry::python {
namespace {

/// NumPy's name, ours.
constexpr const char* kSame[][2] = {
    {"absolute", "abs"},
    {"amax", "max"},
    {"amin", "min"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"around", "round"},
    {"asanyarray", "asarray"},
    {"ascontiguousarray", "asarray"},
    {"bitwise_not", "bitwise_invert"},
    {"concatenate", "concat"},
    {"conjugate", "conj"},
    {"degrees", "rad2deg"},
    {"fabs", "abs"},
    {"fix", "trunc"},
    {"invert", "bitwise_invert"},
    {"left_shift", "bitwise_left_shift"},
    {"load", "load_npy"},
    {"mod", "remainder"},
    {"ndarray", "Array"},
    {"power", "pow"},
    {"radians", "deg2rad"},
    {"right_shift", "bitwise_right_shift"},
    {"rint", "round"},
    {"save", "save_npy"},
    {"true_divide", "divide"},
};

/// As the operator divmod, which NumPy's arrays come here by.
nb::object quotient(Value a, Value b) {
  convert_both(a, b, "divmod");
  if (a.converted() == nullptr && b.converted() == nullptr) a.array();
  const Operand l = a.operand(here()), r = b.operand(here());
  return nb::make_tuple(object(floor_divide(l, r)), object(remainder(l, r)));
}

/// The sum of products over the last axis of a and the last but one of b, or its only one.
Array dot(Value a, Value b) {
  convert_both(a, b);
  const Array &x = a.array(), &y = b.array();
  if (x.ndim() == 0 || y.ndim() == 0) return multiply(a.operand(here()), b.operand(here()));
  if (x.ndim() <= 2 && y.ndim() <= 2) return matmul(x, y, here());
  return tensordot(x, y, -1, y.ndim() == 1 ? -1 : -2, here());
}

Array traced(const Array& x, std::int64_t offset, int axis1, int axis2, std::optional<Dtype> dtype) {
  return sum(diagonal(x, offset, axis1, axis2, here()), -1, {.dtype = dtype}, here());
}

constexpr const char* kDiagonal =
    "The elements (i, i + offset) of two axes: a view.\n\n"
    "Shapes: (m, n, ...) gives (..., k). linalg.diagonal is of the last two axes.";
constexpr const char* kTrace =
    "The sum of the elements (i, i + offset) of two axes.\n\n"
    "Shapes: (m, n, ...) gives (...). linalg.trace is of the last two axes.\n\nDtypes: as sum.";
constexpr const char* kDot =
    "The product of vectors or of matrices; of numbers their product.\n\n"
    "Shapes: (..., k) and (k,) give (...); (..., k) and (***, k, n) give (..., ***, n).\n\n"
    "Dtypes: numbers, promoted. Throws InvalidArgument where the extents k differ, and for bool.";

void bind_products(nb::module_& m, ArrayClass& array) {
  m.def("dot", &dot, "a"_a, "b"_a, kDot);
  array.def("dot", &dot, "b"_a, kDot);
  m.def(
      "vdot",
      [](Value a, Value b) {
        convert_both(a, b);
        return vecdot(reshape(a.array(), {-1}, here()), reshape(b.array(), {-1}, here()), -1, here());
      },
      "a"_a, "b"_a, "The product of two arrays as vectors: the sum of products of all elements, 0-d.");
  m.def(
      "outer",
      [](Value a, Value b) {
        convert_both(a, b);
        return outer(a.array(), b.array(), here());
      },
      "a"_a, "b"_a, document("outer"));
  m.def(
      "cross", [](Value a, Value b, int axis) { return cross(a.array(), b.array(), axis, here()); }, "a"_a, "b"_a,
      "axis"_a = -1, document("cross"));
}

void bind_diagonals(nb::module_& m, ArrayClass& array) {
  m.def(
      "diagonal",
      [](Value x, std::int64_t offset, int axis1, int axis2) {
        return diagonal(x.array(), offset, axis1, axis2, here());
      },
      "x"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, kDiagonal);
  array.def(
      "diagonal",
      [](const Array& x, std::int64_t offset, int axis1, int axis2) {
        return diagonal(x, offset, axis1, axis2, here());
      },
      "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, kDiagonal);
  m.def(
      "trace",
      [](Value x, std::int64_t offset, int axis1, int axis2, std::optional<Dtype> dtype) {
        return traced(x.array(), offset, axis1, axis2, dtype);
      },
      "x"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = nb::none(), kTrace);
  array.def("trace", &traced, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = nb::none(), kTrace);
}

}  // namespace

void bind_names(nb::module_& m, ArrayClass& array) {
  bind_products(m, array);
  bind_diagonals(m, array);
  array.def(
      "searchsorted",
      [m](nb::handle x, nb::handle values, std::string_view side) {
        return m.attr("searchsorted")(x, values, "side"_a = side);
      },
      "values"_a, "side"_a = "left", document("searchsorted"));
  m.def("divmod", &quotient, "x1"_a, "x2"_a, "floor_divide and remainder of both, as a tuple.");
  m.def("copy", [](Value x) { return x.array(); }, "x"_a, "An array with the same values.");
  m.def("ndim", [](Value x) { return x.array().ndim(); }, "x"_a, "The number of axes.");
  m.def("shape", [](Value x) { return shape_tuple(x.array().shape()); }, "x"_a, "The extents.");
  m.def(
      "size",
      [](Value x, std::optional<int> axis) {
        if (!axis) return x.array().size();
        const Shape shape = x.array().shape();
        return nb::cast<std::int64_t>(shape_tuple(shape).attr("__getitem__")(*axis));
      },
      "x"_a, "axis"_a = nb::none(), "The number of elements, or the extent of an axis.");
  m.def(
      "identity", [](std::int64_t n, std::optional<Dtype> dtype) { return eye(n, {-1, 0, dtype}, here()); }, "n"_a,
      "dtype"_a = nb::none(), "The unit matrix of n rows.");
  for (const auto& [name, ours] : kSame) m.attr(name) = m.attr(ours);
}

}  // namespace tarry::python
