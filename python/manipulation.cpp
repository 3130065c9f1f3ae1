// Shapes: views, joining, repeating.
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tarry::python {
namespace {

/// reshape(x, (2, 3)) and, as a method, x.reshape(2, 3).
Shape shape_of(const nb::args& extents) {
  std::vector<std::int64_t> shape;
  const bool alone = extents.size() == 1;
  if (!integers_from(alone ? nb::handle(extents[0]).ptr() : extents.ptr(), shape)) {
    throw InvalidDtype("reshape", here(), "a shape is integers or a tuple of them");
  }
  return shape;
}

Array rolled(Value& x, const std::vector<std::int64_t>& shift, const Axes& axis) {
  if (shift.size() == 1 && axis.vector().size() != 1) return roll(x.array(), shift[0], axis, here());
  return roll(x.array(), shift, axis, here());
}

/// New axes at these positions of the result.
Array expanded(const Array& x, std::vector<std::int64_t> axes) {
  if (axes.size() == 1) return expand_dims(x, static_cast<int>(axes[0]), here());
  const auto rank = static_cast<std::int64_t>(x.ndim()) + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) refuse_value("expand_dims", "expand_dims names an axis twice");
  Array made = x;
  for (const std::int64_t axis : axes) made = expand_dims(made, static_cast<int>(axis), here());
  return made;
}

/// The axes in this order; in reverse order where none is named.
Array transposed(const Array& x, std::vector<std::int64_t> axes) {
  if (axes.empty())
    for (int d = x.ndim(); d > 0; --d) axes.push_back(d - 1);
  return permute_dims(x, Axes(std::move(axes)), here());
}
Array reversed(const Array& x) { return transposed(x, {}); }

Array exchanged(const Array& x, int axis1, int axis2) {
  const bool same = x.ndim() > 0 && (axis1 - axis2) % x.ndim() == 0;
  return moveaxis(x, same ? Axes(axis1) : Axes{axis1, axis2}, same ? Axes(axis1) : Axes{axis2, axis1}, here());
}

void bind_axes(nb::module_& m, ArrayClass& array) {
  constexpr const char* kTranspose = "The axes in the order of `axes`; in reverse order without them: a view.";
  m.def(
      "transpose",
      [](Value x, const std::optional<Shape>& axes) {
        return transposed(x.array(), axes ? axes->vector() : std::vector<std::int64_t>());
      },
      "x"_a, "axes"_a = nb::none(), kTranspose);
  array.def(
      "transpose",
      [](const Array& x, const nb::args& axes) {
        const bool all = axes.size() == 0 || (axes.size() == 1 && nb::handle(axes[0]).is_none());
        return transposed(x, all ? std::vector<std::int64_t>() : shape_of(axes).vector());
      },
      kTranspose);
  constexpr const char* kSwap = "Two axes exchanged: a view.";
  m.def(
      "swapaxes", [](Value x, int axis1, int axis2) { return exchanged(x.array(), axis1, axis2); }, "x"_a, "axis1"_a,
      "axis2"_a, kSwap);
  array.def("swapaxes", &exchanged, "axis1"_a, "axis2"_a, kSwap);
  constexpr const char* kFlat = "The elements in row-major order, as one axis; no window into x.";
  m.def("ravel", [](Value x) { return reshape(x.array(), {-1}, here()); }, "x"_a, kFlat);
  for (const char* name : {"ravel", "flatten"})
    array.def(name, [](const Array& x) { return reshape(x, {-1}, here()); }, kFlat);
  array.def_prop_ro("T", &reversed, "The axes in reverse order: the transpose of a matrix.");
  array.def_prop_ro("mT", [](const Array& x) { return matrix_transpose(x, here()); }, "Matrices, transposed.");
}

/// Each element as often as its count says: in the result an element ends where the running total of the counts does.
Array repeated(const Array& x, const Array& counts, std::optional<int> axis) {
  const Array rows = axis ? x : reshape(x, {-1}, here());
  const int along = axis.value_or(0);
  if (along < -rows.ndim() || along >= rows.ndim())
    raise(PyExc_IndexError, "repeat has no axis " + std::to_string(along));
  const std::int64_t extent = rows.shape()[static_cast<std::size_t>(along < 0 ? along + rows.ndim() : along)];
  if (!is_integral(counts.dtype()) || counts.ndim() != 1 || (counts.size() != extent && counts.size() != 1)) {
    refuse_value("repeat", "repeat takes " + std::to_string(extent) + " counts along the axis, not " +
                               std::string(name(counts.dtype())) + " of shape " + counts.shape().str());
  }
  const Array each = broadcast_to(astype(counts, int64, here()), {extent}, here());
  const Array ends = cumulative_sum(each, {}, here()), negative = any(less(each, 0), {}, {}, here());
  const Array total = sum(each, {}, {}, here());
  const auto [fails, size] = [&] {
    const Where where = here();
    const Unlocked unlocked;
    return std::pair(item(negative, where).to_double() != 0, item(total, where).as_int());
  }();
  if (fails) refuse_value("repeat", "repeat has a negative count");
  const Array places = searchsorted(ends, arange(size, int64, here()), {.side = Side::Right}, here());
  return take(rows, places, along, Bounds::Error, here());
}

Array repeated_by(const Array& x, nb::handle repeats, std::optional<int> axis) {
  if (PyIndex_Check(repeats.ptr()) != 0 && !is_array(repeats.ptr()))
    return repeat(x, nb::cast<std::int64_t>(nb::int_(repeats)), axis, here());
  const Array counts = Value(repeats).array();
  return repeated(x, counts.ndim() == 0 ? expand_dims(counts, 0, here()) : counts, axis);
}

}  // namespace

