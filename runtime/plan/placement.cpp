// Costs of both sides, and the work that could be on either.
#include "runtime/plan/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "graph/storage.h"
#include "runtime/device/parallel.h"

namespace tarry::runtime {
namespace {

using graph::Graph;
using graph::GraphNode;
using graph::NodeId;
using graph::Op;
using graph::OpClass;

/// True if the node's bits are the same on all devices, given equal operands.
bool has_promised_bits(const GraphNode& n) {
  const graph::OpInfo& op = graph::info(n.op);
  switch (op.op_class) {
    case OpClass::Leaf:
    case OpClass::Scalar:
    case OpClass::Iota:
    case OpClass::View:
    case OpClass::Reshape: return true;
    case OpClass::Map:
    case OpClass::Reduce:
      return graph::is_pure(n.op) && n.mode == graph::Mode::Strict && op.ulp32 == 0 && op.ulp64 == 0;
    default: return false;
  }
}

double operations(const Graph& g, const GraphNode& n) {
  const OpClass c = graph::info(n.op).op_class;
  if (c != OpClass::Map && c != OpClass::Reduce) return 0;
  const graph::Dims& points = c == OpClass::Reduce ? g.shape(n.inputs[0].node) : g.shapes[n.shape];
  return static_cast<double>(graph::element_count(points.span())) * graph::info(n.op).cost;
}

constexpr std::size_t kMostReductions = 64;  // looked at, so that planning stays linear
constexpr std::size_t kMostNamed = 6;

std::string described(const Graph& g, const GraphNode& n) {
  const bool reduces = graph::info(n.op).op_class == OpClass::Reduce;
  return fmt::format("{} {} {}", graph::name(n.op), name(n.dtype),
                     graph::to_string(reduces ? g.shape(n.inputs[0].node) : g.shapes[n.shape]));
}

bool is_hosts(const graph::Storage& s) { return s.buffer->device.kind == DeviceKind::Cpu; }

tarry::Placement placed(std::string work, double host, double device_side, Device device) {
  constexpr double kMs = 1e-6;
  return {std::move(work), host < device_side ? cpu : device, host * kMs, device_side * kMs};
}

}  // namespace

double host_ns(std::int64_t bytes, double operations, int threads, const CostTable& costs) {
  const double rate = std::min(threads * costs.host_bytes, costs.host_bytes_most);
  return costs.host_start + std::max(static_cast<double>(bytes) / rate, operations / (threads * costs.host_operations));
}

double crossing_ns(std::int64_t bytes, std::int64_t copies, int threads, const CostTable& costs) {
  const double most =
      bytes / std::max<std::int64_t>(copies, 1) < costs.large ? costs.crossing_small : costs.crossing_most;
  const double rate = std::min(threads * costs.crossing_bytes, most);
  return static_cast<double>(copies) * costs.copy_start + static_cast<double>(bytes) / rate;
}

std::vector<HostReduction> find_host_reductions(const graph::Snapshot& s, Device device) {
  const Graph& g = s.graph;
  // By node: whether the host could compute it, whether an array of the host would cross for it, and whether anything
  // but such a reduction reads it.
  std::vector<bool> could(g.nodes.size()), crosses(g.nodes.size()), feeds_other(g.nodes.size());
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    could[id] = has_promised_bits(n);
    if (n.op == Op::Input) {
      const graph::Storage& leaf = *s.leaves[n.payload];
      // Memory mapped from a file is read by the threads that fill pinned memory, or streamed.
      could[id] = is_hosts(leaf) && leaf.buffer->owner != graph::Owner::Mapped;
      crosses[id] = could[id];
    }
    for (int i = 0; i < n.n_inputs; ++i) {
      could[id] = could[id] && could[n.inputs[i].node];
      crosses[id] = crosses[id] || crosses[n.inputs[i].node];
    }
    const bool reduces = could[id] && graph::info(n.op).op_class == OpClass::Reduce;
    for (int i = 0; i < n.n_inputs; ++i)
      if (!reduces) feeds_other[n.inputs[i].node] = true;
  }
  for (const graph::GraphEdge& r : g.roots) feeds_other[r.node] = true;
  // The last reduction of each chain that is read by what is done on the device, with the leaves below it.
  std::vector<HostReduction> found;
  std::vector<bool> needed(g.nodes.size());
  for (const graph::GraphEdge& r : g.roots) needed[r.node] = true;
  const int threads = thread_count();
  for (auto id = static_cast<NodeId>(g.nodes.size()); id-- > 0;) {
    if (!needed[id]) continue;
    const bool last =
        could[id] && crosses[id] && feeds_other[id] && graph::info(g.nodes[id].op).op_class == OpClass::Reduce;
    for (int i = 0; !last && i < g.nodes[id].n_inputs; ++i) needed[g.nodes[id].inputs[i].node] = true;
    if (!last || found.size() == kMostReductions) continue;
    HostReduction reduction{id, {}, {}};
    std::vector<NodeId> below{id};
    std::set<NodeId> seen{id};
    double work = 0;
    std::int64_t bytes = 0;
    while (!below.empty()) {
      const NodeId at = below.back();
      const GraphNode& n = g.nodes[at];
      below.pop_back();
      work += operations(g, n);
      if (n.op == Op::Input) {
        reduction.leaves.push_back(n.payload);
        bytes += g.bytes(at);
      }
      for (int i = 0; i < n.n_inputs; ++i)
        if (seen.insert(n.inputs[i].node).second) below.push_back(n.inputs[i].node);
    }
    const int outputs = graph::output_count(g.nodes[id].op);
    const double host = host_ns(bytes, work, threads) + crossing_ns(outputs * g.bytes(id), outputs, threads);
    const double whole = crossing_ns(bytes, static_cast<std::int64_t>(reduction.leaves.size()), threads);
    reduction.placement = placed(described(g, g.nodes[id]), host, whole, device);
    found.push_back(std::move(reduction));
  }
  return found;
}

std::vector<tarry::Placement> place_small(const graph::Snapshot& s, Device device) {
  const Graph& g = s.graph;
  if (s.placed.kind != DeviceKind::Unplaced || device.kind == DeviceKind::Cpu || s.leaves.empty()) return {};
  std::int64_t bytes = 0, copies = 0;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    if (!has_promised_bits(n)) return {};
    if (n.op != Op::Input) continue;
    if (!is_hosts(*s.leaves[n.payload]) || (bytes += g.bytes(id)) > kCosts.small) return {};
    ++copies;
  }
  std::int64_t results = 0;
  for (const graph::GraphEdge& r : g.roots)
    if ((results += g.bytes(r.node)) > kCosts.small) return {};
  double work = 0;
  std::vector<std::string> names;
  for (const GraphNode& n : g.nodes) {
    work += operations(g, n);
    if (operations(g, n) > 0 && names.size() < kMostNamed) names.push_back(described(g, n));
  }
  const double host = host_ns(bytes + results, work, 1), there = kCosts.device_start + crossing_ns(bytes, copies, 1);
  return {placed(fmt::format("{}", fmt::join(names, ", ")), host, there, device)};
}

}  // namespace tarry::runtime
