// Threads that the system may not have: one of which nobody has asked anything, and those that a library will start.
#pragma once

#include <string_view>

#include "support/function_ref.h"

namespace tarry::support {

/// Calls `work` in a thread of its own and waits. Throws what it throws, and OutOfMemory where the system has no thread
/// for `what`; asks fault::fails(Site::Thread) first.
void in_own_thread(std::string_view what, FunctionRef<void()> work);

/// Throws OutOfMemory where the system has no `count` threads for `what` at once: OpenMP and others that start theirs
/// without asking end the process there.
void require_threads(std::string_view what, int count);

}  // namespace tarry::support
