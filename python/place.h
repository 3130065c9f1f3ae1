// The line of Python that runs, as the place of what it records.
#pragma once

#include <tarry/error.h>

#include <source_location>

namespace tarry::python {

/// The place of the innermost line of Python. Names of files live as long as the process, as Where asks.
Where here();
/// The same for functions that take a place as C++ gives it; holds until the next call on this thread.
std::source_location line();

}  // namespace tarry::python
