// Exceptions of C++ as Python's.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

namespace tarry::python {

namespace nb = nanobind;

/// A message with options as Python writes them: axis=... for {.axis = ...}.
std::string in_python(std::string text);

/// Raises an exception of Python.
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// Throws InvalidValue with the line of the program.
[[noreturn]] void refuse_value(const char* op, const std::string& message);
/// Raises MissingFile, an InvalidArgument that is a FileNotFoundError too.
[[noreturn]] void refuse_file(const std::string& message);
/// Raises InvalidIndex, an InvalidDtype that is an IndexError too.
[[noreturn]] void refuse_index(const char* op, const std::string& message);

/// Sets the Python error for the C++ exception that is being handled.
void set_error() noexcept;

/// `make`'s result; `failed` with a Python error set where it throws. For functions that Python calls directly.
template <class Make, class Result>
Result guarded(Make&& make, Result failed) noexcept {
  try {
    return std::forward<Make>(make)();
  } catch (...) {
    set_error();
    return failed;
  }
}
template <class Make>
PyObject* guarded(Make&& make) noexcept {
  return guarded(std::forward<Make>(make), static_cast<PyObject*>(nullptr));
}

/// The exceptions of the module.
void bind_errors(nb::module_& m);

}  // namespace tarry::python
