// The line of Python that runs, as the location of what it records.
#pragma once

#include <tarry/error.h>

#include <source_location>

namespace tarry::python {

/// The location of the innermost line of Python. Names of files live as long as the process, as Where asks.
Where here();
/// A location for functions that take it as C++ gives it; holds until the next call on this thread.
std::source_location located(Where where);
/// The location of the innermost line of Python as that.
inline std::source_location line() { return located(here()); }

}  // namespace tarry::python