void bind_manipulation(nb::module_& m, ArrayClass& array) {
  define(
      m, array, "squeeze", [](Value x, const Axes& axis) { return squeeze(x.array(), axis, here()); },
      "axis"_a = nb::none());
  define(
      m, array, "repeat",
      [](Value x, nb::handle repeats, std::optional<int> axis) { return repeated_by(x.array(), repeats, axis); },
      "repeats"_a, "axis"_a = nb::none());
  m.def(
      "reshape", [](Value x, const Shape& shape, std::optional<bool>) { return reshape(x.array(), shape, here()); },
      "x"_a, "shape"_a, nb::kw_only(), "copy"_a = nb::none(), document("reshape"));
  array.def(
      "reshape", [](const Array& x, const nb::args& shape) { return reshape(x, shape_of(shape), here()); },
      document("reshape"));
  m.def(
      "broadcast_to", [](Value x, const Shape& shape) { return broadcast_to(x.array(), shape, here()); }, "x"_a,
      "shape"_a, document("broadcast_to"));
  m.def(
      "broadcast_arrays",
      [](const nb::args& arrays) { return nb::list(tuple_of(broadcast_arrays(arrays_of(arrays), here()))); },
      "arrays"_a, document("broadcast_arrays"));
  m.def(
      "permute_dims", [](Value x, const Axes& axes) { return permute_dims(x.array(), axes, here()); }, "x"_a, "axes"_a,
      document("permute_dims"));
  m.def(
      "expand_dims", [](Value x, const Shape& axis) { return expanded(x.array(), axis.vector()); }, "x"_a, "axis"_a = 0,
      document("expand_dims"));
  m.def(
      "flip", [](Value x, const Axes& axis) { return flip(x.array(), axis, here()); }, "x"_a, "axis"_a = nb::none(),
      document("flip"));
  m.def(
      "moveaxis",
      [](Value x, const Axes& source, const Axes& destination) {
        return moveaxis(x.array(), source, destination, here());
      },
      "x"_a, "source"_a, "destination"_a, document("moveaxis"));
  m.def(
      "roll", [](Value x, const Shape& shift, const Axes& axis) { return rolled(x, shift.vector(), axis); }, "x"_a,
      "shift"_a, "axis"_a = nb::none(), document("roll"));
  m.def(
      "tile", [](Value x, const Shape& repetitions) { return tile(x.array(), repetitions, here()); }, "x"_a,
      "repetitions"_a, document("tile"));
  m.def(
      "unstack", [](Value x, int axis) { return tuple_of(unstack(x.array(), axis, here())); }, "x"_a, "axis"_a = 0,
      document("unstack"));
  m.def(
      "concat", [](nb::handle arrays, std::optional<int> axis) { return concat(arrays_of(arrays), axis, here()); },
      "arrays"_a, "axis"_a.none() = 0, document("concat"));
  m.def(
      "stack", [](nb::handle arrays, int axis) { return stack(arrays_of(arrays), axis, here()); }, "arrays"_a,
      "axis"_a = 0, document("stack"));
  bind_axes(m, array);
}

}  // namespace tarry::python
