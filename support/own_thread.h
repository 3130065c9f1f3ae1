// A call that needs a thread of which nobody has asked anything.
#pragma once

#include <string_view>

#include "support/function_ref.h"

namespace tarry::support {

/// Calls `work` in a thread of its own and waits. Throws what it throws, and OutOfMemory where the system has no thread
/// for `what`; asks fault::fails(Site::Thread) first.
void in_own_thread(std::string_view what, FunctionRef<void()> work);

}  // namespace tarry::support
