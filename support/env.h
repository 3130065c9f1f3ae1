// The one table of environment switches (docs/reference/switches.md is checked against it) and the only getenv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::support::env {

struct Switch {
  const char* name;     ///< "TARRY_DUMP"
  const char* values;   ///< what may stand there
  const char* meaning;  ///< one sentence
};
/// All switches, in the order of the docs page.
const std::vector<Switch>& switches();

/// The value of a switch of the table, or nullopt where unset or empty. A test may override it (see set).
/// Throws InternalError for a name that is not in the table: every switch is documented.
std::optional<std::string> get(std::string_view name);
/// The comma-separated words of a switch.
std::vector<std::string> words(std::string_view name);
/// True where `word` is one of the comma-separated words of switch `name`.
bool has_word(std::string_view name, std::string_view word);
bool flag(std::string_view name);  ///< set to anything but "", "0", "off", "false"
/// A byte count with optional suffix k, m, g (powers of 1024), or fallback.
std::uint64_t bytes(std::string_view name, std::uint64_t fallback);
std::int64_t integer(std::string_view name, std::int64_t fallback);

/// Overrides a switch, or a variable of system(), for this process; "" makes it unset, nullopt forgets the override.
/// Thread-safe; bumps generation().
void set(std::string_view name, std::optional<std::string> value);
/// Grows whenever set() is called, so that readers may cache parsed values.
std::uint64_t generation() noexcept;

/// $HOME, $XDG_CACHE_HOME and the like: variables that are not switches of ours; nullopt where unset or empty.
std::optional<std::string> system(std::string_view name);

/// True in a set-user-ID or set-group-ID program and in one with capabilities of its file: what such a program finds in
/// its environment counts as unset, and it starts no other program.
bool is_privileged() noexcept;

}  // namespace tarry::support::env
