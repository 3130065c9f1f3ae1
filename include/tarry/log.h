// Reports beside exceptions: warnings by default, more with TARRY_LOG.
#pragma once

#include <tarry/export.h>

#include <cstdint>
#include <string_view>

namespace tarry {
inline namespace v0 {

/// Levels of log lines, as TARRY_LOG names them.
enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// Called with `context` for every line that would go to stderr, from any thread. It may evaluate and plan;
/// lines that this causes go to stderr, and what it throws is dropped.
using LogCallback = void (*)(void* context, LogLevel level, std::string_view message);

/// Sends log lines to `callback`; nullptr sends them back to stderr. Which levels are reported is decided by the switch
/// TARRY_LOG (docs/reference/switches.md): warnings and errors where it is not set.
/// Throws nothing.  Example: `ta::set_log_callback([](void*, ta::LogLevel, std::string_view) {})`.
TARRY_EXPORT void set_log_callback(LogCallback callback, void* context = nullptr);

}  // namespace v0
}  // namespace tarry
