// The type of arrays: properties, values, text and pickles. Its operators and indices are slots.
#include "python/memory.h"
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tarry {
inline namespace v0 {
std::ostream& operator<<(std::ostream& out, const Printed& x);  // otherwise found by an Array alone
}  // namespace v0
}  // namespace tarry

namespace tarry::python {
namespace {

HostBytes bytes_of(const Array& x) {
  const Where where = here();
  const Unlocked unlocked;
  return host_bytes(x, where);
}

std::string text_of(const Array& x) {
  const Printed printed(x, here());
  std::ostringstream out;
  const Unlocked unlocked;
  out << printed;
  return out.str();
}

/// The text with commas, as lists are written.
std::string with_commas(const std::string& text, std::size_t indent) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool gap = text[i] == ' ' || text[i] == '\n';
    const bool ends = gap && i > 0 && text[i - 1] != ' ' && text[i - 1] != '\n' && text[i - 1] != '[';
    const std::size_t next = text.find_first_not_of(" \n", i);
    if (ends && next != std::string::npos && text[next] != ']') made += ',';
    made += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] != '\n') made.append(indent, ' ');
  }
  return made;
}

std::string representation(const Array& x) {
  if (!x.is_evaluated(here())) return x.repr(here());
  const std::string dtype(name(x.dtype()));
  const Shape shape = x.shape();
  try {
    const bool shaped = x.size() == 0 && shape.size() > 1;  // which the text does not tell
    return "Array(" + (shaped ? "[], shape=" + shape.str() : with_commas(text_of(x), 6)) + ", dtype=" + dtype + ")";
  } catch (const Error& e) {
    return "Array(" + dtype + ", " + shape.str() + ", failed: " + e.what() + ")";
  }
}

std::int64_t bytes_held(nb::handle self) {
  const Array& x = array_of(self.ptr());
  const nb::object own = nb::module_::import_("builtins").attr("object").attr("__sizeof__")(self);
  const bool held = x.is_evaluated(here());
  return nb::cast<std::int64_t>(own) + (held ? x.size() * static_cast<std::int64_t>(itemsize(x.dtype())) : 0);
}

nb::object listed(const std::byte*& at, Dtype dtype, const Shape& shape, std::size_t axis) {
  if (axis == shape.size()) {
    const Scalar value = load_element(at, dtype);
    at += itemsize(dtype);
    return python_number(value);
  }
  nb::list made;
  for (std::int64_t i = 0; i < shape[axis]; ++i) made.append(listed(at, dtype, shape, axis + 1));
  return made;
}

nb::object to_list(const Array& x) {
  const HostBytes bytes = bytes_of(x);
  const std::byte* at = bytes.data();
  return listed(at, x.dtype(), x.shape(), 0);
}

nb::object item_of(const Array& x) {
  const Where where = here();
  const auto value = [&] {
    const Unlocked unlocked;
    return item(x, where);
  }();
  return python_number(value);
}

