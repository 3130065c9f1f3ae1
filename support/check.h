// Checks: TARRY_THROW for a user's mistake or an environment failure, TARRY_ASSERT for our own bugs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tarry/error.h>

namespace tarry::support {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

/// A location in our sources that throws.
struct ThrowSite {
  const char* file = nullptr;
  int line = 0;
};
void reached_throw(const char* file, int line) noexcept;
/// The sites that were thrown from since the process began or forget_throws(), each once: a test compares them with the
/// sources.
std::vector<ThrowSite> reached_throws();
void forget_throws() noexcept;
}  // namespace tarry::support

/// Throws TYPE{op, where, "[op] message (at file:line)"}; the message is assembled by Error.
#define TARRY_THROW(TYPE, OP, WHERE, ...) \
  (::tarry::support::reached_throw(__FILE__, __LINE__), throw TYPE((OP), (WHERE), (__VA_ARGS__)))

/// Holds in every build: a violated invariant of ours throws InternalError, it never continues.
#define TARRY_ASSERT(CONDITION) \
  ((CONDITION) ? (void)0 : ::tarry::support::assertion_failed(#CONDITION, __FILE__, __LINE__))
