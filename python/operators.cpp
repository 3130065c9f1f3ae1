// The operators of arrays, as slots of their type: Python calls them without looking up a method.
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <string>
#include <utility>

namespace tarry::python {
namespace {

using Binary = Array (*)(const Operand&, const Operand&);
using Unary = Array (*)(const Array&, Where);

/// Names for messages.
constexpr std::pair<Binary, const char*> kNames[] = {{&add, "add"},
                                                     {&subtract, "subtract"},
                                                     {&multiply, "multiply"},
                                                     {&divide, "divide"},
                                                     {&floor_divide, "floor_divide"},
                                                     {&remainder, "remainder"},
                                                     {&pow, "pow"},
                                                     {&bitwise_and, "bitwise_and"},
                                                     {&bitwise_or, "bitwise_or"},
                                                     {&bitwise_xor, "bitwise_xor"},
                                                     {&bitwise_left_shift, "bitwise_left_shift"},
                                                     {&bitwise_right_shift, "bitwise_right_shift"},
                                                     {&equal, "equal"},
                                                     {&not_equal, "not_equal"},
                                                     {&less, "less"},
                                                     {&less_equal, "less_equal"},
                                                     {&greater, "greater"},
                                                     {&greater_equal, "greater_equal"}};
constexpr const char* name_of(Binary f) {
  for (const auto& [function, name] : kNames)
    if (function == f) return name;
  return "matmul";
}

/// Also the reflected operator: Python calls the slot of either operand with both, in order.
template <Binary F>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* kName = name_of(F);
    Value x{nb::handle(a)}, y{nb::handle(b)};
    if (!convert_both(x, y, kName, large_of(kName))) Py_RETURN_NOTIMPLEMENTED;
    const Where where = here();
    return wrap(F(x.operand(where), y.operand(where)));
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<&pow>(a, b);
}

PyObject* product(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Value x{nb::handle(a)}, y{nb::handle(b)};
    if (large_integer(a) || large_integer(b) || number(a) || number(b) || !convert_both(x, y)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(matmul(x.array(), y.array(), here()));
  });
}
Array product_of(const Operand& a, const Operand& b) {
  if (b.array() == nullptr) throw InvalidDtype("matmul", here(), "takes arrays, not a number");
  return matmul(*a.array(), *b.array(), here());
}

template <class Kind>
[[noreturn]] void refuse_to_turn(const Array& x, const Array& result, Where where) {
  throw Kind("in place", where,
             "would turn " + std::string(name(x.dtype())) + " " + x.shape().str() + " into " +
                 std::string(name(result.dtype())) + " " + result.shape().str() +
                 "; write x = x + y, or its like, where that is meant");
}

/// Rebinds the object to the result, which must have its shape and dtype.
template <Binary F>
PyObject* in_place(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Array& x = array_of(a);
    Value y{nb::handle(b)};
    if (!y.convert() && !y.convert_beside(x.dtype())) Py_RETURN_NOTIMPLEMENTED;
    y.settle(x.dtype(), name_of(F), Large::Refused);
    const Where where = here();
    Array result = F(Operand(x, where), y.operand(where));
    if (result.dtype() != x.dtype()) refuse_to_turn<InvalidDtype>(x, result, where);
    if (!detail::have_one_shape(result, x)) refuse_to_turn<InvalidShape>(x, result, where);
    x = std::move(result);
    Py_INCREF(a);
    return a;
  });
}
PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) { return in_place<&pow>(a, b); }

PyObject* divmod(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Value x{nb::handle(a)}, y{nb::handle(b)};
    if (!convert_both(x, y, "divmod")) Py_RETURN_NOTIMPLEMENTED;
    const Operand l = x.operand(here()), r = y.operand(here());
    return nb::make_tuple(object(floor_divide(l, r)), object(remainder(l, r))).release().ptr();
  });
}

template <Unary F>
PyObject* unary(PyObject* a) {
  return guarded([&] { return wrap(F(array_of(a), here())); });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_EQ: return binary<&equal>(a, b);
    case Py_NE: return binary<&not_equal>(a, b);
    case Py_LT: return binary<&less>(a, b);
    case Py_LE: return binary<&less_equal>(a, b);
    case Py_GT: return binary<&greater>(a, b);
    default: return binary<&greater_equal>(a, b);
  }
}

