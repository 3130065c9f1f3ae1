// Dtypes as Python objects, one for each, and what the standard asks about them.
#include "python/module.h"
#include "python/values.h"

#include <tarry/type_info.h>

#include <array>
#include <string>
#include <string_view>

namespace tarry::python {
namespace {

/// A dtype where Python sees it.
struct DtypeObject {
  Dtype dtype;
};

std::array<PyObject*, kDtypeCount> objects{};  // live as long as the process

/// NumPy's other names: of kinds and bytes, and those of C.
constexpr std::pair<std::string_view, Dtype> kOtherNames[] = {
    {"bool_", bool_},    {"?", bool_},        {"b1", bool_},      {"i1", int8},     {"i2", int16},
    {"i4", int32},       {"i8", int64},       {"u1", uint8},      {"u2", uint16},   {"u4", uint32},
    {"u8", uint64},      {"f2", float16},     {"f4", float32},    {"f8", float64},  {"half", float16},
    {"single", float32}, {"double", float64}, {"f", float32},     {"d", float64},   {"float", float64},
    {"int", int64},      {"int_", int64},     {"intp", int64},    {"uint", uint64}, {"byte", int8},
    {"ubyte", uint8},    {"short", int16},    {"ushort", uint16}, {"intc", int32},  {"uintc", uint32}};

std::optional<Dtype> named(std::string_view name) {
  if (name.starts_with('<') || name.starts_with('=') || name.starts_with('|')) name.remove_prefix(1);
  for (const auto& [other, dtype] : kOtherNames)
    if (name == other) return dtype;
  for (int i = 0; i < kDtypeCount; ++i)
    if (kDtypeTable[i].name == name && kDtypeTable[i].available) return static_cast<Dtype>(i);
  return {};
}

std::optional<Dtype> named(nb::handle text) {
  const char* const name = PyUnicode_AsUTF8AndSize(text.ptr(), nullptr);
  if (name != nullptr) return named(std::string_view(name));
  PyErr_Clear();
  return {};
}

/// "float32" of numpy.float32 and numpy.dtype("float32").
std::optional<Dtype> numpy_dtype(nb::handle o) {
  const char* const attribute = PyType_Check(o.ptr()) ? "__name__" : "name";
  if (!PyType_Check(o.ptr()) && PyObject_HasAttrString(o.ptr(), "itemsize") == 0) return {};
  const nb::object name = nb::steal(PyObject_GetAttrString(o.ptr(), attribute));
  if (name.is_valid() && PyUnicode_Check(name.ptr())) return named(name);
  PyErr_Clear();
  return {};
}

bool is_kind(Dtype dtype, nb::handle kind, int depth = 0) {
  if (depth > kDeepest) refuse_depth("isdtype");
  if (PyUnicode_Check(kind.ptr())) return isdtype(dtype, nb::cast<std::string_view>(kind), here());
  if (PyTuple_Check(kind.ptr())) {
    for (const nb::handle each : nb::cast<nb::tuple>(kind))
      if (is_kind(dtype, each, depth + 1)) return true;
    return false;
  }
  const std::optional<Dtype> other = dtype_from(kind.ptr());
  if (!other)
    raise(PyExc_TypeError, "isdtype takes a dtype, the name of a kind or a tuple of both, not " + class_name(kind));
  return dtype == *other;
}

/// Equal to what names the same dtype, as NumPy's are: its name, NumPy's own, or bool, int and float.
PyObject* compared(PyObject* a, PyObject* b, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  const std::optional<Dtype> left = dtype_from(a), right = a == b ? left : dtype_from(b);
  return PyBool_FromLong((left.has_value() && left == right) == (op == Py_EQ) ? 1 : 0);
}
Py_hash_t hashed(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4); }
PyType_Slot comparison[] = {{Py_tp_richcompare, reinterpret_cast<void*>(&compared)},
                            {Py_tp_hash, reinterpret_cast<void*>(&hashed)},
                            {0, nullptr}};

/// As NumPy has it.
const char* kind_of(Dtype dtype) {
  if (dtype == bool_) return "b";
  if (is_floating(dtype)) return "f";
  return info(dtype).kind == DtypeKind::Int ? "i" : "u";
}

Dtype dtype_of_value(nb::handle o) {
  if (is_array(o.ptr())) return array_of(o.ptr()).dtype();
  if (const auto dtype = dtype_from(o.ptr())) return *dtype;
  if (Named<Dtype>::is_name(o.ptr())) Named<Dtype>::refuse(o);
  raise(PyExc_TypeError, "takes a dtype or an array, not " + class_name(o));
}

Dtype common(const nb::args& values) {
  std::vector<TypeOperand> operands;
  for (const nb::handle v : values) {
    if (const auto scalar = number(v.ptr()))
      operands.emplace_back(*scalar);
    else
      operands.emplace_back(dtype_of_value(v));
  }
  return result_type(operands, here());
}

}  // namespace

nb::object dtype_object(Dtype dtype) { return nb::borrow(objects[static_cast<std::size_t>(dtype)]); }

