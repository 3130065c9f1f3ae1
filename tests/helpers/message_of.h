// The message of a call that throws.
#pragma once

#include <tarry/error.h>

#include <functional>
#include <string>

namespace tarry::test {

inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace tarry::test
