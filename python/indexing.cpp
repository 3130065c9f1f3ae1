// x[...] and x[...] = v.
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tarry::python {
namespace {

/// The first of the elements that is no place of an axis, which counts from its end where it is negative; else the
/// size.
template <class T>
std::int64_t first_outside(const T* elements, std::int64_t size, std::int64_t extent) {
  const auto inside = [extent](T at) { return std::cmp_less(at, extent) && std::cmp_greater_equal(at, -extent); };
  bool all = true;
  for (std::int64_t i = 0; i < size; ++i) all &= inside(elements[i]);  // many at a time, as a search is not
  return all ? size : std::find_if_not(elements, elements + size, inside) - elements;
}

std::int64_t first_outside(const Array& indices, std::int64_t extent) {
  const HostBytes bytes = host_bytes(indices, here());
  const auto in = [&]<class T>(T) {
    return first_outside(reinterpret_cast<const T*>(bytes.data()), indices.size(), extent);
  };
  switch (indices.dtype()) {
    case int8: return in(std::int8_t{});
    case int16: return in(std::int16_t{});
    case int32: return in(std::int32_t{});
    case uint8: return in(std::uint8_t{});
    case uint16: return in(std::uint16_t{});
    case uint32: return in(std::uint32_t{});
    case uint64: return in(std::uint64_t{});
    default: return in(std::int64_t{});
  }
}

/// Throws OutOfRange for the first of the places that an axis does not have.
void check_places(const Array& indices, std::int64_t extent, int axis, const char* op, Where where) {
  const Shape shape = indices.shape();
  std::int64_t at = first_outside(indices, extent);
  if (at == indices.size()) return;
  const Array number = index(reshape(indices, {-1}, here()), std::vector<Index>{Index(at)}, here());
  const std::string value = nb::repr(python_number(item(number, here()))).c_str();
  std::vector<std::int64_t> place(static_cast<std::size_t>(indices.ndim()));
  for (std::size_t d = place.size(); d-- > 0; at /= shape[d]) place[d] = at % shape[d];
  throw OutOfRange(op, where,
                   "index " + value + " at " + Shape(std::move(place)).str() +
                       " of the indices is out of range for axis " + std::to_string(axis) + " of extent " +
                       std::to_string(extent));
}

/// One key of Python as indices of ours into x; keeps the arrays that they point to. Places that the host knows are
/// checked.
class Key {
 public:
  Key(PyObject* key, const Array& x, const char* op, Where where) : op_(op), where_(where) {
    if (!PyTuple_Check(key)) {
      add(key);
    } else {
      const Py_ssize_t count = PyTuple_Size(key);
      indices_.reserve(static_cast<std::size_t>(count));
      for (Py_ssize_t i = 0; i < count; ++i) add(PyTuple_GetItem(key, i));
    }
    if (!on_host_.empty()) settle(x.shape());
  }
  [[nodiscard]] const std::vector<Index>& indices() const { return indices_; }
  [[nodiscard]] bool has_mask() const {
    return std::ranges::any_of(indices_, [](const Index& i) { return is_mask(i); });
  }
  /// The array of a key that is nothing but a mask.
  [[nodiscard]] const Array* mask() const {
    return indices_.size() == 1 && is_mask(indices_[0]) ? &indices_[0].array() : nullptr;
  }
  [[nodiscard]] bool has_ellipsis() const {
    return std::ranges::count(indices_, Index::Kind::Ellipsis, &Index::kind) > 0;
  }
  /// True where masks of no axes stand among other indices: each of them is an index into a new axis.
  [[nodiscard]] bool grows() const { return !grown_.empty(); }
  /// x with these axes.
  [[nodiscard]] Array grown(Array x) const {
    for (auto axis = grown_.rbegin(); axis != grown_.rend(); ++axis) x = expand_dims(x, *axis, here());
    return x;
  }
  /// How many axes the elements have that the key names, of an array of `ndim`.
  [[nodiscard]] int ndim(int ndim) const {
    int kept = ndim + static_cast<int>(grown_.size()), together = 0;
    for (const Index& i : indices_) {
      kept += i.kind() == Index::Kind::Newaxis ? 1 : 0;
      kept -= i.kind() == Index::Kind::At || i.kind() == Index::Kind::Array ? axes_of(i) : 0;
      if (i.kind() == Index::Kind::Array) together = std::max(together, is_mask(i) ? 1 : i.array().ndim());
    }
    return kept + together;
  }

 private:
  static bool is_mask(const Index& i) { return i.kind() == Index::Kind::Array && i.array().dtype() == bool_; }
  /// How many axes of x an index is for; an ellipsis is for all others.
  static int axes_of(const Index& i) {
    if (i.kind() == Index::Kind::Ellipsis || i.kind() == Index::Kind::Newaxis) return 0;
    return is_mask(i) ? i.array().ndim() : 1;
  }

  void add(PyObject* each) {
    if (PyLong_Check(each) && !PyBool_Check(each)) {
      add_integer(each);
    } else if (is_array(each)) {
      const Array& x = array_of(each);
      if (x.dtype() == bool_ && x.ndim() == 0) on_host_.push_back(indices_.size());
      add_array(x);
    } else if (PySlice_Check(each)) {
      indices_.emplace_back(slice_of(each), here());
    } else if (each == Py_Ellipsis) {
      indices_.emplace_back(ellipsis, here());
    } else if (each == Py_None) {
      indices_.emplace_back(newaxis, here());
    } else if (PyIndex_Check(each) != 0 && !PyBool_Check(each) && PyObject_HasAttrString(each, "ndim") == 0) {
      add_integer(each);
    } else {
      add_host(each);
    }
  }

  void add_integer(PyObject* each) {
    const Py_ssize_t at = PyNumber_AsSsize_t(each, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    indices_.emplace_back(static_cast<std::int64_t>(at), where_);
  }

  void add_array(const Array& x) {
    if (is_floating(x.dtype()))
      refuse_index(op_, "indices are integers, not " + std::string(name(x.dtype())) + " " + x.shape().str() +
                            "; convert with astype first");
    indices_.emplace_back(x, here());
  }

  void add_host(PyObject* each) {
    const nb::handle h(each);
    const bool listed = PyList_Check(each) || PyTuple_Check(each) || PyRange_Check(each);
    if (!listed && !PyBool_Check(each) && !is_foreign_array(each))
      refuse_index(op_, "an index is an integer, a slice, an ellipsis, None or an array, not " + class_name(h));
    if (listed || PyBool_Check(each) || PyObject_HasAttrString(each, "__array_interface__") != 0)
      on_host_.push_back(indices_.size());
    Array& x = kept_.emplace_back(to_array(h));
    if (listed && x.size() == 0 && dtype_of_numbers(h, float64)) x = zeros(x.shape(), {int64}, here());
    add_array(x);
  }

  /// Checks the places that the host knows, and makes masks of no axes that are not alone places of new axes.
  void settle(const Shape& shape) {
    const int ndim = static_cast<int>(shape.size());
    int left = ndim;
    for (const Index& i : indices_) left -= axes_of(i);
    auto host = on_host_.begin();
    int axis = 0;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const int axes = indices_[i].kind() == Index::Kind::Ellipsis ? std::max(left, 0) : axes_of(indices_[i]);
      if (host != on_host_.end() && *host == i) {
        ++host;
        if (!is_mask(indices_[i])) {
          if (axis < ndim) check_places(indices_[i].array(), shape[static_cast<std::size_t>(axis)], axis, op_, where_);
        } else if (axes == 0 && indices_.size() > 1) {
          const bool all = is_true(indices_[i].array());
          grown_.push_back(axis);
          indices_[i] = Index(kept_.emplace_back(zeros({all ? 1 : 0}, {int64}, here())), here());
        }
      }
      axis += axes;
    }
  }

  static bool is_true(const Array& mask) {
    const Where where = here();
    const Unlocked unlocked;
    return item(mask, where).to_double() != 0;
  }

  /// Ends of a slice as Python gives them; those at either end of the range of integers are open.
  static Slice slice_of(PyObject* slice) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) throw nb::python_error();
    Slice s;
    if (start != (step > 0 ? 0 : PY_SSIZE_T_MAX)) s.start = start;
    if (stop != (step > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN)) s.stop = stop;
    if (step != 1) s.step = step;
    return s;
  }

  const char* op_;
  Where where_;
  std::vector<Index> indices_;
  std::vector<std::size_t> on_host_;  ///< which indices the host knows, and masks of no axes
  std::vector<int> grown_;            ///< in front of which axes of x new ones stand
  std::list<Array> kept_;
};

