// Logging through spdlog, hidden here. Prints nothing by default but warnings the contract names.
#pragma once

#include <string_view>

namespace tarry::support::log {

enum class Level { Debug, Info, Warning, Error };
void write(Level level, std::string_view message);
inline void debug(std::string_view m) { write(Level::Debug, m); }
inline void info(std::string_view m) { write(Level::Info, m); }
/// Warnings print to stderr; the same text prints once per process.
inline void warn_once(std::string_view m) { write(Level::Warning, m); }
bool enabled(Level level);

}  // namespace tarry::support::log
