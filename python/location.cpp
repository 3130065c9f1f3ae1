// The line of Python that runs, as the location of what it records.
#include "python/location.h"

#include <nanobind/nanobind.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace nb = nanobind;

namespace tarry::python {
namespace {

const char* interned(PyObject* name) {
  static auto& names = *new std::unordered_set<std::string>();  // never freed: nodes outlive the interpreter
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  if (text != nullptr) return names.insert(text).first->c_str();
  PyErr_Clear();
  return nullptr;
}

/// A line, and whether it is one of the package's own, which somebody else's line has called.
struct Location {
  Where where;
  bool inside = false;
};

bool is_own(std::string_view file) {
  constexpr std::string_view kModules = "/tarry/_";
  const std::size_t slash = file.rfind('/');
  if (slash == std::string_view::npos) return false;
  return file.substr(0, slash + 2).ends_with(kModules);
}

Location location_of(PyFrameObject* frame, PyObject* code) {
  const int line = PyFrame_GetLineNumber(frame);
  const nb::object file = nb::steal(PyObject_GetAttrString(code, "co_filename"));
  if (!file.is_valid()) {
    PyErr_Clear();
    return {};
  }
  const char* const name = interned(file.ptr());
  return {{name, line > 0 ? static_cast<std::uint32_t>(line) : 0U}, name != nullptr && is_own(name)};
}

/// Which instruction of its code a frame has reached; negative where that is unknown.
int last_instruction(PyFrameObject* frame) {
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  static PyObject* const name = PyUnicode_InternFromString("f_lasti");
  const nb::object found = nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(frame), name));
  const long instruction = found.is_valid() ? PyLong_AsLong(found.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return static_cast<int>(instruction);
#endif
}

/// Finding a line decodes the code's table from its start: locations that ran lately are kept.
struct Seen {
  PyObject* code = nullptr;  // owned, so that its address names it
  int instruction = -1;
  Location location;
};

Location cached_location(PyFrameObject* frame) {
  static auto& locations = *new std::array<Seen, 512>();  // the GIL guards it
  auto* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  const int instruction = last_instruction(frame);
  const std::size_t key = std::hash<void*>()(code) / 64 + static_cast<std::size_t>(instruction) / 2;
  Seen& seen = locations[key % locations.size()];
  if (seen.code == code && seen.instruction == instruction && instruction >= 0) {
    Py_DECREF(code);
    return seen.location;
  }
  PyObject* const old = seen.code;
  const Location found = location_of(frame, code);
  seen = {code, instruction, found};
  Py_XDECREF(old);  // may run Python, and so change the entry
  return found;
}

}  // namespace

Where here() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  Location location = cached_location(frame);
  if (!location.inside) return location.where;
  nb::object caller = nb::borrow(reinterpret_cast<PyObject*>(frame));
  while (location.inside) {
    caller = caller.attr("f_back");  // PyFrame_GetBack is not of the stable ABI
    if (caller.is_none()) return {};
    location = cached_location(reinterpret_cast<PyFrameObject*>(caller.ptr()));
  }
  return location.where;
}

}  // namespace tarry::python
