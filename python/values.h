// Values between Python and C++: arrays, numbers, dtypes, devices, shapes and axes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <tarry/dynamic.h>
#include <tarry/tarry.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/errors.h"
#include "python/location.h"

namespace tarry::python {

/// The Python type of arrays.
extern PyTypeObject* array_type;

inline bool is_array(PyObject* o) noexcept {
  return Py_TYPE(o) == array_type || PyType_IsSubtype(Py_TYPE(o), array_type) != 0;
}
inline Array& array_of(PyObject* o) noexcept { return *nb::inst_ptr<Array>(nb::handle(o)); }
/// A new Python object that holds x.
PyObject* wrap(Array x);
inline nb::object object(Array x) { return nb::steal(wrap(std::move(x))); }

/// An integer of Python: int64, else uint64.  Throws OverflowError beyond.
Scalar integer_scalar(PyObject* integer);
/// An integer of Python beyond both, as the nearest float, which may be infinite; nothing for others.
std::optional<double> large_integer(PyObject* o);
/// How messages name an integer.
std::string integer_text(PyObject* integer);
/// A bool, int or float of Python; nothing for other objects.
std::optional<Scalar> number(PyObject* o);
/// A number as Python has it.
nb::object python_number(Scalar value);
/// The name of an object's type, for messages.
std::string class_name(nb::handle o);
/// Objects with elements of their own that are neither our arrays nor numbers: NumPy's arrays and scalars, tensors.
bool is_foreign_array(PyObject* o);
/// asarray(o), which lies so deep in lists; see creation.cpp.
Array to_array(nb::handle o, std::optional<Dtype> dtype = {}, int depth = 0);
/// The dtype of a nest of lists of numbers where a default float is `floats`; nothing for other objects.
std::optional<Dtype> dtype_of_numbers(nb::handle o, Dtype floats);
class Value;
/// How an operation takes an integer of more than 64 bits beside an array of integers: comparisons know its side.
enum class Large : std::uint8_t { Refused, Compared };
constexpr Large large_of(std::string_view op) {
  const bool compares = op == "equal" || op == "not_equal" || op.starts_with("less") || op.starts_with("greater");
  return compares ? Large::Compared : Large::Refused;
}
/// Both operands of an operation, of which one may be a list beside an array. False where one is neither.
bool convert_both(Value& a, Value& b, const char* op = "", Large large = Large::Refused);

/// An argument of an operation: an array, a number, or a foreign array. Keeps what it converted.
class Value {
 public:
  Value() = default;
  explicit Value(nb::handle o) noexcept : object_(o) {}
  /// False where it is none of these; NotImplemented is the answer of an operator then.
  bool convert();
  /// A list of numbers, or a tuple, that an array of this dtype meets: floats in it beside floats, as numbers are weak,
  /// and float64 beside integers. False for other objects.
  bool convert_beside(Dtype other);
  /// A list of numbers, or a tuple, that goes into an array of this dtype: in it, but floats for integers in float64.
  bool convert_for(Dtype target);
  /// An integer of more than 64 bits as a number beside an array of this dtype: a float beside floats; beside integers
  /// infinite where it is compared, and otherwise InvalidValue.
  void settle(Dtype other, const char* op, Large large);
  [[nodiscard]] std::optional<double> large() const { return large_; }
  /// Throws TypeError where it is none of these.
  Operand operand(Where where);
  const Array& array();
  [[nodiscard]] bool is_none() const { return object_.is_none(); }
  /// The array, where it is one by now.
  [[nodiscard]] const Array* converted() const { return array_; }
  [[nodiscard]] nb::handle handle() const { return object_; }

