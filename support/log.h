// Logging through spdlog, hidden here. Prints nothing by default but warnings the contract names.
#pragma once

#include <functional>
#include <string_view>

namespace tarry::support::log {

enum class Level { Debug, Info, Warning, Error };
/// Prints to stderr where TARRY_LOG admits the level. A warning of the same text prints once per process.
void write(Level level, std::string_view message) noexcept;
inline void debug(std::string_view m) noexcept { write(Level::Debug, m); }
inline void info(std::string_view m) noexcept { write(Level::Info, m); }
inline void warn_once(std::string_view m) noexcept { write(Level::Warning, m); }
bool enabled(Level level);

using Sink = std::function<void(Level, std::string_view)>;
/// Sends what would be printed to `sink` instead; an empty one: back to stderr. What a sink throws is dropped.
void set_sink(Sink sink);

}  // namespace tarry::support::log