/// The standard's masks may have extent 0 where x has another: as one of x's extents without a true element. Else {}.
std::optional<Array> nothing_of(const Array& x, const Array* mask) {
  if (mask == nullptr || mask->size() != 0 || mask->ndim() > x.ndim()) return {};
  std::vector<std::int64_t> extents;
  for (int d = 0; d < mask->ndim(); ++d) {
    extents.push_back(x.shape()[static_cast<std::size_t>(d)]);
    const std::int64_t extent = mask->shape()[static_cast<std::size_t>(d)];
    if (extent != 0 && extent != extents.back()) return {};
  }
  return zeros(Shape(std::move(extents)), {bool_});
}

PyObject* get(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Where where = here();
    const Key k(key, array_of(self), "index", where);
    if (!k.has_mask() && !k.grows()) return wrap(index(array_of(self), k.indices(), where));
    if (const auto none = nothing_of(array_of(self), k.mask())) {
      return wrap(index(array_of(self), std::vector<Index>{Index(*none, here())}, where));
    }
    const bool whole = k.mask() != nullptr && k.mask()->ndim() == 0;  // all of x or nothing, along a new axis
    const Array x = whole ? expand_dims(array_of(self), 0, here()) : k.grown(array_of(self));
    const Array mask = whole ? expand_dims(*k.mask(), 0, here()) : Array();
    Array part = [&] {  // the number of true elements is a shape
      const Unlocked unlocked;
      return whole ? compress(mask, x, 0, where) : index(x, k.indices(), where);
    }();
    return wrap(std::move(part));
  });
}

