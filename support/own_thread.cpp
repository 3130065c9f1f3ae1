// A std::thread for one call.
#include "support/own_thread.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/fault.h"

namespace tarry::support {
namespace {

[[noreturn]] void fail(std::string_view what, std::string_view wanted, const std::system_error& e) {
  TARRY_THROW(OutOfMemory, "", Where{},
              std::string(what) + " needs " + std::string(wanted) + ", and the system has none: " + e.code().message());
}

std::thread started(FunctionRef<void()> work) {
  if (fault::fails(fault::Site::Thread))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  return std::thread(work);
}

}  // namespace

void in_own_thread(std::string_view what, FunctionRef<void()> work) {
  std::exception_ptr failed;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
  };
  std::thread own;  // runs `guarded`, which outlives it: a FunctionRef borrows
  try {
    own = started(guarded);
  } catch (const std::system_error& e) {
    fail(what, "a thread of its own", e);
  }
  own.join();
  if (failed) std::rethrow_exception(failed);
}

void require_threads(std::string_view what, int count) {
  std::atomic<bool> counted{false};
  const auto wait = [&] { counted.wait(false); };
  std::vector<std::thread> all;
  all.reserve(static_cast<std::size_t>(std::max(count, 0)));
  std::optional<std::system_error> failed;
  try {
    while (static_cast<int>(all.size()) < count) all.push_back(started(wait));
  } catch (const std::system_error& e) {
    failed = e;
  }
  counted = true;
  counted.notify_all();
  for (std::thread& t : all) t.join();
  if (failed) fail(what, std::to_string(count) + " threads", *failed);
}

}  // namespace tarry::support
