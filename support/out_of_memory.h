// Errors at the border of the library: a std::bad_alloc becomes OutOfMemory, which names the call and says where
// memory is; an error that knows no location gets that of the call.
#pragma once

#include <new>
#include <string>
#include <string_view>

#include <tarry/error.h>

namespace tarry::support {

/// Throws OutOfMemory for `op` with the table of host memory, or without where there is no memory for the table. The
/// runtime defines it.
[[noreturn]] void throw_out_of_memory(std::string_view op, Where where);

/// Throws e again, with `op` and `where` if it has no location of its own. Called while e is handled.
[[noreturn]] void rethrow_with_location(const Error& e, std::string_view op, Where where);

}  // namespace tarry::support

/// Ends the body of a function that is a try block: `Array f(...) try { ... } TARRY_OR_OUT_OF_MEMORY("f", where)`.
#define TARRY_OR_OUT_OF_MEMORY(OP, WHERE)                          \
  catch (const ::tarry::Error& error) {                            \
    ::tarry::support::rethrow_with_location(error, (OP), (WHERE)); \
  }                                                                \
  catch (const std::bad_alloc&) {                                  \
    ::tarry::support::throw_out_of_memory((OP), (WHERE));          \
  }
