// A std::thread for one call.
#include "support/own_thread.h"

#include <exception>
#include <string>
#include <system_error>
#include <thread>

#include "support/check.h"
#include "support/fault.h"

namespace tarry::support {

void in_own_thread(std::string_view what, FunctionRef<void()> work) {
  std::exception_ptr failed;
  std::thread own;
  try {
    if (fault::fails(fault::Site::Thread))
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    own = std::thread([&] {
      try {
        work();
      } catch (...) {
        failed = std::current_exception();
      }
    });
  } catch (const std::system_error& e) {
    TARRY_THROW(OutOfMemory, "", Where{},
                std::string(what) + " needs a thread of its own, and the system has none: " + e.code().message());
  }
  own.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace tarry::support
