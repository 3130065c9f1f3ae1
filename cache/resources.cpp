// parse_ptxas_log: ptxas writes a few lines per kernel, for people.
#include "cache/resources.h"

#include <algorithm>
#include <charconv>

namespace tarry::cache {

namespace {

/// The integer that starts after the last space before `unit`: "Used 32 registers" -> 32.
std::int64_t number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

}  // namespace

std::vector<KernelResources> parse_ptxas_log(std::string_view log) {
  std::vector<KernelResources> kernels;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    constexpr std::string_view kEntry = "Compiling entry function '";
    if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view name = line.substr(at + kEntry.size());
      kernels.emplace_back().entry = name.substr(0, name.find('\''));
    } else if (kernels.empty()) {
      continue;
    } else if (line.find(" bytes stack frame") != std::string_view::npos) {
      // A device function that was not inlined reports here too; the kernel is charged for the worst of them.
      KernelResources& k = kernels.back();
      k.stack_bytes = std::max(k.stack_bytes, number_before(line, " bytes stack frame"));
      k.spill_store_bytes += number_before(line, " bytes spill stores");
      k.spill_load_bytes += number_before(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos) {
      kernels.back().registers = static_cast<int>(number_before(line, " registers"));
      kernels.back().shared_bytes = number_before(line, " bytes smem");
    }
  }
  return kernels;
}

}  // namespace tarry::cache
