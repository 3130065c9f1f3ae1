// The line of Python that runs, as the place of what it records.
#include "python/place.h"

#include <nanobind/nanobind.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_set>

namespace nb = nanobind;

namespace tarry::python {
namespace {

/// libstdc++ and libc++ both keep a pointer to such a record, for which the language has no constructor.
struct Record {
  const char* file = "";
  const char* function = "";
  unsigned line = 0, column = 0;
};
static_assert(sizeof(std::source_location) == sizeof(const Record*));

const char* interned(PyObject* name) {
  static auto& names = *new std::unordered_set<std::string>();  // never freed: nodes outlive the interpreter
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  if (text != nullptr) return names.insert(text).first->c_str();
  PyErr_Clear();
  return nullptr;
}

Where place_of(PyFrameObject* frame, PyCodeObject* code) {
  const int line = PyFrame_GetLineNumber(frame);
  const nb::object file = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(code), "co_filename"));
  if (!file.is_valid()) {
    PyErr_Clear();
    return {};
  }
  return {interned(file.ptr()), line > 0 ? static_cast<std::uint32_t>(line) : 0U};
}

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030B0000
/// Finding a line decodes the code's table from its start: places that ran lately are kept.
struct Seen {
  PyCodeObject* code = nullptr;  // owned, so that its address names it
  int instruction = -1;
  Where where;
};

Where cached_place(PyFrameObject* frame) {
  static auto& places = *new std::array<Seen, 512>();  // the GIL guards it
  PyCodeObject* const code = PyFrame_GetCode(frame);
  const int instruction = PyFrame_GetLasti(frame);
  const std::size_t key = std::hash<void*>()(code) / 64 + static_cast<std::size_t>(instruction) / 2;
  Seen& seen = places[key % places.size()];
  if (seen.code == code && seen.instruction == instruction) {
    Py_DECREF(code);
    return seen.where;
  }
  PyCodeObject* const old = seen.code;
  seen = {code, instruction, place_of(frame, code)};
  Py_XDECREF(old);
  return seen.where;
}
#else
Where cached_place(PyFrameObject* frame) {
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return place_of(frame, reinterpret_cast<PyCodeObject*>(code.ptr()));
}
#endif

}  // namespace

Where here() {
  PyFrameObject* const frame = PyEval_GetFrame();
  return frame == nullptr ? Where() : cached_place(frame);
}

std::source_location line() {
  static thread_local Record record;
  const Where where = here();
  if (where.file == nullptr) return {};
  record = {where.file, "", where.line, 0};
  return std::bit_cast<std::source_location>(static_cast<const Record*>(&record));
}

}  // namespace tarry::python
