// A call that needs a thread of which nobody has asked anything.
#pragma once

#include <functional>
#include <string_view>

namespace tarry::support {

/// Calls `work` in a thread of its own and waits. Throws what it throws, and OutOfMemory where the system has no thread
/// for `what`; asks fault::fails(Site::Thread) first.
void in_own_thread(std::string_view what, const std::function<void()>& work);

}  // namespace tarry::support