/// A mask of the leading axes of x as one of all.
Array spread(const Array& mask, const Array& x) {
  const int ndim = x.ndim();
  for (std::size_t d = 0; d < mask.shape().size(); ++d) {
    if (mask.shape()[d] == x.shape()[d] || mask.shape()[d] == 0) continue;
    throw OutOfRange("set", here(),
                     "a mask of bool " + mask.shape().str() + " does not fit axis " + std::to_string(d) + " of " +
                         std::string(name(x.dtype())) + " " + x.shape().str());
  }
  std::vector<Index> indices{Index(ellipsis)};
  for (int d = mask.ndim(); d < ndim; ++d) indices.emplace_back(newaxis);
  return index(mask, indices, here());
}

/// A value that goes into x.
Operand value_for(Value& v, const Array& x) {
  if (!v.convert() && !v.convert_for(x.dtype())) v.array();
  v.settle(x.dtype(), "set", Large::Refused);
  return v.operand(here());
}

/// The value without axes of extent 1 in front, of which a place of `ndim` axes has fewer.
Array shortened(const Array& value, int ndim) {
  const Shape shape = value.shape();
  std::vector<std::int64_t> extents(shape.begin(), shape.end());
  while (static_cast<int>(extents.size()) > ndim && extents.front() == 1) extents.erase(extents.begin());
  return reshape(value, Shape(std::move(extents)), here());
}

/// True where Python's stack alone refers to the object. From 3.14 on it may borrow the reference of a variable.
bool has_no_name(PyObject* object) {
  static const bool counted = nb::cast<int>(nb::module_::import_("sys").attr("hexversion")) < 0x030E0000;
  return counted && Py_REFCNT(object) == 1;
}

int assign(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(
      [&] {
        if (value == nullptr) raise(PyExc_TypeError, "elements of an array cannot be deleted");
        refuse_nameless(self, "set");
        const Where where = here();
        Array& x = array_of(self);
        const Key k(key, x, "set", where);
        Value v{nb::handle(value)};
        const Operand given = value_for(v, x);
        const Array* const mask = k.mask();
        const int axes = given.array() == nullptr ? 0 : given.array()->ndim();
        const int place = k.ndim(x.ndim());
        const bool partial = mask == nullptr ? place > 0 || k.has_ellipsis() : mask->ndim() < x.ndim();
        const bool longer = partial && axes > place;
        const Array shorter = longer ? shortened(*given.array(), place) : Array();
        const Operand operand = longer ? Operand(shorter, where) : given;
        if (mask != nullptr && mask->ndim() <= x.ndim() && axes == 0) {
          x.set(spread(*mask, x), operand);
        } else if (mask != nullptr && mask->ndim() == 0) {  // as a mask of one row, along a new axis
          Array rows = expand_dims(x, 0, here());
          rows.set(expand_dims(*mask, 0, here()), operand);
          x = rows(0);
        } else if (k.grows()) {
          Array rows = k.grown(x);
          set(rows, k.indices(), operand);
          x = reshape(rows, x.shape(), here());
        } else {
          set(x, k.indices(), operand);
        }
        return 0;
      },
      -1);
}

