// The public face of memory: statistics, trim and limits.
#include <tarry/memory.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "graph/pending.h"
#include "runtime/device/backend.h"
#include "runtime/evaluate/auto_evaluate.h"
#include "support/check.h"
#include "support/fork.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

Device named(Device device) { return device == Device{} ? runtime::unplaced_device() : device; }

/// The limits that were set; the budget of pending work follows the lowest.
void remember_limit(Device device, std::int64_t bytes) {
  static auto& mutex = *new support::Mutex;
  static auto& limits = *new std::map<std::pair<DeviceKind, int>, std::int64_t>;
  const std::lock_guard lock(mutex);
  if (bytes == 0) {
    limits.erase({device.kind, device.index});
  } else {
    limits[{device.kind, device.index}] = bytes;
  }
  const auto lowest =
      std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  graph::pending::set_memory_limit(lowest == limits.end() ? 0 : lowest->second);
}

}  // namespace

std::string MemoryStats::str(Where where) const try {
  const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); };
  return fmt::format("{}: {:.1f} MiB live, {:.1f} MiB cached, {:.1f} MiB at most{}; {} requests, {} allocations",
                     device.str(), mib(live), mib(cached), mib(peak),
                     limit == 0 ? "" : fmt::format(", limit {:.1f} MiB", mib(limit)), requests, allocations);
}
TARRY_OR_OUT_OF_MEMORY("str", where)

MemoryStats memory_stats(Device device, Where where) try {
  device = named(device);
  const runtime::PoolStats s = runtime::backend(device).memory();
  const auto bytes = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  return {device, bytes(s.live), bytes(s.cached), bytes(s.peak), bytes(s.limit), s.requests, s.allocations};
}
TARRY_OR_OUT_OF_MEMORY("memory_stats", where)

void reset_memory_peak(Device device, Where where) try { runtime::backend(named(device)).reset_peak(); }
TARRY_OR_OUT_OF_MEMORY("reset_memory_peak", where)
void trim(Device device, Where where) try { runtime::backend(named(device)).trim(); }
TARRY_OR_OUT_OF_MEMORY("trim", where)

void set_memory_limit(Device device, std::int64_t bytes, Where where) try {
  if (bytes < 0) TARRY_THROW(InvalidValue, "set_memory_limit", where, fmt::format("the limit is {} bytes", bytes));
  device = named(device);
  runtime::backend(device).limit_memory(static_cast<std::size_t>(bytes));
  remember_limit(device, bytes);
}
TARRY_OR_OUT_OF_MEMORY("set_memory_limit", where)

PendingWork pending_work(Where where) try {
  const graph::pending::Amount waiting = graph::pending::count();
  const runtime::EvaluatedByItself& done = runtime::evaluated_by_itself();
  return {waiting.nodes, waiting.bytes, done.evaluates, done.plan_hits, done.launches};
}
TARRY_OR_OUT_OF_MEMORY("pending_work", where)

}  // namespace v0
}  // namespace tarry
