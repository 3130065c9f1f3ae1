// assertion_failed: turns a broken invariant of ours into InternalError. The list of throw sites that were reached.
#include "support/check.h"

#include <array>
#include <cstring>
#include <mutex>

#include "support/fork.h"

namespace tarry::support {

namespace {

/// Fixed and never destroyed: errors are thrown in static destructors and out of memory, too.
struct Reached {
  std::mutex mutex;
  std::array<ThrowSite, 1024> sites{};
  std::size_t count = 0;
};
constinit Reached reached;
const AtFork reached_at_fork(reached.mutex);

}  // namespace

void reached_throw(const char* file, int line) noexcept {
  const std::lock_guard lock(reached.mutex);
  for (std::size_t i = 0; i < reached.count; ++i)
    if (reached.sites[i].line == line && std::strcmp(reached.sites[i].file, file) == 0) return;
  if (reached.count < reached.sites.size()) reached.sites[reached.count++] = {file, line};
}

std::vector<ThrowSite> reached_throws() {
  const std::lock_guard lock(reached.mutex);
  return {reached.sites.begin(), reached.sites.begin() + static_cast<std::ptrdiff_t>(reached.count)};
}

void forget_throws() noexcept {
  const std::lock_guard lock(reached.mutex);
  reached.count = 0;
}

void assertion_failed(const char* expression, const char* file, int line) {
  TARRY_THROW(InternalError, "", (Where{file, static_cast<std::uint32_t>(line)}),
              std::string("internal check failed: ") + expression +
                  "; this is a bug in Tarry, please report it with the output of TARRY_DUMP=graph,plan,ir");
}

}  // namespace tarry::support