Py_ssize_t length(PyObject* self) {
  return guarded(
      [&] {
        const Shape shape = array_of(self).shape();
        if (shape.empty()) raise(PyExc_TypeError, "a 0-d array has no length");
        return static_cast<Py_ssize_t>(shape[0]);
      },
      Py_ssize_t{-1});
}

PyObject* item_at(PyObject* self, Py_ssize_t at) {
  return guarded([&] {
    const Where where = here();
    return wrap(index(array_of(self), std::vector<Index>{Index(static_cast<std::int64_t>(at), where)}, where));
  });
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    if (array_of(self).ndim() == 0) raise(PyExc_TypeError, "a 0-d array cannot be iterated over");
    return PySeqIter_New(self);
  });
}

int contains(PyObject* self, PyObject* value) {
  return guarded(
      [&] {
        Value v{nb::handle(value)};
        if (!v.convert()) return 0;
        const Where where = here();
        v.settle(array_of(self).dtype(), "equal", Large::Compared);
        const Array found = any(equal(Operand(array_of(self), where), v.operand(where)), {}, {}, here());
        const Unlocked unlocked;
        return static_cast<int>(item(found, where).to_double());
      },
      -1);
}

/// The call evaluates without Python's lock.
template <class F>
auto evaluating(F f, const Array& x) {
  Where where = here();
  const Unlocked unlocked;
  return f(x, where);
}

Put put_named(std::string_view how) {
  if (how == "set") return Put::Set;
  if (how == "add") return Put::Add;
  if (how == "multiply") return Put::Multiply;
  if (how == "minimum") return Put::Minimum;
  if (how == "maximum") return Put::Maximum;
  refuse_value("put", "how is set, add, multiply, minimum or maximum");
}

/// x[key] = how(x[key], value), in place as assignment is; values of a place that is named twice are all joined.
void combine(nb::handle object, nb::handle key, nb::handle value, const char* how) {
  if (!is_array(object.ptr())) throw InvalidDtype(how, here(), "changes an array of Tarry, not " + class_name(object));
  const Where where = here();
  Array& x = array_of(object.ptr());
  const Key k(key.ptr(), x, how, where);
  Value v(value);
  const Operand operand = value_for(v, x);
  const Put put = put_named(how);
  const Array* const mask = k.mask();
  if (mask == nullptr) {
    update(x, k.indices(), operand, put);
  } else if (put == Put::Add) {
    x.add(*mask, operand);
  } else if (put == Put::Multiply) {
    x.multiply(*mask, operand);
  } else if (put == Put::Minimum) {
    x.minimum(*mask, operand);
  } else {
    x.maximum(*mask, operand);
  }
}

/// The values again from the first one, as many as there are places.
Array repeated_for(const Array& values, std::int64_t count) {
  if (values.ndim() == 0 || values.size() == count || values.size() == 0) return values;
  const Array flat = reshape(values, {-1}, here());
  return take(flat, remainder(arange(count, int64, here()), values.size()), 0, Bounds::Error, here());
}

/// Indices, of which those that the host knows are checked.
const Array& places_of(Value& indices, const Array& x, std::optional<int> axis, const char* op, Bounds bounds) {
  const bool numbered = dtype_of_numbers(indices.handle(), float64).has_value();
  const bool known = numbered || PyObject_HasAttrString(indices.handle().ptr(), "__array_interface__") != 0;
  const Array& made = indices.array();
  const int along = axis.value_or(0) + (axis.value_or(0) < 0 ? x.ndim() : 0);
  if (bounds != Bounds::Error || is_array(indices.handle().ptr()) || !known || !is_integral(made.dtype())) return made;
  if (along < 0 || (axis && along >= x.ndim())) return made;
  const std::int64_t extent = axis ? x.shape()[static_cast<std::size_t>(along)] : x.size();
  check_places(made, extent, along, op, here());
  return made;
}

Bounds bounds_of(std::string_view mode) {
  if (mode == "raise") return Bounds::Error;
  if (mode == "wrap") return Bounds::Wrap;
  if (mode == "clip") return Bounds::Clip;
  refuse_value("take", "mode is raise, wrap or clip");
}

}  // namespace

