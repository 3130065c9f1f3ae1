// refuse_text(): the line of a mistake, with a mark below its place.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "graph/functions/syntax.h"
#include "support/check.h"

namespace tarry::graph {

void refuse_text(std::string_view name, std::string_view text, std::size_t at, const std::string& why, Where where) {
  at = std::min(at, text.size());
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  constexpr std::size_t kMostBefore = 60, kMostShown = 120;
  const std::size_t from = std::max(begin, at - std::min(at, kMostBefore));
  std::string line(text.substr(from, std::min(end - from, kMostShown)));
  std::ranges::replace_if(line, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  // The first line is that of the parameters.
  const auto number = std::ranges::count(text.substr(0, begin), '\n'), lines = std::ranges::count(text, '\n');
  const std::string of_several = number > 0 && lines > 1 ? fmt::format(" (line {})", number) : std::string();
  TARRY_THROW(InvalidArgument, std::string(name), where,
              fmt::format("{}{}:\n  {}\n  {:>{}}\n", why, of_several, line, '^', at - from + 1));
}

}  // namespace tarry::graph
