// Making arrays: from Python's values, from memory of others, and from rules.
#include "python/module.h"
#include "python/values.h"

#include <tarry/type_info.h>

#include <algorithm>
#include <string>
#include <vector>

#include "python/memory.h"

namespace tarry::python {
namespace {

using MaybeDtype = std::optional<Dtype>;
using MaybeDevice = std::optional<Device>;

using Whole = nb::typed<nb::object, nb::int_>;

/// The number of a diagonal; those beyond 2^62 name as little as that one does.
std::int64_t diagonal_of(const Whole& k) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const nb::object index = nb::steal(PyNumber_Index(k.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int beyond = 0;
  const std::int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &beyond);
  return beyond == 0 ? std::clamp(number, -kFar, kFar) : beyond * kFar;
}

bool is_sequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

/// Nested lists of numbers, read in order.
class Nested {
 public:
  explicit Nested(nb::handle o) {
    for (nb::object at = nb::borrow(o); is_sequence(at.ptr());) {
      const Py_ssize_t count = PySequence_Size(at.ptr());
      shape_.push_back(count);
      if (count == 0) break;
      if (shape_.size() > 16) refuse_value("asarray", "lists are nested more than 16 deep");
      at = nb::steal(PySequence_GetItem(at.ptr(), 0));
    }
    read(o.ptr(), 0);
  }
  [[nodiscard]] Dtype dtype(Dtype floats) const { return floats_ || values_.empty() ? floats : natural(); }
  /// False where something else than a number is among them.
  [[nodiscard]] bool is_of_numbers() const { return numbers_; }
  [[nodiscard]] Array array(MaybeDtype dtype, Where where) const {
    const Dtype stored = dtype.value_or(natural());
    if (beyond_.is_valid() && (!dtype || !is_floating(*dtype))) (void)number(beyond_.ptr());  // which refuses it
    const bool fraction = floats_ && !is_floating(stored);  // what a dtype without fractions makes of it is astype's
    const Dtype made = fraction ? float64 : stored;
    std::vector<unsigned char> bytes(values_.size() * itemsize(made));
    for (std::size_t i = 0; i < values_.size(); ++i) put(bytes.data() + i * itemsize(made), made, values_[i], where);
    const Array x = detail::copy_in(bytes.data(), made, Shape(shape_), where);
    return fraction ? astype(x, stored, here()) : x;
  }

 private:
  void read(PyObject* o, std::size_t depth) {
    if (!numbers_) return;
    if (depth == shape_.size()) {
      add(o);
      return;
    }
    if (!is_sequence(o) || PySequence_Size(o) != shape_[depth]) {
      numbers_ = !is_sequence(o) && !large_integer(o) && !number(o) ? false : numbers_;
      if (numbers_) refuse_value("asarray", "the rows of a nested list differ in length or depth");
      return;
    }
    for (std::int64_t i = 0; i < shape_[depth]; ++i)
      read(nb::steal(PySequence_GetItem(o, static_cast<Py_ssize_t>(i))).ptr(), depth + 1);
  }
  void add(PyObject* o) {
    const std::optional<double> beyond = large_integer(o);
    if (beyond) beyond_ = nb::borrow(o);
    const std::optional<Scalar> value = beyond ? Scalar(*beyond) : number(o);
    numbers_ = value.has_value();
    if (!numbers_) return;
    values_.push_back(*value);
    bools_ = bools_ || value->kind() == Scalar::Kind::Bool;
    floats_ = floats_ || value->kind() == Scalar::Kind::Float;
    integers_ = integers_ || value->kind() == Scalar::Kind::Int;
    large_ = large_ || value->kind() == Scalar::Kind::UInt;
  }
  [[nodiscard]] Dtype natural() const {
    if (floats_ || values_.empty()) return default_float();
    if (large_) return uint64;
    return integers_ ? int64 : bool_;
  }
  static void put(unsigned char* to, Dtype dtype, Scalar value, Where where) {
    if (dtype == bool_) {
      *to = value.to_double() != 0 ? 1 : 0;
    } else if (is_floating(dtype) && value.kind() == Scalar::Kind::Float) {
      store_rounded(to, dtype, value.as_float());
    } else {
      try {
        store_element(to, dtype, value, where);
      } catch (const InvalidArgument& e) {
        raise(PyExc_OverflowError, e.what());
      }
    }
  }
  /// Numbers beyond the dtype become infinite, as conversions make them.
  static void store_rounded(unsigned char* to, Dtype dtype, double value) {
    const FloatInfo limits = finfo(dtype);
    const auto infinite = [&] { return value > limits.max ? inf : -inf; };
    try {
      store_element(to, dtype, value);
    } catch (const InvalidArgument&) {
      store_element(to, dtype, infinite());
    }
  }