/// The element of a 0-d array, or of one with a single element for bool().
Scalar element(PyObject* a, const char* to) {
  const Array& x = array_of(a);
  if (x.size() != 1 || (x.ndim() != 0 && std::string_view(to) != "bool")) {
    raise(x.size() != 1 && std::string_view(to) == "bool" ? PyExc_ValueError : PyExc_TypeError,
          "an array of shape " + x.shape().str() + " has no single element to convert to " + to);
  }
  const Where where = here();
  const Unlocked unlocked;
  return item(x, where);
}

int truth(PyObject* a) {
  return guarded(
      [&] {
        const Scalar value = element(a, "bool");
        return static_cast<int>(value.to_double() != 0);
      },
      -1);
}
PyObject* to_float(PyObject* a) {
  return guarded([&] { return PyFloat_FromDouble(element(a, "float").to_double()); });
}
PyObject* to_int(PyObject* a) {
  return guarded([&]() -> PyObject* {
    const Scalar value = element(a, "int");
    return value.kind() == Scalar::Kind::Float ? PyLong_FromDouble(value.as_float())
                                               : PyNumber_Long(python_number(value).ptr());
  });
}
PyObject* to_index(PyObject* a) {
  return guarded([&]() -> PyObject* {
    if (!is_integral(array_of(a).dtype())) {
      raise(PyExc_TypeError, "an array of " + std::string(name(array_of(a).dtype())) + " is no index");
    }
    return PyNumber_Long(python_number(element(a, "an index")).ptr());
  });
}

template <class F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void add_operators(std::vector<PyType_Slot>& slots) {
  const PyType_Slot all[] = {
      {Py_nb_add, slot(binary<&add>)},
      {Py_nb_subtract, slot(binary<&subtract>)},
      {Py_nb_multiply, slot(binary<&multiply>)},
      {Py_nb_true_divide, slot(binary<&divide>)},
      {Py_nb_floor_divide, slot(binary<&floor_divide>)},
      {Py_nb_remainder, slot(binary<&remainder>)},
      {Py_nb_divmod, slot(divmod)},
      {Py_nb_power, slot(power)},
      {Py_nb_matrix_multiply, slot(product)},
      {Py_nb_and, slot(binary<&bitwise_and>)},
      {Py_nb_or, slot(binary<&bitwise_or>)},
      {Py_nb_xor, slot(binary<&bitwise_xor>)},
      {Py_nb_lshift, slot(binary<&bitwise_left_shift>)},
      {Py_nb_rshift, slot(binary<&bitwise_right_shift>)},
      {Py_nb_inplace_add, slot(in_place<&add>)},
      {Py_nb_inplace_subtract, slot(in_place<&subtract>)},
      {Py_nb_inplace_multiply, slot(in_place<&multiply>)},
      {Py_nb_inplace_true_divide, slot(in_place<&divide>)},
      {Py_nb_inplace_floor_divide, slot(in_place<&floor_divide>)},
      {Py_nb_inplace_remainder, slot(in_place<&remainder>)},
      {Py_nb_inplace_power, slot(power_in_place)},
      {Py_nb_inplace_matrix_multiply, slot(in_place<&product_of>)},
      {Py_nb_inplace_and, slot(in_place<&bitwise_and>)},
      {Py_nb_inplace_or, slot(in_place<&bitwise_or>)},
      {Py_nb_inplace_xor, slot(in_place<&bitwise_xor>)},
      {Py_nb_inplace_lshift, slot(in_place<&bitwise_left_shift>)},
      {Py_nb_inplace_rshift, slot(in_place<&bitwise_right_shift>)},
      {Py_nb_negative, slot(unary<&negative>)},
      {Py_nb_positive, slot(unary<&positive>)},
      {Py_nb_absolute, slot(unary<&abs>)},
      {Py_nb_invert, slot(unary<&bitwise_invert>)},
      {Py_nb_bool, slot(truth)},
      {Py_nb_int, slot(to_int)},
      {Py_nb_float, slot(to_float)},
      {Py_nb_index, slot(to_index)},
      {Py_tp_richcompare, slot(compare)},
      {Py_tp_hash, slot(PyObject_HashNotImplemented)},
  };
  slots.insert(slots.end(), std::begin(all), std::end(all));
}

}  // namespace tarry::python
