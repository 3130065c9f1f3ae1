// The line of Python that runs, as the location of what it records.
#pragma once

#include <tarry/error.h>

namespace tarry::python {

/// The location of the innermost line of Python. Names of files live as long as the process, as Where asks.
Where here();

}  // namespace tarry::python
