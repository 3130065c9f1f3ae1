// Output of the commands. Names of files, and texts of kernels and manifests, may hold any bytes, which a terminal
// would obey.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
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

inline constexpr std::size_t kColumns = 80;  ///< of a terminal: what a line may have

/// The lines of `text`, broken at spaces where they are longer than a terminal is wide; what goes on is indented.
inline std::string wrapped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    for (std::size_t indent = 0;; indent = 4) {
      std::size_t end = line.size();
      if (indent + end > kColumns) {
        const std::size_t space = line.rfind(' ', kColumns - indent);
        end = space != std::string_view::npos && space != 0 ? space : std::min(line.find(' ', 1), line.size());
      }
      out.append(indent, ' ').append(line.substr(0, end)).append("\n");
      if (end == line.size()) break;
      line.remove_prefix(end + 1);
    }
  }
  return out;
}

/// `name` in at most `room` characters: without its middle where it has more, as its end tells kernels apart.
inline std::string shortened(const std::string& name, std::size_t room) {
  constexpr std::size_t kEnd = 9;
  return name.size() <= room ? name : name.substr(0, room - kEnd - 2) + ".." + name.substr(name.size() - kEnd);
}

/// JSON in ASCII; what is no UTF-8 in its strings is replaced.
inline std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tarry::tools
