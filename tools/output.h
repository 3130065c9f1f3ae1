// What the commands print: names of files and what kernels and manifests say may hold any bytes, which a terminal would obey.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/printable.h"

namespace tarry::tools {

/// fmt::print to `stream` of text without control characters.
template <class... Args>
void say(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = support::printable(fmt::format(format, std::forward<Args>(args)...), "\n\t");
  std::fwrite(text.data(), 1, text.size(), stream);
}
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say(stdout, format, std::forward<Args>(args)...);
}

/// JSON in ASCII; what is no UTF-8 in its strings is replaced.
inline std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tarry::tools
