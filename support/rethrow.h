// An error again, with other words.
#pragma once

#include <string>

#include <tarry/error.h>

namespace tarry::support {

/// Throws e again with other words. An exception of a class that a user derived stays as it is: nobody else can make
/// another one. Called while e is handled.
[[noreturn]] void rethrow_with_words(const Error& e, std::string op, Where where, const std::string& message);

}  // namespace tarry::support
