// The error that the last call of the system left in errno.
#pragma once

#include <cerrno>
#include <system_error>

namespace tarry::support {

inline std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace tarry::support