void refuse_lost(const std::string& op) {
  throw InvalidArgument(op, here(),
                        "would change an array that has no name, and be lost: parts of an array are no windows into "
                        "it; write x[i, j] = v for x[i][j] = v, and y = x[i] for what is to change by itself");
}

void refuse_nameless(PyObject* object, const char* op) {
  if (has_no_name(object)) refuse_lost(op);
}

nb::tuple nonzero_of(const Array& x) { return tuple_of(evaluating(&nonzero, x)); }

void add_subscripts(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, reinterpret_cast<void*>(&get)});
  slots.push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(&assign)});
  slots.push_back({Py_mp_length, reinterpret_cast<void*>(&length)});
  slots.push_back({Py_sq_item, reinterpret_cast<void*>(&item_at)});
  slots.push_back({Py_sq_length, reinterpret_cast<void*>(&length)});
  slots.push_back({Py_sq_contains, reinterpret_cast<void*>(&contains)});
  slots.push_back({Py_tp_iter, reinterpret_cast<void*>(&iterate)});
}

void bind_indexing(nb::module_& m, ArrayClass& array) {
  define(
      m, array, "take",
      [](Value x, Value indices, std::optional<int> axis, const char* mode) {
        const Bounds bounds = bounds_of(mode);
        return take(x.array(), places_of(indices, x.array(), axis, "take", bounds), axis, bounds, here());
      },
      "indices"_a, "axis"_a = nb::none(), nb::kw_only(), "mode"_a = "raise");
  m.def(
      "take_along_axis",
      [](Value x, Value indices, std::optional<int> axis, const char* mode) {
        const Array& values = x.array();
        return take_along_axis(axis ? values : reshape(values, {-1}, here()), indices.array(), axis.value_or(0),
                               bounds_of(mode), here());
      },
      "x"_a, "indices"_a, "axis"_a = -1, nb::kw_only(), "mode"_a = "raise", document("take_along_axis"));
  m.def(
      "put",
      [](Value x, Value indices, Value values, const char* mode, std::string_view how) {
        const Operand v = value_for(values, x.array());
        const Bounds bounds = bounds_of(mode);
        const Array& places = places_of(indices, x.array(), {}, "put", bounds);
        const Array cycled = v.array() == nullptr ? Array() : repeated_for(*v.array(), places.size());
        return put(x.array(), places, v.array() == nullptr ? v : Operand(cycled, here()), {put_named(how), bounds},
                   here());
      },
      "x"_a, "indices"_a, "values"_a, nb::kw_only(), "mode"_a = "raise", "how"_a = "set", document("put"));
  m.def(
      "put_along_axis",
      [](Value x, Value indices, Value values, std::optional<int> axis, const char* mode, std::string_view how) {
        const Array& whole = x.array();
        const Operand v = value_for(values, whole);
        const Array made = put_along_axis(axis ? whole : reshape(whole, {-1}, here()), indices.array(), v,
                                          axis.value_or(0), {put_named(how), bounds_of(mode)}, here());
        return axis ? made : reshape(made, whole.shape(), here());
      },
      "x"_a, "indices"_a, "values"_a, "axis"_a = -1, nb::kw_only(), "mode"_a = "raise", "how"_a = "set",
      document("put_along_axis"));
  m.def("_refuse_lost", &refuse_lost, "op"_a, "Says that a change of an array without a name would be lost.");
  m.def("nonzero", [](Value x) { return nonzero_of(x.array()); }, "x"_a, document("nonzero"));
  array.def("nonzero", &nonzero_of, document("nonzero"));
  m.def("_combine", &combine, "x"_a, "key"_a, "value"_a, "how"_a, "Joins values with elements, in place.");
  m.def("argwhere", [](Value x) { return evaluating(&argwhere, x.array()); }, "x"_a, document("argwhere"));
  m.def("flatnonzero", [](Value x) { return evaluating(&flatnonzero, x.array()); }, "x"_a, document("flatnonzero"));
  m.def(
      "compress",
      [](Value condition, Value x, std::optional<int> axis) {
        return compress(condition.array(), x.array(), axis, here());
      },
      "condition"_a, "x"_a, "axis"_a = nb::none(), document("compress"));
}

}  // namespace tarry::python
