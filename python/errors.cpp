// Exceptions of C++ as Python's: each is also the built-in that Python code expects.
#include "python/errors.h"

#include <nanobind/stl/string.h>
#include <tarry/error.h>

#include <array>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "python/location.h"

namespace tarry::python {

using namespace nb::literals;  // NOLINT: "x"_a

namespace {

/// In the order of ErrorCode.
std::array<PyObject*, 7> exceptions{};
/// Exceptions for the kinds of InvalidArgument.
PyObject *out_of_range = nullptr, *invalid_shape = nullptr, *invalid_dtype = nullptr, *invalid_value = nullptr;
PyObject *invalid_index = nullptr, *missing_file = nullptr;

PyObject* make(nb::module_& m, const char* name, const char* doc, std::initializer_list<PyObject*> bases) {
  nb::list list;
  for (PyObject* const base : bases) list.append(nb::handle(base));
  PyObject* const made =
      PyErr_NewExceptionWithDoc((std::string("tarry.") + name).c_str(), doc, nb::tuple(list).ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(made);
  return made;  // lives as long as the process
}

template <class Kind>
bool is(const Error& e) {
  return dynamic_cast<const Kind*>(&e) != nullptr;
}

PyObject* exception_of(const Error& e) {
  if (is<OutOfRange>(e)) return out_of_range;
  if (is<InvalidShape>(e)) return invalid_shape;
  if (is<InvalidDtype>(e)) return invalid_dtype;
  if (is<InvalidValue>(e)) return invalid_value;
  return exceptions[static_cast<std::size_t>(e.code())];
}

}  // namespace

std::string in_python(std::string text) {
  constexpr std::string_view kBegin = "{.", kEnd = " = ...}", kScope = "tarry::Scope{tarry::Budget{...}}";
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    const std::size_t end = text.find(kEnd, at);
    if (end == std::string::npos) break;
    text.replace(end, kEnd.size(), "=...").erase(at, kBegin.size());
  }
  if (const std::size_t at = text.find(kScope); at != std::string::npos)
    text.replace(at, kScope.size(), "tarry.Scope(budget=...)");
  return text;
}

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void refuse_value(const char* op, const std::string& message) { throw InvalidValue(op, here(), message); }

void refuse_file(const std::string& message) {
  const nb::object error = nb::handle(missing_file)(message);
  error.attr("errno") = ENOENT;
  PyErr_SetObject(missing_file, error.ptr());
  throw nb::python_error();
}

void refuse_index(const char* op, const std::string& message) {
  raise(invalid_index, InvalidDtype(op, here(), message).what());
}

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    PyErr_SetString(exception_of(e), in_python(e.what()).c_str());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void bind_errors(nb::module_& m) {
  PyObject* const base = make(m, "Error", "Base of the exceptions of Tarry.", {PyExc_Exception});
  const auto add = [&](ErrorCode code, const char* name, const char* doc, PyObject* builtin) {
    return exceptions[static_cast<std::size_t>(code)] = make(m, name, doc, {base, builtin});
  };
  PyObject* const invalid = add(ErrorCode::InvalidArgument, "InvalidArgument",
                                "A shape, dtype, device or value that a function does not accept.", PyExc_ValueError);
  out_of_range =
      make(m, "OutOfRange", "An index, an axis or a mask that an array has no place for.", {invalid, PyExc_IndexError});
  invalid_shape = make(m, "InvalidShape", "Shapes that do not fit each other or the function.", {invalid});
  invalid_dtype = make(m, "InvalidDtype", "A dtype that a function does not take, or dtypes that have no common one.",
                       {invalid, PyExc_TypeError});
  missing_file = make(m, "MissingFile", "A file or a folder that is not there.", {invalid, PyExc_FileNotFoundError});
  invalid_index =
      make(m, "InvalidIndex", "An index that is neither a whole number nor a mask.", {invalid_dtype, PyExc_IndexError});
  invalid_value = make(m, "InvalidValue", "A number or an option outside of what a function takes.", {invalid});
  add(ErrorCode::OutOfMemory, "OutOfMemory", "An array found no room.", PyExc_MemoryError);
  add(ErrorCode::CompileError, "CompileError", "A generated kernel did not compile.", PyExc_RuntimeError);
  PyObject* const device =
      add(ErrorCode::DeviceError, "DeviceError", "A device reported a failure.", PyExc_RuntimeError);
  exceptions[static_cast<std::size_t>(ErrorCode::DeviceLost)] =
      make(m, "DeviceLost", "A device cannot be used any more in this process.", {device});
  add(ErrorCode::NotCached, "NotCached", "A kernel would be compiled though TARRY_REQUIRE_CACHED is set.",
      PyExc_RuntimeError);
  add(ErrorCode::InternalError, "InternalError", "A bug of Tarry; please report it.", PyExc_RuntimeError);
  m.def(
      "_wrong",
      [m](const char* kind, const std::string& op, const std::string& message) {
        return m.attr(kind)(InvalidArgument(op, here(), message).what());
      },
      "kind"_a, "op"_a, "message"_a, nb::sig("def _wrong(kind: str, op: str, message: str) -> InvalidArgument"),
      "An exception with the line of the program.");
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      PyErr_SetString(exception_of(e), in_python(e.what()).c_str());
    }
  });
}

}  // namespace tarry::python
