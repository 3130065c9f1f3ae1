// Shared texts apart from the kernels that need them.
#include "codegen/render/prebuilt.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "codegen/prelude/text.h"
#include "codegen/render/common.h"
#include "support/check.h"
#include "support/hash.h"

namespace tarry::codegen {
namespace {

constexpr std::string_view kStatic = "static ";

// Behind the macros of the dialect, which come first: what saves time of the compiler in kernels is of no use here.
constexpr std::string_view kOptimized =
    "#undef TARRY_PLAIN\n#undef TARRY_GUARDED\n#undef TARRY_ONCE\n#define TARRY_PLAIN\n#define TARRY_GUARDED\n#define "
    "TARRY_ONCE\n";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

bool begins_function(std::string_view line) {
  return line.starts_with(kStatic) && !line.starts_with("static inline") && line.ends_with(") {\n");
}

}  // namespace

std::string definitions(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    found += begins_function(line) ? line.substr(kStatic.size()) : line;
  }
  return found;
}

std::string declarations(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!begins_function(line)) {
      found += line;
      continue;
    }
    line.remove_prefix(kStatic.size());
    for (const std::string_view attribute : {"TARRY_PLAIN ", "TARRY_ONCE ", "__attribute__((noinline)) "})
      if (line.starts_with(attribute)) line.remove_prefix(attribute.size());
    found += fmt::format("extern __attribute__((visibility(\"hidden\"))) {};\n", line.substr(0, line.size() - 3));
    while (take_line(text) != "}\n") TARRY_ASSERT(!text.empty());
  }
  return found;
}

PrebuiltUnit prebuilt_unit(std::span<const KernelSource* const> kernels, const graph::Target& target) {
  std::vector<std::string> sections;
  std::vector<SharedText> shared;
  for (const KernelSource* kernel : kernels) {
    for (const std::string& section : kernel->sections)
      if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
    for (SharedText text : kernel->shared) {
      const bool renamed = add_shared(shared, text);
      TARRY_ASSERT(!renamed);
    }
  }
  PrebuiltUnit unit{prelude_text(sections, target.is_cuda() ? Dialect::Cuda : Dialect::C), {}};
  for (const SharedText& s : shared) {
    unit.text += definitions(s.text);
    if (&s == &shared.front()) unit.text += kOptimized;
    unit.index += prebuilt_row(s);
  }
  return unit;
}

std::string prebuilt_row(const SharedText& text) {
  return fmt::format("{} {}\n", text.name, support::hash_bytes(text.text).hex());
}

}  // namespace tarry::codegen
