// What the library reports beside exceptions: warnings by default, more with TARRY_LOG.
#pragma once

#include <tarry/export.h>

#include <cstdint>
#include <functional>
#include <string_view>

namespace tarry {
inline namespace v0 {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// Called with every line that would go to stderr. May be called from any thread, one line at a time per thread.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

/// Sends log lines to `callback`; an empty one sends them back to stderr. Which levels are reported is decided by the
/// switch TARRY_LOG (docs/switches.md): warnings and errors where it is not set. The callback must not call the library.
TARRY_EXPORT void set_log_callback(LogCallback callback);

}  // namespace v0
}  // namespace tarry