  std::vector<std::int64_t> shape_;
  std::vector<Scalar> values_;
  nb::object beyond_;  ///< an integer of more than 64 bits
  bool numbers_ = true, bools_ = false, floats_ = false, integers_ = false, large_ = false;
};

/// Lists with arrays among their elements.
Array stacked(nb::handle sequence, MaybeDtype dtype, int depth) {
  if (depth > kDeepest) refuse_depth("asarray");
  std::vector<Array> parts;
  for (const nb::handle each : nb::iter(sequence)) parts.push_back(to_array(each, dtype, depth + 1));
  return stack(parts, 0, here());
}

Array cast_to(Array x, MaybeDtype dtype) { return dtype && x.dtype() != *dtype ? astype(x, *dtype, here()) : x; }

Array of_sequence(nb::handle o, MaybeDtype dtype, int depth) {
  const Nested nested(o);
  return nested.is_of_numbers() ? nested.array(dtype, here()) : stacked(o, dtype, depth);
}

[[noreturn]] void refuse_without_copy(const char* of) {
  raise(PyExc_ValueError, std::string("an array of ") + of + " takes a copy, and copy is False");
}

nb::object made(nb::handle o, MaybeDtype dtype, const MaybeDevice& device, std::optional<bool> copy) {
  const bool never = copy.has_value() && !*copy;
  if (is_array(o.ptr())) {
    const Array& x = array_of(o.ptr());
    const bool same = (!dtype || *dtype == x.dtype()) && (!device || *device == Device{} || *device == x.device());
    if (same && !copy.value_or(false)) return nb::borrow(o);
    if (never && dtype && *dtype != x.dtype()) refuse_without_copy("another dtype");
    const Array y = cast_to(x, dtype);
    return object(device ? to_device(y, *device, here()) : y);
  }
  if (never && is_foreign_array(o.ptr())) return object(borrowed(o, dtype));
  if (never) refuse_without_copy("Python's numbers");
  return object(placed(device, [&] { return to_array(o, dtype); }));
}

Array filled(const Shape& shape, Value& value, MaybeDtype dtype) {
  PyObject* const o = value.handle().ptr();
  const auto beyond = dtype && is_floating(*dtype) ? large_integer(o) : std::nullopt;
  const auto scalar = beyond ? Scalar(*beyond) : number(o);
  if (!scalar) {
    const Array& x = value.array();
    return broadcast_to(cast_to(x, dtype), shape, here());
  }
  if (!dtype && scalar->kind() == Scalar::Kind::Float) dtype = default_float();
  return full(shape, *scalar, dtype, here());
}

Scalar plain_number(nb::handle o, const char* op) {
  if (const auto scalar = number(o.ptr())) return *scalar;
  if (is_array(o.ptr()) || PyNumber_Check(o.ptr()) != 0) {
    const bool whole = PyIndex_Check(o.ptr()) != 0 && (!is_array(o.ptr()) || is_integral(array_of(o.ptr()).dtype()));
    const nb::object converted = nb::steal(whole ? PyNumber_Index(o.ptr()) : PyNumber_Float(o.ptr()));
    if (!converted.is_valid()) throw nb::python_error();
    return *number(converted.ptr());
  }
  throw InvalidDtype(op, here(), "takes a number, not " + class_name(o));
}

/// An end of a range of floats.
Scalar end_of(nb::handle o) {
  if (const auto beyond = large_integer(o.ptr())) return *beyond;
  return plain_number(o, "linspace");
}

/// The dtype of what lies between two numbers: that of floating arrays, else the default.
Dtype dtype_between(nb::handle start, nb::handle stop, MaybeDtype dtype) {
  if (dtype) return *dtype;
  std::vector<TypeOperand> ends;
  for (const nb::handle end : {start, stop})
    if (is_array(end.ptr()) && is_floating(array_of(end.ptr()).dtype())) ends.emplace_back(array_of(end.ptr()).dtype());
  return ends.empty() ? default_float() : result_type(ends, here());
}

Array range(nb::handle start, nb::handle stop, nb::handle step, MaybeDtype dtype) {
  const bool one = stop.is_none();
  const Scalar from = one ? Scalar(0) : plain_number(start, "arange"), to = plain_number(one ? start : stop, "arange");
  const Scalar by = plain_number(step, "arange");
  const auto fraction = [](Scalar s) { return s.kind() == Scalar::Kind::Float; };
  if (!dtype && (fraction(from) || fraction(to) || fraction(by))) dtype = default_float();
  if (dtype && is_integral(*dtype) && (fraction(from) || fraction(to) || fraction(by))) {
    return astype(arange(from, to, by, float64, here()), *dtype, here());
  }
  return arange(from, to, by, dtype, here());
}

}  // namespace

Array to_array(nb::handle o, std::optional<Dtype> dtype, int depth) {
  if (is_array(o.ptr())) return cast_to(array_of(o.ptr()), dtype);
  if (large_integer(o.ptr()) || number(o.ptr()) || is_sequence(o.ptr())) return of_sequence(o, dtype, depth);
  if (auto copied = copy_of_memory(o)) return cast_to(std::move(*copied), dtype);
  const bool is_text = PyUnicode_Check(o.ptr()) || PyBytes_Check(o.ptr());
  if (PySequence_Check(o.ptr()) != 0 && !is_text) return of_sequence(nb::steal(PySequence_List(o.ptr())), dtype, depth);
  throw InvalidDtype("asarray", here(), "no array can be made of " + class_name(o));
}

namespace {

/// Each array along its axis of the grid, the others of extent 1.
std::vector<Array> open_grid(std::vector<Array> arrays, bool crossed) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<std::int64_t> shape(arrays.size(), 1);
    const bool swapped = crossed && arrays.size() > 1 && i < 2;
    shape[swapped ? 1 - i : i] = -1;
    arrays[i] = reshape(arrays[i], Shape(std::move(shape)), here());
  }
  return arrays;
}

}  // namespace

