// An error again, with more in its message.
#pragma once

#include <tarry/error.h>

#include <string>
#include <utility>

#include "support/rethrow.h"

namespace tarry::runtime {

/// Throws an error of e's type for `op` at `where`, as `support::rethrow_with_words`. Called while e is handled.
[[noreturn]] inline void rethrow(const Error& e, std::string op, Where where, const std::string& message) {
  support::rethrow_with_words(e, std::move(op), where, message);
}

}  // namespace tarry::runtime