Array restore(nb::handle buffer, Dtype dtype, const Shape& shape) {
  Py_buffer view;
  if (PyObject_GetBuffer(buffer.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> held(&view, &PyBuffer_Release);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  if (static_cast<std::int64_t>(view.len) != count * static_cast<std::int64_t>(itemsize(dtype))) {
    raise(PyExc_ValueError, "a pickled array has another number of bytes than its shape");
  }
  return detail::copy_in(view.buf, dtype, shape, here());
}

/// The elements out of band from protocol 5 on, so that who pickles them need not copy.
nb::tuple reduced(nb::handle self, int protocol) {
  const Array& x = array_of(self.ptr());
  const bool apart = protocol >= 5 && x.dtype() != bfloat16 && x.size() > 0;
  const HostBytes bytes = bytes_of(x);
  const nb::object data = apart ? nb::module_::import_("pickle").attr("PickleBuffer")(self)
                                : nb::object(nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return nb::make_tuple(nb::module_::import_("tarry").attr("_restore"),
                        nb::make_tuple(data, dtype_object(x.dtype()), shape_tuple(x.shape())));
}

Device concrete(Device device) { return device == Device{} ? default_device(here()) : device; }

}  // namespace

ArrayClass bind_arrays(nb::module_& m) {
  static std::vector<PyType_Slot> slots;
  add_operators(slots);
  add_subscripts(slots);
  add_buffers(slots);
  slots.push_back({0, nullptr});
  ArrayClass array(
      m, "Array", nb::type_slots(slots.data()), nb::is_weak_referenceable(),
      "An n-dimensional array of one dtype whose values are computed when they are needed.\n\n"
      "Made by asarray, zeros, arange and their like. Operations only record; evaluate, and whatever needs "
      "values, computes all that was recorded as a few fused kernels.");
  array_type = reinterpret_cast<PyTypeObject*>(array.ptr());
  array.def_prop_ro(
           "shape", [](const Array& x) { return shape_tuple(x.shape(here())); }, document("shape"))
      .def_prop_ro(
          "ndim", [](const Array& x) { return x.ndim(here()); }, document("ndim"))
      .def_prop_ro(
          "size", [](const Array& x) { return x.size(here()); }, document("size"))
      .def_prop_ro(
          "dtype", [](const Array& x) { return x.dtype(here()); }, document("dtype"))
      .def_prop_ro(
          "itemsize", [](const Array& x) { return itemsize(x.dtype()); }, "Bytes of an element.")
      .def_prop_ro(
          "nbytes", [](const Array& x) { return x.size() * static_cast<std::int64_t>(itemsize(x.dtype())); },
          "Bytes of all elements.")
      .def_prop_ro(
          "device", [](const Array& x) { return concrete(x.device(here())); },
          "Where the array is placed or its values are; of others the device that will compute them.")
      .def_prop_ro(
          "is_evaluated", [](const Array& x) { return x.is_evaluated(here()); }, document("is_evaluated"))
      .def(
          "to_device", [](const Array& x, Device device, nb::handle) { return to_device(x, device, here()); },
          "device"_a, nb::kw_only(), "stream"_a = nb::none(), document("to_device"))
      .def(
          "item",
          [](const Array& x, const nb::args& at) {
            if (at.size() == 0) return item_of(x);
            std::vector<std::int64_t> places;
            if (!integers_from(at.size() == 1 ? nb::handle(at[0]).ptr() : at.ptr(), places))
              throw InvalidDtype("item", here(), "takes the place of an element, as integers");
            const bool flat = places.size() == 1 && x.ndim() != 1;
            const std::vector<Index> indices(places.begin(), places.end());
            return item_of(index(flat ? reshape(x, {-1}, here()) : x, indices, here()));
          },
          "The value of an array of one element, or of the element at a place, as a Python number. Evaluates.\n\n"
          "A place is an index for each axis, or the number of the element in row-major order.")
      .def("tolist", &to_list, "The elements as nested lists of Python numbers. Evaluates.")
      .def(
          "tobytes",
          [](const Array& x) {
            const HostBytes bytes = bytes_of(x);
            return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The elements in row-major order. Evaluates.")
      .def(
          "copy", [](const Array& x) { return x; }, "An array with the same values.")
      .def(
          "astype", [](const Array& x, Dtype dtype, bool) { return astype(x, dtype, here()); }, "dtype"_a,
          nb::kw_only(), "copy"_a = true, document("astype"))
      .def(
          "fill",
          [](nb::handle self, Value value) {
            refuse_nameless(self.ptr(), "fill");
            Array& x = array_of(self.ptr());
            value.convert();
            value.settle(x.dtype(), "fill", Large::Refused);
            x.set({ellipsis}, value.operand(here()));
          },
          "value"_a, "Sets every element of the array to a number.")
      .def("__copy__", [](const Array& x) { return x; })
      .def("__deepcopy__", [](const Array& x, nb::handle) { return x; })
      .def("__complex__",
           [](nb::handle x) { return nb::module_::import_("builtins").attr("complex")(x.attr("__float__")()); })
      .def("__format__",
           [](const Array& x, const std::string& form) {
             if (form.empty()) return text_of(x);
             return nb::cast<std::string>(nb::module_::import_("builtins").attr("format")(item_of(x), form));
           })
      .def("__repr__", &representation)
      .def("__sizeof__", &bytes_held, "Bytes of the object, and of its elements where they are computed.")
      .def("__str__", &text_of)
      .def("__reduce_ex__", &reduced);
  m.def("_restore", &restore, "buffer"_a, "dtype"_a, "shape"_a, "The array of a pickle.");
  return array;
}

}  // namespace tarry::python
