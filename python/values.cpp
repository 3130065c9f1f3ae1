// Values between Python and C++: arrays, numbers, dtypes, devices, shapes and axes.
#include "python/values.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace tarry::python {

PyTypeObject* array_type = nullptr;

PyObject* wrap(Array x) {
  const nb::handle type(reinterpret_cast<PyObject*>(array_type));
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<Array>(made)) Array(std::move(x));
  nb::inst_mark_ready(made);
  return made.release().ptr();
}

Scalar integer_scalar(PyObject* integer) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return static_cast<std::int64_t>(value);
  }
  const unsigned long long large = PyLong_AsUnsignedLongLong(integer);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return static_cast<std::uint64_t>(large);
}

std::optional<double> large_integer(PyObject* o) {
  if (!PyLong_Check(o)) return {};
  int beyond = 0;
  PyLong_AsLongLongAndOverflow(o, &beyond);
  if (beyond == 0) return {};
  if (beyond > 0) {
    PyLong_AsUnsignedLongLong(o);
    if (PyErr_Occurred() == nullptr) return {};
    PyErr_Clear();
  }
  const double value = PyLong_AsDouble(o);
  if (PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return beyond * inf;
}

std::string integer_text(PyObject* integer) {
  const auto bits = nb::cast<std::int64_t>(nb::handle(integer).attr("bit_length")());
  if (bits > 256) return "an integer of " + std::to_string(bits) + " bits";
  return std::string("the number ") + nb::repr(nb::handle(integer)).c_str();
}

std::optional<Scalar> number(PyObject* o) {
  if (PyFloat_Check(o)) return Scalar(PyFloat_AsDouble(o));
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (!PyLong_Check(o)) return {};
  if (large_integer(o)) {
    const InvalidValue error("", here(), "no dtype of integers holds " + integer_text(o) + "; say dtype=float64");
    raise(PyExc_OverflowError, error.what());
  }
  return integer_scalar(o);
}

nb::object python_number(Scalar value) {
  switch (value.kind()) {
    case Scalar::Kind::Bool: return nb::bool_(value.as_int() != 0);
    case Scalar::Kind::Int: return nb::int_(value.as_int());
    case Scalar::Kind::UInt: return nb::int_(value.as_uint());
    case Scalar::Kind::Float: break;
  }
  return nb::float_(value.as_float());
}

std::string class_name(nb::handle o) { return nb::type_name(o.type()).c_str(); }

bool is_foreign_array(PyObject* o) {
  if (PyType_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) return false;
  constexpr const char* kShown[] = {"__array_interface__", "__dlpack__", "__cuda_array_interface__"};
  return std::ranges::any_of(kShown, [o](const char* name) { return PyObject_HasAttrString(o, name) != 0; });
}

bool Value::convert() {
  if (is_array(object_.ptr())) {
    array_ = &array_of(object_.ptr());
    return true;
  }
  large_ = large_integer(object_.ptr());
  if (large_) return true;
  scalar_ = number(object_.ptr());
  if (scalar_) return true;
  if (!is_foreign_array(object_.ptr())) return false;
  converted_ = to_array(object_);
  array_ = &*converted_;
  return true;
}

bool Value::convert_beside(Dtype other) {
  const auto dtype = dtype_of_numbers(object_, is_floating(other) ? other : float64);
  if (!dtype) return false;
  converted_ = to_array(object_, *dtype);
  array_ = &*converted_;
  return true;
}

bool Value::convert_for(Dtype target) {
  const auto dtype = dtype_of_numbers(object_, float64);
  if (!dtype) return false;
  converted_ = to_array(object_, is_floating(*dtype) && !is_floating(target) ? float64 : target);
  array_ = &*converted_;
  return true;
}

void Value::settle(Dtype other, const char* op, Large large) {
  if (!large_) return;
  if (is_floating(other) && std::isfinite(*large_)) {
    scalar_ = Scalar(*large_);
  } else if (!is_floating(other) && large == Large::Compared) {
    scalar_ = Scalar(std::copysign(inf, *large_));
  } else {
    throw InvalidValue(op, here(),
                       integer_text(object_.ptr()) + " does not fit " + std::string(name(other)) +
                           "; a dtype that holds it is wanted (see astype)");
  }
}

bool convert_both(Value& a, Value& b, const char* op, Large large) {
  const bool first = a.convert(), second = b.convert();
  if (a.large() || b.large()) {
    const Dtype none = int64;
    if (first) a.settle(b.converted() != nullptr ? b.converted()->dtype() : none, op, large);
    if (second) b.settle(a.converted() != nullptr ? a.converted()->dtype() : none, op, large);
  }
  if (first && second) return true;
  if (first && a.converted() != nullptr) return b.convert_beside(a.converted()->dtype());
  return second && b.converted() != nullptr && a.convert_beside(b.converted()->dtype());
}

Operand Value::operand(Where where) {
  if (array_ == nullptr && !scalar_ && !large_ && !convert()) {
    const bool listed = PyList_Check(object_.ptr()) || PyTuple_Check(object_.ptr());
    if (!listed) raise(PyExc_TypeError, "takes arrays and numbers, not " + class_name(object_));
    array();
  }
  if (array_ != nullptr) return {*array_, where};
  if (!scalar_) settle(int64, "", Large::Refused);
  switch (scalar_->kind()) {
    case Scalar::Kind::Bool: return {scalar_->as_int() != 0, where};
    case Scalar::Kind::Int: return {scalar_->as_int(), where};
    case Scalar::Kind::UInt: return {scalar_->as_uint(), where};
    case Scalar::Kind::Float: break;
  }
  return {scalar_->as_float(), where};
}

const Array& Value::array() {
  if (array_ == nullptr) {
    converted_ = to_array(object_);
    array_ = &*converted_;
  }
  return *array_;
}

std::vector<Array> arrays_of(nb::handle sequence) {
  std::vector<Array> arrays;
  for (const nb::handle each : nb::iter(sequence)) arrays.push_back(Value(each).array());
  return arrays;
}

void refuse_depth(const char* op) {
  throw InvalidValue(
      op, here(), "lists are nested more than " + std::to_string(kDeepest) + " deep; one that contains itself is so");
}

nb::tuple tuple_of(const std::vector<Array>& arrays) {
  nb::list made;
  for (const Array& x : arrays) made.append(object(x));
  return nb::tuple(made);
}

bool integers_from(PyObject* o, std::vector<std::int64_t>& integers) {
  const auto append = [&](PyObject* each) {
    if (is_array(each) ? array_of(each).ndim() != 0 : PyIndex_Check(each) == 0) return false;
    const Py_ssize_t value = PyNumber_AsSsize_t(each, PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    integers.push_back(value);
    return true;
  };
  if (!PyTuple_Check(o) && !PyList_Check(o)) return append(o);
  const Py_ssize_t count = PySequence_Size(o);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object each = nb::steal(PySequence_GetItem(o, i));
    if (!append(each.ptr())) return false;
  }
  return true;
}

nb::tuple shape_tuple(const Shape& shape) {
  PyObject* const made = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
  if (made == nullptr) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(made, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
  return nb::steal<nb::tuple>(made);
}

}  // namespace tarry::python
