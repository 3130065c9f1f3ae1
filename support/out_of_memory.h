// The end of a std::bad_alloc at the border of the library: OutOfMemory, which names the call and says where
// memory is.
#pragma once

#include <new>
#include <string_view>

#include <tarry/error.h>

namespace tarry::support {

/// Throws OutOfMemory for `op` with the table of host memory, or without where there is no memory for the table. The
/// runtime defines it.
[[noreturn]] void throw_out_of_memory(std::string_view op, Where where);

}  // namespace tarry::support

/// Ends the body of a function that is a try block: `Array f(...) try { ... } TARRY_OR_OUT_OF_MEMORY("f", where)`.
#define TARRY_OR_OUT_OF_MEMORY(OP, WHERE)                 \
  catch (const std::bad_alloc&) {                         \
    ::tarry::support::throw_out_of_memory((OP), (WHERE)); \
  }
