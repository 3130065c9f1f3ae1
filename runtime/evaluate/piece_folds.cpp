// Sizes, and values that only pretend to be there.
#include "runtime/evaluate/piece_folds.h"

#include <utility>

namespace tarry::runtime {

using graph::Dims;
using graph::Edge;

std::size_t bytes_of_state(const graph::Graph& g, const graph::Cut& cut) {
  if (graph::is_scan(g.nodes[cut.node].op)) return static_cast<std::size_t>(g.bytes(cut.node) / cut.n);
  if (cut.kind != graph::CutKind::Ends) return static_cast<std::size_t>(g.bytes(cut.node));
  const graph::RowEnds ends = row_ends(g, cut.node);
  const graph::GraphEdge& rows = cut.operands.front().edge;
  const std::int64_t count = g.count(rows.node) / cut.n * ends.count;
  return 3 * static_cast<std::size_t>(count) * (itemsize(g.nodes[rows.node].dtype) + sizeof(std::int64_t));
}

Edge stand_in(Dtype dtype, const Dims& shape, Device device) {
  auto storage = std::make_shared<graph::Storage>();
  const std::int64_t count = graph::element_count(shape.span());
  storage->buffer = std::make_shared<graph::Buffer>(device, graph::Owner::Borrowed, nullptr,
                                                    static_cast<std::size_t>(count) * itemsize(dtype));
  storage->strides = graph::row_major_strides(shape.span());
  return graph::make_input(dtype, shape.span(), std::move(storage), device, {});
}

}  // namespace tarry::runtime
