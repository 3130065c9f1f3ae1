// Docstrings of functions: those of the public headers.
#pragma once

namespace tarry::python {

/// The docstring of the C++ function of that name; "" where there is none.
const char* document(const char* name);

}  // namespace tarry::python
