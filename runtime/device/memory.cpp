// Limits, the table of an allocation that failed, and the host's own memory running out.
#include "runtime/device/memory.h"

#include <fmt/format.h>

#include <exception>
#include <iterator>
#include <new>

#include "graph/pending.h"
#include "runtime/device/backend.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry::runtime {

std::size_t MemoryLimit::bytes() const {
  if (const std::size_t set = set_.load(std::memory_order_acquire); set != 0) return set;
  return memory_limit();
}

std::string MemoryLimit::describe() const {
  if (!exists()) return {};
  const bool called = set_.load(std::memory_order_acquire) != 0;
  return fmt::format("  limit     {:>12}  {}\n", bytes_text(bytes()),
                     called ? "set_memory_limit" : "TARRY_MEMORY_LIMIT");
}

std::string bytes_text(std::size_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < std::size(units)) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, units[unit]);
}

std::string memory_table(const PoolStats& now, std::size_t requested, std::string_view cached_went) {
  std::size_t pinned = 0;
  try {
    pinned = static_cast<std::size_t>(graph::pending::count().bytes);
  } catch (...) {  // no host memory to look: what it counts is a hint
  }
  return fmt::format(
      "  live      {:>12}  in arrays that somebody holds\n"
      "  pinned    {:>12}  of them kept by operations of this thread that are not evaluated\n"
      "  cached    {:>12}  kept for reuse; returned to the {} before this error\n{}",
      bytes_text(now.live), bytes_text(pinned), bytes_text(now.cached), cached_went,
      requested == 0 ? "" : fmt::format("  requested {:>12}\n", bytes_text(requested)));
}

}  // namespace tarry::runtime

namespace tarry::support {
namespace {

/// Made before memory runs out. Never destroyed.
const std::exception_ptr& spare() {
  static const auto& made = *new std::exception_ptr(
      std::make_exception_ptr(OutOfMemory("", Where{}, "the host is out of memory, even for a longer message")));
  return made;
}
[[maybe_unused]] const std::exception_ptr& made_at_start = spare();

}  // namespace

void throw_out_of_memory(std::string_view op, Where where) {
  try {
    runtime::Backend& host = runtime::backend(cpu);
    const runtime::PoolStats now = host.memory();
    host.trim();
    TARRY_THROW(OutOfMemory, std::string(op), where,
                fmt::format("the host is out of memory\n{}", runtime::memory_table(now, 0, "system")));
  } catch (const std::bad_alloc&) {
    std::rethrow_exception(spare());
  }
}

}  // namespace tarry::support
