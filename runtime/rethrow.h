// An error again, with more in its message.
#pragma once

#include <tarry/error.h>

#include <string>
#include <utility>

#include "support/out_of_memory.h"

namespace tarry::runtime {

/// Throws an error of e's type for `op` at `where`. Called while e is handled.
[[noreturn]] inline void rethrow(const Error& e, std::string op, Where where, const std::string& message) {
  support::throw_error(e.code(), std::move(op), where, message);
}

}  // namespace tarry::runtime
