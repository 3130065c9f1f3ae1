// Placement: which work on arrays of the host is done by the host instead of a GPU, because its operands would take
// longer to cross. A function of the graph, of whose arrays its leaves are, of the number of threads and of the
// release's table of costs, never of a measurement at run time; and only of work that has the same bits on both sides
// (docs/reference/numerics.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tarry/plan.h>

#include "graph/graph.h"

namespace tarry::runtime {

/// Costs of work and transfers, as bench/crossover measured them: nanoseconds, and bytes or operations in one of them.
/// Operations are those of graph/ops.def.
struct CostTable {
  double host_start, device_start;       ///< of an evaluate on the host, and of one on a GPU to which something crosses
  double copy_start;                     ///< of a copy to the GPU
  double host_bytes, host_bytes_most;    ///< read by a thread, and by all
  double host_operations;                ///< done by a thread
  double crossing_bytes;                 ///< written to pinned memory by a thread
  double crossing_small, crossing_most;  ///< what crosses, of copies below `large` and of others
  std::int64_t large;                    ///< bytes
  std::int64_t small;                    ///< bytes of operands and results up to which a whole graph may move
};
/// H200, 32 cores.
inline constexpr CostTable kCosts{
    3000, 9500, 2800, 13, 200, 20, 6, 20, 40, std::int64_t{1} << 27, std::int64_t{1} << 18};

/// Nanoseconds by `threads` threads of the host: to read the bytes and do the operations, and to send bytes in some
/// copies.
double host_ns(std::int64_t bytes, double operations, int threads, const CostTable& costs = kCosts);
double crossing_ns(std::int64_t bytes, std::int64_t copies, int threads, const CostTable& costs = kCosts);

/// A reduction of arrays of the host, with all that is computed before it.
struct HostReduction {
  graph::NodeId node = graph::kNoId;
  std::vector<std::uint32_t> leaves;  ///< that would cross for it
  tarry::Placement placement;
  [[nodiscard]] bool on_host() const { return placement.device.kind == DeviceKind::Cpu; }
};
/// All that the graph has, wherever they are to be done.
std::vector<HostReduction> find_host_reductions(const graph::Snapshot& s, Device device);

/// Where a graph that names no device is done, if it is small and all of its operands are the host's; empty otherwise.
std::vector<tarry::Placement> place_small(const graph::Snapshot& s, Device device);

}  // namespace tarry::runtime