 private:
  nb::handle object_;
  const Array* array_ = nullptr;
  std::optional<Array> converted_;
  std::optional<Scalar> scalar_;
  std::optional<double> large_;  ///< an integer of more than 64 bits
};

/// The arrays of a sequence, or an array's rows.
std::vector<Array> arrays_of(nb::handle sequence);
/// Lists within lists beyond this depth are refused.
inline constexpr int kDeepest = 200;
[[noreturn]] void refuse_depth(const char* op);
nb::tuple tuple_of(const std::vector<Array>& arrays);

/// The Python object of a dtype, one for each.
nb::object dtype_object(Dtype dtype);
/// A dtype as users name it: ours, a name, NumPy's, or bool, int and float. Nothing for other objects.
std::optional<Dtype> dtype_from(PyObject* o);
std::optional<Device> device_from(PyObject* o);
nb::object device_object(Device device);

/// A generator as an object of a type, which may be one of Python.
nb::object generator_object(nb::handle type, const random::Generator& g);

/// How a caster finds what users name.
template <class T>
struct Named;
template <>
struct Named<Dtype> {
  static constexpr auto kText = nb::detail::io_name("Dtype | str | type", "Dtype");
  static std::optional<Dtype> find(PyObject* o) { return dtype_from(o); }
  static nb::object object(Dtype dtype) { return dtype_object(dtype); }
  /// Text, types, and dtypes of NumPy.
  static bool is_name(PyObject* o);
  [[noreturn]] static void refuse(nb::handle name);
};
template <>
struct Named<Device> {
  static constexpr auto kText = nb::detail::io_name("Device | str", "Device");
  static std::optional<Device> find(PyObject* o) { return device_from(o); }
  static nb::object object(Device device) { return device_object(device); }
  static bool is_name(PyObject* o) { return PyUnicode_Check(o) != 0; }
  [[noreturn]] static void refuse(nb::handle name);
};

/// An integer or a sequence of them.  False for other objects.
bool integers_from(PyObject* o, std::vector<std::int64_t>& integers);
nb::tuple shape_tuple(const Shape& shape);

/// `make`'s array, placed on the device where there is one.
template <class Make>
Array placed(const std::optional<Device>& device, Make&& make) {
  if (!device) return make();
  const Scope scope(*device);
  return make();
}

}  // namespace tarry::python

namespace nanobind::detail {

template <>
struct type_caster<tarry::python::Value> {
  NB_TYPE_CASTER(tarry::python::Value, const_name("Array | bool | int | float"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    value = tarry::python::Value(src);
    return true;
  }
};

/// Dtypes and devices as users name them. A name that is none is refused when the function takes it: a caster that
/// fails says only which types there are.
template <class T>
struct named_caster {
  using Kind = tarry::python::Named<T>;
  static constexpr auto Name = Kind::kText;
  template <class Other>
  using Cast = movable_cast_t<Other>;
  template <class Other>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    const std::optional<T> found = Kind::find(src.ptr());
    if (found) value_ = *found;
    unknown_ = found ? handle() : src;
    return found.has_value() || Kind::is_name(src.ptr());
  }
  static handle from_cpp(T value, rv_policy, cleanup_list*) noexcept { return Kind::object(value).release(); }
  T& value() {
    if (unknown_.is_valid()) Kind::refuse(unknown_);
    return value_;
  }
  explicit operator T*() { return &value(); }
  explicit operator T&() { return value(); }
  explicit operator T&&() { return std::move(value()); }

 private:
  T value_{};
  handle unknown_;
};
/// The same, or None.
template <class T>
struct maybe_named_caster {
  using Maybe = std::optional<T>;
  static constexpr auto Name = optional_name(named_caster<T>::Name);
  template <class Other>
  using Cast = movable_cast_t<Other>;
  template <class Other>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    none_ = src.is_none();
    return none_ || caster_.from_python(src, flags, cleanup);
  }
  static handle from_cpp(const Maybe& value, rv_policy policy, cleanup_list* cleanup) noexcept {
    return value ? named_caster<T>::from_cpp(*value, policy, cleanup) : none().release();
  }
  Maybe& value() {
    value_ = none_ ? Maybe() : Maybe(caster_.value());
    return value_;
  }
  explicit operator Maybe*() { return &value(); }
  explicit operator Maybe&() { return value(); }
  explicit operator Maybe&&() { return std::move(value()); }

 private:
  named_caster<T> caster_;
  Maybe value_;
  bool none_ = false;
};

template <>
struct type_caster<tarry::Dtype> : named_caster<tarry::Dtype> {};
template <>
struct type_caster<tarry::Device> : named_caster<tarry::Device> {};
template <>
struct type_caster<std::optional<tarry::Dtype>> : maybe_named_caster<tarry::Dtype> {};
template <>
struct type_caster<std::optional<tarry::Device>> : maybe_named_caster<tarry::Device> {};

template <>
struct type_caster<tarry::Shape> {
  NB_TYPE_CASTER(tarry::Shape, const_name("int | Sequence[int]"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    std::vector<std::int64_t> extents;
    if (!tarry::python::integers_from(src.ptr(), extents)) return false;
    value = tarry::Shape(std::move(extents));
    return true;
  }
};

template <>
struct type_caster<tarry::Axes> {
  NB_TYPE_CASTER(tarry::Axes, const_name("int | Sequence[int]"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    if (src.is_none()) return true;
    std::vector<std::int64_t> axes;
    if (!tarry::python::integers_from(src.ptr(), axes)) return false;
    value = tarry::Axes(std::move(axes));
    return true;
  }
};

}  // namespace nanobind::detail