std::optional<Dtype> dtype_from(PyObject* o) {
  const nb::handle h(o);
  if (nb::isinstance<DtypeObject>(h)) return nb::inst_ptr<DtypeObject>(h)->dtype;
  if (PyUnicode_Check(o)) return named(h);
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return bool_;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return int64;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return float64;
  return numpy_dtype(h);
}

bool Named<Dtype>::is_name(PyObject* o) {
  const bool is_numpys = PyObject_HasAttrString(o, "itemsize") != 0 && PyObject_HasAttrString(o, "newbyteorder") != 0;
  return PyUnicode_Check(o) || PyType_Check(o) || is_numpys;
}

void Named<Dtype>::refuse(nb::handle name) {
  std::string known;
  for (int i = 0; i < kDtypeCount; ++i)
    if (kDtypeTable[i].available) known += (known.empty() ? "" : ", ") + std::string(kDtypeTable[i].name);
  throw InvalidDtype("dtype", here(),
                     std::string("there is no dtype ") + nb::repr(name).c_str() + "; there are " + known);
}

void bind_dtypes(nb::module_& m) {
  nb::class_<DtypeObject>(m, "Dtype", nb::type_slots(comparison),
                          "The element type of an array: tarry.float32 and its like, one object each.")
      .def_prop_ro("name", [](const DtypeObject& d) { return std::string(name(d.dtype)); })
      .def_prop_ro(
          "itemsize", [](const DtypeObject& d) { return itemsize(d.dtype); }, "Bytes of an element.")
      .def_prop_ro(
          "kind", [](const DtypeObject& d) { return kind_of(d.dtype); }, "'b' for bool, 'i', 'u' or 'f'.")
      .def(
          "__call__", [](const DtypeObject& d, nb::handle value) { return to_array(value, d.dtype); }, "value"_a = 0,
          "An array of this dtype: asarray(value, dtype).")
      .def_prop_ro(
          "__numpy_dtype__",
          [](const DtypeObject& d) { return nb::module_::import_("numpy").attr("dtype")(std::string(name(d.dtype))); },
          "The dtype as NumPy's.")
      .def_prop_ro(
          "type",
          [](const DtypeObject& d) {
            return nb::module_::import_("numpy").attr("dtype")(std::string(name(d.dtype))).attr("type");
          },
          "The type of NumPy's scalars, for code that asks which kind a dtype is by it.")
      .def("__repr__", [](const DtypeObject& d) { return "tarry." + std::string(name(d.dtype)); })
      .def("__str__", [](const DtypeObject& d) { return std::string(name(d.dtype)); })
      .def("__reduce__", [](const DtypeObject& d) { return std::string(name(d.dtype)); });
  for (int i = 0; i < kDtypeCount; ++i) {
    nb::object made = nb::cast(DtypeObject{static_cast<Dtype>(i)});
    if (kDtypeTable[i].available) m.attr(kDtypeTable[i].name) = made;
    objects[static_cast<std::size_t>(i)] = made.release().ptr();
  }
  for (const char* name : {"bool_", "half", "single", "double", "int_", "intp", "intc", "uint"})
    m.attr(name) = dtype_object(*named(std::string_view(name)));
  m.def(
      "dtype", [](nb::handle o) { return dtype_of_value(o); }, "obj"_a,
      "The dtype that a name, a dtype of NumPy, or bool, int and float mean; that of an array.");

  nb::class_<FloatInfo>(m, "finfo_object", "Limits of a floating dtype.")
      .def_ro("bits", &FloatInfo::bits)
      .def_ro("eps", &FloatInfo::eps)
      .def_ro("max", &FloatInfo::max)
      .def_ro("min", &FloatInfo::min)
      .def_ro("smallest_normal", &FloatInfo::smallest_normal)
      .def_ro("dtype", &FloatInfo::dtype);
  nb::class_<IntegerInfo>(m, "iinfo_object", "Limits of an integer dtype.")
      .def_ro("bits", &IntegerInfo::bits)
      .def_ro("max", &IntegerInfo::max)
      .def_ro("min", &IntegerInfo::min)
      .def_ro("dtype", &IntegerInfo::dtype);
  m.def(
      "finfo", [](nb::handle type) { return finfo(dtype_of_value(type), here()); }, "type"_a,
      "The limits of a floating dtype, or of an array's.");
  m.def(
      "iinfo", [](nb::handle type) { return iinfo(dtype_of_value(type), here()); }, "type"_a,
      "The limits of an integer dtype, or of an array's.");
  m.def(
      "isdtype", [](Dtype dtype, nb::handle kind) { return is_kind(dtype, kind); }, "dtype"_a, "kind"_a,
      "True where the dtype is of a kind, such as 'integral', or one of a tuple of kinds and dtypes.");
  m.def(
      "can_cast", [](nb::handle from, Dtype to) { return can_cast(dtype_of_value(from), to); }, "from_"_a, "to"_a,
      "True where promotion takes the dtype, or an array's, to `to`.");
  m.def("result_type", &common, "arrays_and_dtypes"_a,
        "The dtype that an operation on all of these arrays, dtypes and numbers computes in.");
}

}  // namespace tarry::python
