// Sums over a plan's temporaries, copies and files.
#include "runtime/plan/room.h"

#include <algorithm>
#include <mutex>
#include <variant>

namespace tarry::runtime {

std::size_t pages_of(const std::vector<graph::LeafPart>& parts) {
  std::size_t bytes = 0;
  for (const graph::LeafPart& p : parts)
    if (p.buffer->owner == graph::Owner::Mapped) bytes += p.touched;
  return bytes;
}

std::size_t memory_needed(const CompiledPlan& plan, const graph::Graph& recorded,
                          const std::vector<std::shared_ptr<graph::Storage>>& leaves, const Backend& b) {
  auto bytes = static_cast<std::size_t>(plan.counters.peak_bytes);
  for (const Step& s : plan.steps) {
    const auto* const transfer = std::get_if<TransferStep>(&s);
    if (!transfer) break;  // they come first
    graph::Storage& leaf = *leaves[transfer->leaf];
    const std::lock_guard lock(leaf.replica_mutex);
    if (leaf.replica && leaf.replica->device == b.device()) continue;
    bytes += static_cast<std::size_t>(graph::element_count(transfer->shape.span())) * itemsize(transfer->dtype);
  }
  bytes = with_blocks(bytes);
  const auto mapped = [](const std::shared_ptr<graph::Storage>& l) { return l->buffer->owner == graph::Owner::Mapped; };
  if (b.device().kind != DeviceKind::Cpu || std::none_of(leaves.begin(), leaves.end(), mapped)) return bytes;
  graph::Slicer slicer(recorded, leaves, {}, b.device());
  return bytes + pages_of(slicer.read_by(graph::whole_roots(recorded)));
}

bool fits(const CompiledPlan& plan, const graph::Graph& recorded,
          const std::vector<std::shared_ptr<graph::Storage>>& leaves, Backend& b, std::size_t& needed) {
  constexpr std::size_t kSmall = std::size_t{256} << 20;
  const bool limited = b.limit() != SIZE_MAX;
  if (!limited && !b.target().is_cuda()) return true;
  needed = memory_needed(plan, recorded, leaves, b);
  return (!limited && needed < kSmall) || needed <= b.room();
}

}  // namespace tarry::runtime
