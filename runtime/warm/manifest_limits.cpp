// One pass over brackets, commas and strings. Text that is no JSON gets some answer; the parser refuses it.
#include "runtime/warm/manifest_limits.h"

#include <array>

namespace tarry::runtime {
namespace {

/// The index behind the string that begins at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

}  // namespace

const char* passed_limit(std::string_view line) {
  if (line.size() > kMaxLineBytes) return "a line of more than 256 MiB";
  struct Level {
    bool object = false;
    std::size_t commas = 0;
  };
  std::array<Level, kMaxNesting> levels;
  std::size_t depth = 0, values = 0;
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '"') {
      at = behind_string(line, at);
      continue;
    }
    if (c == '[' || c == '{') {
      if (depth == kMaxNesting) return "values that are nested deeper than a manifest's";
      levels[depth++] = {c == '{', 0};
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',') {
      if (depth > 0 && ++levels[depth - 1].commas >= kMaxMembers && levels[depth - 1].object)
        return "an object with more members than a manifest's";
    }
    values += c == '[' || c == '{' || c == ',' ? 1 : 0;
    if (values > kMaxLineValues) return "more values than a graph that can be planned";
    ++at;
  }
  return nullptr;
}

}  // namespace tarry::runtime
