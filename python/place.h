// The line of Python that runs, as the place of what it records.
#pragma once

#include <tarry/error.h>

#include <source_location>

namespace tarry::python {

/// The place of the innermost line of Python. Names of files live as long as the process, as Where asks.
Where here();
/// A place for functions that take it as C++ gives it; holds until the next call on this thread.
std::source_location located(Where where);
/// The place of the innermost line of Python as that.
inline std::source_location line() { return located(here()); }

}  // namespace tarry::python