std::optional<Dtype> dtype_of_numbers(nb::handle o, Dtype floats) {
  if (!is_sequence(o.ptr())) return {};
  const Nested nested(o);
  if (!nested.is_of_numbers()) return {};
  return nested.dtype(floats);
}

void bind_creation(nb::module_& m, ArrayClass&) {
  const char* const of_values =
      "An array of a number, of nested lists of numbers, or of another library's array.\n\n"
      "Elements are copied unless copy is False; then the array reads the memory, which must not change until "
      "everything recorded from it is evaluated. An array of Tarry is returned as it is unless copy is True.";
  const auto of_object = [&](const char* name, const char* signature) {
    m.def(name, &made, "obj"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(), "copy"_a = nb::none(),
          nb::sig(signature), of_values);
  };
#define TARRY_PYTHON_ARGUMENTS                                                                                         \
  "(obj: object, dtype: Dtype | str | type | None = None, *, device: Device | str | None = None, copy: bool | None = " \
  "None) -> "                                                                                                          \
  "Array"
  of_object("asarray", "def asarray" TARRY_PYTHON_ARGUMENTS);
  of_object("array", "def array" TARRY_PYTHON_ARGUMENTS);
#undef TARRY_PYTHON_ARGUMENTS
  m.def(
      "full",
      [](const Shape& shape, Value value, MaybeDtype dtype, MaybeDevice device) {
        return placed(device, [&] { return filled(shape, value, dtype); });
      },
      "shape"_a, "fill_value"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(), document("full"));
  m.def(
      "full_like",
      [](Value x, Value value, MaybeDtype dtype, MaybeDevice device) {
        return placed(device, [&] { return filled(x.array().shape(), value, dtype ? *dtype : x.array().dtype()); });
      },
      "x"_a, "fill_value"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(), document("full_like"));
  const auto constant = [&](const char* name, const char* like, auto f, auto f_like, const char* doc) {
    m.def(
        name,
        [f](const Shape& shape, MaybeDtype dtype, MaybeDevice device) {
          return placed(device, [&] { return f(shape, dtype, here()); });
        },
        "shape"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(), doc);
    m.def(
        like,
        [f_like](Value x, MaybeDtype dtype, MaybeDevice device) {
          return placed(device, [&] { return f_like(x.array(), dtype, here()); });
        },
        "x"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(), doc);
  };
  constant("zeros", "zeros_like", &zeros, &zeros_like, "Zeros.");
  constant("ones", "ones_like", &ones, &ones_like, "Ones.");
  constant("empty", "empty_like", &empty, &empty_like, document("empty"));
  m.def(
      "arange",
      [](nb::handle start, nb::handle stop, nb::handle step, MaybeDtype dtype, MaybeDevice device) {
        return placed(device, [&] { return range(start, stop, step, dtype); });
      },
      "start"_a, "stop"_a = nb::none(), "step"_a = 1, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(),
      document("arange"));
  m.def(
      "linspace",
      [](nb::handle start, nb::handle stop, std::int64_t num, MaybeDtype dtype, MaybeDevice device, bool endpoint) {
        const LinspaceOptions options{endpoint, dtype_between(start, stop, dtype)};
        return placed(device, [&] { return linspace(end_of(start), end_of(stop), num, options, here()); });
      },
      "start"_a, "stop"_a, "num"_a = 50, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "endpoint"_a = true, document("linspace"));
  m.def(
      "eye",
      [](std::int64_t rows, std::optional<std::int64_t> columns, const Whole& k, MaybeDtype dtype, MaybeDevice device) {
        return placed(device, [&] { return eye(rows, {columns.value_or(-1), diagonal_of(k), dtype}, here()); });
      },
      "n_rows"_a, "n_cols"_a = nb::none(), "k"_a = 0, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(),
      document("eye"));
  m.def(
      "logspace",
      [](nb::handle start, nb::handle stop, std::int64_t num, double base, MaybeDtype dtype) {
        return logspace(end_of(start), end_of(stop), num, {.base = base, .dtype = dtype_between(start, stop, dtype)},
                        here());
      },
      "start"_a, "stop"_a, "num"_a = 50, nb::kw_only(), "base"_a = 10.0, "dtype"_a = nb::none(), document("logspace"));
  m.def(
      "geomspace",
      [](nb::handle start, nb::handle stop, std::int64_t num, bool endpoint, MaybeDtype dtype) {
        const LinspaceOptions options{endpoint, dtype_between(start, stop, dtype)};
        return geomspace(end_of(start), end_of(stop), num, options, here());
      },
      "start"_a, "stop"_a, "num"_a = 50, nb::kw_only(), "endpoint"_a = true, "dtype"_a = nb::none(),
      document("geomspace"));
  m.def(
      "meshgrid",
      [](const nb::args& arrays, std::string_view indexing, bool sparse, bool) {
        if (indexing != "xy" && indexing != "ij") refuse_value("meshgrid", "indexing is xy or ij");
        if (arrays.size() == 0) return nb::list();
        if (sparse) return nb::list(tuple_of(open_grid(arrays_of(arrays), indexing == "xy")));
        return nb::list(
            tuple_of(meshgrid(arrays_of(arrays), indexing == "xy" ? GridOrder::XY : GridOrder::IJ, here())));
      },
      "arrays"_a, nb::kw_only(), "indexing"_a = "xy", "sparse"_a = false, "copy"_a = true, document("meshgrid"));
  m.def(
      "tril", [](Value x, const Whole& k) { return tril(x.array(), diagonal_of(k), here()); }, "x"_a, "k"_a = 0,
      document("tril"));
  m.def(
      "triu", [](Value x, const Whole& k) { return triu(x.array(), diagonal_of(k), here()); }, "x"_a, "k"_a = 0,
      document("triu"));
}

}  // namespace tarry::python
