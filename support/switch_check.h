// Environment variables TARRY_... that mean nothing, and values that do not: each is named once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::support::env {

/// Warns of every variable TARRY_... that is no switch and of every value that its switch has not, with the nearest
/// that there is. Once per process and text; looks again only where a switch was set since. `passes`: what
/// TARRY_DISABLE takes for "names of passes". Never throws.
void warn_of_unknown_switches(std::span<const std::string_view> passes) noexcept;

/// The warning that a variable of this name or value deserves, if any.
std::optional<std::string> complaint_of_name(std::string_view name);
std::vector<std::string> complaints_of_value(std::string_view name, std::string_view value,
                                             std::span<const std::string_view> passes);

}  // namespace tarry::support::env
